package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

const (
	// maxViews is how many runs the server keeps a view of, those that somebody asked for last; maxViewed bounds their events and nodes
	// together, of which each takes up to 0.8 KiB. A larger run is kept while it is the only one.
	maxViews  = 32
	maxViewed = 160_000
	// viewFor is how long a view is kept that nobody asks for.
	viewFor = time.Minute
	// maxStories is how many nodes of a run the server keeps the stories of.
	maxStories = 4
)

// views keeps views of runs, so that a client that asks for a run again and again costs no replay of its journal each time: only what is new is
// replayed.
type views struct {
	mu     sync.Mutex
	byRun  map[string]*runView
	sweeps bool // old ones will be forgotten
}

// runView is the view of a run, with the other folds of its journal that were asked for.
type runView struct {
	used time.Time // views.mu guards it, and size
	size int       // events and nodes

	mu       sync.Mutex
	created  event.Time   // of the run: one that was removed may have been started anew with the same id
	past     *runner.Past // nil: nothing was read yet
	timeline *view.Timeline
	stories  []*view.Story // of nodes, the one that was asked for last at the end
	logs     *attemptLogs  // nil: nobody has asked for them
}

// take returns the view of a run, which may be empty.
func (v *views) take(run string) *runView {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byRun == nil {
		v.byRun = map[string]*runView{}
	}
	x := v.byRun[run]
	if x == nil {
		x = &runView{}
		v.byRun[run] = x
	}
	x.used = time.Now()
	v.shrink(x)
	if !v.sweeps {
		v.sweeps = true
		time.AfterFunc(viewFor, v.sweep)
	}
	return x
}

// weigh notes the size of a view.
func (v *views) weigh(x *runView, size int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	x.size = size
	v.shrink(x)
}

// shrink forgets the views that were not used for longest while there are too many, but not x. v.mu is locked.
func (v *views) shrink(x *runView) {
	for {
		size, oldest := 0, ""
		for run, y := range v.byRun { // any order: a sum, and the minimum
			size += y.size
			if y != x && (oldest == "" || y.used.Before(v.byRun[oldest].used)) {
				oldest = run
			}
		}
		if oldest == "" || len(v.byRun) <= maxViews && size <= maxViewed {
			return
		}
		delete(v.byRun, oldest)
	}
}

// sweep forgets what nobody has asked for lately.
func (v *views) sweep() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for run, x := range v.byRun { // any order: each is looked at on its own
		if time.Since(x.used) >= viewFor {
			delete(v.byRun, run)
		}
	}
	if v.sweeps = len(v.byRun) > 0; v.sweeps {
		time.AfterFunc(viewFor, v.sweep)
	}
}

func (v *views) forget(run string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byRun, run)
}

// wanted says what of a run is asked for besides its view.
type wanted struct {
	timeline bool
	story    string // the path of a node; "": none
}

// lookAt brings the view of a run up to date and hands it to read, with the attempts that have not answered. What read keeps must not be a part
// of the view: others change it.
func (s *Server) lookAt(ctx context.Context, info engine.Info, w wanted, read func(*runView, []*view.Begun) error) error {
	x := &runView{}
	if info.Turn != nil { // a run that waits for its turn has no journal yet
		s.views.forget(info.Run)
	} else {
		x = s.views.take(info.Run)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.past != nil && (x.created != info.Created || info.Events < x.past.Seq()) { // somebody else was faster, or it is another journal
		var err error
		if info, err = s.daemon.store.Get(ctx, info.Run); err != nil {
			return err
		}
		if x.created != info.Created || info.Events < x.past.Seq() {
			x.past, x.timeline, x.stories, x.logs = nil, nil, nil, nil
		}
	}
	if err := s.bring(ctx, x, info, w); err != nil {
		x.past = nil // it may have stopped in the middle
		return err
	}
	s.views.weigh(x, int(x.past.Seq())+x.past.View.Size())
	x.past.View.RetriedBy = info.RetriedBy
	begun := s.daemon.store.Unanswered(x.past, info)
	s.daemon.store.Stand(x.past, info, begun)
	return read(x, begun)
}

// bring replays what is new of a run, or all of it where a fold is asked for that was not kept.
func (s *Server) bring(ctx context.Context, x *runView, info engine.Info, w wanted) (err error) {
	has := x.past != nil && (!w.timeline || x.timeline != nil)
	if w.story != "" {
		has = x.tell(w.story) && has
	}
	if has && x.past.End() != nil && x.past.Seq() == info.Events {
		return nil
	}
	var each func(runner.Seen) bool
	if w.timeline || x.timeline != nil || len(x.stories) > 0 {
		each = x.follow
	}
	if has {
		return x.past.CatchUp(ctx, each)
	}
	if x.past, err = s.daemon.store.Past(ctx, info.Run); err != nil {
		return err
	}
	if x.created = info.Created; w.timeline || x.timeline != nil {
		x.timeline = x.past.View.Timeline()
	}
	for i, story := range x.stories {
		x.stories[i] = x.past.View.Story(story.Path)
	}
	return x.past.Replay(ctx, each)
}

// tell reports whether the story of a node is kept. If it is not, the next replay from the beginning tells it.
func (x *runView) tell(path string) bool {
	i := slices.IndexFunc(x.stories, func(s *view.Story) bool { return s.Path == path })
	kept := i >= 0
	story := &view.Story{Path: path}
	if kept {
		story = x.stories[i]
		x.stories = slices.Delete(x.stories, i, i+1)
	}
	if x.stories = append(x.stories, story); len(x.stories) > maxStories {
		x.stories = slices.Delete(x.stories, 0, 1)
	}
	return kept
}

// follow takes an event into the folds besides the view.
func (x *runView) follow(e runner.Seen) bool {
	if x.timeline != nil {
		x.timeline.Apply(e.Event, e.Caused)
	}
	for _, s := range x.stories {
		s.Apply(e.Event, e.Caused)
	}
	return true
}

// readRun reads a run with its nodes.
func (s *Server) readRun(ctx context.Context, info engine.Info) (d view.Document, err error) {
	err = s.lookAt(ctx, info, wanted{}, func(x *runView, begun []*view.Begun) error {
		d = x.past.View.Document()
		s.complete(&d, &info, begun)
		return nil
	})
	return d, err
}

// encodeRun reads a run as JSON. Only the nodes that have changed since the last time are written anew.
func (s *Server) encodeRun(ctx context.Context, info engine.Info) (text []byte, err error) {
	err = s.lookAt(ctx, info, wanted{}, func(x *runView, begun []*view.Begun) error {
		text, err = x.past.View.Encode(func(d *view.Document) { s.complete(d, &info, begun) })
		return err
	})
	return text, err
}

// complete adds to a run what its journal does not know.
func (s *Server) complete(d *view.Document, info *engine.Info, begun []*view.Begun) {
	if why := s.daemon.whyRefused(info.Run).why; why != nil && d.Reason == "" && info.Interrupted() {
		d.Reason = "The daemon cannot drive this run: " + why.Error()
	}
	d.Trouble = info.Trouble
	for _, b := range begun {
		d.Unanswered = append(d.Unanswered, b.Document())
	}
}
