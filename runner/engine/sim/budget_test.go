package sim_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// randomBudget bounds one thing or several. If there are people, it may ask them for more.
func randomBudget(r *rand.Rand, people bool) *ir.Budget {
	b := &ir.Budget{}
	which := 1 + r.IntN(7)
	for i, p := range []struct {
		to   **ir.Expr
		most float64
	}{{&b.Attempts, float64(1 + r.IntN(8))}, {&b.Tokens, float64(20 + r.IntN(200))}, {&b.CostUSD, 0.02 + r.Float64()/5}} {
		if which>>i&1 == 1 {
			*p.to = ir.Lit(p.most, value.NumberType)
		}
	}
	switch how := r.IntN(5); {
	case how == 0:
		b.OnExceed = ir.OnExceedWarn
	case how == 1 && people:
		b.OnExceed = ir.OnExceedAsk
	}
	return b
}

// spending is what a run was seen to use, by the paths of the nodes with budgets and "" for the run. It is counted from events and
// commands alone, and so is the same whatever died when.
type spending struct {
	w       *ir.Workflow
	given   *event.Bounds     // by the caller
	asks    *event.Asking     // of the caller's budgets
	tickets map[uint64]string // what has started and counts, by ticket; "" for holds, and for what has ended
	delayed map[string]bool   // nodes whose attempt waits for what is around it, counts, and comes again with another ticket
	called  map[string]string
	kept    map[string]int64 // attempts that called runs may still use
	lent    map[string]int64 // by run: how many of them
	early   map[string]int64 // by run: how many it used of them, once it has ended
	used    map[string]event.Bounds
	points  map[string]bool   // keys of the attempts at sync points, which count once
	syncs   map[uint64]string // their tickets
	refused int               // nodes that a budget kept from starting
}

func newSpending(w *ir.Workflow) *spending {
	return &spending{w: w, tickets: map[uint64]string{}, delayed: map[string]bool{}, called: map[string]string{}, kept: map[string]int64{}, lent: map[string]int64{}, early: map[string]int64{}, used: map[string]event.Bounds{},
		points: map[string]bool{}, syncs: map[uint64]string{}}
}

// around lists the paths of the budgets around a node, with the bounds that stop without asking anybody.
func (s *spending) around(path string) map[string][]event.Bounds {
	return s.aroundIf(path, func(b *ir.Budget) bool { return b.OnExceed == "" || b.OnExceed == ir.OnExceedStop })
}

// aroundIf lists the paths of the budgets around a node, with those bounds that count.
func (s *spending) aroundIf(path string, counts func(*ir.Budget) bool) map[string][]event.Bounds {
	out := map[string][]event.Bounds{}
	put := func(at string, b *ir.Budget) {
		if b != nil {
			most := event.Bounds{Tokens: number(b.Tokens), CostUSD: number(b.CostUSD), Attempts: int64(number(b.Attempts))}
			if !counts(b) {
				most = event.Bounds{}
			}
			out[at] = append(out[at], most)
		}
	}
	for end := 0; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		up := path[:end]
		if at := strings.LastIndexByte(up, '['); at > strings.LastIndexByte(up, '/') {
			up = up[:at]
		}
		if n := node(s.w.Nodes, up[strings.LastIndexByte(up, '/')+1:]); n != nil {
			put(up, n.Budget)
		}
	}
	if strings.HasPrefix(path, "last") {
		return out // finally
	}
	put("", s.w.Budget)
	if s.given != nil {
		out[""] = append(out[""], *s.given)
	}
	if s.asks != nil {
		most := event.Bounds{}
		if counts(&ir.Budget{OnExceed: ir.OnExceedAsk}) {
			most = s.asks.Left
		}
		out[""] = append(out[""], most)
	}
	return out
}

func number(e *ir.Expr) float64 {
	if e == nil {
		return 0
	}
	return e.Const.(float64)
}

// reached reports whether used has come to one of the bounds, give or take what sums lose.
func reached(used, most event.Bounds, slack float64) bool {
	return most.Attempts > 0 && used.Attempts >= most.Attempts || most.Tokens > 0 && used.Tokens >= most.Tokens+slack ||
		most.CostUSD > 0 && used.CostUSD >= most.CostUSD+slack
}

