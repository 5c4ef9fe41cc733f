package reference

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Every attribute is explained with an example.
func TestEveryAttributeHasAnExample(t *testing.T) {
	texts, n := shown(), 0
	for _, b := range table().Blocks {
		for _, a := range b.Attributes {
			if b.Later || a.Later {
				continue
			}
			n++
			if !slices.ContainsFunc(table().alike(&b, &a), func(kind string) bool { return texts[kind+"."+a.Name] != "" }) {
				t.Errorf("no example uses %s.%s: add it to a file of examples/", b.Kind, a.Name)
			}
		}
	}
	if n < 500 {
		t.Errorf("the table has %d attributes", n)
	}
	if text, _, _ := About("test.emit.forge"); !strings.HasSuffix(text, "Example:\n\n```hcl\n"+texts["test.emit.forge"]+"```") || !strings.Contains(text, "    forge = true\n") {
		t.Errorf("test.emit.forge is explained as %q", text)
	}
	if text := example("nothing", []string{"step"}); text != "" {
		t.Errorf("an attribute that no example uses is shown as %q", text)
	}
}

// The files of examples validate without a finding, and are laid out as fmt does it.
func TestExamplesValidate(t *testing.T) {
	dir := os.DirFS("examples")
	names, err := fs.Glob(dir, "*.hcl")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d examples, %v", len(names), err)
	}
	for _, name := range names {
		src, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if dsl.IsTest(name) {
			if _, list := dsl.LoadTests(dir, name, dsl.Options{}); len(list) > 0 {
				t.Errorf("%s: %v", name, list)
			}
		} else if _, list := dsl.Check(dir, name, dsl.Options{}); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
		if laid, list := format.Format(name, src); len(list) > 0 || string(laid) != string(src) {
			t.Errorf("%s: fmt makes of it (%v):\n%s", name, list, laid)
		}
	}
}

// An example is cut out of its file at the widest block that is short.
func TestShownIsShort(t *testing.T) {
	const long = "workflow \"w\" {\n" + "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" + "  step \"a\" {\n    run = [\"true\"]\n  }\n}\n"
	f, _ := syntax.Parse("flow.hcl", []byte(long))
	outer := f.Body.Blocks[0]
	inner := blockText(f, outer.Body.Blocks[0])
	if want := "step \"a\" {\n  run = [\"true\"]\n}\n"; inner != want || shortest([]string{long, blockText(f, outer), inner}) != want {
		t.Errorf("the block is shown as %q", inner)
	}
	if have := shortest([]string{"short\n", "inner\n"}); have != "short\n" {
		t.Errorf("of a short file %q is shown", have)
	}
}

// Each topic is offered and explained, and its programs validate.
func TestTopics(t *testing.T) {
	for word, want := range map[string]string{
		"conditions": "step.build.exit_code == 0", "types": "| `object({ NAME = T })` |", "exit-codes": "| 130 |", "names": "| `step` | The result of any node",
		"limits": "| instances of a for_each | 200,000 instances |",
	} {
		text, _, ok := About(word)
		if !ok || !strings.Contains(text, want) || !slices.Contains(Words(), word) {
			t.Errorf("%s is not explained, or not offered: %s", word, text)
		}
		for _, e := range strings.Split(text, "```hcl\n")[1:] {
			e, _, _ := strings.Cut(e, "```")
			if _, list := dsl.Check(fstest.MapFS{"flow.hcl": {Data: []byte(e)}}, "flow.hcl", dsl.Options{}); len(list) > 0 && word != "limits" {
				t.Errorf("%s: %v", word, list)
			}
			if laid, list := format.Format("flow.hcl", []byte(e)); len(list) > 0 || string(laid) != e {
				t.Errorf("%s: fmt makes of the example (%v):\n%s", word, list, laid)
			}
		}
	}
	if text, _, _ := About("names"); !strings.Contains(text, "| locals | `var`, `local` |") {
		t.Errorf("names does not say what locals read: %s", text)
	}
	for _, word := range typeWords {
		if text, _, _ := About(word); !strings.Contains(text, "# Types\n") {
			t.Errorf("%s is not explained as a type", word)
		}
	}
	if text, _, _ := About("limits"); !strings.Contains(text, "\n# Limits\n") || !strings.HasPrefix(text, "# limits\n") {
		t.Errorf("limits is the block of a loop, and what flowrun accepts: %.200s", text)
	}
}
