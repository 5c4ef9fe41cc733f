package memory

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

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
		m.catchUp(ctx, recallPatience)
		made, err := m.consolidate(ctx, d.Agent, true)
		if err != nil {
			return fmt.Errorf("the entries were added, but not consolidated: %w", err)
		}
		out[d.at].Consolidated = made
	}
	return nil
}

// Consolidate makes patterns of an agent's learnings that speak of one subject, and returns the ids of the new ones. The
// learnings that a pattern stands for are superseded by it, except where they contradict each other. It looks at all of them, up to
// [learn.MaxItems] of the newest in each scope, in one transaction: one that is interrupted has changed nothing. Doing it again
// changes nothing. What lies in the scope of a run is left alone. Learnings without vectors get them first, as in [Memory.Search], so
// that it comes to the same with a cache that was lost.
func (m *Memory) Consolidate(ctx context.Context, agent string) ([]string, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("consolidating the memory: %w", err)
	}
	m.catchUp(ctx, patience)
	return m.consolidate(ctx, agent, false)
}

// ConsolidateAll consolidates for each agent that has entries. With an error it returns the ids of the patterns that were made before.
func (m *Memory) ConsolidateAll(ctx context.Context) (ids []string, err error) {
	s, err := m.Stats(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range s.Agents {
		made, err := m.Consolidate(ctx, a.Name)
		if err != nil {
			return ids, err
		}
		ids = append(ids, made...)
	}
	return ids, nil
}

// consolidate looks for what is near to all learnings of an agent, or only to those since the last time.
func (m *Memory) consolidate(ctx context.Context, agent string, fresh bool) ([]string, error) {
	var made []string
	now := m.now()
	by := entry.Source{Source: byConsolidation, Author: "flowrun", Trust: entry.ByRule}
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		m.sync(s)
		m.mu.RLock()
		defer m.mu.RUnlock()
		made = nil
		var out []entry.Record
		since := math.MaxInt
		if fresh {
			since = s.Since(agent)
		}
		for _, pile := range m.index.piles(agent, since) {
			for _, p := range learn.Consolidate(pile) {
				e := p.Pattern
				if old, ok := s.Get(e.ID); ok && !old.Reverted && !p.Known {
					continue
				}
				e.By = by
				e.By.Trust = p.Pattern.By.Trust // no more than what it was made of
				if e.CreatedAt.IsZero() {
					e.CreatedAt = now
				}
				if hiding := consolidatedTo(s, p.Shows); len(hiding) > 0 {
					out = append(out, entry.Record{At: now, Op: entry.Revert, IDs: hiding, By: by, Reason: "hid a side of what turned out to be a conflict"})
					p.Supersedes = slices.DeleteFunc(p.Supersedes, func(id string) bool { return slices.Contains(hiding, id) })
				}
				if !p.Known {
					made = append(made, e.ID)
					out = append(out, entry.Record{At: now, Op: entry.Put, Entry: &e, By: by})
				}
				if len(p.Supersedes) > 0 {
					out = append(out, entry.Record{At: now, Op: entry.Supersede, IDs: p.Supersedes, Other: e.ID, By: by})
				}
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

// consolidatedTo are the patterns that consolidation made of entries, and that stand.
func consolidatedTo(s *entry.State, ids []string) (out []string) {
	if len(ids) == 0 {
		return nil
	}
	s.Each(func(i *entry.Item) bool {
		if i.Type == entry.Pattern && !i.Reverted && i.By.Source == byConsolidation &&
			slices.ContainsFunc(i.DerivedFrom, func(id string) bool { return slices.Contains(ids, id) }) {
			out = append(out, i.ID)
		}
		return true
	})
	return out
}

// byConsolidation is the source of a pattern that was made here.
const byConsolidation = "consolidation"

// piles are an agent's learnings by scope, of which so many of the newest are to be grouped with others.
func (x *index) piles(agent string, since int) (out []learn.Pile) {
	patterns, leaves := map[entry.Scope][]entry.Item{}, map[entry.Scope][]*doc{}
	behind := map[*doc]bool{}
	for _, d := range x.docs {
		if i := &d.item; i.Agent == agent && i.Visible() && i.Type == entry.Pattern && d.slot >= 0 && !i.Scope.IsRun() {
			patterns[i.Scope] = append(patterns[i.Scope], *i)
			for _, id := range i.DerivedFrom {
				if s := x.byID[id]; s != nil && s.item.Scope == i.Scope && x.stands(s) { // what others say that they made of it, counts nothing
					behind[s] = true
				}
			}
		}
	}
	fresh := map[*doc]bool{}
	for _, d := range slices.Backward(x.docs) {
		i := &d.item
		if i.Agent != agent || !i.IsLearning() || d.slot < 0 || i.Scope.IsRun() || !i.Visible() && !behind[d] {
			continue
		}
		leaves[i.Scope] = append(leaves[i.Scope], d)
		fresh[d] = since > 0
		since--
	}
	for _, scope := range slices.Sorted(maps.Keys(leaves)) {
		docs := leaves[scope]
		slices.Reverse(docs)
		items := make([]entry.Item, len(docs))
		for n, d := range docs {
			items[n] = d.item
		}
		out = append(out, learn.Pile{Items: items, Patterns: patterns[scope], Near: newNearness(x, docs), Fresh: func(i int) bool { return fresh[docs[i]] }})
	}
	return out
}

// stands tells whether a pattern may still be made of a learning: nobody forgot or reverted it, or said something better.
func (x *index) stands(d *doc) bool {
	by := x.byID[d.item.SupersededBy]
	return !d.item.Forgotten && !d.item.Reverted && (by == nil || by.item.Type == entry.Pattern)
}