// within reports whether what a called run may use is no more than what is left.
func within(may *event.Bounds, left event.Bounds) bool {
	if may == nil {
		return left == event.Bounds{}
	}
	return (left.Attempts == 0 || may.Attempts > 0 && may.Attempts <= left.Attempts) &&
		(left.Tokens == 0 || may.Tokens > 0 && may.Tokens <= left.Tokens+1e-6) && (left.CostUSD == 0 || may.CostUSD > 0 && may.CostUSD <= left.CostUSD+1e-6)
}

func (s *spending) add(path string, more event.Bounds) {
	for at := range s.around(path) { // any order: each for itself
		u := s.used[at]
		s.used[at] = event.Bounds{Attempts: u.Attempts + more.Attempts, Tokens: u.Tokens + more.Tokens, CostUSD: u.CostUSD + more.CostUSD}
	}
}

func boundsOf(u *event.Usage) event.Bounds {
	if u == nil {
		return event.Bounds{}
	}
	return event.Bounds{Attempts: int64(u.Attempts), Tokens: float64(u.InputTokens + u.OutputTokens + u.OtherTokens), CostUSD: u.CostUSD}
}

// watch checks a batch. What an attempt may know when it starts is what was used before the batch at least.
func (s *spending) watch(c *simulation, run string, events []event.Event, r *event.Reaction) {
	if first := events[0].RunStarted; first != nil {
		*s = *newSpending(s.w)
		s.given, s.asks = first.Budget, first.Asks
	}
	for _, ev := range events {
		if f := ev.AttemptFinished; f != nil && f.Outcome == event.Refused && s.tickets[f.Ticket] != "" && s.syncs[f.Ticket] == "" {
			s.add(f.Node, event.Bounds{Attempts: -1})
		}
	}
	for _, t := range r.Transitions {
		if t.Reason == "it waits as long as the error asks" {
			s.add(t.Node, event.Bounds{Attempts: -1})
		}
	}
	before := maps.Clone(s.used)
	for _, ev := range events { // another start in this batch may have what a called run gave back
		if k := ev.ChildFinished; k != nil && s.lent[k.Run] > 0 {
			used := min(boundsOf(k.Usage).Attempts, s.lent[k.Run])
			s.add(s.called[k.Run], event.Bounds{Attempts: used})
			s.keep(&event.StartChild{Run: k.Run, Node: s.called[k.Run]}, -s.lent[k.Run])
			s.early[k.Run] = used
		}
	}
	seen := func(ticket uint64) bool { _, was := s.tickets[ticket]; return was }
	for _, cmd := range r.Commands {
		switch a, k := cmd.Start, cmd.StartChild; {
		case cmd.Cancel != nil && (s.tickets[cmd.Cancel.Ticket] != "" || !seen(cmd.Cancel.Ticket) && startsUnseen(r, cmd.Cancel)):
			if s.tickets[cmd.Cancel.Ticket] == "" {
				s.add(cmd.Cancel.Node, event.Bounds{Attempts: 1})
			}
			if cmd.Cancel.Reason == "the process that ran it died" || cmd.Cancel.Reason == "waits for what is around it" {
				delete(s.tickets, cmd.Cancel.Ticket)
				s.delayed[cmd.Cancel.Node] = cmd.Cancel.Reason != "the process that ran it died"
			}
		case a != nil && a.Kind == event.HoldAttempt:
			s.tickets[a.Ticket] = ""
		case a != nil && !tells(a):
			if _, again := s.tickets[a.Ticket]; again {
				continue
			}
			if s.delayed[a.Node] {
				s.tickets[a.Ticket] = a.Node
				delete(s.delayed, a.Node)
				continue
			}
			if a.Store != nil && a.Store.Sync != nil {
				if s.syncs[a.Ticket] = a.Key; s.points[a.Key] {
					s.tickets[a.Ticket] = a.Node
					continue
				}
				s.points[a.Key] = true
			}
			if !a.Compensate {
				s.starts(c, run, a.Node, before)
			}
			s.tickets[a.Ticket] = a.Node
			s.add(a.Node, event.Bounds{Attempts: 1})
		case cmd.Ask != nil && cmd.Ask.Kind == event.AskTask:
			s.starts(c, run, cmd.Ask.Node, before)
			s.add(cmd.Ask.Node, event.Bounds{Attempts: 1})
		case k != nil && s.called[k.Run] == "":
			s.called[k.Run] = k.Node
			if k.Budget != nil {
				s.keep(k, k.Budget.Attempts)
			}
			for at, list := range s.around(k.Node) { // any order: each for itself
				for _, most := range list {
					if reached(before[at], most, 1e-6) {
						c.t.Errorf("seed %d: %q calls %s within %q, which has used %+v of %+v", c.seed, run, k.Node, at, before[at], most)
					}
					left := most.Less(before[at])
					if most.Attempts > 0 && k.Budget != nil {
						left.Attempts = most.Attempts - s.used[at].Attempts - s.kept[at] + k.Budget.Attempts
					}
					if !within(k.Budget, left) {
						c.t.Errorf("seed %d: %q may use %+v, and %q has %+v left", c.seed, k.Node, k.Budget, at, left)
					}
				}
			}
		}
	}
	for _, ev := range events {
		switch f, k := ev.AttemptFinished, ev.ChildFinished; {
		case f != nil && s.tickets[f.Ticket] != "":
			more := boundsOf(f.Usage)
			more.Attempts = 0
			s.add(s.tickets[f.Ticket], more)
			s.tickets[f.Ticket] = ""
		case k != nil && s.called[k.Run] != "":
			more := boundsOf(k.Usage)
			more.Attempts -= s.early[k.Run]
			s.add(s.called[k.Run], more)
			s.called[k.Run] = "ended"
		}
	}
	for _, t := range r.Transitions {
		if t.To != event.FailedS || t.Result == nil || t.Result.Error == nil || t.Result.Error.Reason != event.ReasonBudget || t.Result.Error.Node != t.Node || t.Result.Reused {
			continue
		}
		s.refused++
		why := false
		for at, list := range s.aroundIf(t.Node, func(b *ir.Budget) bool { return b.OnExceed != ir.OnExceedWarn }) { // any order: one is enough
			why = why || slices.ContainsFunc(list, func(most event.Bounds) bool { return reached(s.used[at], most, -1e-6) })
		}
		if !why {
			c.t.Errorf("seed %d: %q failed for a budget, and none around it is spent: %+v", c.seed, t.Node, s.used)
		}
	}
}

