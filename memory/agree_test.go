package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// TestConsolidationAgrees consolidates copies of random stores in one go, with a cache that was lost, beside what another
// agent learned in a run, and from two processes at once: all come to the same patterns.
func TestConsolidationAgrees(t *testing.T) {
	ctx := context.Background()
	o := memory.Options{Embedder: wide{}, WordVectors: true}
	patterns := 0
	for seed := range uint64(max(2, *walkSeeds/4)) {
		pile := draw(rand.New(rand.NewPCG(seed, 9)), madeUp(25), 1000)
		full := t.TempDir()
		m := open(t, full, o)
		add(t, m, pile...)
		m.Close()
		copied := func(how func(dir string)) []string {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(full)); err != nil {
				t.Fatal(err)
			}
			how(dir)
			m := open(t, dir, o)
			if again, err := m.Consolidate(ctx, "sam"); err != nil || len(again) > 0 {
				t.Errorf("seed %d: again makes %v, %v", seed, again, err)
			}
			got := patternsOf(t, m)
			slices.Sort(got)
			m.Close()
			return got
		}
		consolidate := func(m *memory.Memory) {
			defer m.Close()
			if _, err := m.Consolidate(ctx, "sam"); err != nil {
				t.Error(err)
			}
		}
		want := copied(func(dir string) { consolidate(open(t, dir, o)) })
		patterns += len(want)
		for name, how := range map[string]func(dir string){ // any order: each is a store of its own
			"without a cache": func(dir string) {
				files, err := os.ReadDir(dir)
				for _, f := range files {
					if f.Name() != "memory.db" && err == nil {
						err = os.RemoveAll(dir + "/" + f.Name())
					}
				}
				if err != nil {
					t.Error(err)
				}
				consolidate(open(t, dir, o))
			},
			"two at once": func(dir string) {
				var both sync.WaitGroup
				for range 2 {
					m := open(t, dir, o)
					both.Go(func() { consolidate(m) })
				}
				both.Wait()
			},
			"beside another's": func(dir string) {
				var es []entry.Entry
				for _, e := range pile[:20] {
					e.ID, e.Agent, e.Scope, e.By.Run = "leo-"+e.ID, "leo", entry.OfRun("r7"), "r7"
					es = append(es, e)
				}
				m := open(t, dir, o)
				add(t, m, es...)
				consolidate(m)
			},
		} {
			if got := copied(how); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("seed %d, %s: %d patterns, want %d\n%v\n%v", seed, name, len(got), len(want), got, want)
			}
		}
	}
	t.Logf("%d patterns", patterns)
	if patterns == 0 {
		t.Error("there were none")
	}
}
