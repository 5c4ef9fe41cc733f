package reference

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
)

// The committed pages are those that the tables give.
func TestLanguage(t *testing.T) {
	for file, have := range map[string]string{"language.md": Language().Markdown(), "other-tools.md": OtherTools()} {
		if *rewrite {
			if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || have != string(want) {
			t.Errorf("%s is not what the tables give (%v): go generate ./dsl/reference writes it anew", file, err)
		}
	}
}

// In the page of the words of other tools, what is marked as code is code, and code is marked.
func TestOtherToolsMarksCode(t *testing.T) {
	span := regexp.MustCompile("`[^`]*`")
	sentence := regexp.MustCompile(`\b(Write|and|which|where|with its|leave|names|reads|step that)\b|  `)
	code := regexp.MustCompile(`[{}=]|\bflowrun [a-z]+ [A-Z]`)
	for _, part := range strings.Split(OtherTools(), "\n## ")[1:] {
		for _, s := range span.FindAllString(part, -1) {
			if found := sentence.FindString(s); found != "" {
				t.Errorf("%q is in the code %s:\n%s", found, s, part)
			}
		}
		if found := code.FindString(span.ReplaceAllString(part, "")); found != "" {
			t.Errorf("%q is not marked as code:\n%s", found, part)
		}
	}
}

// Everything in the table is told, and examples of functions have results.
func TestTable(t *testing.T) {
	table := Language()
	for name, list := range map[string][]Member{"roots": table.Roots, "results": table.Results, "errors": table.Errors, "run": table.Run, "recalled": table.Recalled, "tests": table.Tests, "calls": table.Calls, "requests": table.Requests} {
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

// What is told as for conditions only is refused in a value, and everything else is not.
func TestFunctionsStandWhereTheyAreTold(t *testing.T) {
	page := Language().Markdown()
	in := func(name, part string) bool { return strings.Contains(part, "\n| `"+name+"(") }
	values, conditions, _ := strings.Cut(page, "\nIn conditions only")
	for _, f := range table().Functions {
		_, list := load("workflow \"w\" {\n  step \"s\" { value = " + f.Name + "() }\n}\n")
		unknown := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "F0308" })
		if unknown != f.Asks {
			t.Errorf("%s is told as for conditions only: %v; in a value it is unknown: %v", f.Name, f.Asks, unknown)
		}
		if f.Alias == "" && (in(f.Name, conditions) != f.Asks || in(f.Name, values) == f.Asks) {
			t.Errorf("%s stands in the wrong table of the page", f.Name)
		}
	}
}

// Every probe is a place of the language: the checker takes the attribute there.
func TestProbes(t *testing.T) {
	for _, p := range probes {
		_, found := load(p.program("var.v"))
		for _, d := range found {
			if slices.Contains([]string{"F0101", "F0102", "F0106", "F0110", "F0111"}, d.Code) || strings.HasPrefix(d.Code, "F00") {
				t.Errorf("%s is not a place of the language any more (places.go): %v", p.place, d)
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
		"locals": "var local", "a gate at the top": "var local result", "for_each, max_concurrency, budget": "",
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
		"len": "an alias of `length`", "start": "# test.start", "runs.cause": "# runs.cause", "test.retry.from": "# test.retry.from", "when": "# when, in ", "needs": "depends_on = [step.NAME]", "any": "# any(list, body)", "file": "# file", "each": "# each", "error.kind": "# error.kind", "exit_code": "# exit_code", "step.exit_code": "# step.NAME.exit_code",
	} {
		if text, _, ok := About(word); !ok || !strings.Contains(text, want) {
			t.Errorf("%s: %q does not say %q", word, text, want)
		}
	}
	for word, want := range map[string]string{"stpe": "step", "F0392": "F0302", "step.wehn": "step.when", "uppper": "upper", "xyzzyxyzzy": "", "nostep.when": ""} {
		if _, near, ok := About(word); ok || near != want && word != "F0392" {
			t.Errorf("%s: near is %q, want %q", word, near, want)
		}
	}
}

// Whatever is planned is told as planned, with what to write today: by explain, in the page, and by the error.
func TestPlannedIsTold(t *testing.T) {
	page := Language().Markdown()
	for _, p := range table().Planned {
		words := []string{p.Name}
		if i := strings.LastIndexByte(p.Name, '.'); i >= 0 {
			words = []string{p.Name[i+1:]} // mcp, event
			if p.Kind == "attribute" {
				words = append(words, p.Name) // wait.event
			}
		}
		if p.Kind == "attribute" && len(words) == 1 {
			words = append(words, "sequence."+p.Name)
		}
		for _, word := range words {
			text, _, ok := About(word)
			if own := strings.Contains(text, "\nType: ") && p.Name != word; !ok || !own && (!strings.Contains(text, "planned, not in this release") || !strings.Contains(text, prose(p.Instead))) {
				t.Errorf("explain %s (%s) does not say that it is planned:\n%s", word, p.Kind, text)
			}
		}
		if !strings.Contains(page, "| `"+p.Name+"` | "+p.Kind+" | "+prose(p.Doc)+" | "+prose(p.Instead)+" |") {
			t.Errorf("%s: the page does not say what to write today", p.Name)
		}
	}
	for _, p := range schema.AllPlanned() {
		if text, _, ok := About(p.Block); p.Never && (!ok || !strings.Contains(text, "not in the language") || !strings.Contains(text, prose(p.Instead)) || strings.Contains(page, "`"+p.Block+"`")) {
			t.Errorf("%s is in no plan, and is told as if it were:\n%s", p.Block, text)
		}
	}
	for _, word := range Words() {
		name, about, _ := strings.Cut(word, "\t")
		if b := table().block(name); b != nil && b.Later != (about != "") {
			t.Errorf("%s is offered as %q", name, about)
		}
	}
}
