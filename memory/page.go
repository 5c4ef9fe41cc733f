package memory

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/window"
)

// olderShare is the part of what working memory may take that is kept for its older notes where not all fit.
const olderShare = 3

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
	p.append(p.part(items, p.room()/shares, false))
}

// session is newest for working memory. Where not all of it fits, the newest get less room, and before them stands what is
// weightiest in the others.
func (p *page) session(items []entry.Item, shares int) {
	room := p.room() / shares
	last := p.part(items, room, true)
	if len(last.without(items)) > 0 {
		last = p.part(items, room-room/olderShare, true)
		p.append(last.summary(last.without(items), room-text.Tokens(last.body)))
	}
	p.append(last)
}

// part is a page of the newest of some items in so many tokens, oldest first; if it is to have no gap, up to the first that
// does not fit as it would alone.
func (p *page) part(items []entry.Item, room int, noGap bool) *page {
	part := &page{most: room + text.Tokens(fenceOpen+fenceClose), entries: p.entries, has: maps.Clone(p.has)}
	for _, i := range slices.Backward(items) {
		if part.full() || noGap && len(part.hits) > 0 && line(&i, part.room()) != line(&i, eachAtMost) {
			break
		}
		part.add(Hit{Item: i})
	}
	slices.Reverse(part.hits)
	slices.Reverse(part.lines)
	return part
}

// summary is a page of the weightiest sentences of some items in so many tokens, an item a line, oldest first.
func (p *page) summary(items []entry.Item, room int) *page {
	items = items[max(0, len(items)-window.MaxLines):]
	notes := make([]window.Message, len(items))
	for n := range items {
		notes[n] = window.Message{ID: strconv.Itoa(n), Role: heading(&items[n]), Text: calm(said(&items[n]))}
	}
	part, texts := &page{entries: p.entries, has: maps.Clone(p.has)}, map[int]string{}
	for _, l := range window.Extract(notes, room) {
		n, _ := strconv.Atoi(l.ID)
		if i := items[n]; !part.has[i.ID] {
			if part.full() {
				break
			}
			part.has[i.ID] = true
			part.hits, part.lines = append(part.hits, Hit{Item: i}), append(part.lines, "")
		}
		texts[n] = calm(texts[n] + " " + l.Text)
		end := " …\n"
		if texts[n] == notes[n].Text {
			end = "\n"
		}
		part.lines[len(part.lines)-1] = l.Role + " " + texts[n] + end
	}
	return part
}

func (p *page) append(part *page) {
	for _, h := range part.hits {
		p.has[h.ID] = true
	}
	p.hits, p.lines = append(p.hits, part.hits...), append(p.lines, part.lines...)
	p.body = strings.Join(p.lines, "")
}

// without leaves of some items those that are not on the page.
func (p *page) without(items []entry.Item) []entry.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i entry.Item) bool { return p.has[i.ID] })
}

func (p *page) full() bool { return p.entries > 0 && len(p.has) >= p.entries }

// add adds an entry, if it is not there yet and something of it fits.
func (p *page) add(h Hit) {
	if p.has[h.ID] || p.full() {
		return
	}
	l := line(&h.Item, p.room())
	if l == "" {
		return
	}
	p.has[h.ID] = true
	p.hits, p.lines, p.body = append(p.hits, h), append(p.lines, l), p.body+l
}

// saysAlready tells whether the words of an entry stand there, of another task perhaps: again they teach nothing.
func (p *page) saysAlready(i *entry.Item) bool {
	w := words(i)
	return w != "" && slices.ContainsFunc(p.hits, func(h Hit) bool { return words(&h.Item) == w })
}

// once leaves of items that say the same the last.
func once(items []entry.Item) (out []entry.Item) {
	has := map[string]bool{}
	for _, i := range slices.Backward(items) {
		w := words(&i)
		if w == "" || !has[w] {
			out = append(out, i)
		}
		has[w] = true
	}
	slices.Reverse(out)
	return out
}

// words are what an entry teaches, as it is compared.
func words(i *entry.Item) string { return learn.Norm(cmp.Or(i.Lesson, i.Text)) }

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
