package machine

import (
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// frame is one activation of a region: the run itself, or one instance of a for_each.
type frame struct {
	region int
	up     *frame // where the collector lives; nil for the run
	key    string // of the instance: its index in digits, or a key
	index  int    // of the instance, from 0
	each   value.Value
	states []state
}

// ref names a node in a frame. Node None is the run itself.
type ref struct {
	frame *frame
	node  int
}

// state is what every node has, small; the rest is made when the node is released.
type state struct {
	status  event.Status
	queued  bool  // waits for slots
	open    bool  // a group whose children were released, or a for_each that was expanded
	waiting int32 // ends that it still waits for, and one for its parent
	bad     int32 // the number of the first node it needs that failed, plus 1
	*detail
}

// detail is the part of a state that only nodes have that came to something.
type detail struct {
	path     string
	attempts int
	seq      uint64 // its turn among those that wait for slots
	started  event.Time
	finished event.Time
	exit     int
	streams  streams
	output   value.Value
	computed bool
	err      *event.Error // of the attempt before while it runs, of the node after it failed
	agent    string
	timer    uint64
	live     *attempt
	rejected *event.Error // the first gate that said no to this attempt
	gate     int          // the gate that judges now
	rare     *rare        // nil until it comes to one of these

	// Of groups and collectors:
	remaining int // children or instances that have not ended
	tally     tally
	limit     *limiter
	doom      *event.Error // why it is being ended, while its children end
	frames    []*frame     // instances made so far
	items     []item       // what they are made of
	keyed     bool         // by key rather than by index
	waiters   []waiter     // nodes of inner frames that wait for this one
}

// rare is what few nodes come to.
type rare struct {
	generation int    // how often its work became other work: see key
	fallback   int    // the agent that has it now: 0 is its own, n the nth of those that it falls back to
	before     int    // attempts that were made before that agent had it
	said       string // by the gates that said no to this attempt, a line each
	refused    bool   // by one of them for good
	feedback   string // what was said of the work that this is to do better
	toUndo     bool   // it stands in the list of what is to be compensated
	deadline   *deadline
}

func (m *Machine) rare(r ref) *rare {
	d := m.detail(r)
	if d.rare == nil {
		d.rare = &rare{}
	}
	return d.rare
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

func (m *Machine) newFrame(region int, up *frame, index int, it item) *frame {
	f := &frame{region: region, up: up, key: it.key, index: index, each: it.each, states: make([]state, len(m.graph.Regions[region].Nodes))}
	for slot, number := range m.graph.Regions[region].Nodes {
		n := &m.graph.Nodes[number]
		s := &f.states[slot]
		s.status, s.waiting = event.Pending, 1
		if n.Body == region {
			continue // an instance waits for its collector alone
		}
		for _, a := range n.Awaits {
			if on := &m.graph.Nodes[a.Node]; on.Region == region {
				s.waiting++
			} else {
				m.awaitOuter(ref{f, number}, s, a)
			}
		}
	}
	return f
}

// awaitOuter makes a node wait for one of an outer frame, which has a list of such waiters because it can't know them
// beforehand.
func (m *Machine) awaitOuter(r ref, s *state, a plan.Await) {
	outer := m.outer(r.frame, a.Node)
	o := m.state(outer)
	if o.status.Terminal() {
		if a.Needs && o.status.Bad() && s.bad == 0 {
			s.bad = int32(a.Node) + 1
		}
		return
	}
	s.waiting++
	d := m.detail(outer)
	d.waiters = append(d.waiters, waiter{r, a.Needs})
}

// outer finds the frame in which a node of this or an enclosing region lives.
func (m *Machine) outer(f *frame, node int) ref {
	for region := m.graph.Nodes[node].Region; f.region != region; {
		f = f.up
	}
	return ref{f, node}
}

func (m *Machine) node(r ref) *plan.Node { return &m.graph.Nodes[r.node] }

// instance tells that r is one instance of a for_each rather than the whole.
func (m *Machine) instance(r ref) bool {
	return r.frame.up != nil && m.graph.Nodes[r.node].Body == r.frame.region
}

// collector tells that r is a for_each as a whole.
func (m *Machine) collector(r ref) bool {
	return m.graph.Nodes[r.node].Body != plan.None && !m.instance(r)
}

func (m *Machine) state(r ref) *state {
	n := &m.graph.Nodes[r.node]
	if n.Body == r.frame.region {
		return &r.frame.states[0]
	}
	return &r.frame.states[n.Slot]
}

// parent is what r lies in: its collector, its group, or the run.
func (m *Machine) parent(r ref) ref {
	if m.instance(r) {
		return ref{r.frame.up, r.node}
	}
	return ref{r.frame, m.node(r).Parent}
}

func (m *Machine) detail(r ref) *detail {
	s := m.state(r)
	if s.detail == nil {
		s.detail = &detail{path: m.path(r), exit: -1}
	}
	return s.detail
}

// path is the instance's identity everywhere: names of the groups it lies in, and keys of instances, as in build/api[3].
func (m *Machine) path(r ref) string {
	if r.node == plan.None {
		return ""
	}
	if s := m.state(r); s.detail != nil && s.path != "" {
		return s.path
	}
	up := m.path(m.parent(r))
	if m.instance(r) {
		return up + "[" + quoteKey(r.frame.key) + "]"
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

// result is what the world may see of a node that has come to something.
func (m *Machine) result(r ref) *event.Result {
	d := m.detail(r)
	return &event.Result{
		ExitCode: d.exit, Stdout: d.streams.stdout, Stderr: d.streams.stderr, StdoutLog: d.streams.stdoutLog, StderrLog: d.streams.stderrLog,
		Output: d.output, Error: d.err, Attempts: d.attempts, Agent: d.agent, StartedAt: d.started, FinishedAt: d.finished, Computed: d.computed,
	}
}
