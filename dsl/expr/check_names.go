package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
)

// ref resolves a reference: the root, the declared name, and the attribute.
func (c *checker) ref(n *ref) value.Type {
	root := c.env.Roots[n.ref.Root]
	if root == nil && n.call {
		c.add(n.name0(), codeUnknownFunc, fmt.Sprintf("Unknown function %q", n.ref.Root), "Conditions of tests have it. In a workflow, depends_on puts nodes in order.")
		return value.BoolType
	}
	if root == nil {
		c.unknownRoot(n)
		return value.AnyType
	}
	t := root.Type
	if n.call {
		c.resolve(root, n.ref.Name, n.name)
		c.resolve(root, n.ref.Attr, n.attr)
		return t
	}
	if root.Names != nil || root.Resolve != nil {
		if n.ref.Name == "" && root.Whole != nil {
			return *root.Whole
		}
		if n.ref.Name == "" {
			of := shownRoot(n.ref.Root)
			c.add(n.span, codeBareRoot, fmt.Sprintf("%s without a name", of), fmt.Sprintf("Write %s.NAME, with the name of %s. flowrun cannot check a computed name before the run.", of, an(root.What)))
			return value.AnyType
		}
		var ok bool
		if root.Resolve != nil {
			t, ok = c.resolve(root, n.ref.Name, n.name)
			if !ok {
				return value.AnyType
			}
		} else if t, ok = root.Names[n.ref.Name]; !ok {
			c.unknownName(n, root)
			return value.AnyType
		}
		c.secret = c.secret || root.Secret[n.ref.Name]
		if root.Used != nil {
			root.Used[n.ref.Name] = true
		}
	} else if n.ref.Name != "" {
		t.Nullable = t.Nullable && c.notNull[n.ref.Root] == 0
		t = c.attrOf(root, t, n.ref.Name, n.name, n)
	}
	if n.ref.Attr != "" {
		t = c.attrOf(root, t, n.ref.Attr, n.attr, n)
	}
	return t
}

// resolve asks a root for the type of a name. It reports a name that the root does not have.
func (c *checker) resolve(root *Root, name string, at span) (value.Type, bool) {
	t, missing := root.Resolve(name)
	if missing != nil {
		summary := missing.Summary
		if summary == "" {
			summary = fmt.Sprintf("Unknown %s %q", root.What, name)
		}
		c.add(at, codeUnknownName, summary, missing.Detail)
	}
	return t, missing == nil
}

// attrOf is attr for a part of the reference itself, which the root can hide.
func (c *checker) attrOf(root *Root, t value.Type, name string, at span, n *ref) value.Type {
	if why, ok := root.HiddenAttrs[name]; ok {
		c.add(at, codeHiddenName, fmt.Sprintf("%s.%s is not available here", ownerOf(n, at), name), why)
		return value.AnyType
	}
	if why, ok := root.Absent[name]; ok && t.Attrs[name].Kind == value.Null {
		c.add(at, codeHiddenName, fmt.Sprintf("%s.%s is always null", ownerOf(n, at), name), why)
		return value.AnyType
	}
	return c.attr(t, name, at, n)
}

// ownerOf is what the part of a reference at a place belongs to.
func ownerOf(n *ref, at span) string {
	if at != n.name && n.ref.Name != "" {
		return shownRoot(n.ref.Root) + "." + n.ref.Name
	}
	return n.ref.Root
}

// shownRoot is a root as it is written before a name.
func shownRoot(root string) string {
	if root == "last" {
		return "last.step"
	}
	return root
}

// staticRoots are references that are not values.
var staticRoots = map[string]bool{"agent": true, "pool": true, "gate": true, "workflow": true, "channel": true, "escalation": true, "quota": true}

