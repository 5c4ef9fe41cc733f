package schema

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// The table is whole: what may stand inside a block exists, and everything is documented.
func TestTable(t *testing.T) {
	inside := map[string]bool{"file": true}
	for kind, b := range Blocks {
		if b.Key() != kind || !strings.HasSuffix(b.Doc, ".") {
			t.Errorf("%s: kind %q, doc %q", kind, b.Kind, b.Doc)
		}
		for _, c := range b.Blocks {
			if b.Inside(c) == nil {
				t.Errorf("%s may hold %q, which is not in the table", kind, c)
				continue
			}
			inside[b.Inside(c).Key()] = true
		}
		seen := map[string]bool{}
		for _, a := range b.Attrs {
			if seen[a.Name] || !strings.HasSuffix(a.Doc, ".") {
				t.Errorf("%s.%s: twice or without a sentence (%q)", kind, a.Name, a.Doc)
			}
			seen[a.Name] = true
			if (a.Kind == Word || a.Kind == Join) != (len(a.Words) > 0) || (a.Kind == Ref || a.Kind == Refs) != (a.RefKind != "") {
				t.Errorf("%s.%s: words or kind of reference do not go with its kind %s", kind, a.Name, a.Kind)
			}
			if b.Attr(a.Name) == nil {
				t.Errorf("%s.%s is not found", kind, a.Name)
			}
		}
	}
	for kind := range Blocks {
		if !inside[kind] {
			t.Errorf("%q can stand nowhere", kind)
		}
	}
}

// Words of other tools are suggested only for what has no meaning here, and suggest something that exists.
func TestMeant(t *testing.T) {
	for word, meant := range Meant {
		first := strings.Fields(meant)[0]
		known := first == "a"
		for _, b := range Blocks {
			known = known || b.Kind == first || b.Attr(first) != nil
		}
		if !known {
			t.Errorf("%s: %q begins with nothing that exists", word, meant)
		}
	}
}

// Every code that the front half uses is in the list, and the list has no others.
func TestCodes(t *testing.T) {
	used := map[string]bool{}
	code := regexp.MustCompile(`"(F0[0-2]\d\d)"`)
	for _, dir := range []string{"../syntax", "../check", "../shell", ".."} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range code.FindAllStringSubmatch(string(b), -1) {
				used[m[1]] = true
				if Codes[m[1]] == "" {
					t.Errorf("%s uses %s, which is not in the list", f, m[1])
				}
			}
		}
	}
	var all []string
	for c := range Codes {
		all = append(all, c)
	}
	sort.Strings(all)
	for _, c := range all {
		if !used[c] {
			t.Errorf("%s is used nowhere", c)
		}
	}
}
