package app

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/tasks"
)

// maxUnlearned is how many ended tasks may wait to be learned from; beyond it, runs wait.
const maxUnlearned = 1024

// learner makes learnings of tasks as they end, in a goroutine of its own: runs go on meanwhile. A task is learned from once it is
// durable in its journal, under ids that its run and its step make, so learning from it again changes nothing.
type learner struct {
	from *remembering
	// past replays a run that has ended and whose memory is in this folder; ours is false, and nothing is replayed, for others.
	past func(run, folder string, each func([]event.Event, *event.Reaction)) (ours bool, err error)

	mu    sync.Mutex
	folds map[string]*learned
	queue chan lesson
	done  chan struct{}
	ended string // the last run that is over and wholly learned from; for who has waited for close

	count sync.Mutex
	given uint64        // lessons that were handed over
	taken uint64        // and that are done with
	next  chan struct{} // closed when one more is
}

// learned is what is known of a run that is driven.
type learned struct {
	tasks.Fold
	any bool // it had something to learn from
}

// lesson is what there is to learn: a task, or that a run has ended.
type lesson struct {
	run   string
	task  learn.Task
	said  []event.Learned
	use   event.MemoryUse
	ended bool
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
		f = new(learned)
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

// write writes a task's learning, and what its agent said that it learned.
func write(ctx context.Context, m *memory.Memory, x *lesson) error {
	if err := add(ctx, m, learn.FromTask(x.task)); err != nil {
		return err
	}
	said := x.task
	if said.Trust = entry.Untrusted; x.use.Trusted {
		said.Trust = entry.ByAgent
	}
	var ids []string
	for n, s := range x.said {
		e := said.Said(n, entry.Entry{Type: entry.Type(s.Type), Text: s.Text, Lesson: s.Lesson, Context: s.Context, Observation: s.Observation, Tags: s.Tags,
			Importance: s.Importance})
		if err := add(ctx, m, e); err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 || !x.use.Promote || x.use.Trusted || !x.task.OK {
		return nil
	}
	err := m.Promote(ctx, ids, entry.OfAgent(x.task.Agent), entry.Source{Run: x.run, Step: x.task.Step, Source: "promote", Author: "flowrun", Trust: entry.ByRule})
	if errors.Is(err, memory.ErrNoEntry) {
		return nil // it was a repeat, or has been forgotten
	}
	return err
}

// add writes an entry; what stands under its id already, stands.
func add(ctx context.Context, m *memory.Memory, e entry.Entry) error {
	_, err := m.Add(ctx, e)
	if errors.Is(err, memory.ErrExists) {
		return nil
	}
	return err
}

// makeUp learns from the runs of other processes that ended before they had. One that has not ended is its next driver's.
func (l *learner) makeUp() {
	for _, run := range l.from.left() {
		var f tasks.Fold
		var all []lesson
		ours, err := l.past(run, l.from.folder(), func(events []event.Event, r *event.Reaction) {
			done, _ := f.Apply(events, r)
			for i := range done {
				if done[i].Memory.Learn {
					all = append(all, lessonOf(run, &done[i]))
				}
			}
		})
		switch {
		case errors.Is(err, engine.ErrNoRun):
			_ = l.from.paid(run)
			continue
		case err != nil || !ours:
			continue
		}
		for _, x := range append(all, lesson{run: run, ended: true}) {
			if err := l.learn(x, false); err != nil {
				l.from.warn("what was learned is not kept yet: " + err.Error())
				break
			}
		}
	}
}

// pastOf is what makeUp learns from.
func (s *store) pastOf(run, folder string, each func([]event.Event, *event.Reaction)) (ours bool, err error) {
	ctx := context.Background()
	info, err := s.Get(ctx, run)
	if err != nil || !info.Status.Terminal() {
		return false, err
	}
	first, program, err := s.begun(ctx, run)
	if err != nil || memoryDir(program.Memory, s.Dir(), first.Dir) != folder {
		return false, err
	}
	p, err := s.recall(ctx, run)
	if err != nil {
		return false, err
	}
	_, err = s.Batches(ctx, run, func(b journal.Batch) error {
		var out event.Reaction
		events, err := p.fold.Replay(b, &out)
		if err == nil {
			each(events, &out)
		}
		return err
	})
	return err == nil, err
}

// Bounds of what is kept of a task until it is learned from, in bytes.
const (
	maxTaskText   = 4 << 10
	maxTaskStream = 8 << 10
	maxTaskOutput = 2 << 10
)

// lessonOf keeps of a task what can be learned from it.
func lessonOf(run string, t *tasks.Task) lesson {
	out := learn.Task{Agent: t.Agent, Run: run, Step: t.Node, Text: learn.Clip(t.Text, maxTaskText), OK: t.OK, Attempts: t.Attempts, Trust: entry.ByRule, At: t.At.Go()}
	if e := t.Problem; e != nil {
		out.Problem = &learn.Problem{Kind: e.Kind, Reason: e.Reason, Message: learn.Clip(e.Message, maxTaskText),
			ExitCode: e.ExitCode, Gate: e.Gate, Status: e.Status, Stdout: ending(t.Stdout), Stderr: ending(t.Stderr)}
	}
	switch v := t.Output.(type) {
	case nil:
	case string:
		out.Output = learn.Clip(v, maxTaskOutput)
	default:
		out.Output = learn.Clip(string(value.Append(nil, v)), maxTaskOutput)
	}
	return lesson{run: run, task: out, said: t.Learned, use: t.Memory}
}

// ending is the end of a stream, which says what went wrong.
func ending(s string) string {
	if len(s) <= maxTaskStream {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxTaskStream:], "")
}
