package engine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/runner/event"
)

// GroupOf returns the group of a run that is about to start, as group says; a nil group says that no run has one. A called run is
// never skipped: its caller waits for its work.
func GroupOf(group func(definition []byte, first event.RunStarted) (Group, error), s *Start) (Group, error) {
	if group == nil || s.First.Skip != "" {
		return Group{}, nil
	}
	g, err := group(s.Definition, s.First)
	if err != nil || g.Name == "" {
		return Group{}, err
	}
	if g.WhenBusy != "" && !slices.Contains(WhenBusies, g.WhenBusy) {
		return Group{}, fmt.Errorf("the group %q has the unknown when_busy %.60q", g.Name, g.WhenBusy)
	}
	if g.WhenBusy == "" || s.First.Parent != "" && g.WhenBusy == Skip {
		g.WhenBusy = Queue
	}
	return g, nil
}

// SkipReason is why a run of a group does nothing: another run is ahead of it, and it does not wait.
func (g Group) SkipReason(ahead string) string {
	return fmt.Sprintf("run %s of the group %q is under way", ahead, g.Name)
}

// CancelReason is why a run of a group is cancelled when a newer one starts.
func (g Group) CancelReason() string { return fmt.Sprintf("a newer run of the group %q", g.Name) }

// CancelledEarly is why a run is cancelled that has not begun. reason is that of the cancel, and may be empty.
func CancelledEarly(reason string) string {
	if reason == "" {
		return "somebody cancelled the run before it began"
	}
	return reason
}

// Line is a queue of runs that take turns. A group has one line for its runs at the top, and one for each caller whose turn its
// called runs share.
type Line struct {
	Group  string
	Shares string // the nearest caller of the same group; "" if there is none
}

// Need returns what each run of the line needs: the one turn that there is. See package admission.
func (l Line) Need() event.Need {
	return event.Need{Kind: event.NeedTurn, Name: l.Shares + "/" + l.Group, Units: 1, Capacity: 1} // the id of a run has no slash
}

// Place is the place of a run in a line.
type Place struct {
	Line
	Run    string
	Caller string // the run that calls Run; "" if none does
	Holds  bool   // its turn has come
}

// Deadlock refuses a called run, because its turn would never come: it would wait for the end of a run that itself waits, through
// the runs it calls, for the end of a caller of this run.
//
// A run keeps its turn in a group until all runs that it calls have ended. So a called run that waits for another group
// blocks the groups of all its callers. A run that would close such a circle is refused, and the others continue.
// The circle is refused even if a timeout or a join would have opened it later. A run that nobody called blocks no other group
// while it waits, and a run that is being cancelled blocks none either.
type Deadlock struct {
	Group  string // the group of the turn that the run wants
	Holder string // the run that has that turn
	Caller string // the holder waits for the end of this caller
}

func (d *Deadlock) Error() string {
	return fmt.Sprintf("it would never have its turn in the group %q: run %s has that and waits, through what it calls, for the end of run %s, which waits for this one. Take the groups in the same order everywhere",
		d.Group, d.Holder, d.Caller)
}

// AnswerCaller answers for a called run that was not made.
func (d *Deadlock) AnswerCaller(c event.StartChild) event.ChildFinished {
	return event.ChildFinished{Run: c.Run, Node: c.Node, Status: event.FailedS,
		Error: &event.Error{Kind: event.Blocking, Reason: event.ReasonGroup, ExitCode: -1, Message: d.Error()}}
}

// FindDeadlock returns a Deadlock if the wait of a called run for its turn would close a circle, and else nil. others are the places,
// in the order of the lines, that living processes hold for other runs which nobody has cancelled. callers returns a run with all runs above it.
func FindDeadlock(p Place, others []Place, callers func(run string) map[string]bool) *Deadlock {
	if p.Caller == "" {
		return nil
	}
	mine, above := callers(p.Caller), map[string]map[string]bool{}
	for _, o := range others {
		if above[o.Caller] == nil {
			above[o.Caller] = callers(o.Caller)
		}
	}
	type reached struct{ run, through string } // a run that others wait for, and the holder of p's turn that started the chain
	var next []reached
	seen := map[string]bool{}
	reach := func(in Line, through string) {
		for _, o := range others {
			if !o.Holds || o.Line != in || seen[o.Run] {
				continue
			}
			seen[o.Run] = true
			if through == "" {
				next = append(next, reached{o.Run, o.Run})
			} else {
				next = append(next, reached{o.Run, through})
			}
		}
	}
	for reach(p.Line, ""); len(next) > 0; {
		at := next[0]
		if next = next[1:]; mine[at.run] {
			return &Deadlock{p.Group, at.through, at.run}
		}
		for _, o := range others {
			if !o.Holds && above[o.Caller][at.run] {
				reach(o.Line, at.through)
			}
		}
	}
	return nil
}
