package memory_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// tenOfSam are learnings of three subjects, in turn, and one that stands alone.
func tenOfSam() (out []entry.Entry) {
	for n := range 9 {
		e := failure("sam", fmt.Sprintf("In the nightly job %s, seen in case number %d", subjects[n%3], n))
		e.ID, e.Tags = fmt.Sprintf("s%d", n), []string{fmt.Sprint("subject", n%3)}
		out = append(out, e)
	}
	alone := failure("sam", "Whales sing at night.")
	alone.ID = "alone"
	return append(out, alone)
}

// TestTenLearningsBecomePatterns counts over a restart, and over a death between the tenth learning and the consolidation.
func TestTenLearningsBecomePatterns(t *testing.T) {
	ctx := context.Background()
	for name, crash := range map[string]bool{"with a restart": false, "with a death before it is done": true} {
		dir := t.TempDir()
		o := memory.Options{ConsolidateEvery: 10, Embedder: &fake{model: "fake"}, WordVectors: true}
		es := tenOfSam()
		m := open(t, dir, o)
		for _, got := range add(t, m, es[:9]...) {
			if len(got.Consolidated) > 0 {
				t.Fatalf("%s: nine made %v", name, got.Consolidated)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if crash { // the tenth is durable, and that was all
			o := o
			o.ConsolidateEvery = 0
			m = open(t, dir, o)
			add(t, m, es[9])
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			es = append(es, entry.Entry{ID: "known", Type: entry.Insight, Agent: "sam", Scope: entry.OfAgent("sam"), Lesson: "Tea helps.", By: rule})
		}
		m = open(t, dir, o)
		made := add(t, m, es[len(es)-1])[0].Consolidated
		if len(made) != 3 {
			t.Fatalf("%s: made %v, want a pattern for each of three subjects", name, made)
		}
		for _, e := range tenOfSam() {
			i := item(t, m, e.ID)
			if stands := i.SupersededBy == "" && e.ID == "alone" || slices.Contains(made, i.SupersededBy); !stands {
				t.Errorf("%s: %s is superseded by %q", name, e.ID, i.SupersededBy)
			}
		}
		for range 2 {
			if again, err := m.Consolidate(ctx, "sam"); err != nil || len(again) > 0 {
				t.Errorf("%s: consolidating again made %v, %v", name, again, err)
			}
		}
		hidden, err := m.Search(ctx, memory.Query{Text: "case number 4 of the nightly job", K: 50, Viewer: sam})
		if err != nil || slices.ContainsFunc(hidden, func(h memory.Hit) bool { return h.SupersededBy != "" }) {
			t.Errorf("%s: found %s, %v; want nothing that a pattern stands for", name, ids(hidden), err)
		}
		all, err := m.Search(ctx, memory.Query{Text: "case number 4 of the nightly job", K: 50, Viewer: sam, Everything: true})
		if err != nil || !slices.ContainsFunc(all, func(h memory.Hit) bool { return h.ID == "s4" }) {
			t.Errorf("%s: of everything found %s, %v; want s4 too", name, ids(all), err)
		}
	}
}

func TestContradictionsStayInSight(t *testing.T) {
	m := open(t, t.TempDir(), memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true})
	a, b := failure("sam", "Restart the proxy before the upload of the nightly job."), failure("sam", "Restart the proxy before the upload of the nightly job!")
	a.ID, b.ID, b.Type = "no", "yes", entry.Success
	a.Tags, b.Tags = []string{"proxy"}, []string{"proxy"}
	add(t, m, a, b)
	made := consolidated(t, m)
	if p := item(t, m, made); !p.Conflict || !slices.Equal(p.DerivedFrom, []string{"no", "yes"}) {
		t.Errorf("the pattern is %+v", p.Entry)
	}
	for _, id := range []string{"no", "yes"} {
		if i := item(t, m, id); !i.Visible() {
			t.Errorf("one side of a contradiction is hidden: %s", id)
		}
	}
	if err := m.Forget(context.Background(), []string{made}, person, ""); err != nil {
		t.Fatal(err)
	}
	if again, err := m.Consolidate(context.Background(), "sam"); err != nil || len(again) != 0 {
		t.Errorf("what was forgotten of it comes back as %v, %v", again, err)
	}
}

func TestNearRepeatsAreLinked(t *testing.T) {
	m := open(t, t.TempDir(), memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true})
	a, b := failure("sam", "Restart the proxy before the upload of the nightly job."), failure("sam", "Restart the proxy before uploads of the nightly job.")
	other, success := a, b
	a.ID, b.ID, other.ID, success.ID = "a", "b", "other", "success"
	other.Scope, other.Agent, success.Type = entry.OfAgent("leo"), "leo", entry.Success
	add(t, m, a, other, success)
	if got := add(t, m, b)[0]; !slices.Equal(got.Linked, []string{"a"}) {
		t.Errorf("linked to %v, want a: of its type, agent and scope", got.Linked)
	}
	if i := item(t, m, "a"); !slices.Equal(i.Repeats, []string{"b"}) {
		t.Errorf("a's near repeats are %v", i.Repeats)
	}
}

