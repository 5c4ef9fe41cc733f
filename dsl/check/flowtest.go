package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// Test is a checked test. What its values are besides is for whoever has the IR of the program.
type Test struct {
	*ir.Test
	Header       diag.Range // of the block
	Inputs, Vars Given
	Runs         []*TestRun // in file order
	Decisions    []*Decided // in file order
	// Items is the attribute items, with its value; Closed are the close blocks.
	Items  *Attr
	Held   value.Value
	Closed []Named
	// Sources are the source blocks.
	Sources []Named
}

// Named is a name with its place.
type Named struct {
	Name string
	At   diag.Range
}

// Given are the values that a test gives. Attr is nil where it gives none.
type Given struct {
	*Attr
	Values map[string]value.Value
}

// FirstMoment is when the run of a test starts that does not say when.
var FirstMoment = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// testChecker is one run of Tests.
type testChecker struct {
	*checker
	workflow  *Workflow // of the test at hand: of the run without a label, or of the first run
	runs      testRuns
	envs      map[string]*expr.Env
	runTypes  map[*Workflow]value.Type
	named     map[string]string // see ir.Test.Paths
	decisions []*Decided
	known     map[*Workflow]*testPlaces
	triggered map[string]*testPlaces // of the workflows that events, routines and the loops of the test start, by the loops
	loops     map[string]*Block
}

// Tests reads the tests of a file by the program that they are for, which has been checked. name is the workflow that a test runs that names
// none, where the program has several and no default; "" where there is no such workflow.
func Tests(p *Program, file *syntax.File, name string, options Options) ([]*Test, diag.List) {
	c := &testChecker{checker: newChecker(options), envs: map[string]*expr.Env{}, runTypes: map[*Workflow]value.Type{}, known: map[*Workflow]*testPlaces{},
		triggered: map[string]*testPlaces{}, loops: map[string]*Block{}}
	c.program, c.size = p, len(file.Src)
	for _, b := range p.Agents {
		c.agents[b.Name] = b
	}
	for _, b := range p.Pools {
		c.pools[b.Name] = b
	}
	for _, b := range p.Gates {
		c.gates[b.Name] = b
	}
	for _, b := range p.Channels {
		c.channels[b.Name] = b
	}
	for _, b := range p.Quotas {
		c.quotas[b.Name] = b
	}
	for _, b := range p.Loops {
		c.loops[b.Name] = b
	}
	for _, w := range p.Workflows {
		c.workflows[w.Name], c.callable[w.Name] = w, w.Block
	}
	for _, a := range file.Body.Attrs {
		c.report(diag.Diagnostic{Code: "F0112", Subject: a.Range, Summary: fmt.Sprintf("Attribute %q outside of a block", a.Name),
			Detail: "The top of a test file contains only blocks:  test \"NAME\" { … }."})
	}
	var tests []*Test
	names := book{}
	for _, b := range c.inner(nil, &file.Body, schema.Blocks["flowtest"], "") {
		c.enter(names, "Test", b.Name, nameRange(b))
		if t := c.test(b, name); t != nil {
			tests = append(tests, t)
		}
	}
	for _, t := range tests {
		t.Files = c.texts()
	}
	return tests, c.list
}

