package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/entry"
)

var (
	person = entry.Source{Author: "user:ada", Trust: entry.ByPerson, Source: "cli"}
	rule   = entry.Source{Author: "flowrun", Trust: entry.ByRule, Source: "result"}
	start  = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
)

// everything is the viewer at the command line.
var everything = memory.Viewer{All: true}

func open(t *testing.T, dir string, o memory.Options) *memory.Memory {
	t.Helper()
	if o.Now == nil {
		at := start
		o.Now = func() time.Time { at = at.Add(time.Second); return at }
	}
	if o.Warn == nil {
		o.Warn = func(s string) { t.Errorf("unexpected warning: %s", s) }
	}
	m, err := memory.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func add(t *testing.T, m *memory.Memory, es ...entry.Entry) []memory.Added {
	t.Helper()
	out, err := m.Add(context.Background(), es...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func failure(agent, lesson string) entry.Entry {
	return entry.Entry{Agent: agent, Scope: entry.OfAgent(agent), Type: entry.Failure, Lesson: lesson, By: rule}
}

func ids(hits []memory.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func TestAddSearchAndOpenAgain(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []memory.Options{{}, {WordVectors: true}, {WordVectors: true, Embedder: embed.Default()}} {
		m := open(t, dir, o)
		added := add(t, m,
			entry.Entry{ID: "a", Text: "The database was locked by a backup.", By: person},
			entry.Entry{ID: "b", Text: "Deploys on Friday need a second pair of eyes.", By: person})
		if len(added) != 2 || added[0].ID != "a" || added[1].ID != "b" {
			t.Fatalf("added %+v", added)
		}
		hits, err := m.Search(context.Background(), memory.Query{Text: "which backup locked the database?"})
		if err != nil || len(hits) == 0 || hits[0].ID != "a" {
			t.Fatalf("found %v, %v", ids(hits), err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAddAgain(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	add(t, m, entry.Entry{ID: "a", Text: "one", By: person})
	if got := add(t, m, entry.Entry{ID: "a", Text: "one", By: rule})[0]; !got.Known {
		t.Errorf("the same again: %+v, want it known", got)
	}
	if _, err := m.Add(ctx, entry.Entry{ID: "n", Text: "new", By: person}, entry.Entry{ID: "a", Text: "two", By: person}); !errors.Is(err, memory.ErrExists) {
		t.Errorf("another text under a's id: %v", err)
	}
	if _, _, err := m.Show(ctx, "n"); !errors.Is(err, memory.ErrNoEntry) {
		t.Errorf("a batch with an error was kept in part: %v", err)
	}
	if err := m.Forget(ctx, []string{"a"}, person, "private"); err != nil {
		t.Fatal(err)
	}
	if got := add(t, m, entry.Entry{ID: "a", Text: "one", By: person})[0]; !got.Known {
		t.Errorf("what was forgotten came back: %+v", got)
	}
}

func TestRepeatsCountUpOnce(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	first := failure("sam", "Run the migration before the tests.")
	first.ID = "run-1/build"
	add(t, m, first)
	again := failure("sam", "run the migration  before the tests")
	again.ID = "run-2/build"
	for range 3 { // a crash may make a caller write it again
		if got := add(t, m, again)[0]; got.ID != again.ID && got.ID != first.ID {
			t.Fatalf("%+v", got)
		}
	}
	i, _, err := m.Show(ctx, first.ID)
	if err != nil || i.Count != 2 {
		t.Errorf("seen %d times, %v; want 2", i.Count, err)
	}
	other := failure("leo", "Run the migration before the tests.")
	if got := add(t, m, other)[0]; got.Repeat {
		t.Errorf("a repeat reached another agent's entry: %+v", got)
	}
}

// A lesson that an agent says in each run is one lesson once it is promoted, and a revert of one of the runs leaves the others'.
func TestPromotedRepeatsCountUp(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	rule := entry.Source{Source: "promote", Author: "flowrun", Trust: entry.ByRule}
	for _, run := range []string{"r1", "r2", "r3"} {
		e := failure("sam", "Mind the ladder.")
		e.ID, e.Scope, e.By = "of "+run, entry.OfRun(run), entry.Source{Run: run, Author: "agent:sam", Trust: entry.ByRule}
		other := e
		other.ID, other.Lesson = "other of "+run, "Mind the paint of "+run+"."
		add(t, m, e, other)
		by := rule
		by.Run = run
		for range 2 { // a crash, and again
			if err := m.Promote(ctx, []string{e.ID, other.ID}, entry.OfAgent("sam"), by); err != nil {
				t.Fatal(err)
			}
		}
	}
	count := func(id string) (n int, hidden bool) {
		i := item(t, m, id)
		return i.Count, !i.Visible()
	}
	if n, hidden := count("of r1"); n != 3 || hidden {
		t.Errorf("the first is seen %d times, hidden %v; want 3 and not", n, hidden)
	}
	for _, id := range []string{"of r2", "of r3"} {
		if _, hidden := count(id); !hidden {
			t.Errorf("%s stands beside what it repeats", id)
		}
	}
	if _, hidden := count("other of r3"); hidden {
		t.Error("another lesson is hidden")
	}
	if _, err := m.Revert(ctx, memory.Selector{Run: "r3"}, person, ""); err != nil {
		t.Fatal(err)
	}
	if n, _ := count("of r1"); n != 2 {
		t.Errorf("without r3 it is seen %d times, want 2", n)
	}
	if _, err := m.Revert(ctx, memory.Selector{IDs: []string{"of r1"}}, person, ""); err != nil {
		t.Fatal(err)
	}
	if i := item(t, m, "of r2"); !i.Visible() || i.Scope != entry.OfAgent("sam") {
		t.Errorf("what the second run said is not back: %+v", i)
	}
}

// TestEntriesAreTakenUpToTheirBounds adds entries with as much of something as there may be, and with one more.
func TestEntriesAreTakenUpToTheirBounds(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		most int
		set  func(e *entry.Entry, n int)
	}{
		"text":    {memory.MaxText, func(e *entry.Entry, n int) { e.Text, e.Lesson = long(n-9), long(9) }},
		"id":      {memory.MaxID, func(e *entry.Entry, n int) { e.ID = long(n) }},
		"agent":   {memory.MaxID, func(e *entry.Entry, n int) { e.Agent = long(n) }},
		"session": {memory.MaxID, func(e *entry.Entry, n int) { e.Session = long(n) }},
		"scope":   {memory.MaxID, func(e *entry.Entry, n int) { e.Scope = entry.OfGroup(long(n)) }},
		"tag":     {memory.MaxTag, func(e *entry.Entry, n int) { e.Tags = []string{long(n)} }},
		"tags": {memory.MaxTags, func(e *entry.Entry, n int) {
			for i := range n {
				e.Tags = append(e.Tags, fmt.Sprint("t", i))
			}
		}},
	} {
		m := open(t, t.TempDir(), memory.Options{})
		for n, want := range map[int]error{c.most: nil, c.most + 1: memory.ErrBad} {
			e := entry.Entry{Text: name, By: person}
			c.set(&e, n)
			if _, err := m.Add(context.Background(), e); !errors.Is(err, want) {
				t.Errorf("%s of %d: %v, want %v", name, n, err, want)
			}
		}
	}
}

func TestNothingIsNamed(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	for what, err := range map[string]error{"pin": m.Pin(ctx, nil, person, ""), "forget": m.Forget(ctx, nil, person, ""), "add": second(m.Add(ctx))} {
		if err != nil {
			t.Errorf("%s of nothing: %v", what, err)
		}
	}
	if _, err := m.Supersede(ctx, nil, entry.Entry{Text: "x"}, person); !errors.Is(err, memory.ErrBad) {
		t.Errorf("supersede of nothing: %v", err)
	}
	if _, err := m.Revert(ctx, memory.Selector{}, person, ""); !errors.Is(err, memory.ErrBad) {
		t.Errorf("revert of nothing: %v", err)
	}
}

func TestNamesAreGivenByContent(t *testing.T) {
	m := open(t, t.TempDir(), memory.Options{Now: func() time.Time { return start }})
	a := add(t, m, entry.Entry{Text: "one", By: person})[0]
	b := add(t, m, entry.Entry{Text: "two", By: person})[0]
	if !strings.HasPrefix(a.ID, "M-") || len(a.ID) != 10 || a.ID == b.ID {
		t.Errorf("ids %q and %q", a.ID, b.ID)
	}
}

func TestImportOfManyAndSearch(t *testing.T) {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, `{"id":"D1:%d","text":"turn %d speaks of subject x%dy and more","session":"s%d"}`+"\n", n, n, n*7, n/50)
	}
	dir := t.TempDir()
	m := open(t, dir, memory.Options{WordVectors: true})
	for round := range 2 {
		got, err := m.Import(context.Background(), strings.NewReader(b.String()), memory.ImportOptions{Name: "f.jsonl"})
		if err != nil || got.Lines != 1000 || round == 0 && got.Added != 1000 || round == 1 && got.Known != 1000 {
			t.Fatalf("round %d: %+v, %v", round, got, err)
		}
	}
	hits, err := m.Search(context.Background(), memory.Query{Text: "subject x3500y", Viewer: everything})
	if err != nil || hits[0].ID != "D1:500" {
		t.Fatalf("found %s, %v", ids(hits), err)
	}
}

// Of a thousand learnings the right one is among the first five though the question has none of its words, also after the memory was opened
// again. Nothing is asked over a network: word vectors are in the binary.
func TestLearningsAreFoundByMeaning(t *testing.T) {
	right := map[string]string{
		"The certificate had expired, so clients refused the connection.": "old TLS credentials rejected by browsers",
		"A full disk stopped the nightly copy of the database.":           "no storage space left for backups of tables",
		"Rain and storms made the trains late.":                           "bad weather delays railway",
	}
	things := []string{"button", "menu", "invoice", "ticket", "label", "chart", "form", "list", "page", "report"}
	verbs := []string{"was renamed", "moved left", "is green now", "has a border", "was translated"}
	var b strings.Builder
	for n := range 1000 - len(right) {
		fmt.Fprintf(&b, `{"id":"n%d","text":"The %s number %d %s."}`+"\n", n, things[n%len(things)], n, verbs[n/10%len(verbs)])
	}
	for text := range right { // any order: each is asked for itself
		fmt.Fprintf(&b, `{"id":%q,"text":%q}`+"\n", strings.Fields(text)[1], text)
	}
	dir := t.TempDir()
	m := open(t, dir, memory.Options{WordVectors: true})
	if got, err := m.Import(context.Background(), strings.NewReader(b.String()), memory.ImportOptions{Name: "f.jsonl"}); err != nil || got.Added != 1000 {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir, memory.Options{WordVectors: true})
	for text, question := range right { // any order: each is asked for itself
		for _, w := range strings.Fields(strings.ToLower(question)) {
			if len(w) > 3 && strings.Contains(strings.ToLower(text), w) {
				t.Errorf("%q has the word %q of %q", question, w, text)
			}
		}
		hits, err := m.Search(context.Background(), memory.Query{Text: question, K: 5, Viewer: everything})
		if err != nil || !slices.ContainsFunc(hits, func(h memory.Hit) bool { return h.Text == text }) {
			t.Errorf("%q: found %s, %v", question, ids(hits), err)
		}
	}
}

// TestCloseEndsTheBackground closes a memory whose embedder is at work, or does not answer: it waits for neither.
func TestCloseEndsTheBackground(t *testing.T) {
	dir := t.TempDir() + "/store"
	m, err := memory.Open(dir, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Add(t.Context(), entry.Entry{Text: "without a vector", By: entry.Source{Trust: entry.ByPerson}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, err = memory.Open(dir, memory.Options{Embedder: &fake{model: "slow", gate: make(chan struct{})}})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- m.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not close")
	}
}

// steady skips, when tests are to be short, one that has nothing to race with and takes long when every step is watched.
func steady(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine, and many steps")
	}
}
