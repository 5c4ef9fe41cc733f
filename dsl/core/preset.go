package core

import (
	"bytes"
	"embed"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Each preset is a file with one agent block. Its attributes stand for the attribute preset of an agent, without those that the agent has itself.
//
//go:embed presets/*.hcl
var presetFiles embed.FS

// placeholder stands for a preset that does not exist, so that the rest of the agent can be checked.
const placeholder = "agent \"x\" {\n  type = \"exec\"\n  command = [\"PROGRAM\"]\n}\n"

// preset makes the edit that writes an agent out whose attributes come from a preset.
func (c *collector) preset(agent *syntax.Block) {
	a := agent.Body.Attr("preset")
	if a == nil {
		return
	}
	text, found := readPreset(plainText(a))
	from, to := a.Range.Start.Byte, a.Span().End.Byte
	c.edits = append(c.edits, edit{from, to, func(w *writer) {
		w.anchor(a.Range)
		oneLine := bytes.IndexByte(agent.File.Src[agent.Range.Start.Byte:agent.End], '\n') < 0
		if oneLine {
			w.say("\n")
		}
		if !found { // the check reports the name
			w.copy(from, to)
			w.say("\n")
		}
		w.say("%s", missing(text, agent))
		if oneLine {
			w.say("\n")
		}
	}})
}

// missing is what the agent of a preset has and another agent lacks, a line each. How the program takes a session belongs to its command.
func missing(preset string, agent *syntax.Block) string {
	f, _ := lenient.Parse("preset", []byte(preset))
	b := f.Body.Blocks[0]
	var out []string
	for _, a := range b.Body.Attrs {
		ofCommand := strings.HasSuffix(a.Name, "_session") && agent.Body.Attr("command") != nil
		if agent.Body.Attr(a.Name) == nil && !ofCommand {
			out = append(out, string(f.Src[a.Range.Start.Byte:a.Span().End.Byte]))
		}
	}
	return strings.Join(out, "\n")
}

// plainText is the text of the attribute; "" where it is not plain text.
func plainText(a *syntax.Attr) string {
	t, ok := a.Expr().(*hclsyntax.TemplateExpr)
	if !ok || len(t.Parts) != 1 {
		return ""
	}
	if l, ok := t.Parts[0].(*hclsyntax.LiteralValueExpr); ok {
		return l.Val.AsString()
	}
	return ""
}

// readPreset is the text of a preset, or of what stands for one that does not exist.
func readPreset(name string) (text string, found bool) {
	if slices.Contains(schema.Presets, name) {
		if text, err := presetFiles.ReadFile("presets/" + name + ".hcl"); err == nil {
			return string(text), true
		}
	}
	return placeholder, false
}
