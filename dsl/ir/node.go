package ir

import (
	"iter"

	"github.com/flowrun/flowrun/dsl/value"
)

// NodeKind says what a node is.
type NodeKind string

// The node kinds: a handful, and no more. Everything else in the language is lowered to them.
const (
	Step     NodeKind = "step"     // one Action
	Sequence NodeKind = "sequence" // Children, each after the one before
	Parallel NodeKind = "parallel" // Children, at once
	Switch   NodeKind = "switch"   // Children of the first of Cases that holds, at once; the others are skipped
)

// NodeKinds lists all node kinds.
var NodeKinds = []NodeKind{Step, Sequence, Parallel, Switch}

// UnmarshalText refuses a kind that is not in [NodeKinds].
func (k *NodeKind) UnmarshalText(text []byte) error {
	return read(k, text, "the node's kind", NodeKinds)
}

// Node is one unit of a workflow. Names are unique in the workflow.
type Node struct {
	Name string   `json:"name"`
	Kind NodeKind `json:"kind"`
	// Description says what the node is for; it decides nothing.
	Description string `json:"description,omitempty"`
	// Pattern is the kind of block that the file has in place of the node and of all nodes in it: feedback, consensus or compete. It is
	// "" for a node that the file has itself. It decides nothing.
	Pattern string `json:"pattern,omitempty"`

	// Needs are the nodes whose success this one waits for by its trigger rule; Observes are those whose end it waits for,
	// whatever the end. Both are inferred from references and depends_on, sorted, without repeats, and disjoint. The order
	// of a sequence is not in here: the machine knows it from the tree.
	Needs    []string `json:"needs,omitempty"`
	Observes []string `json:"observes,omitempty"`

	// TriggerRule says which ends of the nodes that this one waits for let it go. Empty means NoneFailed over Needs, with
	// Observes awaited and not judged; a rule that is written judges both.
	TriggerRule TriggerRule `json:"trigger_rule,omitempty"`

	When *Expr `json:"when,omitempty"`
	// ForEach makes an instance of the node for each member of a list, set or map.
	ForEach *Expr `json:"for_each,omitempty"`
	// MaxConcurrency bounds the attempts that are live at once below this node (group or for_each).
	MaxConcurrency *Expr `json:"max_concurrency,omitempty"`
	// Timeout bounds one attempt of an action, without queueing and gates; of a group, the time from its first start.
	Timeout *Expr  `json:"timeout,omitempty"`
	Retry   *Retry `json:"retry,omitempty"`
	// Classify gives errors of the node, and of the steps inside it, other kinds. The nearest rule that holds decides.
	Classify []Classify `json:"classify,omitempty"`
	Gates    []string   `json:"gates,omitempty"` // names in Program.Gates, in order
	// Output, if given, is what the node's output must be; the output is converted to it strictly.
	Output *value.Type      `json:"output,omitempty"`
	Env    map[string]*Expr `json:"env,omitempty"`
	Dir    *Expr            `json:"dir,omitempty"`

	// Action is what a step does; nil for other nodes. In JSON it is the member of its kind.
	Action Action `json:"-"`

	// Join says when a parallel or for_each has enough; nil means all.
	Join *Join `json:"join,omitempty"`
	// Losers says what becomes of the children or instances that still run when the join has enough.
	Losers Losers `json:"losers,omitempty"`
	// Repeat makes the node again until a condition holds. It lies inside of for_each and outside of Retry.
	Repeat *Repeat `json:"repeat,omitempty"`
	// Require is asked after When, before the node starts.
	Require []Require `json:"require,omitempty"`
	// Deadline bounds the node in all, from its release to its end: queueing, attempts, backoffs and gates.
	Deadline *Deadline `json:"deadline,omitempty"`
	// Budget bounds what the node uses in all, over its instances and iterations.
	Budget *Budget `json:"budget,omitempty"`
	// Adapt are rules that change what the node does at once, in order. The last one that is on wins. Steps have none.
	Adapt []Adapt `json:"adapt,omitempty"`
	// Priority orders what waits for the same slots: a whole number from -1000 to 1000, or low (-10), normal (0), high (10),
	// critical (20). Groups hand it down; nil means 0.
	Priority *Expr `json:"priority,omitempty"`
	// Fallback are those that are asked, in this order, after the retries of the task's agent are used up.
	Fallback []Assignee `json:"fallback,omitempty"`
	// Escalate is the escalation of the node, by its name; "" if it has none. A group with one has a Repeat.
	Escalate string `json:"escalate,omitempty"`
	// Degrade is the output that stands in for that of a node that failed, and so tolerates its failure.
	Degrade *Expr   `json:"degrade,omitempty"`
	OnError OnError `json:"on_error,omitempty"`
	OnLost  OnLost  `json:"on_lost,omitempty"`
	// OnTimeout says what becomes of an attempt whose time is up.
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	// Compensate undoes what the node did, where the run fails or is cancelled after the node started an attempt or began to wait, or as
	// a group has succeeded.
	Compensate *Compensate `json:"compensate,omitempty"`
	// Quotas are what each attempt of a step takes of quotas, and what a group or a call holds until it has ended, in the order of
	// their declaration, each once.
	Quotas []QuotaUse `json:"quotas,omitempty"`
	// PassEnv names variables of the caller's environment; nil inherits those of the group.
	PassEnv []string `json:"pass_env,omitzero"`

	// Result is the output of a group, in place of the object of its children's. Winner is a text or null that names who won in a
	// group, in place of the one that its join picks. Both are evaluated when the group has ended well, and read its children.
	Result *Expr `json:"result,omitempty"`
	Winner *Expr `json:"winner,omitempty"`

	Children []Node `json:"children,omitempty"`
	// Cases of a switch, in order. Case, in its children, is the number of the case that they belong to, from 1.
	Cases []Case `json:"cases,omitempty"`
	Case  int    `json:"case,omitempty"`
}

