package flowrun_test

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// ordered are the packages in which no order of a map may be seen: what they do is digested and replayed.
var ordered = []string{"dsl/value", "dsl/ir", "dsl/expr", "runner/event", "runner/policy", "runner/plan", "runner/journal", "runner/machine",
	"memory/entry", "memory/learn", "memory/window", "memory/rank", "memory/text"}

// anyOrder is the comment that a loop over a map must carry, with the reason why its order can't be seen.
const anyOrder = "// any order: "

// TestNoOrderOfMapsCanBeSeen finds every range over a map in the packages whose behaviour is journaled.
func TestNoOrderOfMapsCanBeSeen(t *testing.T) {
	packages := typedPackages(t)
	for _, dir := range ordered {
		p := packages[dir]
		if p == nil {
			t.Errorf("there is no package %s", dir)
			continue
		}
		for _, v := range mapRanges(p) {
			t.Error(v)
		}
	}
}

// TestOrderOfMapsIsFound plants a loop over a map, once bare and once with its reason.
func TestOrderOfMapsIsFound(t *testing.T) {
	const src = `package p
func f(m map[string]int) (n int) {
	for _, v := range m {
		n = v
	}
	for range m { // any order: it only counts
		n++
	}
	return n
}`
	if got := mapRanges(typedSource(t, "planted.go", src)); len(got) != 1 || !strings.Contains(got[0], "planted.go:3") {
		t.Errorf("found %q, want the loop in line 3 alone", got)
	}
}

func mapRanges(p *typed) (out []string) {
	for _, f := range p.files {
		excused := p.excused(f, anyOrder)
		ast.Inspect(f, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			if _, isMap := p.info.Types[r.X].Type.Underlying().(*types.Map); isMap {
				if at := p.fset.Position(r.Pos()); !excused[at.Line] {
					out = append(out, at.String()+": a loop over a map, whose order can be seen; sort its keys, or say behind it "+anyOrder+"WHY")
				}
			}
			return true
		})
	}
	return out
}
