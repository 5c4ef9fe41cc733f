package expr

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// checker finds the type of every node of a tree in an environment, and says what cannot work. It knows the type of
// bodies and of both arms of a conditional, which evaluating with unknown values does not.
type checker struct {
	*findings
	env       *Env
	condition bool // the language: conditions refuse comparisons that values warn of
	slots     []value.Type
	notNull   map[string]int // paths that are known not to be null here, by how many tests
	files     bool           // a file is read
	secret    bool           // something sensitive is read
	forgiving int            // above 0 inside try and can, which silence null
}

func check(t *tree, env *Env, condition bool, fs *findings) value.Type {
	if env == nil {
		env = &Env{}
	}
	c := &checker{findings: fs, env: env, condition: condition, slots: make([]value.Type, t.slots), notNull: map[string]int{}}
	typ := c.infer(t.root)
	t.files, t.secret = c.files, c.secret
	return typ
}

// infer returns the type of n. After a fault it is any, so that one fault gives one message.
func (c *checker) infer(n node) value.Type {
	t := c.typeOf(n)
	if t.CanBeNull() && t.Kind != value.Null && len(c.notNull) > 0 {
		if p := pathOf(n); p != "" && c.notNull[p] > 0 {
			t = t.NotNull()
		}
	}
	return t
}

func (c *checker) typeOf(n node) value.Type {
	switch n := n.(type) {
	case *lit:
		return typeOf(n.v)
	case *ref:
		return c.ref(n)
	case *fileText:
		c.file(n)
		return value.StringType
	case *bound:
		return c.slots[n.slot]
	case *member:
		return c.attr(c.infer(n.x), n.name, n.here, n.x)
	case *index:
		return c.index(n)
	case *slice:
		return c.slice(n)
	case *unary:
		if n.op == "!" {
			c.need(n.x, kBool, "!")
			return value.BoolType
		}
		return value.Type{Kind: value.NumberT, Int: c.need(n.x, kNumber, "-").Int}
	case *binary:
		return c.binary(n)
	case *cond:
		return c.cond(n)
	case *template:
		for _, p := range n.parts {
			c.need(p, kString, "${}")
		}
		return value.StringType
	case *tuple:
		t := value.Type{Kind: value.TupleT, Elems: make([]value.Type, len(n.items))}
		for i, item := range n.items {
			t.Elems[i] = c.infer(item)
		}
		return bounded(shared(t))
	case *object:
		return c.object(n)
	case *call:
		return c.call(n)
	case *attempt:
		return c.attempt(n)
	case *forEach:
		return c.forEach(n)
	case *splat:
		return c.splat(n)
	case *predicate:
		return c.predicate(n)
	case *let:
		c.slots[n.slot] = c.infer(n.x)
		return c.infer(n.body)
	}
	panic(fmt.Sprintf("expr: no check of %T", n))
}

// bounded is t, with its composite members typed any where it has grown too large: types may share their parts, and ten
// locals of ten copies each would be written out as 10^10.
func bounded(t value.Type) value.Type {
	left := MaxTypeSize
	if within(t, &left, 0) {
		return t
	}
	for i, e := range t.Elems {
		t.Elems[i] = simple(e)
	}
	for n, a := range t.Attrs { // any order: it fills an object
		t.Attrs[n] = simple(a)
	}
	return t
}

func simple(t value.Type) value.Type {
	if isList(t) || isMap(t) {
		return value.AnyType
	}
	return t
}

// within counts the parts of a type down and reports whether they were enough. A type may not be nested deeper than any
// value is.
func within(t value.Type, left *int, depth int) bool {
	if *left--; *left < 0 || depth > value.MaxDepth {
		return false
	}
	for _, e := range t.Elems {
		if !within(e, left, depth+1) {
			return false
		}
	}
	for _, a := range t.Attrs { // any order: all or not all
		if !within(a, left, depth+1) {
			return false
		}
	}
	return t.Elem == nil || within(*t.Elem, left, depth+1)
}

