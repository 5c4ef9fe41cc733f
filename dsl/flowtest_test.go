package dsl

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Every file in testdata/flowtest is a test file with something wrong with it, beside one program, and a golden shows what is said about
// it. Wording and carets are reviewed there like code; no two files say the same.
func TestFlowtestDiagnostics(t *testing.T) {
	paths, err := filepath.Glob("testdata/flowtest/*" + TestSuffix)
	if err != nil || len(paths) < 25 {
		t.Fatal(len(paths), "cases:", err)
	}
	first := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		tests, list := LoadTests(os.DirFS("testdata/flowtest"), name, Options{Version: "0.1.0"})
		if !list.HasErrors() {
			t.Errorf("%s: nothing is wrong with it", name)
			continue
		}
		for _, d := range list {
			if d.Subject.File != name || d.Subject.Start.Line == 0 {
				t.Errorf("%s: %s stands at %s", name, d.Code, d.Subject)
			}
			if d.Summary == "" || d.Detail == "" || strings.HasSuffix(d.Summary, ".") || strings.Contains(strings.ToLower(d.Summary), "invalid") {
				t.Errorf("%s: %s is not worded as a finding: %q, %q", name, d.Code, d.Summary, d.Detail)
			}
		}
		if other := first[list[0].Summary]; other != "" {
			t.Errorf("%s and %s begin with the same summary: %s", other, name, list[0].Summary)
		}
		first[list[0].Summary] = name
		golden(t, strings.TrimSuffix(path, TestSuffix)+".golden", render(list, tests.Sources))
	}
}

// However a test file is cut or mangled, reading it ends with findings and never with a panic.
func TestMangledTests(t *testing.T) {
	program, err := os.ReadFile("testdata/flowtest/program.flow.hcl")
	if err != nil {
		t.Fatal(err)
	}
	const whole = `test "a" {
  workflow         = workflow.feature
  inputs           = { ticket = "T-1", size = 2 }
  vars             = { least = 3 }
  start_at         = "2026-01-05T08:00:00Z"
  run_for          = "2h"
  crash_everywhere = true
  agent "coder" { replies = [{ output = { verdict = request.task, score = 1 }, takes = "1m" }, { error = { kind = "fatal" } }, { hang = true }] }
  step "each[1]" { replies = [{ output = { ok = true } }] }
  step "ship/compensate" { replies = [{ exit_code = 1 }] }
  gate "build/api/tests" { replies = [{ exit_code = 0 }] }
  crash { after = "5m" }
  down {
    after = "6m"
    for   = "1h"
  }
  at "10m" { expect = ["live == 1 && node['each[1]'].status == 'running'"] }
  expect = ["before('plan', 'build/api')", "len(calls.coder) > 0 && path[0] == 'plan'", "run.outputs.score > 3"]
}
`
	read := func(text string) {
		fsys := fstest.MapFS{"p.flow.hcl": {Data: program}, "p.flowtest.hcl": {Data: []byte(text)}}
		if tests, list := LoadTests(fsys, "p.flowtest.hcl", Options{}); !list.HasErrors() && len(tests.Tests) == 0 && strings.Contains(text, "test") {
			t.Errorf("neither tests nor findings:\n%s", text)
		}
	}
	if _, list := LoadTests(fstest.MapFS{"p.flow.hcl": {Data: program}, "p.flowtest.hcl": {Data: []byte(whole)}}, "p.flowtest.hcl", Options{}); list.HasErrors() {
		t.Fatal(list)
	}
	words := strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(" \n", r) })
	for i, w := range words {
		if i%3 == 0 { // each word is left out, or another one
			read(strings.Replace(whole, w, "", 1))
		} else {
			read(strings.Replace(whole, w, words[(i*7+3)%len(words)], 1))
		}
	}
	for _, attr := range []string{"expect", "replies", "inputs", "vars", "workflow", "run_for", "start_at", "crash_everywhere", "after"} {
		for _, v := range []string{"null", "[]", "{}", "[[]]", "[null]", "[{}]", "1", `""`, `"${1}"`, "[for x in [1] : x]", "[{ (1) = 2 }]", "file(\"x\")", "nosuch.x", "{ a = nosuch }", "[\"\"]", "[<<X\ny\nX\n]"} {
			read(regexp.MustCompile(`(?m)\b`+attr+` += .*$`).ReplaceAllString(whole, attr+" = "+v))
		}
	}
}

