package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/vector"
)

const (
	// nearRepeat is the cosine from which two learnings say the same in other words. Of 1,770 pairs of distinct learnings the
	// nearest had .732; of five that were reworded by hand four lay above.
	nearRepeat = 0.75
	// linksAtMost bounds the near repeats that are noted of one learning: the nearest.
	linksAtMost = 8
	// olderEach is how many older learnings are consolidated with each new one: those nearest to it.
	olderEach = 5
)

// likeness is the cosine of two texts' joint vector: three fifths of it the embedder's, two fifths the word vectors'. Where
// one of the two is missing the other stands for both; ok is false where both are.
func (x *index) likeness(a, b *[2][]float32) (cosine float64, ok bool) {
	weights := [2]float64{.6, .4}
	sum := 0.0
	for n := range a {
		if a[n] != nil && b[n] != nil && len(a[n]) == len(b[n]) {
			cosine += weights[n] * float64(vector.Cosine(a[n], b[n]))
			sum += weights[n]
		}
	}
	if sum == 0 {
		return 0, false
	}
	return cosine / sum, true
}

// joint is what likeness compares of an entry that is in the index.
func (x *index) joint(d *doc) *[2][]float32 {
	if d == nil || d.slot < 0 {
		return &[2][]float32{}
	}
	return &[2][]float32{x.meaning.whole[d.slot], x.means.lane.whole[d.slot]}
}

// jointOf is the same of a text that may not be.
func (x *index) jointOf(whole string) *[2][]float32 {
	var j [2][]float32
	if v := x.vectors; v.meaning != nil {
		j[0], _ = v.meaning.get(keyOf(whole))
	}
	if x.vectors.means != nil {
		j[1] = x.means.vector(whole)
	}
	return &j
}

// near finds the near repeats of a new learning: of the same type, agent and scope. It takes both vectors to tell, so without
// an embedder there are none.
func (m *Memory) near(e *entry.Entry) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	x := m.index
	j := x.jointOf(e.Whole())
	if j[0] == nil || j[1] == nil {
		return nil
	}
	type hit struct {
		id     string
		cosine float64
	}
	var hits []hit
	for _, d := range x.docs {
		i := &d.item
		if i.Type != e.Type || i.Scope != e.Scope || i.Agent != e.Agent || d.slot < 0 || i.Working {
			continue
		}
		if o := x.joint(d); o[0] != nil && o[1] != nil {
			if c, _ := x.likeness(j, o); c >= nearRepeat {
				hits = append(hits, hit{i.ID, c})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id)) })
	var ids []string
	for _, h := range hits[:min(len(hits), linksAtMost)] {
		ids = append(ids, h.id)
	}
	slices.Sort(ids)
	return ids
}

// consolidateDue consolidates for each agent of what was added whose time it is.
func (m *Memory) consolidateDue(ctx context.Context, drafts []draft, out []Added) error {
	if m.o.ConsolidateEvery <= 0 {
		return nil
	}
	last := map[string]int{}
	for _, d := range drafts {
		if d.IsLearning() {
			last[d.Agent] = d.at
		}
	}
	for _, d := range drafts {
		if at, ok := last[d.Agent]; !ok || at != d.at {
			continue
		}
		due := false
		m.store.View(func(s *entry.State) { due = s.Since(d.Agent) >= m.o.ConsolidateEvery })
		if !due {
			continue
		}
		made, err := m.Consolidate(ctx, d.Agent)
		if err != nil {
			return fmt.Errorf("the entries were added, but not consolidated: %w", err)
		}
		out[d.at].Consolidated = made
	}
	return nil
}

// Consolidate makes patterns of an agent's learnings that speak of one subject, and returns the ids of the new ones. The
// learnings that a pattern stands for are superseded by it, except where they contradict each other. It takes the learnings
// since the last time with the older ones next to each; where there are none, all, up to [learn.MaxItems] of the newest. Doing
// it again changes nothing. What lies in the scope of a run is left alone.
func (m *Memory) Consolidate(ctx context.Context, agent string) ([]string, error) {
	if m.o.ReadOnly {
		return nil, ErrReadOnly
	}
	var made []string
	now := m.now()
	by := entry.Source{Source: "consolidation", Author: "flowrun", Trust: entry.ByRule}
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		m.sync(s)
		m.mu.RLock()
		defer m.mu.RUnlock()
		made = nil
		var out []entry.Record
		pile := m.index.pile(agent, s.Since(agent))
		pile.Get = s.Get
		for _, p := range learn.Consolidate(pile) {
			e := p.Pattern
			if old, ok := s.Get(e.ID); ok && !old.Reverted {
				continue
			}
			e.By = by
			e.By.Trust = p.Pattern.By.Trust // no more than what it was made of
			if e.CreatedAt.IsZero() {
				e.CreatedAt = now
			}
			made = append(made, e.ID)
			out = append(out, entry.Record{At: now, Op: entry.Put, Entry: &e, By: by})
			if len(p.Supersedes) > 0 {
				out = append(out, entry.Record{At: now, Op: entry.Supersede, IDs: p.Supersedes, Other: e.ID, By: by})
			}
		}
		if s.Since(agent) > 0 || len(out) > 0 {
			out = append(out, entry.Record{At: now, Op: entry.Consolidate, Other: agent, By: by})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("consolidating the memory: %w", err)
	}
	return made, nil
}

// pile is what is consolidated of an agent: the newest learnings, and those older entries that are nearest to each.
func (x *index) pile(agent string, since int) learn.Pile {
	var all []*doc
	learnings := 0
	for _, d := range x.docs {
		i := &d.item
		if i.Agent != agent || !i.Visible() || d.slot < 0 || strings.HasPrefix(string(i.Scope), string(entry.OfRun(""))) {
			continue
		}
		if i.IsLearning() {
			learnings++
		}
		if i.IsLearning() || i.Type == entry.Pattern {
			all = append(all, d)
		}
	}
	if since > 0 && since < learnings {
		all = x.chosen(all, since)
	}
	all = all[max(0, len(all)-learn.MaxItems):]
	items := make([]entry.Item, len(all))
	for n, d := range all {
		items[n] = d.item
	}
	return learn.Pile{Items: items, Similar: func(i, j int) float64 {
		if c, ok := x.likeness(x.joint(all[i]), x.joint(all[j])); ok {
			return c
		}
		return wordCosine(all[i].whole, all[j].whole)
	}}
}

// chosen are, of an agent's entries in order, the newest learnings and the few older ones nearest to each.
func (x *index) chosen(all []*doc, newest int) []*doc {
	take := map[*doc]bool{}
	first := len(all)
	for ; first > 0 && newest > 0; first-- {
		if all[first-1].item.IsLearning() {
			take[all[first-1]] = true
			newest--
		}
	}
	for _, d := range all[max(first, len(all)-learn.MaxItems):] {
		j := x.joint(d)
		older := slices.Clone(all[:first])
		like := make(map[*doc]float64, len(older))
		for _, o := range older {
			like[o], _ = x.likeness(j, x.joint(o))
		}
		slices.SortStableFunc(older, func(a, b *doc) int { return cmp.Compare(like[b], like[a]) })
		for _, o := range older[:min(olderEach, len(older))] {
			take[o] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(d *doc) bool { return !take[d] })
}

// wordCosine is the cosine of two texts' sets of terms: what stands for the vectors where there are none.
func wordCosine(a, b string) float64 {
	s, t := set(text.Terms(a)), set(text.Terms(b))
	both := 0
	for _, w := range s {
		if _, ok := slices.BinarySearch(t, w); ok {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / math.Sqrt(float64(len(s)*len(t)))
}

func set(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}
