package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// Why a name of the language cannot be read in a place.
const (
	notItem   = "item is the item of a loop; when and with of a handle can read it. Pass it as an input:  with = { title = item.title }."
	notWorker = "worker is the name of the agent that gets an item; when and with of a handle can read it. Pass it as an input:  with = { worker = worker }."
)

// The labels of sources whose items are elsewhere.
const (
	Backlog = "backlog" // its attribute from says where
	Roadmap = "roadmap" // a file whose items become tickets
)

// TicketsOfBacklog is the word of a roadmap whose items become items of the backlog of its loop.
const TicketsOfBacklog = "backlog"

// sourceLabels are the kinds of source that a loop can have.
var sourceLabels = []string{string(ir.SourceDispatch), Backlog, Roadmap, string(ir.SourceImprovement)}

// sourceHas says which kinds of source have an attribute, and which of them need it. "backlog github" is the kind backlog from github.
var sourceHas = []struct {
	attr      string
	has, must []string
}{
	{"rotate", []string{"improvement"}, []string{"improvement"}},
	{"every", []string{"improvement"}, nil},
	{"with", []string{"improvement"}, nil},
	{"from", []string{"backlog file", "backlog github", "backlog exec", "backlog http"}, nil},
	{"path", []string{"backlog file", "roadmap"}, []string{"backlog file", "roadmap"}},
	{"tickets", []string{"roadmap"}, nil},
	{"command", []string{"backlog exec"}, []string{"backlog exec"}},
	{"url", []string{"backlog http"}, []string{"backlog http"}},
	{"headers", []string{"backlog http"}, nil},
	{"repo", []string{"backlog github"}, []string{"backlog github"}},
	{"base_url", []string{"backlog github"}, nil},
	{"token", []string{"backlog github"}, nil},
	{"labels", []string{"backlog github"}, nil},
	{"assignee", []string{"backlog github"}, nil},
	{"login", []string{"backlog github"}, nil},
	{"claim_label", []string{"backlog github"}, nil},
}

// SourceSettings are the attributes of a source that its executor is told, by their names.
var SourceSettings = []string{"assignee", "base_url", "claim_label", "command", "headers", "labels", "login", "path", "repo", "token", "url"}

// loop checks a loop, once the inputs of all workflows are known.
func (c *checker) loop(b *Block) {
	plain := c.env(nil, nil)
	c.expressions(b, func(string) *expr.Env { return plain })
	c.loopAgents(b)
	c.tells(b, "notify")
	c.loopTimes(b)
	c.loopQuotas(b)
	var sources, handles int
	c.tickets(b)
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
				c.report(diag.Diagnostic{Code: "F0422", Subject: i.Src.Header, Context: b.Words(), Summary: "A handle that is never reached",
					Detail: "An earlier handle has no condition and takes every item. Move that one to the end, or give it a condition:  when = \"CONDITION\".",
					Notes:  []diag.Note{{Text: "the one without a condition", Range: all.Src.Header}}})
			} else if i.attr("when") == nil {
				all = i
			}
		default:
			c.expressions(i, func(string) *expr.Env { return plain })
			if i.Schema.Kind == "target" && len(i.Attrs) == 0 && !i.stray {
				c.report(diag.Diagnostic{Code: "F0425", Subject: i.Src.Header, Context: b.Words(), Summary: "The target block says nothing",
					Detail: "Name the goal of the loop:  target { success_rate = 0.9 }."})
			}
		}
	}
	if b.stray {
		return
	}
	if sources == 0 {
		c.report(diag.Diagnostic{Code: "F0420", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No sources in %s", b.Words()),
			Detail: "A loop needs a source of work:  source \"dispatch\" {}."})
	}
	if handles == 0 && slices.ContainsFunc(b.Blocks, func(i *Block) bool { return i.Schema.Kind == "source" && i.Name != string(ir.SourceImprovement) }) {
		c.report(diag.Diagnostic{Code: "F0420", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No handles in %s", b.Words()),
			Detail: "A loop needs a workflow for its items:  handle { workflow = workflow.NAME }."})
	}
}

