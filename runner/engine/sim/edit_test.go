package sim_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/reuse"
	"github.com/flowrun/flowrun/runner/view"
)

var edits = flag.Int("sim.edits", 25, "how many random programs to edit")

// TestEdits runs random programs, edits them at random, and compares what the run of the edited program reuses with a run of the edited
// program that knows nothing of the first one, in a world in which the answer to a request depends on the request alone:
//
//  1. what is reused ends so in the fresh run, too, and each of its requests there was made in the first run;
//  2. what ends well in both runs, with requests that were all made in the first run, as all that it waits for does, is reused;
//  3. the run that reuses it starts nothing again of what it reuses, and ends as the fresh run.
func TestEdits(t *testing.T) {
	var all edited
	for seed := *from; seed < *from+uint64(*edits); seed++ {
		if *seed1 != 0 {
			seed = *seed1
		}
		all.one(t, seed)
		if t.Failed() {
			t.Fatalf("repeat with: go test ./runner/engine/sim -run TestEdits -sim.seed=%d -v", seed)
		}
		if *seed1 != 0 {
			return
		}
	}
	t.Logf("%d edits: %d results of %d steps and repeats are reused, %d run again; %d had to be reused; %d runs end as the fresh ones", all.edits, all.reused, all.pieces, all.again, all.due, all.ends)
	if all.reused < all.edits || all.again < all.edits || all.due < all.edits/2 || all.ends < all.edits/2 {
		t.Error("too little is reused, or runs again: the test looks at nothing")
	}
}

type edited struct{ edits, pieces, reused, again, due, ends int }

// played is a run in the world of the test.
type played struct {
	first    event.RunStarted
	graph    *plan.Graph
	view     *view.Run
	world    *replay.World
	requests map[string][]string // by node, without what is a number
	started  map[string]bool
	due      map[string]bool
}

func (e *edited) one(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 77))
	source, before := drawProgram(t, seed)
	text, after := "", (*ir.Program)(nil)
	for after == nil {
		text = edit(r, source)
		if p, diags := loadText(text); !diags && text != source {
			after = p
		}
	}
	if *seed1 != 0 {
		t.Logf("before:\n%s\nafter:\n%s", source, text)
	}
	runs := map[string]*played{}
	first := event.RunStarted{Run: root, Workflow: "w", Dir: "/"}
	old, err := play(before, first, runs)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	fresh, err := play(after, first, map[string]*played{})
	if err != nil {
		t.Fatalf("seed %d: the edited program: %v", seed, err)
	}
	got, err := reuse.Of(reuse.Store{
		Past: func(run string) (*reuse.Past, error) {
			p := runs[run]
			if p == nil {
				return nil, errors.New("there is no such run")
			}
			return p.past(), nil
		},
		Machine: func(p *ir.Program, workflow string) (replay.Machine, error) {
			g, err := plan.Build(p, workflow)
			if err != nil {
				return nil, err
			}
			return machine.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), ir.NewestRules()), nil
		},
	}, old.past(), after, first, retry.Wish{})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if *seed1 != 0 {
		for i := range got.Again {
			t.Logf("again: %+v", got.Again[i])
		}
		for path, k := range got.Kept.Reused { // any order: for people
			t.Logf("reused: %s %+v", path, k)
		}
	}
	e.edits, e.reused, e.again = e.edits+1, e.reused+len(got.Reused), e.again+len(got.Again)
	same := map[string]bool{}
	fresh.view.Each(func(n *view.Node, _ int) {
		if fresh.isPiece(n) {
			e.pieces++
			same[n.Path] = sameWork(old, fresh, n.Path)
		}
	})
	for path, k := range got.Kept.Reused { // any order: each for itself
		is := fresh.view.Node(path)
		switch {
		case is == nil && fresh.loose(path):
		case is == nil, is.Status != k.Status:
			t.Errorf("seed %d: %s is reused as %s, and is %+v in a fresh run", seed, path, k.Status, is)
		case fresh.isPiece(is) && !same[path] && !computedStep(fresh, path):
			t.Errorf("seed %d: %s is reused, and a fresh run asks for\n%s\nand not for\n%s", seed, path, strings.Join(fresh.below(path), "\n"), strings.Join(old.below(path), "\n"))
		case k.Status == event.Succeeded && fresh.isPiece(is) && !value.Equal(is.Result.Output, k.Output):
			t.Errorf("seed %d: %s is reused with the output %v, and has %v in a fresh run", seed, path, k.Output, is.Result.Output)
		}
	}
	for path, ok := range same { // any order: each for itself
		if ok && fresh.view.Node(path).Status == event.Succeeded && old.ended(path) == event.Succeeded && fresh.dueToo(old, same, path) {
			e.due++
			if got.Kept.Reused[path] == nil && !computedStep(fresh, path) {
				t.Errorf("seed %d: %s is not reused: %+v", seed, path, got.Again)
			}
		}
	}
	if t.Failed() {
		return
	}
	third := first
	third.Run, third.RetryOf, third.Reused = again, root, got.Kept.Reused
	next, err := play(after, third, map[string]*played{})
	if err != nil {
		t.Fatalf("seed %d: the run that reuses: %v", seed, err)
	}
	for _, path := range got.Reused {
		if next.started[path] {
			t.Errorf("seed %d: %s is reused and was started", seed, path)
		}
	}
	if a, b := next.end(), fresh.end(); a != b && !hasTimes(text) {
		t.Errorf("seed %d: the run that reuses ends as\n%s\nand a fresh one as\n%s", seed, a, b)
	} else {
		e.ends++
	}
}

