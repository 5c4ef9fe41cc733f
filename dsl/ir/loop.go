package ir

import (
	"slices"
	"time"
)

// The settings of a loop that the file does not give.
const (
	DefaultLease     = 5 * time.Minute
	DefaultHeartbeat = 30 * time.Second
	DefaultIdle      = 10 * time.Second
	DefaultIdleMax   = 5 * time.Minute
)

// Loop gives the items of its sources to its agents, one at a time to each free place. Its expressions read var and local, those of
// handles also item and worker.
type Loop struct {
	Name      string      `json:"name"`
	Agents    []string    `json:"agents"`
	Quotas    []QuotaUse  `json:"quotas,omitempty"`    // while one is shut, no item is taken; without Units
	Lease     *Expr       `json:"lease,omitempty"`     // nil: DefaultLease
	Heartbeat *Expr       `json:"heartbeat,omitempty"` // nil: DefaultHeartbeat
	Idle      *Expr       `json:"idle,omitempty"`      // nil: DefaultIdle
	IdleMax   *Expr       `json:"idle_max,omitempty"`  // nil: DefaultIdleMax
	Sources   []Source    `json:"sources,omitempty"`   // in the order in which they are asked
	Handles   []Handle    `json:"handles,omitempty"`   // the first that matches has the item
	Limits    *LoopLimits `json:"limits,omitempty"`
	Target    *LoopTarget `json:"target,omitempty"`   // nil: none
	Notify    []string    `json:"notify,omitempty"`   // channels
	Worktree  bool        `json:"worktree,omitempty"` // the run of each item has a git worktree and a branch of its own
}

// Source is one source of a loop. Fields that its kind does not use are zero.
type Source struct {
	Name string     `json:"name"` // its label, and a number where the program has several of the label with other attributes
	Kind SourceKind `json:"kind"`
	// Settings are what an executor is told that asks the source, by name.
	Settings []Setting `json:"settings,omitempty"`
	Rotate   []string  `json:"rotate,omitempty"` // workflows
	Every    *Expr     `json:"every,omitempty"`
	With     *Expr     `json:"with,omitempty"` // inputs of the workflows of Rotate
	// Into is the source of the same loop that gets the items of a roadmap as items of its own; "": they are tickets of the store.
	Into string `json:"into,omitempty"`
}

// Setting is a setting of a source.
type Setting struct {
	Name  string `json:"name"`
	Value Expr   `json:"value"`
}

// Handle says which workflow does an item.
type Handle struct {
	When     *Expr  `json:"when,omitempty"` // nil: every item
	Workflow string `json:"workflow"`
	With     *Expr  `json:"with,omitempty"`
}

// LoopLimits stop a loop. nil: no bound.
type LoopLimits struct {
	TasksPerHour        *Expr `json:"tasks_per_hour,omitempty"`
	ConsecutiveFailures *Expr `json:"consecutive_failures,omitempty"`
	CostUSDPerDay       *Expr `json:"cost_usd_per_day,omitempty"`
}

// LoopTarget is what a loop is to reach over the last 24 hours. nil: no target.
type LoopTarget struct {
	Throughput     *Expr `json:"throughput,omitempty"`   // items an hour, at least
	SuccessRate    *Expr `json:"success_rate,omitempty"` // 0 to 1, at least
	MeanTime       *Expr `json:"mean_time,omitempty"`    // a duration, at most
	Idle           *Expr `json:"idle,omitempty"`         // 0 to 1, at most
	RetryRate      *Expr `json:"retry_rate,omitempty"`   // 0 to 1, at most
	EscalationRate *Expr `json:"escalation_rate,omitempty"`
}

// Starts reports whether the loop can start a workflow for an item.
func (l *Loop) Starts(workflow string) bool {
	return slices.ContainsFunc(l.Handles, func(h Handle) bool { return h.Workflow == workflow }) ||
		slices.ContainsFunc(l.Sources, func(s Source) bool { return slices.Contains(s.Rotate, workflow) })
}

// Loop returns the loop of a name, or nil.
func (p *Program) Loop(name string) *Loop {
	for i := range p.Loops {
		if p.Loops[i].Name == name {
			return &p.Loops[i]
		}
	}
	return nil
}
