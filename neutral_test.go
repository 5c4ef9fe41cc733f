package flowrun_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandWords finds commands and flags of flowrun in a message.
var commandWords = regexp.MustCompile(`\bflowrun (` + strings.Join(commandNames(), "|") + `)\b|(^|[ ("'])--[a-z][a-z-]+`)

// commandNames lists the commands of flowrun by their files; see TestOneFileACommand.
func commandNames() (names []string) {
	files, _ := filepath.Glob(commandFolder + "/*.go")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		if sharedFiles[name] == "" && !strings.Contains(name, "_") { // a command of a group stands behind the group
			names = append(names, name)
		}
	}
	return names
}

// commandTexts are the folders whose texts are about commands: the documentation of the language, and the tools that steps run.
var commandTexts = []string{"dsl/schema", "dsl/reference", "dsl/shell"}

// spokenCommands are the messages with such words that may stand below the command line, by a part of each: advice for
// the author of a file, who gives its values by the command line, examples of steps, commands of the system, and the commands in a
// message to people, who have nothing else: the one that answers, and the one that shows the run.
var spokenCommands = map[string][]string{
	"dsl/check/blocks.go":            {`command = ["agent", "--json"]`},
	"dsl/check/meant.go":             {`--model`, `["claude", "-p"`, `["codex", "exec"`, `["gemini", "--output-format"`, "flowrun explain protocol", "give it with --var"},
	"dsl/check/script.go":            {`"--verbose"`},
	"dsl/check/variable.go":          {"--var-file FILE, or --var-from", "--input-from"},
	"dsl/expr/about.go":              {`trim("--a--", "-")`},
	"dsl/expr/functions.go":          {"give it with --var", "flowrun schema lists them"},
	"dsl/inputs.go":                  {"give a file with --var-from"},
	"dsl/syntax/limits.go":           {"--limit %s="},
	"memory/private/private.go":      {"git rm -r --cached"},
	"runner/executor/notify/send.go": {"flowrun runs show"},
	"runner/executor/room.go":        {"docker run --pids-limit"},
	"runner/machine/ask.go":          {"flowrun decide %s"},
}

// TestLowerPackagesNameNoCommands finds messages of the language, the runner and the memory that name a command or a flag of the command
// line: a server and a worker give them to people, too. A typed error says what is wrong, and cmd/flowrun adds what to type.
func TestLowerPackagesNameNoCommands(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{"dsl", "runner", "memory"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			for _, folder := range commandTexts {
				if strings.HasPrefix(name, folder+"/") {
					return nil
				}
			}
			for _, text := range commandsIn(t, name, nil) {
				at := slices.IndexFunc(spokenCommands[name], func(part string) bool { return strings.Contains(text, part) })
				if at < 0 {
					t.Errorf("%s names a command: %q", name, text)
					continue
				}
				used[spokenCommands[name][at]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, parts := range spokenCommands {
		for _, part := range parts {
			if !used[part] {
				t.Errorf("%s has no message with %q any more: take it out of the list", name, part)
			}
		}
	}
}

// commandsIn lists the texts of a file that name a command or a flag.
func commandsIn(t *testing.T, name string, src any) (texts []string) {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && commandWords.MatchString(text) {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

func TestCommandsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"go on with: flowrun resume x": 1, "see flowrun kv list": 1, "flowrun test DIR": 1, "give it with --var x=1": 1, "(--store DIR)": 1, "'--limit'": 1,
		"use a newer flowrun": 0, "a flowrun that drives": 0, "x -- y": 0, "a---b": 0, "flowrun/1": 0,
	} {
		if have := len(commandsIn(t, "x.go", "package x\nconst text = "+strconv.Quote(text))); have != want {
			t.Errorf("%q: %d found, want %d", text, have, want)
		}
	}
}
