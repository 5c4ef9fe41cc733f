package check

import (
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
)

// The schema, the IR and the checker know the same actions, and none of them is still said to be planned.
func TestEveryActionIsDescribed(t *testing.T) {
	var written []ir.ActionKind
	for _, a := range schema.Actions {
		written = append(written, ir.ActionKind(a.Name))
		if b := schema.Blocks[a.Name]; a.Block != nil && b != a.Block {
			t.Errorf("the block %q is another one in the schema: is it still planned? (%v)", a.Name, b.Later != nil)
		}
	}
	if !slices.Equal(written, ir.ActionKinds) {
		t.Errorf("a file can say the actions %v, a program has %v", written, ir.ActionKinds)
	}
	for _, k := range ir.ActionKinds {
		if actions[k].output == nil {
			t.Errorf("the type that a step with %s makes is not described", k)
		}
	}
}
