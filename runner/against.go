package runner

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/view"
)

// ReplayAgainst replays the world of a journal for a workflow of another program: the one that first names. first has the values that the
// program gets.
func ReplayAgainst(then *replay.World, p *ir.Program, first event.RunStarted) (*replay.Outcome, error) {
	once := func() (*replay.Outcome, error) {
		m, err := new(Programs).Machine(journal.Header{Behaviour: ir.Behaviour, Workflow: first.Workflow}, p.Canonical())
		if err != nil {
			return nil, err
		}
		return then.Run(m, first, view.New(p.Workflow(first.Workflow)))
	}
	out, err := once()
	if err == nil && len(out.New) > 0 { // an attempt that is never answered must not keep slots from the others
		first.Parallel = MaxConcurrency
		out, err = once()
	}
	return out, err
}