// test checks one test; nil where its workflow is not known.
func (c *testChecker) test(b *Block, byDefault string) *Test {
	c.static(b)
	if !c.readRuns(b, byDefault) {
		return nil
	}
	if c.workflow = c.program.Workflows[0]; len(c.runs.workflows) > 0 {
		c.workflow = c.runs.workflows[0]
	}
	c.named, c.decisions = map[string]string{}, nil
	t := &Test{Test: &ir.Test{Name: b.Name, StartAt: FirstMoment, At: placeOfRange(b.Src.Range)}, Header: b.Src.Header, Runs: c.runs.list}
	t.Vars = c.given(b, b.attr("vars"))
	if !c.runs.severalOrNone() {
		t.Workflow, t.Inputs = c.workflow.Name, c.given(b, b.attr("inputs"))
	}
	if len(c.runs.loops) > 0 {
		for _, loop := range c.runs.loops {
			t.Loops = append(t.Loops, loop.Name)
		}
		if t.Items = b.attr("items"); t.Items != nil {
			t.Held, _ = c.constant(b, t.Items)
		}
	}
	store := c.given(b, b.attr("kv"))
	t.Store = store.Values
	c.storeKeys(b, store)
	t.RunFor = c.span(b, b.attr("run_for"))
	if a := b.attr("start_at"); a != nil && a.Text != "" {
		at, err := time.Parse(time.RFC3339, a.Text)
		if err != nil || at.Year() < 1970 || at.Year() > 2200 {
			c.report(diag.Diagnostic{Code: "F0284", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("start_at cannot be %.40q", a.Text),
				Detail: "It is a time in RFC 3339, from 1970 to 2200:  start_at = \"2026-01-05T08:00:00Z\"."})
		} else {
			t.StartAt = at.UTC()
		}
	}
	if a := b.attr("crash_everywhere"); a != nil {
		t.CrashEverywhere = a.Flag
	}
	t.Expect = c.expectations(b)
	seen := map[string]*Block{}
	for _, i := range b.Blocks {
		switch i.Schema.Key() {
		case "test.agent", "test.step", "test.gate", "test.channel", "test.source":
			if i.Name == "" { // reported
				continue
			}
			if first := seen[i.Words()]; first != nil {
				c.report(diag.Diagnostic{Code: "F0201", Subject: nameRange(i), Context: b.Words(), Summary: fmt.Sprintf("%s has two stubs", upper(i.Words())),
					Detail: "Put the replies of both into one list, in the order of the requests.", Notes: []diag.Note{{Text: "the first one", Range: nameRange(first)}}})
				continue
			}
			seen[i.Words()] = i
			if s, ok := c.stub(i); ok {
				t.Stubs = append(t.Stubs, s)
			}
			if i.Schema.Key() == "test.source" {
				t.Sources = append(t.Sources, Named{i.Name, nameRange(i)})
			}
		case "at":
			t.Moments = append(t.Moments, ir.Moment{Kind: ir.AskMoment, After: c.moment(i), Expect: c.expectations(i), At: placeOfRange(i.Src.Range)})
		default:
			if i.Schema.Kind == "close" && i.Name != "" {
				t.Closed = append(t.Closed, Named{i.Name, nameRange(i)})
			}
			t.Moments = append(t.Moments, c.happens(i))
		}
	}
	t.Paths, t.Decisions = c.named, c.decisions
	asks := slices.ContainsFunc(t.Moments, func(m ir.Moment) bool { return m.Kind == ir.AskMoment })
	if b.attr("expect") == nil && !asks && !b.stray {
		c.report(diag.Diagnostic{Code: "F0296", Subject: b.Src.Header, Summary: fmt.Sprintf("Nothing is expected in %s", b.Words()),
			Detail: "A test without conditions cannot fail. Add conditions:  expect = [\"run.status == 'succeeded'\"]."})
	}
	return t
}

func placeOfRange(r diag.Range) ir.Place {
	return ir.Place{File: r.File, Line: r.Start.Line, Column: r.Start.Column}
}

// workflowOf is the workflow that a test runs, or nil.
func (c *testChecker) workflowOf(b *Block, byDefault string) *Workflow {
	if a := b.attr("workflow"); a != nil {
		n := a.ref()
		if w := c.workflows[n.Name]; w != nil || n.Name == "" {
			return w
		}
		c.unknownName(b, n.Range, "workflow", n.Name, keys(c.callable), func(near string) string { return "workflow." + near })
		return nil
	}
	all := c.program.Workflows
	for _, w := range all {
		if a := w.attr("default"); len(all) == 1 || a != nil && a.Flag {
			return w
		}
	}
	if w := c.workflows[byDefault]; w != nil {
		return w
	}
	c.report(diag.Diagnostic{Code: "F0106", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Missing attribute \"workflow\" in %s", b.Words()),
		Detail: fmt.Sprintf("The program has several workflows, and none is the default:  workflow = workflow.%s.", all[0].Name)})
	return nil
}

// unknownName reports a name that the program does not have.
func (c *testChecker) unknownName(b *Block, at diag.Range, kind, name string, known []string, edit func(string) string) {
	d := diag.Diagnostic{Code: "F0294", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("The program has no %s %q", kind, name)}
	switch near := c.nearestOf(name, func() []string { return known }); {
	case near != "":
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: at, Text: edit(near)}
	case len(known) == 0:
		d.Detail = "It has none."
	default:
		d.Detail = fmt.Sprintf("It has %s.", some(known))
	}
	c.report(d)
}

