package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
)

func (c *checker) binary(n *binary) value.Type {
	op := shownOp(n.op)
	switch n.op {
	case "&&", "||":
		c.need(n.l, kBool, op)
		c.given(facts(n.l, n.op == "&&"), func() { c.need(n.r, kBool, op) })
		return value.BoolType
	case "??":
		left := c.infer(n.l)
		right := c.infer(n.r)
		if left.Kind == value.Null {
			return right
		}
		if left.IsAny() {
			return value.AnyType
		}
		return unify(left.NotNull(), right)
	case "==", "!=":
		c.equal(n, c.infer(n.l), c.infer(n.r))
		return value.BoolType
	case "in":
		return c.in(n)
	case "+~", "<", "<=", ">", ">=":
		return c.ordered(n)
	case "contains", "startsWith", "endsWith", "matches":
		if t := c.infer(n.l); n.op == "contains" && isList(t) {
			c.add(n.span, codeOperand, "contains needs a string", "This is a list. Write x in list, or contains(list, x).")
			return value.BoolType
		}
		c.need(n.l, kPure, op)
		c.need(n.r, kPure, op)
		return value.BoolType
	}
	k := operand(n.op)
	left, right := c.need(n.l, k, op), c.need(n.r, k, op)
	switch n.op {
	case "..":
		return value.List(value.IntType)
	case "/", "**":
		return value.NumberType
	}
	if d, ok := n.r.(*lit); ok && n.op == "%" && d.v == 0.0 {
		c.add(n.r.at(), codeOperand, "The remainder by 0", "Division by zero fails. Use another divisor.")
	}
	return value.Type{Kind: value.NumberT, Int: left.Int && right.Int}
}

// ordered checks an operator that takes two numbers or two strings.
func (c *checker) ordered(n *binary) value.Type {
	op := shownOp(n.op)
	left, right := c.need(n.l, kOrdered, op), c.need(n.r, kOrdered, op)
	known := kOrdered.fits(left) == Yes && kOrdered.fits(right) == Yes
	if known && left.Kind != right.Kind {
		c.add(n.span, codeOperand, fmt.Sprintf("%s needs two numbers or two strings", op), fmt.Sprintf("These are %s and %s. Convert one of them with tonumber(x) or tostring(x).", describeType(left), describeType(right)))
	}
	switch {
	case n.op != "+~":
		return value.BoolType
	case !known:
		return value.AnyType
	}
	return value.Type{Kind: left.Kind, Int: left.Int && right.Int}
}

// equal finds comparisons that can only have one outcome, because nothing is of both types.
func (c *checker) equal(n *binary, left, right value.Type) {
	c.member(n.l, right)
	c.member(n.r, left)
	if left.IsAny() || right.IsAny() || left.Kind == value.Null || right.Kind == value.Null || family(left) == family(right) {
		return
	}
	f := c.add(n.span, codeNeverEqual, fmt.Sprintf("%s and %s are never equal", capital(describeType(left)), describeType(right)), "Convert one of them with tonumber(x), tostring(x) or tobool(x).")
	f.warning = !c.condition
}

// family is what a type's values look like at run time.
func family(t value.Type) string {
	switch {
	case isList(t):
		return "list"
	case isMap(t):
		return "map"
	}
	return string(t.Kind)
}

// member checks a literal string that is compared with an enumeration, such as a status.
func (c *checker) member(n node, t value.Type) {
	l, ok := n.(*lit)
	name, is := l.name()
	if !ok || !is || len(t.Enum) == 0 || slices.Contains(t.Enum, name) {
		return
	}
	detail := "It can be " + strings.Join(t.Enum, ", ") + "."
	if near := nearestValue(name, t.Enum); near != "" {
		detail = fmt.Sprintf("Did you mean '%s'? %s", near, detail)
	}
	c.add(l.span, codeStatus, fmt.Sprintf("This is never %q", name), detail)
}

// nearestValue also finds what begins alike: success, succeeded.
func nearestValue(name string, all []string) string {
	if near := diag.Nearest(strings.ToLower(name), all); near != "" {
		return near
	}
	best, length := "", 3
	for _, e := range all {
		n := 0
		for n < len(e) && n < len(name) && e[n] == name[n]|0x20 {
			n++
		}
		if n > length {
			best, length = e, n
		}
	}
	return best
}

