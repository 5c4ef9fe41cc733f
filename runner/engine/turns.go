package engine

import (
	"cmp"
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

// EventsOf returns the names of the events that a run waits for which is about to start, as events says; a nil function says that no run
// waits for events.
func EventsOf(events func(definition []byte, first event.RunStarted) ([]string, error), s *Start) ([]string, error) {
	if events == nil || s.First.Skip != "" {
		return nil, nil
	}
	return events(s.Definition, s.First)
}

// SkipReason is why a run of a group does nothing: another run is ahead of it, and it does not wait.
func (g Group) SkipReason(ahead string) string {
	return fmt.Sprintf("run %s of the group %q is running", ahead, g.Name)
}

// CancelReason is why a run of a group is cancelled when a newer one starts.
func (g Group) CancelReason() string { return fmt.Sprintf("a newer run of the group %q", g.Name) }

// CancelledEarly is why a run is cancelled that has not begun. reason is that of the cancel, and may be empty.
func CancelledEarly(reason string) string {
	if reason == "" {
		return "the run was cancelled before it began"
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

// Waits answers FindDeadlock. It counts the runs that living processes have in lines, without those that somebody has cancelled and
// without the run that wants its turn.
type Waits interface {
	// Holders returns the runs that have the turn of a line.
	Holders(Line) ([]string, error)
	// Below returns the lines in which runs wait that a run has called, itself or through others. A line may come twice.
	Below(run string) ([]Line, error)
}

// FindDeadlock returns a Deadlock if the wait of a called run in a line would close a circle, and else nil. callers are the runs above
// the called run.
func FindDeadlock(in Line, callers map[string]bool, w Waits) (*Deadlock, error) {
	type chain struct {
		run    string // others wait for its end
		holder string // the run that has the turn that is wanted, and waits for run
	}
	var next []chain
	seen := map[Line]bool{}
	reach := func(in Line, holder string) error {
		if seen[in] {
			return nil
		}
		seen[in] = true
		runs, err := w.Holders(in)
		for _, run := range runs {
			next = append(next, chain{run, cmp.Or(holder, run)})
		}
		return err
	}
	for err := reach(in, ""); len(next) > 0 || err != nil; {
		if err != nil {
			return nil, err
		}
		at := next[0]
		if next = next[1:]; callers[at.run] {
			return &Deadlock{in.Group, at.holder, at.run}, nil
		}
		var lines []Line
		lines, err = w.Below(at.run)
		for i := 0; i < len(lines) && err == nil; i++ {
			err = reach(lines[i], at.holder)
		}
	}
	return nil, nil
}
