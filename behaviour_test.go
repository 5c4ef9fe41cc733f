package flowrun_test

import (
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

// behaviours says with which versions of the libraries that decide what an expression means each behaviour number was
// given out. Journals carry the number; a run is replayed by the rules of its number. To change a version, look at the
// corpus of journals first: if one of them diverges, the number rises and the old meaning is kept for old journals.
var behaviours = map[int][]string{
	1: {
		"github.com/hashicorp/hcl/v2 v2.25.0",
		"github.com/zclconf/go-cty v1.19.0",
		"github.com/expr-lang/expr v1.17.8",
		"github.com/santhosh-tekuri/jsonschema/v6 v6.0.3",
	},
}

func TestBehaviourNumberKnowsItsLibraries(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := behaviours[ir.Behaviour]
	if len(want) == 0 {
		t.Fatalf("behaviour %d has no versions", ir.Behaviour)
	}
	for _, v := range want {
		if !strings.Contains(string(mod), "\t"+v+"\n") && !strings.Contains(string(mod), "\t"+v+" //") {
			t.Errorf("go.mod does not have %s, for which behaviour %d was given out", v, ir.Behaviour)
		}
	}
}
