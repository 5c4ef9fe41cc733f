package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/reference"
)

var widths = []int{60, 80, 120}

// screenOf is a terminal of so many columns.
func screenOf(w *bytes.Buffer, columns int) *Term {
	t := NewTerm(w, "never", func(string) string { return "" })
	t.Live, t.size = true, func() (int, int) { return columns, DefaultRows }
	return t
}

// tooWide is the first line that is longer than width though it could be broken, or "". Lines of code are as they were written.
func tooWide(out string, width int, code string) string {
	for l := range strings.Lines(out) {
		l = strings.TrimRight(l, "\n")
		text := strings.TrimLeft(l, " ")
		if Cells(l) > width && strings.Contains(text, " ") && (code == "" || !strings.Contains(code, text)) {
			return l
		}
	}
	return ""
}

// heads are the rows of tables that name the columns. A list does not show the name of the first.
var heads = regexp.MustCompile(`\n\|.*\n\|[-:|]+\|\n`)

// Every page that explain shows fits into a terminal, and no word of it is broken.
func TestPagesFitTheTerminal(t *testing.T) {
	words := reference.Words()
	for _, b := range reference.Language().Blocks {
		for _, a := range b.Attributes {
			words = append(words, b.Kind+"."+a.Name, a.Name)
		}
	}
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		word, _, _ = strings.Cut(word, "\t")
		text, _, ok := reference.About(word)
		if !ok {
			t.Errorf("explain %s has no page", word)
		}
		var code, prose strings.Builder
		for i, part := range strings.Split(text, "\n```") {
			if i%2 == 1 {
				code.WriteString(part)
			} else {
				prose.WriteString(heads.ReplaceAllString(part, "\n"))
			}
		}
		for _, width := range widths {
			var b bytes.Buffer
			Markdown(screenOf(&b, width), text)
			if l := tooWide(b.String(), width, code.String()); l != "" {
				t.Errorf("explain %s at %d columns has a line of %d: %s", word, width, Cells(l), l)
			}
			if width == 60 {
				shown := " " + strings.Join(strings.Fields(b.String()), " ") + " "
				for _, w := range strings.Fields(unmarked(prose.String())) {
					if strings.Trim(w, "|-:#*`") != "" && !strings.Contains(w, "`") && !strings.Contains(w, "|") && !strings.Contains(w, "*") && !strings.Contains(shown, w) {
						t.Errorf("explain %s at %d columns breaks the word %q", word, width, w)
					}
				}
			}
		}
	}
}

// Every diagnostic of the tests of the language fits into a terminal, and says the same as where its lines are not broken.
func TestDiagnosticsFitTheTerminal(t *testing.T) {
	const dir = "../../../../dsl/testdata/diag"
	files, err := filepath.Glob(filepath.Join(dir, "*.hcl"))
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for i, file := range files {
		if testing.Short() && i%8 != 0 {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		_, list := dsl.Check(os.DirFS(dir), name, dsl.Options{})
		sources := Sources{name: src}
		var plain bytes.Buffer
		Diagnostics(NewTerm(&plain, "never", func(string) string { return "" }), slices.Clone(list), sources)
		for _, width := range widths {
			var b bytes.Buffer
			Diagnostics(screenOf(&b, width), slices.Clone(list), sources)
			if l := tooWide(b.String(), width, ""); l != "" {
				t.Errorf("%s at %d columns has a line of %d: %s", name, width, Cells(l), l)
			}
			if have, want := fmt.Sprint(strings.Fields(b.String())), fmt.Sprint(strings.Fields(plain.String())); have != want && !strings.Contains(have, "…") {
				t.Errorf("%s at %d columns says\n%s\nand not\n%s", name, width, have, want)
			}
		}
	}
}

// Tables that do not fit have cells of several lines, or become lists.
func TestTablesFit(t *testing.T) {
	wide := "| word | meaning |\n|---|---|\n| one | " + strings.Repeat("many words ", 9) + "|\n"
	four := "| attribute | type | default | |\n|---|---|---|---|\n| `max` | whole number | `3` | " + strings.Repeat("many words ", 9) + "|\n| `min` | whole number |  | Few. |\n"
	for _, c := range []struct{ page, want string }{
		{wide, `
word  meaning
one   many words many words many words many words many words
      many words many words many words many words
`},
		{four, `
max  type: whole number; default: 3
    many words many words many words many words many words
    many words many words many words many words

min  type: whole number
    Few.
`},
	} {
		var b bytes.Buffer
		Markdown(screenOf(&b, 60), c.page)
		if have := "\n" + b.String(); have != c.want {
			t.Errorf("%s\ngives%s\nand not%s", c.page, have, c.want)
		}
	}
}