func (c *checker) unknownRoot(n *ref) {
	name := n.ref.Root
	if why, ok := c.env.Hidden[name]; ok {
		c.add(n.name0(), codeHiddenName, fmt.Sprintf("%s is not available here", name), why)
		return
	}
	known := make([]string, 0, len(c.env.Roots))
	for r := range c.env.Roots { // any order: they are sorted next
		known = append(known, r)
	}
	slices.Sort(known)
	list := "Names available here: " + strings.Join(known, ", ") + "."
	if len(known) == 0 {
		list = "No names are available here."
	}
	switch {
	case isRoot(name):
		c.add(n.name0(), codeHiddenName, fmt.Sprintf("%s is not available here", name), list)
	case staticRoots[name]:
		c.add(n.name0(), codeUnknownRoot, fmt.Sprintf("%s.NAME is a reference, not a value", name), "Use it alone in an attribute that takes it, and not in an expression.")
	case diag.Nearest(name, known) != "":
		c.add(n.name0(), codeUnknownRoot, fmt.Sprintf("Unknown name %q", name), fmt.Sprintf("Did you mean %q?", diag.Nearest(name, known)))
	default:
		if at := c.declaredAs(name); at != "" {
			list = fmt.Sprintf("Did you mean %s?", at)
		}
		if n.ref.Name == "" {
			quote := map[bool]string{true: "'", false: `"`}[c.condition]
			list += " A text needs quotes: " + quote + name + quote + "."
		}
		c.add(n.name0(), codeUnknownRoot, fmt.Sprintf("Unknown name %q", name), list)
	}
}

// declaredAs looks for a declaration of the name under any root.
func (c *checker) declaredAs(name string) string {
	for _, root := range rootNames {
		if r := c.env.Roots[root]; r != nil {
			if _, ok := r.Names[name]; ok {
				return root + "." + name
			}
		}
	}
	return ""
}

// name0 is where the root itself stands.
func (n *ref) name0() span { return span{n.start, n.start + len(n.ref.Root)} }

func (c *checker) unknownName(n *ref, root *Root) {
	name := n.ref.Name
	if why, ok := root.Hidden[name]; ok {
		f := c.add(n.name, codeHiddenName, fmt.Sprintf("%s %q is not available here", capital(root.What), name), why)
		f.decl = root.at(name)
		return
	}
	detail := fmt.Sprintf("No %s of this name is declared.", root.What)
	names := root.sorted()
	near := diag.Nearest(name, names)
	switch {
	case near != "":
		detail += fmt.Sprintf(" Did you mean %q?", near)
	case len(root.Names) == 0:
		detail = fmt.Sprintf("No %s is declared here.", root.What)
	case len(root.Names) <= 8 && len(names) > 0:
		detail += " There are " + strings.Join(names, ", ") + "."
	}
	f := c.add(n.name, codeUnknownName, fmt.Sprintf("Unknown %s %q", root.What, name), detail)
	if near != "" {
		f.decl = root.at(near)
	}
}

// sorted are the declared names in order, or none where enough was suggested.
func (r *Root) sorted() []string {
	if len(r.Names) > 8 {
		if r.suggested++; r.suggested > MaxSuggestions {
			return nil
		}
	}
	if len(r.order) != len(r.Names) {
		r.order = slices.Sorted(maps.Keys(r.Names))
	}
	return r.order
}

func (r *Root) at(name string) *declared {
	if r.Decl == nil {
		return nil
	}
	return &declared{fmt.Sprintf("%s %q is declared here", capital(r.What), name), r, name}
}

// attr is the type of x.name for an x of type t. Reading through null gives null.
func (c *checker) attr(t value.Type, name string, at span, x node) value.Type {
	switch {
	case t.IsAny():
		return through(t, value.AnyType)
	case t.Kind == value.Null:
		return t
	case t.Kind == value.MapT:
		return through(t, *t.Elem)
	case t.Kind == value.ObjectT:
		a, ok := t.Attrs[name]
		if !ok {
			c.unknownAttr(t, name, at, x)
			return value.AnyType
		}
		if a.Optional {
			a = a.OrNull()
		}
		a.Optional = false
		return through(t, a)
	}
	detail := fmt.Sprintf("This is %s.", describeType(t))
	if isList(t) {
		detail += fmt.Sprintf(" For one member, write [0].%s; for all members, [*].%s.", name, name)
	}
	if p := pathOf(x); strings.HasSuffix(p, ".output") && t.Kind == value.StringT {
		detail += fmt.Sprintf(" If it is JSON, write parse = \"json\" in the step that prints it, or jsondecode(%s).", p)
	}
	c.add(at, codeNoMembers, fmt.Sprintf("Unknown member .%s of %s", name, an(string(t.Kind))), detail)
	return value.AnyType
}

