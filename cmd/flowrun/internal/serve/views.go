package serve

import (
	"context"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/view"
)

const (
	// maxViews is how many runs that have not ended the server keeps a view of, those that somebody asked for last.
	maxViews = 8
	// viewFor is how long such a view is kept that nobody asks for.
	viewFor = time.Minute
)

// views keeps views of runs, so that a client that asks for a run again and again costs no replay of its journal each time.
type views struct {
	mu    sync.Mutex
	byRun map[string]*runView
}

// runView is the view of a run.
type runView struct {
	used time.Time // views.mu guards it

	mu   sync.Mutex
	past *runner.Past // nil: nothing was read yet
}

// take returns the view of a run, which may be empty, and forgets views that are not used.
func (v *views) take(run string) *runView {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byRun == nil {
		v.byRun = map[string]*runView{}
	}
	x, now := v.byRun[run], time.Now()
	if x == nil {
		x = &runView{}
		v.byRun[run] = x
	}
	x.used = now
	oldest := run
	for other, y := range v.byRun { // any order: the minimum
		if now.Sub(y.used) > viewFor {
			delete(v.byRun, other)
		} else if y.used.Before(v.byRun[oldest].used) {
			oldest = other
		}
	}
	if len(v.byRun) > maxViews {
		delete(v.byRun, oldest)
	}
	return x
}

func (v *views) forget(run string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byRun, run)
}

// readRun reads a run with its nodes. Of a run that goes on it reads what is new since the last time.
func (s *Server) readRun(ctx context.Context, info engine.Info) (view.Document, error) {
	x := &runView{}
	if info.Status.Terminal() || info.Turn != nil { // a run that waits for its turn has no journal yet
		s.views.forget(info.Run)
	} else {
		x = s.views.take(info.Run)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if x.past == nil {
		if x.past, err = s.daemon.store.Past(ctx, info.Run); err == nil {
			err = x.past.Replay(ctx, nil)
		}
	} else {
		err = x.past.CatchUp(ctx)
	}
	if err != nil {
		x.past = nil // it may have stopped in the middle
		return view.Document{}, err
	}
	x.past.View.RetriedBy = info.RetriedBy
	begun := s.daemon.store.Unanswered(x.past, info)
	s.daemon.store.Stand(x.past, info, begun)
	d := x.past.View.Document()
	if why := s.daemon.whyRefused(info.Run).why; why != nil && d.Reason == "" && info.Interrupted() {
		d.Reason = "The daemon cannot drive this run: " + why.Error()
	}
	for _, b := range begun {
		d.Unanswered = append(d.Unanswered, b.Document())
	}
	return d, nil
}
