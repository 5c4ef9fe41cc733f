package learn

import (
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Pile is what is consolidated: the learnings of an agent in one scope, those that its patterns stand for included.
type Pile struct {
	Items []entry.Item
	// Patterns are those that stand. One that cites none of Items, as somebody wrote it, is left alone.
	Patterns []entry.Item
	// Fresh tells which items look for others; nil: all do.
	Fresh func(i int) bool
	Near  Nearness // of Items, by index
}

// Made is a pattern, and the ids of the entries that it stands for from now on, sorted.
type Made struct {
	Pattern    entry.Entry
	Known      bool // it stands there already, and some that it stands for had come back into sight
	Supersedes []string
	// Shows are the sides of a conflict that lie behind an older pattern: what was made of them is to be reverted first.
	Shows []string
}

// Consolidate groups a pile and makes one pattern of each group. A pattern that grows is replaced by one over its own sources
// and the new ones; a group that has nothing new gives nothing, so that doing it again changes nothing. Of a conflict the two
// entries that contradict each other are not superseded: the pattern marks them, and both stay in sight.
func Consolidate(p Pile) []Made {
	already, patterns := p.already()
	var out []Made
	for _, g := range Group(p.Items, already, p.Fresh, p.Near) {
		if made, ok := p.pattern(g, patterns); ok {
			out = append(out, made)
		}
	}
	return out
}

// already are the items by the pattern that they lie behind, the first of several; and the patterns of each item, by index.
func (p *Pile) already() (groups [][]int, of map[int][]string) {
	at := map[string]int{}
	for i := range p.Items {
		at[p.Items[i].ID] = i
	}
	of = map[int][]string{}
	for n := range p.Patterns {
		var g []int
		for _, id := range p.Patterns[n].DerivedFrom {
			if i, ok := at[id]; ok && p.Items[i].Scope == p.Patterns[n].Scope {
				if len(of[i]) == 0 {
					g = append(g, i)
				}
				of[i] = append(of[i], p.Patterns[n].ID)
			}
		}
		slices.Sort(g)
		groups = append(groups, slices.Compact(g))
	}
	return groups, of
}

// pattern makes the pattern of a group, or nothing where there is one already that all lie behind.
func (p *Pile) pattern(group []int, patterns map[int][]string) (Made, bool) {
	var leaves []entry.Item
	var ids, old []string
	for _, i := range group {
		leaves, ids, old = append(leaves, p.Items[i]), append(ids, p.Items[i].ID), append(old, patterns[i]...)
	}
	slices.Sort(old)
	old = slices.Compact(old)
	hidden := func(e entry.Item) bool { return e.SupersededBy != "" }
	others := slices.DeleteFunc(old, func(id string) bool { return id == patternID(ids) })
	known := len(others) < len(old)
	if known && len(others) == 0 && !slices.ContainsFunc(leaves, func(e entry.Item) bool { return !hidden(e) }) {
		return Made{}, false
	}
	m := Made{Pattern: PatternOf(leaves), Known: known, Supersedes: others}
	var keep []string
	if leaves = inOrder(leaves); m.Pattern.Conflict {
		a, b := sides(leaves)
		for _, side := range []int{a, b} {
			keep = append(keep, leaves[side].ID)
			if hidden(leaves[side]) && !known {
				m.Shows = append(m.Shows, leaves[side].ID)
			}
		}
	}
	for i := range leaves {
		if e := leaves[i]; (!hidden(e) || len(m.Shows) > 0) && !slices.Contains(keep, e.ID) {
			m.Supersedes = append(m.Supersedes, e.ID)
		}
	}
	slices.Sort(m.Supersedes)
	return m, !known || len(m.Supersedes) > 0
}
