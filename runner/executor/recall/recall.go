// Package recall stands before the executors of agents and gives them what was learned. It also carries out the steps remember
// and recall.
//
// It knows no particular memory: whoever wires it up hands one in, behind [Memory]. What was recalled into an attempt goes
// into its answer, and with that into the journal, so that conditions and replays see what the agent saw. It must never import
// the memory.
//
// Enter at [New] and [NewSteps]. What holds always: trouble with the memory is a warning in the answer and never the attempt's failure; an
// attempt that has nothing to do with the memory costs a look at two fields; what a query or a note holds of a secret is
// masked before the memory sees it; whatever runs again under the same key is written once.
package recall

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Memory is what can be recalled from and written to. It is safe for concurrent use.
type Memory interface {
	// Recall gives what helps an agent with a task, under a budget.
	Recall(ctx context.Context, q Ask) (Found, error)
	// Search gives what there is on a query.
	Search(ctx context.Context, q Search) (Result, error)
	// Remember writes an entry, durably. Known tells that it was there before.
	Remember(ctx context.Context, e Entry) (id string, known bool, err error)
}

// Who says who asks or writes.
type Who struct {
	Run, Step, Agent string
	Groups           []string
}

// Ask is what is recalled for.
type Ask struct {
	Who
	Task   string
	Budget int // tokens
	Most   int // entries
}

// Found is what an agent is given: a text that is fenced as data, and what it is made of.
type Found struct {
	Text    string
	Entries []event.Recalled
}

// Search is a question.
type Search struct {
	Who
	Query, Type, Tag string
	K, Budget        int
}

// Result is what there was: Items as a step's output has them, and Text fenced as data within the budget.
type Result struct {
	Items []map[string]any
	Text  string
}

// Entry is what is written. Key makes its id: under the same one it is written once.
type Entry struct {
	Who
	event.Learned
	Key     string
	Scope   string // as the memory spells it; "" is everybody's
	Trusted bool   // the file trusts the agent
	Note    bool   // an agent's, into the working memory of the run; else it is a rule's of the file
}

// The bounds of what the memory may take of an attempt's time.
const (
	// MaxRecall is how long a recall may take.
	MaxRecall = 10 * time.Second
	// MaxQuery is how much of a task is asked with, in bytes.
	MaxQuery = 4 << 10
)

// Executor gives agents what was learned. It is safe for concurrent use.
type Executor struct {
	next executor.Executor
	open func(run string) (Memory, error)
}

var _ executor.Executor = (*Executor)(nil)

// New stands an Executor before another. open is asked for the memory by each attempt that has to do with it, before it starts; its
// error says why there is none.
func New(next executor.Executor, open func(run string) (Memory, error)) *Executor {
	return &Executor{next, open}
}

// Execute carries out one attempt.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if a.Agent != nil && a.Agent.Memory != nil {
		return x.agent(ctx, a)
	}
	return x.next.Execute(ctx, a)
}
