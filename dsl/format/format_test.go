package format

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/flowrun/flowrun/dsl/syntax"
)

// The rules, each with a text and its layout: testdata/rules. A middle dot stands for a blank that would not be seen.
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := strings.NewReplacer("·", " ", "→", "\t").Replace(d.Input) + "\n"
			out, list := Format("x", []byte(src))
			if list.HasErrors() {
				return list[0].Error()
			}
			again, _ := Format("x", out)
			if !bytes.Equal(out, again) {
				t.Errorf("%s: formatting again gives\n%s", d.Pos, again)
			}
			return string(out)
		})
	})
}

// What stands in no rule: ends of lines and of the file.
func TestEnds(t *testing.T) {
	for name, c := range map[string][2]string{
		"nothing":              {"", ""},
		"blanks only":          {" \n\t\n", ""},
		"no newline":           {"a = 1", "a = 1\n"},
		"a comment last":       {"a = 1 # b", "a = 1 # b\n"},
		"empty lines around":   {"\n\na = 1\n\n\n", "a = 1\n"},
		"CRLF":                 {"a = 1\r\nb {\r\n}\r\n", "a = 1\nb {\n}\n"},
		"a byte order mark":    {"\ufeffa=1\n", "a = 1\n"},
		"blanks of a heredoc":  {"a = <<EOT\n x  \n\n\n\ty\nEOT  \n", "a = <<EOT\n x  \n\n\n\ty\nEOT\n"},
		"blanks of a comment":  {"# a  \n/* b  \n  c */\n", "# a\n/* b  \n  c */\n"},
		"CRLF behind comments": {"a = 1 # b\r\n# c\r\n", "a = 1 # b\n# c\n"},
	} {
		out, list := Format("x", []byte(c[0]))
		if string(out) != c[1] || len(list) > 0 {
			t.Errorf("%s: %q, %v; want %q", name, out, list, c[1])
		}
	}
}

// A file with an error is refused with what syntax says of it.
func TestRefused(t *testing.T) {
	for _, src := range []string{"a = \n", "a {\n", "a = \"\n", "a = 1 b = 2\n", "\x00", "{}", "a: b\n"} {
		out, list := Format("x", []byte(src))
		_, want := syntax.Parse("x", []byte(src))
		if out != nil || !list.HasErrors() || len(list) != len(want) || list[0].Summary != want[0].Summary {
			t.Errorf("%q: %q, %v; want %v", src, out, list, want)
		}
	}
}

// Editors that lay HCL out by hclwrite leave our files alone, but for the rules that package documentation names.
func TestOtherEditors(t *testing.T) {
	paths, _ := filepath.Glob("../../examples/*/*.hcl")
	if len(paths) == 0 {
		t.Fatal("no examples found")
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out := hclwrite.Format(src); !bytes.Equal(out, src) {
			t.Errorf("hclwrite makes of %s\n%s", path, out)
		}
	}
}

// However a text is cut for hcl's scanner, the tokens are the same.
func TestChunks(t *testing.T) {
	texts := []string{"/* a\n b */ c = 1\n\n# d\ne = \"${\n f}\" // g\nh = <<-EOT\n i ${ {\n} }\n\n  EOT\nj = 4/ 2 * 3\nk = x.*.y\n", "é = \"日本\"\n/*日\n本 */\nü = 1\n"}
	paths, _ := filepath.Glob("../../examples/*/*.hcl")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		whole := slices.Collect(scanBy([]byte(text), len(text)))
		for size := 1; size < min(len(text), 200); size++ {
			lines := split(slices.Collect(scanBy([]byte(text), size)))
			if !same(lines, []byte(text)) || len(lines) != len(split(whole)) {
				t.Fatalf("in pieces of %d bytes %q has other tokens", size, text)
			}
		}
	}
}

// checkOf is what holds for any text: it is refused, or its layout is a fixed point that has the same tokens.
func checkOf(t *testing.T, src []byte) {
	out, list := Format("x", src)
	if list.HasErrors() != (out == nil && len(list) > 0) {
		t.Fatalf("%q with %v", out, list)
	}
	if list.HasErrors() {
		return
	}
	again, list := Format("x", out)
	if !bytes.Equal(out, again) || list.HasErrors() {
		t.Fatalf("%q\ngives %q\nand then %q, %v", src, out, again, list)
	}
}

func FuzzFormat(f *testing.F) {
	for _, pattern := range []string{"../testdata/*/*.hcl", "../../examples/*/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal(pattern, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(checkOf)
}
