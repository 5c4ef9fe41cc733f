package app

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// TestHints types the words of other tools, listed in testdata/hints.txt as "$ flowrun …", and compares what flowrun says. Every line
// that a hint names must itself be a command line of flowrun.
func TestHints(t *testing.T) {
	golden, err := filepath.Abs("testdata/hints.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir() // in which nothing has run, whatever has run in this repository
	t.Chdir(root)
	var have strings.Builder
	typed := 0
	for line := range strings.Lines(string(want)) {
		words, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ flowrun ")
		if !ok {
			continue
		}
		var said bytes.Buffer
		code := Main(strings.Fields(words), Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
		if code != exitUsage {
			t.Errorf("flowrun %s ends with %d and says\n%s", words, code, &said)
		}
		have.WriteString(line + strings.ReplaceAll(said.String(), root, "REPOSITORY"))
		for told := range strings.Lines(said.String()) {
			if command, ok := strings.CutPrefix(strings.TrimPrefix(told, "In flowrun, write:"), " "); ok {
				typed++
				checkLine(t, strings.TrimPrefix(strings.TrimSpace(command), "flowrun "))
			}
		}
	}
	if typed < 50 {
		t.Errorf("only %d lines were checked", typed)
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(have.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have.String() != string(want) {
		t.Errorf("flowrun says\n%s\nThe file %s differs; go test -run TestHints -rewrite writes it anew", have.String(), golden)
	}
}

// checkLine checks that a line names a command, its flags and a number of words that it takes.
func checkLine(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " 2>")
	line, _, _ = strings.Cut(line, " > ")
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	a := &app{arguments: words}
	a.openTerminals()
	root := a.newRootCommand()
	c, rest, err := root.Find(words)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil || c == root {
		t.Errorf("the hint %q is not a command line: %v", line, err)
	}
}

// TestHintsHaveOneMeaning fails for a word that is in the table twice, or that is a command.
func TestHintsHaveOneMeaning(t *testing.T) {
	a := &app{}
	a.openTerminals()
	root := a.newRootCommand()
	var seen []string
	for _, h := range wordHints {
		group, list, ok := strings.Cut(h.words, ": ")
		if !ok {
			group, list = "", h.words
		}
		for _, word := range strings.Fields(list) {
			path := strings.TrimSpace(group + " " + word)
			if slices.Contains(seen, path) {
				t.Errorf("%q is in the table twice", path)
			}
			seen = append(seen, path)
			if c, rest, err := root.Find(strings.Fields(path)); err == nil && len(rest) == 0 && c != root {
				t.Errorf("%q is a command", path)
			}
		}
	}
}
