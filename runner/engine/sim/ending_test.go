package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

// season lays over a random program what nodes do about failures, and what a run does at its end. What depends on time
// or on crashes is added only where the program is timed anyway.
func season(r *rand.Rand, p *ir.Program, timed, people bool) {
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	p.Agents = append(p.Agents, ir.Agent{Name: "spare", Type: ir.AgentNull, Capabilities: []string{"echo"}})
	for i := range p.Gates {
		if p.Gates[i].Check != nil && maybe(2) {
			p.Gates[i].OnFail = ir.OnFailRetry
		}
	}
	for i := range p.Workflows {
		seasonWorkflow(r, &p.Workflows[i], timed, people)
	}
}

func seasonWorkflow(r *rand.Rand, w *ir.Workflow, timed, people bool) {
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	lit := func(v value.Value) *ir.Expr { return ir.Lit(v, value.AnyType) }
	program := func(args ...any) ir.Run { return ir.Run{Argv: lit(args)} }
	eachNode(w.Nodes, func(n *ir.Node) {
		wait := did[*ir.Wait](n)
		if beginsAlone(n) && (wait == nil || wait.Event == "") && maybe(4) { // a run that repeats this one would wait again, for an event that does not come again
			n.Compensate = &ir.Compensate{Run: program("undo", n.Name)}
		}
		if forPeople(n) {
			return
		}
		if timed && did[*ir.Value](n) != nil && maybe(15) {
			n.Action = &ir.End{Status: []ir.EndStatus{"", ir.EndFailed, ir.EndCancelled}[r.IntN(3)]}
		}
		if timed && maybe(8) {
			n.Budget = randomBudget(r, people)
		}
		if n.Kind != ir.Step || !n.Action.Kind().Retried() {
			return
		}
		if did[*ir.AgentTask](n) != nil && maybe(3) {
			n.Fallback = []ir.Assignee{{Agent: "spare"}}
		}
		if maybe(3) {
			n.Compensate = &ir.Compensate{Run: program("undo", n.Name)}
		}
		if timed && did[*ir.Call](n) == nil && maybe(5) {
			n.OnLost = ir.OnLostFail
		}
		if timed && maybe(6) {
			n.Deadline = &ir.Deadline{After: *lit(fmt.Sprintf("%ds", 1+r.IntN(90))), Progress: []float64{50, 10}}
		}
		if maybe(12) {
			n.TriggerRule = ir.Always
		}
	})
	if timed && maybe(4) {
		w.Budget = randomBudget(r, people)
	}
	if maybe(3) {
		return
	}
	w.Finally = &ir.Finally{Timeout: lit("9000h")} // clocks jump
	if timed {
		w.Finally.Timeout = lit(fmt.Sprintf("%ds", 1+r.IntN(120)))
	}
	for i := range 1 + r.IntN(3) {
		run := program("last", i)
		w.Finally.Nodes = append(w.Finally.Nodes, ir.Node{Name: fmt.Sprintf("last%d", i), Kind: ir.Step, TriggerRule: ir.Always, Action: &run})
	}
}

// beginsAlone reports whether what a node does is undone without an attempt of its own: a group, a wait or an approval.
func beginsAlone(n *ir.Node) bool { return n.Kind != ir.Step || n.Action.Kind().Course() == ir.Pausing }

func eachNode(nodes []ir.Node, f func(*ir.Node)) {
	for i := range nodes {
		f(&nodes[i])
		eachNode(nodes[i].Children, f)
	}
}

// journey is what was seen of a run's way to its end.
type journey struct {
	starts  int
	first   map[string]int        // by path: the how manieth a node was to start an attempt or a call
	names   map[string]string     // by path: the node's declared name
	undone  []string              // paths, in the order in which compensations were started
	tickets map[uint64]bool       // of those, for a start may be asked for again
	begun   map[uint64]bool       // the tickets of all attempts whose start was seen
	flying  map[uint64]string     // the paths of attempts without an answer, by ticket
	unsure  map[string]bool       // by path: it started in the batch of another driver, so that it may count as begun before that driver, or not
	lost    map[string]bool       // by path: nobody knows what its last attempt did, and the attempt is repeated
	told    map[string]event.Note // of compensations
	status  map[string]event.Status
	moves   int
	moved   map[string]int // by path: the how manieth move of a node was its last
	// tolerated are the nodes whose failure does not count.
	tolerated map[string]bool
	waited    map[string]bool // by path: a wait or an approval that has begun
	kept      map[string]bool // by path: reused from an earlier run
	cancels   int
	ended     map[string]bool // by path: a person has cancelled it
	never     bool            // it was cancelled before it began
}