func (c *checker) in(n *binary) value.Type {
	left, right := c.infer(n.l), c.infer(n.r)
	if items, ok := n.r.(*tuple); ok {
		for _, item := range items.items {
			c.member(item, left)
		}
	}
	switch {
	case right.IsAny() || right.Kind == value.Null || isList(right):
	case isMap(right):
		c.need(n.l, kPure, "in a map")
	default:
		c.add(n.r.at(), codeOperand, "in needs a list or a map", fmt.Sprintf("This is %s. Write x contains 'part' for texts.", describeType(right)))
	}
	return value.BoolType
}

// pathOf names what a node reads, if it reads one thing: the same path is the same value within an evaluation.
func pathOf(n node) string {
	switch n := n.(type) {
	case *ref:
		return n.ref.String()
	case *bound:
		return fmt.Sprintf("#%d", n.slot)
	case *member:
		if p := pathOf(n.x); p != "" {
			return p + "." + n.name
		}
	case *index:
		if l, ok := n.key.(*lit); ok {
			if p := pathOf(n.x); p != "" {
				return p + "." + textOf(l.v)
			}
		}
	}
	return ""
}

// given checks with some paths known not to be null.
func (c *checker) given(paths []string, f func()) {
	for _, p := range paths {
		c.notNull[p]++
	}
	f()
	for _, p := range paths {
		if c.notNull[p]--; c.notNull[p] == 0 {
			delete(c.notNull, p)
		}
	}
}

// facts are the paths that are not null if n is holds.
func facts(n node, holds bool) []string {
	switch n := n.(type) {
	case *unary:
		if n.op == "!" {
			return facts(n.x, !holds)
		}
	case *binary:
		switch {
		case n.op == "&&" && holds, n.op == "||" && !holds:
			return append(facts(n.l, holds), facts(n.r, holds)...)
		case n.op == "in" && holds:
			return inFacts(n.l, n.r)
		case n.op == "==" || n.op == "!=":
			return append(equalFacts(n.l, n.r, holds == (n.op == "==")), equalFacts(n.r, n.l, holds == (n.op == "=="))...)
		}
	case *attempt:
		if n.can && holds {
			return presence(n.args[0])
		}
	}
	return nil
}

// equalFacts are the facts about x when it is known whether it equals what.
func equalFacts(x, what node, same bool) []string {
	l, ok := what.(*lit)
	if !ok || (l.v == nil) == same {
		return nil
	}
	return append(presence(x), afterEnd(x, l.v)...)
}

// inFacts are the facts about x when it is one of the members of a list that is written out.
func inFacts(x, list node) []string {
	items, ok := list.(*tuple)
	if !ok || len(items.items) == 0 {
		return nil
	}
	same, first := true, value.Value(nil)
	for _, item := range items.items {
		l, ok := item.(*lit)
		if !ok || l.v == nil {
			return nil
		}
		if first == nil {
			first = l.v
		}
		same = same && l.v == first
	}
	paths := presence(x)
	if same {
		paths = append(paths, afterEnd(x, first)...)
	}
	return paths
}

// afterEnd is what is there when the node, or run, whose status x is has ended so.
func afterEnd(x node, status value.Value) []string {
	r, ok := x.(*ref)
	if !ok {
		return nil
	}
	of, is := strings.CutSuffix(r.ref.String(), ".status")
	if !is || r.ref.Attr == "" && r.ref.Root != "result" && r.ref.Root != "previous" && r.ref.Root != "run" {
		return nil
	}
	switch status {
	case "succeeded":
		return []string{of + ".output", of + ".stdout"}
	case "failed":
		return []string{of + ".error", of + ".stderr"}
	}
	return nil
}

// presence is x and all that it is read through.
func presence(x node) []string {
	var paths []string
	for x != nil {
		if p := pathOf(x); p != "" {
			paths = append(paths, p)
		}
		switch n := x.(type) {
		case *member:
			x = n.x
		case *index:
			x = n.x
		case *ref:
			if n.ref.Name != "" && n.ref.Attr == "" {
				paths = append(paths, n.ref.Root)
			}
			x = nil
		default:
			x = nil
		}
	}
	return paths
}
