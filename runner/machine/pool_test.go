package machine_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// pooled is a small model of a run whose steps a pool has: it knows who is at what, and says who must be given the next attempt.
type pooled struct {
	program  *ir.Program
	order    []string            // the members in the order of the circle
	can      map[string][]string // capabilities by member
	places   map[string]int      // 0: no bound
	strategy ir.Strategy
	nodes    []string
	slots    int
	next     int
	holds    map[string]string          // who has a node whose attempt is live or refused, and so a place of its own
	has      map[string]string          // who has a node: retries stay there
	passed   map[string]map[string]bool // who refused a node in this turn
	wants    map[string][]string        // capabilities by node
	starts   map[string]int             // by member: first attempts
	last     map[uint64]*event.Attempt  // live attempts
}

func (p *pooled) busy(member string) (n int) {
	for _, m := range p.holds { // any order: it counts
		if m == member {
			n++
		}
	}
	return n
}

func (p *pooled) open(member, node string) bool {
	for _, w := range p.wants[node] {
		if !slices.Contains(p.can[member], w) {
			return false
		}
	}
	return !p.passed[node][member] && (p.places[member] == 0 || p.busy(member) < p.places[member])
}

// choose is the member that the strategy must choose for a node; "" for nobody.
func (p *pooled) choose(node string) string {
	best, least := -1, 0
	for i := range p.order {
		at := (p.next + i) % len(p.order)
		member := p.order[at]
		if !p.open(member, node) {
			continue
		}
		load := 0
		switch p.strategy {
		case ir.LeastBusy:
			load = p.busy(member)
		case ir.FewestAbilities:
			load = len(p.can[member])
		}
		if best < 0 || load < least {
			best, least = at, load
		}
	}
	if best < 0 {
		return ""
	}
	p.next = (best + 1) % len(p.order)
	return p.order[best]
}

