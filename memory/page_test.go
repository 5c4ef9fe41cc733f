package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/text"
)

// TestLongWorkingMemoryIsSummarized fills a run's working memory beyond its share of a request: the newest notes stand there
// whole, and before them what was decided long before.
func TestLongWorkingMemoryIsSummarized(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	note := func(n int, s string) {
		add(t, m, entry.Entry{ID: fmt.Sprintf("N-%02d", n), Scope: entry.OfRun("r9"), Type: entry.Note, Text: s, Working: true, Session: "r9",
			CreatedAt: start.Add(time.Duration(n) * time.Minute), By: entry.Source{Run: "r9", Step: "plan", Trust: entry.ByAgent}})
	}
	ask := memory.Ask{Task: "build", Viewer: sam, Session: "r9", Budget: 800}
	recalled := func() memory.Recalled {
		t.Helper()
		r, err := m.Recall(ctx, ask)
		if err != nil {
			t.Fatal(err)
		}
		if n := text.Tokens(r.Text); n > ask.Budget || n != r.Tokens {
			t.Errorf("%d tokens, said to be %d, of %d", n, r.Tokens, ask.Budget)
		}
		if r.Text == "" {
			return r
		}
		if ids := headIDs(t, r.Text); !slices.Equal(ids, r.IDs) || !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(r.IDs) {
			t.Errorf("the lines are of %v, the ids are %v", ids, r.IDs)
		}
		return r
	}
	chat := strings.Repeat("We went on and looked at what there was to be seen. ", 5)
	note(1, chat+"We decided never to touch schema.sql, because two services read it. So it was.")
	if r := recalled(); !strings.Contains(r.Text, "So it was.\n") {
		t.Errorf("a note that fits is cut:\n%s", r.Text)
	}
	for n := 2; n <= 40; n++ {
		note(n, fmt.Sprintf("Part %d was read and looked like the parts around it in each and every way that comes to mind.", n))
	}
	r := recalled()
	if want := "[N-01 2026-11-02 note, by run r9 step plan, agent] We decided never to touch schema.sql, because two services read it. So it was. …\n"; !strings.Contains(r.Text, want) {
		t.Fatalf("no %q in\n%s", want, r.Text)
	}
	for n := 37; n <= 40; n++ {
		if want := fmt.Sprintf("Part %d was read and looked like the parts around it in each and every way that comes to mind.\n", n); !strings.Contains(r.Text, want) {
			t.Errorf("note %d is not whole in\n%s", n, r.Text)
		}
	}
	if again := recalled(); again.Text != r.Text {
		t.Errorf("asked again it says\n%s", again.Text)
	}
	if ask.Most = 5; len(recalled().IDs) != 5 {
		t.Errorf("%d entries, 5 are wanted at most", len(recalled().IDs))
	}
	line := r.Text[strings.Index(r.Text, "[N-01"):]
	got, err := m.Add(ctx, entry.Entry{Text: line[:strings.Index(line, "\n")], By: person})
	if err != nil || !got[0].Recalled {
		t.Errorf("what was recalled is stored again: %+v, %v", got, err)
	}
	for budget := 1; budget < 900; budget += 29 {
		ask.Budget, ask.Most = budget, 0
		recalled()
	}
}

// TestLongWorkingMemoryOfAnything: whatever the notes are made of, they keep to the budget and stand in one line each.
func TestLongWorkingMemoryOfAnything(t *testing.T) {
	steady(t)
	ctx := context.Background()
	for _, of := range []string{"日本語", "xyz", "We must keep a/b.go. ", "e\u0301👩\u200d👧 ", "\u200b\u202e. ", "\u2028ab?\n", "[N-01 2026-11-02 note, by run r9, agent] <memory> \n- [x] ok. ", "ｗ。"} {
		m := open(t, t.TempDir(), memory.Options{})
		var es []entry.Entry
		for n := range 40 {
			es = append(es, entry.Entry{ID: fmt.Sprintf("N-%02d", n), Scope: entry.OfRun("r9"), Type: entry.Note, Text: fmt.Sprint(n, " ", strings.Repeat(of, 1+n*37%200)),
				Working: true, Session: "r9", By: entry.Source{Run: "r9", Trust: entry.ByAgent}})
		}
		add(t, m, es...)
		for budget := 1; budget < 3000; budget += 1 + budget/4 {
			r, err := m.Recall(ctx, memory.Ask{Viewer: sam, Session: "r9", Budget: budget})
			if err != nil {
				t.Fatal(err)
			}
			if n := text.Tokens(r.Text); n > budget || n != r.Tokens {
				t.Errorf("%q: %d tokens, said to be %d, of %d", of, n, r.Tokens, budget)
			}
			if r.Text != "" && (!slices.Equal(headIDs(t, r.Text), r.IDs) || strings.Count(r.Text, "\n") != len(r.IDs)+2) {
				t.Errorf("%q in %d: %v stand in\n%s", of, budget, r.IDs, r.Text)
			}
		}
	}
}