// need infers n and checks that it is of kind k and not null where k does not admit it. user names the operator or
// function for the message.
func (c *checker) need(n node, k kind, user string) value.Type {
	t := c.infer(n)
	c.mustBe(n, t, k, user)
	return t
}

func (c *checker) mustBe(n node, t value.Type, k kind, user string) {
	at := n.at()
	switch {
	case t.IsAny() && !t.Left:
	case k.fits(t) == No && t.Kind != value.Null:
		c.add(at, codeOperand, fmt.Sprintf("%s needs %s", user, kindNames[k]), fmt.Sprintf("This is %s.%s", describeType(t), hint(t, k, user)))
	case t.Nullable && !k.nulls() && c.forgiving == 0:
		x := shownPath(n)
		c.add(at, codeMaybeNull, fmt.Sprintf("%s can be null, and %s needs %s", x, user, kindNames[k]), c.nullHint(n, x, t, k))
	}
}

func (c *checker) nullHint(n node, x string, t value.Type, k kind) string {
	why := c.whyNull(n)
	if x == "This" {
		x = "x"
	}
	other := "0"
	switch {
	case t.Kind == value.StringT, t.IsAny() && (k == kString || k == kPure):
		other = `""`
	case t.Kind == value.Bool:
		other = "false"
	case isList(t):
		other = "[]"
	case isMap(t):
		other = "{}"
	}
	if c.condition {
		return fmt.Sprintf("%s Test it first (%s != null && …), or give a default (%s ?? %s).", why, x, x, strings.ReplaceAll(other, `"`, "'"))
	}
	return fmt.Sprintf("%s Give a default, try(%s, %s), or test it first (%s == null ? … : …).", why, x, other, x)
}

// whyNull says why what a node reads can be null.
func (c *checker) whyNull(n node) string {
	if r := readBy(n); r != nil && r.ref.Root == "step" && (r.ref.Attr == "output" || r.ref.Attr == "stdout") {
		if root := c.env.Roots["step"]; root != nil && root.Why != nil {
			if why := root.Why(r.ref.Name); why != "" {
				return why
			}
		}
	}
	return "It reads a value that may be omitted or skipped."
}

// readBy is the reference that a path begins with, or nil.
func readBy(n node) *ref {
	for m, is := n.(*member); is; m, is = n.(*member) {
		n = m.x
	}
	r, _ := n.(*ref)
	return r
}

// maxPathShown bounds the length of a path that stands in a sentence.
const maxPathShown = 60

// shownPath is what a node reads as it is written, or "This".
func shownPath(n node) string {
	if readBy(n) == nil {
		return "This"
	}
	p := pathOf(n)
	if len(p) > maxPathShown {
		return "This"
	}
	if rest, is := strings.CutPrefix(p, "last."); is {
		p = "last.step." + rest
	}
	return p
}

// maxTypeShown bounds what is shown of a type in a sentence.
const maxTypeShown = 80

func describeType(t value.Type) string {
	if t.Kind == value.Null {
		return "null"
	}
	if s := t.String(); len(s) <= maxTypeShown {
		return an(s)
	}
	return an(string(t.Kind))
}

// hint says what would mend a mismatch that is common.
func hint(t value.Type, k kind, user string) string {
	switch {
	case (k == kString || k == kPure) && (isList(t) || isMap(t)):
		return " Write jsonencode(x), or join(\", \", x) for a list of strings."
	case k == kNumber && t.Kind == value.StringT && user == "+":
		return " To join texts, use a template, \"${a}${b}\"; tonumber(x) turns a text into a number."
	case (k == kNumber || k == kWhole) && t.Kind == value.StringT:
		return " Write tonumber(x)."
	case k == kBool && t.Kind == value.StringT:
		return " Write tobool(x), or compare it: x == \"yes\"."
	case k == kList && t.Kind == value.StringT && user == "contains":
		return " A condition looks for a part of a text with  x contains 'part', a value with strcontains(x, \"part\")."
	case k == kBool:
		return " Compare it with something: x == …, x > 0, length(x) > 0."
	case k == kPure && t.Kind == value.NumberT:
		return " Write tostring(x)."
	}
	return ""
}

