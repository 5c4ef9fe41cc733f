package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

func TestImportRefusesALine(t *testing.T) {
	good := `{"id":"a","text":"one"}` + "\n" + `{"id":"b","text":"two","created_at":"2023-05-08T13:56:00Z"}` + "\n\n"
	for name, c := range map[string]struct{ line, want string }{
		"no JSON":            {`{"id":"c",`, "not a JSON object"},
		"a list":             {`["c"]`, "a JSON array and no object"},
		"a bell in a name":   {`{"id":"c","text":"x","agent":"a\u0007b"}`, "control characters"},
		"a scope too long":   {`{"id":"c","text":"x","scope":"agent:` + strings.Repeat("x", memory.MaxID+1) + `"}`, "more than 256 bytes"},
		"NaN":                {`{"id":"c","text":"x","importance":NaN}`, "not a JSON object"},
		"out of range":       {`{"id":"c","text":"x","importance":1e999}`, `"importance"`},
		"deep":               {`{"id":"c","text":"x","tags":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "depth"},
		"UTF-16":             {"\xff\xfe{\x00\"\x00i\x00d", "not UTF-8"},
		"two on a line":      {`{"id":"c","text":"x"} {"id":"d","text":"y"}`, "something follows"},
		"an unknown field":   {`{"id":"c","text":"x","importence":1}`, `no field "importence"`},
		"no id":              {`{"text":"x"}`, "no id"},
		"no text":            {`{"id":"c"}`, "no text"},
		"a bad date":         {`{"id":"c","text":"x","created_at":"8 May"}`, `"8 May"`},
		"a wrong kind":       {`{"id":"c","text":7}`, `"text" can't be a number`},
		"not UTF-8":          {"{\"id\":\"c\",\"text\":\"\xff\"}", "not UTF-8"},
		"importance 2":       {`{"id":"c","text":"x","importance":2}`, "between 0 and 1"},
		"an unknown type":    {`{"id":"c","text":"x","type":"lesson"}`, `type "lesson"`},
		"a scope of no kind": {`{"id":"c","text":"x","scope":"team:a"}`, `scope "team:a"`},
		"another text":       {`{"id":"a","text":"three"}`, "a"},
		"too long":           {`{"id":"c","text":"` + strings.Repeat("x", memory.MaxLine) + `"}`, "longer than"},
		"too long a text":    {`{"id":"c","text":"` + strings.Repeat("x", memory.MaxText+1) + `"}`, "the most"},
	} {
		m := open(t, t.TempDir(), memory.Options{})
		got, err := m.Import(context.Background(), strings.NewReader(good+c.line+"\n"+`{"id":"z","text":"never"}`), memory.ImportOptions{Name: "f.jsonl"})
		var at *memory.LineError
		if !errors.As(err, &at) || at.Line != 4 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want line 4 and %q", name, err, c.want)
		}
		if got.Added != 2 {
			t.Errorf("%s: %d of the lines before it were kept, want 2", name, got.Added)
		}
	}
}

func TestImportTakesAtTheBound(t *testing.T) {
	m := open(t, t.TempDir(), memory.Options{})
	in := "\uFEFF" + `{"id":"a","text":"` + strings.Repeat("x", memory.MaxText) + `"}` + "\r\n\r\n" + `{"id":"b","text":"two"}`
	if got, err := m.Import(context.Background(), strings.NewReader(in), memory.ImportOptions{Name: "-"}); err != nil || got.Added != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := m.Import(context.Background(), strings.NewReader(""), memory.ImportOptions{Name: "-"}); err != nil || got.Lines != 0 {
		t.Errorf("nothing at all: %+v, %v", got, err)
	}
}

func TestImportIsCutShort(t *testing.T) {
	var b strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&b, `{"id":"%d","text":"turn %d"}`+"\n", n, n)
	}
	m := open(t, t.TempDir(), memory.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	told := 0
	got, err := m.Import(ctx, strings.NewReader(b.String()), memory.ImportOptions{Name: "f", Progress: func(done int, _ int64) {
		if told = done; done >= 500 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || got.Added < 500 || got.Added != told {
		t.Errorf("%+v, %v; told %d", got, err, told)
	}
	if s, err := m.Stats(context.Background()); err != nil || s.Entries != got.Added {
		t.Errorf("%d entries are there, %v; %d were said to be kept", s.Entries, err, got.Added)
	}
}

func TestExportIsAnImport(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	agentsLearn(t, m)
	add(t, m, entry.Entry{ID: "none", Text: "of no weight <b>", Importance: 0.25, By: person})
	var first, second strings.Builder
	if err := m.Export(ctx, &first, memory.Filter{Viewer: everything}); err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), memory.Options{})
	if _, err := other.Import(ctx, strings.NewReader(first.String()), memory.ImportOptions{Name: "f"}); err != nil {
		t.Fatal(err)
	}
	if err := other.Export(ctx, &second, memory.Filter{Viewer: everything}); err != nil || first.String() != second.String() {
		t.Errorf("the second export differs, %v: %d and %d bytes", err, first.Len(), second.Len())
	}
	if n := strings.Count(first.String(), "\n"); n < 800 || !strings.Contains(first.String(), "<b>") {
		t.Errorf("only %d lines, or text that nobody can read", n)
	}
	items, err := m.List(ctx, memory.Filter{Viewer: everything})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		was, is := i.Entry, item(t, other, i.ID).Entry
		was.By, is.By = entry.Source{}, entry.Source{} // who wrote it is not exported
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s (-written +imported)\n%s", i.ID, diff)
		}
	}
}
