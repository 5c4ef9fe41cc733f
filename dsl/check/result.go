package check

import (
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/value"
)

// resultType is the object that step.NAME is, for the types of what differs between nodes. Whoever reads stdout waits for
// success, so that of a program that ran is there; stderr may be read after any end.
func resultType(output, stdout, instances, counts value.Type) value.Type {
	return value.Object(map[string]value.Type{
		"output": output, "status": statusType, "exit_code": value.IntType, "stdout": stdout, "stderr": value.StringType.OrNull(),
		"error": errorType.OrNull(), "attempts": value.IntType, "duration": value.NumberType,
		"started_at": value.StringType.OrNull(), "finished_at": value.StringType.OrNull(), "agent": value.StringType.OrNull(),
		"instances": instances, "counts": counts, "winner": nullType, "iterations": nullType, "usage": usageType, "partial": value.BoolType,
		"escalated": value.StringType.OrNull(), "by": value.StringType.OrNull(),
	})
}

// absentAttrs are attributes of results that most nodes don't have.
var absentAttrs = map[string]string{"winner": notPicked, "iterations": notRepeated}

var (
	nullType   = value.Type{Kind: value.Null, Nullable: true}
	countsType = value.Object(map[string]value.Type{"total": value.IntType, "succeeded": value.IntType, "failed": value.IntType, "skipped": value.IntType})
	anyResult  = resultType(value.AnyType, value.StringType.OrNull(), value.AnyType, countsType.OrNull())
)

// judged is the type of what a gate judges: the result of one attempt of one instance.
func (n *Node) judged() value.Type {
	t := resultType(n.output, n.stdout(true), nullType, nullType)
	if n.attr("winner") != nil {
		t.Attrs["winner"] = value.StringType.OrNull()
	}
	return t
}

// resultFor is the type of the whole result of a node, as a reader sees it who is in another node, or in none.
func (w *Workflow) resultFor(n, reader *Node) value.Type {
	if n.output.Kind == "" {
		return anyResult
	}
	skippable := n.skippable(reader)
	if n.output.Attrs == nil && n.output.Elems == nil && n.output.Elem == nil {
		return w.resultSeen(n, skippable)
	}
	t, there := n.seen[skippable]
	if !there {
		if n.seen == nil {
			n.seen = map[bool]value.Type{}
		}
		t = w.resultSeen(n, skippable)
		n.seen[skippable] = t
	}
	return t
}

// resultSeen makes the type of the whole result of a node. That of an output with parts takes some KiB.
func (w *Workflow) resultSeen(n *Node, skippable bool) value.Type {
	if n.attr("for_each") != nil {
		return n.collected(skippable)
	}
	out, stdout := n.output, n.stdout(!skippable && !n.tolerated() && n.Inner("degrade") == nil)
	if skippable || n.tolerated() && n.Inner("degrade") == nil {
		out = out.OrLeft()
	}
	if n.repeats() || n.winner() {
		return n.special(resultType(out, stdout, nullType, nullType), skippable)
	}
	return w.plainResult(out, stdout)
}

// plainResult is the type of a result whose output may be a plain type: the object takes 2 KiB, so that nodes of which
// much the same is known share one.
func (w *Workflow) plainResult(out, stdout value.Type) value.Type {
	if out.Elem != nil || out.Elems != nil || out.Attrs != nil || out.Enum != nil || stdout.Enum != nil {
		return resultType(out, stdout, nullType, nullType)
	}
	key := resultKey{out.Kind, stdout.Kind, out.Int, out.CanBeNull(), out.Optional, stdout.Nullable}
	t, there := w.plain[key]
	if !there {
		t = resultType(out, stdout, nullType, nullType)
		w.plain[key] = t
	}
	return t
}

// results are result types that nodes share.
type results map[resultKey]value.Type

// resultKey is what plain types of an output and of stdout differ in.
type resultKey struct {
	out, stdout                       value.Kind
	whole, nullable, optional, noText bool
}

// collected is the type of the result of a node with for_each: what its instances made, by position or by key. Its counts
// are there even if it never ran: all are zero then.
func (n *Node) collected(skippable bool) value.Type {
	e := n.Expr("for_each")
	if e == nil {
		return anyResult
	}
	output, out := n.instance(n.output), value.AnyType
	one := resultType(output, n.stdout(!n.whenReadsEach()), nullType, nullType)
	if n.attr("winner") != nil {
		one.Attrs["winner"] = value.StringType.OrNull()
	}
	instances := value.AnyType
	switch e.Type.Kind {
	case value.ListT, value.TupleT:
		out, instances = value.List(output), value.List(one)
	case value.SetT, value.MapT, value.ObjectT:
		out, instances = value.Map(output), value.Map(one)
	}
	if skippable || n.tolerated() && n.picks() {
		out, instances = out.OrLeft(), instances.OrLeft()
	}
	return n.special(resultType(out, value.StringType.OrNull(), instances, countsType), skippable)
}

