package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
)

// editor is a worder for tests.
type editor func(lessons []string) (string, []int, error)

func (w editor) Word(lessons []string) (string, []int, error) { return w(lessons) }

const betterWords = "Let the nightly backup finish before migrating."

func wordsWell(lessons []string) (string, []int, error) { return betterWords, []int{1, 2}, nil }

var byEditor = entry.Source{Run: "r1", Source: "editor", Author: "agent:ed", Trust: entry.ByRule}

// withPatterns is a memory with a pattern for each agent, made in their order, and the patterns' ids.
func withPatterns(t *testing.T, dir string, o memory.Options, agents ...string) (*memory.Memory, []string) {
	t.Helper()
	m := open(t, dir, o)
	var ids []string
	for _, agent := range agents {
		for _, lesson := range []string{"The nightly backup locks the database: run the migration once it is over.",
			"The nightly backup locks the database at two, so the migration has to wait for it."} {
			e := failure(agent, lesson)
			e.Tags = []string{"migration", "backup"}
			add(t, m, e)
		}
		made, err := m.Consolidate(context.Background(), agent)
		if err != nil || len(made) != 1 {
			t.Fatalf("patterns %v, %v", made, err)
		}
		ids = append(ids, made...)
	}
	return m, ids
}

func reword(t *testing.T, m *memory.Memory, w learn.Worder, o memory.Wording) []string {
	t.Helper()
	o.Viewer, o.By = everything, byEditor
	if o.Most == 0 {
		o.Most = 5
	}
	worded, err := m.Reword(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return worded
}

func shown(t *testing.T, m *memory.Memory, id string) (entry.Item, []entry.Record) {
	t.Helper()
	i, history, err := m.Show(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return i, history
}

func TestRewordPutsOtherWordsInPlaceOfTheTemplate(t *testing.T) {
	dir := t.TempDir()
	f := &fake{model: "fake"}
	m, ids := withPatterns(t, dir, memory.Options{Embedder: f, WordVectors: true}, "a")
	before, _ := shown(t, m, ids[0])
	if got := reword(t, m, editor(wordsWell), memory.Wording{}); !slices.Equal(got, ids) {
		t.Fatalf("worded %v", got)
	}
	if got := reword(t, m, editor(wordsWell), memory.Wording{Again: true}); len(got) != 0 {
		t.Errorf("what is worded is worded again: %v", got)
	}
	for range 2 { // the second time from disk
		i, history := shown(t, m, ids[0])
		if i.Auto || i.Text != "Seen 2 times (2 failures, 0 successes), last 2026-11-02: "+betterWords || i.Conflict != before.Conflict || !slices.Equal(i.DerivedFrom, before.DerivedFrom) {
			t.Errorf("%+v", i)
		}
		if len(history) < 2 || history[0].Entry.Text != before.Text || history[len(history)-1].Op != entry.Reword || history[len(history)-1].By != byEditor {
			t.Errorf("the history %+v", history)
		}
		hits, err := m.Search(context.Background(), memory.Query{Text: "finish migrating", Viewer: everything})
		if err != nil || len(hits) == 0 || hits[0].ID != ids[0] || hits[0].Parts.Meaning == 0 {
			t.Errorf("the new words find %+v, %v", hits, err)
		}
		if m.Pending() != 0 {
			t.Error("the new text has no vectors")
		}
		m.Close()
		m = open(t, dir, memory.Options{Embedder: f, WordVectors: true})
	}
}

func TestRewordGoesFromTheNewestAndNoFurtherThanItMay(t *testing.T) {
	m, ids := withPatterns(t, t.TempDir(), memory.Options{}, "a", "b", "c")
	worded, err := m.Reword(context.Background(), editor(wordsWell), memory.Wording{Viewer: memory.Viewer{Scopes: []entry.Scope{"agent:a", "agent:b"}}, Most: 1, By: byEditor})
	if err != nil || !slices.Equal(worded, ids[1:2]) {
		t.Errorf("worded %v of %v, %v", worded, ids, err)
	}
	for _, trust := range []entry.Trust{entry.Untrusted, entry.ByAgent} {
		by := byEditor
		by.Trust = trust
		if _, err := m.Reword(context.Background(), editor(wordsWell), memory.Wording{Viewer: everything, Most: 1, By: by}); !errors.Is(err, memory.ErrNotAllowed) {
			t.Errorf("trusted as %q: %v", trust, err)
		}
	}
	if got := reword(t, m, editor(wordsWell), memory.Wording{}); !slices.Equal(got, []string{ids[2], ids[0]}) {
		t.Errorf("worded %v of %v", got, ids)
	}
}

func TestRewordSendsNothingOfARunsScope(t *testing.T) {
	m := open(t, t.TempDir(), memory.Options{})
	by := entry.Source{Run: "r1", Author: "agent:mallory"}
	sources := add(t, m, entry.Entry{Type: entry.Failure, Lesson: "first lie", By: by}, entry.Entry{Type: entry.Failure, Lesson: "second lie", By: by})
	add(t, m, entry.Entry{Type: entry.Pattern, Text: "lies", Auto: true, DerivedFrom: []string{sources[0].ID, sources[1].ID}, By: by})
	reword(t, m, editor(func(l []string) (string, []int, error) {
		t.Errorf("%q was sent", l)
		return "", nil, nil
	}), memory.Wording{})
}

// TestRewordKeepsTheTemplate: an answer that does not serve is asked for once, a worder that fails again the next time.
func TestRewordKeepsTheTemplate(t *testing.T) {
	dir := t.TempDir()
	m, ids := withPatterns(t, dir, memory.Options{}, "a", "b")
	before, _ := shown(t, m, ids[0])
	asked := 0
	w := func(text string, cites []int, err error) editor {
		return func([]string) (string, []int, error) { asked++; return text, cites, err }
	}
	all := memory.Wording{Viewer: everything, Most: 5, By: byEditor}
	ctx := context.Background()
	down := errors.New("no network")
	if _, err := m.Reword(ctx, w("", nil, down), all); !errors.Is(err, down) || asked != 1 {
		t.Errorf("a worder that fails is asked %d times: %v", asked, err)
	}
	worded, err := m.Reword(ctx, w("Fine.", []int{7}, nil), all)
	if !errors.Is(err, learn.ErrRefused) || len(worded) != 0 || asked != 3 || !strings.Contains(err.Error(), ids[0]) || !strings.Contains(err.Error(), ids[1]) {
		t.Errorf("asked %d times: %v, %v", asked, worded, err)
	}
	m.Close()
	m = open(t, dir, memory.Options{})
	if i, h := shown(t, m, ids[0]); i.Text != before.Text || !i.Auto || h[len(h)-1].Other != "" || !strings.Contains(h[len(h)-1].Reason, "cites source 7 of 2") {
		t.Errorf("%+v %+v", i, h)
	}
	if reword(t, m, w(betterWords, []int{1}, nil), memory.Wording{}); asked != 3 {
		t.Error("what was refused is asked for again")
	}
	if _, err := m.Reword(ctx, w("Fine.", []int{7}, nil), memory.Wording{Viewer: everything, Most: 5, By: byEditor, Again: true}); !errors.Is(err, learn.ErrRefused) || asked != 5 {
		t.Errorf("by hand each is asked for once more: asked %d times: %v", asked, err)
	}
	if got := reword(t, m, w(betterWords, []int{1}, nil), memory.Wording{Again: true}); len(got) != 2 {
		t.Errorf("by hand it is not: %v", got)
	}
}

// TestRewordOfWhatChangedMeanwhile: the worder is asked without a lock, so anything can happen while it thinks.
func TestRewordOfWhatChangedMeanwhile(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(m *memory.Memory, p entry.Item) error{
		"forgotten":          func(m *memory.Memory, p entry.Item) error { return m.Forget(ctx, []string{p.ID}, person, "") },
		"a source forgotten": func(m *memory.Memory, p entry.Item) error { return m.Forget(ctx, p.DerivedFrom[:1], person, "") },
		"a source shown to all": func(m *memory.Memory, p entry.Item) error {
			return m.Promote(ctx, p.DerivedFrom[:1], entry.Shared, person)
		},
		"reverted": func(m *memory.Memory, p entry.Item) error {
			_, err := m.Revert(ctx, memory.Selector{IDs: []string{p.ID}}, person, "")
			return err
		},
		"superseded": func(m *memory.Memory, p entry.Item) error {
			_, err := m.Supersede(ctx, []string{p.ID}, entry.Entry{Text: "by hand"}, person)
			return err
		},
		"worded by another process": func(m *memory.Memory, p entry.Item) error {
			_, err := m.Reword(ctx, editor(func([]string) (string, []int, error) { return "Others were faster.", []int{1}, nil }), memory.Wording{Viewer: everything, Most: 1, By: byEditor})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m, ids := withPatterns(t, dir, memory.Options{}, "a")
			other := open(t, dir, memory.Options{})
			var then entry.Item
			got := reword(t, m, editor(func([]string) (string, []int, error) {
				p, _ := shown(t, other, ids[0])
				if err := change(other, p); err != nil {
					t.Error(err)
				}
				then, _ = shown(t, other, ids[0])
				return betterWords, []int{1, 2}, nil
			}), memory.Wording{})
			if now, _ := shown(t, m, ids[0]); len(got) != 0 || now.Text != then.Text {
				t.Errorf("worded %v: %q, it was %q", got, now.Text, then.Text)
			}
		})
	}
}

func TestARewordingIsReverted(t *testing.T) {
	for name, which := range map[string]memory.Selector{
		"by its run": {Run: "r1"}, "by its author": {Author: "agent:ed"}, "by its time": {},
	} {
		t.Run(name, func(t *testing.T) {
			m, ids := withPatterns(t, t.TempDir(), memory.Options{}, "a")
			before, _ := shown(t, m, ids[0])
			reword(t, m, editor(wordsWell), memory.Wording{})
			if _, h := shown(t, m, ids[0]); name == "by its time" {
				which.Since = h[len(h)-1].At
			}
			got, err := m.Revert(context.Background(), which, person, "bad words")
			if err != nil || !slices.Equal(got, ids) {
				t.Fatalf("reverted %v, %v", got, err)
			}
			if i, _ := shown(t, m, ids[0]); i.Text != before.Text || !i.Auto || !i.Visible() {
				t.Errorf("%+v", i)
			}
			if got, err := m.Revert(context.Background(), which, person, ""); err != nil || len(got) != 0 {
				t.Errorf("again: %v, %v", got, err)
			}
			if got := reword(t, m, editor(wordsWell), memory.Wording{}); len(got) != 0 {
				t.Errorf("what a person took back is worded again unasked: %v", got)
			}
		})
	}
	m, ids := withPatterns(t, t.TempDir(), memory.Options{}, "a")
	reword(t, m, editor(wordsWell), memory.Wording{})
	if _, err := m.Revert(context.Background(), memory.Selector{IDs: ids}, person, ""); err != nil {
		t.Fatal(err)
	}
	if i, _ := shown(t, m, ids[0]); !i.Reverted {
		t.Error("a pattern that is named is not reverted as a whole")
	}
}

// TestRewordedIsSearchedAlike: whether a memory saw a rewording happen or read it from disk, it answers alike.
func TestRewordedIsSearchedAlike(t *testing.T) {
	dir := t.TempDir()
	o := memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true}
	m, _ := withPatterns(t, dir, o, "a", "b", "c")
	reword(t, m, editor(wordsWell), memory.Wording{Most: 2})
	fresh := open(t, dir, o)
	for _, q := range []string{"finish the nightly migration", "backup", "locks the database"} {
		x, err1 := m.Search(context.Background(), memory.Query{Text: q, Viewer: everything})
		y, err2 := fresh.Search(context.Background(), memory.Query{Text: q, Viewer: everything})
		if fmt.Sprint(x, err1) != fmt.Sprint(y, err2) || len(x) == 0 {
			t.Errorf("%q finds\n%v\nand from disk\n%v", q, x, y)
		}
	}
}

// TestRewordThatIsCutOff: what ends between the answer and its record leaves the template, and the next one asks again.
func TestRewordThatIsCutOff(t *testing.T) {
	dir := t.TempDir()
	m, ids := withPatterns(t, dir, memory.Options{}, "a")
	before, _ := shown(t, m, ids[0])
	worded, err := m.Reword(context.Background(), editor(func(l []string) (string, []int, error) {
		m.Close()
		return wordsWell(l)
	}), memory.Wording{Viewer: everything, Most: 5, By: byEditor})
	if err == nil || len(worded) != 0 {
		t.Errorf("%v, %v", worded, err)
	}
	m = open(t, dir, memory.Options{})
	if i, history := shown(t, m, ids[0]); i.Text != before.Text || !i.Auto || history[len(history)-1].Op == entry.Reword {
		t.Errorf("%+v", i)
	}
	if got := reword(t, m, editor(wordsWell), memory.Wording{}); !slices.Equal(got, ids) {
		t.Errorf("worded %v", got)
	}
}
