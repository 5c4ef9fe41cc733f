package local

import "github.com/flowrun/flowrun/runner/engine"

// refuseDeadlock returns an *engine.Deadlock if the wait of a called run would close a circle.
func (e *Engine) refuseDeadlock(q query, t *turn) error {
	if t.caller == "" {
		return nil
	}
	others, err := e.livingTurns(q, t.run)
	if err != nil {
		return err
	}
	callers := func(run string) map[string]bool {
		all, failed := q.callersOf(run)
		if err == nil {
			err = failed
		}
		return all
	}
	d := engine.FindDeadlock(t.place(), others, callers)
	if err == nil && d != nil {
		err = refused{d}
	}
	return err
}

// place returns the run's place in its line.
func (t *turn) place() engine.Place {
	return engine.Place{Line: engine.Line{Group: t.group, Shares: t.shares}, Run: t.run, Caller: t.caller, Holds: t.holds}
}

// livingTurns returns the turns that living processes have, but for those of a run and of runs that are being cancelled.
func (e *Engine) livingTurns(q query, but string) (list []engine.Place, err error) {
	rows, err := q(`SELECT r.id, coalesce(r.parent, ''), t.grp, t.shares, t.epoch, t.holds FROM turns t JOIN runs r ON r.key = t.run
		WHERE t.epoch IS NOT NULL AND r.cancels = 0 AND r.id != ? ORDER BY t.id`, but)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := e.newLivenessCheck()
	for rows.Next() {
		var t turn
		if err := rows.Scan(&t.run, &t.caller, &t.group, &t.shares, &t.epoch, &t.holds); err != nil {
			return nil, err
		}
		lives, err := alive(t.epoch)
		if err != nil {
			return nil, err
		}
		if lives {
			list = append(list, t.place())
		}
	}
	return list, rows.Err()
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
