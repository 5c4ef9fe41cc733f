package flowrun_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// ordered are the packages, beside the pure ones, in which no order of a map may be seen: what they do is hashed, digested
// or replayed.
var ordered = []string{"dsl", "memory", "runner/engine"}

// anyOrder is the comment that a loop over a map must carry, with the reason why its order can't be seen.
const anyOrder = "// any order: "

// TestNoOrderOfMapsCanBeSeen finds every range over a map in the packages whose behaviour is journaled.
func TestNoOrderOfMapsCanBeSeen(t *testing.T) {
	packages, table := typedPackages(t), rooms(t)
	for _, dir := range ordered {
		if packages[dir] == nil || table[dir].pure {
			t.Errorf("%s is not there, or pure, and so in the list already", dir)
		}
	}
	for dir, p := range packages {
		if r := table[dir]; r == nil || !r.pure && !slices.Contains(ordered, dir) {
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

import ("maps"; "slices")

func f(m map[string]int) (n int) {
	for _, v := range m {
		n = v
	}
	for range m { // any order: it only counts
		n++
	}
	for k := range maps.Keys(m) {
		n = len(k)
	}
	_ = slices.Sorted(maps.Keys(m))
	return n
}`
	got := mapRanges(typedSource(t, "planted.go", src))
	if len(got) != 2 || !strings.Contains(got[0], "planted.go:6") || !strings.Contains(got[1], "planted.go:12") {
		t.Errorf("found %q, want the loops in lines 6 and 12 alone", got)
	}
}

// mapRanges lists the loops over maps, and the iterators over maps that are not sorted where they stand.
func mapRanges(p *typed) (out []string) {
	for _, f := range p.files {
		excused := p.excused(f, anyOrder)
		ast.Inspect(f, func(n ast.Node) bool {
			var at token.Position
			switch n := n.(type) {
			case *ast.RangeStmt:
				if _, isMap := p.info.Types[n.X].Type.Underlying().(*types.Map); !isMap {
					return true
				}
				at = p.fset.Position(n.Pos())
			case *ast.CallExpr:
				return !p.sorts(n) // the iterator in a sort is not looked at
			case *ast.SelectorExpr:
				if o := p.info.Uses[n.Sel]; o == nil || o.Pkg() == nil || o.Pkg().Path() != "maps" || !slices.Contains(iterators, o.Name()) {
					return true
				}
				at = p.fset.Position(n.Pos())
			default:
				return true
			}
			if !excused[at.Line] {
				out = append(out, at.String()+": a loop over a map, whose order can be seen; sort its keys, or say behind it "+anyOrder+"WHY")
			}
			return true
		})
	}
	return out
}

// iterators are the functions of package maps that give the entries of a map in no order.
var iterators = []string{"All", "Keys", "Values"}

// sorts reports whether a call sorts what an iterator gives.
func (p *typed) sorts(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	o := p.info.Uses[s.Sel]
	return o != nil && o.Pkg() != nil && o.Pkg().Path() == "slices" && strings.HasPrefix(o.Name(), "Sorted")
}
