package expr

import (
	"strings"
	"testing"
)

// Every function is documented, and nothing else is.
func TestFunctionsAreDocumented(t *testing.T) {
	known := map[string]bool{}
	for _, f := range Functions() {
		known[f.Name] = true
		if !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s has no sentence in functionDocs (about.go)", f.Name)
		}
		if (f.Example == "") != (f.Alias != "" || functions[f.Name] == nil && f.Name != "try" && f.Name != "can") || f.Example != "" && !strings.Contains(f.Example, f.Name+"(") {
			t.Errorf("%s has the example %q", f.Name, f.Example)
		}
	}
	for name := range functionDocs {
		if !known[name] {
			t.Errorf("functionDocs documents %s, which does not exist", name)
		}
	}
	for name := range predicates {
		if !known[name] {
			t.Errorf("the predicate %s is not listed", name)
		}
	}
}
