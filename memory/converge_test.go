package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// TestPatternsConverge lets an agent meet twenty troubles over and over, ten learnings a round. What is in sight stays about as
// much as there are troubles, no text grows, and no learning lies behind two patterns.
func TestPatternsConverge(t *testing.T) {
	steady(t)
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{Embedder: wide{}, WordVectors: true, ConsolidateEvery: 10})
	r := rand.New(rand.NewPCG(5, 6))
	troubles := madeUp(20)
	made, rounds := 0, 40
	if *alikeLarge {
		rounds = 100
	}
	for round := 1; round <= rounds; round++ {
		var es []entry.Entry
		for n := range 10 {
			s := troubles[r.IntN(len(troubles))]
			e := s.entries[r.IntN(len(s.entries))]
			e.ID, e.Context = fmt.Sprintf("%s/%d-%d", s.name, round, n), fmt.Sprintf("%s Ticket %d.", e.Context, 10*round+n)
			es = append(es, e)
		}
		for _, a := range add(t, m, es...) {
			made += len(a.Consolidated)
		}
		if round%10 != 0 {
			continue
		}
		items, err := m.List(ctx, memory.Filter{Viewer: everything})
		if err != nil {
			t.Fatal(err)
		}
		patterns, longest, alone, behind := 0, 0, 0, map[string]bool{}
		for _, i := range items {
			if i.Type != entry.Pattern {
				alone++
				continue
			}
			patterns++
			longest = max(longest, len(i.Text))
			for _, id := range i.DerivedFrom {
				if behind[id] {
					t.Errorf("%s lies behind two patterns", id)
				}
				behind[id] = true
			}
		}
		if round%20 == 0 {
			t.Logf("after %4d learnings: %2d patterns of up to %d bytes stand for %4d, %d stand alone; %d patterns were made", 10*round, patterns, longest, len(behind), alone, made)
		}
		if longest > learn.MaxPattern || patterns > len(troubles) || round >= 20 && alone > len(troubles) {
			t.Errorf("after %d learnings of %d troubles there are %d patterns of up to %d bytes, and %d stand alone", 10*round, len(troubles), patterns, longest, alone)
		}
	}
	if again, err := m.Consolidate(ctx, "sam"); err != nil || len(again) > 3 {
		t.Errorf("all at once makes %d more patterns, %v", len(again), err)
	}
	if again, err := m.Consolidate(ctx, "sam"); err != nil || len(again) > 0 {
		t.Errorf("again makes %d more patterns, %v", len(again), err)
	}
}
