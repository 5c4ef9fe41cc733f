package learn

import (
	"container/heap"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// How like each other two groups are when they speak of one subject, on average over all pairs of their members: it takes near
// vectors, and words in common. TestAlike in memory measures what comes of these numbers, of which the last four were chosen by it.
const (
	// Alike is the cosine of the vectors. Of 1,770 pairs of distinct learnings the median was .435 and the 99th percentile
	// .662; hand-reworded pairs lay between .619 and .898. Alone it does not do: a task that fails in twenty ways leaves twenty
	// learnings behind that all have its text.
	Alike = 0.62
	// alikeWords is the cosine of the words that tell what they are about.
	alikeWords = 0.25
	// alikeTagged is the same where two of their members share a tag that few have, or were noted as near repeats: where all
	// learnings are of one subject, its words tell nothing.
	alikeTagged = 0.1
	// alikeRecorded is the same where the recorder worded all: what programs say has more words that come every time.
	alikeRecorded = 0.4
	// alikeAlone is the same where there are no vectors.
	alikeAlone = 0.45
)

// MaxItems is how many learnings are grouped: the newest. The work grows with their number, and no faster.
const MaxItems = 1 << 14

// Nearness knows the vectors of items, and of the groups that become of them. A group goes by its first item.
type Nearness interface {
	// Mean is the cosine of the members of two groups, on average over all pairs; where ok is false there are no vectors, and
	// words have to do.
	Mean(a, b int) (mean float64, ok bool)
	// Join is told the members of what is one group from now on, in order.
	Join(members []int)
}

// Group finds the items that speak of one subject, within one scope and agent, and gives the groups of two and more as sorted
// indexes, in order of their first. Those of already stay together. Of the others only fresh ones look for others; nil: all do.
// Groups that were found and are given again stay as they are: nothing that may be joined is left apart.
func Group(items []entry.Item, already [][]int, fresh func(i int) bool, near Nearness) [][]int {
	g := grouping{items: items, near: near, vocabulary: newVocabulary(items), of: make([]*group, len(items)), at: map[string]int{}}
	for i := range items {
		g.of[i] = &group{members: []int{i}, words: g.vocabulary.words[i], near: map[*group]bool{}, recorded: items[i].Auto}
		g.at[items[i].ID] = i
	}
	for _, members := range already {
		if len(members) > 1 {
			g.unite(g.of[members[0]], members)
		}
	}
	for again := true; again; { // a group that filled up on the way kept others from being looked at
		g.full = false
		for i := max(0, len(items)-MaxItems); i < len(items); i++ {
			if fresh == nil || fresh(i) {
				g.look(i)
			}
		}
		again = g.joinAll() && g.full
	}
	var out [][]int
	for i, one := range g.of {
		if one.members[0] == i && len(one.members) > 1 {
			out = append(out, one.members)
		}
	}
	return out
}

// grouping is average linkage over the pairs of groups that share words or tags: the most alike are joined first.
type grouping struct {
	items      []entry.Item
	near       Nearness
	vocabulary *vocabulary
	of         []*group // by item
	at         map[string]int
	queue      queue
	full       bool // a join would have made a group too large
}

// group is what is one subject so far: the members, and the sum of their words.
type group struct {
	members  []int
	words    []word
	near     map[*group]bool // what it may be joined with, and whether a tag or a near repeat says so
	recorded bool            // nobody worded any of it
}

// look finds the groups that one item's may be joined with.
func (g *grouping) look(i int) {
	a := g.of[i]
	link := func(j int, tag bool) {
		b := g.of[j]
		if tagged, known := a.near[b]; known && (tagged || !tag) {
			return
		}
		a.near[b], b.near[a] = tag, tag
		g.consider(a, b)
	}
	allowed := func(j int) bool {
		b := g.of[j]
		return a != b && j >= len(g.items)-MaxItems && g.items[i].Scope == g.items[j].Scope && g.items[i].Agent == g.items[j].Agent && g.fits(a, b)
	}
	for _, j := range g.vocabulary.sharing(i, allowed) {
		link(j, false)
	}
	for _, j := range g.named(i) {
		if allowed(j) {
			link(j, true)
		}
	}
}

// named are the items that share a tag with one that few have, and its near repeats. Of what the recorder worded both say that
// it was one task.
func (g *grouping) named(i int) (out []int) {
	item := &g.items[i]
	for _, t := range tagsOfSubject(item) {
		if list := g.vocabulary.tagged[t]; len(list) <= maxTagged(len(g.items)) { // else it names a kind of work
			out = append(out, newest(list)...)
		}
	}
	for _, id := range item.Repeats {
		if j, ok := g.at[id]; ok && !(item.Auto && g.items[j].Auto) {
			out = append(out, j)
		}
	}
	return out
}

// fits tells whether two groups are not too many for one pattern.
func (g *grouping) fits(a, b *group) bool {
	if len(a.members)+len(b.members) <= MaxSources {
		return true
	}
	g.full = true
	return false
}

// maxTagged is how many of so many items have a tag that may tell a subject: some twenty, or one in fifty.
func maxTagged(items int) int { return 20 + items/50 }

// consider queues two groups where they are alike enough.
func (g *grouping) consider(a, b *group) {
	if !g.fits(a, b) {
		return
	}
	words := common(a.words, b.words) / float64(len(a.members)*len(b.members))
	least := alikeWords
	switch {
	case a.near[b]:
		least = alikeTagged
	case a.recorded && b.recorded:
		least = alikeRecorded
	}
	if words < least {
		return
	}
	if mean, ok := g.near.Mean(a.members[0], b.members[0]); ok && mean >= Alike {
		heap.Push(&g.queue, newPair(mean, a, b))
	} else if !ok && words >= alikeAlone {
		heap.Push(&g.queue, newPair(words, a, b))
	}
}

// joinAll joins what is queued, and tells whether there was anything. A pair of which a side has grown meanwhile is out of date.
func (g *grouping) joinAll() (any bool) {
	for len(g.queue) > 0 {
		if p := heap.Pop(&g.queue).(pair); len(p.a.members) == p.na && len(p.b.members) == p.nb {
			g.join(p.a, p.b)
			any = true
		}
	}
	return any
}

// join makes one group of two, and considers it with all that either was near to.
func (g *grouping) join(a, b *group) {
	members := append(slices.Clone(a.members), b.members...)
	slices.Sort(members)
	g.unite(a, members)
	for x, tag := range b.near { // any order: the queue has its own
		delete(x.near, b)
		if x != a {
			tag = tag || a.near[x]
			a.near[x], x.near[a] = tag, tag
		}
	}
	for x := range a.near { // any order: the queue has its own
		g.consider(a, x)
	}
}

// unite gives one group these members, which others had.
func (g *grouping) unite(a *group, members []int) {
	for _, i := range members {
		b := g.of[i]
		if g.of[i] = a; b != a {
			a.recorded = a.recorded && b.recorded
			b.members = nil
		}
	}
	a.members, a.words = members, g.vocabulary.all(members)
	g.near.Join(members)
}
