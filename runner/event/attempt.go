package event

import (
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
)

// AttemptKind says what carries an attempt out. An executor is registered for each kind that it knows.
type AttemptKind string

// The kinds of attempts. An agent's attempt has the kind of its type.
const (
	RunAttempt        AttemptKind = "run" // a program or a script: of a step, a gate or a compensation
	ExecAgentAttempt  AttemptKind = "agent.exec"
	ShellAgentAttempt AttemptKind = "agent.shell"
	HTTPAgentAttempt  AttemptKind = "agent.http"
	MCPAgentAttempt   AttemptKind = "agent.mcp" // a tool of an MCP server
	ACPAgentAttempt   AttemptKind = "agent.acp"
	A2AAgentAttempt   AttemptKind = "agent.a2a"
	NullAgentAttempt  AttemptKind = "agent.null"
	ChatAgentAttempt  AttemptKind = "agent.chat"
	// HumanAgentAttempt is a task for a person. No executor carries it out: a decision answers it.
	HumanAgentAttempt AttemptKind = "agent.human"
	HTTPAttempt       AttemptKind = "http"
	RememberAttempt   AttemptKind = "remember"
	RecallAttempt     AttemptKind = "recall"
	NotifyAttempt     AttemptKind = "notify"    // a message to channels
	BenchmarkAttempt  AttemptKind = "benchmark" // a program that is run several times and measured, for a gate
	SourceAttempt     AttemptKind = "source"    // a question to a source of a loop
	WorktreeAttempt   AttemptKind = "worktree"  // makes or removes the git worktree of an item's run
	StoreAttempt      AttemptKind = "store"     // the host answers it from what runs share; no executor carries it out
	// HoldAttempt takes what its Admission says for a group, a call or a run. No executor carries it out: the host answers OK as soon
	// as all of it is granted, and keeps it granted until a CancelAttempt of the ticket, or until nobody drives the run. A new driver
	// asks for it again.
	HoldAttempt AttemptKind = "hold"
)

// AttemptKinds lists all kinds of attempts.
var AttemptKinds = []AttemptKind{RunAttempt, ExecAgentAttempt, ShellAgentAttempt, HTTPAgentAttempt, MCPAgentAttempt, ACPAgentAttempt, A2AAgentAttempt, ChatAgentAttempt, NullAgentAttempt, HumanAgentAttempt,
	HTTPAttempt, RememberAttempt, RecallAttempt, NotifyAttempt, SourceAttempt, WorktreeAttempt, StoreAttempt, HoldAttempt, BenchmarkAttempt}

// AgentAttempt returns the kind of the attempts of agents of a type.
func AgentAttempt(t ir.AgentType) AttemptKind { return AttemptKind("agent." + string(t)) }

// Attempt asks for one try of an action or of a gate. The host answers with an AttemptFinished of the same ticket.
// All values are computed, but for what reads secrets: an executor needs nothing but this.
type Attempt struct {
	Ticket  uint64 `json:"ticket"`  // counts from 1 in the order of starts of a run
	Node    string `json:"node"`    // the instance's path: build/api[3]
	Name    string `json:"name"`    // the node's declared name
	Attempt int    `json:"attempt"` // counts from 1
	// Kind says which executor carries it out. Other fields than this one never decide that.
	Kind AttemptKind `json:"kind"`
	Gate string      `json:"gate,omitempty"`
	// Compensate tells that this is the node's compensation, which is run once, while the run ends.
	Compensate bool   `json:"compensate,omitempty"`
	Key        string `json:"key"` // the idempotency key
	Run        string `json:"run"`
	Workflow   string `json:"workflow"`

	// Admission is what the attempt needs of the resources that all runs of a store share; nil: nothing. The host grants all of it
	// before the attempt starts, or answers that the attempt is refused.
	Admission *Admission `json:"admission,omitempty"`

	Timeout time.Duration `json:"timeout,omitempty"` // 0: none
	Dir     string        `json:"dir,omitempty"`     // absolute
	// Env is what the file adds, nearest wins already applied. Base is run_started's allow-list.
	Env  map[string]string `json:"env,omitempty"`
	Base map[string]string `json:"base,omitempty"`

	Argv   []string `json:"argv,omitempty"`   // a program, or
	Script string   `json:"script,omitempty"` // a script for Shell
	Shell  string   `json:"shell,omitempty"`  // "" = sh -e
	Parse  string   `json:"parse,omitempty"`  // ir.Parse; "none" needs no whole output
	// Values are those of the script, the i-th for $FLOWRUN_Vi. Stdin is what the program reads; nil is the null device.
	Values []string `json:"values,omitempty"`
	Stdin  *string  `json:"stdin,omitempty"`
	// PassEnv names variables of the driver's environment that are given though they look secret. An agent has its own.
	PassEnv []string `json:"pass_env,omitempty"`
	// OutputFile asks for a file $FLOWRUN_OUTPUT; what is written to it is the answer's Output.
	OutputFile bool `json:"output_file,omitempty"`

	// Resources bound the processes of the attempt; nil: nothing does.
	Resources *Resources `json:"resources,omitempty"`

	Agent *AgentRequest `json:"agent,omitempty"`
	HTTP  *HTTPRequest  `json:"http,omitempty"`

	Remember *Remember `json:"remember,omitempty"`
	Recall   *Recall   `json:"recall,omitempty"`

	Notify *NotifyRequest `json:"notify,omitempty"`

	Benchmark *Benchmark `json:"benchmark,omitempty"`

	Source *SourceRequest `json:"source,omitempty"`

	Worktree *WorktreeRequest `json:"worktree,omitempty"`

	Store *StoreRequest `json:"store,omitempty"`

	// Late are the parts that read secrets. They are computed, in this order, where the secrets are: by the host, when the
	// attempt starts. A part that stands here is empty in the other fields.
	Late []Late `json:"late,omitempty"`
}

