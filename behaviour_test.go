package flowrun_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

// behaviours says with which versions of the libraries that decide what an expression means each behaviour number was
// given out. Journals carry the number; a run is replayed by the rules of its number. To change a version, look at the
// corpus of journals first: if one of them diverges, the number rises and the old meaning is kept for old journals.
//
// Go itself is one of them: its tables of Unicode decide upper case and what a letter is, and regexp, strconv, time and
// encoding/json decide what an expression gives. Only the minor version counts, as patch releases of Go mend security and
// severe bugs and must be taken at once. golang.org/x/text normalizes strings, by tables of Unicode of its own. From
// 0.31 to 0.43, under one Go, its tables stayed the same; it mended how it composes a mark with a base that shares 16 bits with another, and marks behind a syllable of
// Hangul: of 1,600,000 texts that were put together of marks, 4 were normalized otherwise, and none without such a pair.
var behaviours = map[int][]string{
	1: {
		"go 1.26",
		"github.com/hashicorp/hcl/v2 v2.25.0",
		"github.com/zclconf/go-cty v1.19.0",
		"github.com/expr-lang/expr v1.17.8",
		"github.com/santhosh-tekuri/jsonschema/v6 v6.0.3",
		"golang.org/x/text v0.43.0",
	},
	2: {
		"go 1.26",
		"github.com/hashicorp/hcl/v2 v2.25.0",
		"github.com/zclconf/go-cty v1.19.0",
		"github.com/expr-lang/expr v1.17.8",
		"github.com/santhosh-tekuri/jsonschema/v6 v6.0.3",
		"golang.org/x/text v0.43.0",
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
	for _, v := range differing(want, string(mod), runtime.Version()) {
		t.Errorf("behaviour %d was given out for %s. Replay the corpus of journals with the new version (go test ./cmd/... ./runner/...), "+
			"read its release notes for what strings, regular expressions, numbers and times mean, then change the version here; "+
			"where a journal diverges, raise ir.Behaviour", ir.Behaviour, v)
	}
}

// differing are the versions that go.mod, or the Go that runs the tests, does not have.
func differing(want []string, mod, running string) (out []string) {
	for _, v := range want {
		minor, isGo := strings.CutPrefix(v, "go ")
		switch {
		case !isGo:
			if !strings.Contains(mod, "\t"+v+"\n") && !strings.Contains(mod, "\t"+v+" //") {
				out = append(out, v)
			}
		case !strings.Contains(mod, "\ngo "+minor+"."):
			out = append(out, v+", and go.mod has another")
		case running != "go"+minor && !strings.HasPrefix(running, "go"+minor+"."):
			out = append(out, v+", and "+running+" runs")
		}
	}
	return out
}

// TestOtherVersionsAreFound gives another version of each kind.
func TestOtherVersionsAreFound(t *testing.T) {
	const mod = "module m\n\ngo 1.26.0\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0 // indirect\n)\n"
	for _, c := range []struct {
		want, running string
		found         bool
	}{
		{"go 1.26", "go1.26.8", false},
		{"go 1.26", "go1.26", false},
		{"go 1.26", "go1.27.0", true},
		{"go 1.2", "go1.26.8", true},
		{"go 1.27", "go1.27.1", true},
		{"example.com/a v1.0.0", "go1.26.8", false},
		{"example.com/b v1.0.0", "go1.26.8", false},
		{"example.com/a v1.0.1", "go1.26.8", true},
		{"example.com/c v1.0.0", "go1.26.8", true},
	} {
		if got := differing([]string{c.want}, mod, c.running); (len(got) > 0) != c.found {
			t.Errorf("%s under %s: found %q", c.want, c.running, got)
		}
	}
}
