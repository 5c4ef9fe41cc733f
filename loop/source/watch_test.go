package source

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// clockwork makes pauses take no time. before runs in each, with how many there were before and how long all of them have taken.
func (b *bench) clockwork(before func(n int, passed time.Duration)) *[]time.Duration {
	var pauses []time.Duration
	passed := time.Duration(0)
	b.x.after = func(d time.Duration) <-chan time.Time {
		before(len(pauses), passed)
		pauses, passed = append(pauses, d), passed+d
		c := make(chan time.Time, 1)
		c <- time.Time{}
		return c
	}
	return &pauses
}

func (b *bench) watchFile(known string, bound time.Duration) event.AttemptFinished {
	r := fileRequest(event.SourceList, "")
	r.Watch = &event.SourceWatch{Known: known, Every: time.Second, Most: 5 * time.Second, For: bound}
	return b.answer(r)
}

// A watch answers when the list is another one, when the source cannot be asked any more, when it can be asked again, or when its time is
// over. It waits twice as long before each look.
func TestWatch(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	known := event.ListMark(b.output(fileRequest(event.SourceList, "")))

	pauses := b.clockwork(func(n int, _ time.Duration) {
		if n == 4 {
			b.write("TODO.md", list+"- [ ] ninth #9\n")
		}
	})
	f := b.watchFile(known, time.Hour)
	if f.Outcome != event.OK || !strings.Contains(fmt.Sprint(f.Output), "ninth") || event.ListMark(f.Output) == known || f.Ticket != 1 {
		t.Error(f)
	}
	if got := fmt.Sprint(*pauses); got != "[1s 2s 4s 5s 5s]" {
		t.Error(got)
	}

	known = event.ListMark(f.Output)
	pauses = b.clockwork(func(int, time.Duration) {})
	if f = b.watchFile(known, 15*time.Second); f.Outcome != event.OK || !event.IsUnchanged(f.Output) {
		t.Error(f)
	}
	if got := fmt.Sprint(*pauses); got != "[1s 2s 4s 5s 3s]" {
		t.Error(got)
	}

	b.clockwork(func(n int, _ time.Duration) {
		if n == 1 {
			b.remove("TODO.md")
		}
	})
	if f = b.watchFile(known, time.Hour); f.Outcome != event.Failed || f.Error.Reason != event.ReasonNotFound {
		t.Error(f)
	}
	pauses = b.clockwork(func(n int, _ time.Duration) {
		if n == 3 {
			b.write("TODO.md", list)
		}
	})
	if f = b.watchFile("", time.Hour); f.Outcome != event.OK || len(*pauses) != 4 {
		t.Error(f, *pauses)
	}
	b.remove("TODO.md")
	if f = b.watchFile("", 10*time.Second); f.Outcome != event.Failed {
		t.Error(f)
	}
}

// A watch that is cancelled ends at once.
func TestWatchIsCancelled(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	ctx, cancel := context.WithCancel(context.Background())
	b.x.after = func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	}
	r := fileRequest(event.SourceList, "")
	r.Source, r.Watch = "work", &event.SourceWatch{Every: time.Hour, Most: time.Hour, For: time.Hour}
	f := b.x.Execute(ctx, event.Attempt{Ticket: 1, Kind: event.SourceAttempt, Dir: b.dir, Source: &r})
	if f.Outcome == event.OK || f.Error == nil || f.Error.Reason != event.ReasonCancelled {
		t.Error(f)
	}
}
