// Package check decides whether a program means something, and says what it means: every attribute is known and in
// place, every name resolves, every expression has a type that fits, and the nodes of a workflow form no circle.
//
// It reads the tree of dsl/syntax by the table of dsl/schema, leaves expressions to dsl/expr, and hands a [Program] of
// checked blocks to dsl/lower. It must never import lower, files or anything of the runner. Enter at [Check].
//
// The order of work: decode.go (structure), declare.go (names), static.go (what is fixed in the file), types.go (result
// types, in the order of what reads what), expressions.go (everything else), judge.go (gates, by what they judge), depend.go
// and cycle.go (the graph), sound.go (what can never happen), advice.go (what could be better). Workflows come after those
// that they call. Each stage reports all that it finds and marks what later stages need not complain about again.
//
// What always holds: a Program without errors can be lowered without looking at its text again, and no name in it can
// fail to resolve in a run. The cost is linear in the size of the program.
package check

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// Program is what the files of a program declare, in file order.
type Program struct {
	Variables   []*Decl
	Locals      []*Attr // ordered by name of file and place
	Agents      []*Block
	Pools       []*Block
	Gates       []*Block
	Quotas      []*Block // in the order of their declaration
	Channels    []*Block
	Ons         []*Block
	Routines    []*Block
	Escalations []*Block
	Workflows   []*Workflow
	Loops       []*Block
	Settings    *Block            // flowrun, or nil
	Memory      *Block            // or nil
	Files       map[string]string // what file("PATH") stands for, by the path
}

// Block is a block of the file whose structure is known to fit its schema.
type Block struct {
	Schema *schema.Block
	Src    *syntax.Block
	Name   string // its label
	Attrs  map[string]*Attr
	Blocks []*Block

	inner  map[string]*Block // the first of each kind of Blocks; made by Inner
	within string            // the words of the block that it stands in, if any
	stray  bool              // something inside was refused, so what seems to be missing may be that
}

// Attr is an attribute with what was found out about it. Which fields are set depends on the schema's kind.
type Attr struct {
	Schema  *schema.Attr
	Src     *syntax.Attr
	Expr    *ir.Expr             // Value, Duration, Condition, Command; nil if it has errors
	Values  []ir.Expr            // Command: what stands in ${} in a script
	Text    string               // Word, Text
	Strings []string             // Strings
	Names   []expr.Name          // Ref, Refs, Quotas
	picks   []*ir.Expr           // Ref, Refs: what gives the member of a pool, for each of Names; nil without one
	Type    *value.Type          // Type; nil if it has errors
	Env     map[string]*ir.Expr  // Env; Quotas: the units of those that are given some
	Members map[string]*ir.Expr  // Value: the members of an object that is written out and sensitive; nil if it is none
	Script  bool                 // Command: a script, not a list
	Choice  hclsyntax.Expression // Ref: what decides between two Names; its IR is Expr
	Flag    bool                 // Flag

	found *parts // where its parts stand, as far as that was asked

	done  bool     // the expression has been checked
	known *ir.Expr // Value, Duration: the constant that it is in every run; nil if it is none
	shell,
	of string // Command: the shell of its scripts, and the kind of its block
	around *surround // Command, and command: the blocks whose env reaches the program
	loop   *Attr     // Command: the for_each that each belongs to, or nil
}

// parts are the places of what an attribute is made of. Each is made when it is first asked for.
type parts struct {
	items  map[string]*hclsyntax.ObjectConsItem // members of an object that is written out
	places []diag.Range                         // of the members of a list that is written out
	named  map[string]diag.Range                // the first mention of each node
}

func (a *Attr) parts() *parts {
	if a.found == nil {
		a.found = &parts{}
	}
	return a.found
}

// Decl is a variable or an input.
type Decl struct {
	*Block
	Type    value.Type
	Enum    []value.Value
	Default *ir.Expr // a constant; nil: required
}

// Workflow is a workflow with its nodes as a tree and by name.
type Workflow struct {
	*Block
	Inputs  []*Decl
	Outputs []*Block
	Nodes   []*Node // the top level
	Finally []*Node // the top level of finally
	All     []*Node // every node, parents before children, in file order
	ByName  map[string]*Node

	inputs *expr.Root
	roots  roots
	envs   map[envKey]*expr.Env
	own    map[envKey]*expr.Env // those of the node ownOf alone
	ownOf  *Node
	names  []string
	result map[string]value.Type // the whole result object of each node
	plain  results
	rounds map[*Node]*expr.Root // last, by the node with the repeat
	around surround

	takes, gives *value.Type // made by inputType and outputType
	required     []string    // the inputs that have no default
}

// Node is a step or a group.
type Node struct {
	*Block
	Parent   *Node
	Children []*Node
	Before   *Node // the sibling before in a sequence
	Depth    int
	Case     int           // which case of its switch it belongs to, from 1; the default is the last
	Does     ir.ActionKind // the one action of a step; "" for a group, and for a step that was refused
	Gates    []*Block      // those written inside the step
	Asked    []*Decl       // the inputs of an approval
	Needs    []string
	Observes []string

	final      bool                // in finally
	again      bool                // see GatesAskAgain
	waitsAgain bool                // see WaitsAgain
	with       []*Node             // see asksSuccess
	escalation *Block              // nil: it has none
	reads      *textReads          // made by readsSteps
	asks       *bool               // made by retries
	shell      string              // of its scripts and those inside it
	around     *surround           // what its programs are given
	output     value.Type          // of one instance, once known
	seen       map[bool]value.Type // made by resultFor: for readers that n may be skipped for, and for all others
	index      int                 // in Workflow.All
}

