// Package flowtest carries out the tests of test files: a run of a workflow in virtual time, with stubs in place of all that the run
// would start.
//
// [Run] drives the real machine on the host engine/sim. The executors of that host are the stubs of the test (stub.go). What the run did is
// recorded from what the host shows (record.go), and the conditions of the test read the record and the machine (names.go).
//
// The package starts no program, opens no connection, reads no file and no clock: two runs of a test give the same result, byte for byte.
// It knows test files as ir.Test alone. It must never import the checker, an executor that starts anything, or a command.
package flowtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	loop "github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// ErrTooLong is the cause of a test that took too much real time. Whoever gives Run a context that ends uses it.
var ErrTooLong = errors.New("the test took too long")

// Program is a program that tests run. Its tests share it, one after the other.
type Program struct {
	*ir.Program
	definition []byte
	hash       string
	graphs     map[string]*plan.Graph
	eval       *expr.Evaluator // of the expressions of the program
}

// NewProgram prepares a program for its tests.
func NewProgram(p *ir.Program) *Program {
	definition := p.Canonical()
	return &Program{Program: p, definition: definition, hash: ir.Hash(definition), graphs: map[string]*plan.Graph{}, eval: expr.NewEvaluator(ir.NewestRules(), p.Files)}
}

func (p *Program) graph(workflow string) (*plan.Graph, error) {
	if g := p.graphs[workflow]; g != nil {
		return g, nil
	}
	g, err := plan.Build(p.Program, workflow)
	if err == nil {
		p.graphs[workflow] = g
	}
	return g, err
}

// FailureKind says what went wrong in a test.
type FailureKind string

// The kinds of failures.
const (
	Unmet    FailureKind = "unmet"     // a condition does not hold
	Unasked  FailureKind = "not_asked" // a condition was not asked, because the test ended before
	NoStub   FailureKind = "no_stub"   // an attempt has no stub
	BadReply FailureKind = "bad_reply" // a reply could not be computed
	Broken   FailureKind = "broken"    // the run could not go on
	Differs  FailureKind = "differs"   // with a crash the run ends otherwise
	Unheard  FailureKind = "unheard"   // nothing took notice of what the test let happen
)

// Failure is one reason why a test failed.
type Failure struct {
	Kind FailureKind
	At   ir.Place
	// Text is the condition as it is written, the path of the node without a stub, or what went wrong.
	Text string
	// Unmet are the operands of && that do not hold, where the condition has some at its top. Values are the names that the condition
	// reads. Message says why it could not be computed, or was not asked; "": the test ended before.
	Unmet   []string
	Values  []expr.Reading
	Message string
	// After is the virtual time since the start.
	After time.Duration
	// Block is the block to paste where a stub is missing.
	Block string
}

// Result is what a test came to.
type Result struct {
	Test     *ir.Test
	Failures []Failure // none: it passed
	// Leftover are the stubs that nobody asked, and those whose replies were not all given.
	Leftover []Leftover
	Status   event.Status  // of the run; of several, of the first one in file order that did not succeed
	Runs     []RunEnd      // that blocks of the test started, in order of their starts
	Elapsed  time.Duration // virtual
	Events   uint64        // of all runs
	Path     []string      // the paths of nodes in order of their starts
	Timeline []Line
	// Hints are what a test that failed says about people: their questions that no block decide answers, and the decisions that
	// were refused.
	Hints []Hint
	// Reached are the points of the workflows that the runs reached.
	Reached map[Point]bool
	// Crashes is how many runs with a crash ended like the run without one.
	Crashes int
}

// Passed reports whether all conditions held.
func (r *Result) Passed() bool { return len(r.Failures) == 0 }

// RunEnd is how a run of a test with several runs stands in the end.
type RunEnd struct {
	Label, Workflow string // Label is "" for the run without one
	Status          event.Status
	Started, Ended  time.Duration // since the start of the test; -1: not yet
}

// Hint is a remark on a test that failed.
type Hint struct {
	Text  string
	Block string // what to put into the test; "" if nothing
}

