package core

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// TestPresets asks of each preset that it is an agent block of its own name, with attributes that agents have and nothing else.
func TestPresets(t *testing.T) {
	files, err := presetFiles.ReadDir("presets")
	if err != nil || len(files) != len(schema.Presets) {
		t.Fatalf("%d files for %d presets: %v", len(files), len(schema.Presets), err)
	}
	for _, name := range schema.Presets {
		text, found := readPreset(name)
		if !found {
			t.Errorf("%s: no file", name)
			continue
		}
		f, list := syntax.Parse(name, []byte(text))
		if list.HasErrors() || len(f.Body.Blocks) != 1 || f.Body.Blocks[0].Labels[0].Text != name {
			t.Errorf("%s: not one agent block of this name: %v", name, list)
			continue
		}
		b := f.Body.Blocks[0]
		if len(b.Body.Blocks) > 0 {
			t.Errorf("%s: a block would be left out", name)
		}
		for _, a := range b.Body.Attrs {
			if schema.Blocks["agent"].Attr(a.Name) == nil || a.Name == "preset" {
				t.Errorf("%s: agents have no %s", name, a.Name)
			}
		}
		for _, want := range []string{"type", "pass_env", "timeout", "output_format"} {
			if b.Body.Attr(want) == nil {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
}
