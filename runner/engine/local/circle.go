package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// circle says that a run that is called could never have its turn: it would wait for the end of a run that itself waits, by what
// it calls, for the end of one of this one's callers.
//
// A run keeps its turn in a group until all that it calls has ended, so a called run that waits for another group holds up
// the groups of all runs above it. Whoever closes a circle of such waits, in the order of places, is refused, and the others go
// on. A circle that a timeout or a join would have opened one day is refused just the same. What waits on its own account
// holds nothing up, and neither does a run that is being cancelled.
type circle struct {
	group  string // whose turn it is about
	holder string // the run that has it
	caller string // the run that is waited for in the end
}

func (c *circle) Error() string {
	return fmt.Sprintf("it would never have its turn in the group %q: run %s has that and waits, through what it calls, for the end of run %s, which waits for this one. Take the groups in the same order everywhere",
		c.group, c.holder, c.caller)
}

// refusal is what the caller hears.
func (c *circle) refusal(k event.StartChild) event.ChildFinished {
	return event.ChildFinished{Run: k.Run, Node: k.Node, Status: event.FailedS,
		Error: &event.Error{Kind: event.Blocking, Reason: event.ReasonGroup, ExitCode: -1, Message: c.Error()}}
}

// seat is a place as others see it: of the run that has its turn, or one that is waited for on behalf of a caller.
type seat struct {
	place
	run    string // "" while it waits
	caller string // "" for a run that nobody called
}

// closes tells whether a place that a called run is about to wait for closes a circle; nil if not. Places that were taken
// later are not looked at: who takes them looks.
func (e *Engine) closes(ctx context.Context, p *place, run, caller string) (*circle, error) {
	if caller == "" {
		return nil, nil
	}
	seats, err := e.seats(ctx, p, run)
	if err != nil {
		return nil, err
	}
	above := map[string]map[string]bool{}
	for _, s := range seats {
		if above[s.caller], err = e.above(ctx, s.caller); err != nil {
			return nil, err
		}
	}
	mine, err := e.above(ctx, caller)
	if err != nil {
		return nil, err
	}
	type reached struct{ run, by string } // a run that is waited for, and the holder of our group through whom
	var next []reached
	seen := map[string]bool{}
	waitFor := func(p place, by string) {
		for _, s := range seats {
			if s.run == "" || !s.sameQueue(&p) || s.id >= p.id || seen[s.run] {
				continue
			}
			seen[s.run] = true
			if by == "" {
				next = append(next, reached{s.run, s.run})
			} else {
				next = append(next, reached{s.run, by})
			}
		}
	}
	for waitFor(*p, ""); len(next) > 0; {
		at := next[0]
		if next = next[1:]; mine[at.run] {
			return &circle{p.group, at.by, at.run}, nil
		}
		for _, s := range seats {
			if s.run == "" && above[s.caller][at.run] {
				waitFor(s.place, at.by)
			}
		}
	}
	return nil, nil
}

// seats are the places up to p, but for p, whose processes live. Those of runs that are being cancelled, and of the run itself,
// hold nobody up.
func (e *Engine) seats(ctx context.Context, p *place, run string) ([]seat, error) {
	rows, err := e.read.QueryContext(ctx, `SELECT p.id, p.grp, p.epoch, coalesce(p.run, ''), coalesce(p.caller, ''), `+
		sharedTurn("p.caller", "p.grp")+` FROM places p LEFT JOIN runs r ON r.id = p.run WHERE p.id < ? AND p.gone = 0 AND coalesce(r.cancels, 0) = 0 ORDER BY p.id`, p.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := map[int64]bool{e.driverEpoch(): true}
	var list []seat
	for rows.Next() {
		var s seat
		var epoch int64
		if err := rows.Scan(&s.id, &s.group, &epoch, &s.run, &s.caller, &s.shares); err != nil {
			return nil, err
		}
		if _, known := alive[epoch]; !known {
			if alive[epoch], err = locked(e.lockPath(epoch)); err != nil {
				return nil, err
			}
		}
		if alive[epoch] && (run == "" || s.run != run) {
			list = append(list, s)
		}
	}
	return list, rows.Err()
}

// above is a run with all runs above it.
func (e *Engine) above(ctx context.Context, run string) (map[string]bool, error) {
	all := map[string]bool{}
	for run != "" && !all[run] {
		all[run] = true
		err := e.read.QueryRowContext(ctx, "SELECT coalesce(parent, '') FROM runs WHERE id = ?", run).Scan(&run)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
