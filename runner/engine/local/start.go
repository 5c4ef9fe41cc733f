package local

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Start makes a run durable: its definition, its source and its first batch. What the first event asks for is carried out
// by the first Drive. A run of a group that is busy waits here for its turn, or is skipped; the turn is kept until the run's
// drive ends, or the engine is closed.
func (e *Engine) Start(ctx context.Context, s engine.Start) (_ string, err error) {
	defer func() { err = causeOf(ctx, e.explain(err)) }()
	if e.commits == nil {
		return "", engine.ErrReadOnly
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err := e.welcome(); err != nil {
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
	s.First.Run, s.Header = h.Run, h
	g, p, err := e.admit(ctx, &s)
	if err != nil {
		return "", err
	}
	if err = e.begin(s, g, p); err != nil && p != nil {
		e.leavePlace(p)
	} else if p != nil {
		e.hold(h.Run, p)
	}
	return h.Run, err
}

// begin makes the first batch of a run and stores it.
func (e *Engine) begin(s engine.Start, g engine.Group, p *place) error {
	if s.Header.Created == 0 {
		s.Header.Created = e.now()
	}
	h := s.Header
	m, err := e.options.Factory(h, s.Definition)
	if err != nil {
		return err
	}
	var out event.Reaction
	first := s.First
	x, _, err := e.Expected(context.Background(), h.Workflow)
	if err != nil {
		return err
	}
	first.ExpectedUS, first.ExpectedTimes = x.US, x.Times
	events, fold := []event.Event{{RunStarted: &first}}, engine.NewFold(h, m)
	b, err := fold.Feed(e.now(), events, &out)
	if err != nil {
		return fmt.Errorf("starting run %s: %w", h.Run, err)
	}
	err = e.write(func(tx *transaction) error {
		if p != nil {
			if err := tx.seat(p, h.Run); err != nil {
				return err
			}
		}
		return insertRun(tx, s, g, b, engine.StatusAfter(event.Pending, &out))
	})
	if err == nil {
		e.keepFresh(&fresh{engine.Start{Header: h, Definition: s.Definition, First: first}, b.Link, fold, events, out})
	}
	return err
}

// fresh is a run that this process has just made. Its fold stands where its journal ends, so that the drive that follows need not
// replay what it began with: of a run of 50,000 steps that is a twelfth of the work.
type fresh struct {
	start  engine.Start
	link   journal.Link
	fold   *engine.Fold
	events []event.Event
	out    event.Reaction
}

// keepFresh keeps the last one only: most runs are driven as soon as they are made.
func (e *Engine) keepFresh(f *fresh) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fresh = f
}

// takeFresh gives what was kept of a run, if its journal still ends there and nobody has driven it. The link is the same only if
// the header and the events are.
func (e *Engine) takeFresh(c *claimed) *fresh {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fresh
	if f == nil || f.start.Header.Run != c.id {
		return nil
	}
	e.fresh = nil
	if c.driven || c.ended || f.link != c.link {
		return nil
	}
	return f
}

func insertRun(tx *transaction, s engine.Start, g engine.Group, b journal.Batch, status event.Status) error {
	h := s.Header
	var there int
	if err := tx.get("SELECT count(*) FROM runs WHERE id = ?", []any{h.Run}, &there); err != nil || there != 0 {
		return err
	}
	sum := sha256.Sum256(s.Definition)
	body, packed := pack(s.Definition)
	_, err := tx.exec("INSERT INTO definitions (hash, sum, packed, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		h.Definition, sum[:], packed, body)
	if err != nil {
		return err
	}
	var source any
	if len(s.Source) > 0 {
		sum := sha256.Sum256(s.Source)
		body, packed := pack(s.Source)
		_, err := tx.exec("INSERT INTO sources (hash, packed, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", sum[:], packed, body)
		if err != nil {
			return err
		}
		source = sum[:]
	}
	var parent, node, group, repeats any
	if g.Name != "" && s.First.Skip == "" {
		group = g.Name
	}
	if s.First.Parent != "" {
		parent, node = s.First.Parent, s.First.ParentNode
	}
	if s.First.RetryOf != "" {
		repeats = s.First.RetryOf
	}
	var key int64
	err = tx.get(`INSERT INTO runs (id, header, definition, source, workflow, created, status, seq, link, parent, parent_node, grp,
		retry_of) VALUES (?, ?, ?, coalesce(?, (SELECT source FROM runs WHERE id = ?)), ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
		[]any{h.Run, h.Encode(), h.Definition, source, parent, h.Workflow, int64(h.Created), string(status), int64(b.Last()), b.Link[:],
			parent, node, group, repeats}, &key)
	if err != nil {
		return err
	}
	_, err = tx.exec("INSERT INTO batches (run, first, count, digest, link, body) VALUES (?, ?, ?, ?, ?, ?)",
		key, int64(b.First), b.Count, int64(b.Digest), b.Link[:], b.Body)
	return err
}

const (
	// packFrom is the size from which texts are compressed: below it there is little to gain.
	packFrom = 4 << 10
	// MaxText bounds what a stored definition or source may unpack to.
	MaxText = 256 << 20
)

// pack never returns nil: the database would take that for NULL.
func pack(b []byte) (body []byte, packed bool) {
	if len(b) < packFrom {
		return append([]byte{}, b...), false
	}
	var buf bytes.Buffer
	w, _ := flate.NewWriter(&buf, flate.BestSpeed) // an error is for a wrong level only
	w.Write(b)
	w.Close()
	return buf.Bytes(), true
}

func unpack(body []byte, packed bool) ([]byte, error) {
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