func (c *checker) cond(n *cond) value.Type {
	c.need(n.c, kBool, "?")
	var yes, no value.Type
	c.given(facts(n.c, true), func() { yes = c.infer(n.yes) })
	c.given(facts(n.c, false), func() { no = c.infer(n.no) })
	return c.env.Work.Unify(yes, no)
}

func (c *checker) object(n *object) value.Type {
	attrs := make(map[string]value.Type, len(n.keys))
	literal := true
	all := make([]value.Type, len(n.keys))
	for i, k := range n.keys {
		c.need(k, kString, "the key of an object")
		all[i] = c.infer(n.vals[i])
		if l, ok := k.(*lit); ok {
			attrs[textOf(l.v)] = all[i]
		} else {
			literal = false
		}
	}
	if literal {
		return bounded(value.Object(attrs))
	}
	return value.Map(unifyAll(all))
}

func (c *checker) call(n *call) value.Type {
	types := make([]value.Type, len(n.args))
	for i, a := range n.args {
		k := n.f.param(i)
		if n.spread && i == len(n.args)-1 {
			k = kList
		}
		types[i] = c.need(a, k, c.callee(n.f))
	}
	c.literalPattern(n)
	c.emptyLast(n)
	c.voteRule(n, types)
	if n.f.result == nil || n.spread || !c.env.Work.look(types...) {
		return value.AnyType
	}
	return n.f.result(types)
}

// emptyLast refuses coalesce with an empty text at its end, and coalescelist with an empty list: these pass over what is empty, so
// that nothing is left to give where what stands before is null.
func (c *checker) emptyLast(n *call) {
	if n.spread || len(n.args) < 2 || n.f.name != "coalesce" && n.f.name != "coalescelist" {
		return
	}
	last := n.args[len(n.args)-1]
	var empty string
	switch x := last.(type) {
	case *lit:
		switch x.v {
		case "":
			empty = "an empty text"
		case nil:
			empty = "null"
		}
	case *tuple:
		if len(x.items) == 0 && n.f.name == "coalescelist" {
			empty = "an empty list"
		}
	}
	if empty == "" {
		return
	}
	first := shownPath(n.args[0])
	if first == "This" {
		first = "x"
	}
	c.add(last.at(), codeEmptyLast, fmt.Sprintf("%s never gives %s", n.f.name, empty),
		fmt.Sprintf("It returns the first argument that is neither null nor empty, and fails if there is none. Write try(%s, %s), which returns the first that is not null.", first, c.shownLit(last)))
}

// shownLit is an empty value as it is written.
func (c *checker) shownLit(n node) string {
	switch l, is := n.(*lit); {
	case !is:
		return "[]"
	case l.v == nil:
		return "null"
	case c.condition:
		return "''"
	}
	return `""`
}

// literalPattern compiles the pattern of regex and regexall where it is known.
func (c *checker) literalPattern(n *call) {
	if !strings.HasPrefix(n.f.name, "regex") || len(n.args) == 0 {
		return
	}
	l, _ := n.args[0].(*lit)
	pattern, ok := l.name()
	if !ok {
		return
	}
	if err := c.env.Work.compile(pattern); isLimit(err) {
		c.add(l.span, codeTooLarge, "A pattern that cannot be checked", capital(err.Error())+".")
	} else if err != nil {
		c.add(l.span, codePattern, "A pattern that cannot be used", capital(err.Error())+".")
	}
}

func (c *checker) callee(f *function) string {
	if f.name[0] == 0 {
		return "a template"
	}
	return f.name
}

// attempt is try and can: what may be null inside is not a fault, and the result is null only where the last argument may be.
func (c *checker) attempt(n *attempt) value.Type {
	c.forgiving++
	types := make([]value.Type, len(n.args))
	for i, a := range n.args {
		types[i] = c.infer(a)
	}
	c.forgiving--
	if n.can {
		return value.BoolType
	}
	for i := range types[:len(types)-1] {
		types[i] = types[i].NotNull()
	}
	return unifyAll(types)
}
