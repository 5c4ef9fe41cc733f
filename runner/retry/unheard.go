package retry

import (
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

// Unheard is a wait that runs again for an event that a reused step sent before. A run hears no event from before its start, and a step
// that is reused sends none, so the wait goes on until another one comes.
type Unheard struct {
	Wait, Event, Emit string // Emit is the step that sent it
}

// FindUnheard lists the waits of a run that would hear of their event only if it is sent again. g is the graph that the run is of.
func FindUnheard(g *plan.Graph, first *event.RunStarted) (list []Unheard) {
	reused := map[string]bool{}
	for path := range first.Reused { // any order: it fills a set
		reused[view.Base(path)] = true
	}
	var asked []bool
	if len(first.Targets) > 0 {
		asked = g.Closure(first.Targets)
	}
	sent := map[string]string{}
	for i := range g.Nodes {
		if e, ok := g.Nodes[i].Action.(*ir.Emit); ok && reused[g.Nodes[i].Name] && sent[e.Event] == "" {
			sent[e.Event] = g.Nodes[i].Name
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		w, ok := n.Action.(*ir.Wait)
		if !ok || w.Event == "" || sent[w.Event] == "" || reused[n.Name] || asked != nil && !asked[i] {
			continue
		}
		list = append(list, Unheard{n.Name, w.Event, sent[w.Event]})
	}
	return list
}