// Leftover is a stub that was asked less often than it has replies.
type Leftover struct {
	Kind    ir.StubKind
	Name    string
	At      ir.Place
	Asked   int // how many attempts it answered
	Replies int
}

// errStop ends a drive whose time is over.
var errStop = errors.New("the time of the test is over")

// test is one test under way.
type test struct {
	*ir.Test
	program  *Program
	store    *sim.Store
	host     *sim.Engine
	start    event.Time
	launched []*seen          // the runs that the test started, in order
	labels   map[string]*seen // the same by label
	driven   bool             // DriveAll is at work
	eval     *expr.Evaluator
	machines map[string]*machine.Machine // the newest of each run
	loops    map[string]*loop.Machine    // likewise of loops
	*record
	stubs    []*stub
	answered map[string]*given           // by the key of an attempt: what it was last answered
	keys     map[ticketKey]string        // the keys of attempts
	secrets  map[string]*secret.Executor // by the run of the test
	took     time.Duration               // how long the attempt at hand takes
	told     []any                       // the messages that were sent
	failures []Failure
	missing  map[string]bool // nodes and gates whose stub is missing, and that were told
	asked    map[ir.Place]bool
	coming   []ir.Moment                // in order of time, as far as they have not happened
	asks     map[string]map[uint64]bool // those that were seen, by run
	shows    map[string][]string        // what a node has shown, by run and path without iterations
	decides  []ir.Moment                // as far as their nodes have not waited yet
	open     []Hint                     // questions that no block decide answers
	due      int                        // decisions that are still to happen
	crashed  int                        // how often the driver died
	own      int                        // how many of these deaths the test asked for
	down     time.Duration              // how long there is no driver after a crash
	endAlone bool                       // nothing but the end counts: conditions and the timeline are for the test without a crash
	injected []injected                 // that somebody has to hear
	// deliveries counts those to webhooks.
	deliveries int
	// delivered are the events, by id, that a block on was asked about, and triggered counts the runs that events started, by workflow.
	delivered map[string]bool
	triggered map[string]int
	// sources are what the sources of the loops hold, by name, and askedSources counts how often each was asked for its items.
	sources      map[string][]*held
	lists        map[string]string // the texts of the files that sources read
	askedSources map[askedSource]int
	// Of a rehearsal: draw answers attempts in place of stubs, settle what people are asked, and begin starts the run.
	draw     Draw
	settle   Settle
	rehearse func(ctx context.Context) error
	// Of a test that is followed: id goes into the ids of runs.
	id    string
	trace *Trace
}

// Run carries out a test. An error of ctx ends it, and its cause is told as a failure.
func Run(ctx context.Context, p *Program, spec *ir.Test) *Result {
	t := newTest(p, spec)
	if err := t.drive(ctx, 0); err != nil {
		t.fail(Failure{Kind: Broken, At: spec.At, Text: sentence(err), After: t.elapsed()})
	}
	crashes := 0
	if spec.CrashEverywhere && len(t.failures) == 0 {
		crashes = t.crashEverywhere(ctx)
	}
	r := t.result()
	r.Crashes = crashes
	return r
}

func newTest(p *Program, spec *ir.Test) *test {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(spec.Name))
	t := &test{Test: spec, program: p, store: sim.NewStore(seed.Sum64()), start: event.At(spec.StartAt), machines: map[string]*machine.Machine{}, loops: map[string]*loop.Machine{},
		labels: map[string]*seen{}, secrets: map[string]*secret.Executor{},
		eval: expr.NewEvaluator(ir.NewestRules(), spec.Files), answered: map[string]*given{}, keys: map[ticketKey]string{}, missing: map[string]bool{}, asked: map[ir.Place]bool{}, told: []any{}, delivered: map[string]bool{}, triggered: map[string]int{}}
	t.record = newRecord(p.Program, t.start)
	t.store.Pass(t.start.Sub(sim.Epoch))
	for i := range spec.Stubs {
		t.stubs = append(t.stubs, &stub{Stub: &spec.Stubs[i]})
	}
	for _, m := range spec.Moments {
		if m.Kind == ir.DecideMoment {
			t.decides = append(t.decides, m)
		} else {
			t.coming = append(t.coming, m)
		}
	}
	slices.SortStableFunc(t.coming, func(a, b ir.Moment) int { return cmp.Compare(a.After, b.After) })
	return t
}

