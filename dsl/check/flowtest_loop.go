package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// forItems begins the paths of nodes of the runs that do items: item:WORKFLOW[ID]/NODE.
const forItems = "item:"

// How a loop stands, and what it has taken.
var (
	takenType = value.Object(map[string]value.Type{
		"id": value.StringType, "source": value.StringType, "title": value.StringType, "agent": value.StringType, "workflow": value.StringType,
		"status": {Kind: value.StringT, Enum: []string{"claimed", "working", "parked", "closed", "failed", "released", "lost"}},
		"taken":  value.NumberType, "ended": value.NumberType, "reason": value.StringType,
	})
	loopType = value.Object(map[string]value.Type{
		"status": {Kind: value.StringT, Enum: []string{"working", "idle", "stopped", "failed", "cancelled"}}, "reason": value.StringType,
		"taken": value.IntType, "closed": value.IntType, "failed": value.IntType, "released": value.IntType, "dead": value.IntType,
		"working": texts, "parked": texts, "done": texts, "warnings": texts, "missed": texts, "events": value.IntType, "asked": value.Map(value.IntType), "texts": value.Map(value.StringType),
		"items": value.List(takenType),
		"next":  value.List(value.Object(map[string]value.Type{"agent": value.StringType, "source": value.StringType, "id": value.StringType, "title": value.StringType})),
		"left":  value.List(value.Object(map[string]value.Type{"source": value.StringType, "id": value.StringType, "title": value.StringType, "why": texts})),
	})
	workerType = value.Object(map[string]value.Type{
		"busy": value.IntType, "items": texts, "taken": value.IntType, "done": value.IntType, "failed": value.IntType, "parked": value.IntType,
		"stopped": value.StringType, "paused": value.BoolType,
	})
)

// loopNames are the loops that run, as a part of keys.
func (r *testRuns) loopNames() (key string) {
	for _, loop := range r.loops {
		key += "loop." + loop.Name + " "
	}
	return key
}

// loopsOf are the loops that a test runs in place of a workflow; nil if it runs none. ok is false where it is not known which.
func (c *testChecker) loopsOf(b *Block) (loops []*Block, ok bool) {
	one, several := b.attr("loop"), b.attr("loops")
	if one != nil || several != nil {
		var named []expr.Name
		if several != nil {
			named = several.Names
		} else {
			named = []expr.Name{one.ref()}
		}
		ok = true
		for _, n := range named {
			loop := c.loops[n.Name]
			if loop == nil && n.Name != "" {
				c.unknownName(b, n.Range, "loop", n.Name, keys(c.loops), func(near string) string { return "loop." + near })
			}
			if ok = ok && loop != nil; ok && !slices.Contains(loops, loop) {
				loops = append(loops, loop)
			}
		}
		d := diag.Diagnostic{Code: "F0435", Context: b.Words()}
		switch {
		case several == nil || !ok:
			return loops, ok
		case one != nil:
			d.Subject, d.Summary, d.Detail = one.Src.Range, "loop beside loops", "Name all loops of the test in  loops, or one in  loop."
		case len(loops) < 2:
			d.Subject, d.Summary, d.Detail = several.Src.Range, "loops does not name two loops", "A test of one loop says  loop = loop.NAME."
		case b.attr("run_for") == nil:
			d.Subject, d.Summary = several.Src.Range, "loops without run_for"
			d.Detail = "A loop that has nothing to do can get work from another one, so the test does not know its end. Set its duration:  run_for = \"1h\"."
		default:
			return loops, true
		}
		c.report(d)
		return nil, false
	}
	all := c.program.Loops
	runs := b.attr("workflow") != nil || b.attr("inputs") != nil || slices.ContainsFunc(b.Blocks, func(i *Block) bool { return i.Schema.Key() == "test.start" })
	asks := b.attr("items") != nil || slices.ContainsFunc(b.Blocks, func(i *Block) bool {
		return slices.Contains([]string{"test.dispatch", "test.close", "test.source"}, i.Schema.Key())
	})
	usual := slices.ContainsFunc(c.program.Workflows, func(w *Workflow) bool {
		a := w.attr("default")
		return a != nil && a.Flag
	})
	switch {
	case len(all) == 0 || runs || usual && !asks:
		return nil, true
	case len(all) == 1:
		return all[:1], true
	}
	c.report(diag.Diagnostic{Code: "F0106", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Missing attribute \"loop\" in %s", b.Words()),
		Detail: fmt.Sprintf("The program has several loops:  loop = loop.%s, or several:  loops = [loop.A, loop.B]. A test of a workflow names the workflow.", all[0].Name)})
	return nil, false
}

