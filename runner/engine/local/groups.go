package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// place is a turn in a group, in the queue of those that share the turn of the same run, or of nobody's. Places are taken in the
// order of their ids, and one is free when its process has died.
type place struct {
	id     int64
	group  string
	shares string // the run above whose turn it is part of; "" is none
}

// sameQueue tells whether one of two places is before the other.
func (p *place) sameQueue(other *place) bool {
	return p.group == other.group && p.shares == other.shares
}

// groupOf tells to which group a run belongs when it starts. A child never skips: its caller waits for what it does.
func (e *Engine) groupOf(s *engine.Start) (engine.Group, error) {
	if e.options.Group == nil {
		return engine.Group{}, nil
	}
	g, err := e.options.Group(s.Definition, s.First)
	if err != nil || g.Name == "" {
		return engine.Group{}, err
	}
	if g.WhenBusy != "" && !slices.Contains(engine.WhenBusies, g.WhenBusy) {
		return engine.Group{}, fmt.Errorf("the group %q has the unknown when_busy %.60q", g.Name, g.WhenBusy)
	}
	if s.First.Parent != "" && g.WhenBusy == engine.Skip {
		g.WhenBusy = engine.Queue
	}
	return g, nil
}

// sharedTurn is SQL for the nearest of the runs above that is of the group, or ”: a run that is called shares the turn of that one.
// caller and group are the columns in which the run directly above and the group stand.
func sharedTurn(caller, group string) string {
	return fmt.Sprintf(`coalesce((WITH RECURSIVE up (id, n) AS (SELECT %s, 0 UNION ALL
		SELECT r.parent, n + 1 FROM runs r JOIN up ON r.id = up.id WHERE n < %d)
		SELECT r.id FROM up JOIN runs r ON r.id = up.id WHERE r.grp = %s ORDER BY n LIMIT 1), '')`, caller, engine.MaxDepth, group)
}

// admit takes a place for a run that is about to be made, and waits for its turn. It returns nil without a place where the
// run needs none; where it is to be skipped, it says so in the start.
func (e *Engine) admit(ctx context.Context, s *engine.Start) (engine.Group, *place, error) {
	g, err := e.groupOf(s)
	if err != nil || g.Name == "" {
		return g, nil, err
	}
	if _, err := e.Get(ctx, s.Header.Run); !errors.Is(err, engine.ErrNoRun) {
		return g, nil, err // it was started before, and this is no more than asking whether it was
	}
	p, err := e.takePlace(g, s.Header.Run, s.First.Parent)
	if err != nil {
		return g, nil, err
	}
	if g.WhenBusy == engine.Skip {
		behind, err := e.before(ctx, p, "")
		if err != nil || behind != nil {
			e.leavePlace(p)
		}
		if behind == nil {
			return g, p, err
		}
		s.First.Skip = fmt.Sprintf("%s of the group %q is under way", behind, g.Name)
		return g, nil, err
	}
	var c *circle
	if g.WhenBusy != engine.CancelPrevious {
		c, err = e.closes(ctx, p, "", s.First.Parent)
	}
	if c != nil {
		err = c
	}
	if err == nil {
		err = e.turn(ctx, p, "")
	}
	if err != nil {
		e.leavePlace(p)
		return g, nil, err
	}
	return g, p, nil
}

// takePlace puts this process at the end of a queue of a group, on behalf of the run that calls, if one does. With cancel_previous,
// all that is before it is to end.
func (e *Engine) takePlace(g engine.Group, run, caller string) (*place, error) {
	epoch, err := e.epoch()
	if err != nil {
		return nil, err
	}
	p := &place{group: g.Name}
	var previous []string
	err = e.write(func(tx *transaction) error {
		err := tx.get("INSERT INTO places (grp, epoch, caller) VALUES (?, ?, nullif(?, '')) RETURNING id", []any{g.Name, epoch, caller}, &p.id)
		if err == nil {
			err = tx.get("SELECT "+sharedTurn("p.caller", "p.grp")+" FROM places p WHERE p.id = ?", []any{p.id}, &p.shares)
		}
		if err != nil || g.WhenBusy != engine.CancelPrevious {
			return err
		}
		_, err = tx.exec("UPDATE places AS p SET gone = 1 WHERE grp = ? AND id < ? AND run IS NULL AND "+sharedTurn("p.caller", "p.grp")+" = ?",
			g.Name, p.id, p.shares)
		if err != nil {
			return err
		}
		previous, err = tx.column("SELECT q.id FROM runs q WHERE grp = ? AND ended = 0 AND id != ? AND "+sharedTurn("q.parent", "q.grp")+" = ?",
			g.Name, run, p.shares)
		return err
	})
	for i := 0; i < len(previous) && err == nil; i++ {
		err = e.cancelUpTo(previous[i], engine.Wish{Cancels: 1, Reason: fmt.Sprintf("a newer run of the group %q", g.Name)})
	}
	return p, err
}

// holder is whoever is before a place.
type holder struct {
	run   string // "" if it is not made yet
	epoch int64
}

func (h *holder) String() string {
	if h.run == "" {
		return "a run that waits for its turn"
	}
	return "run " + h.run
}