func newJourney() *journey {
	return &journey{first: map[string]int{}, names: map[string]string{}, tickets: map[uint64]bool{}, begun: map[uint64]bool{}, flying: map[uint64]string{}, unsure: map[string]bool{}, lost: map[string]bool{}, told: map[string]event.Note{}, status: map[string]event.Status{}, moved: map[string]int{}, tolerated: map[string]bool{}, ended: map[string]bool{}, waited: map[string]bool{}, kept: map[string]bool{}}
}

func (j *journey) watch(events []event.Event, r *event.Reaction) {
	shared := slices.ContainsFunc(events[1:], func(ev event.Event) bool { return ev.DriverChanged != nil })
	broken := map[string]bool{} // by path: a breaker refused its attempt
	for _, ev := range events {
		if ev.RunStarted != nil {
			j.never = ev.RunStarted.Cancelled != ""
		}
		if ev.External != nil && ev.External.Kind == event.ExternalCancel {
			j.cancels++
		}
		if f := ev.AttemptFinished; f != nil {
			if delete(j.flying, f.Ticket); f.Gate == "" && !f.Compensate && f.Outcome == event.Lost {
				j.lost[f.Node] = true
			}
			broken[f.Node] = broken[f.Node] || f.Outcome == event.Refused && f.Error != nil && f.Error.Reason == event.ReasonBreaker
		}
		if ev.DriverChanged != nil {
			for _, node := range j.flying { // any order: each is marked
				j.lost[node] = true
			}
		}
	}
	for _, t := range r.Transitions {
		if (t.WaitsFor != nil || t.From == event.Running && broken[t.Node]) && t.Attempt == 0 && !j.lost[t.Node] { // refused: nothing has begun
			delete(j.first, t.Node)
		}
	}
	for _, c := range r.Commands {
		if k := c.StartChild; k != nil && j.first[k.Node] == 0 && k.Workflow != heal { // what heals a node that was refused is no start of the node
			j.began(k.Node, "")
		}
		if x := c.Cancel; x != nil && j.first[x.Node] == 0 && !j.begun[x.Ticket] && startsUnseen(r, x) {
			j.began(x.Node, "")
			j.unsure[x.Node] = j.unsure[x.Node] || shared
		}
		if c.Start != nil {
			j.begun[c.Start.Ticket] = true
			if a := c.Start; a.Gate == "" && !a.Compensate && a.Kind != event.HoldAttempt && !tells(a) {
				j.unsure[a.Node] = j.unsure[a.Node] || shared
				j.flying[a.Ticket] = a.Node
			}
		}
		switch a := c.Start; {
		case a == nil || a.Gate != "" || tells(a):
		case a.Compensate && !j.tickets[a.Ticket]:
			j.tickets[a.Ticket] = true
			if n := len(j.undone); n == 0 || j.undone[n-1] != a.Node { // after a wait for the run's hold it has another ticket
				j.undone = append(j.undone, a.Node)
			}
		case !a.Compensate && a.Kind != event.HoldAttempt && j.first[a.Node] == 0:
			j.began(a.Node, a.Name)
		}
	}
	for _, t := range r.Transitions {
		if t.Note == event.Compensating || t.Note == event.Compensated || t.Note == event.NotCompensated {
			j.told[t.Node] = t.Note
		} else if t.Note == "" && t.To != "" {
			j.status[t.Node], j.names[t.Node] = t.To, t.Name
			j.moves++
			j.moved[t.Node] = j.moves
			j.kept[t.Node] = t.Result != nil && (t.Result.Reused || t.Result.Set)
			j.waited[t.Node] = j.waited[t.Node] || t.Attempt > 0 && !j.kept[t.Node]
			j.tolerated[t.Node] = t.Result != nil && t.Result.Tolerated
		}
	}
}

// startsUnseen reports whether a cancel takes back an attempt that began in the same batch. The start does not show then, and the
// machine cannot know that the host did not carry it out. The caller says whether it saw the attempt start: a grant that comes for a
// refused attempt when its run has no slot is given back by a cancel too, and the node may start in the same batch.
func startsUnseen(r *event.Reaction, x *event.CancelAttempt) bool {
	return slices.ContainsFunc(r.Transitions, func(t event.Transition) bool {
		return t.Node == x.Node && t.To == event.Running && t.Note == "" && t.Attempt > 0
	})
}

