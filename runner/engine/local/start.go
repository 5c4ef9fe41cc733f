package local

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// Start makes a run durable: its definition, its source and its first batch. The first Drive carries out the commands
// of the first event. A run that has to wait for its turn in a group is durable without the batch: see turns.go.
func (e *Engine) Start(ctx context.Context, s engine.Start) (_ string, err error) {
	defer func() { err = causeOf(ctx, e.explainError(err)) }()
	if e.commits == nil {
		return "", engine.ErrReadOnly
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err := e.checkSpace(); err != nil {
		return "", err
	}
	h := s.Header
	if h.Run == "" {
		h.Run = engine.NewID()
	}
	if err := engine.CheckID(h.Run); err != nil {
		return "", err
	}
	if h.Format == 0 {
		h.Format = journal.Format
	}
	if h.Created == 0 {
		h.Created = e.now()
	}
	s.First.Run, s.Header = h.Run, h
	g, err := engine.GroupOf(e.options.Group, &s)
	if err != nil {
		return "", err
	}
	err = e.startIn(ctx, s, g)
	if b := (*groupBusy)(nil); errors.As(err, &b) {
		s.First.Skip = b.reason
		err = e.startIn(ctx, s, engine.Group{})
	}
	return h.Run, err
}

// startIn makes the first batch of a run of a group and stores the run. Errors that refuse the run: those of enterQueue.
func (e *Engine) startIn(ctx context.Context, s engine.Start, g engine.Group) error {
	h := s.Header
	m, err := e.options.Factory(h, s.Definition)
	if err != nil {
		return err
	}
	if err := e.expectDurations(ctx, &s.First, h.Workflow); err != nil {
		return err
	}
	_ = e.artifacts.Run(h.Run).TakeReused(&s.First) // if it fails, the event is whole, and the commit meets the same disk
	session := engine.NewSession(s, m)
	first := &session.Start().First
	session.Queue(event.Event{RunStarted: first})
	r, err := session.Feed(e.now())
	if err != nil {
		return fmt.Errorf("starting run %s: %w", h.Run, err)
	}
	names, err := engine.EventsOf(e.options.Events, &s)
	if err != nil {
		return err
	}
	epoch, err := e.registerDriver() // see Alone
	if err != nil {
		return err
	}
	var made newRun
	err = e.write(func(tx *transaction) error {
		due, idle := session.Fold().Due()
		made = newRun{start: &s, rest: shared.RestOf(first, due, idle), group: g, events: names, batch: r.Batch, asks: engine.Asks(r.Out.Commands),
			status: engine.StatusAfter(event.Pending, &r.Out, session.Fold()), epoch: epoch}
		return e.insertRun(tx, &made)
	})
	if err != nil {
		return err
	}
	for _, run := range made.entry.cancelled {
		e.pokeRun(run)
	}
	if !made.mustWait() {
		session.Start().Source = nil
		e.keepFresh(&fresh{session, r})
	}
	return nil
}

// expectDurations adds the durations of the nodes in earlier runs to the first event of a run.
func (e *Engine) expectDurations(ctx context.Context, first *event.RunStarted, workflow string) error {
	x, _, err := e.Expected(ctx, workflow)
	first.ExpectedUS, first.ExpectedTimes = x.US, x.Times
	return err
}

// fresh is a run that this process has just made. Its session has reached the end of its journal, so
// that the drive need not replay the beginning: a replay is a twelfth of the work of a run of
// 50,000 steps.
type fresh struct {
	session *engine.Session
	round   *engine.Round
}

// keepFresh keeps the last one only: most runs are driven as soon as they are made.
func (e *Engine) keepFresh(f *fresh) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fresh = f
}

// takeFresh returns the kept run, if its journal still ends there and no process has driven it. The
// link is the same only if the header and the events are.
func (e *Engine) takeFresh(c *claimed) *fresh {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fresh
	if f == nil || f.session.Start().Header.Run != c.id {
		return nil
	}
	e.fresh = nil
	if c.driven || c.ended || f.round.Batch.Link != c.link {
		return nil
	}
	return f
}

// newRun is a run on its way into the store.
type newRun struct {
	start  *engine.Start
	group  engine.Group
	events []string // the names of those that it waits for
	batch  journal.Batch
	asks   []event.Command // of the batch: what it asks people
	rest   *shared.Rest    // after the batch
	status event.Status
	epoch  int64 // of this process, for the queue of the group
	entry  entry
}

