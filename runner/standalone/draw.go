package standalone

import (
	"context"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view/graph"
)

// Draw makes the graph of a workflow, with the bounds of the agents, quotas and pools that its nodes use.
func Draw(p *plan.Graph) *graph.Graph {
	g := graph.Of(p.Workflow)
	g.Starts = graph.Starts(p.Program, p.Workflow.Name)
	for _, r := range outline.SharedBy(p) {
		if len(r.Bounds) == 0 {
			continue
		}
		marked := map[string]bool{}
		for _, u := range r.UsedBy {
			name := u.Node[strings.LastIndexByte(u.Node, '/')+1:]
			if !marked[name] {
				g.Mark(name, fmt.Sprintf("%s %s: %s", r.Kind, r.Name, strings.Join(r.Bounds, ", ")))
			}
			marked[name] = true
		}
	}
	return g
}

// DrawRun makes the graph of the recorded definition of a run, with the states of its nodes, also if the file has changed. A workflow
// that is not "" must be the run's; the error is otherwise *OtherWorkflow.
func (s *Store) DrawRun(ctx context.Context, info engine.Info, workflow string) (*graph.Graph, error) {
	p, err := s.History(ctx, info.Run)
	if err != nil {
		return nil, err
	}
	if workflow != "" && workflow != p.Workflow.Name {
		return nil, &OtherWorkflow{Run: info.Run, Has: p.Workflow.Name, Wanted: workflow}
	}
	s.Stand(p, info, nil)
	return DrawPast(p)
}

// DrawPast makes the graph of the recorded definition of a run, with the states of its nodes where the replay stands.
func DrawPast(p *runner.Past) (*graph.Graph, error) {
	pg, err := p.Program.Graph(p.Workflow.Name)
	if err != nil {
		return nil, err
	}
	g := Draw(pg)
	g.Show(p.View)
	return g, nil
}

// OtherWorkflow is the error of a run that belongs to another workflow than the one that was named.
type OtherWorkflow struct{ Run, Has, Wanted string }

func (e *OtherWorkflow) Error() string {
	return fmt.Sprintf("run %s belongs to the workflow %q, not to %q", e.Run, e.Has, e.Wanted)
}
