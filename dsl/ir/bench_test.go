package ir

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// BenchmarkLoad reads and writes programs of 20,000 steps, flat and in groups 20 deep.
func BenchmarkLoad(b *testing.B) {
	for _, depth := range []int{0, 20} {
		p := &Program{Workflows: []Workflow{{Name: "w"}}}
		for i := range 20_000 / (depth + 1) {
			n := Node{Name: fmt.Sprint("s", i), Kind: Step, Needs: []string{"s0"}, Action: &Run{Argv: Lit([]any{"echo", "x"}, value.List(value.StringType))}}
			for d := range depth {
				n = Node{Name: fmt.Sprint("g", i, "-", d), Kind: Sequence, Children: []Node{n, {Name: fmt.Sprint("v", i, "-", d), Kind: Step, Action: &Value{*Lit(1.0, value.NumberType)}}}}
			}
			p.Workflows[0].Nodes = append(p.Workflows[0].Nodes, n)
		}
		text := p.Canonical()
		b.Run(fmt.Sprintf("load/%d", depth), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Load(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("store/%d", depth), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Canonical()
			}
		})
	}
}
