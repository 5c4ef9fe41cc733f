package value

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Kind names a type's outermost constructor.
type Kind string

// The kinds. Null is the type of the literal null alone; every type admits null where Nullable is set.
const (
	Any     Kind = "any"
	Null    Kind = "null"
	Bool    Kind = "bool"
	NumberT Kind = "number"
	StringT Kind = "string"
	ListT   Kind = "list"   // Elem
	SetT    Kind = "set"    // Elem; held as a sorted list without repeats
	MapT    Kind = "map"    // Elem; keys are strings
	ObjectT Kind = "object" // Attrs, strict
	TupleT  Kind = "tuple"  // Elems
)

// Type says what values may stand in a place. The zero value is not a type; use AnyType for "unknown".
type Type struct {
	Kind Kind `json:"kind"`
	// Int marks a number that is always whole (exit_code, attempt, iteration …); it converts like any number.
	Int bool `json:"int,omitempty"`
	// Nullable tells that null may stand here. Any is always nullable.
	Nullable bool `json:"nullable,omitempty"`
	// Left tells that an any is null where a node left it out: one that was skipped, or failed. Other types say so by Nullable.
	Left bool `json:"-"`
	// Optional marks an object attribute that may be left out; it then reads as null.
	Optional bool `json:"optional,omitempty"`
	// Elem is the type of members of a list, set or map.
	Elem *Type `json:"elem,omitempty"`
	// Elems are the types of a tuple's members.
	Elems []Type `json:"elems,omitempty"`
	// Attrs are the attributes of an object.
	Attrs map[string]Type `json:"attrs,omitempty"`
	// Enum, if not empty, lists the only strings allowed. Node and run statuses are such a type.
	Enum []string `json:"enum,omitempty"`
}

// AnyType admits every value; nothing is known of what it holds before it is there.
var AnyType = Type{Kind: Any, Nullable: true}

// BoolType, NumberType, IntType and StringType are the plain types, not nullable.
var (
	BoolType   = Type{Kind: Bool}
	NumberType = Type{Kind: NumberT}
	IntType    = Type{Kind: NumberT, Int: true}
	StringType = Type{Kind: StringT}
)

// List, Set, Map and Object build composite types.
func List(elem Type) Type               { return Type{Kind: ListT, Elem: &elem} }
func Set(elem Type) Type                { return Type{Kind: SetT, Elem: &elem} }
func Map(elem Type) Type                { return Type{Kind: MapT, Elem: &elem} }
func Object(attrs map[string]Type) Type { return Type{Kind: ObjectT, Attrs: attrs} }

// OrNull is the same type with null admitted.
func (t Type) OrNull() Type { t.Nullable = true; return t }

// OrLeft is the type of what a node makes that can be left out.
func (t Type) OrLeft() Type { t.Nullable, t.Left = true, t.IsAny(); return t }

// NotNull is the same type without null. Any stays what it is, but is not known to be left out.
func (t Type) NotNull() Type { t.Nullable, t.Left = t.IsAny(), false; return t }

// CanBeNull tells whether null is known to stand here sometimes. Of an any it mostly is not known.
func (t Type) CanBeNull() bool { return t.Nullable && (t.Left || !t.IsAny()) }

// IsAny tells whether nothing is known of the type.
func (t Type) IsAny() bool { return t.Kind == Any || t.Kind == "" }

// Names returns the attribute names of an object type in order.
func (t Type) Names() []string {
	return slices.Sorted(maps.Keys(t.Attrs))
}

// String writes the type as a workflow file does: list(object({ a = string })).
func (t Type) String() string {
	switch t.Kind {
	case ListT, SetT, MapT:
		return string(t.Kind) + "(" + t.Elem.String() + ")"
	case TupleT:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = e.String()
		}
		return "tuple([" + strings.Join(parts, ", ") + "])"
	case ObjectT:
		if len(t.Attrs) == 0 {
			return "object({})"
		}
		parts := make([]string, 0, len(t.Attrs))
		for _, n := range t.Names() {
			a := t.Attrs[n]
			s := a.String()
			if a.Optional {
				s = "optional(" + s + ")"
			}
			parts = append(parts, n+" = "+s)
		}
		return "object({ " + strings.Join(parts, ", ") + " })"
	case "":
		return "any"
	}
	return string(t.Kind)
}

