package machine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// reads are programs in which each of n instances, children or ends reads something of all of them. %[1]d is n.
var reads = map[string]string{
	"join over output":             `step "a" { for_each = range(%[1]d) agent = agent.null with = each.value join = "result.output[0] == 'never' || done == total" }`,
	"join over the whole output":   `step "a" { for_each = range(%[1]d) agent = agent.null with = each.value join = "len(result.output) == 0 || done == total" }`,
	"join over output by key":      `step "a" { for_each = { for i in range(%[1]d) : "k${i}" => i } agent = agent.null with = each.value join = "result.output.k1 == 'never' || done == total" }`,
	"join over an instance":        `step "a" { for_each = range(%[1]d) agent = agent.null join = "result.instances[1].status == 'failed' || done == total" }`,
	"join over an instance by key": `step "a" { for_each = { for i in range(%[1]d) : "k${i}" => i } agent = agent.null join = "result.instances[\"k1\"].status == 'failed' || done == total" }`,
	"join over a member instance":  `step "a" { for_each = { for i in range(%[1]d) : "k${i}" => i } agent = agent.null join = "result.instances.k1.status == 'failed' || done == total" }`,
	"an instance":                  `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = step.a.instances[each.key].status }`,
	"an instance by key":           `step "a" { for_each = { for i in range(%[1]d) : "k${i}" => i } agent = agent.null } step "b" { for_each = { for i in range(%[1]d) : "k${i}" => i } agent = agent.null with = step.a.instances[each.key].status }`,
	"an instance in a false when":  `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null when = "step.a.instances[each.key].status == 'failed'" }`,
	"all instances":                `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = length(step.a.instances) }`,
	"instances of two":             `step "a" { for_each = range(%[1]d) agent = agent.null } step "c" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = length(step.a.instances) + length(step.c.instances) }`,
	"an instance that still runs":  `step "z" { agent = agent.null } step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { trigger_rule = "one_success" depends_on = [step.z] for_each = range(%[1]d) agent = agent.null with = try(step.a.instances[each.key].status, "") }`,
	"for_each over for_each":       `step "a" { for_each = range(%[1]d) agent = agent.null with = each.value } step "b" { for_each = step.a.output agent = agent.null with = each.value }`,
	"the last instance":            `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = step.a.instances[-1].status }`,
	"no such instance":             `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = try(step.a.instances[%[1]d].status, "none") }`,
	"join over the last output":    `step "a" { for_each = range(%[1]d) agent = agent.null with = each.value join = "result.output[-1] == 'never' || done == total" }`,
	"join of a group over output":  `parallel "p" { join = "result.output.a == 'never' || done == total" step "a" { agent = agent.null } step "b" { agent = agent.null } step "c" { agent = agent.null } } step "q" { depends_on = [step.p] for_each = range(%[1]d) agent = agent.null }`,
	"previous":                     `sequence "s" { step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = previous.instances[each.key].status } }`,
}

func init() {
	for _, a := range []string{"status", "exit_code", "stdout", "stderr", "error", "attempts", "duration", "started_at", "finished_at", "agent", "counts"} {
		reads["join over "+a] = `step "a" { for_each = range(%[1]d) agent = agent.null join = "(result.` + a + ` == nil) == (result.` + a + ` == nil) && done == total" }`
		reads[a+" of a for_each"] = `step "a" { for_each = range(%[1]d) agent = agent.null } step "b" { for_each = range(%[1]d) agent = agent.null with = step.a.` + a + ` }`
	}
}

// maxGrowth is how much more a node may allocate in a run of ten times as many.
const maxGrowth = 1.2

// TestReadsDoNotGrow counts what a run allocates, in bytes and in pieces, for each node of it: ten times as many nodes cost ten times
// as much. A read that builds a list of all of them, for each of them, costs a hundred times as much.
func TestReadsDoNotGrow(t *testing.T) {
	for name, body := range reads {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			const n = 100
			drive(t, readGraph(t, body, n)) // whatever is made once
			bytes, pieces := allocated(t, body, n)
			moreBytes, morePieces := allocated(t, body, 10*n)
			t.Logf("%.0f bytes in %.1f pieces a node, then %.0f in %.1f", bytes, pieces, moreBytes, morePieces)
			if moreBytes > maxGrowth*bytes || morePieces > maxGrowth*pieces {
				t.Errorf("a node of %d costs %.0f bytes in %.1f pieces, a node of %d costs %.0f in %.1f", n, bytes, pieces, 10*n, moreBytes, morePieces)
			}
		})
	}
}

// TestFailedNamesAreMadeOnce counts what reading run.failed allocates: not a list of all failed nodes each time.
func TestFailedNamesAreMadeOnce(t *testing.T) {
	cost := func(n int) float64 {
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, " step \"s%d\" {\nfail {}\n}\n", i)
		}
		fmt.Fprintf(&body, "finally {\nstep \"f\" {\nfor_each = range(%d)\nwith = run.failed[0]\nagent = agent.null\n}\n}\n", n)
		g := readGraph(t, body.String()+"# %d", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answers(t, g, &twice{Evaluator: expr.NewEvaluator(ir.NewestRules()), t: t}, func(uint64) bool { return false })
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	if few, many := cost(200), cost(2000); many > maxGrowth*few {
		t.Errorf("a node of 200 costs %.0f bytes, a node of 2000 costs %.0f", few, many)
	}
}