// drawProgram draws a program that loads.
func drawProgram(t *testing.T, seed uint64) (string, *ir.Program) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		// decisions of people are tested beside package reuse
		text := randomProgram(r, rand.New(rand.NewPCG(seed, 2)), nil, nil, 1+r.IntN(16), false, false)
		if p, bad := loadText(text); !bad {
			return text, p
		}
	}
	t.Fatalf("seed %d gives no program", seed)
	return "", nil
}

func loadText(text string) (*ir.Program, bool) {
	p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(text)}}, "w.flow.hcl", dsl.Options{})
	if diags.HasErrors() {
		return nil, true
	}
	return p.IR, false
}

// hasTimes reports whether outputs of a program depend on when things happen, or on the id of the run.
func hasTimes(text string) bool {
	return strings.Contains(text, "run.id") || strings.Contains(text, "one_success") || strings.Contains(text, "one_failed")
}

func (p *played) past() *reuse.Past {
	return &reuse.Past{Graph: p.graph, First: &p.first, View: p.view, World: p.world}
}

// isPiece reports whether a node is one piece: a step, an instance of one, or a repeat.
func (p *played) isPiece(n *view.Node) bool {
	if p.graph.Number(n.Name) == plan.None {
		return false // an iteration
	}
	g := &p.graph.Nodes[p.graph.Number(n.Name)]
	if n.Iteration() > 0 || len(p.graph.Finally) > 0 && g.Number >= p.graph.Finally[0] || g.Body != plan.None && !strings.HasSuffix(n.Path, "]") {
		return false
	}
	for up := g.Parent; up != plan.None; up = p.graph.Nodes[up].Parent {
		if p.graph.Nodes[up].Loop != plan.None {
			return false
		}
	}
	return g.Kind == ir.Step || g.Loop != plan.None
}

// loose reports whether a node lies in a group whose join may have enough without it.
func (p *played) loose(path string) bool {
	for up := view.Parent(path); up != ""; up = view.Parent(up) {
		if n := p.graph.Number(view.Base(up)); n != plan.None && p.graph.Nodes[n].Joins() {
			return true
		}
	}
	return false
}

// below are the requests of a node and of those in it, and of what it calls.
func (p *played) below(path string) (out []string) {
	for node, list := range p.requests { // any order: it is sorted
		if node == path || strings.HasPrefix(node, path+"/") {
			out = append(out, list...)
		}
	}
	slices.Sort(out)
	return out
}

// sameWork reports whether a node of both runs was not undone, and asked in the fresh one for nothing that it did not ask for in the first.
func sameWork(old, fresh *played, path string) bool {
	a, b := old.view.Node(path), fresh.view.Node(path)
	if len(fresh.below(path)) == 0 {
		return true
	}
	if a == nil || a.Compensation != nil || b.Compensation != nil {
		return false
	}
	then := old.below(path)
	for _, r := range fresh.below(path) {
		at := slices.Index(then, r)
		if at < 0 {
			return false
		}
		then = slices.Delete(then, at, at+1)
	}
	return true
}

