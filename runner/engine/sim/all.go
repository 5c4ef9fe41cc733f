package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Add lets DriveAll drive a run: the DriveAll at work, or the next one.
func (e *Engine) Add(run string) { e.added = append(e.added, run) }

// Schedule adds a moment. It comes behind the moments of its time that are known.
func (e *Engine) Schedule(m Moment) {
	at := slices.IndexFunc(e.opts.Moments, func(o Moment) bool { return o.At > m.At })
	if at < 0 {
		at = len(e.opts.Moments)
	}
	e.opts.Moments = slices.Insert(e.opts.Moments, at, m)
}

// NextMoment lets the next moment happen while nothing is driven. It reports whether there was one.
func (e *Engine) NextMoment() (bool, error) {
	if len(e.opts.Moments) == 0 {
		return false, nil
	}
	m := e.opts.Moments[0]
	e.opts.Moments, e.now = e.opts.Moments[1:], max(e.now, m.At)
	return true, m.Do()
}

// DriveAll drives the runs that were added, as one process, until all of them have ended. Runs that wait for their turns in a group wait
// for each other. It returns ErrCrashed when the process died: the next DriveAll takes the runs over.
func (e *Engine) DriveAll(ctx context.Context) error {
	if e.dead != nil {
		return e.dead
	}
	e.register()
	p := &life{e: e}
	p.forgetDead()
	e.all = p
	err := p.driveAll(ctx)
	e.all = nil
	for _, d := range p.drivers {
		if d.parent == nil {
			e.Add(d.run())
		}
	}
	for _, k := range p.waiting {
		if k.parent == nil {
			e.Add(k.ask.Run)
		}
	}
	slices.SortFunc(e.added, func(a, b string) int { return cmp.Compare(e.runs[a].number, e.runs[b].number) })
	switch {
	case errors.Is(err, ErrCrashed):
		e.Close()
	case e.dead == nil:
		p.stop()
	}
	return err
}

// driveAll is the loop of DriveAll.
func (p *life) driveAll(ctx context.Context) error {
	for e := p.e; ; {
		if err := e.startDue(); err != nil {
			return err
		}
		if err := p.takeAdded(); err != nil {
			return err
		}
		if len(p.drivers)+len(p.waiting)+len(e.away) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.letTurnsIn(); err != nil {
			return err
		}
		if len(p.drivers) == 0 && p.lines != e.changes { // a run that was let in had ended already, and the next one has its turn
			continue
		}
		if m := e.opts.Moments; len(m) > 0 && (m[0].At <= e.now || len(p.drivers) == 0 || !p.readyBefore(m[0].At)) {
			if _, err := e.NextMoment(); err != nil {
				return err
			}
			continue
		}
		if len(p.drivers) == 0 {
			return fmt.Errorf("%w: each run waits for its turn", ErrStuck)
		}
		d := p.next()
		err := d.turn(ctx)
		if p.err != nil {
			err = p.err
		}
		if err != nil {
			return err
		}
		if d.parent == nil && d.end() != nil {
			p.drop(d)
		}
	}
}

// startDue lets the owner of the simulation start the runs that events are to start.
func (e *Engine) startDue() error {
	if e.opts.Due == nil {
		return nil
	}
	due, err := shared.HasDue(&e.shared)
	if err == nil && due {
		err = e.opts.Due()
	}
	return err
}

// takeAdded begins to drive the runs that were added. One that has ended is left alone.
func (p *life) takeAdded() error {
	for ; len(p.e.added) > 0; p.e.added = p.e.added[1:] {
		run := p.e.added[0]
		s, err := p.e.stored(run)
		if err == nil && !s.ended {
			err = p.takeChild(&call{ask: event.StartChild{Run: run}})
		}
		if err != nil {
			return err
		}
		p.dropEnded(run)
	}
	return nil
}

// dropEnded lets go of a run at the top that has ended.
func (p *life) dropEnded(run string) {
	if at := p.find(run); at >= 0 && p.drivers[at].end() != nil {
		p.drop(p.drivers[at])
	}
}

func (p *life) find(run string) int {
	return slices.IndexFunc(p.drivers, func(d *driver) bool { return d.run() == run })
}

// letTurnsIn is letIn if the turn of a run can have come since it was called last. Otherwise a thousand runs that wait would be asked at
// each event.
func (p *life) letTurnsIn() error {
	if p.lines == p.e.changes {
		return nil
	}
	p.lines = p.e.changes
	granted := map[string]bool{}
	for _, r := range p.e.turns.Requests() {
		if r.Granted {
			granted[r.Run] = true
		}
	}
	waiting := p.waiting
	p.waiting = nil
	for i, k := range waiting {
		if k.parent == nil && !granted[k.ask.Run] && !p.e.runs[k.ask.Run].cancelledInLine() {
			p.waiting = append(p.waiting, k)
			continue
		}
		if err := p.takeChild(k); err != nil {
			p.waiting = append(p.waiting, waiting[i:]...)
			return err
		}
		if k.parent == nil {
			p.dropEnded(k.ask.Run)
		}
	}
	return nil
}

// Kill lets the driver of a run die alone: that of a run that DriveAll drives, and of the runs that it calls. Another driver takes them
// over after some time, which may be 0. Nothing happens if nobody drives the run.
func (e *Engine) Kill(run string, away time.Duration) {
	p := e.all
	if p == nil || e.away[run] {
		return
	}
	waits := slices.IndexFunc(p.waiting, func(k *call) bool { return k.ask.Run == run && k.parent == nil })
	switch at := p.find(run); {
	case at >= 0:
		tree := p.tree(p.drivers[at])
		var keys []string
		for _, d := range tree { // all at once: none of them gets what another one leaves
			keys = append(keys, d.requests()...)
			d.asks = newAsks()
		}
		p.remove(keys)
		p.drop(p.drivers[at])
		for _, d := range tree {
			d.s.clean = false
		}
	case waits >= 0:
		p.waiting = slices.Delete(p.waiting, waits, waits+1)
		e.leaveLine(run)
	default:
		return
	}
	if away == 0 {
		e.Add(run)
		return
	}
	if e.away == nil {
		e.away = map[string]bool{}
	}
	e.away[run] = true
	e.Schedule(Moment{At: e.now.Add(away), Do: func() error {
		delete(e.away, run)
		e.Add(run)
		return nil
	}})
}

// Halt lets the driver of a run stand still for some time: nothing happens in the run, and in those that it calls. Nothing changes if
// nobody drives the run.
func (e *Engine) Halt(run string, lasts time.Duration) {
	if p := e.all; p != nil {
		if at := p.find(run); at >= 0 {
			for _, d := range p.tree(p.drivers[at]) {
				d.stands = e.now.Add(lasts)
			}
		}
	}
}

// Jump sets the clock on the wall forward, or back if by is negative. Timers of driven runs go by that clock, but do not wait longer because it
// was set back; moments, attempts and the commits of runs go on as they did.
func (e *Engine) Jump(by time.Duration) {
	e.skew += by
	e.struck.Jumps++
}

// tree is a driven run with the driven runs below it.
func (p *life) tree(top *driver) (list []*driver) {
	for _, d := range p.drivers {
		for above := d; above != nil; above = above.parent {
			if above == top {
				list = append(list, d)
				break
			}
		}
	}
	return list
}