func allocated(t *testing.T, body string, n int) (bytes, pieces float64) {
	t.Helper()
	g := readGraph(t, body, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	drive(t, g)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n)
}

// twice evaluates each expression a second time on a scope without single members, which must make no difference.
type twice struct {
	*expr.Evaluator
	t     *testing.T
	reads int
	sum   float64 // of the outputs of all attempts so far
}

type wholes struct{ scope ir.Scope }

func (w wholes) Lookup(r ir.Ref) (value.Value, error) { return w.scope.Lookup(r) }

func (e *twice) Eval(x *ir.Expr, s ir.Scope) (value.Value, error) {
	v, err := e.Evaluator.Eval(x, s)
	w, err2 := e.Evaluator.Eval(x, wholes{s})
	if !value.Equal(v, w) || fmt.Sprint(err) != fmt.Sprint(err2) {
		e.t.Errorf("%s gives %v (%v), and without single members %v (%v)", x.Text, v, err, w, err2)
	}
	if strings.Contains(x.Text, "result.output") {
		all, _ := s.Lookup(ir.Ref{Root: "result", Name: "output"})
		if sum := sumOf(all); sum != e.sum {
			e.t.Errorf("%s: the outputs so far are %v, their sum is not %v", x.Text, all, e.sum)
		}
	}
	if strings.Contains(x.Text, "instances") || strings.Contains(x.Text, "output") {
		e.reads++
	}
	return v, err
}

// TestSingleMembersAreThoseOfTheWhole reads members of lists and objects in every state of a run in which some instances fail.
func TestSingleMembersAreThoseOfTheWhole(t *testing.T) {
	total := 0
	for _, body := range reads {
		if !strings.Contains(body, "instances") && !strings.Contains(body, "output") {
			continue
		}
		body = strings.ReplaceAll(body, "agent = agent.null", `agent = agent.null on_error = "continue"`)
		e := &twice{Evaluator: expr.NewEvaluator(ir.NewestRules()), t: t}
		answers(t, readGraph(t, body, 20), e, func(n uint64) bool { return n%7 == 2 })
		total += e.reads
	}
	if total < 200 {
		t.Errorf("%d reads in all", total)
	}
}

func sumOf(v value.Value) (sum float64) {
	switch v := v.(type) {
	case float64:
		return v
	case []any:
		for _, e := range v {
			sum += sumOf(e)
		}
	case map[string]any:
		for _, e := range v {
			sum += sumOf(e)
		}
	}
	return sum
}

// BenchmarkReads is what TestReadsDoNotGrow counts, in time.
func BenchmarkReads(b *testing.B) {
	for _, name := range []string{"join over output", "an instance"} {
		for _, n := range []int{2000, 20_000} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				g := readGraph(b, reads[name], n)
				b.ResetTimer()
				for range b.N {
					drive(b, g)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/instance")
			})
		}
	}
}

// answers drives a run to its end. Attempts give their number as output, and those that fails names fail.
func answers(t *testing.T, g *plan.Graph, eval *twice, fails func(uint64) bool) {
	t.Helper()
	fold := engine.NewFold(journal.Header{Run: "r"}, machine.New(g, eval, ir.NewestRules()))
	events := []event.Event{{RunStarted: &event.RunStarted{Run: "r", Workflow: "w", Parallel: 1}}}
	for r := (event.Reaction{}); len(events) > 0; {
		if _, err := fold.Feed(epoch, events, &r); err != nil {
			t.Fatal(err)
		}
		events = nil
		for _, c := range r.Commands {
			if c.Start == nil {
				continue
			}
			f := &event.AttemptFinished{Ticket: c.Start.Ticket, Node: c.Start.Node, Attempt: c.Start.Attempt, Outcome: event.OK, Output: float64(c.Start.Ticket)}
			if fails(c.Start.Ticket) {
				f.Outcome, f.Output, f.Error = event.Failed, nil, &event.Error{Kind: event.Fatal, Reason: event.ReasonAgent, Message: "no", ExitCode: -1}
			} else {
				eval.sum += float64(c.Start.Ticket)
			}
			events = append(events, event.Event{AttemptFinished: f})
		}
	}
	if fold.End() == nil {
		t.Fatal("the run has not ended")
	}
}

func readGraph(tb testing.TB, body string, n int) *plan.Graph {
	tb.Helper()
	src := "agent \"null\" { type = \"null\" }\nworkflow \"w\" {\n" + attributesApart(fmt.Sprintf(body, n)) + "\n}\n"
	p, err := load(src)
	if err != nil {
		tb.Fatalf("%s\n%v", src, err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// attributesApart writes each attribute of a body on a line of its own.
func attributesApart(body string) string {
	for _, word := range []string{"step", "sequence", "parallel"} {
		body = strings.ReplaceAll(body, " "+word+" \"", "\n"+word+" \"")
	}
	for _, attr := range []string{"for_each", "agent", "with", "join", "when", "trigger_rule", "depends_on", "on_error"} {
		body = strings.ReplaceAll(body, " "+attr+" = ", "\n"+attr+" = ")
	}
	return strings.ReplaceAll(body, " }", "\n}")
}
