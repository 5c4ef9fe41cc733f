package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// MaxTestRuns bounds the runs that the blocks of a test start.
const MaxTestRuns = 10_000

// TestRun is a run that a block of a test starts.
type TestRun struct {
	*ir.TestRun
	Header diag.Range // of the block
	Inputs Given
	Again  bool // the run repeats another one, and has the inputs of that

	workflow *Workflow
	of       string // of a run that repeats another one: its label; "" for the run without a label
}

// testRuns are the runs of the test at hand.
type testRuns struct {
	started   int      // by blocks start; 0: there is a run without a label, or none
	none      bool     // the test starts no run: events do, or a loop
	loops     []*Block // those that run; nil: none
	list      []*TestRun
	named     map[string]*TestRun // those above a block, while the blocks are read
	below     map[string]bool     // the labels of all, also below
	workflows []*Workflow         // of all runs, each once
}

// severalOrNone reports whether there is no run without a label.
func (r *testRuns) severalOrNone() bool { return r.started > 0 || r.none }

func (r *testRuns) add(run *TestRun) {
	r.list = append(r.list, run)
	r.named[run.Label] = run
	r.addWorkflow(run.workflow)
}

func (r *testRuns) addWorkflow(w *Workflow) {
	if !slices.Contains(r.workflows, w) {
		r.workflows = append(r.workflows, w)
	}
}

// labels are the labels of the runs. Of several loops, each has its name.
func (r *testRuns) labels() (out []string) {
	if len(r.loops) > 1 {
		for _, loop := range r.loops {
			out = append(out, loop.Name)
		}
	}
	for _, run := range r.list {
		out = append(out, run.Label)
	}
	return out
}

// split splits the path of a node of a run with a label.
func (r *testRuns) split(path string) (run *TestRun, inside string) {
	label, inside, _ := strings.Cut(path, "/")
	return r.named[label], inside
}

// startsNone reports whether a test starts no run itself: in a program in which events start runs, it names no workflow and gives no inputs,
// and there is no default workflow.
func (c *testChecker) startsNone(b *Block) bool {
	if !c.startsItself() || b.attr("workflow") != nil || b.attr("inputs") != nil {
		return false
	}
	return !slices.ContainsFunc(c.program.Workflows, func(w *Workflow) bool {
		a := w.attr("default")
		return a != nil && a.Flag
	})
}

// readRuns reads the blocks of a test that start runs. It reports whether the workflows of all runs are known.
func (c *testChecker) readRuns(b *Block, byDefault string) bool {
	c.runs = testRuns{named: map[string]*TestRun{}, below: map[string]bool{}}
	bare := 0 // blocks start without a workflow
	for _, i := range b.Blocks {
		if key := i.Schema.Key(); key == "test.retry" || key == "test.redrive" {
			c.runs.below[i.Name] = true
		} else if key == "test.start" {
			c.runs.below[i.Name] = true
			c.runs.started++
			if i.attr("workflow") == nil {
				bare++
			}
		}
	}
	usual, known := (*Workflow)(nil), true
	loops, ok := c.loopsOf(b)
	if !ok {
		return false
	}
	if c.runs.loops = loops; !c.loopOnly(b) {
		return false
	}
	c.runs.none = loops != nil || c.runs.started == 0 && c.startsNone(b)
	if !c.runs.none && (c.runs.started == 0 || bare > 0 || b.attr("workflow") != nil) {
		if usual = c.workflowOf(b, byDefault); usual == nil {
			return false
		}
	}
	if !c.runs.severalOrNone() {
		c.runs.addWorkflow(usual)
	} else if a := b.attr("inputs"); a != nil {
		c.report(diag.Diagnostic{Code: "F0265", Subject: a.Src.Range, Context: b.Words(), Summary: "inputs beside blocks start",
			Detail: "Each block starts a run with its own inputs. Move them into the blocks:  start \"NAME\" { inputs = { … } }."})
	}
	names := book{}
	for _, i := range b.Blocks {
		key := i.Schema.Key()
		if key != "test.start" && key != "test.retry" && key != "test.redrive" {
			continue
		}
		if len(c.runs.list) == MaxTestRuns {
			c.report(diag.Diagnostic{Code: "F0265", Subject: i.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("More than %d runs in %s", MaxTestRuns, b.Words()),
				Detail: "Move the other runs into a second test."})
			return false
		}
		if !c.enter(names, "Run", i.Name, nameRange(i)) {
			known = known && i.Name != ""
			continue
		}
		run := &TestRun{TestRun: &ir.TestRun{Label: i.Name}, Header: i.Src.Header, workflow: usual}
		if key == "test.start" {
			if i.attr("workflow") != nil {
				run.workflow = c.workflowOf(i, "")
			}
			run.Inputs = c.given(i, i.attr("inputs"))
		} else {
			run.Again = true
			ok := false
			if run.of, ok = c.whichRun(i); ok && run.of != "" {
				run.workflow = c.runs.named[run.of].workflow
			}
			known = known && ok
		}
		if known = known && run.workflow != nil; run.workflow == nil {
			continue
		}
		run.Workflow = run.workflow.Name
		c.runs.add(run)
	}
	for _, run := range c.runs.list {
		for _, w := range c.runs.workflows {
			if n := w.ByName[run.Label]; n != nil && n.Parent == nil {
				c.report(diag.Diagnostic{Code: "F0265", Subject: run.Header, Context: b.Words(), Summary: fmt.Sprintf("Run %q has the name of a node", run.Label),
					Detail: fmt.Sprintf("Paths of its nodes begin with its name, and %s/NAME can be a path of %s of workflow %q, too. Rename the run.", run.Label, n.Words(), w.Name)})
				return false
			}
		}
	}
	return known
}