// drawPool writes a program of steps that a pool has, and its model.
func drawPool(t *rapid.T) (string, *pooled) {
	p := &pooled{can: map[string][]string{}, places: map[string]int{}, holds: map[string]string{}, has: map[string]string{},
		passed: map[string]map[string]bool{}, wants: map[string][]string{}, starts: map[string]int{}, last: map[uint64]*event.Attempt{}}
	var b strings.Builder
	skills, plain := []string{"go", "gpu", "law"}, rapid.IntRange(0, 3).Draw(t, "plain") == 0
	var members []string
	for i := range rapid.IntRange(1, 4).Draw(t, "members") {
		name := fmt.Sprint("m", i)
		p.order = append(p.order, name)
		members = append(members, "agent."+name)
		fmt.Fprintf(&b, "agent %q {\n  type = \"exec\"\n  command = [\"x\"]\n", name)
		for _, s := range skills {
			if i == 0 || rapid.Bool().Draw(t, s) {
				p.can[name] = append(p.can[name], s)
			}
		}
		fmt.Fprintf(&b, "  capabilities = [%s]\n", quotedList(p.can[name]))
		if p.places[name] = rapid.IntRange(0, 2).Draw(t, "places"); plain {
			p.places[name] = 0
		}
		if p.places[name] > 0 {
			fmt.Fprintf(&b, "  concurrency = %d\n", p.places[name])
		}
		b.WriteString("}\n")
	}
	p.strategy = rapid.SampledFrom(ir.Strategies).Draw(t, "strategy")
	fmt.Fprintf(&b, "pool \"team\" {\n  members = [%s]\n  strategy = %q\n}\n", strings.Join(members, ", "), p.strategy)
	p.slots = rapid.IntRange(1, 8).Draw(t, "slots")
	fmt.Fprintf(&b, "workflow \"w\" {\n  max_concurrency = %d\n", p.slots)
	for i := range rapid.IntRange(1, 10).Draw(t, "steps") {
		node := fmt.Sprint("s", i)
		fmt.Fprintf(&b, "  step %q {\n    agent = pool.team\n    retry {\n      max_attempts = 2\n      jitter = \"none\"\n    }\n", node)
		if p.nodes = append(p.nodes, node); !plain && rapid.Bool().Draw(t, "asks") {
			p.wants[node] = []string{rapid.SampledFrom(skills).Draw(t, "skill")}
			fmt.Fprintf(&b, "    capabilities = [%s]\n", quotedList(p.wants[node]))
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String(), p
}

// unbounded reports whether each member can be given each task at any time.
func (p *pooled) unbounded() bool {
	for _, member := range p.order {
		if p.places[member] > 0 {
			return false
		}
	}
	return len(p.wants) == 0
}

// spread is by how much the members differ in the tasks that they were given: one at most.
func (p *pooled) spread(t *rapid.T) int {
	var list []int
	for _, member := range p.order {
		list = append(list, p.starts[member])
	}
	if d := slices.Max(list) - slices.Min(list); d > 1 {
		t.Fatalf("in turns the members %v were given %v tasks", p.order, list)
	}
	return slices.Max(list) - slices.Min(list)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func quotedList(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}

// TestPoolsMatchModel drives random runs whose steps a pool has: attempts end well or badly, the host refuses and grants them, and
// drivers die. No step waits while it has a slot and a member is free. Each attempt must go to the member that the model says: never above the places of a member, never to one without the
// capabilities, in turns that differ by one at most. The same events must give the same members again.
func TestPoolsMatchModel(t *testing.T) {
	chosen, others, kept, newTurns := 0, 0, 0, 0
	var turns []int
	rapid.Check(t, func(t *rapid.T) {
		text, p := drawPool(t)
		program, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(text)}}, "w.hcl", dsl.Options{})
		if list.HasErrors() {
			t.Fatal(list, text)
		}
		g, err := plan.Build(program.IR, "w")
		if err != nil {
			t.Fatal(err)
		}
		newRun := func() *machine.Machine { return machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()) }
		m := newRun()
		var events []event.Event
		var said []string // who was given what
		refused := map[string]uint64{}
		timers := map[uint64]*event.SetTimer{}
		over := false
		feed := func(ev event.Event) {
			ev.Seq, ev.At = uint64(len(events)+1), event.Time(len(events))*1e9
			events = append(events, ev)
			var r event.Reaction
			if err := m.Step(ev); err != nil {
				t.Fatal(err)
			}
			for m.Advance(1<<20, &r) {
			}
			for _, c := range r.Commands {
				switch {
				case c.Start != nil && p.last[c.Start.Ticket] != nil: // a new driver asks again
				case c.Start != nil:
					a := c.Start
					who, node := a.Agent.Name, a.Node
					said = append(said, fmt.Sprint(node, "#", a.Attempt, " ", who))
					want := p.has[node]
					if want == "" {
						want = p.choose(node)
						p.starts[want]++
						chosen++
					} else {
						kept++
					}
					if who != want {
						t.Fatalf("%s has attempt %d of %s, and the model gives it to %q\n%s%s", who, a.Attempt, node, want, text, strings.Join(said, "\n"))
					}
					p.holds[node], p.has[node] = who, who
					if n := p.busy(who); p.places[who] > 0 && n > p.places[who] {
						t.Fatalf("%s has %d attempts and %d places\n%s", who, n, p.places[who], text)
					}
					p.last[a.Ticket] = a
					delete(refused, node)
				case c.SetTimer != nil:
					timers[c.SetTimer.Timer] = c.SetTimer
				case c.CancelTimer != nil:
					delete(timers, c.CancelTimer.Timer)
				case c.End != nil:
					over = true
				}
			}
			for _, node := range p.nodes {
				free := slices.IndexFunc(p.order, func(member string) bool { return p.open(member, node) })
				if p.has[node] == "" && len(p.last) < p.slots && free >= 0 {
					t.Fatalf("%s waits, and %s is free\n%s", node, p.order[free], text)
				}
			}
		}
		finish := func(a *event.Attempt, f event.AttemptFinished) {
			f.Ticket, f.Node = a.Ticket, a.Node
			delete(p.last, a.Ticket)
			feed(event.Event{AttemptFinished: &f})
		}
		fire := func(timer uint64) {
			node := timers[timer].Node
			if timers[timer].Purpose == event.TimerRefused { // it asks all of them anew
				delete(p.holds, node)
				delete(p.has, node)
				delete(refused, node)
				newTurns++
			}
			delete(timers, timer)
			feed(event.Event{TimerFired: &event.TimerFired{Timer: timer, Node: node}})
		}
		grant := func(node string) {
			feed(event.Event{External: &event.External{Kind: event.ExternalGranted, Node: node, Data: float64(refused[node])}})
		}
		fails := &event.Error{Kind: event.Transient, Reason: event.ReasonExit, ExitCode: 1}
		begun := map[string]bool{} // nodes whose present attempt a dead driver may have begun
		feed(event.Event{RunStarted: &event.RunStarted{Run: "r", Workflow: "w", FirstMembers: true}})
		draw := func(t *rapid.T) *event.Attempt {
			if len(p.last) == 0 {
				t.Skip()
			}
			return p.last[rapid.SampledFrom(sortedKeys(p.last)).Draw(t, "which")]
		}
		actions := map[string]func(*rapid.T){
			"ok": func(t *rapid.T) {
				a := draw(t)
				delete(p.holds, a.Node)
				finish(a, event.AttemptFinished{Outcome: event.OK, Output: value.Value("done")})
			},
			"fail": func(t *rapid.T) {
				a := draw(t)
				delete(p.holds, a.Node)
				finish(a, event.AttemptFinished{Outcome: event.Failed, Error: fails})
			},
			"refuse": func(t *rapid.T) {
				a := draw(t)
				if a.Admission == nil {
					t.Skip()
				}
				who := p.has[a.Node]
				if p.passed[a.Node] == nil {
					p.passed[a.Node] = map[string]bool{}
				}
				p.passed[a.Node][who] = true
				left := slices.ContainsFunc(p.order, func(member string) bool { return p.open(member, a.Node) })
				if a.Attempt > 1 || begun[a.Node] || !left { // it waits for whom it has
					if a.Attempt == 1 && !begun[a.Node] {
						p.passed[a.Node] = nil
					} else {
						delete(p.passed[a.Node], who)
					}
					refused[a.Node] = a.Ticket
				} else {
					delete(p.holds, a.Node)
					delete(p.has, a.Node)
					others++
				}
				finish(a, event.AttemptFinished{Outcome: event.Refused, Error: &event.Error{Kind: event.Transient, Reason: event.ReasonBusy, ExitCode: -1}})
			},
			"grant": func(t *rapid.T) {
				if len(refused) == 0 {
					t.Skip()
				}
				node := rapid.SampledFrom(sortedKeys(refused)).Draw(t, "node")
				grant(node)
			},
			"timer": func(t *rapid.T) {
				if len(timers) == 0 {
					t.Skip()
				}
				fire(sortedKeys(timers)[0])
			},
			"driver": func(*rapid.T) {
				for _, a := range p.last { // any order: it fills a map
					begun[a.Node] = true
				}
				feed(event.Event{DriverChanged: &event.DriverChanged{Lost: true, DeathLimit: 1000}})
			},
		}
		actions["refuse too"] = actions["refuse"]
		t.Repeat(actions)
		for n := 0; !over; n++ { // to the end
			if n > 1000 {
				t.Fatalf("the run waits for nothing\n%s%s", text, strings.Join(said, "\n"))
			}
			if len(refused) > 0 && n%2 == 0 {
				grant(sortedKeys(refused)[n%len(refused)])
			}
			if len(timers) > 0 {
				fire(sortedKeys(timers)[0])
			}
			if len(p.last) > 0 {
				a := p.last[sortedKeys(p.last)[0]]
				delete(p.holds, a.Node)
				finish(a, event.AttemptFinished{Outcome: event.OK})
			}
		}
		again := newRun()
		var replayed []string
		last := uint64(0)
		for _, ev := range events {
			var r event.Reaction
			if err := again.Step(ev); err != nil {
				t.Fatal(err)
			}
			for again.Advance(3, &r) {
			}
			for _, c := range r.Commands {
				if a := c.Start; a != nil && a.Ticket > last {
					replayed = append(replayed, fmt.Sprint(a.Node, "#", a.Attempt, " ", a.Agent.Name))
					last = a.Ticket
				}
			}
		}
		if !slices.Equal(said, replayed) {
			t.Fatalf("the same events give\n%q, and gave\n%q", replayed, said)
		}
		if p.strategy == ir.RoundRobin && p.unbounded() {
			turns = append(turns, p.spread(t))
		}
	})
	t.Logf("%d choices, %d attempts went to another member after a refusal, %d stayed, %d asked anew; %d runs in turns", chosen, others, kept, newTurns, len(turns))
	if (chosen == 0 || others == 0 || kept == 0 || len(turns) == 0) && !testing.Short() { // a short run has few pools
		t.Error("too little happened")
	}
}
