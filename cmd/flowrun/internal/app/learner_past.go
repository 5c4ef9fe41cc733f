package app

import (
	"context"
	"errors"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/tasks"
)

// makeUp learns from the runs of other processes that ended before they had. One that has not ended is its next driver's.
func (l *learner) makeUp() {
	for _, run := range l.from.left() {
		f := tasks.NewFold(nil)
		var all []lesson
		ours, err := l.past(run, l.from.folder(), func(p *ir.Program) { f = tasks.NewFold(tasks.NewProgram(p)) }, func(events []event.Event, r *event.Reaction) {
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
func (s *store) pastOf(run, folder string, of func(*ir.Program), each func([]event.Event, *event.Reaction)) (ours bool, err error) {
	ctx := context.Background()
	info, err := s.Get(ctx, run)
	if err != nil || !info.Status.Terminal() {
		return false, err
	}
	first, program, err := s.begun(ctx, run)
	if err != nil || memoryDir(program.Memory, s.Dir(), first.Dir) != folder {
		return false, err
	}
	of(program)
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
