package args

import (
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMemorySearchIsChecked(t *testing.T) {
	good := func() MemorySearch {
		return MemorySearch{Embedder: Embedder{Name: "default"}, Words: []string{"flaky", "test"}, K: 10}
	}
	for what, c := range map[string]struct {
		spoil func(*MemorySearch)
		ok    bool
	}{
		"as it is":          {func(*MemorySearch) {}, true},
		"k at its bounds":   {func(s *MemorySearch) { s.K = MaxHits }, true},
		"k above":           {func(s *MemorySearch) { s.K = MaxHits + 1 }, false},
		"k of 0":            {func(s *MemorySearch) { s.K = 0 }, false},
		"no query":          {func(s *MemorySearch) { s.Words = []string{" "} }, false},
		"both":              {func(s *MemorySearch) { s.Queries = "-" }, false},
		"a file of queries": {func(s *MemorySearch) { s.Words, s.Queries = nil, "-" }, true},
		"a type":            {func(s *MemorySearch) { s.Type = "failure" }, true},
		"no type":           {func(s *MemorySearch) { s.Type = "failed" }, false},
		"an embedder":       {func(s *MemorySearch) { s.Name = "ollama"; s.Model = "m" }, true},
		"no embedder":       {func(s *MemorySearch) { s.Name = "bert" }, false},
		"a model of none":   {func(s *MemorySearch) { s.Name = "none"; s.Model = "m" }, false},
	} {
		s := good()
		c.spoil(&s)
		if err := s.Check(noon); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s := good(); s.Query() != "flaky test" {
		t.Errorf("%q", s.Query())
	}
}

func TestMemoryTypesAreThoseOfEntries(t *testing.T) {
	if !slices.EqualFunc(MemoryTypes, entry.Types, func(a string, b entry.Type) bool { return a == string(b) }) {
		t.Errorf("a person may write %v, and entries are %v", MemoryTypes, entry.Types)
	}
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"12h": "2026-11-21T00:00:00Z", "30d": "2026-10-22T12:00:00Z", "2026-11-02": "2026-11-02T00:00:00Z",
		"2026-11-02T10:00:00+01:00": "2026-11-02T09:00:00Z", "soon": "", "-1h": "", "2026-13-02": "", "2.11.2026": "",
	} {
		w := Which{Since: text}
		err := w.Check(noon)
		if (err == nil) != (want != "") || err == nil && w.From.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v", text, w.From, err)
		}
	}
}

func TestMemoryChangesAreChecked(t *testing.T) {
	for scope, ok := range map[string]bool{"": true, "shared": true, "agent:a": true, "group:g": true, "run:r": true, "agent:": false, "all": false, "team:x": false} {
		if err := (&MemoryChange{To: scope}).Check(); (err == nil) != ok {
			t.Errorf("--to %s: %v", scope, err)
		}
	}
	for _, c := range []struct {
		r  MemoryRevert
		ok bool
	}{
		{MemoryRevert{}, false}, {MemoryRevert{Run: "r"}, true}, {MemoryRevert{MemoryChange: MemoryChange{IDs: []string{"a"}}}, true},
		{MemoryRevert{Until: "x"}, false}, {MemoryRevert{Since: "x"}, false}, {MemoryRevert{Since: "2d", Until: "1d"}, true},
	} {
		if err := c.r.Check(noon); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	for _, c := range []struct {
		e  MemoryEntry
		ok bool
	}{
		{MemoryEntry{}, false}, {MemoryEntry{Text: " \n"}, false}, {MemoryEntry{Lesson: "l"}, true}, {MemoryEntry{Text: "t", Importance: 1}, true},
		{MemoryEntry{Text: "t", Importance: 1.1}, false}, {MemoryEntry{Text: "t", Importance: -0.1}, false}, {MemoryEntry{Text: "t", Type: "fact"}, false},
	} {
		c.e.Name = "none"
		if err := c.e.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.e, err)
		}
	}
}
