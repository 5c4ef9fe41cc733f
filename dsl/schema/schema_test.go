package schema

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// The table is whole: what may stand inside a block exists, and everything is documented.
func TestTable(t *testing.T) {
	inside := map[string]bool{"file": true, "flowtest": true}
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
			if (a.Kind == Word || a.Kind == Join) != (len(a.Words) > 0) || (a.Kind == Ref || a.Kind == Refs || a.Kind == Value && a.Pools) != (a.RefKind != "") {
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
	code := regexp.MustCompile(`"(F0[0-2]\d\d|F03[2-9]\d|F040[789]|F04[1-4]\d)"`)
	for _, dir := range []string{"../syntax", "../check", "../core", "../shell", ".."} {
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

// What is planned says what it is for and what to write today, and is nowhere described as if it were there.
func TestPlanned(t *testing.T) {
	used := map[*Planned]bool{}
	for _, b := range Blocks {
		used[b.Later] = true
		for _, a := range b.Attrs {
			used[a.Later] = true
			for _, m := range a.Members {
				used[m.Later] = true
			}
		}
	}
	for i := range AllPlanned() {
		p := &planned[i]
		if !strings.HasSuffix(p.Doc, ".") || !strings.HasSuffix(p.Instead, ".") || strings.Contains(p.Instead, "\n") {
			t.Errorf("%s: what it is for is %q, what to write today %q: both are sentences", p, p.Doc, p.Instead)
		}
		switch a := (*Attr)(nil); {
		case p.Word != "":
			if a = Blocks[p.Block].Attr(p.Attr); a == nil || slices.Contains(a.Words, p.Word) {
				t.Errorf("%s: %s.%s does not exist, or has the word: take the row out", p, p.Block, p.Attr)
			}
		case p.Name != "":
			if slices.Contains(Roots, p.Name) {
				t.Errorf("%s can be read: take the row out", p)
			}
		case !used[p]:
			t.Errorf("%s is used nowhere: take the row out", p)
		}
		for _, q := range planned[:i] {
			if q.String() == p.String() && q.Block == p.Block {
				t.Errorf("%s has two rows", p)
			}
		}
	}
	for word, meant := range Meant {
		if b := Blocks[strings.Fields(meant)[0]]; b != nil && b.Later != nil {
			t.Errorf("%q is said to be %q, which is planned", word, meant)
		}
	}
}

// What is advised in place of what is planned names nothing that is planned itself.
func TestInsteadIsThere(t *testing.T) {
	later := map[string]bool{}
	for _, p := range planned {
		if p.Attr == "" && p.Name == "" && p.Block != "" && p.Block != "on" {
			later[p.Block] = true
		}
	}
	for _, p := range planned {
		for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(p.Instead, -1) {
			if later[word] {
				t.Errorf("%s: %q stands in what to write today, and is planned", &p, word)
			}
		}
	}
}