// through is the type of a member of something that may be null.
func through(whole, part value.Type) value.Type {
	if whole.CanBeNull() {
		return part.OrLeft()
	}
	return part
}

func (c *checker) unknownAttr(t value.Type, name string, at span, x node) {
	var names, all []string // names: without those that are null in any case, which nobody looks for
	if c.env.Work.suggest() {
		all = t.Names()
	}
	for _, n := range all {
		if t.Attrs[n].Kind != value.Null {
			names = append(names, n)
		}
	}
	detail := "It has no attributes."
	if len(t.Attrs) > 0 {
		detail = "An attribute is missing, or its name is mistyped."
	}
	if near := diag.Nearest(name, all); near != "" {
		detail = fmt.Sprintf("Did you mean %q?", near)
	} else if len(names) > 0 {
		detail = "It has " + strings.Join(names[:min(len(names), 16)], ", ") + "."
	}
	of := pathOf(x)
	if of == "" || strings.HasPrefix(of, "#") {
		of = "This object"
	} else if r, ok := x.(*ref); ok {
		of = ownerOf(r, at)
	}
	c.add(at, codeUnknownAttr, fmt.Sprintf("%s has no attribute %q", of, name), detail)
}

func (c *checker) index(n *index) value.Type {
	t := c.infer(n.x)
	key, literal := n.key.(*lit)
	switch {
	case t.IsAny():
		c.need(n.key, kScalar, "an index")
		return through(t, value.AnyType)
	case t.Kind == value.Null:
		c.infer(n.key)
		return t
	case isMap(t):
		c.need(n.key, kString, "the key of a map")
		if name, ok := key.key(); literal && ok {
			return c.attr(t, name, n.key.at(), n.x)
		}
		if t.Kind == value.ObjectT {
			return through(t, c.memberType(t).OrNull())
		}
		return through(t, *t.Elem)
	case isList(t):
		c.need(n.key, kWhole, "the index of a list")
		if i, ok := key.whole(); literal && ok && t.Kind == value.TupleT {
			return through(t, c.tupleMember(t, i, n.key.at()))
		}
		return through(t, c.memberType(t))
	}
	c.add(n.span, codeNoMembers, fmt.Sprintf("There is no [] on %s", an(string(t.Kind))), fmt.Sprintf("This is %s.", describeType(t)))
	return value.AnyType
}

func (l *lit) name() (string, bool) {
	if l == nil {
		return "", false
	}
	s, ok := l.v.(string)
	return s, ok
}

// key is the name that the evaluator looks for in an object: [0] looks for the attribute "0".
func (l *lit) key() (string, bool) {
	if l == nil {
		return "", false
	}
	v, err := kString.take(l.v)
	name, ok := v.(string)
	return name, ok && err == nil
}

func (l *lit) whole() (int, bool) {
	if l == nil {
		return 0, false
	}
	f, ok := l.v.(float64)
	return int(f), ok && whole(f)
}

func (c *checker) tupleMember(t value.Type, i int, at span) value.Type {
	if i < 0 {
		i += len(t.Elems)
	}
	if i < 0 || i >= len(t.Elems) {
		c.add(at, codeNoMembers, fmt.Sprintf("Index %d is out of range", i), fmt.Sprintf("The list has %d members, counted from 0.", len(t.Elems)))
		return value.AnyType
	}
	return t.Elems[i]
}

func (c *checker) slice(n *slice) value.Type {
	t := c.infer(n.x)
	for _, e := range []node{n.from, n.to} {
		if e != nil {
			c.need(e, kWhole, "a slice")
		}
	}
	switch {
	case t.IsAny():
		return value.AnyType
	case isList(t):
		return through(t, value.List(elemType(t)))
	case t.Kind == value.StringT:
		return through(t, value.StringType)
	}
	c.add(n.span, codeNoMembers, fmt.Sprintf("There is no [:] on %s", an(string(t.Kind))), fmt.Sprintf("This is %s.", describeType(t)))
	return value.AnyType
}
