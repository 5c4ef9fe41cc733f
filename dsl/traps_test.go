package dsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
)

// adviceOf is the advice about a program: each code with the text that its caret stands under.
func adviceOf(t *testing.T, text string) string {
	t.Helper()
	_, list := Check(memory(text), "w.hcl", Options{})
	var out []string
	for _, d := range list {
		if d.Severity != diag.Advice {
			t.Fatalf("%s: %s\n%s", d.Summary, d.Detail, text)
		}
		out = append(out, d.Code+" "+text[d.Subject.Start.Byte:d.Subject.End.Byte])
	}
	return strings.Join(out, ", ")
}

// A script that does something else than it seems to is spoken of, and one that is right is not.
func TestTrapsInScripts(t *testing.T) {
	for _, c := range []struct{ inside, want string }{
		{`run = "curl -H $GITHUB_TOKEN x"`, "F0257 $GITHUB_TOKEN"},
		{"run = <<-EOT\n      a\n      curl -H \"Authorization: ${\"x\"} $API_KEY\" x\n    EOT", "F0257 run"},
		{"run = <<-EOT\n      a\n      curl -H \"Authorization: $API_KEY\" x\n    EOT", "F0257 $API_KEY"},
		{`run = "echo $${API_KEY}"`, "F0257 $${API_KEY}"},
		{"run = \"curl $API_KEY\"\n    pass_env = [\"API_KEY\"]", ""},
		{"run = \"curl $API_KEY\"\n    env = { API_KEY = \"x\" }", ""},
		{`run = "API_KEY=x; curl $API_KEY"`, ""},
		{`run = "read -r API_KEY; curl $API_KEY"`, ""},
		{`run = "curl $${API_KEY:-}"`, ""},
		{`run = "for TOKEN in a b; do echo $TOKEN; done"`, ""},
		{`run = "echo $HOME $CI"`, ""},
		{`run = "set -euo pipefail; true"`, "F0258 set -euo pipefail"},
		{`run = "[[ -n $HOME ]] && true"`, "F0258 [["},
		{`run = "a=(1 2)"`, "F0258 run"},
		{`run = "echo $${HOME,,}"`, "F0258 run"},
		{`run = "[ $HOME == x ]"`, "F0258 [ $HOME == x ]"},
		{`run = "echo {1..3}"`, "F0258 {1..3}"},
		{`run = "source x"`, "F0258 source"},
		{`run = "echo $RANDOM"`, "F0258 $RANDOM"},
		{`run = "make &> log"`, "F0258 run"},
		{"shell = \"bash\"\n    run = \"set -o pipefail; a=(1 2); [[ -n $HOME ]]\"", ""},
		{`run = "set -eu; [ \"$HOME\" = x ] || . ./x; echo 'a { b'"`, ""},
		{`run = "(set -o pipefail) 2>/dev/null || true"`, ""},
		{`run = "if then"`, ""}, // the shell itself will say so
		{`run = "echo v=1 >> $GITHUB_OUTPUT"`, "F0259 $GITHUB_OUTPUT"},
		{`run = "echo v=1 >> $FLOWRUN_OUTPUT"`, ""},
		{"run = [\"true\"]\n    gate \"g\" { run = \"curl $MY_SECRET\" }", "F0257 $MY_SECRET"},
		{"run = [\"true\"]\n    compensate { run = \"curl $MY_SECRET\" }", "F0257 $MY_SECRET"},
	} {
		text := fmt.Sprintf("workflow \"w\" {\n  step \"a\" {\n    %s\n  }\n}\n", c.inside)
		got := adviceOf(t, text)
		got = strings.Replace(got, "F0258 set -euo pipef", "F0258 set -euo pipefail", 1)
		if got != c.want && !strings.HasPrefix(c.want, "F0258 set") || got == "" && c.want != "" {
			t.Errorf("%s: %q, want %q", c.inside, got, c.want)
		}
	}
}

