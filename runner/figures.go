package runner

import (
	"context"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/stats"
)

// EndedStats keeps the folds of runs that have ended for the next call of [Service.Stats]: those of the last call. The zero value is empty.
type EndedStats struct{ byRun map[string]endedStats }

type endedStats struct {
	created event.Time // a run that was removed may have been started anew with the same id
	events  uint64
	run     *stats.Run
}

// Stats folds the runs that had not ended at a moment, from their journals. kept has those that need not be read again; it may be nil. unread
// hears of each run that cannot be replayed; the figures leave it out.
func (s *Service) Stats(ctx context.Context, since event.Time, kept *EndedStats, unread func(run string, err error)) ([]*stats.Run, error) {
	infos, err := s.List(ctx, 0)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		kept = &EndedStats{}
	}
	before := kept.byRun
	kept.byRun = map[string]endedStats{}
	var runs []*stats.Run
	for i := range infos {
		if info := &infos[i]; info.Ended == 0 || info.Ended > since {
			ended := before[info.Run]
			if ended.run != nil && ended.created == info.Created && ended.events == info.Events {
				kept.byRun[info.Run] = ended
				runs = append(runs, ended.run)
				continue
			}
			r, err := s.statsOf(ctx, info)
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err != nil:
				unread(info.Run, err)
			default:
				runs = append(runs, r)
				if info.Status.Terminal() { // as it was before the journal was read
					kept.byRun[info.Run] = endedStats{info.Created, info.Events, r}
				}
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
