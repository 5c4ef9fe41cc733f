package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
)

// TimelinePart says which part of a timeline is wanted: from and to count from the begin of the run, and a To of 0 is its end.
type TimelinePart struct {
	From, To time.Duration
	Most     int // rows
}

// ReadTimeline folds the timeline of a run.
func ReadTimeline(ctx context.Context, s *standalone.Store, info engine.Info, part TimelinePart) (view.TimelineDoc, error) {
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return view.TimelineDoc{}, err
	}
	t := p.View.Timeline()
	if err := p.Replay(ctx, func(e runner.Seen) bool { t.Apply(e.Event, e.Caused); return true }); err != nil {
		return view.TimelineDoc{}, err
	}
	s.Stand(p, info, nil)
	return part.of(t, p.View), nil
}

// of is the part of the timeline of a run.
func (part TimelinePart) of(t *view.Timeline, run *view.Run) view.TimelineDoc {
	var to event.Time
	if part.To > 0 {
		to = run.StartedAt.Add(part.To)
	}
	return t.Document(run.StartedAt.Add(part.From), to, event.At(time.Now()), part.Most)
}

// maxTimeline bounds the time in a run that a part of its timeline names, in milliseconds: a hundred years.
const maxTimeline = 100 * 366 * 24 * 3600 * 1000

func (s *Server) timeline(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	from, err := readNumber(r, "from", 0, 0, maxTimeline)
	if err != nil {
		return nil, err
	}
	to, err := readNumber(r, "to", 0, 0, maxTimeline)
	if err != nil {
		return nil, err
	}
	most, err := readNumber(r, "limit", 300, 1, 100_000)
	if err != nil {
		return nil, err
	}
	part := TimelinePart{time.Duration(from) * time.Millisecond, time.Duration(to) * time.Millisecond, most}
	var out view.TimelineDoc
	err = s.lookAt(r.Context(), info, wanted{timeline: true}, func(x *runView, _ []*view.Begun) error {
		out = part.of(x.timeline, x.past.View)
		return nil
	})
	return out, err
}
