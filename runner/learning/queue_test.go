package learning

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner/event"
)

// slowQueue is a queue whose memory learns nothing before go is closed.
func slowQueue() (q *queue, begun chan struct{}, open func(), learned *[]string) {
	begun, gate, list := make(chan struct{}, 2*maxQueued), make(chan struct{}), []string{}
	q = &queue{finish: func() {}, learn: func(x lesson) {
		begun <- struct{}{}
		<-gate
		list = append(list, x.run)
	}}
	return q, begun, func() { close(gate) }, &list
}

// A queue takes in lessons up to its bound while the memory stands still; the end of a run always has room. Nothing waits for the memory
// but who asks for it, and then for what was put before alone.
func TestQueueNeverWaits(t *testing.T) {
	q, begun, open, learned := slowQueue()
	if !q.add(lesson{run: "0"}) {
		t.Fatal("an empty queue has no room")
	}
	<-begun // it is out of the queue
	for i := range maxQueued {
		if !q.add(lesson{run: fmt.Sprint(i + 1)}) {
			t.Fatalf("lesson %d of %d finds no room", i+1, maxQueued)
		}
	}
	if q.add(lesson{run: "one too many"}) {
		t.Error("the queue has no bound")
	}
	if !q.add(lesson{run: "end", ended: true}) {
		t.Error("the end of a run finds no room")
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		q.settle(ctx)
		close(waited)
	}()
	select {
	case <-waited:
		t.Error("an attempt is not told what earlier tasks taught")
	case <-time.After(10 * time.Millisecond): // nothing is late here: it only might have been seen
	}
	cancel()
	<-waited
	open()
	q.settle(t.Context())
	if have := len(*learned); have != maxQueued+2 {
		t.Errorf("%d lessons are learned, want %d", have, maxQueued+2)
	}
	q.close()
	if q.add(lesson{run: "late"}) {
		t.Error("a closed queue takes in a lesson")
	}
}

// A queue that got nothing starts nothing.
func TestEmptyQueueCloses(t *testing.T) {
	q := &queue{finish: func() { t.Error("it has learned") }}
	q.settle(t.Context())
	q.close()
	q.close()
}

// pastOf is what a run with so many failed tasks of an agent came to, a batch a reaction.
func pastOf(run string, failed int) (batches []event.Reaction) {
	use := event.MemoryUse{Learn: true, Trusted: true}
	for n := range failed {
		node := fmt.Sprintf("fix[%d]", n)
		problem := &event.Error{Kind: event.Blocking, Reason: "exit", ExitCode: 3, Message: fmt.Sprintf("part %d is missing", n)}
		batches = append(batches,
			event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Ticket: uint64(n + 1), Run: run, Node: node, Name: "fix", Attempt: 1,
				Agent: &event.AgentRequest{Name: "coder", Task: fmt.Sprintf("Repair part %d.", n), Memory: &use}}}}},
			event.Reaction{Transitions: []event.Transition{{Node: node, To: event.FailedS, Result: &event.Result{Error: problem}}}})
	}
	return append(batches, event.Reaction{Transitions: []event.Transition{{To: event.FailedS}}})
}

