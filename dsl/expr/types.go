package expr

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Fit says whether a value of one type can stand where another is needed.
type Fit int

// The answers of [Assignable]. Maybe means that only the value will tell, as with any.
const (
	No Fit = iota
	Maybe
	Yes
)

// Assignable says whether a value of static type have can stand where want is needed, by the rules of [value.Convert]:
// nothing is parsed or printed to make it fit.
func Assignable(have, want value.Type) Fit {
	switch {
	case want.IsAny():
		return Yes
	case have.IsAny():
		return Maybe
	case have.Kind == value.Null:
		if want.Nullable || want.Optional || want.Kind == value.Null {
			return Yes
		}
		return No
	}
	fit := assignable(have, want)
	if have.Nullable && !want.Nullable && !want.Optional {
		fit = min(fit, Maybe)
	}
	return fit
}

func assignable(have, want value.Type) Fit {
	switch want.Kind {
	case value.ListT, value.SetT:
		if have.Kind == value.TupleT {
			fit := Yes
			for _, e := range have.Elems {
				fit = min(fit, Assignable(e, *want.Elem))
			}
			return fit
		}
		if isList(have) {
			return emptyFits(Assignable(*have.Elem, *want.Elem))
		}
		return No
	case value.TupleT:
		return tupleFit(have, want)
	case value.MapT:
		switch have.Kind {
		case value.MapT:
			return emptyFits(Assignable(*have.Elem, *want.Elem))
		case value.ObjectT:
			fit := Yes
			for _, a := range have.Attrs { // any order: the least
				fit = min(fit, Assignable(a, *want.Elem))
			}
			return fit
		}
		return No
	case value.ObjectT:
		return objectFit(have, want)
	case value.NumberT:
		if have.Kind == value.NumberT && want.Int && !have.Int {
			return Maybe
		}
	case value.StringT:
		if have.Kind == value.StringT && len(want.Enum) > 0 {
			return enumFit(have.Enum, want.Enum)
		}
	}
	if have.Kind == want.Kind {
		return Yes
	}
	return No
}

// emptyFits turns No into Maybe: a list or map without members fits whatever its members would have been.
func emptyFits(f Fit) Fit { return max(f, Maybe) }

func tupleFit(have, want value.Type) Fit {
	if have.Kind != value.TupleT {
		if isList(have) {
			return Maybe
		}
		return No
	}
	if len(have.Elems) != len(want.Elems) {
		return No
	}
	fit := Yes
	for i, e := range have.Elems {
		fit = min(fit, Assignable(e, want.Elems[i]))
	}
	return fit
}

func objectFit(have, want value.Type) Fit {
	if have.Kind == value.MapT {
		return Maybe
	}
	if have.Kind != value.ObjectT {
		return No
	}
	fit := Yes
	for n, w := range want.Attrs { // any order: the least
		h, ok := have.Attrs[n]
		switch {
		case ok && h.Optional && !w.Optional:
			fit = min(fit, Maybe, Assignable(h, w))
		case ok:
			fit = min(fit, Assignable(h, w))
		case !w.Optional:
			return No
		}
	}
	return fit
}

func enumFit(have, want []string) Fit {
	if len(have) == 0 {
		return Maybe
	}
	in := 0
	for _, h := range have {
		if slices.Contains(want, h) {
			in++
		}
	}
	switch in {
	case 0:
		return No
	case len(have):
		return Yes
	}
	return Maybe
}

// Conform checks e against want, once, where e is used: a constant is converted, and a type that can never fit is an
// error at rng. what names the place in the message, such as "timeout". Where only the value will tell, it is left to the run.
func Conform(e *ir.Expr, want value.Type, what string, rng diag.Range) diag.List {
	if e.Kind == ir.Const {
		v, err := value.Convert(e.Const, want)
		if err != nil {
			return diag.List{{Code: codeDoesNotConform, Summary: mustBe(what, want), Detail: capital(err.Error()) + "." + unquote(e.Const, want), Subject: rng}}
		}
		e.Const = v
		return nil
	}
	if Assignable(e.Type, want) != No {
		return nil
	}
	return diag.List{{
		Code: codeDoesNotConform, Summary: mustBe(what, want), Subject: rng,
		Detail: fmt.Sprintf("%s is needed, and this gives %s.", capital(an(want.String())), an(e.Type.String())),
	}}
}

