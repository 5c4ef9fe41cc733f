package memory

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/text"
)

// page is a recall that is being written.
type page struct {
	most int // tokens
	// entries is how many there may be; 0: as many as fit.
	entries int
	body    string
	hits    []Hit
	lines   []string
	has     map[string]bool
}

// room is how many bytes' worth of tokens are left.
func (p *page) room() int { return p.most - text.Tokens(fenceOpen+p.body+fenceClose) }

// newest adds the newest of some items that fit in one share of the room, oldest first.
func (p *page) newest(items []entry.Item, shares int) {
	room := p.room() / shares
	part := page{most: room + text.Tokens(fenceOpen+fenceClose), entries: p.entries, has: p.has}
	for _, i := range slices.Backward(items) {
		part.add(Hit{Item: i})
	}
	slices.Reverse(part.hits)
	slices.Reverse(part.lines)
	p.hits, p.lines = append(p.hits, part.hits...), append(p.lines, part.lines...)
	p.body = strings.Join(p.lines, "")
}

// add adds an entry, if it is not there yet and something of it fits.
func (p *page) add(h Hit) {
	if p.has[h.ID] || p.entries > 0 && len(p.has) >= p.entries {
		return
	}
	l := line(&h.Item, p.room())
	if l == "" {
		return
	}
	p.has[h.ID] = true
	p.hits, p.lines, p.body = append(p.hits, h), append(p.lines, l), p.body+l
}

// Fence puts what was found into a request's text, as Recall does: best first, and never above the budget, in tokens.
func Fence(hits []Hit, budget int) string {
	p := page{most: budget, has: map[string]bool{}}
	for _, h := range hits {
		p.add(h)
	}
	return p.recalled().Text
}

func (p *page) recalled() Recalled {
	if len(p.hits) == 0 {
		return Recalled{}
	}
	r := Recalled{Text: fenceOpen + p.body + fenceClose, Hits: p.hits}
	for _, h := range p.hits {
		r.IDs = append(r.IDs, h.ID)
	}
	r.Tokens = text.Tokens(r.Text)
	return r
}