// A memory that stands still keeps no run from its end. Of tasks for which the queue has no room, the memory learns from the journal, once
// each.
func TestSlowMemoryDelaysNoRun(t *testing.T) {
	const failed = 9
	past, replays := pastOf("aaaa", failed), 0
	p := &ir.Program{Memory: &ir.Memory{Store: t.TempDir(), Embedder: &ir.Embedder{Provider: "none"}},
		Agents: []ir.Agent{{Name: "coder", Type: ir.AgentExec, Memory: &ir.AgentMemory{Learn: true, Trusted: true}}}}
	store := t.TempDir()
	library := New(store, func(_ string, begin func(*ir.Program, string) bool, each func([]event.Event, *event.Reaction)) (bool, error) {
		if replays++; !begin(p, store) {
			return false, nil
		}
		for i := range past {
			each(nil, &past[i])
		}
		return true, nil
	})
	b := library.Bind(p, store, nil)
	gate := make(chan struct{})
	b.queue.limit, b.queue.learn = 2, func(x lesson) {
		<-gate
		b.learnFrom(x)
	}
	for i := range past { // all of it while the memory stands still
		b.Watch("aaaa", nil, &past[i])
	}
	close(gate)
	ended := b.Learn()
	m, err := b.Open("aaaa")
	if err != nil {
		t.Fatal(err)
	}
	items, err := m.List(t.Context(), memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	count := 0
	for _, i := range items { // learnings that are alike are one entry, which counts them
		count += i.Count
	}
	if err != nil || count != failed {
		t.Errorf("of %d tasks the memory has %d learnings: %v", failed, count, err)
	}
	if told := b.Close(); told != nil || ended != "aaaa" || replays != 1 || library.pending.others() != nil {
		t.Errorf("ended %q, warnings %q, %d replays, still pending %v", ended, told, replays, library.pending.others())
	}
}

// Bindings whose programs describe a memory alike share it open, and the last one closes it; one slow to open keeps no other from its own.
func TestBindingsShareAMemory(t *testing.T) {
	library := New(t.TempDir(), nil)
	p := &ir.Program{Memory: &ir.Memory{Store: t.TempDir(), Embedder: &ir.Embedder{Provider: "none"}}}
	one, two := library.Bind(p, "/a", nil), library.Bind(p, "/b", nil)
	other := library.Bind(&ir.Program{Memory: &ir.Memory{Store: t.TempDir(), Embedder: &ir.Embedder{Provider: "none"}}}, "/a", nil)
	open := func(b *Binding, run string) *memory.Memory {
		t.Helper()
		m, err := b.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open(one, "a")
	if open(two, "b") != m || open(other, "c") == m || len(library.shelves) != 2 {
		t.Errorf("%d memories are open", len(library.shelves))
	}
	one.Close()
	if _, err := one.Open("a"); err == nil {
		t.Error("a closed binding opens its memory")
	}
	if _, err := m.List(t.Context(), memory.Filter{}); err != nil {
		t.Errorf("the memory is closed under another binding: %v", err)
	}
	two.Close()
	other.Close()
	if len(library.shelves) != 0 {
		t.Errorf("%d memories are open", len(library.shelves))
	}
}

// The binding of a tree that was suspended in between learns from each task once, and the notes of its runs stay those of the process.
func TestSuspendedBindingGoesOn(t *testing.T) {
	const failed = 6
	past := pastOf("aaaa", failed)
	p := &ir.Program{Memory: &ir.Memory{Store: t.TempDir(), Embedder: &ir.Embedder{Provider: "none"}},
		Agents: []ir.Agent{{Name: "coder", Type: ir.AgentExec, Memory: &ir.AgentMemory{Learn: true, Trusted: true}}}}
	store := t.TempDir()
	library := New(store, nil)
	learned := 0
	var pending Pending
	for part := 1; part <= 3; part++ { // each replays the run so far
		b := library.Bind(p, store, pending)
		b.queue.learn = func(x lesson) {
			if !x.ended {
				learned++
			}
			b.learnFrom(x)
		}
		for i := range past[:part*len(past)/3] {
			b.Watch("aaaa", nil, &past[i])
		}
		b.Settle()
		if !b.Idle() {
			t.Error("the binding is not idle after it has settled")
		}
		if part == 3 {
			if told := b.Close(); told != nil || b.Learn() != "aaaa" || library.pending.has("aaaa") {
				t.Errorf("at the end: warnings %q, ended %q", told, b.Learn())
			}
			break
		}
		var told []string
		if pending, told = b.Suspend(); told != nil || len(library.shelves) != 0 {
			t.Errorf("suspended: warnings %q, %d memories are open", told, len(library.shelves))
		}
		if pending["aaaa"] != learned || !library.pending.has("aaaa") || library.pending.others() != nil {
			t.Errorf("pending are %v of %d learned tasks", pending, learned)
		}
	}
	if learned != failed {
		t.Errorf("the memory has learned from %d tasks, want %d", learned, failed)
	}
	if library.pending.others() != nil {
		t.Errorf("still pending are %v", library.pending.others())
	}
	b := library.Bind(p, store, nil)
	b.Watch("bbbb", nil, &past[0])
	b.Watch("bbbb", nil, &past[1])
	b.Settle()
	pending, _ = b.Suspend()
	if library.Leave(pending); library.pending.has("bbbb") || len(library.pending.others()) != 1 {
		t.Errorf("a run that was left is not pending for others: %v", library.pending.others())
	}
}

// A caller that stays parked while the run that it called is driven to its end keeps its pending learnings over that suspension. So does
// a run whose drive has ended before all of the run's past was replayed.
func TestSuspendKeepsRunsThatWereNotDriven(t *testing.T) {
	store := t.TempDir()
	p := &ir.Program{Memory: &ir.Memory{Store: t.TempDir(), Embedder: &ir.Embedder{Provider: "none"}},
		Agents: []ir.Agent{{Name: "coder", Type: ir.AgentExec, Memory: &ir.AgentMemory{Learn: true, Trusted: true}}}}
	library := New(store, nil)
	for _, run := range []string{"caller", "called", "half"} {
		if err := library.pending.begin(run); err != nil {
			t.Fatal(err)
		}
	}
	known := Pending{"caller": 2, "called": 1, "half": 3}
	b := library.Bind(p, store, known)
	past := pastOf("called", 1)
	for i := range past {
		b.Watch("called", nil, &past[i])
	}
	half := pastOf("half", 3)
	for i := range half[:2] {
		b.Watch("half", nil, &half[i])
	}
	b.Settle()
	pending, warnings := b.Suspend()
	if want := (Pending{"caller": 2, "half": 3}); !maps.Equal(pending, want) || len(warnings) > 0 {
		t.Errorf("pending are %v, want %v; warnings %q", pending, want, warnings)
	}
	if !library.pending.has("caller") || library.pending.has("called") {
		t.Errorf("the learnings of the caller are pending here: %v, and those of the called run: %v", library.pending.has("caller"), library.pending.has("called"))
	}
	if len(known) != 3 {
		t.Errorf("the binding has changed what it was told: %v", known)
	}
}

// has reports whether a binding of this process has noted a run.
func (p *pendingRuns) has(run string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ours[run]
}
