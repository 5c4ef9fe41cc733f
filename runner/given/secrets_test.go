package given

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A secret is found where it was taken from, however the process is called that looks for it; whatever is wrong with it is told by kind
// and place, and never by its value.
func TestSecretsAreFoundAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name   string
		place  Place
		before func()
		told   string // a value that somebody gives anew
		renew  bool
		flaw   Flaw
	}{
		{name: "environment", place: Place{Env, "TOKEN"}},
		{name: "an empty environment", place: Place{Env, "OTHER"}, flaw: Missing},
		{name: "another environment", place: Place{Env, "CHANGED"}, flaw: Changed},
		{name: "another environment that may be", place: Place{Env, "CHANGED"}, renew: true},
		{name: "file of an environment", place: Place{EnvFile, ".env"}, before: func() { writeFile(t, ".env", "FLOWRUN_VAR_token=canary-one\n") }},
		{name: "a broken file of an environment", place: Place{EnvFile, "broken.env"}, before: func() { writeFile(t, "broken.env", "canary-one\n") }, flaw: Unreadable},
		{name: "file of variables", place: Place{VarFile, "vars.hcl"}, before: func() { writeFile(t, "vars.hcl", "token = \"canary-one\"\n") }},
		{name: "file of other variables", place: Place{VarFile, "others.json"}, before: func() { writeFile(t, "others.json", "{}") }, flaw: Missing},
		{name: "file of the value", place: Place{File, "token"}, before: func() { writeFile(t, "token", "canary-one") }},
		{name: "no file", place: Place{File, "nowhere"}, flaw: Unreadable},
		{name: "somebody", place: Place{Kind: Told}, flaw: Missing},
		{name: "somebody, again", place: Place{Kind: Told}, told: "canary-one"},
		{name: "somebody, another", place: Place{Kind: Told}, told: "canary-two", flaw: Changed},
		{name: "somebody, for a file", place: Place{File, "nowhere"}, told: "canary-one"},
		{name: "a value that is too short", place: Place{Kind: Told}, told: "7", renew: true, flaw: "short"},
	} {
		p := &ir.Program{Variables: []ir.Variable{{Name: "token", Type: value.StringType, Sensitive: true}}, Workflows: []ir.Workflow{{Name: "w"}}}
		vars := NewValues()
		vars.Values["token"], vars.From["token"] = "canary-one", c.place
		held, marks, problems := Seal(p.Variables, vars, nil, NewValues())
		if problems != nil || held["var.token"] != "canary-one" || len(vars.Values) > 0 {
			t.Fatal(held, problems)
		}
		if c.before != nil {
			c.before()
		}
		again := NewValues()
		if c.told != "" {
			again.Values["token"], again.From["token"] = c.told, Place{Kind: Told}
		}
		place := ParsePlace(marks["var.token"].From)
		if place.Kind != c.place.Kind || place.Name != c.place.Name && !filepath.IsAbs(place.Name) {
			t.Errorf("%s: the place is recorded as %q", c.name, marks["var.token"].From)
		}
		held, renewed, problems := Search{First: &event.RunStarted{Workflow: "w", Secrets: marks}, Program: p, Vars: again, Inputs: NewValues(),
			Renew: func(ref string) bool { return c.renew && ref == "var.token" },
			LookupEnv: func(name string) (string, bool) {
				v, ok := map[string]string{"TOKEN": "canary-one", "CHANGED": "canary-two"}[name]
				return v, ok
			}}.Find()
		var flaw Flaw
		for _, err := range problems {
			var p *Problem
			if flaw = "short"; errors.As(err, &p) {
				flaw = p.Flaw
			}
			if text := fmt.Sprint(err); strings.Contains(text, "canary") || strings.Contains(text, "--") {
				t.Errorf("%s: %s", c.name, text)
			}
		}
		if flaw != c.flaw || flaw == "" && (held["var.token"] == nil || c.renew != (len(renewed) == 1)) {
			t.Errorf("%s: %v, %d renewed, %v; want the flaw %q", c.name, held, len(renewed), problems, c.flaw)
		}
	}
}
