package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var plainTypes = map[string]value.Type{"string": value.StringType, "number": value.NumberType, "bool": value.BoolType, "any": value.AnyType}

var typeNames = []string{"string", "number", "bool", "any", "list", "set", "map", "tuple", "object", "optional"}

// Type reads a type expression: string, number, bool, any, list(T), set(T), map(T), tuple([T, …]) and
// object({ a = T, b = optional(T) }). The type is any where the diagnostics have an error.
func Type(x hclsyntax.Expression) (value.Type, diag.List) {
	r := &typeReader{}
	t := r.read(x, 0)
	return t, r.diags
}

type typeReader struct{ diags diag.List }

func (r *typeReader) fault(x hclsyntax.Expression, code, summary, detail string) value.Type {
	r.diags = append(r.diags, diag.Diagnostic{Code: code, Summary: summary, Detail: detail, Subject: Range(x.Range())})
	return value.AnyType
}

func (r *typeReader) read(x hclsyntax.Expression, depth int) value.Type {
	if depth > value.MaxDepth {
		return r.fault(x, codeTypeExpr, "A type that is nested too deep", fmt.Sprintf("The limit is %d levels.", value.MaxDepth))
	}
	switch x := x.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if len(x.Traversal) == 1 {
			return r.named(x, x.Traversal.RootName())
		}
	case *hclsyntax.FunctionCallExpr:
		return r.constructor(x, depth)
	case *hclsyntax.ParenthesesExpr:
		return r.read(x.Expression, depth+1)
	case *hclsyntax.TemplateExpr:
		if s, ok := literalText(x); ok {
			if other := typeMeant(s); other != "" {
				return r.fault(x, codeTypeUnknown, fmt.Sprintf("Unknown type %q", s), other)
			}
			return r.fault(x, codeTypeExpr, "A type in quotes", fmt.Sprintf("Write types without quotes: %s.", shorten(s)))
		}
	case *hclsyntax.ObjectConsExpr:
		return r.fault(x, codeTypeExpr, "This is a value, not a type", "The type of an object is written object({ name = string }).")
	case *hclsyntax.TupleConsExpr:
		return r.fault(x, codeTypeExpr, "This is a value, not a type", "The type of a list is written list(string), of a fixed row of members tuple([string, number]).")
	}
	return r.fault(x, codeTypeExpr, "Expected a type", "Types are string, number, bool, any, list(T), set(T), map(T), tuple([T]) and object({ name = T }).")
}

func (r *typeReader) named(x hclsyntax.Expression, name string) value.Type {
	if t, ok := plainTypes[name]; ok {
		return t
	}
	switch name {
	case "list", "set", "map":
		return r.fault(x, codeTypeExpr, fmt.Sprintf("%s of what?", capital(name)), fmt.Sprintf("Write the type of its members, %s(string), or %s(any).", name, name))
	case "object":
		return r.fault(x, codeTypeExpr, "An object of what?", "Write its attributes, object({ name = string }), or any for anything.")
	case "tuple":
		return r.fault(x, codeTypeExpr, "A tuple of what?", "Write the types of its members, tuple([string, number]).")
	}
	return r.unknown(x, name)
}

// otherNames are names of types in other languages.
var otherNames = map[string]string{"int": "number", "integer": "number", "float": "number", "str": "string", "text": "string", "boolean": "bool", "array": "list", "dict": "map", "struct": "object"}

// typeMeant says what stands for a type of another tool that takes more than another name, or "".
func typeMeant(name string) string {
	switch name {
	case "enum", "choice", "select":
		return "A text with a few values is  type = string  with a second line,  enum = [\"a\", \"b\"]."
	case "secret", "password":
		return "It is  type = string  with a second line,  sensitive = true."
	}
	return ""
}

func (r *typeReader) unknown(x hclsyntax.Expression, name string) value.Type {
	near := otherNames[name]
	if near == "" {
		near = diag.Nearest(name, typeNames)
	}
	detail := "Types are string, number, bool, any, list(T), set(T), map(T), tuple([T]) and object({ name = T })."
	if other := typeMeant(name); other != "" {
		detail = other
	} else if near != "" {
		detail = fmt.Sprintf("Did you mean %q?", near)
	}
	return r.fault(x, codeTypeUnknown, fmt.Sprintf("Unknown type %q", name), detail)
}

func (r *typeReader) constructor(x *hclsyntax.FunctionCallExpr, depth int) value.Type {
	if len(x.Args) != 1 {
		if x.Name == "optional" {
			return r.fault(x, codeTypeExpr, "optional takes one type", "An omitted attribute is null; give a default where you read it, coalesce(x, 0) or x ?? 0.")
		}
		return r.fault(x, codeTypeExpr, fmt.Sprintf("%s takes one argument", x.Name), "Write list(T), set(T), map(T), tuple([T, T]) or object({ name = T }).")
	}
	arg := x.Args[0]
	switch x.Name {
	case "list":
		return value.List(r.read(arg, depth+1))
	case "set":
		return value.Set(r.read(arg, depth+1))
	case "map":
		return value.Map(r.read(arg, depth+1))
	case "tuple":
		return r.tuple(arg, depth)
	case "object":
		return r.object(arg, depth)
	case "optional":
		return r.fault(x, codeTypeExpr, "optional outside of an object", "Only an attribute of an object can be left out: object({ name = optional(string) }).")
	}
	return r.unknown(x, x.Name)
}

func (r *typeReader) tuple(x hclsyntax.Expression, depth int) value.Type {
	list, ok := x.(*hclsyntax.TupleConsExpr)
	if !ok {
		return r.fault(x, codeTypeExpr, "Expected a list of types", "Write tuple([string, number]).")
	}
	t := value.Type{Kind: value.TupleT}
	for _, e := range list.Exprs {
		t.Elems = append(t.Elems, r.read(e, depth+1))
	}
	return t
}

func (r *typeReader) object(x hclsyntax.Expression, depth int) value.Type {
	object, ok := x.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return r.fault(x, codeTypeExpr, "The attributes of the object are needed here", "Write object({ name = string, count = optional(number) }).")
	}
	attrs := map[string]value.Type{}
	for _, item := range object.Items {
		name := hcl.ExprAsKeyword(item.KeyExpr)
		if key, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok && name == "" {
			if s, ok := key.Wrapped.(*hclsyntax.TemplateExpr); ok {
				name, _ = literalText(s)
			}
		}
		if name == "" {
			r.fault(item.KeyExpr, codeTypeExpr, "Expected the name of an attribute", "It is a plain name, or a literal text in quotes.")
			continue
		}
		if _, twice := attrs[name]; twice {
			r.fault(item.KeyExpr, codeDuplicateKey, fmt.Sprintf("The attribute %q appears twice", name), "Remove or rename one.")
		}
		attrs[name] = r.attribute(item.ValueExpr, depth)
	}
	return value.Object(attrs)
}

func (r *typeReader) attribute(x hclsyntax.Expression, depth int) value.Type {
	if c, ok := x.(*hclsyntax.FunctionCallExpr); ok && c.Name == "optional" && len(c.Args) == 1 {
		t := r.read(c.Args[0], depth+1)
		t.Optional = true
		return t
	}
	return r.read(x, depth+1)
}