// Benchmark asks for a figure of the program, and for the baseline that the store has. The output of the answer is an object of
// figure, the median of the samples; samples; and baseline, which is null where the figure has become the baseline.
type Benchmark struct {
	Samples  int    `json:"samples"`
	Metric   string `json:"metric"`   // as of [ir.Benchmark]
	Baseline string `json:"baseline"` // its name
}

// Resources bound the processes of an attempt together.
type Resources struct {
	CPUShares int   `json:"cpu_shares,omitempty"` // against 1024 of other programs; 0: as other programs
	Memory    int64 `json:"memory,omitempty"`     // bytes; 0: as much as there is
}

// attempt writes all fields of an attempt that a machine decides.
func (f *facts) attempt(a *Attempt) {
	f.number('t', a.Ticket)
	f.text('n', a.Node)
	f.text('N', a.Name)
	f.number('a', uint64(a.Attempt))
	f.text('K', string(a.Kind))
	f.text('g', a.Gate)
	f.truth('c', a.Compensate)
	f.text('k', a.Key)
	f.text('r', a.Run)
	f.text('w', a.Workflow)
	if x := a.Admission; x != nil {
		*f = append(*f, 'q')
		f.number('p', uint64(x.Priority))
		for _, n := range x.Needs {
			f.text('k', string(n.Kind))
			f.text('n', n.Name)
			f.number('u', uint64(n.Units))
			f.number('c', uint64(n.Capacity))
			if p := n.Pace; p != nil {
				f.number('r', uint64(p.Requests))
				f.number('R', uint64(p.Per))
			}
			if b := n.Breaker; b != nil {
				f.number('f', uint64(b.Failures))
				f.number('F', uint64(b.Reset))
				f.truth('t', b.Tell)
				if b.When != nil {
					f.lates('L', []Late{*b.When})
				}
			}
			if s := n.Spending; s != nil {
				f.number('A', uint64(s.Most.Attempts))
				f.number('T', math.Float64bits(s.Most.Tokens))
				f.number('C', math.Float64bits(s.Most.CostUSD))
				f.number('P', uint64(s.Per))
			}
			f.end()
		}
		for i := range x.Classify {
			f.lates('C', []Late{x.Classify[i].When})
			f.text('K', string(x.Classify[i].Kind))
		}
		f.number('S', uint64(x.Since))
		f.end()
	}
	if x := a.Resources; x != nil {
		*f = append(*f, 'R')
		f.number('c', uint64(x.CPUShares))
		f.number('m', uint64(x.Memory))
		f.end()
	}
	f.number('o', uint64(a.Timeout))
	f.text('d', a.Dir)
	f.pairs('e', a.Env)
	f.texts('v', a.Argv)
	f.text('s', a.Script)
	f.text('h', a.Shell)
	f.text('p', a.Parse)
	f.texts('V', a.Values)
	if a.Stdin != nil {
		f.always('i', *a.Stdin)
	}
	f.texts('P', a.PassEnv)
	f.truth('O', a.OutputFile)
	if a.Agent != nil {
		f.agent(a.Agent)
	}
	if a.HTTP != nil {
		f.http(a.HTTP)
	}
	if a.Remember != nil {
		f.remember(a.Remember)
	}
	if a.Recall != nil {
		f.recall(a.Recall)
	}
	if a.Notify != nil {
		f.notify(a.Notify)
	}
	if b := a.Benchmark; b != nil {
		*f = append(*f, 'b')
		f.number('s', uint64(b.Samples))
		f.text('m', b.Metric)
		f.text('n', b.Baseline)
		f.end()
	}
	if a.Source != nil {
		f.source(a.Source)
	}
	if a.Worktree != nil {
		f.worktree(a.Worktree)
	}
	if a.Store != nil {
		f.store(a.Store)
	}
	f.lates('L', a.Late)
}
