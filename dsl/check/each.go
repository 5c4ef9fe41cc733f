package check

import (
	"github.com/flowrun/flowrun/dsl/value"
)

// eachOf is the nearest node around n, or n itself unless outer, that has a for_each.
func eachOf(n *Node, outer bool) *Node {
	if outer {
		n = n.Parent
	}
	for ; n != nil; n = n.Parent {
		if n.attr("for_each") != nil {
			return n
		}
	}
	return nil
}

// eachType is the type of each inside a node with for_each.
func eachType(n *Node) value.Type {
	key, elem := value.AnyType, value.AnyType
	if e := n.Expr("for_each"); e != nil {
		key, elem = members(e.Type)
	}
	return value.Object(map[string]value.Type{"key": key, "value": elem})
}

// members gives the types of keys and members of a collection.
func members(t value.Type) (key, elem value.Type) {
	switch t.Kind {
	case value.ListT:
		return value.IntType, *t.Elem
	case value.SetT:
		return value.StringType, *t.Elem
	case value.MapT:
		return value.StringType, *t.Elem
	case value.TupleT:
		return value.IntType, common(t.Elems)
	case value.ObjectT:
		var all []value.Type
		for _, n := range t.Names() {
			all = append(all, t.Attrs[n])
		}
		return value.StringType, common(all)
	}
	return value.AnyType, value.AnyType
}

// common is the type of all members, or any where they differ.
func common(all []value.Type) value.Type {
	if len(all) == 0 {
		return value.AnyType
	}
	first := all[0]
	for _, t := range all[1:] {
		if t.String() != first.String() {
			return value.AnyType
		}
		first.Nullable = first.Nullable || t.Nullable
		first.Int = first.Int && t.Int
		if len(t.Enum) > 0 || len(first.Enum) > 0 {
			first.Enum = nil
		}
	}
	return first
}
