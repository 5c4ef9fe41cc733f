package reference

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The committed page is the one that the tables give.
func TestLanguage(t *testing.T) {
	have := Language().Markdown()
	if *rewrite {
		if err := os.WriteFile("language.md", []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("language.md")
	if err != nil || have != string(want) {
		t.Errorf("language.md is not what the tables give (%v): go generate ./dsl/reference writes it anew", err)
	}
}

// Everything in the table is told, and examples of functions have results.
func TestTable(t *testing.T) {
	table := Language()
	for name, list := range map[string][]Member{"roots": table.Roots, "results": table.Results, "errors": table.Errors, "run": table.Run, "recalled": table.Recalled} {
		for _, m := range list {
			if m.Doc == "" {
				t.Errorf("%s: %s has no sentence (docs.go)", name, m.Name)
			}
		}
	}
	for _, f := range table.Functions {
		if f.Example != "" && f.Result == "" {
			_, found := load("workflow \"w\" {\n  step \"s\" { value = " + f.Example + " }\n}\n")
			t.Errorf("the example of %s gives nothing: %v", f.Name, found)
		}
	}
	for _, l := range table.Limits {
		if l.Most <= 0 {
			t.Errorf("%s: %d", l.What, l.Most)
		}
	}
	if b, err := json.Marshal(table); err != nil || len(b) < 10_000 {
		t.Errorf("%d bytes of JSON: %v", len(b), err)
	}
}

// Every probe is a place of the language: the checker takes the attribute there.
func TestProbes(t *testing.T) {
	for _, p := range probes {
		_, found := load(p.program("var.v"))
		for _, d := range found {
			if slices.Contains([]string{"F0101", "F0102", "F0106", "F0110", "F0111"}, d.Code) || strings.HasPrefix(d.Code, "F00") {
				t.Errorf("%s is no place of the language any more (places.go): %v", p.place, d)
			}
		}
	}
}

// What can be read where is asked of the checker; these are some of its answers.
func TestPlaces(t *testing.T) {
	of := map[string]string{}
	for _, p := range places() {
		of[p.Place] = strings.Join(p.Reads, " ")
	}
	for place, want := range map[string]string{
		"locals": "var local", "a gate at the top": "var local result", "for_each, max_concurrency": "",
		"run, task, with, env, dir": "var local input step each run attempt previous error",
	} {
		have, ok := of[place]
		for _, root := range strings.Fields(want) {
			if !strings.Contains(" "+have+" ", " "+root+" ") {
				t.Errorf("%s: %s cannot be read", place, root)
			}
		}
		if !ok {
			t.Errorf("there is no place %q", place)
		}
	}
	if strings.Contains(of["locals"], "step") || strings.Contains(of["when"], "attempt") {
		t.Errorf("too much can be read: %v", of)
	}
}

func TestAbout(t *testing.T) {
	for word, want := range map[string]string{
		"F0302": "# F0302: ", "f0302": "# F0302: ", "step": `# step "NAME"`, "step.when": "# step.when", "agent.retry": "# retry", "upper": "`upper(\"abc\")` is `\"ABC\"`",
		"len": "another name of `length`", "when": "# when, in ", "needs": "depends_on = [step.NAME]", "any": "# any(list, body)", "file": "# file", "each": "# each", "error.kind": "# error.kind", "exit_code": "# exit_code", "step.exit_code": "# step.NAME.exit_code",
	} {
		if text, _, ok := About(word); !ok || !strings.Contains(text, want) {
			t.Errorf("%s: %q does not say %q", word, text, want)
		}
	}
	for word, want := range map[string]string{"stpe": "step", "F0392": "F0302", "step.wehn": "step.when", "uper": "upper", "xyzzyxyzzy": "", "nostep.when": ""} {
		if _, near, ok := About(word); ok || near != want && word != "F0392" {
			t.Errorf("%s: near is %q, want %q", word, near, want)
		}
	}
}
