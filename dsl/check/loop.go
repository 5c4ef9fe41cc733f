package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Why a name of the language cannot be read in a place.
const (
	notItem   = "item is what a loop has found; when and with of a handle can read it. Hand it on as an input:  with = { title = item.title }."
	notWorker = "worker is the name of the agent for whom a loop has found an item; when and with of a handle can read it. Hand it on as an input:  with = { worker = worker }."
)

// sourceKinds are the kinds of source that a loop can have.
var sourceKinds = []ir.SourceKind{ir.SourceDispatch, ir.SourceImprovement}

// sourceHas says which kinds of source have an attribute.
var sourceHas = []struct {
	attr string
	has  ir.SourceKind
	must bool
}{
	{"rotate", ir.SourceImprovement, true},
	{"every", ir.SourceImprovement, false},
	{"with", ir.SourceImprovement, false},
}

// loop checks a loop, once the inputs of all workflows are known.
func (c *checker) loop(b *Block) {
	plain := c.env(nil, nil)
	c.expressions(b, func(string) *expr.Env { return plain })
	c.loopAgents(b)
	c.tells(b, "notify")
	c.loopTimes(b)
	var sources, handles int
	var all *Block // the first handle without a condition
	for _, i := range b.Blocks {
		switch i.Schema.Kind {
		case "source":
			sources++
			c.source(b, i)
		case "handle":
			handles++
			c.handle(i)
			if all != nil {
				c.report(diag.Diagnostic{Code: "F0422", Subject: i.Src.Header, Context: b.Words(), Summary: "A handle that can never be asked",
					Detail: "One before it has no condition and takes every item. Put that one last, or give it a condition:  when = \"CONDITION\".",
					Notes:  []diag.Note{{Text: "the one without a condition", Range: all.Src.Header}}})
			} else if i.attr("when") == nil {
				all = i
			}
		default:
			c.expressions(i, func(string) *expr.Env { return plain })
		}
	}
	if b.stray {
		return
	}
	if sources == 0 {
		c.report(diag.Diagnostic{Code: "F0420", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No sources in %s", b.Words()),
			Detail: "A loop finds its work in sources:  source \"dispatch\" {}."})
	}
	if handles == 0 && slices.ContainsFunc(b.Blocks, func(i *Block) bool { return i.Schema.Kind == "source" && i.Name != string(ir.SourceImprovement) }) {
		c.report(diag.Diagnostic{Code: "F0420", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No handles in %s", b.Words()),
			Detail: "Nothing says which workflow does an item:  handle { workflow = workflow.NAME }."})
	}
}

// loopAgents checks the agents of a loop: they are declared, and there is one at least.
func (c *checker) loopAgents(b *Block) {
	a := b.attr("agents")
	if a == nil {
		return
	}
	known := a.Names[:0]
	for _, r := range a.Names {
		switch {
		case r.Member != nil:
			c.report(diag.Diagnostic{Code: "F0132", Subject: r.Range, Context: b.Words(), Summary: "A member of a pool cannot stand in agents",
				Detail: "Name the agent itself:  agent.NAME, or the whole pool:  pool.NAME."})
		case r.Pool && c.pools[r.Name] == nil:
			c.unknownDeclared(b, r, "pool", c.pools)
		case !r.Pool && c.agents[r.Name] == nil:
			c.unknownDeclared(b, r, "agent", c.agents)
		default:
			known = append(known, r)
		}
	}
	if len(a.Names) == 0 {
		c.report(diag.Diagnostic{Code: "F0420", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("No agents in %s", b.Words()),
			Detail: "Nobody would take an item:  agents = [agent.NAME]."})
	}
	a.Names = known
}

// LoopAgents are the names of the agents of a loop, each once, in the order in which they choose.
func (p *Program) LoopAgents(b *Block) (out []string) {
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, r := range b.attr("agents").Names {
		if !r.Pool {
			add(r.Name)
			continue
		}
		for _, pool := range p.Pools {
			if pool.Name == r.Name {
				for _, m := range pool.attr("members").Names {
					add(m.Name)
				}
			}
		}
	}
	return out
}

