package machine

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// frame is one activation of a region: the run itself, one instance of a for_each, or one
// iteration of a repeat.
type frame struct {
	region    int
	up        *frame // where the collector or repeater lives; nil for the run
	key       string // of the instance: its index in digits, or a key
	index     int    // of the instance, from 0
	iteration int    // from 1; 0 where the frame is none
	last      *frame // the iteration before, while it is kept
	each      value.Value
	states    []state
}

// ref names a node in a frame. Node None is the run itself.
type ref struct {
	frame *frame
	node  int
}

// state holds the fields that every node needs, so that it stays small. The rest is made on
// demand.
type state struct {
	status    event.Status
	queued    bool  // the node waits for slots
	open      bool  // a group that released its children, or a for_each or repeat that began
	fired     bool  // doReady was queued
	tolerated bool  // the node failed, and the failure does not count
	barred    bool  // the node needs a failed node with on_error = "stop" and ends as blocked
	waiting   int32 // outstanding dependencies, plus 1 for the release by the parent
	bad       int32 // the number of the first failed dependency that needs success, plus 1
	*liveState
}

// liveState holds the fields of a node that was released or has a result.
type liveState struct {
	path        string
	attempts    int
	seq         uint64 // its place among the nodes that wait for slots
	started     event.Time
	finished    event.Time
	exit        int
	streams     streams
	output      value.Value
	err         *event.Error // of the previous attempt while the node runs; of the node after its failure
	agent       string
	partial     bool // the output was handed in at the timeout
	timer       uint64
	live        *attempt
	endError    *event.Error // the node fails with this error when its live parts have ended
	waiters     []waiter     // nodes of inner frames that wait for this node
	cold        *coldState   // nil until a field is needed
	ended       int32        // attempts that ended, in it and below it
	spent       *event.Usage // what they reported; nil: nothing. Its Attempts is 0
	*groupState              // nil except for groups, for_each and repeat
}

// groupState holds the fields of a node that holds other nodes.
type groupState struct {
	remaining int // children, instances or iterations that have not ended
	total     int // of children or instances
	tally     tally
	limit     *slotLimiter
	cause     cause        // the first failure below that counts
	frames    []*frame     // instances made so far
	items     []item       // the items of all instances
	keyed     bool         // by key rather than by index
	taken     int          // the case of a switch that holds, from 1; 0: none
	way       string       // the reason for taken
	join      *joinState   // nil without a join
	loop      *repeatState // of a repeat
	winner    string       // what the expression winner of a group gave; "" for none
	ends      bool         // the agenda has its end, so it has none in a snapshot

	// gathered holds the outputs so far, for a join that reads them. It is current until the join
	// is decided.
	gathered value.Value
}

// coldState holds fields that few nodes need, so that liveState stays small.
type coldState struct {
	generation int              // generation of the work: see idempotencyKey
	fallback   int              // the present agent: 0 is the step's own, n the nth fallback
	otherwise  bool             // the condition of the choice does not hold
	chosen     *ir.Agent        // the member of a pool that has the task
	passed     []*ir.Agent      // members that refused the task in this turn
	busy       bool             // one of them was busy, and not behind an open breaker
	settled    bool             // the chosen member may have begun
	begun      int              // the attempt that a driver or an agent was lost with, so that it may have begun
	session    string           // of an agent, in which the next attempt goes on
	sessionOf  string           // the name of the agent
	turns      int              // turns in a row in which all members refused
	before     int              // attempts of earlier agents
	rejected   *event.Error     // the error of this attempt after gates rejected it
	said       string           // messages of these gates, a line each
	silent     int              // silences of this attempt in a row
	limited    int              // answers to this attempt, in a row, that said when to come back
	refused    bool             // the rejection is final
	feedback   string           // the gates' feedback on the last result
	recalled   []event.Recalled // memories recalled into the last attempt
	toUndo     bool             // the node is in Machine.toUndo
	escalates  bool             // one of these gates escalates
	escalation *escalation      // nil until an attempt has failed
	by         string           // who gave the result; "": nobody
	deadline   *deadline
	budget     *budget
	rule       *triggerState     // nil without a trigger_rule
	hold       *hold             // what a group or a call holds of quotas
	waits      *eventWait        // set while the node waits for an event
	sync       *syncWait         // of a sync step
	room       uint64            // not 0: the node waits for room in a budget; see budgetWait
	waitsFor   event.WaitsFor    // what that wait was last shown as
	judging    *judging          // set while an agent judges for a gate
	asking     *asking           // set while the node waits for people
	aborted    bool              // somebody has aborted it, which stops what is around it
	cancel     *event.NodeCancel // nil unless a person has cancelled the node
	refusal    *refusal          // set from the refusal of an attempt to the next start
	priority   int16             // set when the node first asks for slots
	reused     *event.Reused     // the node's end in the run that this run repeats
}

