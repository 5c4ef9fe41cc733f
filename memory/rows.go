package memory

import (
	"sync"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/rank"
)

// rows are what a search asks of each text that could be an answer, side by slot: to look into each entry would cost more than the
// rest of the search.
type rows struct {
	numbers map[entry.Scope]int32 // of the scopes, from 0
	bySlot  []row

	looking sync.Mutex // guards views
	views   map[string]*rank.View
	scratch sync.Pool // of *rank.Scratch
}

// mostViews bounds the views that are kept: one takes 9 bytes a text at most.
const mostViews = 16

type row struct {
	scope  int32 // hidden: no search finds it
	stands bool  // neither superseded nor archived
	facts  rank.Facts
}

// hidden stands for the scope of a slot that no search sees.
const hidden = -1

func newRows() *rows {
	return &rows{numbers: map[entry.Scope]int32{}, scratch: sync.Pool{New: func() any { return new(rank.Scratch) }}}
}

// see notes what searches ask of an entry, if it has a slot.
func (x *index) see(d *doc) {
	if d.slot < 0 {
		return
	}
	i, rows := &d.item, x.rows
	r := row{scope: hidden, stands: i.SupersededBy == "" && !i.Archived, facts: facts(i)}
	if searchable(i) {
		n, known := rows.numbers[i.Scope]
		if !known {
			n = int32(len(rows.numbers))
			rows.numbers[i.Scope] = n
		}
		r.scope = n
	}
	if d.slot < len(rows.bySlot) && rows.bySlot[d.slot].scope != r.scope {
		rows.views = nil
	}
	for len(rows.bySlot) <= d.slot {
		rows.bySlot = append(rows.bySlot, row{scope: hidden})
	}
	rows.bySlot[d.slot] = r
}

// view is what a viewer sees of the corpus, kept from search to search until somebody's sight changes. The texts stay as they are while
// anybody searches, so the first of several searches extends the view, and the others find it complete.
func (r *rows) view(c *rank.Corpus, v Viewer) *rank.View {
	r.looking.Lock()
	defer r.looking.Unlock()
	kept := r.views[v.name()]
	if kept == nil {
		if kept = new(rank.View); r.views == nil || len(r.views) >= mostViews {
			r.views = map[string]*rank.View{}
		}
		r.views[v.name()] = kept
	}
	kept.Extend(c, r.seen(v))
	return kept
}

// seen reports for each slot whether a viewer sees it. The corpus does not ask for texts that were removed.
func (r *rows) seen(v Viewer) func(slot int) bool {
	if v.All {
		return func(slot int) bool { return r.bySlot[slot].scope != hidden }
	}
	sees := make([]bool, len(r.numbers))
	for _, scope := range append([]entry.Scope{entry.Shared}, v.Scopes...) {
		if n, known := r.numbers[scope]; known {
			sees[n] = true
		}
	}
	return func(slot int) bool {
		n := r.bySlot[slot].scope
		return n != hidden && sees[n]
	}
}