// whichRun is the label of the run that a block is about; "" for the run without a label, or all runs. It reports whether that is known.
func (c *testChecker) whichRun(b *Block) (label string, ok bool) {
	a := b.attr("of")
	if a == nil {
		kind := b.Schema.Kind
		switch one := kind == "cancel" || kind == "retry" || kind == "redrive"; {
		case !one, c.runs.started == 0 && len(c.runs.loops) < 2:
			return "", true
		case c.runs.started == 1 && len(c.runs.list) > 0:
			return c.runs.list[0].Label, true
		}
		c.report(diag.Diagnostic{Code: "F0265", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("%s does not name its run", upper(b.Words())),
			Detail: fmt.Sprintf("The test starts several runs. Name one:  of = %q.", c.runs.labels()[0])})
		return "", false
	}
	if c.runs.named[a.Text] != nil || slices.Contains(c.runs.labels(), a.Text) {
		return a.Text, true
	}
	if !isWritten(a) {
		return "", false // it was reported
	}
	if c.runs.below[a.Text] {
		c.report(diag.Diagnostic{Code: "F0265", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Run %q is not declared above %s", a.Text, b.Words()),
			Detail: "A retry block must come after the block of the run that it repeats. Change the order of the blocks."})
		return "", false
	}
	d := diag.Diagnostic{Code: "F0294", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("The test has no run %q", a.Text)}
	known := c.runs.labels()
	switch near := c.nearestOf(a.Text, func() []string { return known }); {
	case near != "":
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: a.span(), Text: inQuotes(near)}
	case len(known) == 0:
		d.Detail = "Only blocks  start \"NAME\" { … }  name runs, and the test has none. Remove  of  to mean the run of the test."
	default:
		d.Detail = fmt.Sprintf("Runs that are named: %s.", some(known))
	}
	c.report(d)
	return "", false
}

// isWritten reports whether a text is written out in the file.
func isWritten(a *Attr) bool {
	_, ok := literal(a.Src.Expr())
	return ok
}

// happens is what a block makes happen at a moment.
func (c *testChecker) happens(b *Block) ir.Moment {
	m := ir.Moment{Kind: ir.MomentKind(b.Schema.Kind), After: c.span(b, b.attr("after")), For: c.span(b, b.attr("for")), At: placeOfRange(b.Src.Range)}
	switch m.Kind {
	case ir.StartMoment, ir.RetryMoment, ir.RedriveMoment:
		run := c.runs.named[b.Name]
		if run == nil {
			return m // it was reported
		}
		m.Run, m.Of = run.TestRun, run.of
		if a := b.attr("from"); a != nil && isWritten(a) {
			p, missing := c.findIn(run.workflow, a.Text)
			if missing != nil {
				c.missing(b, a.span(), missing, fmt.Sprintf("Workflow %q has no node %q", run.workflow.Name, a.Text))
			}
			m.From = p.whole(a.Text)
		}
		c.sets(b, run, &m)
	case ir.CancelMoment:
		m.Of, _ = c.whichRun(b)
		c.cancelled(b, &m)
	case ir.CrashMoment, ir.VanishMoment, ir.DownMoment:
		m.Of, _ = c.whichRun(b)
	case ir.EmitMoment, ir.CheckInMoment:
		c.published(b, &m)
	case ir.MetricsMoment:
		c.figures(b, &m)
	case ir.DecideMoment:
		c.decided(b, &m)
	case ir.DispatchMoment:
		if c.runs.loops != nil && b.Name != "" {
			c.handedIn(b, &m)
		}
	case ir.CloseMoment:
		m.Name = b.Name
	case ir.AskMoment:
	}
	return m
}