// loopTimes checks that the times of a loop that are known fit together.
func (c *checker) loopTimes(b *Block) {
	lease, heartbeat := b.seconds("lease", ir.DefaultLease.Seconds()), b.seconds("heartbeat", ir.DefaultHeartbeat.Seconds())
	if at := b.attr("heartbeat"); at == nil {
		at = b.attr("lease")
		if at != nil && lease > 0 && heartbeat*3 > lease {
			c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "The lease is too short for the heartbeat",
				Detail: "A claim is renewed each 30 seconds where heartbeat does not say otherwise, and the lease must last for three times as long. Write  heartbeat = \"1s\"  or so beside it."})
		}
	} else if lease > 0 && heartbeat > 0 && heartbeat*3 > lease {
		c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "The heartbeat is too slow for the lease",
			Detail: "A renewal that comes late once or twice must not lose the item: the heartbeat is at most a third of the lease."})
	}
	idle, most := b.seconds("idle", ir.DefaultIdle.Seconds()), b.seconds("idle_max", ir.DefaultIdleMax.Seconds())
	if at := b.attr("idle_max"); at != nil && idle > 0 && most > 0 && most < idle {
		c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "idle_max is shorter than idle",
			Detail: "The time between two looks grows from idle to idle_max."})
	}
}

// seconds is a duration of the block that is known, or otherwise where it is not given; 0: it is not known.
func (b *Block) seconds(attr string, otherwise float64) float64 {
	a := b.attr(attr)
	if a == nil {
		return otherwise
	}
	if a.known == nil {
		return 0
	}
	text, _ := a.known.Const.(string)
	d, err := value.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d.Seconds()
}

// itemEnv is where expressions about an item of a loop are computed.
func (c *checker) itemEnv() *expr.Env {
	const why = "A loop is no run of a workflow: it reads var, local, item and worker."
	return c.env(roots{"item": root("item", ir.ItemType), "worker": root("worker", value.StringType)}, map[string]string{"step": why, "input": why, "run": why})
}

// source checks one source of a loop.
func (c *checker) source(of, b *Block) {
	plain, item := c.env(nil, nil), c.itemEnv()
	c.expressions(b, func(attr string) *expr.Env {
		if attr == "with" {
			return item
		}
		return plain
	})
	kind := ir.SourceKind(b.Name)
	if b.Name == "" {
		return
	}
	if !slices.Contains(sourceKinds, kind) {
		d := diag.Diagnostic{Code: "F0421", Subject: nameRange(b), Context: of.Words(), Summary: fmt.Sprintf("%.60q is no kind of source", b.Name),
			Detail: fmt.Sprintf("It is one of %s.", quoted(ir.Texts(sourceKinds)))}
		if near := diag.Nearest(b.Name, ir.Texts(sourceKinds)); near != "" {
			d.Detail += fmt.Sprintf(" Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: nameRange(b), Text: fmt.Sprintf("%q", near)}
		}
		c.report(d)
		return
	}
	for _, x := range sourceHas {
		switch a := b.attr(x.attr); {
		case a == nil && x.has == kind && x.must && !b.stray:
			c.report(diag.Diagnostic{Code: "F0421", Subject: b.Src.Header, Context: of.Words(), Summary: fmt.Sprintf("Missing attribute %q in %s", x.attr, b.Words()),
				Detail: b.Schema.Attr(x.attr).Doc})
		case a != nil && x.has != kind:
			c.report(diag.Diagnostic{Code: "F0421", Subject: a.Src.Range, Context: of.Words(), Summary: fmt.Sprintf("A source of kind %s has no %s", kind, x.attr),
				Detail: fmt.Sprintf("The attribute belongs to  source %q.", x.has)})
		}
	}
	if a := b.attr("rotate"); a != nil {
		known := a.Names[:0]
		for _, r := range a.Names {
			if c.workflows[r.Name] == nil {
				c.unknownDeclared(b, r, "workflow", c.callable)
				continue
			}
			known = append(known, r)
			c.givenTo(c.workflows[r.Name], b, a)
		}
		if len(a.Names) == 0 {
			c.report(diag.Diagnostic{Code: "F0421", Subject: a.span(), Context: of.Words(), Summary: "rotate names no workflow", Detail: "Write  rotate = [workflow.NAME]."})
		}
		a.Names = known
	}
}

// handle checks one handle of a loop.
func (c *checker) handle(b *Block) {
	item := c.itemEnv()
	c.expressions(b, func(string) *expr.Env { return item })
	a := b.attr("workflow")
	if a == nil || a.ref().Name == "" {
		return
	}
	if to := c.workflows[a.ref().Name]; to != nil {
		c.givenTo(to, b, a)
	} else {
		c.unknownDeclared(b, a.ref(), "workflow", c.callable)
	}
}