// tickets checks that a loop has one backlog for the items of its roadmaps that become tickets of it.
func (c *checker) tickets(of *Block) {
	lists := of.Backlogs()
	for _, i := range of.Blocks {
		a := i.attr("tickets")
		if i.Schema.Kind != "source" || i.Name != Roadmap || i.Text("tickets") != TicketsOfBacklog || of.stray || len(lists) == 1 {
			continue
		}
		d := diag.Diagnostic{Code: "F0421", Subject: a.span(), Context: of.Words(), Summary: fmt.Sprintf("%s has no backlog for the tickets", upper(of.Words())),
			Detail: "The items of the roadmap become items of the backlog of the same loop. Add one:  source \"backlog\" { … },  or leave out tickets: they become tickets of the store."}
		if len(lists) > 1 {
			d.Summary = fmt.Sprintf("%s has %d backlogs, and the tickets go to one", upper(of.Words()), len(lists))
			d.Detail = "Put the other backlogs into another loop."
			for _, l := range lists {
				d.Notes = append(d.Notes, diag.Note{Text: "a backlog", Range: l.Src.Header})
			}
		}
		c.report(d)
	}
}

// Sources are the sources of a loop, in order.
func (b *Block) Sources() (out []*Block) {
	for _, i := range b.Blocks {
		if i.Schema.Kind == "source" {
			out = append(out, i)
		}
	}
	return out
}

// Backlogs are the sources of a loop of the kind backlog.
func (b *Block) Backlogs() []*Block {
	return slices.DeleteFunc(b.Sources(), func(i *Block) bool { return i.Name != Backlog })
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
			c.report(diag.Diagnostic{Code: "F0132", Subject: r.Range, Context: b.Words(), Summary: "agents cannot contain a member of a pool",
				Detail: "Name the agent itself:  agent.NAME, or the whole pool:  pool.NAME."})
		case r.Pool && c.pools[r.Name] == nil:
			c.unknownDeclared(b, r, "pool", c.pools)
		case !r.Pool && c.agents[r.Name] == nil:
			c.unknownDeclared(b, r, "agent", c.agents)
		default:
			known = append(known, r)
		}
	}
	if t, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr); ok && len(t.Exprs) == 0 {
		c.report(diag.Diagnostic{Code: "F0420", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("No agents in %s", b.Words()),
			Detail: "A loop needs at least one agent:  agents = [agent.NAME]."})
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

// loopQuotas checks the quotas of a loop: each of them can be shut. The loop takes nothing of them, so others have to.
func (c *checker) loopQuotas(b *Block) {
	a := b.attr("quota")
	if a == nil {
		return
	}
	if _, units := a.Src.Expr().(*hclsyntax.ObjectConsExpr); units {
		c.report(diag.Diagnostic{Code: "F0424", Subject: a.span(), Context: b.Words(), Summary: "A loop takes no units of quotas",
			Detail: "It takes no item while a breaker is open, or while its spending limit is reached:  quota = quota.NAME  or  [quota.A, quota.B]. Units are taken by steps and workflows."})
		return
	}
	taken := maps.Clone(c.taken)
	c.takesQuotas(b)
	c.taken = taken
	for _, r := range a.Names {
		q := c.quotas[r.Name]
		if q.stray || q.Inner("circuit_breaker") != nil || q.attr("per") != nil {
			continue
		}
		c.report(diag.Diagnostic{Code: "F0424", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Quota %q never keeps the loop from taking an item", r.Name),
			Detail: "A loop waits for the breaker of a quota and for its spending limit:  circuit_breaker { … },  or  cost_usd = 20  with  per = \"24h\". Units and rates apply to steps.",
			Notes:  []diag.Note{{Text: q.Words() + " is declared here", Range: nameRange(q)}}})
	}
}

// loopTimes checks that the times of a loop that are known fit together.
func (c *checker) loopTimes(b *Block) {
	lease, heartbeat := b.seconds("lease", ir.DefaultLease.Seconds()), b.seconds("heartbeat", ir.DefaultHeartbeat.Seconds())
	if at := b.attr("heartbeat"); at == nil {
		at = b.attr("lease")
		if at != nil && lease > 0 && heartbeat*3 > lease {
			c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "The lease is too short for the heartbeat",
				Detail: "By default a claim is renewed every 30 seconds, and the lease must be at least three times as long. Add a shorter heartbeat, such as  heartbeat = \"1s\"."})
		}
	} else if lease > 0 && heartbeat > 0 && heartbeat*3 > lease {
		c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "The heartbeat is too slow for the lease",
			Detail: "The heartbeat must be at most a third of the lease, so that one or two late renewals do not lose the item."})
	}
	idle, most := b.seconds("idle", ir.DefaultIdle.Seconds()), b.seconds("idle_max", ir.DefaultIdleMax.Seconds())
	if at := b.attr("idle_max"); at != nil && idle > 0 && most > 0 && most < idle {
		c.report(diag.Diagnostic{Code: "F0423", Subject: at.span(), Context: b.Words(), Summary: "idle_max is shorter than idle",
			Detail: "The wait between two searches grows from idle to idle_max."})
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
	const why = "A loop is not a run of a workflow. It can read only var, local, item and worker."
	return c.env(roots{"item": root("item", ir.ItemType), "worker": root("worker", value.StringType)}, map[string]string{"step": why, "input": why, "run": why})
}