func sentence(err error) string {
	switch {
	case errors.Is(err, sim.ErrStuck):
		return "the run waits for something that never comes"
	case errors.Is(err, ErrTooLong):
		return ErrTooLong.Error()
	}
	return strings.TrimPrefix(err.Error(), "sim: ")
}

func (t *test) fail(f Failure) { t.failures = append(t.failures, f) }

func (t *test) elapsed() time.Duration {
	took := t.store.Now().Sub(t.start)
	if t.hasRoutines() || len(t.Loops) > 0 && t.RunFor > 0 {
		return min(took, t.RunFor)
	}
	return took
}

// variables are the sensitive values of the program.
func (t *test) variables() map[string]value.Value {
	secrets := map[string]value.Value{}
	for _, d := range t.program.Variables {
		if d.Sensitive {
			secrets["var."+d.Name] = t.Vars[d.Name]
		}
	}
	return secrets
}

// sensitive are the values of a run that no journal has, by the names under which they are read.
func (t *test) sensitive(workflow string, inputs map[string]value.Value) map[string]value.Value {
	secrets := t.variables()
	for _, d := range t.program.Workflow(workflow).Inputs {
		if d.Sensitive {
			secrets["input."+d.Name] = inputs[d.Name]
		}
	}
	return secrets
}

// open leaves out what is sensitive.
func open(decls []ir.Variable, values map[string]value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for _, d := range decls {
		if v, there := values[d.Name]; there && !d.Sensitive {
			out[d.Name] = v
		}
	}
	return out
}

// seals are the marks of sensitive values in the journal. They tell nothing: no journal of a test is kept.
func seals(sensitive map[string]value.Value) map[string]event.Secret {
	out := map[string]event.Secret{}
	for name := range sensitive { // any order: it fills a map
		out[name] = event.Secret{From: "told"}
	}
	return out
}

// machine is the engine.Factory of the host.
func (t *test) machine(h journal.Header, _ []byte) (engine.Machine, error) {
	if l := t.program.Loop(h.Workflow); l != nil {
		g, err := t.program.graph(l.Name)
		if err != nil {
			return nil, err
		}
		m := loop.New(g, l, t.program.eval, ir.NewestRules())
		t.loops[h.Run] = m
		return m, nil
	}
	m, err := t.newMachine(h.Workflow)
	if err != nil {
		return nil, err
	}
	t.machines[h.Run] = m
	return m, nil
}

func (t *test) newMachine(workflow string) (*machine.Machine, error) {
	g, err := t.program.graph(workflow)
	if err != nil {
		return nil, err
	}
	return machine.New(g, t.program.eval, ir.NewestRules()), nil
}

// awaited are the names of the events that a run waits for.
func (t *test) awaited(_ []byte, first event.RunStarted) ([]string, error) {
	g, err := t.program.graph(first.Workflow)
	if err != nil {
		return nil, err
	}
	return g.Events(), nil
}

