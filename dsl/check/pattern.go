package check

import (
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Decode reads a block by the table: its attributes and blocks, and of them what is fixed in the file. What is read of expressions, and
// whether names are declared, is left to [Check]. It is for blocks that are rewritten before the check.
func Decode(src *syntax.Block) (*Block, diag.List) {
	c := newChecker(Options{})
	b := c.decode(src, schema.Blocks[src.Kind], "")
	c.static(b)
	return b, c.list
}