// TestGivenBackGrantIsNoStart: what gives a grant back is not the start that the node has later in the same batch.
func TestGivenBackGrantIsNoStart(t *testing.T) {
	j := newJourney()
	j.watch([]event.Event{{}}, &event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Ticket: 1, Node: "b", Name: "b"}}}})
	j.watch([]event.Event{{}}, &event.Reaction{Transitions: []event.Transition{{Node: "b", WaitsFor: &event.WaitsFor{Kind: event.WaitQuota}}}})
	j.watch([]event.Event{{}}, &event.Reaction{
		Transitions: []event.Transition{{Node: "a", To: event.Running, Attempt: 1}, {Node: "b", To: event.Running, Attempt: 1}},
		Commands: []event.Command{
			{Cancel: &event.CancelAttempt{Ticket: 1, Node: "b"}},
			{Start: &event.Attempt{Ticket: 2, Node: "a", Name: "a"}}, {Start: &event.Attempt{Ticket: 3, Node: "b", Name: "b"}},
		},
	})
	if j.first["a"] > j.first["b"] {
		t.Errorf("a starts before b, and is taken for number %d after %d", j.first["a"], j.first["b"])
	}
}

// TestLostAttemptBegan: a node that waits to repeat an attempt that was lost has begun.
func TestLostAttemptBegan(t *testing.T) {
	j := newJourney()
	j.watch([]event.Event{{}}, &event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Ticket: 1, Node: "a", Name: "a", Attempt: 1}}}})
	waits := &event.Reaction{Transitions: []event.Transition{{Node: "a", To: event.Waiting, WaitsFor: &event.WaitsFor{Kind: event.WaitDecision}}}}
	j.watch([]event.Event{{AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "a", Attempt: 1, Outcome: event.Lost}}}, waits)
	j.watch([]event.Event{{}}, &event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Ticket: 2, Node: "b", Name: "b", Attempt: 1}}}})
	waits.Transitions[0].Node = "b"
	j.watch([]event.Event{{DriverChanged: &event.DriverChanged{Lost: true}}, {AttemptFinished: &event.AttemptFinished{Ticket: 2, Node: "b", Attempt: 1, Outcome: event.Refused}}}, waits)
	if j.first["a"] == 0 || j.first["b"] == 0 {
		t.Errorf("nothing would have to be undone of one of them: %v", j.first)
	}
}

// began notes the first start of a node. The name of one that calls comes with its transition.
func (j *journey) began(path, name string) {
	j.starts++
	j.first[path] = j.starts
	if name != "" {
		j.names[path] = name
	}
}

// endedItself is the end step that ended the run, if one did, and the number of its move.
func (s *seen) endedItself() (end *ir.End, at int) {
	j := s.j
	eachNode(s.w.Nodes, func(n *ir.Node) {
		for path, name := range j.names {
			whole := n.ForEach != nil && !strings.HasSuffix(path, "]") && !iteration.MatchString(view.Base(path)) // it may have no instance
			if name == n.Name && did[*ir.End](n) != nil && j.status[path] == event.Succeeded && !s.end.Limit && !whole {
				end, at = did[*ir.End](n), j.moved[path]
			}
		}
	})
	return end, at
}

// wentWrong tells that the run had failed, or was cancelled, before finally.
func (s *seen) wentWrong() bool {
	j := s.j
	ended, at := s.endedItself()
	if ended != nil && ended.Status != "" {
		return true
	}
	for path, how := range j.status {
		if how.Bad() && !j.tolerated[path] && (ended == nil || how != event.Cancelled || j.ended[path] && j.moved[path] < at) && slices.ContainsFunc(s.w.Nodes, func(n ir.Node) bool { return n.Name == path }) {
			return true
		}
	}
	return s.end.Status == event.Cancelled || s.end.Limit
}

