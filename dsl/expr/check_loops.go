package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
)

func (c *checker) forEach(n *forEach) value.Type {
	coll := c.need(n.coll, kColl, "for")
	if n.keySlot >= 0 {
		if coll.Kind == value.SetT {
			c.add(n.coll.at(), codeOperand, "A set has no keys", "A set has neither positions nor names. Write for v in …, or tolist(x) for positions from 0.")
		}
		c.slots[n.keySlot] = keyType(coll)
	}
	c.slots[n.valSlot] = c.memberType(coll)
	var paths []string
	if n.cond != nil {
		c.need(n.cond, kBool, "if")
		paths = facts(n.cond, true)
	}
	var val value.Type
	c.given(paths, func() {
		if n.key != nil {
			c.need(n.key, kString, "the key of an object")
		}
		val = c.infer(n.val)
	})
	switch {
	case n.key == nil:
		return value.List(val)
	case n.group:
		return value.Map(value.List(val))
	}
	return value.Map(val)
}

// keyType is the type of the keys of a list or map.
func keyType(t value.Type) value.Type {
	switch {
	case isList(t):
		return value.IntType
	case isMap(t):
		return value.StringType
	}
	return value.AnyType
}

func (c *checker) splat(n *splat) value.Type {
	t := c.infer(n.x)
	item := t.NotNull()
	if isList(t) {
		item = c.memberType(t)
	}
	if isMap(t) { // as in HCL, but hardly meant: each name of a member is looked up among the keys
		path := pathOf(n.x)
		if path == "" {
			path = "…"
		}
		c.add(n.span, codeNoMembers, "[*] over an object by key is a list of one", fmt.Sprintf("[*] takes a list. For all members, write  values(%s)[*].", path)).warning = true
	}
	c.slots[n.slot] = item
	return value.List(c.infer(n.each))
}

func (c *checker) predicate(n *predicate) value.Type {
	item := c.memberType(c.need(n.coll, kList, n.name))
	c.slots[n.item], c.slots[n.index] = item, value.IntType
	if n.name == "reduce" {
		c.slots[n.acc] = value.AnyType
	}
	if n.extra != nil {
		if n.name == "sortBy" {
			c.need(n.extra, kPure, n.name)
		} else {
			c.infer(n.extra)
		}
	}
	switch n.name {
	case "map":
		return value.List(c.infer(n.body))
	case "sum":
		c.need(n.body, kNumber, n.name)
		return value.NumberType
	case "groupBy":
		c.need(n.body, kString, n.name)
		return value.Map(value.List(item))
	case "sortBy":
		c.need(n.body, kOrdered, n.name)
		return value.List(item)
	case "reduce":
		c.infer(n.body)
		return value.AnyType
	}
	c.need(n.body, kBool, n.name)
	switch n.name {
	case "filter":
		return value.List(item)
	case "count":
		return value.IntType
	case "find", "findLast":
		return item.OrNull()
	case "findIndex", "findLastIndex":
		return value.IntType.OrNull()
	}
	return value.BoolType
}

// memberType is what the members of a collection have in common, within the bounds of the program.
func (c *checker) memberType(t value.Type) value.Type {
	if !c.env.Work.look(t) {
		return value.AnyType
	}
	return elemType(t)
}
