package runner

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
)

// AwaitEvery is how often [Service.Await] looks at a run. A look costs one row of a table.
const AwaitEvery = 100 * time.Millisecond

// Await waits until a run has ended, or no process drives it. The error is the cause of ctx if ctx ends before.
func (s *Service) Await(ctx context.Context, run string) (engine.Info, error) {
	for {
		if !pause(ctx, AwaitEvery) {
			return engine.Info{}, context.Cause(ctx)
		}
		info, err := s.Get(ctx, run)
		if err != nil || info.Status.Terminal() || info.Driver == 0 {
			return info, err
		}
	}
}
