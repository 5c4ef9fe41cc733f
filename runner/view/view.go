// Package view folds what a run's machine reported into what people and programs look at: a tree of nodes with
// statuses, durations and reasons, and a numbered stream of lines.
//
// A view is computed from events and transitions and from nothing else, so the live tree, the lines of a log, the JSON
// of a run and the table of its nodes cannot disagree: they are all the same fold, shown differently. Feeding a journal
// again gives the same view and the same line numbers. The only time known here is the time of events.
//
// The package does no I/O, renders nothing and reads no clock. It must never import an engine, the machine or a
// terminal. Enter at [New], then [Run.Apply] for each batch; [Run.Story] tells all of one node, and [Run.Forget] is for whoever
// shows a run as it goes. Applying a batch costs the same whatever the size of the run. A Run is not safe for concurrent use.
package view

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Run is a run as it stands after the batches applied so far.
type Run struct {
	ID       string
	Workflow string
	About    string       // the description of the workflow; "" if it has none
	Status   event.Status // pending before the first batch; waiting while it has begun and nothing is in flight
	Reason   string
	WaitsFor *event.WaitsFor // what the run itself waits for before any of its nodes; nil if nothing
	Inputs   map[string]value.Value
	Outputs  map[string]value.Value // set at the end
	Error    *event.Error           // set at the end of a run that failed
	Usage    *event.Usage           // set at the end of a run with attempts
	// Parent is the run that called this one, and ParentNode the path of its node that did; "" if nobody did.
	Parent, ParentNode string
	// RetryOf is the run that this one repeats; "" if it repeats none. RetriedBy is the newest run that repeats this one:
	// its journal does not know, so whoever asks the store sets it.
	RetryOf, RetriedBy string
	// Targets are the nodes that the run was limited to; nil where it was not.
	Targets []string
	// Cause is what started the run; nil if that was a person or a call.
	Cause *event.Cause
	// Driven tells that a process drives the run now, and Stands is when the clock of one stood still that has not ended and that
	// nobody drives; 0 for others. Whoever asks the store sets both.
	Driven bool
	Stands event.Time
	// Changes are those by rules of adapt, MaxChanges of them at most.
	Changes []Change
	// Warnings are those of the run itself, MaxWarnings of them at most.
	Warnings []string
	// Limit tells that the run's own timeout or a cancel ended it.
	Limit bool
	// StartedAt and FinishedAt are 0 until they are known; Last is the time of the last event.
	StartedAt, FinishedAt, Last event.Time
	// Resumes counts how often another driver took the run over.
	Resumes int
	// Roots are the nodes of the top level, in file order, then in order of appearance.
	Roots []*Node
	// Leaves counts the nodes that have no nodes below them, by status.
	Leaves map[event.Status]int

	byPath   map[string]*Node
	declared map[string]*ir.Node // by name
	final    map[string]bool     // the names of the nodes of finally
	forgets  map[string]bool     // the names of repeats whose iterations are forgotten
	seq      uint64
	work     work
}

// Node is one node, or one instance of a node.
type Node struct {
	Path string // the instance's path: build/api[3]
	Name string // the declared name
	Kind string // as ir spells it; "" where nobody said
	// Pattern is the pattern that the file has in place of the node, such as feedback; "" if it has none there, and for an iteration.
	Pattern string
	// Item names the member of a list that an instance works on, as JSON; "" if nothing names it. Members is the number of instances of a
	// for_each, also of those that have not begun; 0 until it is known.
	Item    string
	Members int
	Status  event.Status
	// Attempt is the number of the attempt that is, or was last, under way; 0 before the first.
	Attempt int
	Reason  string
	// StartedAt is the time of the first attempt, Since that of the last change of status, FinishedAt that of the end.
	StartedAt, Since, FinishedAt event.Time
	// Due is when a node that waits goes on by itself; 0 where that is not known.
	Due event.Time
	// WaitsFor is what a node that waits waits for, or the run that it called; nil if nothing.
	WaitsFor *event.WaitsFor
	// Result is the node's result once it ended, or of the attempt that failed last while another follows.
	Result *event.Result
	Gates  []event.Verdict // of the last attempt, in order
	// Warnings are what could not be computed and was taken for not there, MaxWarnings of them at most.
	Warnings []string
	// Compensation tells how far what the node did is undone; nil where that never began.
	Compensation *Compensation
	// Child is the id of the run that the node called, the last where there were several; "" if it called none.
	Child string

	Parent   *Node
	Children []*Node

	text []byte // its JSON in a document; nil after a change
}