// drive starts the runs and drives them until all have ended, or the time of the test is over. crashAt is the point at which the
// driver dies besides; 0 means none.
func (t *test) drive(ctx context.Context, crashAt int) error {
	t.host = sim.New(t.store, sim.Options{Factory: t.machine, World: world{t}, Watch: t.watch, Group: t.group, Events: t.awaited, Due: func() error { return t.startDue(ctx) }, Externals: []event.ExternalKind{event.ExternalMetrics}, Faults: sim.Faults{CrashAt: crashAt}, Moments: t.moments(ctx)})
	if err := t.holdItems(); err != nil {
		return err
	}
	if err := t.fillStore(ctx); err != nil {
		return err
	}
	if err := t.startLoops(ctx); err != nil {
		return err
	}
	if t.rehearse != nil {
		if err := t.rehearse(ctx); err != nil {
			return err
		}
	} else if t.Workflow != "" {
		if err := t.startRun(ctx, &ir.TestRun{Workflow: t.Workflow, Inputs: t.Inputs}); err != nil {
			return err
		}
	}
	for {
		t.driven = true
		err := t.host.DriveAll(ctx)
		t.driven = false
		if errors.Is(err, sim.ErrCrashed) {
			t.crashed++
			t.endCalls(nil)
			t.store.Pass(t.down)
			t.down = 0
			continue
		}
		more := t.due > 0 || t.hasRoutines() || len(t.coming) > 0 && (t.RunFor == 0 || t.coming[0].After <= t.RunFor)
		if err == nil && len(t.missing) == 0 && more { // all runs have ended, and time passes
			_, err = t.host.NextMoment()
		}
		if errors.Is(err, errStop) || err == nil && !more {
			break
		}
		if err != nil || len(t.missing) > 0 {
			return err
		}
	}
	if len(t.missing) == 0 {
		t.ask(t.Expect, t.ended())
	}
	return nil
}

// ended is the virtual time of the end of the last run, or that until now.
func (t *test) ended() time.Duration {
	var last event.Time
	for _, s := range t.launched {
		if s.view.FinishedAt == 0 {
			return t.elapsed()
		}
		last = max(last, s.view.FinishedAt)
	}
	if last == 0 || t.hasRoutines() {
		return t.elapsed()
	}
	return last.Sub(t.start)
}

// moments are what happens in the drive at a time. In the end the time is over.
func (t *test) moments(ctx context.Context) (out []sim.Moment) {
	for _, m := range t.coming {
		out = append(out, sim.Moment{At: t.start.Add(m.After), Do: func() error {
			t.askNext()
			return t.happen(ctx, &m)
		}})
	}
	most := t.RunFor
	if most == 0 {
		if most = value.MaxDuration; len(t.Loops) > 0 {
			most = MostIdle
		}
	}
	if t.hasRoutines() || len(t.Loops) > 0 {
		most++ // what is due in the last moment happens
	}
	stop := sim.Moment{At: t.start.Add(most), Do: func() error { return errStop }}
	at := slices.IndexFunc(out, func(m sim.Moment) bool { return m.At > stop.At })
	if at < 0 {
		at = len(out)
	}
	return append(out[:at:at], stop)
}

// happen lets a block of the test happen.
func (t *test) happen(ctx context.Context, m *ir.Moment) error {
	if t.comesTooLate(m) {
		return nil
	}
	switch m.Kind {
	case ir.AskMoment:
		return nil
	case ir.StartMoment:
		return t.startRun(ctx, m.Run)
	case ir.CheckInMoment:
		return t.publish(m, "")
	case ir.DispatchMoment:
		return t.handIn(ctx, m)
	case ir.CloseMoment:
		return t.close(ctx, m)
	case ir.CancelMoment, ir.CrashMoment, ir.VanishMoment, ir.DownMoment, ir.RetryMoment, ir.RedriveMoment, ir.EmitMoment, ir.MetricsMoment, ir.DecideMoment:
	}
	of := t.labels[m.Of]
	if of == nil && (m.Of != "" || m.Kind == ir.CancelMoment || m.Kind == ir.RetryMoment || m.Kind == ir.RedriveMoment) {
		t.fail(Failure{Kind: Broken, At: m.At, Text: fmt.Sprintf("run %q has not started", m.Of), After: m.After})
		return nil
	}
	switch all := m.Of == ""; {
	case m.Kind == ir.EmitMoment && all:
		return t.publish(m, "")
	case m.Kind == ir.EmitMoment:
		return t.publish(m, of.id)
	case m.Kind == ir.CancelMoment && of.view.Status.Terminal():
		t.unheard(m, "The run had ended.")
	case m.Kind == ir.CancelMoment && m.Node != "":
		return t.cancelNode(ctx, m, of)
	case m.Kind == ir.CancelMoment:
		return t.host.Cancel(ctx, of.id, "the test cancels it")
	case m.Kind == ir.RedriveMoment:
		return t.redrive(ctx, m, of)
	case m.Kind == ir.RetryMoment:
		return t.retryRun(ctx, m, of)
	case m.Kind == ir.MetricsMoment:
		return t.setFigures(ctx, m, of)
	case !t.driven && t.hasRoutines() && all: // nobody starts runs
		t.store.Pass(m.For)
	case !t.driven:
		t.unheard(m, "No process drove a run then.")
	case !all && m.Kind == ir.VanishMoment:
		t.host.Halt(of.id, m.For)
	case !all:
		t.host.Kill(of.id, m.For)
		t.endCalls(of)
	case m.Kind == ir.VanishMoment:
		t.store.Pass(m.For)
	default:
		t.own++
		t.down = m.For
		return sim.ErrCrashed
	}
	return nil
}