// sourceMeant says which source takes the work that a label of other tools names, or "".
func sourceMeant(b *Block) string {
	line := func(name, placeholder string) string {
		if a := b.Src.Body.Attr(name); a != nil && quote(a.Text()) != "" {
			return a.Text()
		}
		return placeholder
	}
	switch b.Name {
	case "github", "issues", "github_issues", "gitea":
		return fmt.Sprintf("Issues are a backlog. Write  source \"backlog\" { … }  with the lines  from = \"github\"  and  repo = %s.", line("repo", "\"OWNER/NAME\""))
	case "file", "files", "markdown", "todo", "jsonl":
		return fmt.Sprintf("A list in a file is a backlog. Write  source \"backlog\" { … }  with the lines  from = \"file\"  and  path = %s. For a file of plans, write  source \"roadmap\".", line("path", "\"FILE\""))
	case "jira", "linear", "gitlab", "trello", "asana", "exec", "command", "program":
		return fmt.Sprintf("A program lists the work of other services. Write  source \"backlog\" { … }  with the lines  from = \"exec\"  and  command = %s.", line("command", "[\"PROGRAM\"]"))
	case "http", "url", "api":
		return fmt.Sprintf("A service is a backlog. Write  source \"backlog\" { … }  with the lines  from = \"http\"  and  url = %s.", line("url", "\"https://…\""))
	case "queue", "inbox", "manual", "cli":
		return "Work that people hand in is  source \"dispatch\" {}."
	}
	return ""
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
	if b.Name == "" {
		return
	}
	if !slices.Contains(sourceLabels, b.Name) {
		d := diag.Diagnostic{Code: "F0421", Subject: nameRange(b), Context: of.Words(), Summary: fmt.Sprintf("%.60q is not a kind of source", b.Name),
			Detail: fmt.Sprintf("It is one of %s.", quoted(sourceLabels))}
		if other := sourceMeant(b); other != "" {
			d.Detail = other
		} else if near := diag.Nearest(b.Name, sourceLabels); near != "" {
			d.Detail += fmt.Sprintf(" Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: nameRange(b), Text: fmt.Sprintf("%q", near)}
		}
		c.report(d)
		return
	}
	kind := b.Name
	if kind == Backlog {
		if b.attr("from") == nil {
			if !b.stray {
				c.missingOfSource(of, b, "from")
			}
			return
		}
		if !contains(b.Schema.Attr("from").Words, b.Text("from")) { // which was reported
			return
		}
		kind += " " + b.Text("from")
	}
	for _, x := range sourceHas {
		switch a := b.attr(x.attr); {
		case a == nil && contains(x.must, kind) && !b.stray:
			c.missingOfSource(of, b, x.attr)
		case a != nil && !contains(x.has, kind):
			c.report(diag.Diagnostic{Code: "F0421", Subject: a.Src.Range, Context: of.Words(), Summary: fmt.Sprintf("A source of kind %s has no %s", kind, x.attr),
				Detail: fmt.Sprintf("The attribute belongs to  %s.", sourceWords(x.has))})
		}
	}
	c.request(b)
	if a := b.attr("repo"); a != nil && a.known != nil {
		if text, _ := a.known.Const.(string); !repository().MatchString(text) {
			c.report(diag.Diagnostic{Code: "F0421", Subject: a.span(), Context: of.Words(), Summary: fmt.Sprintf("%.60q is not a repository", text), Detail: "It is an owner and a name:  repo = \"acme/app\"."})
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

var repository = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)

func (c *checker) missingOfSource(of, b *Block, attr string) {
	c.report(diag.Diagnostic{Code: "F0421", Subject: b.Src.Header, Context: of.Words(), Summary: fmt.Sprintf("Missing attribute %q in %s", attr, b.Words()), Detail: b.Schema.Attr(attr).Doc})
}

// sourceWords writes kinds of sources as a file has them.
func sourceWords(kinds []string) string {
	var out []string
	for _, k := range kinds {
		label, from, _ := strings.Cut(k, " ")
		words := fmt.Sprintf("source %q", label)
		if from != "" {
			words += fmt.Sprintf(" with from = %q", from)
		}
		out = append(out, words)
	}
	return schema.Either(out)
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