// before is the next in the queue before a place whose process lives; nil if it is the place's turn. The run's own place, in the
// hands of another process, does not count: who drives the run is settled when it is claimed.
func (e *Engine) before(ctx context.Context, p *place, run string) (*holder, error) {
	rows, err := e.read.QueryContext(ctx, "SELECT id, epoch, coalesce(run, ''), gone FROM places p WHERE grp = ? AND id <= ? AND "+
		sharedTurn("p.caller", "p.grp")+" = ? ORDER BY id DESC", p.group, p.id, p.shares)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	mine := e.driverEpoch()
	for rows.Next() {
		var id int64
		var h holder
		var gone bool
		if err := rows.Scan(&id, &h.epoch, &h.run, &gone); err != nil {
			return nil, err
		}
		switch {
		case id == p.id && gone:
			return nil, p.superseded()
		case id == p.id, gone, run != "" && h.run == run:
			continue
		}
		alive := h.epoch == mine
		if !alive {
			if alive, err = locked(e.lockPath(h.epoch)); err != nil {
				return nil, err
			}
		}
		if alive {
			return &h, nil
		}
	}
	return nil, rows.Err()
}

// turn waits until nobody is before a place. Whom it waits for is told once.
func (e *Engine) turn(ctx context.Context, p *place, run string) error {
	told := ""
	for {
		h, err := e.before(ctx, p, run)
		if err != nil || h == nil {
			return err
		}
		if e.options.Waiting != nil && h.String() != told {
			told = h.String()
			e.options.Waiting(p.group, told)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// leavePlace lets the next one in, unless the place was taken over meanwhile. A failure is the store's; the place is free when this process ends, then.
func (e *Engine) leavePlace(p *place) {
	e.lastWords(func(tx *transaction) error {
		_, err := tx.exec("DELETE FROM places WHERE id = ? AND epoch = ?", p.id, e.driverEpoch())
		return err
	})
}

// hold keeps the place of a run that was just made until its drive ends.
func (e *Engine) hold(run string, p *place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.places[run] = p
}

// held takes the place that a run has in this process.
func (e *Engine) held(run string) *place {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.places[run]
	delete(e.places, run)
	return p
}

// enterGroup sees to it that a run that is about to be driven has its turn. It returns what gives the turn back.
func (e *Engine) enterGroup(ctx context.Context, run string) (leave func(), err error) {
	p := e.held(run)
	if p == nil {
		var group, parent string
		var ended event.Time
		row := e.read.QueryRowContext(ctx, "SELECT coalesce(grp, ''), coalesce(parent, ''), ended FROM runs WHERE id = ?", run)
		err := row.Scan(&group, &parent, &ended)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if group == "" || ended != 0 {
			return func() {}, nil
		}
		if err := e.taken(run); err != nil { // nobody waits for a turn to be told that it has another driver
			return nil, err
		}
		if p, err = e.inherit(group, run); err == nil && p == nil {
			p, err = e.takePlace(engine.Group{Name: group}, run, parent)
		}
		if err != nil {
			return nil, err
		}
		err = e.sitDown(ctx, p, run, parent)
		if c := (*circle)(nil); errors.As(err, &c) || errors.Is(err, engine.ErrSuperseded) {
			// It is there and must come to its end. Of a circle, those whose turn it is wait for it and do nothing meanwhile.
			e.leavePlace(p)
			return func() {}, e.cancelUpTo(run, engine.Wish{Cancels: 1, Reason: err.Error()})
		}
		if err != nil {
			e.leavePlace(p)
			return nil, err
		}
	}
	return func() { e.leavePlace(p) }, nil
}

// sitDown waits for the turn of a run that is there.
func (e *Engine) sitDown(ctx context.Context, p *place, run, parent string) error {
	c, err := e.closes(ctx, p, run, parent)
	if c != nil {
		err = c
	}
	if err == nil {
		err = e.turn(ctx, p, run)
	}
	if err == nil {
		err = e.write(func(tx *transaction) error { return tx.seat(p, run) })
	}
	return err
}

// inherit takes a run's place from the process that drives it, lives and is to lose it; nil if there is none. Those behind it wait for
// the run: a place of its own would be behind them, and all would wait for a process that hangs.
func (e *Engine) inherit(group, run string) (*place, error) {
	epoch, err := e.epoch()
	if err != nil {
		return nil, err
	}
	p, before := &place{group: group}, int64(0)
	err = e.read.QueryRow("SELECT id, epoch, "+sharedTurn("p.caller", "p.grp")+" FROM places p WHERE grp = ? AND run = ? ORDER BY id LIMIT 1",
		group, run).Scan(&p.id, &before, &p.shares)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if alive, err := locked(e.lockPath(before)); err != nil || !alive {
		return nil, err // it is free, and others have gone past it
	}
	moved := int64(0)
	err = e.write(func(tx *transaction) (err error) {
		moved, err = tx.exec("UPDATE places SET epoch = ? WHERE id = ? AND epoch = ?", epoch, p.id, before)
		return err
	})
	if err != nil || moved == 0 {
		return nil, err
	}
	return p, nil
}

// seat tells others which run a place is for, unless a newer one has taken the turn meanwhile.
func (tx *transaction) seat(p *place, run string) error {
	var gone int
	err := tx.get("SELECT count(*) FROM places WHERE id = ? AND gone = 1", []any{p.id}, &gone)
	if err == nil && gone > 0 {
		return refused{p.superseded()}
	}
	if err == nil {
		_, err = tx.exec("UPDATE places SET run = ? WHERE id = ?", run, p.id)
	}
	return err
}

func (p *place) superseded() error {
	return fmt.Errorf("%w in the group %q", engine.ErrSuperseded, p.group)
}

// column reads the texts of a query's only column.
func (tx *transaction) column(query string, args ...any) ([]string, error) {
	s, err := tx.c.statement(query)
	if err != nil {
		return nil, err
	}
	return texts(s.Query(args...))
}