// keep counts attempts that are kept for a called run, or given back.
func (s *spending) keep(k *event.StartChild, n int64) {
	s.lent[k.Run] += n
	for at := range s.around(k.Node) { // any order: each for itself
		s.kept[at] += n
	}
}

// starts checks that no budget around a node that starts an attempt is spent.
func (s *spending) starts(c *simulation, run, node string, before map[string]event.Bounds) {
	for at, list := range s.around(node) { // any order: each for itself
		for _, most := range list {
			u := before[at]
			u.Attempts = s.used[at].Attempts + s.kept[at]
			if reached(u, most, 1e-6) {
				c.t.Errorf("seed %d: %q starts %s within %q, which has used %+v of %+v", c.seed, run, node, at, u, most)
			}
		}
	}
}

// TestBudgetsAreSpent makes sure that budgets stop something in the simulation.
func TestBudgetsAreSpent(t *testing.T) {
	refused, given := 0, 0
	for seed := uint64(3); seed < 240 && (refused < 10 || given == 0); seed += 3 {
		c := newCase(t, seed)
		c.run(t, sim.Faults{})
		for _, s := range c.runs { // any order: a sum
			refused += s.spends.refused
			if s.spends.given != nil {
				given++
			}
		}
	}
	if refused < 10 || given == 0 {
		t.Errorf("%d nodes were refused, and %d called runs had a budget", refused, given)
	}
}
