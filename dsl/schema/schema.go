// Package schema is the table of what a workflow file can say: block kinds, their labels and attributes, what each
// takes, its default and a line of documentation.
//
// Decoding, checking, documentation and completion all read this one table, so none can know an attribute that the
// others don't. It also lists what the language has and this release does not carry out ([AllPlanned], [Attr.Later], [Block.Later]):
// using such a thing is an error that says so, because nothing is accepted and ignored. [Meant] knows the words that
// other tools use for the same things.
//
// The package is data. It imports value for types and must never import the checker, HCL or anything of the runner.
// Enter at [Blocks]; [Block.Inside] finds what a word means in a block, for a few mean another thing in one. What holds
// always: every name in a block's Blocks is a key of Blocks, and every attribute and block has a documentation line; a
// test says so.
package schema

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// Kind says what an attribute takes.
type Kind int

// The kinds of attribute. All but Value, Duration, Command, Env, Condition and the units of Quotas are fixed when the file is read.
const (
	Value      Kind = iota // an expression of type Want
	Duration               // an expression that gives a text such as "1m30s"
	Condition              // an expr-lang condition in a literal string
	Command                // a list of program and arguments, or a script in a string
	Env                    // { NAME = value, … }; each value is an expression of its own
	Word                   // one of Words, literally
	Text                   // a literal string
	Flag                   // true or false, literally
	Strings                // a list of literal strings
	Type                   // a type expression
	Ref                    // a bare reference to a RefKind
	Refs                   // a list of them
	Join                   // one of Words, a number, or a condition
	Conditions             // a list of conditions in literal strings
	Replies                // a list of objects with Members, written out
	Quotas                 // a bare reference to a quota, a list of them, or { NAME = units, … }; units are expressions
)

// String names what an attribute takes, for documentation.
func (k Kind) String() string {
	return [...]string{"value", "duration", "condition", "command", "environment", "word", "text", "flag", "strings", "type", "reference", "references", "join", "conditions", "replies", "quotas"}[k]
}

// Attr is one attribute.
type Attr struct {
	Name     string
	Kind     Kind
	Want     value.Type // for Value
	RefKind  string     // for Ref and Refs, and for a Value that can be a reference too: agent, gate, step, workflow
	Pools    bool       // of references to agents: a pool can stand there, or a member of one
	Words    []string   // for Word and Join
	Required bool
	Min, Max float64  // for numbers that are given literally; Max 0 means no bounds
	Default  string   // as documentation shows it
	Doc      string   // a sentence
	Later    *Planned // in the language, not carried out by this release; nil for what is
	Choice   bool     // of a Ref: a condition can choose between two
	Members  []Attr   // of Replies
	Zero     bool     // of a Duration: it may be zero
	True     int      // of a number: what a literal true means, and false is 0; 0: a bool is an error
}

// Block is one kind of block.
type Block struct {
	Kind  string
	Label string // what the label names; empty for a block without one
	// AnyLabel tells that the label is any text, not a name.
	AnyLabel bool
	Doc      string
	Attrs    []Attr
	Blocks   []string // kinds that may stand inside
	Once     bool     // may stand once in its parent
	Free     bool     // takes attributes of any name (locals)
	Later    *Planned // as of an attribute
	// Example shows the block in use, as nodes of a workflow or as a whole file; "" where the attributes say enough.
	Example string

	key string
}

// Key is the block's key in [Blocks]: its kind, or for a kind that means something else in one parent, "PARENT.KIND".
func (b *Block) Key() string { return b.key }

// Inside returns the block that a kind means inside b, or nil where there is no such kind. It does not ask whether it may
// stand there.
func (b *Block) Inside(kind string) *Block {
	if own := Blocks[b.Kind+"."+kind]; own != nil {
		return own
	}
	return Blocks[kind]
}

// Attr returns the attribute of a name, or nil.
func (b *Block) Attr(name string) *Attr {
	for i := range b.Attrs {
		if b.Attrs[i].Name == name {
			return &b.Attrs[i]
		}
	}
	return nil
}

// Has tells whether a block kind may stand inside b.
func (b *Block) Has(kind string) bool {
	for _, k := range b.Blocks {
		if k == kind {
			return true
		}
	}
	return false
}

// CauseKinds are the kinds of causes of runs: a closed set that the type checker knows.
var CauseKinds = []string{"manual", "call", "event", "routine", "loop", "retry"}

// OwnEvents are the names of the events that flowrun itself publishes, where somebody has subscribed.
var OwnEvents = []string{"flowrun.run", "flowrun.breaker", "flowrun.dlq", "flowrun.target", "flowrun.loop"}

// AwaitedEvents are those of OwnEvents for which a wait can wait. The others start runs alone.
var AwaitedEvents = []string{"flowrun.breaker", "flowrun.target", "flowrun.loop"}

// Statuses are the statuses of nodes and runs: a closed set that the type checker knows.
var Statuses = []string{"pending", "running", "waiting", "succeeded", "failed", "skipped", "blocked", "cancelled"}

// Roots are the names that expressions may begin with in one place or another.
var Roots = []string{"var", "local", "input", "step", "each", "run", "attempt", "iteration", "previous", "last", "result", "error", "feedback", "recalled", "event", "elapsed", "healed", "metrics", "now", "item", "worker"}

// Nodes are the kinds of block that are nodes of a workflow.
var Nodes = []string{"step", "sequence", "parallel", "switch"}

func init() {
	for _, part := range []map[string]*Block{topBlocks, nodeBlocks, patternBlocks, partBlocks, memoryBlocks, actionBlocks(), testBlocks, loopBlocks, laterBlocks()} {
		for kind, b := range part { // any order: no kind is in two maps
			Blocks[kind] = b
		}
	}
	for kind, b := range Blocks { // any order: each for itself
		b.key, b.Kind = kind, kind[strings.IndexByte(kind, '.')+1:]
	}
}
