package shared

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// toldSpace holds the changes of breakers that no run has told people of yet, by the name of the breaker.
const toldSpace = "breaker-changes"

// MaxUntold bounds the changes of a breaker that are kept for a run that tells people. Older ones are dropped.
const MaxUntold = 16

// untold are the changes of one breaker. Last is the number of the newest change, told or not.
type untold struct {
	Last    uint64          `json:"last"`
	Changes []breakerChange `json:"changes,omitempty"`
}

type breakerChange struct {
	Number uint64       `json:"number"`
	State  Health       `json:"state"`
	Error  *event.Error `json:"error,omitempty"` // that opened it; nil: none, or nobody knows it
}

// NoteBreaker publishes that the breaker of an agent or a quota has opened or closed, and keeps the change for the next run that tells
// people, if the program wants people to be told. why is nil if no error opened it. It returns the messages to the runs that wait for the
// event.
func NoteBreaker(rows Rows, n *event.Need, to Health, why *event.Error, now event.Time) (posts []Post, err error) {
	if to == Closed {
		why = nil
	}
	if n.Breaker != nil && n.Breaker.Tell {
		name := string(n.Kind) + " " + n.Name
		var u untold
		if err := loadRow(rows, toldSpace, name, &u); err != nil {
			return nil, err
		}
		u.Last++
		u.Changes = append(u.Changes, breakerChange{u.Last, to, why})
		u.Changes = u.Changes[max(0, len(u.Changes)-MaxUntold):]
		if err := saveRow(rows, toldSpace, name, &u); err != nil {
			return nil, err
		}
	}
	data := map[string]value.Value{"name": n.Name, "kind": string(n.Kind), "state": string(to), "error": nil}
	if why != nil {
		data["error"] = why.Object()
	}
	return EmitOwn(rows, BreakerEvent, data, now)
}

// takeUntold answers with the changes of breakers that no run has told of yet, the oldest first, and gives them to the run that asks.
func takeUntold(rows Rows, r *event.BreakersRequest) (value.Value, error) {
	list := []value.Value{}
	for i := range r.Of {
		of := &r.Of[i]
		name := string(of.Kind) + " " + of.Name
		var u untold
		if err := loadRow(rows, toldSpace, name, &u); err != nil {
			return nil, err
		}
		if len(u.Changes) == 0 {
			continue
		}
		for _, c := range u.Changes {
			o := map[string]value.Value{"kind": string(of.Kind), "name": of.Name, "state": string(c.State), "number": float64(c.Number), "error": nil}
			if c.Error != nil {
				o["error"] = c.Error.Object()
			}
			list = append(list, o)
		}
		u.Changes = nil
		if err := saveRow(rows, toldSpace, name, &u); err != nil {
			return nil, err
		}
	}
	return list, nil
}
