package enginetest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// listening is a run in which one task waits for a message, and another one follows it.
func listening() Program {
	return Program{Tasks: []Task{{Name: "first", Null: true}, {Name: "hears", Note: true}, {Name: "next", Null: true, After: []string{"hears"}}}}
}

// said is data with something of every kind of value.
func said() map[string]any {
	return map[string]any{"list": []any{1.0, -2.5, "é\n<", nil, true}, "object": map[string]any{"": map[string]any{}}}
}

// note is a message to a task.
func note(task string, data any) event.External {
	return event.External{Kind: Note, Node: task, Data: data, Reason: "why not"}
}

func signal(t *testing.T, h Host, run string, x event.External) {
	t.Helper()
	if err := h.Signal(context.Background(), run, x); err != nil {
		t.Fatal(err)
	}
}

// messages are those in the journal of a run.
func messages(t *testing.T, h Host, run string) (list []event.External) {
	t.Helper()
	for _, ev := range events(t, h, run) {
		if ev.External != nil {
			list = append(list, *ev.External)
		}
	}
	return list
}

// heard checks that a run ended well with what was said to its task, and that its journal holds the message once.
func heard(t *testing.T, s Store, h Host, run string) {
	t.Helper()
	mustEnd(t, s, h, run, event.Succeeded)
	end, err := h.Drive(context.Background(), run, nil)
	if want := map[string]any{"hears": said()}; err != nil || !reflect.DeepEqual(end.Outputs["notes"], want) {
		t.Errorf("the machine heard %v, want %v (%v)", end.Outputs["notes"], want, err)
	}
	list := messages(t, h, run)
	if len(list) != 1 {
		t.Fatalf("the journal holds %d messages, want 1", len(list))
	}
	want := note("hears", said())
	want.Inbox = list[0].Inbox
	if !reflect.DeepEqual(list[0], want) || want.Inbox == 0 {
		t.Errorf("the journal holds %+v, want %+v", list[0], want)
	}
}

func messageArrives(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, listening())
	data := said()
	signal(t, h, run, note("hears", data))
	data["list"] = "changed by the sender" // what was sent is the host's own
	h.Crash()
	heard(t, s, s.Open(t, Factory, newWitness()), run)
}

// messageOnce kills the host before and after each of its commits, and finishes on another.
func messageOnce(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		h := s.Open(t, Factory, newWitness())
		run := start(t, h, listening())
		signal(t, h, run, note("hears", said()))
		lived := crashAt(t, s, h, run, n, after)
		h.Close()
		h = s.Open(t, Factory, newWitness())
		defer h.Close()
		heard(t, s, h, run)
		return lived
	})
}

func messageFromOutside(t *testing.T, s Store) {
	w := newWitness()
	w.hangs["first"] = true
	h := s.Open(t, Factory, w)
	p := listening()
	p.Tasks[0].Null = false
	run := start(t, h, p)
	took, done := make(chan bool), make(chan error, 1)
	go func() {
		_, err := h.Drive(context.Background(), run, func(list []event.Event, _ *event.Reaction, _ bool) {
			if list[0].External != nil {
				close(took)
			}
		})
		done <- err
	}()
	<-w.begun
	signal(t, s.Open(t, Factory, newWitness()), run, note("hears", said()))
	<-took
	h.Crash()
	<-done
	w.allow("first")
	heard(t, s, s.Open(t, Factory, w), run)
}

// messageForNobody sends what no task waits for: to one that never does, to none, and to one that has had its message.
func messageForNobody(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, listening())
	signal(t, h, run, note("hears", said()))
	for _, task := range []string{"next", "nowhere", "", "hears"} {
		signal(t, h, run, note(task, "unheard"))
	}
	seen := 0
	err := drive(context.Background(), s, h, run, func(list []event.Event, _ *event.Reaction, _ bool) {
		for _, ev := range list {
			if ev.External != nil {
				seen++
			}
		}
	})
	if err != nil || seen != 5 || len(messages(t, h, run)) != 5 {
		t.Errorf("%d messages were shown and %d recorded, want 5 (%v)", seen, len(messages(t, h, run)), err)
	}
	end, err := h.Drive(context.Background(), run, nil)
	if want := map[string]any{"hears": said()}; err != nil || end.Status != event.Succeeded || !reflect.DeepEqual(end.Outputs["notes"], want) {
		t.Errorf("the run ended %+v, %v", end, err)
	}
}

func messageRefused(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, listening())
	ctx := context.Background()
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	for name, x := range map[string]event.External{
		"no kind":               {Node: "hears"},
		"an unknown kind":       {Kind: "decision", Node: "hears"},
		"a cancel with data":    {Kind: event.ExternalCancel, Data: "x"},
		"a cancel of a task":    {Kind: event.ExternalCancel, Node: "hears"},
		"a cancel of no node":   {Kind: event.ExternalCancelNode},
		"too much data":         note("hears", strings.Repeat("x", engine.MaxData-1)),
		"data that is not JSON": note("hears", func() {}),
		"data too deep":         note("hears", deep),
		"a number too large":    note("hears", 1e300),
		"a node's path":         note(strings.Repeat("x", engine.MaxReason+1), nil),
	} {
		if err := h.Signal(ctx, run, x); !errors.Is(err, engine.ErrExternal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.Signal(ctx, "nosuchrun234", note("hears", nil)); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("an unknown run: %v", err)
	}
	most := note("hears", strings.Repeat("x", engine.MaxData-2))
	most.Reason = strings.Repeat("é", engine.MaxReason) // cut
	signal(t, h, run, most)
	mustEnd(t, s, h, run, event.Succeeded)
	if list := messages(t, h, run); len(list) != 1 || list[0].Data != most.Data || list[0].Reason != most.Reason[:engine.MaxReason] {
		t.Errorf("the journal holds %d messages, want the largest that is allowed", len(list))
	}
	if err := h.Signal(ctx, run, note("hears", nil)); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("a message to a run that has ended: %v", err)
	}
}

func boundedInbox(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, listening())
	for range engine.MaxInbox {
		signal(t, h, run, note("nowhere", nil))
	}
	if err := h.Signal(context.Background(), run, note("hears", said())); !errors.Is(err, engine.ErrInboxFull) {
		t.Errorf("one message too many: %v", err)
	}
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Errorf("a cancel of a run whose inbox is full: %v", err)
	}
	mustEnd(t, s, h, run, event.Cancelled)
	if n := len(messages(t, h, run)); n != engine.MaxInbox+1 {
		t.Errorf("%d messages were recorded, want %d", n, engine.MaxInbox+1)
	}
}
