package reference

import (
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// examples are programs that show attributes in use, by their names: the files of folder examples, the examples of blocks, and what
// the pages of codes show as accepted. Tests say that all of them validate.
func examples() map[string]string {
	all := map[string]string{}
	list, _ := files.ReadDir("examples") // embedded: there
	for _, f := range list {
		text, _ := files.ReadFile("examples/" + f.Name())
		all[f.Name()] = string(text)
	}
	for kind, b := range schema.Blocks {
		if b.Example != "" {
			all["block "+kind] = wholeFile(b.Example)
		}
	}
	for _, code := range Codes() {
		if p, ok := PageOf(code); ok && p.Good.Path == "" && !strings.Contains("\n"+p.Good.Text, "\n-- ") && !strings.Contains(p.Good.Text, "⟨") {
			all["page "+code] = p.Good.Text
		}
	}
	return all
}

// wholeFile makes a file of the example of a block.
func wholeFile(example string) string {
	if strings.Contains("\n"+example, "\nworkflow ") {
		return example
	}
	return "workflow \"w\" {\n" + example + "}\n"
}

// shown are the shortest texts of the examples that show attributes, by BLOCK.ATTRIBUTE.
var shown = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	var walk func(f *syntax.File, body *syntax.Body, in *schema.Block, around []string)
	walk = func(f *syntax.File, body *syntax.Body, in *schema.Block, around []string) {
		for _, a := range body.Attrs {
			key, text := in.Key()+"."+a.Name, shortest(around)
			if old := out[key]; old == "" || len(text) < len(old) || len(text) == len(old) && text < old {
				out[key] = text
			}
		}
		for _, b := range body.Blocks {
			if kind := in.Inside(b.Kind); kind != nil {
				walk(f, &b.Body, kind, append(slices.Clip(around), blockText(f, b)))
			}
		}
	}
	for name, text := range examples() {
		top := schema.Blocks["file"]
		if strings.HasSuffix(name, ".flowtest.hcl") {
			top = schema.Blocks["flowtest"]
		}
		f, _ := syntax.Parse(name, []byte(text)) // with an error it has no blocks
		walk(f, &f.Body, top, []string{text})
	}
	return out
})

// example shows an attribute in the first of some blocks that examples show it in. It is "" if there is none.
func example(name string, blocks []string) string {
	for _, b := range blocks {
		if text := shown()[b+"."+name]; text != "" {
			return "\nExample:\n\n```hcl\n" + text + "```"
		}
	}
	return ""
}

// shownLines is how long a text around an attribute may be that is shown in place of its block alone.
const shownLines = 14

// shortest chooses what is shown of an attribute whose blocks are around it, the file first: the widest text that is short, or else its
// block.
func shortest(around []string) string {
	for _, text := range around {
		if strings.Count(text, "\n") <= shownLines {
			return text
		}
	}
	return around[len(around)-1]
}

// blockText is the text of a block, moved to the first column.
func blockText(f *syntax.File, b *syntax.Block) string {
	src := string(f.Src)
	start := strings.LastIndexByte(src[:b.Range.Start.Byte], '\n') + 1
	indent := src[start:b.Range.Start.Byte]
	return strings.ReplaceAll("\n"+src[start:b.End], "\n"+indent, "\n")[1:] + "\n"
}
