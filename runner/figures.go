package runner

import (
	"context"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/stats"
)

// Stats folds the runs that had not ended at a moment, from their journals. unread hears of each run that cannot be replayed; the figures
// leave it out.
func (s *Service) Stats(ctx context.Context, since event.Time, unread func(run string, err error)) ([]*stats.Run, error) {
	infos, err := s.List(ctx, 0)
	if err != nil {
		return nil, err
	}
	var runs []*stats.Run
	for i := range infos {
		if info := &infos[i]; info.Ended == 0 || info.Ended > since {
			r, err := s.statsOf(ctx, info)
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err != nil:
				unread(info.Run, err)
			default:
				runs = append(runs, r)
			}
		}
	}
	return runs, nil
}

func (s *Service) statsOf(ctx context.Context, info *engine.Info) (*stats.Run, error) {
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return nil, err
	}
	r := stats.NewRun(p.Workflow, info.Definition)
	_, err = s.Batches(ctx, info.Run, func(b journal.Batch) error {
		var out event.Reaction
		events, err := p.fold.Replay(b, &out)
		if err == nil {
			if len(events) > 0 && events[0].RunStarted != nil {
				expectRun(r, p.Pinned, events[0].RunStarted)
			}
			r.Apply(events, &out)
		}
		return err
	})
	return r, err
}