// judge compares the way to the end with what the program asks for.
func (c *simulation) judge(run *seen) {
	c.joins(run)
	c.blocks(run)
	j, w := run.j, run.w
	undo := map[string]bool{}
	eachNode(w.Nodes, func(n *ir.Node) { undo[n.Name] = n.Compensate != nil && !beginsAlone(n) })
	var want []string
	for path := range j.first {
		if undo[j.names[path]] && run.wentWrong() {
			want = append(want, path)
		}
	}
	slices.SortFunc(want, func(a, b string) int { return j.first[b] - j.first[a] })
	sure := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(path string) bool { return j.unsure[path] || !undo[j.names[path]] })
	}
	c.undoesAlone(run)
	if j.cancels < 2 && !slices.Equal(sure(want), sure(j.undone)) {
		c.t.Errorf("seed %d: undone were %v; in reverse order of their starts these are %v", c.seed, j.undone, want)
	}
	if j.cancels > 1 && len(j.told) == 0 {
		want = nil // the cancel came when all but finally had succeeded
	}
	for _, path := range want {
		if n := j.told[path]; n != event.Compensated && n != event.NotCompensated {
			c.t.Errorf("seed %d: %s ends %q", c.seed, path, n)
		}
	}
	for path, s := range j.status {
		if !s.Terminal() {
			c.t.Errorf("seed %d: %s ends %s", c.seed, path, s)
		}
	}
	if w.Finally == nil {
		return
	}
	for i := range w.Finally.Nodes {
		s := j.status[w.Finally.Nodes[i].Name]
		if !s.Terminal() || s == event.Cancelled && c.untimed && !j.never {
			c.t.Errorf("seed %d: %s, of finally, ends %q", c.seed, w.Finally.Nodes[i].Name, s)
		}
	}
}

// detaches reports whether a group has nodes or instances that may begin when it has ended, and so are undone before it (seeds 41469 and 51207).
func detaches(group *ir.Node) (found bool) {
	eachNode([]ir.Node{*group}, func(n *ir.Node) { found = found || n.Losers == ir.LosersDetach })
	return found
}

// undoesAlone checks that groups that have succeeded are undone, each before the nodes inside it, and that waits and approvals are that have begun.
func (c *simulation) undoesAlone(run *seen) {
	j := run.j
	if j.cancels > 1 {
		return
	}
	at := map[string]int{}
	for i, path := range j.undone {
		at[path] = i
	}
	eachNode(run.w.Nodes, func(n *ir.Node) {
		if n.Compensate == nil || !beginsAlone(n) {
			return
		}
		for path, name := range j.names {
			base := view.Base(path)
			if name != n.Name || n.Repeat != nil && !iteration.MatchString(base) || n.Repeat == nil && n.ForEach != nil && !strings.HasSuffix(path, "]") {
				continue // it holds instances or iterations
			}
			did := j.waited[path]
			if n.Kind != ir.Step {
				did = j.status[path] == event.Succeeded && !j.kept[path]
			}
			if _, undone := at[path]; undone != (did && run.wentWrong()) {
				c.t.Errorf("seed %d: %s, which ended %s, was undone: %v", c.seed, path, j.status[path], undone)
			} else if undone {
				c.undone++
				for inner, i := range at {
					if strings.HasPrefix(inner, path+"/") && i < at[path] && !detaches(n) {
						c.t.Errorf("seed %d: %s was undone before %s", c.seed, inner, path)
					}
				}
			}
		}
	})
}

// blocks checks that what needs a node whose failure stopped the run is blocked, directly or through others, but for nodes that a person
// has cancelled, and what needs these. All are nodes that stand at the top, for in groups there are failures that do not count.
func (c *simulation) blocks(run *seen) {
	g, err := plan.Build(c.program, run.w.Name)
	if err != nil {
		c.t.Fatal(err)
	}
	if ended, _ := run.endedItself(); run.end.Error == nil || ended != nil { // an end step has cancelled them: a node that runs "always" failed later, and stopped nothing
		return
	}
	bad := make([]bool, len(g.Nodes))
	for range g.Top {
		for _, i := range g.Top {
			n := &g.Nodes[i]
			bad[i] = bad[i] || n.OnError == "stop" && run.end.Error.Node == n.Name && run.j.status[n.Name] == event.FailedS && !run.j.tolerated[n.Name]
			for _, a := range n.Awaits {
				bad[i] = bad[i] || bad[a.Node] && !run.j.ended[n.Name] && (n.TriggerRule == "" && a.Needs || n.TriggerRule == ir.NoneFailed || n.TriggerRule == ir.AllSuccess)
			}
		}
	}
	for _, i := range g.Top {
		n := &g.Nodes[i]
		if !bad[i] || run.end.Error.Node == n.Name {
			continue
		}
		if c.barred++; run.j.status[n.Name] != event.Blocked {
			c.t.Errorf("seed %d: %q needs %q, which failed and stopped the run, and ends %s", c.seed, n.Name, run.end.Error.Node, run.j.status[n.Name])
		}
	}
}