// Compensation is a node's undoing. Result is nil while it runs.
type Compensation struct {
	Status event.Note
	Result *event.Result
}

// New makes the view of a run that has not begun. With a workflow, its nodes are there from the start as pending;
// nil is fine, nodes then appear with their first transition.
func New(w *ir.Workflow) *Run {
	r := &Run{Status: event.Pending, Leaves: map[event.Status]int{}, byPath: map[string]*Node{}, declared: map[string]*ir.Node{},
		final: map[string]bool{}}
	if w != nil {
		r.Workflow, r.About = w.Name, w.Description
		r.declare(w.Nodes)
		r.outline(w.Nodes, "")
		if w.Finally != nil {
			r.declare(w.Finally.Nodes)
			r.outline(w.Finally.Nodes, "")
			for i := range w.Finally.Nodes {
				r.final[w.Finally.Nodes[i].Name] = true
			}
		}
	}
	return r
}

func (r *Run) declare(nodes []ir.Node) {
	for i := range nodes {
		r.declared[nodes[i].Name] = &nodes[i]
		r.declare(nodes[i].Children)
	}
}

// outline adds the declared nodes. What lies below a for_each or repeat is left to appear with its instances or iterations.
func (r *Run) outline(nodes []ir.Node, prefix string) {
	for i := range nodes {
		n := &nodes[i]
		r.add(prefix+n.Name, n.Name, string(n.Kind))
		if n.ForEach == nil && n.Repeat == nil {
			r.outline(n.Children, prefix+n.Name+"/")
		}
	}
}

// Description returns the description that the file gives to a node; "" if there is none, or if the workflow is not known.
func (r *Run) Description(n *Node) string {
	if d := r.declared[n.Name]; d != nil {
		return d.Description
	}
	return ""
}

// Seq returns the number of the last line; 0 before the first.
func (r *Run) Seq() uint64 { return r.seq }

// Node returns the node of a path, or nil.
func (r *Run) Node(path string) *Node { return r.byPath[path] }

func (r *Run) add(path, name, kind string) *Node {
	n := &Node{Path: path, Name: name, Kind: kind, Status: event.Pending}
	if d := r.declared[name]; d != nil {
		n.Pattern = d.Pattern
	}
	r.byPath[path] = n
	r.Leaves[event.Pending]++
	parent := Parent(path)
	if parent == "" {
		r.Roots = append(r.Roots, n)
		return n
	}
	p := r.byPath[parent]
	if p == nil {
		p = r.add(parent, r.nameOf(parent), "")
	}
	if len(p.Children) == 0 {
		r.Leaves[p.Status]--
	}
	n.Parent, p.Children = p, append(p.Children, n)
	p.text = nil
	if n.Iteration() > 0 {
		n.Pattern = ""
	}
	r.follow(n)
	return n
}

// holds reports whether a node of a status stands only for what is below it, as that of the items of a loop does: no transition tells of it.
func (n *Node) holds(s event.Status) bool { return n != nil && n.Kind == "" && n.Status == s }

// nameOf returns the declared name of the node of a path that no transition has named yet: an iteration has the name of its repeat.
func (r *Run) nameOf(path string) string {
	base := Base(path)
	if up := Parent(path); up != "" && r.declared[base] == nil && iteration(path, up) > 0 {
		return r.nameOf(up)
	}
	return base
}

// iteration is the number at the end of the path of an iteration below up; 0 if there is none.
func iteration(path, up string) int {
	i, _ := strconv.Atoi(strings.TrimPrefix(path[len(up):], "/i"))
	return i
}

// Parent gives the path above: of build/api[3] it is build/api, of build/api it is build, of build it is "".
// A slash or bracket inside an instance's key does not count.
func Parent(path string) string {
	if strings.HasSuffix(path, "]") {
		if open := openBracket(path); open > 0 {
			return path[:open]
		}
	}
	end := len(path)
	for end > 0 {
		slash := strings.LastIndexByte(path[:end], '/')
		if slash < 0 {
			return ""
		}
		if !insideKey(path, slash) {
			return path[:slash]
		}
		end = slash
	}
	return ""
}

// Base gives the node's declared name: of build/api[3] it is api.
func Base(path string) string {
	if strings.HasSuffix(path, "]") {
		if open := openBracket(path); open > 0 {
			path = path[:open]
		}
	}
	return strings.TrimPrefix(path[len(Parent(path)):], "/")
}