// Word is the kind of the node's block in the file: its pattern, or else its kind.
func (n *Node) Word() string {
	if n.Pattern != "" {
		return n.Pattern
	}
	return string(n.Kind)
}

// TriggerRule is a rule over the ends of other nodes. Failed, blocked and cancelled count as failed; a failure that was
// tolerated does not keep NoneFailed and AllSuccess from holding, is not a success for OneSuccess, and is a failure for
// OneFailed and AllFailed.
type TriggerRule string

// The trigger rules. OneSuccess and OneFailed hold as soon as one such end is there; the others wait for all.
const (
	NoneFailed TriggerRule = "none_failed"
	AllSuccess TriggerRule = "all_success"
	AllFailed  TriggerRule = "all_failed"
	AllDone    TriggerRule = "all_done"
	OneSuccess TriggerRule = "one_success"
	OneFailed  TriggerRule = "one_failed"
	Always     TriggerRule = "always" // AllDone that also runs while the run is being cancelled
)

// TriggerRules lists all trigger rules.
var TriggerRules = []TriggerRule{NoneFailed, AllSuccess, AllFailed, AllDone, OneSuccess, OneFailed, Always}

// UnmarshalText refuses a rule that is not in [TriggerRules].
func (t *TriggerRule) UnmarshalText(text []byte) error {
	return read(t, text, "trigger_rule", TriggerRules)
}

// Join is exactly one of a word, a number of successes, or a condition over total, done, succeeded, failed, skipped
// and result, which is asked at each end.
type Join struct {
	Word      JoinWord `json:"word,omitempty"`
	Count     *Expr    `json:"count,omitempty"`
	Condition *Expr    `json:"condition,omitempty"`
}

// Repeat makes iterations. Until is asked after each, a failed one too; where it never holds within Max iterations, the
// node fails with the reason "limit". Without Until there are Max iterations, and the first that fails is the last. An iteration of a
// group that gates with on_fail = "retry" refuse is never the last before Max. With Gated, which has no Until, another
// iteration follows only such a one.
type Repeat struct {
	Gated bool  `json:"gated,omitempty"`
	Until *Expr `json:"until,omitempty"` // a condition over result, iteration and, in a group, its children
	Max   Expr  `json:"max"`
	Delay *Expr `json:"delay,omitempty"` // between iterations
}

