package reference

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
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