func TestShortTermIsWhicheverIsFewer(t *testing.T) {
	ctx := context.Background()
	now := start
	m := open(t, t.TempDir(), memory.Options{ShortTerm: memory.ShortTerm{Tasks: 5, Age: 48 * time.Hour}, Now: func() time.Time { return now }})
	for n := range 12 {
		now = start.Add(time.Duration(n) * time.Hour)
		e := failure("sam", fmt.Sprintf("Lesson of task %d.", n/2)) // two steps' attempts of one task each
		e.ID, e.By.Run, e.By.Step = fmt.Sprint(n), fmt.Sprint("run", n/2), "build"
		e.Observation = fmt.Sprint("attempt ", n)
		add(t, m, e)
	}
	if err := m.Pin(ctx, []string{"0"}, person, ""); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration][]string{ // any order: each is asked for itself
		11 * time.Hour: {"0", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
		55 * time.Hour: {"0", "7", "8", "9", "10", "11"},
		90 * time.Hour: {"0"},
	} {
		now = start.Add(after)
		items, err := m.ShortTerm(ctx, sam)
		var got []string
		for _, i := range items {
			got = append(got, i.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("after %v: %v, %v; want %v", after, got, err, want)
		}
	}
}

func TestWorkingMemoryIsFoundWhenItIsOver(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	f := &fake{model: "fake"}
	o := memory.Options{Embedder: f, WordVectors: true}
	m := open(t, dir, o)
	note := entry.Entry{ID: "n", Type: entry.Decision, Text: "The port is 8080.", Working: true, Session: "r9", Scope: entry.OfRun("r9"), By: rule}
	add(t, m, note)
	if err := m.Close(); err != nil { // a crash and a resume see the same
		t.Fatal(err)
	}
	m = open(t, dir, o)
	if got, err := m.Working(ctx, "r9"); err != nil || len(got) != 1 || got[0].ID != "n" {
		t.Fatalf("working memory is %v, %v", got, err)
	}
	find := func(everything bool) string {
		hits, err := m.Search(ctx, memory.Query{Text: "which port?", Viewer: sam, Everything: everything})
		if err != nil {
			t.Fatal(err)
		}
		return ids(hits)
	}
	if got := find(true); got != "" {
		t.Errorf("at work, a search finds %q", got)
	}
	for range 2 {
		if err := m.Archive(ctx, "r9", rule); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := m.Working(ctx, "r9"); err != nil || len(got) != 0 {
		t.Errorf("when it is over, working memory is %v, %v", got, err)
	}
	if hits, err := m.Search(ctx, memory.Query{Text: "which port?", Viewer: sam, Everything: true}); err != nil || len(hits) != 1 || hits[0].Parts.Meaning <= 0 {
		t.Errorf("when it is over it has vectors: %+v, %v", hits, err)
	}
	if a, b := find(true), find(false); a != "n" || b != "" {
		t.Errorf("when it is over, everything has %q and the rest %q", a, b)
	}
}

func TestTheDirectionIsFittedToTheStoreAlone(t *testing.T) {
	for n, want := range map[int]int{0: 0, 49: 0, 50: 50, 54: 50, 55: 55, 60: 60, 65: 60, 66: 66, 10000: 9535} { // any order: each is for itself
		if got := memory.FitSize(n); got != want {
			t.Errorf("of %d texts it is fitted to %d, want %d", n, got, want)
		}
	}
	for n := 50; n < 5000; n++ {
		if got := memory.FitSize(n); got > n || 10*got < 9*n-10 {
			t.Fatalf("of %d texts it is fitted to %d", n, got)
		}
	}
}

// What went wrong in the last tasks is recalled unasked, also once it is consolidated: as the pattern, once for all of them.
// What a better entry stands for is told by that, and what is forgotten not at all.
func TestConsolidatingForgetsNothingOfShortTerm(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{ConsolidateEvery: 9, Embedder: &fake{model: "fake"}, WordVectors: true, ShortTerm: memory.ShortTerm{Tasks: 9, Age: 48 * time.Hour}})
	recalled := func() []string {
		t.Helper()
		r, err := m.Recall(ctx, memory.Ask{Task: "Paint the fence.", Viewer: sam, Budget: 4000})
		if err != nil {
			t.Fatal(err)
		}
		return r.IDs
	}
	es := tenOfSam()[:9]
	add(t, m, es[:8]...)
	if got := recalled(); len(got) != 8 {
		t.Fatalf("before: %v", got)
	}
	patterns := add(t, m, es[8])[0].Consolidated
	got := recalled()
	slices.Sort(got)
	slices.Sort(patterns)
	if len(patterns) != 3 || !slices.Equal(got, patterns) {
		t.Fatalf("recalled %v, the patterns are %v", got, patterns)
	}
	better, err := m.Supersede(ctx, patterns[:1], entry.Entry{Type: entry.Insight, Agent: "sam", Scope: entry.OfAgent("sam"), Lesson: "Mind the ladder."}, person)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(ctx, patterns[1:2], person, ""); err != nil {
		t.Fatal(err)
	}
	if got := recalled(); !slices.Contains(got, better) || !slices.Contains(got, patterns[2]) || slices.Contains(got, patterns[0]) || slices.Contains(got, patterns[1]) {
		t.Errorf("recalled %v; %v is now %s and %s is forgotten", got, patterns[0], better, patterns[1])
	}
}