// mustWait reports whether a run has to wait for its turn.
func (n *newRun) mustWait() bool { return n.group.Name != "" && !n.entry.turn }

// insertRun stores a run, unless it is there.
func (e *Engine) insertRun(tx *transaction, n *newRun) error {
	h, first := n.start.Header, &n.start.First
	var there int
	if err := tx.readRow("SELECT count(*) FROM runs WHERE id = ?", []any{h.Run}, &there); err != nil || there != 0 {
		return err
	}
	var group, pending any
	status, seq, link := n.status, n.batch.Last(), n.batch.Link
	if n.group.Name != "" {
		var err error
		if n.entry, err = e.enterQueue(tx, n.group, h.Run, first.Parent); err != nil {
			return err
		}
		group = n.group.Name
	}
	if n.mustWait() {
		text, err := json.Marshal(first)
		if err != nil {
			return err
		}
		pending, status, seq, link = text, event.Pending, 0, journal.Link{}
	}
	source, err := tx.insertTexts(n.start)
	if err != nil {
		return err
	}
	var key int64
	err = tx.readRow(`INSERT INTO runs (id, header, definition, source, workflow, created, status, seq, link, parent, parent_node, grp,
		retry_of, pending) VALUES (?1, ?2, ?3, coalesce(?4, (SELECT source FROM runs WHERE id = ?5)), ?6, ?7, ?8, ?9, ?10,
		nullif(?5, ''), nullif(?11, ''), ?12, nullif(?13, ''), ?14) RETURNING key`,
		[]any{h.Run, h.Encode(), h.Definition, source, first.Parent, h.Workflow, int64(h.Created), string(status), int64(seq), link[:],
			first.ParentNode, group, first.RetryOf, pending}, &key)
	if err == nil && !n.mustWait() {
		b := n.batch
		_, err = tx.exec("INSERT INTO batches (run, first, count, digest, link, body) VALUES (?, ?, ?, ?, ?, ?)",
			key, int64(b.First), b.Count, int64(b.Digest), b.Link[:], b.Body)
		if err == nil {
			err = shared.ApplyAsks(sharedRows{tx}, h.Run, n.asks, e.now())
		}
		if err == nil {
			err = shared.NoteRest(sharedRows{tx}, h.Run, n.rest)
		}
	}
	for _, name := range n.events {
		if err == nil {
			err = shared.Listen(sharedRows{tx}, name, h.Run)
		}
	}
	if err == nil && n.group.Name != "" {
		err = e.takePosition(tx, n.entry, key, n.epoch)
	}
	return err
}

// insertTexts stores a run's definition and source, unless they are there, and returns the hash of the source, nil without one.
func (tx *transaction) insertTexts(s *engine.Start) (source any, err error) {
	sum := sha256.Sum256(s.Definition)
	body, packed := packText(s.Definition)
	_, err = tx.exec("INSERT INTO definitions (hash, sum, packed, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		s.Header.Definition, sum[:], packed, body)
	if err != nil || len(s.Source) == 0 {
		return nil, err
	}
	sum = sha256.Sum256(s.Source)
	body, packed = packText(s.Source)
	_, err = tx.exec("INSERT INTO sources (hash, packed, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", sum[:], packed, body)
	return sum[:], err
}

const (
	// packFrom is the smallest size of a compressed text, in bytes: compressing a smaller text
	// gains little.
	packFrom = 4 << 10
	// MaxText bounds a stored definition or source after it is unpacked, in bytes.
	MaxText = 256 << 20
)

// packText never returns nil: the database would take that for NULL.
func packText(b []byte) (body []byte, packed bool) {
	if len(b) < packFrom {
		return append([]byte{}, b...), false
	}
	var buf bytes.Buffer
	w, _ := flate.NewWriter(&buf, flate.BestSpeed) // an error is for a wrong level only
	w.Write(b)
	w.Close()
	return buf.Bytes(), true
}

func unpackText(body []byte, packed bool) ([]byte, error) {
	if !packed {
		return body, nil
	}
	r := flate.NewReader(bytes.NewReader(body))
	b, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err == nil && len(b) > MaxText {
		err = errors.New("a stored text is too large")
	}
	return b, err
}