// cancelled reads which node of a run a block cancels, who cancels it, and why.
func (c *testChecker) cancelled(b *Block, m *ir.Moment) {
	m.By, m.Reason = b.Text("by"), b.Text("reason")
	a := b.attr("node")
	if a == nil {
		for _, name := range []string{"by", "reason"} {
			if other := b.attr(name); other != nil {
				c.report(diag.Diagnostic{Code: "F0154", Subject: other.span(), Context: b.Words(), Summary: name + " without node",
					Detail: "It belongs to the cancel of one node:  node = \"STEP\"."})
			}
		}
		return
	}
	if m.By == "" {
		m.By = "test"
	}
	w := c.workflow
	if run := c.runs.named[m.Of]; run != nil {
		w = run.workflow
	}
	if w == nil || !isWritten(a) {
		if c.runs.loops != nil {
			c.report(diag.Diagnostic{Code: "F0154", Subject: a.span(), Context: b.Words(), Summary: "A loop has no nodes to cancel",
				Detail: "Remove  node  to cancel the loop."})
		}
		return
	}
	p, missing := c.findIn(w, a.Text)
	switch {
	case missing != nil:
		c.missing(b, a.span(), missing, fmt.Sprintf("Workflow %q has no node %q", w.Name, a.Text))
	case p.in != w:
		c.report(diag.Diagnostic{Code: "F0154", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%q is in a called run", a.Text),
			Detail: fmt.Sprintf("Cancel the step that calls workflow %q.", p.in.Name)})
	}
	m.Node = p.whole(a.Text)
}