func mustBe(what string, want value.Type) string {
	if want.Int {
		return what + " must be a whole number"
	}
	return what + " must be " + an(want.String())
}

// unquote says how a number or bool in quotes is meant to be written.
func unquote(v value.Value, want value.Type) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	_, err := strconv.ParseFloat(s, 64)
	if want.Kind == value.NumberT && err == nil || want.Kind == value.Bool && (s == "true" || s == "false") {
		return " Write it without quotes: " + s + "."
	}
	return ""
}

// Unify is the narrowest type that holds the values of both.
func Unify(a, b value.Type) value.Type { return unify(a, b) }

// unify is the narrowest type that holds the values of both; any, where they have nothing in common.
func unify(a, b value.Type) value.Type {
	switch {
	case a.IsAny() || b.IsAny():
		return value.AnyType
	case a.Kind == value.Null:
		return b.OrNull()
	case b.Kind == value.Null:
		return a.OrNull()
	}
	t := unifyKinds(a, b)
	if !t.IsAny() {
		t.Nullable = a.Nullable || b.Nullable
		t.Optional = a.Optional || b.Optional
	}
	return t
}

func unifyKinds(a, b value.Type) value.Type {
	switch {
	case a.Kind == value.TupleT && b.Kind == value.TupleT && len(a.Elems) == len(b.Elems):
		t := value.Type{Kind: value.TupleT}
		for i := range a.Elems {
			t.Elems = append(t.Elems, unify(a.Elems[i], b.Elems[i]))
		}
		return t
	case a.Kind == value.SetT && b.Kind == value.SetT:
		return value.Set(unify(*a.Elem, *b.Elem))
	case isList(a) && isList(b):
		return value.List(unify(elemType(a), elemType(b)))
	case a.Kind == value.ObjectT && b.Kind == value.ObjectT && sameNames(a, b):
		attrs := map[string]value.Type{}
		for n := range a.Attrs { // any order: it fills an object
			attrs[n] = unify(a.Attrs[n], b.Attrs[n])
		}
		return value.Object(attrs)
	case a.Kind == value.MapT && isMap(b) || b.Kind == value.MapT && isMap(a):
		return value.Map(unify(elemType(a), elemType(b)))
	case a.Kind != b.Kind || isMap(a):
		return value.AnyType
	}
	t := value.Type{Kind: a.Kind, Int: a.Int && b.Int}
	if len(a.Enum) > 0 && len(b.Enum) > 0 {
		t.Enum = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a.Enum), b.Enum...))))
	}
	return t
}

func sameNames(a, b value.Type) bool { return slices.Equal(a.Names(), b.Names()) }

// unifyAll unifies any number of types. Of none it is any: the list has no members.
func unifyAll(types []value.Type) value.Type {
	if len(types) == 0 {
		return value.AnyType
	}
	t := types[0]
	for _, u := range types[1:] {
		t = unify(t, u)
	}
	return t
}

// typeOf is the type of a constant.
func typeOf(v value.Value) value.Type {
	switch v := v.(type) {
	case bool:
		return value.BoolType
	case float64:
		return value.Type{Kind: value.NumberT, Int: whole(v)}
	case string:
		return value.StringType
	case []any:
		t := value.Type{Kind: value.TupleT, Elems: make([]value.Type, len(v))}
		for i, e := range v {
			t.Elems[i] = typeOf(e)
		}
		return shared(t)
	case map[string]any:
		attrs := make(map[string]value.Type, len(v))
		for k, e := range v { // any order: it fills an object
			attrs[k] = typeOf(e)
		}
		return value.Object(attrs)
	}
	return value.Type{Kind: value.Null, Nullable: true}
}

// stringTypes are the member types of short lists of texts, as commands are: one list for all of them.
var stringTypes = func() (out [16]value.Type) {
	for i := range out {
		out[i] = value.StringType
	}
	return out
}()

// shared is a tuple's type; that of a short list of texts shares its members with all others.
func shared(t value.Type) value.Type {
	n := len(t.Elems)
	if n == 0 || n > len(stringTypes) {
		return t
	}
	for i := range t.Elems {
		if e := &t.Elems[i]; e.Kind != value.StringT || e.Nullable || e.Optional || e.Enum != nil {
			return t
		}
	}
	t.Elems = stringTypes[:n:n]
	return t
}
