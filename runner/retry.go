package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/trace"
)

// Again is a run that repeats a run that has ended.
type Again struct {
	engine.Start
	Pinned *Pinned // the program and the header of both runs
}

// Retry prepares a run that repeats a run, and reuses the results that wish leaves; [Service.Start] starts it. environ is the environment that
// the new run records, and release the release that starts it. The error is a *retry.Refusal where the wish cannot be granted.
func (s *Service) Retry(ctx context.Context, run string, wish retry.Wish, environ []string, release string) (*Again, error) {
	p, err := s.Past(ctx, run)
	if err != nil {
		return nil, err
	}
	p.View.Forget() // a repeat is reused as a whole
	if err := p.Replay(ctx, nil); err != nil {
		return nil, err
	}
	g, err := p.Program.Graph(p.Workflow.Name)
	if err != nil {
		return nil, err
	}
	first, err := p.First()
	if err != nil {
		return nil, err
	}
	kept, err := retry.Of(g, first, p.View, wish)
	if err != nil {
		return nil, err
	}
	source, err := s.Source(ctx, run)
	if err != nil {
		return nil, err
	}
	h := p.Header
	start := engine.Start{Definition: p.Definition, Source: source, First: *first,
		Header: journal.Header{Format: journal.Format, Behaviour: h.Behaviour, Definition: h.Definition, Workflow: h.Workflow, Release: release}}
	start.First.Run, start.First.Skip, start.First.Cancelled, start.First.Env = "", "", "", RecordedEnv(environ)
	start.First.Budget, start.First.Asks, start.First.Held = nil, nil, nil // of the call, which this run does not answer
	start.First.Cause, start.First.Traceparent = event.RetryCause(run, first), trace.Caller(environ)
	start.First.RetryOf, start.First.Reused, start.First.Targets = run, kept.Reused, kept.Targets
	return &Again{start, p.Pinned}, nil
}

// ItemOf says in words which item a run did that a loop started, and whether its worktree is gone; "" for other runs. Such a run is not
// repeated: the loop claims the item again.
func (s *Service) ItemOf(ctx context.Context, run string) string {
	p, err := s.Past(ctx, run)
	if err != nil {
		return ""
	}
	first, err := p.First()
	if err != nil || first.Cause == nil || first.Cause.Kind != event.CauseLoop {
		return ""
	}
	c := first.Cause
	words := fmt.Sprintf("run %s did item %s of loop %s", run, c.ID, c.Name)
	if c.Worktree != "" && !s.options.Remote { // that of a worker lies there
		if _, err := os.Stat(c.Worktree); errors.Is(err, fs.ErrNotExist) {
			words += fmt.Sprintf(", and its worktree %s was removed", c.Worktree)
		}
	}
	return words
}

// StartRetry starts a run that repeats a run that has ended, in the environment of that run, and returns its id. Nobody drives it. The error is
// a *retry.Refusal where the wish cannot be granted, and *NoSecrets where the secrets of the run are not where it got them.
func (s *Service) StartRetry(ctx context.Context, run string, wish retry.Wish, release string) (string, error) {
	again, err := s.Retry(ctx, run, wish, nil, release)
	if err != nil {
		return "", err
	}
	return s.startAgain(ctx, run, again)
}

// StartRetryChanged is StartRetry with another program; see [Service.RetryChanged].
func (s *Service) StartRetryChanged(ctx context.Context, run string, p *ir.Program, source []byte, dir string, wish retry.Wish, release string) (string, error) {
	then, err := s.Pinned(ctx, run)
	if err != nil {
		return "", err
	}
	again, plan, err := s.RetryChanged(ctx, run, p, source, dir, wish, nil, release)
	if err != nil {
		return "", err
	}
	if len(plan.Again) == 0 && again.Header.Definition == then.Header.Definition {
		return "", &retry.Refusal{Message: fmt.Sprintf("the file has not changed since run %s, and no step has to run again", run), Advice: retry.FromNode}
	}
	return s.startAgain(ctx, run, again)
}

// startAgain starts a run that repeats a run, in the environment of that run.
func (s *Service) startAgain(ctx context.Context, run string, again *Again) (string, error) {
	then, err := s.Started(ctx, run)
	if err != nil {
		return "", err
	}
	again.First.Env = then.Env
	if err := s.Reseal(ctx, run, &again.First); err != nil {
		return "", err
	}
	if len(again.First.Secrets) > 0 {
		search := given.Search{First: &again.First, Program: again.Pinned.Program.Program, LookupEnv: s.lookupEnv}
		if _, _, problems := search.Find(); len(problems) > 0 {
			return "", &NoSecrets{Run: run, Problems: problems}
		}
	}
	return s.hostStart(ctx, again.Start)
}

// envAllowed are the variables that a run records and gives to every attempt; a name that ends in * stands for all that
// begin so. Nothing else of the environment enters a journal.
var envAllowed = []string{"PATH", "HOME", "USER", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*", "TERM"}

// RecordedEnv picks the variables that a run records out of an environment, in the form of os.Environ.
func RecordedEnv(environ []string) map[string]string {
	env := map[string]string{}
	for _, pair := range environ {
		if name, text, ok := strings.Cut(pair, "="); ok && isRecorded(name) {
			env[name] = strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return env
}

func isRecorded(name string) bool {
	for _, a := range envAllowed {
		if prefix, open := strings.CutSuffix(a, "*"); a == name || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
