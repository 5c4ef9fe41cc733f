package learn

import (
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Pile is what is consolidated: an agent's new learnings, and the older learnings and patterns next to them.
type Pile struct {
	Items []entry.Item
	// Similar is the likeness of two items, by index: the cosine of their vectors.
	Similar func(i, j int) float64
	// Rare are the rare terms of an item, sorted. Nil: those that are rare among Items.
	Rare func(i int) []string
	// Get finds the learnings that the patterns among Items were made of.
	Get func(id string) (entry.Item, bool)
}

// Made is a new pattern, and the ids of the entries that it stands for from now on, sorted.
type Made struct {
	Pattern    entry.Entry
	Supersedes []string
}

// Consolidate groups a pile and makes one pattern of each group. A pattern in the pile is replaced by one over its own sources
// and the new ones; a group that has nothing new gives nothing, so that doing it again changes nothing. Of a conflict the two
// entries that contradict each other are not superseded: the pattern marks them, and both stay in sight.
func Consolidate(p Pile) []Made {
	rare := p.Rare
	if rare == nil {
		rare = Rare(p.Items)
	}
	var out []Made
	for _, g := range Group(p.Items, p.Similar, rare) {
		var group []entry.Item
		for _, i := range g {
			group = append(group, p.Items[i])
		}
		if made, ok := p.pattern(group); ok {
			out = append(out, made)
		}
	}
	return out
}

// pattern makes the pattern of a group, or nothing where there is one already.
func (p Pile) pattern(group []entry.Item) (Made, bool) {
	leaves, old := p.leaves(group)
	if len(leaves) > MaxSources { // the subject starts anew
		group = slices.DeleteFunc(group, func(i entry.Item) bool { return i.Type == entry.Pattern })
		leaves, old = p.leaves(group)
	}
	if len(leaves) < 2 {
		return Made{}, false
	}
	m := Made{Pattern: PatternOf(leaves)}
	if slices.Contains(old, m.Pattern.ID) {
		return Made{}, false
	}
	var keep []string
	if leaves = inOrder(leaves); m.Pattern.Conflict {
		a, b := sides(leaves)
		keep = []string{leaves[a].ID, leaves[b].ID}
	}
	m.Supersedes = old
	for i := range leaves {
		if e := &leaves[i]; e.SupersededBy == "" && !slices.Contains(keep, e.ID) {
			m.Supersedes = append(m.Supersedes, e.ID)
		}
	}
	slices.Sort(m.Supersedes)
	return m, true
}

// stands tells whether a pattern may still be made of a learning: nobody forgot or reverted it, or said something better.
func (p Pile) stands(e *entry.Item) bool {
	if e.Forgotten || e.Reverted || e.Type == entry.Pattern {
		return false
	}
	by, ok := p.Get(e.SupersededBy)
	return !ok || by.Type == entry.Pattern
}

// leaves are the learnings of a group, those of its patterns included, each once; and the ids of its patterns. What was
// forgotten, reverted or corrected since is none.
func (p Pile) leaves(group []entry.Item) (leaves []entry.Item, patterns []string) {
	for _, e := range group {
		if e.Type != entry.Pattern {
			leaves = append(leaves, e)
			continue
		}
		patterns = append(patterns, e.ID)
		for _, id := range e.DerivedFrom {
			if source, ok := p.Get(id); ok && p.stands(&source) && source.Scope == e.Scope {
				leaves = append(leaves, source)
			}
		}
	}
	return inOrder(leaves), patterns
}
