package flowrun_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"
)

// states are the types that are written as snapshots. The file snapshot.go of their package sets each of their fields, or takes its address, or
// the field stands here, with the reason why nothing is lost without it.
var states = []struct {
	dir, root string
	left      map[string]string
}{
	{"runner/machine", "Machine", map[string]string{
		"Machine.graph": "given again", "Machine.eval": "given again", "Machine.behaviour": "given again", "Machine.slots": "coded by its package", "Machine.kv": "coded by its package",
		"Machine.adapts": "New computes it of the graph", "pools.members": "New computes it of the graph", "pools.of": "coded in the order of the pools",
		"Machine.agenda": "empty between events", "groupState.ends": "the agenda is empty", "Machine.out": "nil between events",
		"Machine.failedSeen": "computed again when it is read", "Machine.instanceSeen": "computed again when it is read",
		"Machine.read": "read again", "Machine.from": "the host says it again", "Machine.broken": "a broken machine has no state",
		"liveList.by": "made of the list", "liveList.children": "made of the list", "liveList.first": "made of the list", "liveList.last": "made of the list",
		"attempt.next": "made of the list", "attempt.prev": "made of the list",
	}},
	{"loop/machine", "Machine", map[string]string{
		"Machine.graph": "given again", "Machine.loop": "given again", "Machine.eval": "given again", "Machine.rules": "given again", "Machine.noted": "empty between events", "Machine.out": "nil between events",
		"counts": "coded whole", "hour": "coded whole", "spending": "coded whole",
	}},
	{"runner/engine", "Fold", map[string]string{
		"Fold.header": "given again", "Fold.slice": "of tests", "Fold.pause": "of the host", "Fold.left": "the fold is unusable then", "Fold.write": "made again at the place of the reader",
		"digest.h": "it marshals itself", "digest.buf": "of one event", "Fold.seen": "of one event",
	}},
	{"runner/durations", "Tally", nil},
	{"runner/shared", "UsageTally", nil},
	{"runner/slots", "Queue", nil},
	{"runner/slots", "Choice", nil},
}

// TestSnapshotsForgetNoField finds fields that a snapshot would lose.
func TestSnapshotsForgetNoField(t *testing.T) {
	packages := typedPackages(t)
	for _, s := range states {
		lost, unused := lostFields(packages[s.dir], s.root, s.left)
		for _, f := range lost {
			t.Errorf("%s: snapshot.go does not name the field %s: code it, or say here why nothing is lost without it", s.dir, f)
		}
		for _, f := range unused {
			t.Errorf("%s: %s is left out here, and snapshot.go names it, or it is not there", s.dir, f)
		}
	}
}

// TestLostFieldIsFound plants a state with a field that is coded, one that is left out, and one that is forgotten.
func TestLostFieldIsFound(t *testing.T) {
	const src = `package p

type State struct {
	coded []*inner
	left  map[string]*other
	lost  int
	inner
}

type inner struct{ a, b int }

type other struct{ c int }

func code(s *State) {
	_ = &s.coded
	_ = &s.a
	_ = s.lost
}`
	lost, unused := lostFields(typedSource(t, "snapshot.go", src), "State", map[string]string{"State.left": "planted", "State.gone": "planted"})
	if !slices.Equal(lost, []string{"State.lost", "inner.b"}) || !slices.Equal(unused, []string{"State.gone"}) {
		t.Errorf("found %q and %q", lost, unused)
	}
}

// lostFields lists the fields of a type, and of the types of its package that it holds, that the file snapshot.go does not name and that are
// not left out on purpose; and what is left out for nothing.
func lostFields(p *typed, root string, left map[string]string) (lost, unused []string) {
	named := map[*types.Var]bool{}
	for _, f := range p.files {
		if filepath.Base(p.fset.Position(f.Pos()).Filename) != "snapshot.go" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					p.nameField(n.X, named)
				}
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					p.nameField(x, named)
				}
			}
			return true
		})
	}
	used, seen := map[string]bool{}, map[*types.Named]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		switch t := t.(type) {
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Alias:
			walk(types.Unalias(t))
		case *types.Named:
			t = t.Origin()
			s, ok := t.Underlying().(*types.Struct)
			if !ok || seen[t] || t.Obj().Pkg() != p.pkg {
				if !ok {
					walk(t.Underlying())
				}
				return
			}
			if seen[t] = true; left[t.Obj().Name()] != "" {
				used[t.Obj().Name()] = true
				return
			}
			for f := range s.Fields() {
				name := t.Obj().Name() + "." + f.Name()
				switch {
				case left[name] != "" && !named[f]:
					used[name] = true
				case named[f]:
					walk(f.Type())
				default:
					lost = append(lost, name)
				}
			}
		}
	}
	walk(p.pkg.Scope().Lookup(root).Type())
	for name := range left {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	slices.Sort(lost)
	slices.Sort(unused)
	return lost, unused
}

// nameField notes the field whose address is taken or that is set, and those that are embedded on its way.
func (p *typed) nameField(x ast.Expr, named map[*types.Var]bool) {
	for {
		i, ok := x.(*ast.IndexExpr)
		if !ok {
			break
		}
		x = i.X
	}
	sel, ok := x.(*ast.SelectorExpr)
	if !ok || p.info.Selections[sel] == nil {
		return
	}
	if _, pointer := p.info.Types[sel.X].Type.Underlying().(*types.Pointer); !pointer {
		p.nameField(sel.X, named) // a struct that is coded field by field
	}
	t := p.info.Selections[sel].Recv()
	for _, i := range p.info.Selections[sel].Index() {
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok || i >= s.NumFields() {
			return // the last of a method's way
		}
		named[s.Field(i).Origin()] = true
		t = s.Field(i).Type()
	}
}
