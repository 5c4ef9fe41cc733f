package reference

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/schema"
)

// The example of a block is right, shows the block, and is printed where the block is explained.
func TestExamplesOfBlocks(t *testing.T) {
	examples := 0
	for kind, b := range schema.Blocks { // any order: each for itself
		if b.Example == "" {
			continue
		}
		examples++
		text := b.Example
		if !strings.Contains(text, "\nworkflow ") {
			text = "workflow \"w\" {\n" + b.Example + "}\n"
		}
		if _, list := dsl.Check(fstest.MapFS{"flow.hcl": {Data: []byte(text)}}, "flow.hcl", dsl.Options{}); len(list) > 0 {
			t.Errorf("%s: %v", kind, list)
		}
		if about, _, _ := About(kind); !strings.Contains(about, b.Example) || !strings.Contains(b.Example, kind+" {") && !strings.Contains(b.Example, kind+` "`) {
			t.Errorf("%s is explained without its example", kind)
		}
	}
	if examples == 0 {
		t.Error("no block has an example")
	}
}

// ofAttribute is the example of an attribute: a part of a program.
var ofAttribute = regexp.MustCompile("(?s)\nExample:\n\n```hcl\n.*?```")

// literalWord is an attribute with a literal text in the prose of a page.
var literalWord = regexp.MustCompile("`([a-z_]+) = \"([^\"$]*)\"`")

// attrWords lists the words that attributes of a name can have; none if one of them takes other text.
func attrWords(name string) (out []string) {
	for _, b := range schema.Blocks {
		if a := b.Attr(name); a != nil && a.Kind != schema.Word {
			return nil
		} else if a != nil {
			out = append(out, a.Words...)
		}
	}
	return out
}

// Each word of other tools is explained with an example that validates without a finding, is laid out as fmt does it, and shows what
// this release carries out. The words are offered, and a slip of a finger is answered with them.
func TestWordsOfOtherTools(t *testing.T) {
	for _, word := range append(slices.Clone(schema.OtherTools), "for_each", "FLOWRUN_OUTPUT") {
		about, _, ok := About(word)
		examples := strings.Split(ofAttribute.ReplaceAllString(about, ""), "```hcl\n")[1:]
		if !ok || len(examples) == 0 {
			t.Errorf("%s is explained without an example", word)
		}
		for _, m := range literalWord.FindAllStringSubmatch(about, -1) {
			if words := attrWords(m[1]); len(words) > 0 && !slices.Contains(words, m[2]) {
				t.Errorf("%s says %s = %q, and %s is one of %q", word, m[1], m[2], m[1], words)
			}
		}
		for _, e := range examples {
			e, _, _ := strings.Cut(e, "```")
			if _, list := dsl.Check(fstest.MapFS{"flow.hcl": {Data: []byte(e)}}, "flow.hcl", dsl.Options{}); len(list) > 0 {
				t.Errorf("%s: %v", word, list)
			}
			if laid, list := format.Format("flow.hcl", []byte(e)); len(list) > 0 || string(laid) != e {
				t.Errorf("%s: fmt makes of the example (%v):\n%s", word, list, laid)
			}
		}
		if word != "for_each" && !slices.ContainsFunc(Words(), func(w string) bool { return strings.HasPrefix(w, word) }) {
			t.Errorf("%s is not offered", word)
		}
	}
	if _, near, ok := About("brodcast"); ok || near != "broadcast" {
		t.Errorf("brodcast: %v, did you mean %q", ok, near)
	}
	if about, _, _ := About("check"); !strings.Contains(about, "# check, in gate") {
		t.Error("check is no longer explained as an attribute of a gate")
	}
}