// ended is how a node ended; "" if the run has no such node.
func (p *played) ended(path string) event.Status {
	if n := p.view.Node(path); n != nil {
		return n.Status
	}
	return ""
}

func computedStep(p *played, path string) bool {
	g := &p.graph.Nodes[p.graph.Number(view.Base(path))]
	return g.Kind == ir.Step && g.Loop == plan.None && g.Action.Kind().Course() == ir.Computed
}

// dueToo reports whether all that a node waits for did the same in both runs, and is reused for sure.
func (p *played) dueToo(old *played, same map[string]bool, path string) bool {
	if v, known := p.due[path]; known {
		return v
	}
	p.due[path] = p.isDue(old, same, path)
	return p.due[path]
}

func (p *played) isDue(old *played, same map[string]bool, path string) bool {
	for up := path; up != ""; up = view.Parent(up) {
		number := p.graph.Number(view.Base(up))
		if number == plan.None {
			continue
		}
		g := &p.graph.Nodes[number]
		if g.Joins() && up != path || g.TriggerRule != "" {
			return false
		}
		awaits := slices.Clone(g.Awaits)
		if up == path { // what lies in a repeat waits, too
			for i := range p.graph.Nodes {
				for in := i; in != plan.None; in = p.graph.Nodes[in].Parent {
					if in == number {
						awaits = append(awaits, p.graph.Nodes[i].Awaits...)
					}
				}
			}
		}
		for _, a := range awaits {
			if inside(p.graph, a.Node, number) {
				continue
			}
			name, ok := p.graph.Nodes[a.Node].Name, true
			if len(p.graph.Nodes[a.Node].Gates) > 0 && p.graph.Nodes[a.Node].Kind != ir.Step {
				return false // whether a group ends well depends on its gates, too
			}
			p.view.Each(func(n *view.Node, _ int) {
				if view.IsAbout(n.Path, name) && !inLoop(p, n) {
					ok = ok && (n.Status == event.Succeeded || n.Status == event.Skipped) &&
						(!p.isPiece(n) || same[n.Path] && old.ended(n.Path) == n.Status) && p.dueToo(old, same, n.Path)
				}
			})
			if !ok {
				return false
			}
		}
	}
	return true
}

// inside reports whether a node lies in another one.
func inside(g *plan.Graph, n, in int) bool {
	for ; n != plan.None; n = g.Nodes[n].Parent {
		if n == in {
			return true
		}
	}
	return false
}

func inLoop(p *played, n *view.Node) bool {
	if p.graph.Number(n.Name) == plan.None {
		return true
	}
	g := &p.graph.Nodes[p.graph.Number(n.Name)]
	for up := g.Parent; up != plan.None; up = p.graph.Nodes[up].Parent {
		if p.graph.Nodes[up].Loop != plan.None {
			return true
		}
	}
	return false
}

// end is how a run and its nodes ended.
func (p *played) end() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", p.view.Status, value.Append(nil, map[string]any(p.view.Outputs)))
	if *seed1 != 0 {
		p.view.Each(func(n *view.Node, _ int) { fmt.Fprintf(&b, "%s %s (%s) %+v\n", n.Path, n.Status, n.Reason, n.Result) })
	}
	return b.String()
}

// moment is an event of the world to come.
type moment struct {
	at    event.Time
	order int
	event event.Event
}

// Before implements heap.Heap.
func (m moment) Before(o moment) bool { return m.at < o.at || m.at == o.at && m.order < o.order }

