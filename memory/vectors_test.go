package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// lines are n entries to import, in sessions.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"D%d","text":"In case %d %s. Then %s.","session":"s%d","created_at":"2026-01-%02dT00:00:00Z"}`+"\n",
			i, i, subjects[i%len(subjects)], subjects[(i*3+1)%len(subjects)], i/40, 1+i%28)
	}
	return b.String()
}

func imported(t *testing.T, m *memory.Memory, n int) {
	t.Helper()
	if _, err := m.Import(context.Background(), strings.NewReader(lines(n)), memory.ImportOptions{Name: "f"}); err != nil {
		t.Fatal(err)
	}
}

// answers are what a memory says to some questions, as bytes.
func answers(t *testing.T, m *memory.Memory) string {
	t.Helper()
	var all []any
	for _, s := range subjects {
		hits, err := m.Search(context.Background(), memory.Query{Text: "what of " + s, K: 20, Viewer: everything})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			all = append(all, h.ID, h.Score, h.Parts)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnswersAreTheSameBytes asks a hundred times: the same process, fresh ones, and with the caches lost.
func TestAnswersAreTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	o := memory.Options{Embedder: &fake{model: "fake"}, WordVectors: true}
	m := open(t, dir, o)
	imported(t, m, 300)
	want := answers(t, m)
	for n := range 100 {
		if n%10 == 9 {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if n%20 == 19 {
				caches, err := filepath.Glob(filepath.Join(dir, "vectors-*"))
				if err != nil || len(caches) < 3 {
					t.Fatalf("caches %v, %v; want vectors, means and the direction", caches, err)
				}
				for _, name := range caches {
					if err := os.Remove(name); err != nil {
						t.Fatal(err)
					}
				}
			}
			m = open(t, dir, o)
		}
		if got := answers(t, m); got != want {
			t.Fatalf("answer %d differs:\n%s\nfirst:\n%s", n, got, want)
		}
	}
	if !strings.Contains(want, "meaning") || !strings.Contains(want, "word_vectors") {
		t.Errorf("no vectors took part: %s", want)
	}
}

// TestOneByOneIsAsAtOnce writes the same entries in other portions: the direction of the word vectors must not show how.
func TestOneByOneIsAsAtOnce(t *testing.T) {
	now := memory.Options{WordVectors: true, Embedder: &fake{model: "fake"}}
	a, b := open(t, t.TempDir(), now), open(t, t.TempDir(), now)
	imported(t, a, 130)
	for _, l := range strings.SplitAfter(lines(130), "\n") {
		if _, err := b.Import(context.Background(), strings.NewReader(l), memory.ImportOptions{Name: "f"}); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := answers(t, a), answers(t, b); x != y {
		t.Errorf("at once:\n%s\none by one:\n%s", x, y)
	}
}

// TestAnotherEmbedder changes the embedder of a large store: words go on, and the vectors are made meanwhile, over two processes.
func TestAnotherEmbedder(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	first := open(t, dir, memory.Options{Embedder: &fake{model: "old"}, WordVectors: true})
	imported(t, first, 1100)
	if n := first.Pending(); n != 0 {
		t.Fatalf("%d entries have no vectors after an import", n)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	told := make(chan string, 9)
	warn := func(s string) { told <- s }
	slow := &fake{model: "new", gate: make(chan struct{})}
	second := open(t, dir, memory.Options{Embedder: slow, WordVectors: true, Warn: warn})
	if n := second.Pending(); n != 1100 {
		t.Fatalf("%d entries wait for the new embedder, want all", n)
	}
	slow.gate <- struct{}{} // one chunk
	slow.gate <- struct{}{} // the first was kept: this is the second
	asked := make(chan []memory.Hit)
	go func() {
		hits, err := second.Search(ctx, memory.Query{Text: subjects[0], Viewer: everything})
		if err != nil {
			t.Error(err)
		}
		asked <- hits
	}()
	if s := <-told; !strings.Contains(s, "no vectors yet") { // the search does not wait for them
		t.Errorf("told %q", s)
	}
	for done := false; !done; {
		select {
		case slow.gate <- struct{}{}:
		case hits := <-asked:
			if done = true; len(hits) == 0 {
				t.Error("nothing was found meanwhile")
			}
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if len(told) > 0 {
		t.Errorf("told also %q", <-told)
	}

	third := &fake{model: "new"}
	m := open(t, dir, memory.Options{Embedder: third, WordVectors: true, Warn: warn})
	before := m.Pending()
	if err := m.Wait(ctx); err != nil || m.Pending() != 0 {
		t.Fatalf("%d are left, %v", m.Pending(), err)
	}
	if before >= 1100 {
		t.Error("what the process before had made was lost")
	}
	want := open(t, t.TempDir(), memory.Options{Embedder: &fake{model: "new"}, WordVectors: true})
	imported(t, want, 1100)
	if answers(t, m) != answers(t, want) {
		t.Error("a store that changed its embedder answers otherwise than one that always had it")
	}
}

// TestSearchDoesNotWaitForASlowEmbedder waits once, and never again.
func TestSearchDoesNotWaitForASlowEmbedder(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, memory.Options{WordVectors: true})
	imported(t, first, 20)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 9)
	slow := &fake{model: "slow", gate: make(chan struct{}), oneByOne: true}
	m := open(t, dir, memory.Options{Embedder: slow, WordVectors: true, Warn: func(s string) { told <- s }})
	for _, longest := range []time.Duration{time.Millisecond, time.Hour} {
		m.Waits(longest)
		hits, err := m.Search(context.Background(), memory.Query{Text: subjects[0], Viewer: everything})
		if err != nil || len(hits) == 0 || hits[0].Parts.Words <= 0 {
			t.Errorf("found %v, %v", ids(hits), err)
		}
	}
	if s := <-told; !strings.Contains(s, "20 entries of the memory have no vectors yet") || len(told) > 0 {
		t.Errorf("told %q and %d more", s, len(told))
	}
}

func TestProviderThatFails(t *testing.T) {
	ctx := context.Background()
	var told []string
	var mu sync.Mutex
	warn := func(s string) { mu.Lock(); told = append(told, s); mu.Unlock() }
	f := &fake{model: "fake", unsure: true}
	f.fails.Store(true)
	dir := t.TempDir()
	m := open(t, dir, memory.Options{Embedder: f, WordVectors: true, Warn: warn})
	add(t, m, failure("sam", "The proxy needs a longer timeout."))
	mu.Lock()
	if !strings.Contains(strings.Join(told, "\n"), "found by their words") {
		t.Errorf("of the write it told %q", told)
	}
	mu.Unlock()
	hits, err := m.Search(ctx, memory.Query{Text: "timeout of the proxy", Viewer: everything})
	if err != nil || len(hits) != 1 || hits[0].Parts.Meaning != 0 || hits[0].Parts.WordVectors <= 0 {
		t.Fatalf("found %+v, %v; want it by words and word vectors", hits, err)
	}
	mu.Lock()
	if len(told) == 0 || !strings.Contains(strings.Join(told, "\n"), errFake.Error()) {
		t.Errorf("told %q", told)
	}
	mu.Unlock()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	f.fails.Store(false)
	m = open(t, dir, memory.Options{Embedder: f, WordVectors: true})
	hits, err = m.Search(ctx, memory.Query{Text: "timeout of the proxy", Viewer: everything})
	if err != nil || len(hits) != 1 || hits[0].Parts.Meaning <= 0 {
		t.Errorf("found %+v, %v; want it by meaning too", hits, err)
	}
}

// said gathers warnings.
type said struct {
	mu   sync.Mutex
	told []string
}

func (s *said) warn(text string) { s.mu.Lock(); defer s.mu.Unlock(); s.told = append(s.told, text) }

func (s *said) count(part string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.told {
		if strings.Contains(t, part) {
			n++
		}
	}
	return n
}

// An embedder that is out is asked by one query of many, and an import says that it goes without.
func TestQueriesLeaveAFailingProviderAlone(t *testing.T) {
	var told said
	f := &fake{model: "fake", unsure: true}
	f.fails.Store(true)
	m := open(t, t.TempDir(), memory.Options{Embedder: f, WordVectors: true, Warn: told.warn})
	imported(t, m, 20)
	if told.count("found by their words: "+errFake.Error()) != 1 {
		t.Errorf("the import told %q", told.told)
	}
	for range 3 {
		if hits, err := m.Search(context.Background(), memory.Query{Text: subjects[0], Viewer: everything}); err != nil || len(hits) == 0 {
			t.Errorf("found %v, %v", ids(hits), err)
		}
	}
	if n := told.count("continues by words"); n != 1 {
		t.Errorf("told %d times, want once: %q", n, told.told)
	}
}

// longer makes vectors with a number more than the embedder of its name made before.
type longer struct{ *fake }

func (l longer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	made, err := l.fake.Embed(ctx, texts)
	for i := range made {
		made[i] = append(made[i], 0)
	}
	return made, err
}

func TestModelThatChangedUnderItsName(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, memory.Options{Embedder: &fake{model: "fake", unsure: true}, WordVectors: true})
	imported(t, m, 20)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	var told said
	other := memory.Options{Embedder: longer{&fake{model: "fake", unsure: true}}, WordVectors: true, Warn: told.warn}
	m = open(t, dir, other)
	for range 2 {
		hits, err := m.Search(context.Background(), memory.Query{Text: subjects[0], Viewer: everything})
		if err != nil || len(hits) == 0 || hits[0].Parts.Meaning != 0 {
			t.Fatalf("found %+v, %v; want it by words", hits, err)
		}
	}
	file := filepath.Join(dir, "vectors-fake.bin")
	if n := told.count("Remove " + file); n != 1 {
		t.Errorf("told %q", told.told)
	}
	if err := errors.Join(m.Close(), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir, other)
	hits, err := m.Search(context.Background(), memory.Query{Text: subjects[0], Viewer: everything})
	if err != nil || len(hits) == 0 || hits[0].Parts.Meaning <= 0 {
		t.Errorf("made anew: %+v, %v", hits, err)
	}
}

// TestOthersWrite has two memories on one folder, as two processes have.
func TestOthersWrite(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	f, g := &fake{model: "fake"}, &fake{model: "fake"}
	a, b := open(t, dir, memory.Options{Embedder: f, WordVectors: true}), open(t, dir, memory.Options{Embedder: g, WordVectors: true})
	first := failure("sam", "The proxy needs a longer timeout.")
	first.ID = "one"
	add(t, a, first)
	hits, err := b.Search(ctx, memory.Query{Text: "longer timeout of the proxy", Viewer: everything})
	if err != nil || ids(hits) != "one" || hits[0].Parts.Meaning <= 0 {
		t.Fatalf("the other finds %+v, %v", hits, err)
	}
	if n := g.asked.Load(); n != 1 {
		t.Errorf("the other embedded %d texts, want its query alone", n)
	}
	if got := add(t, b, failure("sam", "the proxy needs a longer timeout"))[0]; !got.Repeat || got.ID != "one" {
		t.Errorf("%+v, want a repeat of what the other wrote", got)
	}
	if err := b.Forget(ctx, []string{"one"}, person, ""); err != nil {
		t.Fatal(err)
	}
	if hits, err := a.Search(ctx, memory.Query{Text: "longer timeout of the proxy", Viewer: everything, Everything: true}); err != nil || len(hits) > 0 {
		t.Errorf("what the other forgot is found: %v, %v", ids(hits), err)
	}
}

func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	m := open(t, dir, memory.Options{})
	add(t, m, entry.Entry{ID: "a", Text: "The proxy needs a longer timeout.", By: person})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir, memory.Options{ReadOnly: true, Embedder: &fake{model: "fake"}, WordVectors: true})
	if hits, err := m.Search(ctx, memory.Query{Text: "proxy timeout"}); err != nil || len(hits) != 1 || hits[0].Parts.Meaning <= 0 {
		t.Errorf("found %+v, %v", hits, err)
	}
	if r, err := m.Recall(ctx, memory.Ask{Task: "The proxy needs a longer timeout."}); err != nil || len(r.IDs) != 1 {
		t.Errorf("recalled %+v, %v", r, err)
	}
	if _, err := m.Add(ctx, entry.Entry{Text: "x", By: person}); !errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if err := m.Pin(ctx, []string{"a"}, person, ""); !errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("a change: %v", err)
	}
	caches, err := filepath.Glob(filepath.Join(dir, "vectors-*"))
	if err != nil || len(caches) > 0 {
		t.Errorf("reading wrote %v, %v", caches, err)
	}
}
