package local

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// In the row of a run, waiting says that the run itself has no live attempt. A called run that has one keeps its callers running.
const infoRow = `SELECT r.id, r.workflow, r.definition, CASE WHEN r.driven = 0 THEN 'pending' WHEN r.status = 'waiting' AND EXISTS (
		WITH RECURSIVE called(id, status) AS (SELECT c.id, c.status FROM runs c WHERE c.parent = r.id AND c.ended = 0
			UNION ALL SELECT c.id, c.status FROM called JOIN runs c ON c.parent = called.id AND c.ended = 0)
		SELECT 1 FROM called WHERE status = 'running') THEN 'running' ELSE r.status END, r.created, r.ended,
	coalesce((SELECT first + count - 1 FROM batches WHERE run = r.key ORDER BY first DESC LIMIT 1), 0), coalesce(r.owner, 0), r.clean, coalesce(d.pid, 0),
	coalesce(r.summary, x''), coalesce(r.parent, ''), coalesce(r.parent_node, ''), coalesce(r.retry_of, ''),
	coalesce((SELECT n.id FROM runs n WHERE n.retry_of = r.id ORDER BY n.key DESC LIMIT 1), ''),
	coalesce(t.id, 0), coalesce(t.grp, ''), coalesce(t.shares, ''), coalesce(t.epoch, 0), coalesce(t.waits, 0), coalesce(w.pid, 0),
	coalesce(r.parked, 0), coalesce(p.pid, 0)
	FROM runs r LEFT JOIN drivers d ON d.epoch = r.owner LEFT JOIN turns t ON t.run = r.key AND t.holds = 0 AND r.ended = 0
	LEFT JOIN drivers w ON w.epoch = t.epoch
	LEFT JOIN drivers p ON p.epoch = r.parked WHERE r.status != 'pruned' `

// List returns the runs, newest first; limit 0 means all.
func (e *Engine) List(ctx context.Context, limit int) ([]engine.Info, error) {
	return e.readInfos(ctx, "ORDER BY r.created DESC, r.key DESC LIMIT ?", limitOf(limit))
}

// limitOf returns the limit for a query; 0 means all.
func limitOf(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

// Get returns one run. The error wraps engine.ErrNoRun if there is none.
func (e *Engine) Get(ctx context.Context, run string) (engine.Info, error) {
	list, err := e.readInfos(ctx, "AND r.id = ?", run)
	if err == nil && len(list) == 0 {
		err = e.noRun(run)
	}
	if err != nil {
		return engine.Info{}, err
	}
	return list[0], nil
}

// Find returns the run that a person means: "latest", an id, a workflow's name (its newest run), or the beginning of an id.
// Children are found by their ids.
// Errors: *Ambiguous, or one that wraps engine.ErrNoRun.
func (e *Engine) Find(ctx context.Context, name string) (engine.Info, error) {
	id := strings.ToLower(name)
	for _, try := range []struct {
		where string
		args  []any
	}{
		{"AND ? = 'latest' AND r.parent IS NULL ORDER BY r.created DESC, r.key DESC LIMIT 1", []any{name}},
		{"AND r.id = ?", []any{id}},
		{"AND r.workflow = ? AND r.parent IS NULL ORDER BY r.created DESC, r.key DESC LIMIT 1", []any{name}},
		{"AND ? != '' AND substr(r.id, 1, length(?)) = ? ORDER BY r.created DESC, r.key DESC LIMIT 5", []any{id, id, id}},
	} {
		list, err := e.readInfos(ctx, try.where, try.args...)
		switch {
		case err != nil:
			return engine.Info{}, err
		case len(list) == 1:
			return list[0], nil
		case len(list) > 1:
			a := &engine.Ambiguous{Name: name}
			for _, i := range list {
				a.Runs = append(a.Runs, i.Run)
			}
			return engine.Info{}, a
		}
	}
	return engine.Info{}, e.noRun(name)
}

func (e *Engine) readInfos(ctx context.Context, where string, args ...any) (list []engine.Info, err error) {
	defer func() { err = e.explainError(err) }()
	rows, err := e.read.QueryContext(ctx, infoRow+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := e.newLivenessCheck()
	var waiting []*turn
	for rows.Next() {
		r, err := scanInfo(rows)
		if err != nil {
			return nil, err
		}
		driven, err := alive(r.owner)
		if err != nil {
			return nil, err
		}
		if !driven {
			r.Driver = 0
		}
		r.Crashed = !r.clean && !driven && !e.leftInOrder(r.owner)
		if queued, err := alive(r.turn.epoch); err != nil {
			return nil, err
		} else if queued && r.Driver == 0 {
			r.Turn = &engine.Turn{Group: r.turn.group}
			if r.turn.waits {
				r.Driver = r.waiter
			}
		}
		if r.Parked, err = alive(r.parker); err != nil {
			return nil, err
		} else if r.Parked {
			r.Driver = r.parkerPID
		}
		list = append(list, r.Info)
		if r.Turn != nil {
			r.turn.run = r.Run
			waiting = append(waiting, &r.turn)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	ahead, err := e.runsAhead(e.reading(ctx), waiting)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Turn != nil {
			list[i].Turn.Behind, ahead = ahead[0], ahead[1:]
		}
		if list[i].Interrupted() {
			list[i].Last = e.lastEvent(ctx, list[i].Run)
		}
	}
	return list, nil
}

// lastEvent returns the time of a run's last event, and 0 if it cannot be read: a replay of the
// journal explains the error.
func (e *Engine) lastEvent(ctx context.Context, run string) event.Time {
	var body []byte
	err := e.read.QueryRowContext(ctx, "SELECT body FROM batches WHERE run = (SELECT key FROM runs WHERE id = ?) ORDER BY first DESC LIMIT 1", run).Scan(&body)
	if err != nil {
		return 0
	}
	line := bytes.TrimSuffix(body, []byte("\n"))
	var last struct {
		At event.Time `json:"at"`
	}
	if json.Unmarshal(line[bytes.LastIndexByte(line, '\n')+1:], &last) != nil {
		return 0
	}
	return last.At
}

// infoScan is a row of the list of runs.
type infoScan struct {
	engine.Info
	owner  int64
	clean  bool
	turn   turn // that it waits for
	waiter int  // the process that waits
	// parker is the epoch of the process that parked the run, 0 if it is not parked.
	parker    int64
	parkerPID int
}

func scanInfo(rows *sql.Rows) (i infoScan, err error) {
	var summary []byte
	err = rows.Scan(&i.Run, &i.Workflow, &i.Definition, &i.Status, &i.Created, &i.Ended, &i.Events, &i.owner, &i.clean, &i.Driver,
		&summary, &i.Parent, &i.ParentNode, &i.RetryOf, &i.RetriedBy, &i.turn.id, &i.turn.group, &i.turn.shares, &i.turn.epoch, &i.turn.waits, &i.waiter, &i.parker, &i.parkerPID)
	if err == nil && len(summary) > 0 {
		err = json.Unmarshal(summary, &i.Summary)
	}
	if err != nil {
		err = errors.Join(errors.New("reading the list of runs"), err)
	}
	return i, err
}