// play runs a program in a world in which the answer to a request depends on the request alone. Nothing else happens in it.
func play(p *ir.Program, first event.RunStarted, runs map[string]*played) (*played, error) {
	g, err := plan.Build(p, first.Workflow)
	if err != nil {
		return nil, err
	}
	out := &played{first: first, graph: g, view: view.New(g.Workflow), world: replay.NewWorld(), requests: map[string][]string{}, started: map[string]bool{}, due: map[string]bool{}}
	out.view.Forget()
	runs[first.Run] = out
	m := machine.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), ir.NewestRules())
	var queue heap.Heap[moment]
	placed, now := 0, event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	put := func(at event.Time, ev event.Event) {
		placed++
		queue.Push(moment{at, placed, ev})
	}
	put(now, event.Event{RunStarted: &first})
	timers, seq := map[uint64]bool{}, uint64(0)
	for len(queue) > 0 && !out.view.Status.Terminal() {
		next := queue.Pop()
		if x := next.event.TimerFired; x != nil && !timers[x.Timer] {
			continue
		}
		ev := next.event
		now, seq = max(now, next.at), seq+1
		if ev.Seq, ev.At = seq, now; seq > 20_000 {
			return nil, errors.New("it does not end")
		}
		if err := m.Step(ev); err != nil {
			return nil, err
		}
		var r event.Reaction
		for m.Advance(1000, &r) {
		}
		out.view.Apply([]event.Event{ev}, &r)
		out.world.Learn(ev, r.Commands)
		for i := range r.Commands {
			switch c := &r.Commands[i]; {
			case c.Start != nil:
				f, took := reply(c.Start)
				out.note(c.Start.Node, c.Start)
				f.StartedAt = now
				put(now.Add(took), event.Event{AttemptFinished: f})
			case c.StartChild != nil:
				child := event.RunStarted{Run: c.StartChild.Run, Workflow: c.StartChild.Workflow, Inputs: c.StartChild.Inputs, Dir: first.Dir, Parent: first.Run, Depth: first.Depth + 1}
				made, err := play(p, child, runs)
				if err != nil {
					return nil, err
				}
				out.note(c.StartChild.Node, c.StartChild)
				for _, node := range value.Keys(asAny(made.requests)) {
					out.requests[c.StartChild.Node] = append(out.requests[c.StartChild.Node], made.requests[node]...)
				}
				f := engine.Finished(*c.StartChild, event.End{Status: made.view.Status, Outputs: made.view.Outputs, Error: made.view.Error, Usage: made.view.Usage})
				put(now.Add(made.view.FinishedAt.Sub(made.view.StartedAt)), event.Event{ChildFinished: &f})
			case c.SetTimer != nil:
				timers[c.SetTimer.Timer] = true
				if c.SetTimer.Purpose == event.TimerWait { // no edit changes how long a step waits
					out.note(c.SetTimer.Node, map[string]any{"node": c.SetTimer.Node, "wait": true})
				}
				put(c.SetTimer.Due, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
			case c.CancelTimer != nil:
				delete(timers, c.CancelTimer.Timer)
			case c.Ask != nil:
				who := c.Ask.Approvers
				if len(who) == 0 {
					who = []string{"somebody"}
				}
				for _, by := range who {
					d := event.Decision{Ask: c.Ask.Number, Shown: c.Ask.Shown, Word: c.Ask.Words[0], By: by, Comment: "fine"}
					put(now.Add(time.Second), event.Event{External: &event.External{Kind: event.ExternalDecision, Node: c.Ask.Node, Data: d.Data()}})
				}
			}
		}
	}
	if !out.view.Status.Terminal() {
		return nil, fmt.Errorf("run %s waits for nothing and is %s", first.Run, out.view.Status)
	}
	return out, nil
}

func asAny(m map[string][]string) map[string]any {
	out := map[string]any{}
	for k := range m { // any order: it fills a map
		out[k] = nil
	}
	return out
}

// note keeps a request without what the machine numbers, and without who of equal agents has it.
func (p *played) note(node string, request any) {
	p.started[node] = true
	p.requests[node] = append(p.requests[node], plainRequest(request))
}

func plainRequest(request any) string {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err) // plain data
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		panic(err)
	}
	for _, name := range []string{"ticket", "key", "run", "base", "admission", "budget", "held", "cause"} {
		delete(m, name)
	}
	if a, ok := m["agent"].(map[string]any); ok {
		delete(a, "name")
		delete(a, "capabilities")
	}
	if store, is := m["store"].(map[string]any); is {
		forgetRun(store["dispatch"])
	}
	text, err = json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// forgetRun removes what the document of a hand-over and its message say of the run and the time: no edit changes them.
