package app

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
)

func TestProgramIsLoadedOnce(t *testing.T) {
	a, b := (&ir.Program{Workflows: []ir.Workflow{{Name: "a"}}}).Canonical(), (&ir.Program{Workflows: []ir.Workflow{{Name: "b"}}}).Canonical()
	c := new(definitions)
	load := func(definition []byte) *ir.Program {
		t.Helper()
		p, err := c.load(append([]byte(nil), definition...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := load(a)
	if again := load(a); again != first {
		t.Error("the same definition is loaded again")
	}
	if _, err := c.load([]byte("{")); err == nil {
		t.Error("what is no program is loaded")
	}
	if again := load(a); again != first {
		t.Error("one that cannot be loaded drives out the one before")
	}
	if other := load(b); other.Workflow("b") == nil || load(a).Workflow("a") == nil {
		t.Error("another definition has the program of the one before")
	}
}
