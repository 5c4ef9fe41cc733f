package machine

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// frame is one activation of a region: the run itself, one instance of a for_each, or one iteration of a repeat.
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

// state is what every node has, small; the rest is made when the node is released.
type state struct {
	status    event.Status
	queued    bool  // waits for slots
	open      bool  // a group whose children were released, or a for_each or repeat that was begun
	fired     bool  // it was sent to become ready
	tolerated bool  // it failed, and that does not count
	barred    bool  // it has not started, and needs what failed and stopped all around it: it ends as blocked
	waiting   int32 // ends that it still waits for, and one for its parent
	bad       int32 // the number of the first node that failed where its rule needs success, plus 1
	*liveState
}

// liveState is the part of a state that only nodes have that came to something.
type liveState struct {
	path        string
	attempts    int
	seq         uint64 // its turn among those that wait for slots
	started     event.Time
	finished    event.Time
	exit        int
	streams     streams
	output      value.Value
	err         *event.Error // of the attempt before while it runs, of the node after it failed
	agent       string
	timer       uint64
	live        *attempt
	endError    *event.Error // why it is being ended, while what is live of it ends
	waiters     []waiter     // nodes of inner frames that wait for this one
	cold        *coldState   // nil until it comes to one of these
	*groupState              // of groups, for_each and repeat; nil for others
}

// groupState is the part of a detail that what holds other nodes has.
type groupState struct {
	remaining int // children, instances or iterations that have not ended
	total     int // of children or instances
	tally     tally
	limit     *slotLimiter
	cause     cause        // the first failure below that counts
	frames    []*frame     // instances made so far
	items     []item       // what they are made of
	keyed     bool         // by key rather than by index
	taken     int          // the case of a switch that holds, from 1; 0: none
	way       string       // that in words
	join      *joinState   // of a node that says when it has enough
	loop      *repeatState // of a repeat

	// gathered is the outputs so far, once a join has read them. It is kept up to date until the join has decided.
	gathered value.Value
}

// coldState is what few nodes come to.
type coldState struct {
	generation int              // how often its work became other work: see key
	fallback   int              // the agent that has it now: 0 is its own, n the nth of those that it falls back to
	otherwise  bool             // of a choice of two agents the second has it
	before     int              // attempts that were made before that agent had it
	rejected   *event.Error     // what this attempt fails of if gates said no to it
	said       string           // by those gates, a line each
	silent     int              // how often in a row this attempt fell silent
	refused    bool             // by one of them for good
	feedback   string           // what was said of the work that this is to do better
	recalled   []event.Recalled // into the last attempt
	toUndo     bool             // it stands in the list of what is to be compensated
	deadline   *deadline
	rule       *triggerState // of a node whose trigger_rule is written
	refusal    *refusal      // its attempt was refused, and the next has not begun
	priority   int16         // its priority, once it has asked for slots
	reused     *event.Reused // how it ended in the run that this one repeats, and ends here
}

func (m *Machine) coldState(r ref) *coldState {
	d := m.liveState(r)
	if d.cold == nil {
		d.cold = &coldState{}
	}
	return d.cold
}

// streams are what an attempt printed, bounded.
type streams struct{ stdout, stderr, stdoutLog, stderrLog string }

type item struct {
	key  string
	each value.Value
}

type waiter struct {
	ref
	needs bool
}

// newFrame gives a frame, whose place is known, its states.
func (m *Machine) newFrame(f *frame) *frame {
	region := f.region
	f.states = make([]state, len(m.graph.Regions[region].Nodes))
	for slot, number := range m.graph.Regions[region].Nodes {
		n := &m.graph.Nodes[number]
		s := &f.states[slot]
		s.status, s.waiting = event.Pending, 1
		if n.Region != region {
			continue // an instance or iteration waits for the whole alone
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

// awaitOuter makes a node wait for one of an outer frame, which has a list of such waiters because it can't know them
// beforehand.
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

// outerRef finds the frame in which a node of this or an enclosing region lives.
func (m *Machine) outerRef(f *frame, node int) ref {
	for region := m.graph.Nodes[node].Region; f.region != region; {
		f = f.up
	}
	return ref{f, node}
}

func (m *Machine) node(r ref) *plan.Node { return &m.graph.Nodes[r.node] }

// isInstance tells that r is one instance of a for_each rather than the whole.
func (m *Machine) isInstance(r ref) bool { return m.graph.Nodes[r.node].Body == r.frame.region }

// isCollector tells that r is a for_each as a whole.
func (m *Machine) isCollector(r ref) bool {
	n := &m.graph.Nodes[r.node]
	return n.Body != plan.None && n.Region == r.frame.region
}

// isIteration tells that r is one iteration of a repeat rather than the whole.
func (m *Machine) isIteration(r ref) bool { return m.graph.Nodes[r.node].Loop == r.frame.region }

// isRepeater tells that r is a repeat as a whole: of the node, or of an instance of it.
func (m *Machine) isRepeater(r ref) bool {
	n := &m.graph.Nodes[r.node]
	return n.Loop != plan.None && n.Loop != r.frame.region && (n.Body == plan.None || n.Body == r.frame.region)
}

// isInner tells that r is where the node does its work, and not the whole of instances or iterations of it.
func (m *Machine) isInner(r ref) bool { return m.graph.Nodes[r.node].Inner == r.frame.region }

func (m *Machine) state(r ref) *state {
	if n := &m.graph.Nodes[r.node]; n.Region == r.frame.region {
		return &r.frame.states[n.Slot]
	}
	return &r.frame.states[0]
}

// parent is what r lies in: its collector or repeater, its group, or the run.
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

// path is the instance's identity everywhere: names of the groups it lies in, keys of instances, and numbers of iterations,
// as in build/api[3]/i2.
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

// quoteKey leaves plain keys as they are and makes others unmistakable.
func quoteKey(key string) string {
	plain := key != "" && strings.IndexFunc(key, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	}) < 0
	if plain {
		return key
	}
	return strconv.Quote(key)
}

// resultOf is what the world may see of a node that has come to something.
func (m *Machine) resultOf(r ref) *event.Result {
	s := m.state(r)
	d := s.liveState
	res := &event.Result{
		ExitCode: d.exit, Stdout: d.streams.stdout, Stderr: d.streams.stderr, StdoutLog: d.streams.stdoutLog, StderrLog: d.streams.stderrLog,
		Output: d.output, Error: d.err, Attempts: d.attempts, Agent: d.agent, StartedAt: d.started, FinishedAt: d.finished,
		Tolerated: s.tolerated, Reused: d.reusedEnd() != nil,
	}
	if d.groupState != nil {
		res.Winner, res.Iterations = d.winnerName(), d.iterations()
	}
	return res
}
