package flowrun_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// anyBits are the packages whose numbers may differ in their last bits from processor to processor: people read the
// numbers, and no journal, digest or stored vector depends on them.
var anyBits = []string{"cmd/", "memory/eval"}

// exact are the functions and variables of package math that give the same bits on every processor, because their result
// is exact or correctly rounded by IEEE 754. The others are computed by assembly on some processors and by Go with fused
// multiply-adds on others; dsl/libm holds those that flowrun needs. Constants are free.
var exact = []string{"Abs", "Ceil", "Copysign", "Floor", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits",
	"Frexp", "Inf", "IsInf", "IsNaN", "Ldexp", "Max", "Min", "Mod", "Modf", "NaN", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc"}

// TestFloatsHaveTheSameBitsEverywhere finds products that a compiler may fuse with an addition, and functions of package
// math that depend on the processor. Both would let two machines that replay one journal disagree.
func TestFloatsHaveTheSameBitsEverywhere(t *testing.T) {
	for dir, p := range typedPackages(t) {
		if slices.ContainsFunc(anyBits, func(prefix string) bool { return strings.HasPrefix(dir, prefix) }) {
			continue
		}
		for _, v := range append(products(p), inexact(p)...) {
			t.Error(v)
		}
	}
}

// products lists the products of floats that are not rounded where they stand. The Go specification lets a compiler fuse
// x*y with an addition, also across statements and inlined calls, unless a conversion rounds the product. So a product
// must be the operand of a conversion, of another product, of a division or of a comparison, or an argument of a function
// of package math.
func products(p *typed) (out []string) {
	report := func(n ast.Node, x, rounded string) {
		out = append(out, p.fset.Position(n.Pos()).String()+": a compiler may fuse this product with an addition; write "+x+rounded)
	}
	for _, f := range p.files {
		var path []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if kind := p.float(n); kind != "" && p.isProduct(n) && !p.rounded(path, n) {
					report(n, kind, "(x "+n.Op.String()+" y)")
				}
			case *ast.AssignStmt:
				if kind := p.float(n.Lhs[0]); n.Tok == token.MUL_ASSIGN && kind != "" {
					report(n, "x = "+kind, "(x * y)")
				}
			}
			path = append(path, n)
			return true
		})
	}
	return out
}

// isProduct reports whether an operation is compiled as a product: division by a power of two is, too.
func (p *typed) isProduct(n *ast.BinaryExpr) bool {
	if n.Op != token.QUO {
		return n.Op == token.MUL
	}
	divisor := p.info.Types[n.Y].Value
	if divisor == nil {
		return false
	}
	f, _ := constant.Float64Val(divisor)
	m, _ := math.Frexp(f)
	return math.Abs(m) == 0.5
}

// float is the type of an expression that is computed at run time and is a float, else "".
func (p *typed) float(e ast.Expr) string {
	tv, ok := p.info.Types[e]
	if !ok || tv.Value != nil {
		return ""
	}
	switch t := tv.Type.Underlying().(type) {
	case *types.Basic:
		if t.Info()&(types.IsFloat|types.IsComplex) != 0 {
			return t.Name()
		}
	case *types.Interface: // a type parameter
		return tv.Type.String()
	}
	return ""
}

// rounded reports whether the node above a product rounds it.
func (p *typed) rounded(path []ast.Node, product ast.Expr) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch n := path[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.BinaryExpr:
			switch n.Op {
			case token.MUL, token.QUO, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return true
			}
		case *ast.CallExpr:
			if p.info.Types[n.Fun].IsType() {
				return true
			}
			s, ok := n.Fun.(*ast.SelectorExpr)
			return ok && p.ofMath(s) != nil
		}
		return false
	}
	return false
}

// ofMath is the object of package math that a selector names, nil for another.
func (p *typed) ofMath(s *ast.SelectorExpr) types.Object {
	if o := p.info.Uses[s.Sel]; o != nil && o.Pkg() != nil && o.Pkg().Path() == "math" {
		return o
	}
	return nil
}

// inexact lists the uses of functions of package math that are not in the list exact.
func inexact(p *typed) (out []string) {
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			o := p.ofMath(s)
			if _, isFunc := o.(*types.Func); isFunc && !slices.Contains(exact, o.Name()) {
				out = append(out, p.fset.Position(n.Pos()).String()+": the last bits of math."+o.Name()+
					" depend on the processor; use dsl/libm")
			}
			return true
		})
	}
	return out
}

// TestFusedProductsAreFound plants products, each line with what the lint must say of it.
func TestFusedProductsAreFound(t *testing.T) {
	const src = `package p

import "math"

type kilo float64

func f(x, y, z float64, s, t float32, i, j int, k kilo, v []float64) float64 {
	a := x*y + z           // found
	b := z - (x * y)       // found
	c := x * y             // found
	x *= y                 // found
	s += s * t             // found
	k = k*k + k            // found
	d := -(v[0] * v[1])    // found
	g := max(x*y, z)       // found
	n := 2*x + 1           // found
	h := float64(x*y) + z
	l := kilo(x*y) + k
	m := x*y/z + 1
	x1 := x/4 + 1          // found
	x2 := x/5 + 1
	o := i*j + i
	q := math.Sqrt(x*y) + z
	r := x*y < z
	u := float64(x*y*z) + 2*3.5
	w := math.FMA(x, y, z) // processor
	e := math.Exp          // processor
	_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ = x1, x2, a, b, c, d, g, n, h, l, m, o, q, r, u, w
	return e(z)
}

func generic[T float32 | float64](x, y T) T { return x * y } // found`
	p := typedSource(t, "planted.go", src)
	findings := append(products(p), inexact(p)...)
	for i, line := range strings.Split(src, "\n") {
		_, want, _ := strings.Cut(line, "// ")
		want = map[string]string{"found": "may fuse", "processor": "depend on the processor"}[want]
		at := "planted.go:" + strconv.Itoa(i+1) + ":"
		j := slices.IndexFunc(findings, func(f string) bool { return strings.HasPrefix(f, at) })
		switch {
		case j < 0 && want != "":
			t.Errorf("%s %s: nothing is found", at, line)
		case j >= 0 && (want == "" || !strings.Contains(findings[j], want)):
			t.Errorf("%s %s: found %q, want %q", at, line, findings[j], want)
		}
	}
}
