package ir

import "github.com/flowrun/flowrun/dsl/value"

// ExprKind says in which language an expression is written.
type ExprKind string

// The kinds of expression. A Const has its value in Const and needs no evaluator.
const (
	Const     ExprKind = "const"
	HCL       ExprKind = "value"     // an HCL expression
	Condition ExprKind = "condition" // an expr-lang condition, or any expr-lang expression
)

// ExprKinds lists all kinds of expression.
var ExprKinds = []ExprKind{Const, HCL, Condition}

// UnmarshalText refuses a kind that is not in [ExprKinds].
func (k *ExprKind) UnmarshalText(text []byte) error {
	return read(k, text, "the expression's kind", ExprKinds)
}

// Expr is an expression kept as text. A *Expr that is nil is an attribute that was not given.
type Expr struct {
	Kind  ExprKind    `json:"kind"`
	Text  string      `json:"text,omitempty"`
	Const value.Value `json:"const,omitempty"`
	// Reads are the names that the expression can read, sorted, without repeats. An evaluation asks its scope for these
	// and no others.
	Reads []Ref      `json:"reads,omitempty"`
	Type  value.Type `json:"type"`
	// Sensitive tells that the expression reads a sensitive variable.
	Sensitive bool `json:"sensitive,omitempty"`
}

// Ref is one name that an expression reads. Root is var, local, input, step, last, each, run, attempt, iteration, previous,
// result, error, feedback or recalled; in a join also total, done, succeeded, failed or skipped. Name is the declared name below var,
// local, input, step and last (last.step.NAME has the name NAME), and the attribute below each, run, previous, result,
// error and recalled. Attr is the attribute of a step's result ("output", "status", …); empty means the whole result object. For
// attempt, iteration, feedback and the counts of a join both are empty. What lies below is not part of a Ref.
type Ref struct {
	Root string `json:"root"`
	Name string `json:"name,omitempty"`
	Attr string `json:"attr,omitempty"`
}

func (r Ref) String() string {
	s := r.Root
	if r.Name != "" {
		s += "." + r.Name
	}
	if r.Attr != "" {
		s += "." + r.Attr
	}
	return s
}

// Lit makes a constant expression.
func Lit(v value.Value, t value.Type) *Expr { return &Expr{Kind: Const, Const: v, Type: t} }

// Scope answers for the names that an expression reads. It returns null for what has no value (yet).
type Scope interface {
	Lookup(Ref) (value.Value, error)
}

// Members is a Scope that gives one member of a list or an object without making the whole.
type Members interface {
	Scope
	// HasMembers reports whether Member may be asked for r. Lookup of such an r does not fail.
	HasMembers(r Ref) bool
	// Member returns the member of the list or object r at a key: a whole number from 0, or a string. If it reports false, the caller
	// reads the whole, which has the member or gives the error.
	Member(r Ref, key value.Value) (v value.Value, ok bool)
}

// Listener is a Scope that hears what an evaluation makes of the names that it calls secret: each text that is computed from one,
// wherever in the expression, before it is known what becomes of it.
type Listener interface {
	Scope
	Secret(Ref) bool
	// Made hears a value, and that of a list or an object with all that is in it; Written hears what the expression itself holds.
	Made(v value.Value)
	Written(v value.Value)
}

// Evaluator computes expressions. It is pure: equal text and equal scope give equal results for one Behaviour number.
// It serves one machine, and like it one goroutine at a time. The result is converted to nothing: the caller knows what it
// needs. A Condition evaluates to a bool or fails.
type Evaluator interface {
	Eval(e *Expr, s Scope) (value.Value, error)
	// Readings says in words, for people, what the names that an expression reads stand for; "" where it reads none. It costs as
	// much as reading them.
	Readings(e *Expr, s Scope) string
	// Conforms tells why a value does not fit a JSON Schema, which is a value or its text; nil if it does. An error that
	// names no place in the value is the schema's own.
	Conforms(schema, v value.Value) error
}
