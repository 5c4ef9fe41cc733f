package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

// kind is what an operand or an argument must be: a wider notion than a type. A kind that ends in "!" admits null.
type kind string

const (
	kAny     kind = "any"        // anything but null
	kNull    kind = "any!"       // anything
	kString  kind = "string"     // a string; functions also take numbers and bools and print them
	kPure    kind = "text"       // a string and nothing else: an operand
	kNumber  kind = "number"     // a number
	kWhole   kind = "index"      // a whole number
	kBool    kind = "bool"       // a bool
	kList    kind = "list"       // a list, set or tuple
	kNumbers kind = "numbers"    // a list of numbers
	kStrings kind = "strings"    // a list of strings
	kMap     kind = "map"        // a map or object
	kColl    kind = "collection" // a list or a map
	kSized   kind = "sized"      // a list, a map or a string
	kScalar  kind = "scalar"     // a string, number or bool
	kOrdered kind = "ordered"    // a number or a string
	kListN   kind = "list!"      // a list or null
	kMapN    kind = "map!"       // a map or null
	kFigures kind = "figures"    // a map of numbers, some of which may be null
)

var kindNames = map[kind]string{
	kAny: "a value", kNull: "a value", kString: "a string", kPure: "a string", kNumber: "a number", kWhole: "a whole number", kBool: "a bool",
	kList: "a list", kNumbers: "a list of numbers", kStrings: "a list of strings", kMap: "a map or an object", kColl: "a list or a map",
	kSized: "a list, a map or a string", kScalar: "a string, a number or a bool", kOrdered: "a number or a string", kListN: "a list", kMapN: "a map or an object",
	kFigures: "a map of numbers",
}

func (k kind) nulls() bool { return k[len(k)-1] == '!' }

// fits tells whether a value of static type t, null aside, can be of kind k.
func (k kind) fits(t value.Type) Fit {
	if t.IsAny() {
		if k == kNull {
			return Yes
		}
		return Maybe
	}
	yes := false
	switch k {
	case kAny, kNull:
		yes = t.Kind != value.Null
	case kString, kScalar:
		yes = t.Kind == value.StringT || t.Kind == value.NumberT || t.Kind == value.Bool
	case kPure:
		yes = t.Kind == value.StringT
	case kNumber, kWhole:
		yes = t.Kind == value.NumberT
	case kBool:
		yes = t.Kind == value.Bool
	case kList, kListN:
		yes = isList(t)
	case kNumbers:
		return listOf(t, kNumber)
	case kStrings:
		return listOf(t, kString)
	case kMap, kMapN:
		yes = isMap(t)
	case kFigures:
		return figures(t)
	case kColl:
		yes = isList(t) || isMap(t)
	case kSized:
		yes = isList(t) || isMap(t) || t.Kind == value.StringT
	case kOrdered:
		yes = t.Kind == value.NumberT || t.Kind == value.StringT
	}
	if yes || k.nulls() && t.Kind == value.Null {
		return Yes
	}
	return No
}

func isList(t value.Type) bool {
	return t.Kind == value.ListT || t.Kind == value.SetT || t.Kind == value.TupleT
}

func isMap(t value.Type) bool { return t.Kind == value.MapT || t.Kind == value.ObjectT }

func listOf(t value.Type, member kind) Fit {
	switch {
	case t.Kind == value.TupleT:
		fit := Yes
		for _, e := range t.Elems {
			fit = min(fit, member.fits(e))
		}
		return fit
	case isList(t):
		return member.fits(*t.Elem)
	}
	return No
}

// figures tells whether t is a map or object whose members are numbers or null.
func figures(t value.Type) Fit {
	switch {
	case t.Kind == value.MapT:
		return emptyFits(figure(*t.Elem))
	case t.Kind != value.ObjectT:
		return No
	}
	fit := Yes
	for _, a := range t.Attrs { // any order: the least
		fit = min(fit, figure(a))
	}
	return fit
}

func figure(t value.Type) Fit {
	if t.Kind == value.Null {
		return Yes
	}
	return kNumber.fits(t)
}

// take checks an argument in an evaluation, and prints what stands where a string is needed.
func (k kind) take(v value.Value) (value.Value, error) {
	if v == nil {
		if k.nulls() {
			return nil, nil
		}
		return nil, fmt.Errorf("%s is needed, but this is null", kindNames[k])
	}
	ok := false
	switch t := v.(type) {
	case string:
		ok = k == kString || k == kPure || k == kScalar || k == kOrdered || k == kSized
	case float64:
		switch k {
		case kString:
			return textOf(t), nil
		case kWhole:
			ok = whole(t)
		default:
			ok = k == kNumber || k == kScalar || k == kOrdered
		}
	case bool:
		if k == kString {
			return textOf(t), nil
		}
		ok = k == kBool || k == kScalar
	case []any:
		ok = k == kList || k == kListN || k == kColl || k == kSized
		if k == kNumbers || k == kStrings {
			return takeMembers(t, k)
		}
	case map[string]any:
		ok = k == kMap || k == kMapN || k == kColl || k == kSized
		if k == kFigures {
			return t, takeFigures(t)
		}
	}
	if ok || k == kAny || k == kNull {
		return v, nil
	}
	return nil, fmt.Errorf("%s is needed, but this is %s", kindNames[k], describe(v))
}

func takeMembers(list []any, k kind) (value.Value, error) {
	member := kNumber
	if k == kStrings {
		member = kString
	}
	out := make([]any, len(list))
	for i, e := range list {
		v, err := member.take(e)
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

func takeFigures(m map[string]any) error {
	for _, key := range value.Keys(m) {
		if _, ok := m[key].(float64); !ok && m[key] != nil {
			return fmt.Errorf("member %q: a number is needed, but this is %s", shorten(key), describe(m[key]))
		}
	}
	return nil
}

func describe(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the bool %t", v)
	case float64:
		return "the number " + textOf(v)
	case string:
		return fmt.Sprintf("the string %q", shorten(v))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return "an object"
}
