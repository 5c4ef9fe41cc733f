package local

import (
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// deadlock refuses a called run, because its turn would never come: it would wait for the end of a run that itself waits, through
// the runs it calls, for the end of a caller of this run.
//
// A run keeps its turn in a group until all runs that it calls have ended. So a called run that waits for another group
// blocks the groups of all its callers. A run that would close such a circle is refused, and the others continue.
// The circle is refused even if a timeout or a join would have opened it later. A run that nobody called blocks no other group
// while it waits, and a run that is being cancelled blocks none either.
type deadlock struct {
	group  string // the group of the turn that the run wants
	holder string // the run that has that turn
	caller string // the holder waits for the end of this caller
}

func (d *deadlock) Error() string {
	return fmt.Sprintf("it would never have its turn in the group %q: run %s has that and waits, through what it calls, for the end of run %s, which waits for this one. Take the groups in the same order everywhere",
		d.group, d.holder, d.caller)
}

// answerCaller tells the caller of a run that was not made.
func (d *deadlock) answerCaller(k event.StartChild) event.ChildFinished {
	return event.ChildFinished{Run: k.Run, Node: k.Node, Status: event.FailedS,
		Error: &event.Error{Kind: event.Blocking, Reason: event.ReasonGroup, ExitCode: -1, Message: d.Error()}}
}

// refuseDeadlock returns a *deadlock if the wait of a called run would close a circle. It walks from the holder of the turn that
// the run wants, over the waits of all runs that the holder calls, to the holders of those turns, and so on.
func (e *Engine) refuseDeadlock(q query, t *turn) error {
	if t.caller == "" {
		return nil
	}
	others, err := e.livingTurns(q, t.run)
	if err != nil {
		return err
	}
	above := map[string]map[string]bool{}
	for _, o := range others {
		if above[o.caller], err = q.callersOf(o.caller); err != nil {
			return err
		}
	}
	mine, err := q.callersOf(t.caller)
	if err != nil {
		return err
	}
	type reached struct{ run, through string } // a run that others wait for, and the holder of t's turn that started the chain
	var next []reached
	seen := map[string]bool{}
	reach := func(in queue, through string) {
		for _, o := range others {
			if !o.holds || o.queue != in || seen[o.run] {
				continue
			}
			seen[o.run] = true
			if through == "" {
				next = append(next, reached{o.run, o.run})
			} else {
				next = append(next, reached{o.run, through})
			}
		}
	}
	for reach(t.queue, ""); len(next) > 0; {
		at := next[0]
		if next = next[1:]; mine[at.run] {
			return refused{&deadlock{t.group, at.through, at.run}}
		}
		for _, o := range others {
			if !o.holds && above[o.caller][at.run] {
				reach(o.queue, at.through)
			}
		}
	}
	return nil
}

// livingTurns returns the turns that living processes have, but for those of a run and of runs that are being cancelled.
func (e *Engine) livingTurns(q query, but string) (list []turn, err error) {
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
			list = append(list, t)
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