// cancelNode lets a person cancel a node of a run.
func (t *test) cancelNode(ctx context.Context, m *ir.Moment, of *seen) error {
	switch list := of.view.FindLive(m.Node); {
	case len(list) == 0:
		t.unheard(m, fmt.Sprintf("The run had no node %q then.", m.Node))
	case list[0].Status.Terminal():
		t.unheard(m, fmt.Sprintf("%q had ended: %s.", list[0].Path, list[0].Status))
	case len(list) > 1:
		t.unheard(m, fmt.Sprintf("%d nodes had the name %q then, such as %q.", len(list), m.Node, list[0].Path))
	default:
		return t.host.Signal(ctx, of.id, event.NodeCancel{By: m.By, Reason: m.Reason}.External(list[0].Path))
	}
	return nil
}

// askNext takes the next moment, and asks its conditions.
func (t *test) askNext() {
	m := t.coming[0]
	t.coming = t.coming[1:]
	if m.Kind != ir.AskMoment {
		t.asked[m.At] = true
	}
	t.ask(m.Expect, m.After)
}

// ask asks conditions, all of them.
func (t *test) ask(list []ir.Expectation, after time.Duration) {
	if t.endAlone {
		return
	}
	s := t.newNames(after)
	for i := range list {
		x := &list[i]
		t.asked[x.At] = true
		v, err := t.eval.Eval(&x.Expr, s)
		if err == nil && v == true {
			continue
		}
		f := Failure{Kind: Unmet, At: x.At, Text: x.Text, Unmet: t.eval.Unmet(&x.Expr, s), Values: t.eval.Values(&x.Expr, s), After: after}
		if x.Kind == ir.Const {
			f.Text = "false"
		}
		if err != nil {
			f.Message = err.Error()
		}
		t.fail(f)
	}
}

// result sums up.
func (t *test) result() *Result {
	r := &Result{Test: t.Test, Elapsed: t.ended(), Status: event.Pending}
	all, why := [][]ir.Expectation{}, ""
	if len(t.missing) > 0 {
		why = "stubs are missing"
	}
	for _, m := range t.Moments {
		if all = append(all, m.Expect); m.Kind != ir.AskMoment && !t.asked[m.At] {
			t.fail(Failure{Kind: Unasked, At: m.At, Text: string(m.Kind), Message: why})
		}
	}
	for _, list := range append(all, t.Expect) {
		for i := range list {
			if !t.asked[list[i].At] {
				t.fail(Failure{Kind: Unasked, At: list[i].At, Text: list[i].Text, Message: why})
			}
		}
	}
	t.tellUnheard()
	r.Failures = t.failures
	for _, s := range t.stubs {
		if s.asked < len(s.Replies) {
			r.Leftover = append(r.Leftover, Leftover{s.Kind, s.Name, s.At, s.asked, len(s.Replies)})
		}
	}
	if len(r.Failures) > 0 {
		r.Hints = t.hints()
	}
	r.Status, r.Runs = t.status(), t.runsAtEnd()
	r.Events, r.Path, r.Timeline, r.Reached = t.events(), t.path(), t.timeline(), t.reached
	t.nameRuns(r.Timeline)
	return r
}

// root is what is recorded of the run without a label; nil if blocks start the runs.
func (t *test) root() *seen { return t.labels[""] }