// loopOnly refuses in a test of workflows what belongs to tests of loops, and the other way round. It reports whether it found nothing.
func (c *testChecker) loopOnly(b *Block) (fine bool) {
	fine = true
	refuse := func(at diag.Range, what, detail string) {
		fine = false
		c.report(diag.Diagnostic{Code: "F0435", Subject: at, Context: b.Words(), Summary: what, Detail: detail})
	}
	if c.runs.loops == nil {
		const why = "No loop runs in this test. Write  loop = loop.NAME  instead of workflow, inputs and start blocks."
		if a := b.attr("items"); a != nil {
			refuse(a.Src.Range, "items in a test of workflows", why)
		}
		for _, i := range b.Blocks {
			if key := i.Schema.Key(); key == "test.dispatch" || key == "test.close" || key == "test.source" {
				refuse(i.Src.Header, fmt.Sprintf("A block %s in a test of workflows", i.Schema.Kind), why)
			}
		}
		return fine
	}
	const why = "The test runs a loop, and the handles of the loop set the inputs of the workflows."
	for _, name := range []string{"workflow", "inputs"} {
		if a := b.attr(name); a != nil {
			refuse(a.Src.Range, fmt.Sprintf("%s in a test of a loop", name), why)
		}
	}
	for _, i := range b.Blocks {
		switch i.Schema.Key() {
		case "test.start", "test.retry", "test.redrive":
			refuse(i.Src.Header, fmt.Sprintf("A block %s in a test of a loop", i.Schema.Kind), why)
		case "test.decide":
			if b.attr("run_for") == nil {
				refuse(i.Src.Header, "A decide block without run_for in a test of a loop", "A loop does not wait for items that wait for people. Set the duration of the test:  run_for = \"1h\".")
			}
		}
	}
	return fine
}

// loopPlaces lists the nodes of the workflows that the loops of the test start.
func (c *testChecker) loopPlaces(add func(*Workflow, string)) {
	seen := map[string]bool{}
	var blocks []*Block
	for _, loop := range c.runs.loops {
		blocks = append(blocks, loop.Blocks...)
	}
	for _, b := range blocks {
		for _, attr := range []string{"workflow", "rotate"} {
			a := b.attr(attr)
			if a == nil {
				continue
			}
			for _, r := range a.Names {
				if to := c.workflows[r.Name]; to != nil && !seen[to.Name] {
					seen[to.Name] = true
					add(to, forItems+to.Name+"/")
				}
			}
		}
	}
}

// loopRoots are the names of a condition that are about the loops of the test.
func (c *testChecker) loopRoots(env *expr.Env) {
	const one, several = "The test runs one loop. Read it as  loop.", "The test runs several loops. Read one as  loops.NAME."
	if c.runs.loops == nil {
		for _, name := range []string{"loop", "loops", "agents"} {
			env.Hidden[name] = "The test runs no loop. Write  loop = loop.NAME  instead of workflow, inputs and start blocks."
		}
		return
	}
	workers := map[string]value.Type{}
	for _, name := range c.loopAgents() {
		workers[name] = workerType
	}
	env.Roots["agents"] = &expr.Root{What: "agent of the loop", Names: workers}
	if len(c.runs.loops) == 1 {
		env.Roots["loop"], env.Hidden["loops"] = root("loop", loopType), one
		return
	}
	named := map[string]value.Type{}
	for _, loop := range c.runs.loops {
		named[loop.Name] = loopType
	}
	env.Roots["loops"], env.Hidden["loop"] = &expr.Root{What: "loop of the test", Names: named}, several
}

// loopAgents are the agents of the loops of the test, each once.
func (c *testChecker) loopAgents() (out []string) {
	for _, loop := range c.runs.loops {
		for _, name := range c.program.LoopAgents(loop) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// handedIn reads a dispatch block.
func (c *testChecker) handedIn(b *Block, m *ir.Moment) {
	item := map[string]value.Value{"id": b.Name, "title": b.Text("title")}
	if item["title"] == "" {
		item["title"] = b.Name
	}
	for _, name := range []string{"body", "assignee"} {
		if text := b.Text(name); text != "" {
			item[name] = text
		}
	}
	for _, name := range []string{"labels", "needs", "capabilities"} {
		if a := b.attr(name); a != nil {
			words := []any{}
			for _, w := range a.Strings {
				words = append(words, w)
			}
			item[name] = words
		}
	}
	if a := b.attr("priority"); a != nil {
		if v, ok := c.constant(b, a); ok {
			item["priority"] = v
		}
	}
	m.Name, m.Data, m.By = b.Name, item, b.Text("by")
	if m.By == "" {
		m.By = "test"
	}
	if name := b.Text("assignee"); name != "" && !slices.Contains(c.loopAgents(), name) {
		d := diag.Diagnostic{Code: "F0294", Subject: b.attr("assignee").span(), Context: b.Words(), Summary: fmt.Sprintf("The loop has no agent %q", name)}
		known := c.loopAgents()
		if d.Detail = fmt.Sprintf("It has %s.", some(known)); diag.Nearest(name, known) != "" {
			near := diag.Nearest(name, known)
			d.Detail, d.Edit = fmt.Sprintf("Did you mean %q?", near), &diag.Edit{Range: d.Subject, Text: inQuotes(near)}
		}
		c.report(d)
	}
}