func inQuotes(s string) string { return fmt.Sprintf("%q", s) }

// given is the object of an attribute, whose values are known when the file is read.
func (c *testChecker) given(b *Block, a *Attr) Given {
	if a == nil {
		return Given{}
	}
	g := Given{Attr: a}
	v, ok := c.constant(b, a)
	if !ok {
		return g
	}
	if g.Values, ok = v.(map[string]any); !ok {
		c.in(b, expr.Conform(ir.Lit(v, value.AnyType), value.Map(value.AnyType), a.Src.Name, a.span()))
	}
	return g
}

// storeKeys checks the keys and values with which a test fills the store.
func (c *testChecker) storeKeys(b *Block, g Given) {
	for _, text := range value.Keys(g.Values) {
		at := g.key(text)
		d := diag.Diagnostic{Code: "F0285", Context: b.Words()}
		if wrong := storeKey(text); wrong != nil {
			d.Subject, d.Summary, d.Detail = at, wrong.Summary, wrong.Detail
		} else if d.Summary, d.Detail = largeValue(g.Values[text]); d.Summary != "" {
			d.Subject = g.member(text)
		}
		if d.Summary != "" {
			c.report(d)
		}
	}
}

// storeKey says what is wrong with a key of the store as tests write it, NAMESPACE/KEY; nil if nothing is.
func storeKey(text string) *expr.NoName {
	namespace, key := ir.SplitStoreKey(text)
	if summary, detail := wrongNamespace(namespace); summary != "" {
		return &expr.NoName{Summary: summary, Detail: detail + " The key follows it:  NAMESPACE/KEY. For a key with a slash in the namespace default, write  default/KEY."}
	}
	if summary, detail := wrongKey(key); summary != "" {
		return &expr.NoName{Summary: summary, Detail: detail}
	}
	return nil
}

// constant is the value of an attribute that reads nothing but files.
func (c *testChecker) constant(b *Block, a *Attr) (value.Value, bool) {
	a.done = true
	e, list := expr.Value(a.Src.Expr(), a.Src.File.Src, c.fixedEnv())
	c.in(b, list)
	if e == nil || list.HasErrors() {
		return nil, false
	}
	return expr.Fixed(e, c.texts(), &c.work)
}

// span is a duration that is known when the file is read; 0 where there is none.
func (c *testChecker) span(b *Block, a *Attr) time.Duration {
	if a == nil {
		return 0
	}
	c.expression(b, a, c.fixedEnv())
	if a.known == nil {
		return 0
	}
	text, _ := a.known.Const.(string)
	if a.Schema.Zero && value.NoDuration(text) {
		return 0
	}
	return c.lasting(b, a.Src.Name, text, a.span())
}

// lasting reads a duration that a test can take.
func (c *testChecker) lasting(b *Block, what, text string, at diag.Range) time.Duration {
	d, err := value.ParseDuration(text)
	if err != nil {
		c.report(diag.Diagnostic{Code: "F0204", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("%s cannot be %.40q", what, text),
			Detail: fmt.Sprintf("A duration is more than zero and at most ten years, %s.", value.DurationForms)})
		return 0
	}
	return d
}

// moment reads the label of a block that happens at a time after the start.
func (c *testChecker) moment(b *Block) time.Duration {
	if b.Name == "" { // reported
		return 0
	}
	return c.lasting(b, "A moment", b.Name, nameRange(b))
}

// expectations checks the conditions of a block.
func (c *testChecker) expectations(b *Block) (out []ir.Expectation) {
	a := b.attr("expect")
	if a == nil {
		return nil
	}
	list, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr)
	if !ok || len(list.Exprs) == 0 {
		d := diag.Diagnostic{Code: "F0296", Subject: a.span(), Context: b.Words(), Summary: "expect must be a list of conditions",
			Detail: "Each condition is a text in quotes:  expect = [\"run.status == 'succeeded'\", \"step.build.attempts == 2\"]."}
		c.report(d)
		return nil
	}
	env := c.names()
	for _, x := range list.Exprs {
		e, found := expr.Condition(x, a.Src.File.Src, env)
		c.in(b, found)
		if e != nil {
			out = append(out, ir.Expectation{Expr: *e, At: placeOfRange(expr.Range(x.Range()))})
		}
	}
	return out
}