func forgetRun(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"run", "at", "by", "key"} {
			delete(v, name)
		}
		for _, member := range v { // any order: each for itself
			forgetRun(member)
		}
	case []any:
		for _, member := range v {
			forgetRun(member)
		}
	}
}

// reply is the answer to an attempt, and how long it takes: both are drawn from the request, and the time from the node alone.
func reply(a *event.Attempt) (*event.AttemptFinished, time.Duration) {
	h := fnv.New64a()
	fmt.Fprint(h, plainRequest(a))
	dice := h.Sum64() >> 20
	f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK}
	said := fmt.Sprintf("%x", dice%1000)
	zero := 0
	switch {
	case a.Kind == event.HoldAttempt:
		return f, 0
	case dice%100 >= 80 && !a.Compensate:
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
	case a.HTTP != nil:
		f.Output = map[string]any{"status": 200.0, "headers": map[string]any{}, "body": said}
	case a.Remember != nil:
		f.Output = map[string]any{"id": said, "known": false}
	case a.Recall != nil:
		f.Output = map[string]any{"count": 0.0, "items": []any{}, "text": said}
	case a.Agent != nil && a.Gate != "":
		f.Output = map[string]any{"findings": []any{}}
	case a.Agent != nil:
		f.Output = a.Agent.With
	case a.Store != nil:
	default:
		f.Stdout, f.ExitCode = said+"\n", &zero
	}
	when := fnv.New64a()
	fmt.Fprint(when, a.Node, a.Gate, a.Attempt)
	return f, time.Duration(when.Sum64()>>20%30_000) * time.Millisecond
}

// edit changes a program in one to three places.
func edit(r *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	for n := 1 + r.IntN(3); n > 0; n-- {
		lines = editOnce(r, lines)
	}
	return strings.Join(lines, "\n")
}

var numeral = regexp.MustCompile(`\b[0-9]+\b`)

func editOnce(r *rand.Rand, lines []string) []string {
	pick := func(word string) int {
		var at []int
		for i, l := range lines {
			if strings.Contains(l, word) {
				at = append(at, i)
			}
		}
		if at == nil {
			return -1
		}
		return at[r.IntN(len(at))]
	}
	change := func(word, from, to string) {
		if i := pick(word); i >= 0 {
			lines[i] = strings.Replace(lines[i], from, to, 1)
		}
	}
	switch r.IntN(10) {
	case 0, 1:
		change(`run = ["do"`, `"do"`, `"do", "more"`)
	case 2:
		change("with  = { a =", "{ a =", `{ b = "more", a =`)
	case 3:
		change(`["x", "y", "z"]`, `"z"`, `"z", "w"`)
	case 4: // a step less, or a group
		if i := pick(`step "n`); i >= 0 {
			depth := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
			end := i
			for end < len(lines) && lines[end] != strings.Repeat(" ", depth)+"}" {
				end++
			}
			if end < len(lines) {
				lines = slices.Delete(lines, i, end+1)
			}
		}
	case 5: // a step more
		if i := pick(`workflow "w"`); i >= 0 {
			lines = slices.Insert(lines, i+1, `  step "new`+fmt.Sprint(r.IntN(1000))+`" { run = ["new"] }`)
		}
	case 6:
		change("value = { a =", "{ a =", `{ c = 1, a =`)
	case 7: // another number
		if i := pick("max"); i >= 0 {
			lines[i] = numeral.ReplaceAllStringFunc(lines[i], func(string) string { return fmt.Sprint(1 + r.IntN(5)) })
		}
	case 8:
		change("depends_on", "depends_on", "# depends_on")
	case 9: // the judge, or the members of the pool: which of them has a task is chance, so they stay equal
		judge, of := r.IntN(2) == 0, ""
		for i, l := range lines {
			if strings.HasPrefix(l, "agent ") {
				of = l
			}
			if strings.Contains(l, `command = ["echo"]`) && strings.Contains(of, "judge") == judge {
				lines[i] = strings.Replace(l, `"echo"`, `"echo", "-n"`, 1)
			}
		}
	}
	return lines
}