// Deadline is when a node must have ended. Progress are percentages of After at which the node says that it still runs.
type Deadline struct {
	After    Expr      `json:"after"`
	Progress []float64 `json:"progress,omitempty"`
	Notify   []string  `json:"notify,omitempty"` // channels that are told at each percentage and at the end
}

// Budget bounds what attempts use. At least one of Attempts, Tokens and CostUSD is set. Warn is the percentage of a bound at which
// the run warns; nil means 80.
type Budget struct {
	Attempts *Expr    `json:"attempts,omitempty"`
	Tokens   *Expr    `json:"tokens,omitempty"`
	CostUSD  *Expr    `json:"cost_usd,omitempty"`
	Warn     *Expr    `json:"warn,omitempty"`
	OnExceed OnExceed `json:"on_exceed,omitempty"`
	Notify   []string `json:"notify,omitempty"` // channels that are told with the warning
}

// Adapt is a rule of a group or a workflow. It is on from when When has held for For until Until holds; nil For means 0, and nil
// Until means that When does not hold. At least one of MaxConcurrency and Call is set. A nil Cooldown means 5 minutes.
type Adapt struct {
	When           Expr     `json:"when"`
	Until          *Expr    `json:"until,omitempty"`
	For            *Expr    `json:"for,omitempty"`
	Cooldown       *Expr    `json:"cooldown,omitempty"`
	MaxConcurrency *Expr    `json:"max_concurrency,omitempty"`
	Call           *Call    `json:"call,omitempty"`
	Notify         []string `json:"notify,omitempty"` // channels that are told when the rule comes on and when it ends
}

// Reads lists the names that the expressions of the rule read.
func (a *Adapt) Reads() (list []Ref) {
	for _, e := range []*Expr{&a.When, a.Until, a.For, a.Cooldown, a.MaxConcurrency} {
		if e != nil {
			list = append(list, e.Reads...)
		}
	}
	if a.Call != nil && a.Call.With != nil {
		list = append(list, a.Call.With.Reads...)
	}
	return list
}

// Compensate is a program that is run once, without retries; its failure is recorded and changes nothing.
type Compensate struct {
	Run     Run              `json:"run"`
	Dir     *Expr            `json:"dir,omitempty"`
	Env     map[string]*Expr `json:"env,omitempty"`
	PassEnv []string         `json:"pass_env,omitzero"`
	Timeout *Expr            `json:"timeout,omitempty"`
}

// Case is one way that a switch can take. The default has no condition and is the last.
type Case struct {
	When *Expr `json:"when,omitempty"`
}

// All yields nodes and the nodes in them, each before its children.
func All(nodes []Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for i := range nodes {
			if !yield(&nodes[i]) {
				return
			}
			for n := range All(nodes[i].Children) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// StepNames lists the names of a workflow's nodes, in order; those of finally come last.
func (w *Workflow) StepNames() (names []string) {
	for n := range All(w.Nodes) {
		names = append(names, n.Name)
	}
	if w.Finally != nil {
		for n := range All(w.Finally.Nodes) {
			names = append(names, n.Name)
		}
	}
	return names
}

// ActsWhenCancelled reports whether a workflow of the program does something when it is cancelled: it undoes a step, or has nodes that run
// always.
func (p *Program) ActsWhenCancelled() bool {
	for i := range p.Workflows {
		if p.Workflows[i].Finally != nil {
			return true
		}
		for n := range All(p.Workflows[i].Nodes) {
			if n.Compensate != nil || n.TriggerRule == Always {
				return true
			}
		}
	}
	return false
}

// Find returns the node of a name, in finally, too; nil if there is none.
func (w *Workflow) Find(name string) *Node {
	for n := range All(w.Nodes) {
		if n.Name == name {
			return n
		}
	}
	if w.Finally != nil {
		for n := range All(w.Finally.Nodes) {
			if n.Name == name {
				return n
			}
		}
	}
	return nil
}