// hashed begins the short form of a path. The name of a node has no colon, so no path begins like this.
const hashed = "sha256:"

// Short is a form of a node's path that fits into an address: a key of a for_each may have any length.
func Short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hashed + hex.EncodeToString(sum[:16])
}

// IsShort reports whether a text is the short form of a path.
func IsShort(text string) bool { return strings.HasPrefix(text, hashed) }

// IsAbout reports whether a node's path is the path of a step, of an instance of the step, or of a node below it. step is a name or
// a path; every path is about "".
func IsAbout(path, step string) bool {
	for ; path != ""; path = Parent(path) {
		if path == step || Base(path) == step {
			return true
		}
	}
	return step == ""
}

// openBracket finds the bracket that begins the key at the end of a path. Names hold no brackets, so it is the first one
// behind the last slash that stands outside of keys.
func openBracket(path string) int {
	depth, last := 0, -1
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '[':
			if depth == 0 {
				last = i
			}
			depth++
		case ']':
			depth--
		}
	}
	return last
}

func insideKey(path string, at int) bool {
	return strings.Count(path[:at], "[") > strings.Count(path[:at], "]")
}

// Iteration is the number of an iteration of a repeat, from 1; 0 for any other node.
func (n *Node) Iteration() int {
	if n.Parent == nil || n.Parent.Name != n.Name || strings.HasSuffix(n.Path, "]") {
		return 0
	}
	return iteration(n.Path, n.Parent.Path)
}

// tells says whether a node's result is the last word on what a step did: of a step, but not of an iteration of it, whose
// repeat has the result of its last one.
func (n *Node) tells() bool {
	switch {
	case n.Iteration() > 0:
		return false
	case len(n.Children) == 0:
		return true
	}
	return n.Kind == string(ir.Step) && n.Children[0].Iteration() > 0
}

// Title is the path of a node, with the name of its item if it has one: copy[1] "b".
func (n *Node) Title() string { return titled(n.Path, n.Item) }

func titled(path, item string) string {
	if item == "" {
		return path
	}
	return path + " " + item
}

// Ended returns the number of nodes directly below a node that have ended.
func (n *Node) Ended() (ended int) {
	for _, c := range n.Children {
		if c.Status.Terminal() {
			ended++
		}
	}
	return ended
}

// Duration is how long the node has run at a time, or ran: from its first attempt to its end. It is 0 before.
func (n *Node) Duration(now event.Time) time.Duration {
	if n.StartedAt == 0 {
		return 0
	}
	if n.FinishedAt != 0 {
		now = n.FinishedAt
	}
	return max(0, now.Sub(n.StartedAt))
}

// Interrupted is what a status reads where people look, of a run that has not ended, that no process drives, and that waits for more than people.
const Interrupted = "interrupted"

// Word is the run's status where people look.
func (r *Run) Word() string {
	if r.Stands != 0 && !(r.Status == event.Waiting && r.asks()) {
		return Interrupted
	}
	return string(r.Status)
}

// asks reports whether a node, or the run, waits for people.
func (r *Run) asks() bool {
	asks := r.WaitsFor != nil && r.WaitsFor.Kind == event.WaitDecision
	r.Each(func(n *Node, _ int) { asks = asks || n.WaitsFor != nil && n.WaitsFor.Kind == event.WaitDecision })
	return asks
}

// Duration is how long the run has taken at a time, or took.
func (r *Run) Duration(now event.Time) time.Duration {
	switch {
	case r.StartedAt == 0:
		return 0
	case r.FinishedAt != 0:
		now = r.FinishedAt
	case r.Stands != 0:
		now = r.Stands
	}
	return max(0, now.Sub(r.StartedAt))
}

// Each calls f for every node, parents before children, with the depth from 0.
func (r *Run) Each(f func(n *Node, depth int)) { each(r.Roots, 0, f) }

func each(nodes []*Node, depth int, f func(*Node, int)) {
	for _, n := range nodes {
		f(n, depth)
		each(n.Children, depth+1, f)
	}
}

// Degraded are the paths of the nodes that failed and for which the output of a degrade block stands in, parents before children.
func (r *Run) Degraded() (paths []string) {
	r.Each(func(n *Node, _ int) {
		if n.Status == event.FailedS && n.Result != nil && n.Result.Tolerated && n.Result.Output != nil {
			paths = append(paths, n.Path)
		}
	})
	return paths
}

// Size is how many nodes there are.
func (r *Run) Size() int { return len(r.byPath) }
