package local

import "github.com/flowrun/flowrun/runner/engine"

// refuseDeadlock returns an *engine.Deadlock if the wait of a called run would close a circle.
func (e *Engine) refuseDeadlock(q query, t *turn) error {
	if t.caller == "" {
		return nil
	}
	callers, err := q.callersOf(t.caller)
	if err != nil {
		return err
	}
	d, err := engine.FindDeadlock(engine.Line{Group: t.group, Shares: t.shares}, callers, &waits{q: q, but: t.run, alive: e.newLivenessCheck()})
	if err == nil && d != nil {
		err = refused{d}
	}
	return err
}

// waits implements engine.Waits. Its queries do not grow with the number of runs that wait in a line, but with the number of runs that
// the holders of turns have called.
type waits struct {
	q     query
	but   string
	alive func(epoch int64) (bool, error)
}

// Holders implements engine.Waits.
func (w *waits) Holders(in engine.Line) (runs []string, err error) {
	rows, err := w.q(`SELECT r.id, t.epoch FROM turns t JOIN runs r ON r.key = t.run
		WHERE t.grp = ? AND t.shares = ? AND t.holds = 1 AND t.epoch IS NOT NULL AND r.cancels = 0 AND r.id != ? ORDER BY t.id`, in.Group, in.Shares, w.but)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var run string
		var epoch int64
		if err := rows.Scan(&run, &epoch); err != nil {
			return nil, err
		}
		lives, err := w.alive(epoch)
		if err != nil {
			return nil, err
		}
		if lives {
			runs = append(runs, run)
		}
	}
	return runs, rows.Err()
}

// Below implements engine.Waits.
func (w *waits) Below(run string) (lines []engine.Line, err error) {
	rows, err := w.q(`WITH RECURSIVE below (key, id) AS (SELECT key, id FROM runs WHERE id = ? UNION
		SELECT r.key, r.id FROM below JOIN runs r ON r.parent = below.id AND r.ended = 0)
		SELECT DISTINCT t.grp, t.shares, t.epoch FROM below CROSS JOIN turns t ON t.run = below.key JOIN runs r ON r.key = t.run
		WHERE t.holds = 0 AND t.epoch IS NOT NULL AND r.cancels = 0 AND r.id NOT IN (?, ?) ORDER BY t.grp, t.shares`, run, run, w.but)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var in engine.Line
		var epoch int64
		if err := rows.Scan(&in.Group, &in.Shares, &epoch); err != nil {
			return nil, err
		}
		lives, err := w.alive(epoch)
		if err != nil {
			return nil, err
		}
		if lives {
			lines = append(lines, in)
		}
	}
	return lines, rows.Err()
}

// callersOf returns a run with all runs above it.
func (q query) callersOf(run string) (map[string]bool, error) {
	all := map[string]bool{}
	for run != "" && !all[run] {
		all[run] = true
		parents, err := readTexts(q("SELECT coalesce(parent, '') FROM runs WHERE id = ?", run))
		if err != nil {
			return nil, err
		}
		if run = ""; len(parents) > 0 {
			run = parents[0]
		}
	}
	return all, nil
}
