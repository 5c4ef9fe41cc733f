package engine_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine/sim"
)

var loweredUses = flag.Int("lowered.uses", 25, "random uses of patterns that are run as written and lowered")

// TestLoweredPatterns draws programs with patterns. The lowered text of each of them validates, is laid out as fmt does it, becomes the same
// definition, and its run in virtual time has the same statuses, order and outputs as that of the program. A thousand of them:
//
//	go test ./runner/engine -run TestLoweredPatterns -lowered.uses 1000
func TestLoweredPatterns(t *testing.T) {
	kinds, ends := map[string]int{}, map[string]int{}
	for seed := range *loweredUses {
		d := &drawn{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), kinds: kinds}
		text := d.program()
		fail := func(what string, args ...any) { t.Fatalf("seed %d: %s\n%s", seed, fmt.Sprintf(what, args...), text) }
		load := func(name, text string) *dsl.Program {
			p, list := dsl.Load(fstest.MapFS{"x.hcl": {Data: []byte(text)}}, "x.hcl", dsl.Options{})
			if list.HasErrors() {
				fail("%s: %v\n%s", name, list[0].Error(), list[0].Detail)
			}
			return p
		}
		written := load("as written", text)
		lowered := string(written.Lowered())
		again, list := format.Format("x.hcl", []byte(lowered))
		if list.HasErrors() || string(again) != lowered {
			fail("fmt changes the lowered text:\n%s", cmp.Diff(lowered, string(again)))
		}
		for _, kind := range []string{"feedback \"", "consensus \"", "compete \""} {
			if strings.Contains(lowered, kind) {
				fail("there is a %s in the lowered text\n%s", kind, lowered)
			}
		}
		core := load("lowered", lowered)
		if got, want := forgetPatterns(written), len(patternBlock.FindAllString(text, -1)); got != want {
			fail("%d nodes of the definition have a pattern, the file has %d patterns", got, want)
		}
		if core.IR.Hash() != written.IR.Hash() {
			fail("another definition:\n%s", cmp.Diff(string(written.IR.Canonical()), string(core.IR.Canonical())))
		}
		seen, want := program{written.IR, false}.simulate(t, uint64(seed), sim.Faults{})
		seenCore, got := program{core.IR, false}.simulate(t, uint64(seed), sim.Faults{})
		if seen+want != seenCore+got {
			fail("another run (-written +lowered):\n%s", cmp.Diff(seen+want, seenCore+got))
		}
		for _, line := range strings.Split(want, "\n") {
			if words := strings.Fields(line); len(words) > 1 {
				ends[words[1]]++
			}
		}
	}
	t.Logf("patterns: %v; ends of nodes: %v", kinds, ends)
	for _, kind := range []string{"feedback", "consensus", "compete"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s was drawn", kind)
		}
	}
	for _, status := range []string{"succeeded", "failed", "skipped"} {
		if ends[status] == 0 {
			t.Errorf("no node ended as %s", status)
		}
	}
}

var patternBlock = regexp.MustCompile(`(?m)^\s*(feedback|consensus|compete) "`)

// forgetPatterns takes out of a program which patterns its nodes were made of, and returns how many there were. The lowered text does not
// have them.
func forgetPatterns(p *dsl.Program) (found int) {
	for i := range p.IR.Workflows {
		for n := range ir.All(p.IR.Workflows[i].Nodes) {
			if n.Pattern != "" {
				found++
			}
			n.Pattern = ""
		}
	}
	return found
}

// drawn draws a program.
type drawn struct {
	*rand.Rand
	strings.Builder
	kinds map[string]int
	names []string // of the nodes at the top so far
	next  int
}

func (d *drawn) say(format string, args ...any) { fmt.Fprintf(&d.Builder, format+"\n", args...) }

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawn) one(of ...string) string { return of[d.IntN(len(of))] }

var drawnAgents = []string{"ann", "b-o", "cy", "dee", "eve"}

func (d *drawn) program() string {
	for _, a := range drawnAgents {
		d.say("agent %q {\ntype = \"exec\"\ncommand = [\"agent\"]", a)
		if d.chance(30) {
			d.say("timeout = \"%ds\"", 1+d.IntN(30))
		}
		d.say("}")
	}
	d.say("pool \"two\" { members = [agent.cy, agent.dee] }")
	d.say("gate \"g\" {\ncheck = \"result.attempts > %d || result.output.with != null\"\non_fail = %q\n}", d.IntN(2), d.one("fail", "retry", "warn"))
	d.say("gate \"some\" { check = \"result.output != null\" }")
	d.say("workflow \"w\" {")
	for range 1 + d.IntN(4) {
		d.node(0, true)
	}
	d.say("output \"all\" { value = [%s] }", strings.Join(prefixed("step.", d.names, ".status"), ", "))
	d.say("}")
	return d.String()
}

func prefixed(before string, names []string, after string) (out []string) {
	for _, n := range names {
		out = append(out, before+n+after)
	}
	return out
}

func (d *drawn) name(kind string) string {
	d.next++
	return fmt.Sprintf("%s%s%d", kind[:1], d.one("", "-", "_"), d.next)
}

