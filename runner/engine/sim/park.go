package sim

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// parked says who wakes a run. The zero value is that of a run that is not parked.
type parked struct {
	process int64
	order   uint64     // of parking, so that runs are woken in a stable order
	due     event.Time // 0: no timer is set
	waits   bool       // for its turn
	top     string     // the run that is driven when this one is woken: the run itself, or the first of its callers
	parent  string     // the run that drives this one, "" for top
}

// DriveUntilParked implements engine.Parker. Called runs are parked with the run that was driven, and wake it.
func (e *Engine) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return e.driveRun(ctx, run, w, true)
}

// canPark reports whether nothing of any run is in flight, and nothing is about to happen.
func (p *life) canPark() bool {
	if !p.parks {
		return false
	}
	for _, d := range p.drivers {
		d.lookAround()
		if _, can := d.session.CanPark(d.now()); !can {
			return false
		}
	}
	return true
}

// parkRuns parks all runs of a life. The error is *engine.Parked, unless the process dies.
func (p *life) parkRuns(top string) error {
	e := p.e
	if e.diesParked() {
		return ErrCrashed
	}
	park := func(run string, with parked) {
		s := e.runs[run]
		e.parkings++
		with.process, with.order, with.top = e.epoch, e.parkings, top
		s.parked = with
		s.clean = s.clean || !with.waits
	}
	first := event.Time(0)
	err := e.commit(func() {
		for _, d := range p.drivers {
			due, _ := d.session.CanPark(d.now())
			with := parked{due: due}
			if d.parent != nil {
				with.parent = d.parent.run()
			}
			if with.due != 0 && (first == 0 || with.due < first) {
				first = with.due
			}
			park(d.run(), with)
		}
		for _, k := range p.waiting {
			park(k.ask.Run, parked{waits: true, parent: k.parent.run()})
		}
		if len(p.drivers) == 0 {
			park(top, parked{waits: true})
		}
	})
	if err != nil {
		return err
	}
	if e.diesParked() {
		return ErrCrashed
	}
	return &engine.Parked{Run: top, Due: first}
}

func (e *Engine) diesParked() bool {
	dies := e.dies(e.opts.Faults.CrashParked)
	if dies {
		e.struck.Parked++
	}
	return dies
}

// parkedRuns returns the runs that this process has parked, in the order of parking.
func (e *Engine) parkedRuns() (list []*stored) {
	if e.epoch == 0 {
		return nil
	}
	for _, s := range e.runs { // any order: sorted below
		if s.parked.process == e.epoch {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *stored) int { return int(a.parked.order) - int(b.parked.order) })
	return list
}

// Woken implements engine.Parker. It never holds a token.
func (e *Engine) Woken() <-chan struct{} { return nil }

// Wakeable implements engine.Parker. It returns ErrCrashed when chance killed the process.
func (e *Engine) Wakeable(_ context.Context, limit int) (runs []string, next event.Time, err error) {
	if e.dead != nil {
		return nil, 0, e.dead
	}
	list := e.parkedRuns()
	if len(list) > 0 && e.diesParked() {
		e.Close()
		return nil, 0, ErrCrashed
	}
	p := &life{e: e}
	p.forgetDead()
	p.goOn()
	if p.err != nil {
		return nil, 0, p.err
	}
	for _, s := range list {
		at := s.parked
		switch {
		case at.due != 0 && at.due <= e.wall(), !at.waits && len(s.Inbox.Waiting) > 0, at.waits && e.turnCame(e.findTurn(s.Start.Header.Run)):
			if len(runs) < limit && !slices.Contains(runs, at.top) {
				runs = append(runs, at.top)
			}
		case at.due != 0 && (next == 0 || at.due < next):
			next = at.due
		}
	}
	if at := e.lineMoment(); at != 0 && (next == 0 || at.Add(e.skew) < next) {
		next = at.Add(e.skew)
	}
	return runs, next, nil
}