// attr returns an attribute that was given, or nil.
func (b *Block) attr(name string) *Attr { return b.Attrs[name] }

// Expr returns the expression of an attribute, or nil.
func (b *Block) Expr(name string) *ir.Expr {
	if a := b.Attrs[name]; a != nil {
		return a.Expr
	}
	return nil
}

// Text returns the literal of a Word or Text attribute, or "".
func (b *Block) Text(name string) string {
	if a := b.Attrs[name]; a != nil {
		return a.Text
	}
	return ""
}

// Inner returns the first block of a kind inside b, or nil. It is asked once everything inside b is known, and often.
func (b *Block) Inner(kind string) *Block {
	if len(b.Blocks) == 0 {
		return nil
	}
	if b.inner == nil {
		b.inner = map[string]*Block{}
		for _, i := range b.Blocks {
			if b.inner[i.Schema.Kind] == nil {
				b.inner[i.Schema.Kind] = i
			}
		}
	}
	return b.inner[kind]
}

// Words names the block for a message: step "test", and retry of step "test" for one without a name.
func (b *Block) Words() string {
	if b.Name == "" && b.Schema.Label == "" && b.within != "" {
		return b.Schema.Kind + " of " + b.within
	}
	if b.Name == "" {
		return b.Schema.Kind
	}
	return b.Schema.Kind + ` "` + b.Name + `"`
}

// ref is the first of a Ref attribute's names, or the zero Name.
func (a *Attr) ref() expr.Name {
	if a == nil || len(a.Names) == 0 {
		return expr.Name{}
	}
	return a.Names[0]
}

// MaxFindings bounds the list: what comes behind a hundred errors is read by nobody.
const MaxFindings = 200

// checker is one run of Check.
type checker struct {
	misspelt    map[string]bool // what is not said, because a block of an unknown kind has the name: that a step of the name is not declared
	program     *Program
	sources     []*syntax.File
	list        diag.List
	agents      map[string]*Block
	pools       map[string]*Block
	gates       map[string]*Block
	quotas      map[string]*Block
	number      map[string]int // of quotas, in the order of their declaration; made by holding
	takings     map[*Workflow]taking
	turning     map[*Workflow]bool // whether its runs take turns
	taken       map[string]bool    // quotas that something takes of
	channels    map[string]*Block
	told        map[string]bool // channels that something sends to
	escalations map[string]*Block
	escalated   map[string]bool // escalations that something names
	healings    map[healingKey]*healing
	groups      map[string]bool // of the memory

	workflows map[string]*Workflow
	callable  map[string]*Block // the workflows' blocks
	plain     results           // shared by all workflows
	work      expr.Work         // of the expressions
	suggested int               // how often nearest was asked
	options   Options
	read      map[string]kept // files
	vars      map[string]value.Type
	locals    map[string]*Attr
	shapes    map[string]localShapes
	copies    int // words of lists that are judged again
	size      int // of all files
	global    roots
	uses      map[*Block]*usedGate // gates at the top
	judged    int                  // bytes of their text that were typed for what they judge
}

// full reports whether there is no room for another finding.
func (c *checker) full() bool { return len(c.list) >= MaxFindings }

func (c *checker) report(d diag.Diagnostic) {
	if !c.full() && !c.misspelt[d.Summary] {
		c.namedElsewhere(&d)
		c.assistantOutput(&d)
		c.list = append(c.list, d)
	}
}

// in reports what a stage found inside a block, with the block as context.
func (c *checker) in(b *Block, found diag.List) {
	for _, d := range found {
		if d.Context == "" && b != nil {
			d.Context = b.Words()
		}
		c.report(d)
	}
}

func newChecker(options Options) *checker {
	return &checker{program: &Program{}, options: options, read: map[string]kept{}, agents: map[string]*Block{}, pools: map[string]*Block{}, gates: map[string]*Block{}, quotas: map[string]*Block{}, escalations: map[string]*Block{}, escalated: map[string]bool{}, healings: map[healingKey]*healing{}, taken: map[string]bool{}, channels: map[string]*Block{}, told: map[string]bool{}, groups: map[string]bool{}, workflows: map[string]*Workflow{}, callable: map[string]*Block{}, plain: results{}, vars: map[string]value.Type{}, locals: map[string]*Attr{}, shapes: map[string]localShapes{}, uses: map[*Block]*usedGate{}}
}

// Check reads the files of one program.
func Check(files []*syntax.File, options Options) (*Program, diag.List) {
	c := newChecker(options)
	for _, f := range files {
		c.size += len(f.Src)
		c.file(f)
		c.sources = append(c.sources, f)
	}
	c.globals()
	for _, w := range c.program.Workflows {
		c.outline(w)
	}
	c.checkOns()
	for _, w := range c.calls() {
		c.workflow(w)
	}
	c.checkEscalations()
	for _, b := range c.program.Loops {
		c.loop(b)
	}
	c.topGates()
	c.routines()
	c.program.Files = c.texts()
	if options.Advise && len(c.program.Workflows) > 0 && !c.list.HasErrors() {
		c.advise()
		c.hidden(files)
	}
	return c.program, c.list
}
