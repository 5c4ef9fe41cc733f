package machine

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Known is what somebody who looks at a loop from outside has found out.
type Known struct {
	Now     event.Time
	Control event.LoopControl
	Busy    map[string]int // how many items each agent has
	// Shut says in words why an agent or a quota lets nothing start: its breaker is open, or what it may spend is spent. The keys are as in the
	// needs of a claim.
	Shut map[string]string
	// Ask carries out the attempts that ask the sources for their items.
	Ask func(*event.Attempt) event.AttemptFinished
}

// Preview is the board of a loop as its next round would see it. Nothing is taken, and no run needs to be there; first has the variables.
func Preview(g *plan.Graph, l *ir.Loop, eval ir.Evaluator, first *event.RunStarted, k *Known) (*loop.Board, error) {
	m := New(g, l, eval, ir.NewestRules())
	m.out, m.now = &event.Reaction{}, k.Now
	if err := m.Step(event.Event{RunStarted: first}); err != nil {
		return nil, err
	}
	if err := m.settings(); err != nil {
		return nil, err
	}
	m.control = k.Control
	for _, a := range m.agents {
		a.busy = k.Busy[a.Name]
	}
	for _, q := range m.loop.Quotas {
		if why := k.Shut[string(event.NeedQuota)+" "+q.Quota]; why != "" {
			m.shut = shut{m.now.Add(m.idle), why}
		}
	}
	out := &loop.Board{}
	for _, s := range m.sources {
		if s.Kind != ir.SourceImprovement {
			m.askItems(s)
			request := m.asks[m.tickets].request
			if request.Source != nil {
				request.Source.Dry = true
			}
			f := k.Ask(request)
			items, stands, err := readItems(&f, s.Name)
			if err != nil || f.Outcome != event.OK {
				s.failed = why(&f, err)
			} else {
				m.setItems(s, items)
				m.setStands(s, stands)
			}
		}
		b := m.board(s)
		out.Agents, out.Sources = b.Agents, append(out.Sources, b.Sources...)
	}
	out.Handled = func(agent string, source int, item *event.Item) string {
		h := m.handle(m.sources[source], agent, item)
		if h.why != "" || len(k.Shut) == 0 {
			return h.why
		}
		for _, a := range m.agents {
			if a.Name != agent {
				continue
			}
			for _, need := range m.needs(h.workflow, a) {
				if why := k.Shut[need]; why != "" {
					return why
				}
			}
		}
		return ""
	}
	return out, nil
}
