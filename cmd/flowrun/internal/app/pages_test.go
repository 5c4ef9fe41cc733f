package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const commandPages = "../../../../dsl/reference/commands"

// TestCommandPages holds the pages of the commands against what the commands say of themselves; -rewrite writes them anew.
func TestCommandPages(t *testing.T) {
	root := newTestRoot(t)
	want := map[string]string{}
	var list strings.Builder
	rows := map[string]string{}
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		var page strings.Builder
		writeCommandPage(&page, c, "#")
		want[c.Name()+".md"] = strings.TrimRight(page.String(), "\n") + "\n"
		rows[c.GroupID] += fmt.Sprintf("| [`%s`](%s.md) | %s |\n", c.CommandPath(), c.Name(), inCell(c.Short))
	}
	list.WriteString("# Commands\n")
	for _, g := range root.Groups() {
		fmt.Fprintf(&list, "\n## %s\n\n| command | purpose |\n|---|---|\n%s", strings.TrimSuffix(g.Title, ":"), rows[g.ID])
	}
	root.InitDefaultHelpFlag()
	fmt.Fprintf(&list, "\n## Flags of all commands\n\n%s", flagTable(root.PersistentFlags().FlagUsages()))
	want["README.md"] = list.String()
	if *rewrite {
		if err := os.MkdirAll(commandPages, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want { // any order: it writes files
			if err := os.WriteFile(filepath.Join(commandPages, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := filepath.Glob(commandPages + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		have[filepath.Base(file)] = string(text)
	}
	if len(want) < 30 {
		t.Errorf("only %d pages", len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			t.Errorf("dsl/reference/commands/%s is not what the command says: go generate ./dsl/reference", name)
		}
		delete(have, name)
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		t.Errorf("dsl/reference/commands/%s is the page of a command that does not exist: remove it", name)
	}
}

// newTestRoot is the tree of commands.
func newTestRoot(t *testing.T) *cobra.Command {
	t.Helper()
	a := &app{Streams: Streams{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}}}
	a.openTerminals()
	return a.newRootCommand()
}

// writeCommandPage writes what a command says of itself, and then the commands below it.
func writeCommandPage(b *strings.Builder, c *cobra.Command, level string) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(b, "%s %s\n\n```\n%s\n```\n\n", level, c.CommandPath(), c.UseLine())
	example := false
	for _, line := range strings.Split(strings.TrimSpace(about), "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != example && line != "" {
			b.WriteString(map[bool]string{true: "```\n", false: "```\n"}[indented])
			example = indented
		}
		if example {
			b.WriteString(strings.TrimPrefix(line, "  ") + "\n")
		} else {
			b.WriteString(marks.Replace(line) + "\n")
		}
	}
	if example {
		b.WriteString("```\n")
	}
	b.WriteString("\n")
	if flags := flagTable(c.LocalNonPersistentFlags().FlagUsages() + c.PersistentFlags().FlagUsages()); flags != "" {
		b.WriteString(flags + "\n")
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			writeCommandPage(b, sub, "##")
		}
	}
}

// marks escapes what Markdown would read as a mark.
var marks = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`)

func inCell(text string) string { return strings.ReplaceAll(marks.Replace(text), "|", `\|`) }

// flagLine is a line of the library's list of flags: the flag with its value, and what it does.
var flagLine = regexp.MustCompile(`(?m)^ +(-.*?)   +(.*)$`)

// flagTable is a table of flags; "" for none.
func flagTable(usages string) string {
	var b strings.Builder
	for _, m := range flagLine.FindAllStringSubmatch(usages, -1) {
		if !strings.HasPrefix(m[1], "-h, --help") {
			flag := strings.ReplaceAll(m[1], "[=\"\x00\"]", "") // its value can be left out
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(flag, "|", `\|`), inCell(m[2]))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "| flag | purpose |\n|---|---|\n" + b.String()
}
