package schema

import "github.com/flowrun/flowrun/dsl/value"

// nodeBlocks are the nodes of a workflow.
var nodeBlocks = map[string]*Block{
	"step": {Label: "name", Doc: "One unit of work, with exactly one action: " + Either(actionNames(false)) + ".",
		Blocks: blocks(actionNames(true), []string{"gate", "compensate"}, nodeBlock),
		Attrs: attrs(
			actionAttrs(),
			commonAttrs, lost, late, back, time, gate, env, pass, dir, sh, quot,
			Attr{Name: "stdin", Kind: Value, Want: value.StringType, Default: "nothing", Doc: "What the program reads on standard input."},
			Attr{Name: "parse", Kind: Word, Words: []string{"text", "json", "lines", "none"}, Default: `"text"`, Doc: "How standard output becomes the output."},
			Attr{Name: "output", Kind: Type, Doc: "Type that the output must have."},
			esc)},
	"sequence": {Label: "name", Doc: "Runs its nodes one after the other. Each node can read the result of the node before it as previous.",
		Blocks: blocks(innerNodes, nodeBlock, []string{"compensate", "adapt"}),
		Attrs:  attrs(commonAttrs, groupMakes, span, env, pass, dir, sh, hold, esc, groupType)},
	"parallel": {Label: "name", Doc: "Its nodes at once.",
		Blocks: blocks(innerNodes, nodeBlock, []string{"compensate", "adapt"}),
		Attrs:  attrs(commonAttrs, groupMakes, span, env, pass, dir, sh, hold, esc, groupType)},
	"switch": {Label: "name", Doc: "Runs the nodes of the first case whose condition is true, or those of default. The other nodes are skipped.",
		Blocks: blocks([]string{"case", "default"}, nodeBlock, []string{"compensate", "adapt"}),
		Attrs:  attrs(commonAttrs, groupMakes, span, env, pass, dir, sh, hold, esc, groupType)},
	"case": {Doc: "A branch of a switch. Its nodes run if its condition is true and the conditions of all cases before it are false.",
		Blocks: innerNodes,
		Attrs:  attrs(Attr{Name: "when", Kind: Condition, Required: true, Doc: "Evaluated once, when the switch starts, in the order of the cases."})},
	"default": {Doc: "The nodes of a switch that run if no case is true.", Once: true, Blocks: innerNodes},
}