func (m *Machine) coldState(r ref) *coldState {
	d := m.liveState(r)
	if d.cold == nil {
		d.cold = &coldState{}
	}
	return d.cold
}

// streams are what an attempt printed, bounded.
type streams struct {
	stdout, stderr, stdoutLog, stderrLog string
	long                                 *event.AttemptFinished // see long.go
}

type item struct {
	key  string
	each value.Value
}

type waiter struct {
	ref
	needs bool
}

// newFrame makes the states of a frame that has its region and parent.
func (m *Machine) newFrame(f *frame) *frame {
	region := f.region
	f.states = make([]state, len(m.graph.Regions[region].Nodes))
	for slot, number := range m.graph.Regions[region].Nodes {
		n := &m.graph.Nodes[number]
		s := &f.states[slot]
		s.status, s.waiting = event.Pending, 1
		if n.Region != region {
			continue // an instance or iteration waits only for its release
		}
		r := ref{f, number}
		if n.TriggerRule != "" {
			m.coldState(r).rule = &triggerState{total: int32(len(n.Awaits))}
		}
		for _, a := range n.Awaits {
			if on := &m.graph.Nodes[a.Node]; on.Region == region {
				s.waiting++
			} else {
				m.awaitOuter(r, s, a)
			}
		}
	}
	return f
}

// awaitOuter makes a node wait for a node of an outer frame. The outer node keeps a list of these
// waiters, because their frames are made later.
func (m *Machine) awaitOuter(r ref, s *state, a plan.Await) {
	outer := m.outerRef(r.frame, a.Node)
	s.waiting++
	if o := m.state(outer); o.status.Terminal() {
		m.noteDependency(r, dependencyEnd{a.Node, a.Needs, o.status, o.tolerated})
		return
	}
	d := m.liveState(outer)
	d.waiters = append(d.waiters, waiter{r, a.Needs})
}

// outerRef returns the ref of a node of this or an enclosing region.
func (m *Machine) outerRef(f *frame, node int) ref {
	for region := m.graph.Nodes[node].Region; f.region != region; {
		f = f.up
	}
	return ref{f, node}
}

func (m *Machine) node(r ref) *plan.Node { return &m.graph.Nodes[r.node] }

// isInstance reports whether r is one instance of a for_each.
func (m *Machine) isInstance(r ref) bool { return m.graph.Nodes[r.node].Body == r.frame.region }

// isCollector reports whether r is a for_each as a whole.
func (m *Machine) isCollector(r ref) bool {
	n := &m.graph.Nodes[r.node]
	return n.Body != plan.None && n.Region == r.frame.region
}

// isIteration reports whether r is one iteration of a repeat.
func (m *Machine) isIteration(r ref) bool { return m.graph.Nodes[r.node].Loop == r.frame.region }

// isRepeater reports whether r is a repeat as a whole: of the node, or of an instance of it.
func (m *Machine) isRepeater(r ref) bool {
	n := &m.graph.Nodes[r.node]
	return n.Loop != plan.None && n.Loop != r.frame.region && (n.Body == plan.None || n.Body == r.frame.region)
}

