package ui

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// ShowProspect writes what resuming would begin with, a line for each thing.
func ShowProspect(t *Term, p *view.Prospect, now event.Time) {
	who := fmt.Sprintf("run %s of %s", Clean(p.Run), Clean(p.Workflow))
	switch {
	case p.Status.Terminal():
		t.Printf("%s had ended before: %s. Nothing would happen.\n", who, Clean(string(p.Status)))
		return
	case p.Driver != 0:
		t.Printf("%s is driven by process %d, which resume would leave alone. Nothing would happen.\n", who, p.Driver)
		return
	case p.Crashed:
		t.Printf("%s would continue; the process that ran it died\n", who)
	default:
		t.Printf("%s would continue\n", who)
	}
	for i := range p.Would {
		in := &p.Would[i]
		node := Clean(in.Node)
		if in.Node == "" {
			node = "the run"
		}
		if in.Run != p.Run {
			node += " of run " + Clean(in.Run)
		}
		t.Printf("  %-5s  %s%s\n", in.Does, node, intentWords(t, in, now))
	}
	if len(p.Would) == 0 {
		t.Printf("  no attempt is running, and no node waits\n")
	}
}

func intentWords(t *Term, in *view.Intent, now event.Time) string {
	switch in.Does {
	case "start":
		return ", " + attempt(in.Attempt, in.Gate, in.Compensate)
	case "wait":
		due := event.Time(in.Due)
		if in.Overdue {
			return fmt.Sprintf(", %s: was due at %s", in.Reason, t.Clock(due))
		}
		return fmt.Sprintf(", %s: until %s, in %s", in.Reason, t.Clock(due), Duration(due.Sub(now)))
	case "call":
		return ", run " + Clean(in.Child) + because(in.Reason)
	}
	return ": " + Clean(string(in.Status)) + because(in.Reason)
}
