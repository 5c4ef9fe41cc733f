package reference

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
)

// surroundings are programs with less around a place than the one that the table is made with, each with the roots that need
// what it lacks.
var surroundings = []struct{ name, text, without string }{
	{"a step alone", `
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  step "first" { value = 1 }
  step "here" {
    run = ["true"]
    NODE
  }
}
`, "each iteration previous last feedback"},
	{"a step with a for_each, and a retry of the workflow", `
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  retry { max_attempts = 2 }
  step "first" { value = 1 }
  step "here" {
    for_each = ["x"]
    run      = ["true"]
    NODE
  }
}
`, "iteration previous last feedback"},
	{"a step with a condition in a sequence", `
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  step "first" { value = 1 }
  sequence "s" {
    GROUP
    step "before" { value = 1 }
    step "here" {
      when  = "input.i == 1"
      run   = ["true"]
      gates = [gate.again]
      NODE
    }
  }
}
`, "each iteration last"},
	{"a step with a trigger rule in a repeated group", `
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  parallel "p" {
    GROUP
    repeat { max = 2 }
    step "first" { value = 1 }
    step "here" {
      trigger_rule = "all_done"
      run          = ["true"]
      NODE
    }
  }
}
`, "each previous feedback"},
}

// The table of names and places is true in every surrounding that has what a name needs: a name that it shows can be read there.
func TestPlacesAnywhere(t *testing.T) {
	tried := 0
	for _, s := range surroundings {
		head := probed[:strings.Index(probed, "workflow")]
		for i, place := range places() {
			p := probes[i]
			if !strings.Contains(head+s.text, strings.ToUpper(p.at)+"\n") || strings.HasPrefix(p.place, "when") && strings.Contains(s.text, "when ") || strings.HasPrefix(p.place, "for_each") && strings.Contains(s.text, "for_each") {
				continue
			}
			for _, root := range place.Reads {
				if slices.Contains(strings.Fields(s.without), root) || root == "healed" && p.at != "top" { // these have no escalation
					continue
				}
				tried++
				text := fill(head+s.text, p, reads[root])
				_, found := load(text)
				for _, d := range found {
					if d.Severity == diag.Error && (slices.Contains(hidden, d.Code) || strings.HasPrefix(d.Code, "F00") || strings.HasPrefix(d.Code, "F010") && d.Code != "F0107") {
						t.Errorf("%s in %s, %s: %v\n%s", root, p.place, s.name, d, d.Detail)
					}
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d names in places were tried", tried)
	}
}
