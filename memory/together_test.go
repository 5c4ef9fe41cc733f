package memory_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// TestManyAtOnce writes, reads and recalls from several goroutines, over two memories on one folder.
func TestManyAtOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	o := memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true, ConsolidateEvery: 5}
	var both [2]*memory.Memory
	for n := range both {
		o := o
		clock := start
		var mu sync.Mutex
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); clock = clock.Add(1); return clock }
		both[n] = open(t, dir, o)
	}
	const writers, each = 4, 15
	var all sync.WaitGroup
	for w := range writers {
		m, agent := both[w%2], fmt.Sprint("agent", w)
		v := memory.Viewer{Scopes: []entry.Scope{entry.OfAgent(agent)}}
		all.Go(func() {
			for n := range each {
				e := failure(agent, fmt.Sprintf("%s, as %s saw in case %d", subjects[n%len(subjects)], agent, n))
				e.ID = fmt.Sprintf("%s-%d", agent, n)
				if _, err := m.Add(ctx, e); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for n := range each {
				hits, err := m.Search(ctx, memory.Query{Text: subjects[n%len(subjects)], Viewer: v})
				if err != nil {
					t.Error(err)
				}
				for _, h := range hits {
					if h.Agent != agent {
						t.Errorf("%s sees %s", agent, h.ID)
					}
				}
				if _, err := m.Recall(ctx, memory.Ask{Task: subjects[n%len(subjects)], Viewer: v}); err != nil {
					t.Error(err)
				}
				if _, err := m.Stats(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, m := range both {
		learnings := 0
		items, err := m.List(ctx, memory.Filter{Viewer: everything, Everything: true})
		for _, i := range items {
			if i.IsLearning() {
				learnings += i.Count
			}
		}
		if err != nil || learnings != writers*each {
			t.Errorf("%d learnings are there, %v; want %d", learnings, err, writers*each)
		}
	}
	if a, b := answers(t, both[0]), answers(t, both[1]); a != b {
		t.Errorf("the two answer otherwise:\n%s\n%s", a, b)
	}
}

// TestWrittenAgainAfterARevert puts other text under an id whose entry was reverted.
func TestWrittenAgainAfterARevert(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true})
	add(t, m, entry.Entry{ID: "a", Text: "The proxy is slow.", By: person})
	if _, err := m.Revert(ctx, memory.Selector{IDs: []string{"a"}}, person, ""); err != nil {
		t.Fatal(err)
	}
	if got := add(t, m, entry.Entry{ID: "a", Text: "The vault is closed.", By: person})[0]; got.Known {
		t.Fatalf("%+v", got)
	}
	for text, want := range map[string]string{"proxy": "", "vault": "a"} { // any order: each is for itself
		hits, err := m.Search(ctx, memory.Query{Text: text})
		if err != nil || want != ids(hits) && hits[0].Parts.Words > 0 {
			t.Errorf("%s finds %q, %v; want %q", text, ids(hits), err, want)
		}
	}
}