// The values of kv have the bounds that they have in a run.
func TestLargeValueInTest(t *testing.T) {
	for over, want := range []string{"", "A value of 65537 bytes"} {
		line := `"` + strings.Repeat("v", 1021) + "\",\n"
		text := "test \"one\" {\n  kv = { \"x/y\" = [\n" + strings.Repeat(line, 63) + `"` + strings.Repeat("v", 1020+over) + "\"] }\n  expect = [\"live == 0\"]\n}\n"
		_, list := LoadTests(fstest.MapFS{"p.flow.hcl": {Data: []byte(oneStep)}, "p.flowtest.hcl": {Data: []byte(text)}}, "p.flowtest.hcl", Options{})
		if want == "" && len(list) > 0 || want != "" && (len(list) != 1 || list[0].Summary != want) {
			t.Errorf("%d bytes too many: %v; want %q", over, list, want)
		}
	}
}

const oneStep = "workflow \"w\" {\n  step \"a\" { value = 1 }\n}\n"

// A stub of a step answers for each agent that may have its task: the two that a condition chooses from, and the fallbacks.
func TestStubOfSeveralAgents(t *testing.T) {
	const agents = `
agent "site" {
  type = "http"
  url  = "https://agent.example/ask"
}
agent "coder" {
  type    = "exec"
  command = ["coder"]
}
`
	for about, attrs := range map[string]string{
		"a choice":   "input \"cheap\" { type = bool }\n step \"a\" {\n agent = input.cheap ? agent.coder : agent.site\n task = \"do\"\n }",
		"a fallback": "input \"cheap\" { type = bool }\n step \"a\" {\n agent = agent.coder\n fallback = [agent.site]\n task = \"do\"\n }",
	} {
		tests := `test "one" {
  inputs = { cheap = false }
  step "a" { replies = [{ exit_code = 1 }, { status = 503 }, { output = "done" }] }
  expect = ["run.status == 'succeeded'"]
}`
		fsys := fstest.MapFS{"p.flow.hcl": {Data: []byte(agents + "workflow \"w\" {\n" + attrs + "\n}\n")}, "p.flowtest.hcl": {Data: []byte(tests)}}
		if _, list := LoadTests(fsys, "p.flowtest.hcl", Options{}); len(list) > 0 {
			t.Errorf("%s: %v", about, list)
		}
	}
}

// A reader loads a program once, however many test files it has.
func TestProgramIsLoadedOnce(t *testing.T) {
	fsys := opened{MapFS: fstest.MapFS{"p.flow.hcl": {Data: []byte(oneStep)}}, files: map[string]int{}}
	for _, name := range []string{"a", "b", "c", "p"} {
		fsys.MapFS[name+TestSuffix] = &fstest.MapFile{Data: []byte("test \"" + name + "\" { expect = [\"live == 0\"] }\n")}
	}
	if _, list := Check(fsys, ".", Options{}); len(list) > 0 {
		t.Fatal(list)
	}
	if n := fsys.files["p.flow.hcl"]; n > 2 {
		t.Errorf("checking a folder with four test files read its program %d times; once for itself and once for its tests are enough", n)
	}
}

// opened counts how often each file is opened.
type opened struct {
	fstest.MapFS
	files map[string]int
}

func (o opened) Open(name string) (fs.File, error) {
	o.files[name]++
	return o.MapFS.Open(name)
}
