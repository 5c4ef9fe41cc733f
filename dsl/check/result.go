package check

import (
	"github.com/flowrun/flowrun/dsl/value"
)

var anyResult = resultType(value.AnyType, value.StringType.OrNull())

// resultFor is the type of the whole result of a node, as a reader sees it who is in another node, or in none.
func (w *Workflow) resultFor(n, reader *Node) value.Type {
	out := n.output
	if out.Kind == "" {
		return anyResult
	}
	if a := n.attr("for_each"); a != nil {
		if a.Expr == nil {
			return anyResult
		}
		switch a.Expr.Type.Kind {
		case value.ListT, value.TupleT:
			out = value.List(n.instance(out))
		case value.SetT, value.MapT, value.ObjectT:
			out = value.Map(n.instance(out))
		default:
			out = value.AnyType
		}
	}
	skippable := n.skippable(reader)
	if skippable {
		out.Nullable = true
	}
	stdout := n.stdout(!skippable)
	if out.Kind == value.StringT && len(out.Enum) == 0 && stdout.Nullable == out.Nullable {
		return textResult[out.Nullable]
	}
	return resultType(out, stdout)
}

// textResult holds the commonest result types, certain and possibly null, so that ten thousand steps share them.
var textResult = map[bool]value.Type{
	false: resultType(value.StringType, value.StringType),
	true:  resultType(value.StringType.OrNull(), value.StringType.OrNull()),
}

var nullType = value.Type{Kind: value.Null, Nullable: true}

// stdout is the type of a node's stdout; certain says that the node cannot have been skipped.
func (n *Node) stdout(certain bool) value.Type {
	if certain && n.attr("run") != nil && n.attr("for_each") == nil {
		return value.StringType
	}
	return value.StringType.OrNull()
}

// instance is the type of one member of a for_each's output: null where the condition left the instance out. An
// instance that failed leaves no output at all to who needs it.
func (n *Node) instance(out value.Type) value.Type {
	if n.attr("when") != nil {
		return out.OrNull()
	}
	return out
}

// skippable tells whether a condition can have left the node out where the reader runs: the node's own, or that of a
// group around it that is not also around the reader.
func (n *Node) skippable(reader *Node) bool {
	for p := n; p != nil; p = p.Parent {
		if p.attr("when") != nil && (reader == nil || p != reader && !p.holds(reader)) {
			return true
		}
	}
	return false
}
