package learning

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/tasks"
)

// lesson is something to learn from: a task, or the end of a run.
type lesson struct {
	run      string
	task     learn.Task
	believed bool // the file trusts all authors of the task
	ending   tasks.Ending
	said     []event.Learned
	use      event.MemoryUse
	ended    bool // the run has ended
	behind   bool // the queue had no room for a task of the run that has ended
}

// runFold finds the tasks of one run that is driven.
type runFold struct {
	*tasks.Fold
	tasks  int  // to learn from, so far
	behind bool // the queue had no room for a task
}

// Watch sees each batch of a run of the tree when the batch is durable. It never waits. Calls about one run come one at a time.
func (b *Binding) Watch(run string, events []event.Event, r *event.Reaction) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.folds[run]
	if f == nil || len(events) > 0 && events[0].RunStarted != nil { // a drive that stopped begins again with the run's past
		f = &runFold{Fold: tasks.NewFold(b.program)}
		b.folds[run] = f
	}
	done, ended := f.Apply(events, r)
	for i := range done {
		if t := &done[i]; t.Memory.Learn {
			if f.tasks++; f.tasks <= b.known[run] {
				continue
			}
			f.behind = !b.queue.add(newLesson(run, t)) || f.behind
		}
	}
	if ended {
		delete(b.folds, run)
		delete(b.known, run)
		if f.tasks > 0 || b.runs[run] {
			b.queue.add(lesson{run: run, ended: true, behind: f.behind})
		}
	}
}

// unkept begins the warning that a learning could not be written.
const unkept = "the learnings are not stored yet: "

// learnFrom takes one lesson. The learnings of a run stay pending if one of them could not be written.
func (b *Binding) learnFrom(x lesson) {
	var err error
	switch {
	case x.behind:
		err = b.learnFromJournal(x.run)
	case x.ended:
		err = b.finishRun(x.run, b.failed[x.run])
	default:
		err = b.learnTask(&x)
	}
	if err != nil {
		if b.failed == nil {
			b.failed = map[string]bool{}
		}
		b.failed[x.run] = true
		b.Warn(unkept + err.Error())
	}
	if !x.ended {
		return
	}
	if !b.failed[x.run] {
		b.mu.Lock()
		b.ended = x.run
		b.mu.Unlock()
	}
	delete(b.failed, x.run)
}

func (b *Binding) learnTask(x *lesson) error {
	m, err := b.Open(x.run)
	if err != nil {
		return err
	}
	return x.writeTo(context.Background(), m)
}

// finishRun archives the working memory of a run that has ended, and removes the note of its pending learnings unless some are missing.
func (b *Binding) finishRun(run string, missing bool) error {
	m, err := b.Open(run)
	if err != nil {
		return err
	}
	err = m.Archive(context.Background(), run, entry.Source{Run: run, Source: "end", Author: "flowrun", Trust: entry.ByRule})
	if err != nil || missing {
		return err
	}
	return b.library.pending.settle(run)
}

// errUnread says that the learnings of a journal are left to somebody else.
var errUnread = errors.New("the run has not ended, or its program has another memory")

// readJournal lists the lessons of a run that has ended, from its journal.
func (b *Binding) readJournal(run string) (all []lesson, err error) {
	if b.library.replay == nil {
		return nil, errUnread
	}
	var f *tasks.Fold
	whole, err := b.library.replay(run, func(p *ir.Program, dir string) bool {
		f = tasks.NewFold(tasks.NewProgram(p))
		return Dir(p.Memory, b.library.store, dir) == Dir(&b.says, b.library.store, b.dir)
	}, func(events []event.Event, r *event.Reaction) {
		done, _ := f.Apply(events, r)
		for i := range done {
			if done[i].Memory.Learn {
				all = append(all, newLesson(run, &done[i]))
			}
		}
	})
	if err == nil && !whole {
		err = errUnread
	}
	return all, err
}

// learnFromJournal learns from a run of this tree that the queue had no room for.
func (b *Binding) learnFromJournal(run string) error {
	all, err := b.readJournal(run)
	if err != nil {
		return err
	}
	return b.learnAll(run, all)
}

// learnAll learns from all tasks of a run that has ended.
func (b *Binding) learnAll(run string, all []lesson) error {
	for i := range all {
		if err := b.learnTask(&all[i]); err != nil {
			return err
		}
	}
	return b.finishRun(run, false)
}

// learnFromOthers learns from the runs of other processes that ended with pending learnings. A run that has not ended is left to its
// next driver.
func (b *Binding) learnFromOthers() {
	for _, run := range b.library.pending.others() {
		all, err := b.readJournal(run)
		switch {
		case errors.Is(err, engine.ErrNoRun):
			_ = b.library.pending.settle(run)
			continue
		case err != nil:
			continue
		}
		if err := b.learnAll(run, all); err != nil {
			b.Warn(unkept + err.Error())
		}
	}
}
