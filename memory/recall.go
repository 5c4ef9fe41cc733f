package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// Ask is what is to be recalled for.
type Ask struct {
	Task    string // what is to be done
	Viewer  Viewer
	Session string       // whose working memory; "" for none
	Budget  int          // tokens, as [text.Tokens] estimates them; 0: 1,000
	Most    int          // entries; 0: as many as fit
	Use     entry.Source // who uses what is recalled
}

// Recalled is what goes into a request.
type Recalled struct {
	Text   string // fenced as data, an entry a line with its id, day and source; "" where there is nothing
	IDs    []string
	Hits   []Hit // as IDs; a score is above 0 only for what was found by meaning and words
	Tokens int   // never above the budget
}

const (
	// defaultBudget is what is recalled at most where nothing is said, in tokens.
	defaultBudget = 1000
	// candidates is how many of the best entries of long-term memory are looked at.
	candidates = 50
)

// Recall gathers what helps with a task: what is pinned, the working memory of the session, what the viewer's own last tasks
// taught, and of all else that the viewer sees what speaks of the task, best first. Each of the first three may take a share of
// the budget, so that there is room for the next; of working memory that does not fit into its share, the newest notes stand
// there whole, and before them the weightiest sentences of the others. An entry stands there once, and so does a lesson that was
// learned in the same words again; one that does not fit is cut behind a sentence or left out. Text that speaks of nothing in the
// memory recalls nothing of it.
//
// That the entries were used is noted; if that fails, Options.Warn is told.
func (m *Memory) Recall(ctx context.Context, a Ask) (Recalled, error) {
	if a.Budget == 0 {
		a.Budget = defaultBudget
	}
	var f found
	if strings.TrimSpace(a.Task) != "" {
		var err error
		if f, err = m.search(ctx, &Query{Text: clip(a.Task, MaxQuery), K: candidates, Viewer: a.Viewer}, recallPatience); err != nil {
			return Recalled{}, err
		}
	} else if err := m.refresh(ctx); err != nil {
		return Recalled{}, err
	}
	r := m.gather(&a, f.relevant())
	m.used(ctx, r.Hits, a.Use)
	return r, nil
}

func (m *Memory) gather(a *Ask, found []Hit) Recalled {
	p := page{most: a.Budget, entries: a.Most, has: map[string]bool{}}
	m.mu.RLock()
	pinned := m.index.pinned(a.Viewer)
	working := m.index.working(a.Session, func(i *entry.Item) bool { return a.Session != "" && a.Viewer.sees(i.Scope) && !isTalk(i) })
	recent := m.index.recent(a.Viewer, m.o.ShortTerm, m.now(), func(i *entry.Item) bool {
		return i.Scope != entry.Shared && !(i.Type == entry.Success && i.Auto) // not others' tasks, nor that it went well, of itself
	})
	m.mu.RUnlock()

	p.newest(pinned, 2)
	p.session(working, 2)
	p.newest(once(recent), 3)
	for _, h := range found {
		if !p.saysAlready(&h.Item) {
			p.add(h)
		}
	}
	return p.recalled()
}

// floor is the evidence (words, previous record, meaning, word vectors) under which an entry does not speak of a query: it
// depends on which of them there are. The figures are from the data of memory/eval. Of its questions, put to a store that has
// nothing to do with them, the best entry lay under .20, .34 and .50 nine times of ten (words alone, with word vectors, with
// the default embedder as well), and the middle one under .10, .21 and .35. Of learnings asked for in their own words the
// right one lay above .25, .43 and .76, always.
func floor(wordVectors, meaning bool) float64 {
	f := 0.25
	if wordVectors {
		f += 0.10
	}
	if meaning {
		f += 0.15
	}
	return f
}

// relevant leaves of what was found what speaks of the task.
func (f *found) relevant() []Hit {
	return slices.DeleteFunc(f.hits, func(h Hit) bool { return h.Parts.Evidence() < f.floor })
}

// used notes that entries went into a request. Working memory is used all the time, and that is not noted.
func (m *Memory) used(ctx context.Context, hits []Hit, by entry.Source) {
	var ids []string
	for _, h := range hits {
		if !h.Working {
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 || m.o.ReadOnly {
		return
	}
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		return []entry.Record{{At: m.now(), Op: entry.Use, IDs: ids, By: by}}, nil
	})
	if err != nil && ctx.Err() == nil {
		m.o.Warn("recalled entries are not marked as used: " + err.Error())
	}
}

func clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}
