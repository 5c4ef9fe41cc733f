package expr

import (
	"regexp"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// span is a piece of the text that was parsed, in bytes.
type span struct{ start, end int }

func (s span) at() span { return s }

func join(a, b span) span { return span{min(a.start, b.start), max(a.end, b.end)} }

// node is one node of the tree that both languages are lowered to.
type node interface{ at() span }

type (
	// lit is a literal.
	lit struct {
		span
		v value.Value
	}
	// ref reads a name from the scope. name and attr are where these parts of it stand.
	ref struct {
		span
		ref        ir.Ref
		name, attr span
		step       bool // of last: .step stands behind it
		call       bool // it is written as a call of a function: see orderFunc
	}
	// bound reads a name that the expression itself binds: of a for, a let, a splat or a predicate.
	bound struct {
		span
		slot int
	}
	// member is x.name. It reads through null.
	member struct {
		span
		x    node
		name string
		here span // of the name
	}
	// index is x[key].
	index struct {
		span
		x, key node
	}
	// slice is x[from:to]; from and to may be nil.
	slice struct {
		span
		x, from, to node
	}
	// unary is "-" or "!".
	unary struct {
		span
		op string
		x  node
	}
	// binary has the operators of expr-lang, where "and" is "&&" and "or" is "||". "+" adds numbers only; "+~", the plus of
	// conditions, joins strings, too.
	binary struct {
		span
		op     string
		l, r   node
		re     *regexp.Regexp // for matches with a literal pattern
		reSize int            // of the compiled pattern
	}
	// cond is c ? yes : no.
	cond struct {
		span
		c, yes, no node
	}
	// template joins its parts to a string.
	template struct {
		span
		parts []node
	}
	// tuple is [a, b].
	tuple struct {
		span
		items []node
	}
	// object is { k = v }.
	object struct {
		span
		keys, vals []node
	}
	// call calls a function of the table. With spread, the last argument is a list of arguments.
	call struct {
		span
		f      *function
		args   []node
		spread bool
	}
	// attempt is try(a, b …) or can(a).
	attempt struct {
		span
		can  bool
		args []node
	}
	// forEach is HCL's for. key is nil for a list; keySlot is -1 where the key is not named.
	forEach struct {
		span
		keySlot, valSlot int
		coll             node
		key, val, cond   node
		group            bool
	}
	// splat is x[*].each and x.*.each.
	splat struct {
		span
		slot int
		x    node
		each node
	}
	// predicate is one of expr-lang's all, any, filter … with its body.
	predicate struct {
		span
		name              string
		coll, body, extra node // extra: the first #acc of reduce, the order of sortBy; may be nil
		item, index, acc  int
		spanOfName        span
	}
	// let binds a slot in its body.
	let struct {
		span
		slot int
		x    node
		body node
	}
)

// tree is a lowered expression.
type tree struct {
	root   node
	files  bool     // it reads files
	secret bool     // it reads something sensitive
	slots  int      // how many names the expression binds itself
	reads  []ir.Ref // sorted, without repeats
	text   string
	from   []int // offsets in text of what was parsed, where that was rewritten; else nil
}

// finding is a fault in a text, before its place in a file is known.
type finding struct {
	span
	code, summary, detail string
	warning               bool
	decl                  *declared // a declaration to point at
}

type declared struct {
	text string
	root *Root
	name string
}

// findings collects.
type findings struct{ list []finding }

func (f *findings) add(s span, code, summary, detail string) *finding {
	f.list = append(f.list, finding{span: s, code: code, summary: summary, detail: detail})
	return &f.list[len(f.list)-1]
}

func (f *findings) failed() bool {
	for i := range f.list {
		if !f.list[i].warning {
			return true
		}
	}
	return false
}