// missing reports a name that stands for nothing, or for several things.
func (c *testChecker) missing(b *Block, at diag.Range, m *expr.NoName, otherwise string) {
	d := diag.Diagnostic{Code: "F0294", Subject: at, Context: b.Words(), Summary: m.Summary, Detail: m.Detail}
	if d.Summary == "" {
		d.Summary = otherwise
	}
	c.report(d)
}

// compensation stands behind the path of a step whose compensation is meant.
const compensation = "/compensate"

// stub checks one stub.
func (c *testChecker) stub(b *Block) (s ir.Stub, ok bool) {
	s = ir.Stub{Kind: ir.StubKind(b.Schema.Kind), Name: b.Name, At: placeOfRange(nameRange(b))}
	at := nameRange(b)
	var r replier
	switch s.Kind {
	case ir.AgentStub:
		g := c.agents[b.Name]
		if g == nil {
			c.unknownName(b, at, "agent", b.Name, keys(c.agents), inQuotes)
			return s, false
		}
		r = agentReplier(g)
		r.output = c.outputOf(g)
	case ir.StepStub:
		path, undo := strings.CutSuffix(b.Name, compensation)
		p, missing := c.find(path)
		if everywhere, same := c.sameNode(path); missing != nil && same && !undo {
			if r, why := c.stepReplier(everywhere, false); why == "" {
				s.Replies = c.replies(b, r)
				return s, len(s.Replies) > 0
			}
		}
		if missing != nil {
			if at := strings.LastIndexByte(path, '/'); at > 0 && diag.Nearest(path[at:], []string{compensation}) != "" {
				if p, none := c.find(path[:at]); none == nil && p.node.Inner("compensate") != nil {
					missing.Detail = fmt.Sprintf("Did you mean %q?", path[:at]+compensation)
				}
			}
			c.missing(b, at, missing, fmt.Sprintf("Workflow %q has no step %q", c.workflow.Name, path))
			return s, false
		}
		s.Path = p.path
		if keyed().MatchString(path) {
			s.Instance = p.whole(path)
		}
		if undo {
			s.Path += compensation
		}
		var why string
		if r, why = c.stepReplier(p.node, undo); why != "" {
			c.report(diag.Diagnostic{Code: "F0298", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("%s needs no stub", upper(p.node.Words())), Detail: why})
			return s, false
		}
	case ir.ChannelStub:
		if c.channels[b.Name] == nil {
			c.unknownName(b, at, "channel", b.Name, keys(c.channels), inQuotes)
			return s, false
		}
		r = replier{what: "a channel", takes: []string{"status", "exit_code"}, output: value.AnyType}
	case ir.SourceStub: // the IR has the names of the sources
		r = replier{what: "a source", takes: []string{"output", "status", "exit_code"}, output: value.AnyType}
	case ir.GateStub:
		g, path, missing := c.gateOf(b.Name)
		if missing != nil {
			c.missing(b, at, missing, fmt.Sprintf("The program has no gate %q", b.Name))
			return s, false
		}
		judges := c.judges(g)
		if g.attr("run") == nil && g.Inner("benchmark") == nil && judges == nil {
			c.report(diag.Diagnostic{Code: "F0298", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("%s needs no stub", upper(g.Words())),
				Detail: "It starts no program, so the test runs the gate itself. Its verdict depends on the output of the step."})
			return s, false
		}
		if s.Path, r = path, (replier{what: "a gate", takes: programMembers[1:], output: value.AnyType}); judges != nil {
			r = agentReplier(judges...)
			r.output = value.AnyType
		}
		if g.Inner("benchmark") != nil {
			r.takes = append(slices.Clone(r.takes), "measured")
		}
	}
	s.Replies = c.replies(b, r)
	return s, len(s.Replies) > 0
}

// Place is where a value is given, or its name where that is not declared; else the place of all, or the header of the test.
func (g Given) Place(header diag.Range, name string, declared bool) diag.Range {
	switch {
	case g.Attr == nil:
		return header
	case declared:
		return g.member(name)
	}
	return g.key(name)
}
