package memory

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// background embeds what has no vectors yet: after a change of the embedder, after a failure of a provider, and what other
// processes wrote without one. What it has made is kept at once, so the next process goes on where it ends.
type background struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	bell   chan struct{} // there may be work
	// failing is set while the embedder does not answer: nobody else waits for it then.
	failing atomic.Bool
	slow    atomic.Bool // somebody waited in vain for all vectors
	told    atomic.Bool // that many entries have no vectors
}

const (
	// chunk is how many entries are embedded at a time: enough for all cores, and little to lose.
	chunk = 32
	// retryAfter is how long an embedder that failed is left alone.
	retryAfter = 30 * time.Second
)

func (b *background) start(m *Memory) {
	if m.vectors.embedder == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.bell = cancel, make(chan struct{}, 1)
	b.done.Go(func() { m.embedMissing(ctx) })
}

func (b *background) wake() {
	select {
	case b.bell <- struct{}{}:
	default: // it is awake, or there is none
	}
}

func (b *background) stop() {
	if b.cancel != nil {
		b.cancel()
		b.done.Wait()
	}
}

const withoutVectors = "entries of the memory have no vectors for now, and are found by their words: "

func (m *Memory) embedMissing(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := m.embedSome(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if !m.work.failing.Swap(true) {
				m.o.Warn(withoutVectors + err.Error())
			}
			pause(ctx, retryAfter)
		case more:
			m.work.failing.Store(false)
		default:
			select {
			case <-ctx.Done():
			case <-m.work.bell:
			}
		}
	}
}

// embedSome embeds a chunk of what is missing, and says whether there was any.
func (m *Memory) embedSome(ctx context.Context) (bool, error) {
	docs, ps := m.some()
	if len(docs) == 0 {
		return false, ctx.Err()
	}
	if err := m.vectors.embed(ctx, ps); err != nil {
		return true, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range docs {
		m.index.embed(d)
		delete(m.index.missing, d.slot) // one that could not be kept is not tried over and over
	}
	return true, nil
}

func (m *Memory) some() (docs []*doc, ps []piece) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var slots []int
	for slot := range m.index.missing { // any order: sorted below
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	for _, slot := range slots[:min(chunk, len(slots))] {
		d := m.index.missing[slot]
		docs, ps = append(docs, d), append(ps, d.pieces...)
	}
	return docs, ps
}

// Pending is how many entries have no vectors yet.
func (m *Memory) Pending() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.index.missing)
}

// Wait embeds what has no vectors yet, and returns when all have them, with the embedder's error, or when ctx ends.
func (m *Memory) Wait(ctx context.Context) error {
	if m.vectors.embedder == nil {
		return nil
	}
	for {
		if more, err := m.embedSome(ctx); err != nil || !more {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// embedNow makes the vectors of entries before they are written, so that their near repeats are found. A failure is told.
func (m *Memory) embedNow(ctx context.Context, drafts []draft) {
	if m.work.failing.Load() {
		return
	}
	var ps []piece
	for i := range drafts {
		if drafts[i].Working {
			continue
		}
		ps = append(ps, pieces(drafts[i].Whole())...)
	}
	if err := m.vectors.embed(ctx, ps); err != nil && ctx.Err() == nil {
		m.o.Warn(withoutVectors + err.Error())
	}
}