// special adds to a result type what only nodes with a repeat, or a join that names a winner, have.
func (n *Node) special(t value.Type, skippable bool) value.Type {
	if n.repeats() && n.attr("for_each") == nil {
		t.Attrs["iterations"] = value.Type{Kind: value.NumberT, Int: true, Nullable: skippable}
	}
	if n.winner() {
		t.Attrs["winner"] = value.StringType.OrNull()
	}
	return t
}

// winner reports whether the node, or its join, names who won. The winner of a group with a for_each is that of an instance.
func (n *Node) winner() bool {
	if n.attr("winner") != nil && n.attr("for_each") == nil {
		return true
	}
	a := n.attr("join")
	return a != nil && (a.Text == "any" || a.Text == "first_success")
}

// joinedResult is the type of what has just ended, as the condition of a join reads it: an instance, or any of the nodes.
func (n *Node) joinedResult() value.Type {
	if n.attr("for_each") == nil || n.output.Kind == "" {
		return anyResult
	}
	return uncertain(n.judged())
}

// uncertain is a result type for who reads it whatever the end: what is there after success only may be null.
func uncertain(t value.Type) value.Type {
	attrs := maps.Clone(t.Attrs)
	for name := range toldByEnd { // any order: each for itself
		if a := attrs[name]; a.Kind != value.Null {
			attrs[name] = a.OrNull()
		}
	}
	return value.Object(attrs)
}

// stdout is the type of the stdout of one instance; certain says that it cannot have been skipped.
func (n *Node) stdout(certain bool) value.Type {
	if certain && n.attr("run") != nil {
		return value.StringType
	}
	return value.StringType.OrNull()
}

// instance is the type of one member of a for_each's output: null where the condition left the instance out. An
// instance that failed leaves no output at all to who needs it.
func (n *Node) instance(out value.Type) value.Type {
	if n.whenReadsEach() || n.lenient() || n.tolerated() && n.Inner("degrade") == nil || n.picks() {
		return out.OrLeft()
	}
	return out
}

// asksSuccess notes for which nodes the rule all_success asks: one that is skipped skips the node, too.
func (n *Node) asksSuccess(w *Workflow) {
	if n.Text("trigger_rule") != "all_success" {
		return
	}
	if n.Before != nil {
		n.with = append(n.with, n.Before)
	}
	n.mentions(func(before, word string) {
		if to := w.ByName[word]; to != nil && before == "step" && !n.holds(to) && !to.holds(n) && to != n {
			n.with = append(n.with, to)
		}
	})
}

// leftOut reports whether the node's condition can leave out the whole node, and not only instances.
func (n *Node) leftOut() bool {
	return n.attr("when") != nil && !(n.attr("for_each") != nil && n.whenReadsEach())
}

// whenReadsEach reports whether the node's condition reads each: of a node with a for_each it is then asked for every instance. It looks
// at the text, because results have their types before conditions are checked.
func (n *Node) whenReadsEach() bool {
	a := n.attr("when")
	return a != nil && len(expr.Mentions(a.Src.Expr(), a.Src.File.Src, true, []string{"each"})) > 0
}

// skippedWith is the node that may be skipped and skips n with it; nil if there is none.
func (n *Node) skippedWith() *Node {
	with := n.with
	n.with = nil // for a circle
	defer func() { n.with = with }()
	if i := slices.IndexFunc(with, func(to *Node) bool { return to.skippable(n) }); i >= 0 {
		return with[i]
	}
	return nil
}

// skippable tells whether the node can have come to nothing where the reader runs, without a failure that blocks the
// reader: left out by a condition, a trigger rule or a switch, its own or of a group around it that is not also around the
// reader, or lost in a join.
func (n *Node) skippable(reader *Node) bool {
	for p := n; p != nil; p = p.Parent {
		if reader != nil && (p == reader || p.holds(reader)) {
			return false
		}
		if p.leftOut() || p.lenient() || p.skippedWith() != nil || p.Case > 0 && (reader == nil || !p.sameCase(reader)) {
			return true
		}
		if g := p.Parent; g != nil && g.picks() && g.attr("for_each") == nil && (reader == nil || g != reader && !g.holds(reader)) {
			return true // a loser
		}
	}
	return false
}