// node draws a pattern, or a group of them.
func (d *drawn) node(depth int, top bool) {
	kind := d.one("feedback", "consensus", "compete")
	if depth < 2 && d.chance(25) {
		kind = d.one("sequence", "parallel", "switch")
	}
	name := d.name(kind)
	if kind != "switch" {
		d.say("%s %q {", kind, name)
	}
	switch kind {
	case "sequence":
		d.say("on_error = \"continue\"")
		if d.chance(50) {
			d.say("repeat { max = %d }", 1+d.IntN(2))
		}
		d.say("step \"%s_s\" { value = { takes = %d } }", name, d.IntN(3))
		d.pattern(name+"_p", "previous.output")
		d.node(depth+1, false)
		d.say("}")
	case "parallel":
		d.say("on_error = \"continue\"")
		for range 1 + d.IntN(2) {
			d.node(depth+1, false)
		}
		d.say("}")
	case "switch":
		d.say("switch %q {\ncase {\nwhen = \"%t\"", name, d.chance(50))
		d.node(depth+1, false)
		d.say("}\ndefault {")
		d.node(depth+1, false)
		d.say("}\n}")
	default:
		d.body(kind, "", top)
	}
	if top {
		d.names = append(d.names, name)
	}
}

// pattern draws a pattern of some kind behind another node.
func (d *drawn) pattern(name, previous string) {
	kind := d.one("feedback", "consensus", "compete")
	d.say("%s %q {", kind, name)
	d.body(kind, previous, false)
}

// body draws the rest of a pattern.
func (d *drawn) body(kind, previous string, top bool) {
	d.kinds[kind]++
	each := d.chance(25)
	if each {
		d.say("for_each = %s", d.one(`["x", "y"]`, `{ a = 1, b = 2 }`, `[]`))
	}
	if d.chance(25) {
		d.say("when = %q", d.one("1 > 2", "1 < 2"))
	}
	if top && len(d.names) > 0 && d.chance(50) {
		d.say("depends_on = [step.%s]\ntrigger_rule = %q", d.names[d.IntN(len(d.names))], d.one("all_done", "none_failed", "always"))
	}
	if d.chance(60) {
		d.say("on_error = \"continue\"")
	} else if d.chance(30) {
		d.say("degrade { output = null }")
	}
	if d.chance(20) {
		d.say("retry { max_attempts = %d }", 2)
	}
	if d.chance(15) {
		d.say("deadline { after = \"%ds\" }", 5+d.IntN(40))
	}
	if d.chance(15) {
		d.say("max_concurrency = %d", 1+d.IntN(2))
	}
	if d.chance(15) {
		d.say("priority = %q", d.one("low", "high"))
	}
	if d.chance(15) {
		d.say("budget { attempts = %d }", 1+d.IntN(9))
	}
	if d.chance(70) {
		d.say("task = %s", d.one(`"Do it."`, `"Do ${run.workflow}."`, "<<-E\n  Do it in\n    two lines.\n  E"))
	}
	with := fmt.Sprintf("{ takes = %d, fails = %d }", d.IntN(8), d.IntN(3)/2)
	if previous != "" {
		with = fmt.Sprintf("{\n takes = %s\n of = %s # so\n}", d.one(previous+".takes", "1"), previous)
	} else if each && d.chance(50) {
		with = "{ takes = 1, of = each.value }"
	}
	if d.chance(80) {
		d.say("with = %s", with)
	}
	switch kind {
	case "feedback":
		d.say("producer = %s\nreviewer = %s", d.one("agent.ann", "pool.two", `pool.two["dee"]`, "1 < 2 ? agent.ann : agent.cy"), d.one("agent.b-o", "pool.two"))
		d.say("accept = %s", d.one(`"iteration > 1"`, `"review.output.with.iteration >= 2"`, `"product.attempts == review.attempts"`, `"false"`, "<<E\nreview.status == 'succeeded' // so\n&& product.agent != review.agent\nE"))
		if d.chance(60) {
			d.say("max_iterations = %d", 1+d.IntN(3))
		}
		if d.chance(30) {
			d.say("gates = [gate.g]")
		}
		if d.chance(30) {
			d.say("value = { made = product.output, judged = review.output, n = product.attempts }")
		}
		if d.chance(30) {
			d.say("timeout = \"%ds\"", 1+d.IntN(20))
		}
		if d.chance(30) {
			d.say("review_task = \"Judge it.\"")
		}
	case "consensus":
		d.say("participants = [%s]", d.one("agent.ann, agent.b-o, pool.two", "pool.two", "agent.eve, agent.ann, agent.b-o"))
		d.say("vote = %s", d.one("result.agent == \"ann\"", "result.agent", "result.agent == \"b-o\" ? null : length(coalesce(result.agent, \"x\"))", "try(result.output.with.votes.ann, \"yes\")"))
		switch d.IntN(4) {
		case 0:
			d.say("method = \"unanimous\"")
		case 1:
			d.say("threshold = %s", d.one("0.5", "2/3"))
		case 2:
			d.say("quorum = 1")
		}
		if d.chance(40) {
			d.say("tie_breaker = %s", d.one("agent.eve", "pool.two"))
		}
		d.rest()
	case "compete":
		d.say("agents = [%s]", d.one("agent.ann, agent.b-o, pool.two", "pool.two", "agent.eve"))
		if d.chance(60) {
			d.say("score = %s", d.one("length(coalesce(result.agent, \"x\"))", "result.agent == \"cy\" ? 2 : 1", "result.agent == \"ann\" ? null : result.attempts", "result.partial ? 0 : 1"))
		}
		if d.chance(20) {
			d.say("join = %s", d.one(`"any"`, "1", `"succeeded > 0 && done == total"`))
		}
		if d.chance(20) {
			d.say("losers = %q", d.one("wait", "cancel"))
		}
		d.rest()
	}
	d.say("}")
}

func (d *drawn) rest() {
	if d.chance(40) {
		d.say("timeout = \"%ds\"", 1+d.IntN(8))
	}
	if d.chance(20) {
		d.say("gates = [gate.some]")
	}
}