// sets reads what a person gives in place of steps.
func (c *testChecker) sets(b *Block, run *TestRun, m *ir.Moment) {
	a := b.attr("set")
	if a == nil {
		if by := b.attr("by"); by != nil {
			c.report(diag.Diagnostic{Code: "F0154", Subject: by.span(), Context: b.Words(), Summary: "by without set",
				Detail: "It is the person who sets the outputs:  set = { STEP = OUTPUT }."})
		}
		return
	}
	m.By = b.Text("by")
	if m.By == "" {
		m.By = "test"
	}
	v, ok := c.constant(b, a)
	if !ok {
		return
	}
	refuse := func(summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0154", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	}
	given, ok := v.(map[string]any)
	if !ok {
		refuse("set is not an object", "It sets outputs of steps:  set = { STEP = OUTPUT }. A path is a name in quotes:  \"each[1]\".")
		return
	}
	m.Set = map[string]value.Value{}
	for _, name := range value.Keys(given) {
		p, missing := c.findIn(run.workflow, name)
		switch {
		case missing != nil:
			c.missing(b, a.span(), missing, fmt.Sprintf("Workflow %q has no node %q", run.workflow.Name, name))
			continue
		case p.in != run.workflow:
			refuse(fmt.Sprintf("%q is in a called run", name), fmt.Sprintf("Set the step that calls workflow %q.", p.in.Name))
			continue
		case p.node.Schema.Kind != "step":
			refuse(fmt.Sprintf("%s is not a step", upper(p.node.Words())), "Only steps have an output to set. Set the steps inside by their paths.")
			continue
		}
		if t := p.node.output; t.Kind != "" {
			if _, err := value.Convert(given[name], t); err != nil {
				refuse(fmt.Sprintf("The output does not fit %s", p.node.Words()), upper(err.Error())+".")
				continue
			}
		}
		m.Set[p.whole(name)] = given[name]
	}
}

// figures reads the figures of the machine that a block sets.
func (c *testChecker) figures(b *Block, m *ir.Moment) {
	m.Of, _ = c.whichRun(b)
	data := map[string]any{}
	for _, name := range []string{"cpu", "memory"} {
		a := b.attr(name)
		if a == nil {
			continue
		}
		v, ok := c.constant(b, a)
		if !ok {
			continue
		}
		data[name] = v
	}
	if b.attr("cpu") == nil && b.attr("memory") == nil && !b.stray {
		c.report(diag.Diagnostic{Code: "F0106", Subject: b.Src.Header, Summary: "No figure in metrics", Detail: "Set at least one metric:  cpu = 85, memory = 60, or both."})
	}
	m.Data = data
}

// Why the names of the only run cannot be read where a test starts several.
const severalRuns = "Blocks start name the runs of this test. Write runs.NAME.status, runs.NAME.step.NODE.output, runs.NAME.input.NAME or node[\"NAME/NODE\"]."

// runsRoot is the name runs: the runs of the test by their labels, and the runs of the store in order of their starts.
func (c *testChecker) runsRoot() *expr.Root {
	whole := value.List(value.Object(runAttrs(maps.Clone(runType.Attrs), value.AnyType, value.AnyType, value.AnyType)))
	return &expr.Root{What: "run", Whole: &whole, Absent: absentAttrs, Resolve: func(label string) (value.Type, *expr.NoName) {
		if run := c.runs.named[label]; run != nil {
			return c.runType(run.workflow), nil
		}
		if near := c.nearestOf(label, c.runs.labels); near != "" {
			return value.AnyType, &expr.NoName{Detail: fmt.Sprintf("Did you mean %q?", near)}
		}
		if len(c.runs.list) == 0 {
			return value.AnyType, &expr.NoName{Detail: "No block  start \"NAME\" { … }  names a run. runs[0] is the run of the test, and runs that it calls follow."}
		}
		return value.AnyType, &expr.NoName{Detail: fmt.Sprintf("The test names the runs %s.", some(c.runs.labels()))}
	}}
}

// runType is the type of runs.NAME.
func (c *testChecker) runType(w *Workflow) value.Type {
	if t, there := c.runTypes[w]; there {
		return t
	}
	steps, _ := c.stepsOf(w)
	t := value.Object(runAttrs(maps.Clone(testRunType(w).Attrs), always(w.outputType()), value.Object(steps), value.Object(inputsOf(w))))
	c.runTypes[w] = t
	return t
}

// runAttrs gives the attributes of the run of a test those that a run of the store has besides.
func runAttrs(attrs map[string]value.Type, outputs, steps, inputs value.Type) map[string]value.Type {
	attrs["status"], attrs["error"], attrs["warnings"] = statusType, errorInRules, value.List(value.StringType)
	attrs["degraded"] = value.List(value.StringType)
	attrs["outputs"], attrs["step"], attrs["input"] = outputs, steps, inputs
	attrs["label"], attrs["cause"] = value.StringType, always(causeType)
	attrs["started"], attrs["ended"] = value.NumberType, value.NumberType
	return attrs
}

// inputsOf are the types of the inputs of a workflow.
func inputsOf(w *Workflow) map[string]value.Type {
	inputs := map[string]value.Type{}
	for _, in := range w.Inputs {
		inputs[in.Name] = in.read()
	}
	return inputs
}

// stepsOf are the types of the nodes of a workflow that can be read by their names, and for the others why they cannot.
func (c *testChecker) stepsOf(w *Workflow) (steps map[string]value.Type, hidden map[string]string) {
	steps, hidden = map[string]value.Type{}, map[string]string{}
	for _, p := range c.placesOf(w).list {
		switch many := p.node.manyTimes(); {
		case p.in != w:
		case many != nil:
			hidden[p.node.Name] = fmt.Sprintf("It exists once for each instance of %q. For one instance, write node[\"%s\"].", many.Name, shownInstance(p.node, many))
		default:
			steps[p.node.Name] = always(w.resultFor(p.node, nil))
		}
	}
	return steps, hidden
}

// TestRunType is the type of a member of runs, for documentation.
func TestRunType() value.Type {
	return value.Object(runAttrs(maps.Clone(runType.Attrs), value.AnyType, value.AnyType, value.AnyType))
}

// hideRun hides the names that are about the run without a label where there is none.
func (c *testChecker) hideRun(env *expr.Env) {
	if !c.runs.severalOrNone() {
		return
	}
	why := severalRuns
	if len(c.runs.loops) > 0 {
		read := "loop"
		if len(c.runs.loops) > 1 {
			read = "loops.NAME"
		}
		why = "The test runs a loop. Read it as  " + read + ". The runs of its items are runs[0], runs[1] and so on, in the order of their starts."
	} else if c.runs.none {
		why = "The test starts no run itself, because the program has no default workflow and the test names none. The runs that events and routines start are runs[0], runs[1] and so on, in the order of their starts."
	}
	for _, name := range []string{"run", "step", "input"} {
		delete(env.Roots, name)
		env.Hidden[name] = why
	}
}
