package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/rank"
	"github.com/flowrun/flowrun/memory/vector"
)

// MaxQuery is how long a query may be, in bytes.
const MaxQuery = 1 << 20

// Query is what is looked for.
type Query struct {
	Text   string
	K      int // how many at most; 0: 10
	Viewer Viewer
	Agent  string     // of this agent alone
	Type   entry.Type // of this type alone
	Tag    string
	Since  time.Time // created since
	// Everything finds also what was superseded or archived.
	Everything bool
}

// Hit is an entry that was found, and why.
type Hit struct {
	entry.Item
	Score float64
	Parts rank.Parts
}

// Search finds what answers the query, best first; ties by id. What the viewer does not see takes no part. Errors: [ErrBad]
// for a query without text; those of the store. An embedder that fails is told to Options.Warn, and words go on without it.
//
// Entries without vectors get them first, up to 1,000. Where more have none, after a change of the embedder, words go on alone.
func (m *Memory) Search(ctx context.Context, q Query) ([]Hit, error) {
	f, err := m.search(ctx, &q, patience)
	return f.hits, err
}

// found is what a search finds, and the evidence under which a hit does not speak of the query.
type found struct {
	hits  []Hit
	floor float64
}

func (m *Memory) search(ctx context.Context, q *Query, patience int) (found, error) {
	if strings.TrimSpace(q.Text) == "" {
		return found{}, bad("the query has no text")
	}
	if len(q.Text) > MaxQuery {
		return found{}, bad("the query has %d bytes, %d is the most", len(q.Text), MaxQuery)
	}
	if err := m.refresh(ctx); err != nil {
		return found{}, fmt.Errorf("searching the memory: %w", err)
	}
	m.catchUp(ctx, patience)
	meaning := m.vectors.query(ctx, q.Text)
	if err := ctx.Err(); err != nil {
		return found{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.search(q, meaning)
}

// How many entries are embedded before a question is answered, where they have no vectors yet; more only after a change of
// the embedder, or an import that was cut short. A search takes the time, some ten seconds for the default embedder, so that it
// answers the same with a cache that was lost; what is on its way into a request does not.
const (
	patience       = 1000
	recallPatience = 50
	// longest is how long it waits for an embedder that is slower than that. Then words go on, and nobody waits any more.
	longest = 30 * time.Second
)

func (m *Memory) catchUp(ctx context.Context, patience int) {
	n := m.Pending()
	if n == 0 || m.work.failing.Load() {
		return
	}
	if n <= patience && !m.work.slow.Load() {
		wait, done := context.WithTimeout(ctx, m.longest)
		err := m.Wait(wait)
		done()
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case wait.Err() == nil:
			m.o.Warn(withoutVectors + err.Error())
			return
		}
		m.work.slow.Store(true)
	}
	if !m.work.told.Swap(true) {
		m.o.Warn(fmt.Sprintf("%d entries of the memory have no vectors yet, and are found by their words; they are being made", m.Pending()))
	}
}

// search ranks. The caller holds the lock.
func (x *index) search(q *Query, meaning []float32) (found, error) {
	byMeaning, err := x.meaning.Cosines(meaning)
	if errors.Is(err, vector.ErrLength) {
		x.vectors.otherLength(err)
		byMeaning, err = nil, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("searching the memory: %w", err)
	}
	byWords, err := x.means.scores(q.Text)
	if err != nil {
		return found{}, fmt.Errorf("searching the memory: %w", err)
	}
	k := q.K
	if k <= 0 {
		k = 10
	}
	scratch := x.rows.scratch.Get().(*rank.Scratch)
	defer x.rows.scratch.Put(scratch)
	ranked := x.corpus.Rank(rank.Query{
		Text: q.Text, K: k, Meaning: byMeaning, WordVectors: byWords,
		View: x.rows.view(&x.corpus, q.Viewer), Scratch: scratch,
		Wanted: func(slot int) bool {
			return (q.Everything || x.rows.bySlot[slot].stands) && (!q.filters() || q.wants(&x.slots[slot].item))
		},
		Facts: func(slot int) rank.Facts { return x.rows.bySlot[slot].facts },
	})
	out := found{hits: make([]Hit, len(ranked)), floor: floor(byWords != nil, byMeaning != nil)}
	for n, h := range ranked {
		out.hits[n] = Hit{Item: x.slots[h.Slot].item, Score: h.Score, Parts: h.Parts}
	}
	return out, nil
}

// searchable reports whether an entry takes part in searches. Working memory does once it is archived.
func searchable(i *entry.Item) bool {
	return !i.Forgotten && !i.Reverted && (!i.Working || i.Archived)
}

// filters reports whether only some entries are wanted, and wants whether one of them is.
func (q *Query) filters() bool {
	return q.Agent != "" || q.Type != "" || q.Tag != "" || !q.Since.IsZero()
}

func (q *Query) wants(i *entry.Item) bool {
	return (q.Agent == "" || i.Agent == q.Agent) &&
		(q.Type == "" || i.Kind() == q.Type) &&
		(q.Tag == "" || slices.Contains(i.Tags, q.Tag)) &&
		(q.Since.IsZero() || !i.CreatedAt.Before(q.Since))
}

// facts are what counts in a score beside the words. Each repeat counts a tenth of importance.
func facts(i *entry.Item) rank.Facts {
	return rank.Facts{
		Importance: min(1, i.Importance+float64(.1*float64(i.Count-1))),
		Uses:       i.Uses,
		Superseded: i.SupersededBy != "",
	}
}