// TypeError tells where in a value the wrong thing stands.
type TypeError struct {
	Path string // such as ".files[2].name"; empty for the value itself
	Want string
	Got  string
}

func (e *TypeError) Error() string {
	where := ""
	if e.Path != "" {
		where = "at " + e.Path + ": "
	}
	return fmt.Sprintf("%s%s is needed, but this is %s", where, e.Want, e.Got)
}

// Convert checks v against t, strictly: nothing is parsed or printed to make it fit. What it does do: leave out object
// attributes that the type does not name, give optional ones that are missing the value null, and sort a set and drop
// its repeats. The error is a *TypeError.
func Convert(v Value, t Type) (Value, error) { return convert(v, t, "") }

func convert(v Value, t Type, path string) (Value, error) {
	if t.IsAny() || (v == nil && t.Nullable) {
		return v, nil
	}
	bad := func() (Value, error) { return nil, &TypeError{path, article(t.String()), describe(v)} }
	switch t.Kind {
	case Null:
		if v != nil {
			return bad()
		}
		return nil, nil
	case Bool:
		if _, ok := v.(bool); !ok {
			return bad()
		}
		return v, nil
	case NumberT:
		f, ok := v.(float64)
		if !ok {
			return bad()
		}
		if t.Int && f != float64(int64(f)) {
			return nil, &TypeError{path, "a whole number", describe(v)}
		}
		return v, nil
	case StringT:
		s, ok := v.(string)
		if !ok {
			return bad()
		}
		if len(t.Enum) > 0 {
			for _, e := range t.Enum {
				if e == s {
					return v, nil
				}
			}
			return nil, &TypeError{path, "one of " + strings.Join(t.Enum, ", "), fmt.Sprintf("%.60q", s)}
		}
		return v, nil
	case ListT, SetT:
		list, ok := v.([]any)
		if !ok {
			return bad()
		}
		out := make([]any, len(list))
		for i, e := range list {
			c, err := convert(e, *t.Elem, fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		if t.Kind == SetT {
			return unique(out), nil
		}
		return out, nil
	case TupleT:
		list, ok := v.([]any)
		if !ok || len(list) != len(t.Elems) {
			return bad()
		}
		out := make([]any, len(list))
		for i, e := range list {
			c, err := convert(e, t.Elems[i], fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	case MapT:
		m, ok := v.(map[string]any)
		if !ok {
			return bad()
		}
		out := make(map[string]any, len(m))
		for _, k := range Keys(m) {
			c, err := convert(m[k], *t.Elem, fmt.Sprintf("%s[%q]", path, k))
			if err != nil {
				return nil, err
			}
			out[k] = c
		}
		return out, nil
	case ObjectT:
		m, ok := v.(map[string]any)
		if !ok {
			return bad()
		}
		out := make(map[string]any, len(t.Attrs))
		for _, n := range t.Names() {
			a := t.Attrs[n]
			member, there := m[n]
			if !there {
				if a.Optional {
					out[n] = nil
					continue
				}
				return nil, &TypeError{path, fmt.Sprintf("the attribute %q (%s)", n, a), "an object without it"}
			}
			if member == nil && a.Optional {
				out[n] = nil
				continue
			}
			c, err := convert(member, a, path+"."+n)
			if err != nil {
				return nil, err
			}
			out[n] = c
		}
		return out, nil
	}
	return bad()
}

func unique(list []any) []any {
	sort.SliceStable(list, func(i, j int) bool { return string(Append(nil, list[i])) < string(Append(nil, list[j])) })
	out := list[:0]
	for i, e := range list {
		if i == 0 || !Equal(e, out[len(out)-1]) {
			out = append(out, e)
		}
	}
	return out
}

func article(s string) string {
	if s == "any" || s == "object({})" || strings.HasPrefix(s, "object") {
		return "an " + s
	}
	return "a " + s
}

func describe(v Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
	case float64:
		return "the number " + string(AppendNumber(nil, v))
	case string:
		return "a string"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "an object"
	}
	return "nothing that flowrun knows"
}
