package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// maxAway is how many trees of runs that other processes drive have a session here. Another session is made again when it is needed.
const maxAway = 64

// away are the sessions of trees of which this process carries out attempts without driving them.
type away struct {
	mu    sync.Mutex
	trees map[string]*Session // by run, and by the first run of its tree
}

// ExecuteAway carries out an attempt of a run that another process drives, with the secrets of the run. They are looked for where the run got
// them: an attempt fails whose process does not have them. The host of the service must know the run.
func (s *Service) ExecuteAway(ctx context.Context, a event.Attempt) event.AttemptFinished {
	x, err := s.sessionAway(ctx, a.Run)
	if err == nil {
		return x.carryOut(ctx, a)
	}
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	executor.Fail(&ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1, Message: err.Error()})
	return ans
}

// sessionAway gives the session of a run of another process.
func (s *Service) sessionAway(ctx context.Context, run string) (*Session, error) {
	s.away.mu.Lock()
	defer s.away.mu.Unlock() // one at a time: each needs the server, and most need it once
	if x := s.away.trees[run]; x != nil {
		return x, nil
	}
	root := s.Origin(ctx, run)
	x := s.away.trees[root]
	if x == nil {
		p, err := s.Pinned(ctx, root)
		if err != nil {
			return nil, fmt.Errorf("the secrets of run %s: %w", run, err)
		}
		first, err := p.First()
		if err != nil {
			return nil, err
		}
		secrets, err := s.findSecrets(ctx, first, p)
		if err != nil {
			return nil, err
		}
		x = s.newSession(p.Program, ir.RulesOf(p.Header.Behaviour), first, held{secrets: secrets})
	}
	if s.away.trees == nil || len(s.away.trees) >= maxAway {
		s.away.trees = map[string]*Session{}
	}
	s.away.trees[root], s.away.trees[run] = x, x
	return x, nil
}
