package ui

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/reference"
)

const pagesDir = "../../../../dsl/reference/codes"

// TestPages runs what the pages of codes show: the refused example gives the code, its output is what stands there, and
// the accepted one is a program. With -rewrite the output is printed into the page.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(pagesDir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, file := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) { page(t, file) })
	}
}

func page(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := reference.ParsePage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() && strings.Contains(p.Bad.Text, "⟨") {
		t.Skip("large examples are left to the whole run")
	}
	list, output := shown(p.Bad)
	if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == p.Code }) {
		t.Errorf("the refused example does not give %s; it gives\n%s", p.Code, output)
	}
	if *rewrite && output != p.Output {
		if err := os.WriteFile(file, []byte(p.WithOutput(output)), 0o644); err != nil {
			t.Fatal(err)
		}
		p.Output = output
	}
	if output != p.Output {
		t.Errorf("validate says\n%s\nand the page\n%s\ngo generate ./dsl/reference prints it anew", output, p.Output)
	}
	list, output = shown(p.Good)
	if list.HasErrors() || slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == p.Code }) {
		t.Errorf("the accepted example is not accepted:\n%s", output)
	}
}

// shown validates an example and gives what is found, and how the screen shows it.
func shown(e reference.Example) (diag.List, string) {
	fsys, path := program(e)
	p, list := dsl.Check(fsys, path, dsl.Options{LookPath: func(name string) bool { return name != "no-such-program-here" }})
	var b bytes.Buffer
	Diagnostics(NewTerm(&b, "never", none), list, p.Sources)
	return list, b.String()
}

var (
	repeated = regexp.MustCompile(`(?s)⟨([^⟨⟩]*)\*(\d+)⟩\n?`)
	oneByte  = regexp.MustCompile(`⟨0x([0-9A-F]{2})⟩`)
	oneRune  = regexp.MustCompile(`⟨U\+([0-9A-F]{4})⟩`)
	header   = regexp.MustCompile(`(?m)^-- (\S+) --\n`)
)

// program makes the files of an example and the path to validate.
func program(e reference.Example) (fs.FS, string) {
	text := e.Text
	for _, step := range []struct {
		form *regexp.Regexp
		with func(string) string
	}{{repeated, repeat}, {oneByte, theByte}, {oneRune, theRune}} {
		for strings.Contains(text, "⟨") && step.form.MatchString(text) { // inner repetitions first
			text = step.form.ReplaceAllStringFunc(text, step.with)
		}
	}
	fsys := fstest.MapFS{}
	heads := header.FindAllStringSubmatchIndex(text, -1)
	if heads == nil {
		fsys["flow.hcl"] = &fstest.MapFile{Data: []byte(text)}
	}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		fsys[text[h[2]:h[3]]] = &fstest.MapFile{Data: []byte(text[h[1]:end])}
	}
	if e.Path == "" {
		e.Path = "flow.hcl"
	}
	return fsys, e.Path
}

// repeat writes one repetition out.
func repeat(s string) string {
	m := repeated.FindStringSubmatch(s)
	n, _ := strconv.Atoi(m[2])
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(m[1], "№", strconv.Itoa(i+1)))
	}
	if !strings.HasSuffix(m[1], "\n") && strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

func theByte(s string) string {
	n, _ := strconv.ParseUint(oneByte.FindStringSubmatch(s)[1], 16, 8)
	return string([]byte{byte(n)})
}

func theRune(s string) string {
	n, _ := strconv.ParseUint(oneRune.FindStringSubmatch(s)[1], 16, 32)
	return string(rune(n))
}