// isInner reports whether r does the node's work, rather than holding its instances or iterations.
func (m *Machine) isInner(r ref) bool { return m.graph.Nodes[r.node].Inner == r.frame.region }

func (m *Machine) state(r ref) *state {
	if n := &m.graph.Nodes[r.node]; n.Region == r.frame.region {
		return &r.frame.states[n.Slot]
	}
	return &r.frame.states[0]
}

// parent returns the collector, repeater or group around r, or the run.
func (m *Machine) parent(r ref) ref {
	if n := &m.graph.Nodes[r.node]; n.Region == r.frame.region {
		return ref{r.frame, n.Parent}
	}
	return ref{r.frame.up, r.node}
}

func (m *Machine) liveState(r ref) *liveState {
	s := m.state(r)
	if s.liveState == nil {
		s.liveState = &liveState{path: m.path(r), exit: -1}
		if n := m.node(r); n.Kind != ir.Step || n.Inner != r.frame.region {
			s.groupState = &groupState{}
		}
	}
	return s.liveState
}

// path returns the identity of an instance: names of groups, keys of instances and numbers of
// iterations, as in build/api[3]/i2.
func (m *Machine) path(r ref) string {
	if r.node == plan.None {
		return ""
	}
	if s := m.state(r); s.liveState != nil && s.path != "" {
		return s.path
	}
	up := m.path(m.parent(r))
	if m.isInstance(r) {
		return up + "[" + quoteKey(r.frame.key) + "]"
	}
	if m.isIteration(r) {
		return up + "/i" + strconv.Itoa(r.frame.iteration)
	}
	if up == "" {
		return m.node(r).Name
	}
	return up + "/" + m.node(r).Name
}

// quoteKey quotes a key unless it is plain.
func quoteKey(key string) string {
	plain := key != "" && strings.IndexFunc(key, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	}) < 0
	if plain {
		return key
	}
	return strconv.Quote(key)
}

// usage returns what the attempts of a node used, and those below it.
func (d *liveState) usage() (u event.Usage) {
	if d.spent != nil {
		u = *d.spent
	}
	u.Attempts = int(d.ended)
	return u
}

// countUsage counts what an attempt or a called run used: in the node, in the nodes around it and
// in the run.
func (m *Machine) countUsage(r ref, u event.Usage) {
	m.usage.Add(u)
	reported := u
	reported.Attempts = 0
	for ; r.node != plan.None; r = m.parent(r) {
		d := m.liveState(r)
		d.ended += int32(u.Attempts)
		if reported == (event.Usage{}) {
			continue
		}
		if d.spent == nil {
			d.spent = &event.Usage{}
		}
		d.spent.Add(reported)
	}
}

// usageOf returns what an attempt used.
func usageOf(f *event.AttemptFinished) event.Usage {
	u := event.Usage{}
	if f.Usage != nil {
		u = *f.Usage
	}
	u.Attempts = 1
	return u
}

// resultOf returns the visible result of a node.
func (m *Machine) resultOf(r ref) *event.Result {
	s := m.state(r)
	d := s.liveState
	res := &event.Result{
		Long: d.streams.long, ExitCode: d.exit, Stdout: d.streams.stdout, Stderr: d.streams.stderr, StdoutLog: d.streams.stdoutLog, StderrLog: d.streams.stderrLog,
		Output: d.output, Error: d.err, Attempts: d.attempts, Agent: d.agent, StartedAt: d.started, FinishedAt: d.finished,
		Tolerated: s.tolerated, Partial: d.partial, Escalated: d.escalated(),
	}
	if c := d.cold; c != nil {
		if res.By = c.by; c.reused != nil {
			res.Reused, res.Set = !c.reused.Set, c.reused.Set
		}
	}
	if u := d.usage(); u != (event.Usage{}) {
		res.Usage = &u
	}
	if d.groupState != nil {
		res.Winner, res.Iterations = d.winnerName(), d.iterations()
	}
	return res
}
