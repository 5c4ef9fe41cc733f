package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/text"
)

// olderEach is how many older learnings are consolidated with each new one: those nearest to it.
const olderEach = 5

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
		if i.Agent != agent || !i.Visible() || d.slot < 0 || i.Scope.IsRun() {
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
	terms := make([][]string, len(all))
	return learn.Pile{Items: items, Similar: func(i, j int) float64 {
		if c, ok := x.likeness(x.joint(all[i]), x.joint(all[j])); ok {
			return c
		}
		for _, n := range []int{i, j} {
			if terms[n] == nil {
				terms[n] = set(text.Terms(all[n].whole))
			}
		}
		return wordCosine(terms[i], terms[j])
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
		var near nearest
		for _, o := range all[:first] {
			c, _ := x.likeness(j, x.joint(o))
			near.add(o, c)
		}
		for _, o := range near.docs {
			take[o] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(d *doc) bool { return !take[d] })
}

// nearest are the olderEach entries with the highest cosines, best first; of equals those that were added first.
type nearest struct {
	docs    []*doc
	cosines []float64
}

func (n *nearest) add(d *doc, cosine float64) {
	at := len(n.docs)
	for at > 0 && n.cosines[at-1] < cosine {
		at--
	}
	if at == olderEach {
		return
	}
	keep := min(len(n.docs), olderEach-1)
	n.docs, n.cosines = slices.Insert(n.docs[:keep], at, d), slices.Insert(n.cosines[:keep], at, cosine)
}
