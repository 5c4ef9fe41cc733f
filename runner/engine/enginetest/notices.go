package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// telling is the attempt of a task with Tell. The channel dev takes each message, and ops takes no equal ones within a day.
func telling(a *event.Attempt, place string) {
	a.Kind, a.Notify = event.NotifyAttempt, &event.NotifyRequest{To: []event.Channel{{Name: "dev"}, {Name: "ops", Dedupe: 24 * time.Hour}},
		Message: event.Message{Title: "done", Kind: event.MessageNotify, Workflow: a.Workflow, Run: a.Run, Node: place, Key: a.Key}}
	a.Name = place
}

// messenger is an executor that sends messages, and counts the sends outside of all stores, by "CHANNEL RUN".
type messenger struct {
	mu   sync.Mutex
	host Host
	sent map[string]int
}

func (x *messenger) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	x.mu.Lock()
	h := x.host
	x.mu.Unlock()
	if err := x.send(ctx, h, &a); err != nil {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: err.Error(), ExitCode: -1}
		return f
	}
	f.Outcome = event.OK
	return f
}

func (x *messenger) send(ctx context.Context, h Host, a *event.Attempt) error {
	r := a.BeginNotice()
	v, err := h.Ask(ctx, event.StoreRequest{Notice: r})
	if err != nil {
		return err
	}
	end := map[string]string{}
	for channel, fate := range v.(map[string]any) { // any order: each for itself
		if fate.(map[string]any)["do"] == "send" {
			x.mu.Lock()
			x.sent[channel+" "+a.Run]++
			x.mu.Unlock()
			end[channel] = ""
		}
	}
	if len(end) == 0 {
		return nil
	}
	_, err = h.Ask(ctx, event.StoreRequest{Notice: &event.NoticeRequest{Message: r.Message, Place: r.Place, End: end}})
	return err
}

// messagesOnce kills the host at each commit of two runs that send equal messages. Each message reaches its channel once, and a second time
// only if the host died in between.
func messagesOnce(t *testing.T, s Store) {
	twice := 0
	atEveryCommit(t, func(n int, after bool) bool {
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		x := &messenger{sent: map[string]int{}}
		x.host = s.Open(t, Factory, x)
		p := Program{Tasks: []Task{{Name: "tell", Tell: where}}}
		runs := []string{start(t, x.host, p), start(t, x.host, p)}
		lived := true
		x.host.CrashAt(n, after)
		for _, run := range runs {
			lived = lived && drive(context.Background(), s, x.host, run, nil) == nil
		}
		if lived {
			x.host.Close()
		}
		h := s.Open(t, Factory, x)
		defer h.Close()
		x.mu.Lock()
		x.host = h
		x.mu.Unlock()
		for _, run := range runs {
			if err := drive(context.Background(), s, h, run, nil); err != nil {
				t.Fatal(where, err)
			}
			if end, err := h.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
				t.Errorf("%s: run %s has ended %s (%v); %s", where, run, end.Status, err, failures(h, run))
			}
		}
		told := func(channel string) (keys int) {
			for _, run := range runs {
				sends := x.sent[channel+" "+run]
				if sends > 2 || lived && sends > 1 {
					t.Errorf("%s: channel %s got a message %d times", where, channel, sends)
				}
				if sends > 0 {
					keys++
				}
				if sends > 1 {
					twice++
				}
			}
			return keys
		}
		if dev, ops := told("dev"), told("ops"); dev != 2 || ops != 1 {
			t.Errorf("%s: two equal messages: dev got %d, want 2; ops got %d, want 1: %v", where, dev, ops, slices.Sorted(maps.Keys(x.sent)))
		}
		return lived
	})
	if twice == 0 && !testing.Short() {
		t.Error("no host died between a send and the word of it")
	}
}
