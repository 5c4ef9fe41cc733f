package app

import (
	"context"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/tasks"
)

// maxUnlearned is how many ended tasks may wait to be learned from; beyond it, runs wait.
const maxUnlearned = 1024

// learner makes learnings of tasks as they end, in a goroutine of its own: runs go on meanwhile. A task is learned from once it is
// durable in its journal, under ids that its run and its step make, so learning from it again changes nothing.
type learner struct {
	from *remembering
	// past replays a run that has ended and whose memory is in this folder; ours is false, and nothing is replayed, for others.
	past func(run, folder string, program func(*ir.Program), each func([]event.Event, *event.Reaction)) (ours bool, err error)

	mu      sync.Mutex
	folds   map[string]*learned
	program *tasks.Program // of the runs that are driven here
	queue   chan lesson
	done    chan struct{}
	ended   string // the last run that is over and wholly learned from; for who has waited for close

	count sync.Mutex
	given uint64        // lessons that were handed over
	taken uint64        // and that are done with
	next  chan struct{} // closed when one more is
}

// learned is what is known of a run that is driven.
type learned struct {
	*tasks.Fold
	any bool // it had something to learn from
}

// lesson is what there is to learn: a task, or that a run has ended.
type lesson struct {
	run      string
	task     learn.Task
	believed bool // the file trusts all whose words are in it
	ending   tasks.Ending
	said     []event.Learned
	use      event.MemoryUse
	ended    bool
}

// watch sees every run that is driven.
func (l *learner) watch(run string, events []event.Event, r *event.Reaction, _ bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.folds[run]
	if f == nil {
		if l.folds == nil {
			l.folds = map[string]*learned{}
		}
		if l.program == nil || l.program.Program != l.from.saying() {
			l.program = nil
			if p := l.from.saying(); p != nil {
				l.program = tasks.NewProgram(p)
			}
		}
		f = &learned{Fold: tasks.NewFold(l.program)}
		l.folds[run] = f
	}
	done, ended := f.Apply(events, r)
	for i := range done {
		if t := &done[i]; t.Memory.Learn {
			f.any = true
			l.put(lessonOf(run, t))
		}
	}
	if ended {
		delete(l.folds, run)
		if f.any || l.from.owes(run) {
			l.put(lesson{run: run, ended: true})
		}
	}
}

// put hands a lesson to the goroutine, which begins with the first. The caller holds the lock.
func (l *learner) put(x lesson) {
	if l.queue == nil {
		l.queue, l.done = make(chan lesson, maxUnlearned), make(chan struct{})
		go l.work()
	}
	l.count.Lock()
	l.given++
	l.count.Unlock()
	l.queue <- x
}

// settled waits until what had ended by now is learned, so that who comes behind a task is told what it taught.
func (l *learner) settled(ctx context.Context) {
	l.count.Lock()
	defer l.count.Unlock()
	for upTo := l.given; l.taken < upTo; {
		if l.next == nil {
			l.next = make(chan struct{})
		}
		next := l.next
		l.count.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
		}
		l.count.Lock()
		if ctx.Err() != nil {
			return
		}
	}
}

// step counts a lesson that is done with.
func (l *learner) step() {
	l.count.Lock()
	defer l.count.Unlock()
	l.taken++
	if l.next != nil {
		close(l.next)
		l.next = nil
	}
}

// close waits until all is learned.
func (l *learner) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue != nil {
		close(l.queue)
		<-l.done
		l.queue = nil
	}
}

func (l *learner) work() {
	defer close(l.done)
	failed := map[string]bool{}
	for x := range l.queue {
		if err := l.learn(x, failed[x.run]); err != nil {
			failed[x.run] = true
			l.from.warn("what was learned is not kept yet: " + err.Error())
		} else if x.ended && !failed[x.run] {
			l.ended = x.run
		}
		l.step()
	}
	l.makeUp()
}

// learn writes what a lesson says. Of a run that ended while something could not be written, the rest is owed.
func (l *learner) learn(x lesson, owing bool) error {
	ctx := context.Background()
	m, err := l.from.open(x.run)
	switch {
	case err != nil:
		return err
	case !x.ended:
		return write(ctx, m, &x)
	}
	if err := m.Archive(ctx, x.run, entry.Source{Run: x.run, Source: "end", Author: "flowrun", Trust: entry.ByRule}); err != nil {
		return err
	}
	if owing {
		return nil
	}
	return l.from.paid(x.run)
}