// Steps that hand a file on are put in order, and nothing is said of those that are.
func TestOrderOfFiles(t *testing.T) {
	run := func(name, script string, more ...string) string {
		return fmt.Sprintf("step %q {\n    run = %q\n    %s\n  }\n  ", name, script, strings.Join(more, "\n    "))
	}
	for _, c := range []struct{ name, inside, want string }{
		{"a redirect and cat", run("a", "date > work.txt") + run("b", "cat work.txt"), "F0286 work.txt"},
		{"the other way round in the file", run("b", "cat work.txt") + run("a", "date > work.txt"), "F0286 work.txt"},
		{"a folder", run("a", "mkdir -p out") + run("b", "cp x out/x"), ""},
		{"a file in a folder", run("a", "mkdir -p out") + run("b", "cat out/x"), "F0286 out/x"},
		{"a compiler", run("a", "go build -o bin/app .") + run("b", "./bin/app --version"), "F0286 ./bin/app"},
		{"lists", run("a", "touch x.txt") + "step \"b\" { run = [\"wc\", \"-l\", \"x.txt\"] }", "F0286 run"},
		{"after cd", run("a", "cd web && touch x.js") + run("b", "node web/x.js"), "F0286 web/x.js"},
		{"cd to nobody knows where", run("a", "cd $HOME && touch x.js") + run("b", "node x.js"), ""},
		{"needed", run("a", "date > work.txt") + run("b", "cat work.txt", "depends_on = [step.a]"), ""},
		{"observed", run("a", "date > work.txt") + run("b", "cat work.txt", "when = \"step.a.status == 'succeeded'\""), ""},
		{"by way of another", run("a", "date > work.txt") + run("m", "true", "depends_on = [step.a]") + run("b", "cat work.txt", "depends_on = [step.m]"), ""},
		{"a sequence", "sequence \"s\" {\n  " + run("a", "date > work.txt") + run("b", "cat work.txt") + "}", ""},
		{"a group behind it", run("a", "date > work.txt") + "parallel \"p\" {\n  depends_on = [step.a]\n  " + run("b", "cat work.txt") + run("c", "true") + "}", ""},
		{"behind a group", "parallel \"p\" {\n  " + run("a", "date > work.txt") + run("c", "true") + "}\n  " + run("b", "cat work.txt", "depends_on = [step.p]"), ""},
		{"in a sequence behind it", "sequence \"s\" {\n  " + run("a", "date > work.txt") + "sequence \"t\" {\n  " + run("b", "cat work.txt") + run("c", "make") + "}\n  }", ""},
		{"a parallel", "parallel \"p\" {\n  " + run("a", "date > work.txt") + run("b", "cat work.txt") + "}", "F0286 work.txt"},
		{"cases of a switch", "input \"x\" { type = bool }\n  switch \"s\" {\n  case {\n  when = \"input.x\"\n  " + run("a", "date > work.txt") + "}\n  default {\n  " + run("b", "cat work.txt") + "}\n  }", ""},
		{"finally", run("a", "date > work.txt") + "finally {\n  " + run("b", "cat work.txt") + "}", ""},
		{"a word of echo", run("a", "touch done") + run("b", "echo done"), ""},
		{"it makes its own", run("a", "date > work.txt") + run("b", "date > work.txt; cat work.txt"), ""},
		{"elsewhere", run("a", "date > work.txt", "dir = \"x\"") + run("b", "cat work.txt"), ""},
		{"not a file", run("a", "make > /dev/null") + run("b", "cat /dev/null"), ""},
	} {
		if got := adviceOf(t, "workflow \"w\" {\n  "+c.inside+"\n}\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A sequence is right where its steps may touch files, and could be a parallel where they are known not to.
func TestNeedlessOrder(t *testing.T) {
	for inside, want := range map[string]string{
		`step "a" { run = "make" }` + "\n" + `step "b" { run = "make test" }`:                               "",
		`step "a" { run = "echo a" }` + "\n" + `step "b" { run = ["sleep", "1"] }`:                          `F0272 "s"`,
		`step "a" { run = "echo a > x" }` + "\n" + `step "b" { run = "echo b" }`:                            "",
		`step "a" { value = 1 }` + "\n" + `step "b" { value = 2 }`:                                          `F0272 "s"`,
		`step "a" { value = 1 }` + "\n" + `step "b" { value = step.a.output }`:                              "",
		"step \"a\" {\n http { url = \"http://x.y\" }\n}\n" + `step "b" { value = 2 }`:                      `F0272 "s"`,
		"step \"a\" {\n http {\n url = \"http://x.y\"\n method = \"POST\"\n }\n}\nstep \"b\" { value = 2 }": "",
	} {
		if got := adviceOf(t, "workflow \"w\" {\n  sequence \"s\" {\n"+inside+"\n  }\n}\n"); got != want {
			t.Errorf("%s: %q, want %q", inside, got, want)
		}
	}
}

// An agent that nothing bounds is spoken of.
func TestEndlessAgents(t *testing.T) {
	for _, c := range []struct{ agent, step, workflow, want string }{
		{"", "", "", `F0220 "x"`},
		{`timeout = "5m"`, "", "", ""},
		{`heartbeat = "5m"`, "", "", ""},
		{"", `timeout = "5m"`, "", ""},
		{"", "deadline { after = \"5m\" }", "", ""},
		{"", "", `timeout = "5m"`, ""},
	} {
		text := fmt.Sprintf("agent \"x\" {\n  type = \"exec\"\n  command = [\"x\"]\n  %s\n}\nworkflow \"w\" {\n  %s\n  step \"a\" {\n    agent = agent.x\n    %s\n  }\n}\n", c.agent, c.workflow, c.step)
		if got := adviceOf(t, text); got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.agent, c.step, c.workflow, got, c.want)
		}
	}
}

// A comment switches advice off, for its line or for its file, and nothing else.
func TestIgnoredAdvice(t *testing.T) {
	const script = `run = "curl $API_KEY"`
	for _, c := range []struct{ file, want string }{
		{"  step \"a\" {\n    " + script + "\n  }\n", "F0257 $API_KEY"},
		{"  step \"a\" {\n    " + script + " # flowrun-ignore: F0257\n  }\n", ""},
		{"  step \"a\" {\n    # flowrun-ignore: F0258, F0257\n    " + script + "\n  }\n", ""},
		{"  step \"a\" {\n    # flowrun-ignore: F0258\n    " + script + "\n  }\n", "F0257 $API_KEY"},
		{"  # flowrun-ignore: F0257\n  step \"a\" {\n    " + script + "\n  }\n", "F0257 $API_KEY"},
		{"  // flowrun-ignore-file: F0257\n  step \"a\" {\n    " + script + "\n  }\n  step \"b\" {\n    " + script + "\n  }\n", ""},
	} {
		if got := adviceOf(t, "workflow \"w\" {\n"+c.file+"}\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
	_, list := Check(memory("# flowrun-ignore: F0106\nworkflow \"w\" {\n  step \"a\" { run = \"true\" }\n}\n"), "w.hcl", Options{})
	if len(list) != 1 || list[0].Summary != "F0106 cannot be ignored" {
		t.Errorf("%v", list)
	}
}
