package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes a random workflow that validates: every kind of node that the language has, nested, with dependencies of
// both sorts. It is text, so that a run that went wrong can be read.
type writer struct {
	r     *rand.Rand
	b     strings.Builder
	names int
	left  int
	// seen are the nodes written so far that can be named here; open are the groups around.
	seen []string
	// early tells that the node at hand may start before what it waits for has ended.
	early bool
	// callable are the workflows that this one can call; it is called itself, and has an input.
	callable []string
	called   bool
	// holds is the quota that nodes of this workflow can hold. Those of workflows that are called are declared later.
	holds string
	// more draws what came later to the language, so that the rest of a seed's program stays.
	more *rand.Rand
	// helps is how many escalations there are.
	helps int
	// people draws approvals and tasks of people; nil for a program without. asking is how many groups of them there are.
	people  *rand.Rand
	asking  int
	happens bool // there are events and sync points
	// patterns draws feedbacks, consensuses and competitions; nil for a program without. drawn is how many there are.
	patterns *rand.Rand
	drawn    int
}

// maxCalls is how many workflows call each other in a random program, besides the one that is run.
const maxCalls = 3

// randomProgram writes a program of at most size nodes. Timeouts and cancels depend on when things happen, so timed says
// whether there may be any: without them the end of a run does not depend on the order of events.
func randomProgram(r, more, people, patterns *rand.Rand, size int, timed, events bool) string {
	w := &writer{r: r, left: size, more: more, people: people, patterns: patterns, happens: events}
	if w.more.IntN(2) == 0 {
		w.helps = 2
	}
	w.line(0, "locals { enough = %d }", joined)
	w.quotas(timed)
	w.agents()
	w.line(0, `gate "quick" { check = "result.attempts < %d" }`, 1+r.IntN(4))
	w.line(0, `gate "probe" {`)
	w.line(1, `run = ["probe", result.status]`)
	if w.maybe(2) {
		w.line(1, `on_fail = "warn"`)
	}
	w.line(0, "}")
	w.line(0, `gate "better" {`)
	w.line(1, `run = ["probe", result.status]`)
	w.line(1, `on_fail = "retry"`)
	w.line(0, "}")
	w.line(0, `gate "critic" {`)
	w.line(1, "review { agent = agent.judge }")
	if w.b.Len()%3 == 0 { // no draw of its own, so that the rest of a seed's program stays
		w.line(1, `on_fail = "retry"`)
	}
	w.line(0, "}")
	size, calls := w.left, r.IntN(1+maxCalls)
	for k := calls; k > 0; k-- {
		name := fmt.Sprintf("k%d", k)
		w.called, w.seen, w.left = true, nil, 1+r.IntN(3)
		w.holds = name
		w.workflow(name, timed)
		w.callable = append(w.callable, name)
	}
	w.called, w.seen, w.left, w.holds = false, nil, size, "top"
	w.workflow("w", timed)
	w.escalations(timed)
	return w.b.String()
}

// quotas writes those that workflows hold, from the outside in, and then those that attempts take. What a step comes to does not
// depend on when it starts.
// quotas writes those that agents, steps and what lasts take. What an open breaker refuses can fail, so there is one in timed programs
// alone.
func (w *writer) quotas(timed bool) {
	for _, name := range []string{"top", "k1", "k2", "k3", "few"} {
		w.line(0, "quota %q { capacity = %d }", name, 1+w.r.IntN(3))
	}
	w.line(0, `quota "slow" {`)
	requests, per := 1+w.r.IntN(3), 1+w.r.IntN(20)
	if per%2 == 0 { // no draw of its own, so that the rest of a seed's program stays
		w.line(1, "attempts = %d", requests+1)
		w.line(1, `per      = "%ds"`, per+5)
	}
	w.line(1, "rate_limit {")
	w.line(2, "requests = %d", requests)
	w.line(2, `per      = "%ds"`, per)
	w.line(1, "}")
	if timed && per%3 > 0 {
		w.line(1, "circuit_breaker {")
		w.line(2, "failures = %d", 1+requests%2)
		w.line(2, `reset    = "%ds"`, 3*per)
		if per%3 == 1 {
			w.line(2, `when     = "error.kind != 'blocking'"`)
		}
		w.line(1, "}")
	}
	w.line(0, "}")
}

// hold lets what lasts hold a quota.
func (w *writer) hold(depth int) {
	if w.maybe(5) {
		w.line(depth, "quota = quota.%s", w.holds)
	}
}

// take lets attempts take quotas.
func (w *writer) take(depth int) {
	if w.maybe(4) {
		w.line(depth, "quota = %s", []string{"quota.few", "{ few = 1 }", "[quota.slow, quota.few]", "quota.slow"}[w.r.IntN(4)])
	}
}

// agents writes three agents with equal rules, and a pool of them: what a step comes to does not depend on who does it.
func (w *writer) agents() {
	retry := ""
	if w.maybe(2) {
		start := w.b.Len()
		w.retry(1)
		text := w.b.String()
		retry = text[start:]
		w.b.Reset()
		w.b.WriteString(text[:start])
	}
	start := w.b.Len()
	w.classify(1)
	text := w.b.String()
	rules := text[start:]
	w.b.Reset()
	w.b.WriteString(text[:start])
	for _, name := range []string{"echo", "echo2", "echo3", "judge"} {
		w.line(0, "agent %q {", name)
		w.line(1, `type    = "exec"`)
		w.line(1, `command = ["echo"]`)
		if name != "echo2" {
			w.line(1, `capabilities = ["echo"]`)
		}
		if w.maybe(2) {
			w.line(1, "concurrency = %d", 1+w.r.IntN(3))
		}
		w.take(1)
		if name != "judge" { // who would be asked for one result again and again
			w.b.WriteString(retry)
			w.b.WriteString(rules)
		}
		w.line(0, "}")
	}
	if w.people != nil {
		w.line(0, `agent "person" {`)
		w.line(1, `type = "human"`)
		w.b.WriteString(retry)
		w.b.WriteString(rules)
		w.line(0, "}")
		w.line(0, `agent "helper" {`) // what it does, the person would do
		w.line(1, `type    = "exec"`)
		w.line(1, `command = ["helper"]`)
		if w.people.IntN(2) == 0 {
			w.line(1, "concurrency = 1")
		}
		w.b.WriteString(retry)
		w.b.WriteString(rules)
		w.line(0, "}")
		w.line(0, `pool "folk" {`)
		w.line(1, "members  = [agent.person, agent.helper]")
		w.line(1, "strategy = %q", []string{"least_busy", "round_robin"}[w.people.IntN(2)])
		w.line(0, "}")
	}
	w.line(0, `pool "echoes" {`)
	w.line(1, "members  = [agent.echo3, agent.echo, agent.echo2]")
	w.line(1, "strategy = %q", []string{"least_busy", "round_robin", "capability"}[w.r.IntN(3)])
	w.line(0, "}")
}

func (w *writer) workflow(name string, timed bool) {
	w.line(0, "workflow %q {", name)
	if w.called {
		w.line(1, `input "a" { type = string }`)
	}
	w.line(1, "max_concurrency = %d", 1+w.r.IntN(6))
	if timed && w.maybe(3) {
		w.line(1, `timeout = "%ds"`, 5+w.r.IntN(600))
	}
	w.hold(1)
	w.classify(1)
	if w.helps > 0 && w.more.IntN(5) == 0 {
		w.line(1, "escalate = escalation.e%d", w.more.IntN(w.helps))
	}
	for w.left > 0 {
		w.node(1, timed)
	}
	for _, name := range w.seen {
		if w.maybe(4) {
			w.line(1, `output "%s" { value = step.%s.output }`, name, name)
		}
	}
	w.line(0, "}")
}

// heal is the name of the workflow that heals nodes.
const heal = "heal"

func (w *writer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// maybe is true once in n times.
func (w *writer) maybe(n int) bool { return w.r.IntN(n) == 0 }

func (w *writer) retry(depth int) {
	w.line(depth, "retry {")
	w.line(depth+1, "max_attempts = %d", 1+w.r.IntN(4))
	if w.maybe(2) {
		w.line(depth+1, `base_delay = "%dms"`, 1+w.r.IntN(5000))
	}
	if w.maybe(2) {
		w.line(depth+1, `jitter = "%s"`, []string{"none", "full", "equal"}[w.r.IntN(3)])
	}
	if w.maybe(3) {
		w.line(depth+1, `when = "error.kind != 'fatal' && attempt < 3"`)
	}
	w.line(depth, "}")
}

// classify gives some errors other kinds.
func (w *writer) classify(depth int) {
	for w.more.IntN(6) == 0 {
		w.line(depth, "classify {")
		w.line(depth+1, `when = "%s"`, []string{"attempt >= 2", "error.kind == 'transient'", "error.kind == 'blocking'", "true", "result.stderr contains 'problem 2'"}[w.more.IntN(5)])
		w.line(depth+1, "kind = %q", []string{"transient", "rate_limited", "recoverable", "blocking", "fatal"}[w.more.IntN(5)])
		w.line(depth, "}")
	}
}

// escalations writes those that nodes name, and the workflow that heals. Which error a call has, and who failed last, depends on time.
func (w *writer) escalations(timed bool) {
	if w.helps == 0 {
		return
	}
	for i := range w.helps {
		w.line(0, `escalation "e%d" {`, i)
		levels := 1 + w.more.IntN(4)
		for n := w.more.IntN(4); n > 0; n-- {
			w.line(1, "rule {")
			switch when := w.more.IntN(4); {
			case when == 0:
				w.line(2, `when = "attempt == 1"`)
			case when == 1:
				w.line(2, `when = "attempt >= %d"`, 2+w.more.IntN(3))
			case when == 2 && timed:
				w.line(2, `when = "error.kind == 'fatal' || elapsed > 20"`)
			}
			w.line(2, `level = "l%d"`, w.more.IntN(levels))
			w.line(1, "}")
		}
		for l := range levels {
			w.line(1, `level "l%d" {`, l)
			if timed && w.people != nil && w.people.IntN(3) == 0 {
				w.line(2, `await = "decision"`)
				if w.people.IntN(2) == 0 {
					w.line(2, `after = "%ds"`, 1+w.people.IntN(200))
				}
				w.line(1, "}")
				continue
			}
			switch w.more.IntN(5) {
			case 0, 1:
				w.line(2, "workflow = workflow.heal")
				w.line(2, "with = { n = attempt }")
			case 2, 3:
				if timed && w.more.IntN(2) == 0 {
					w.line(2, `reassign = %s`, []string{"agent.echo", `pool.echoes[attempt > 2 ? "echo" : "echo3"]`}[w.more.IntN(2)])
				} else {
					w.line(2, "reassign = pool.echoes")
				}
			}
			w.line(1, "}")
		}
		w.line(0, "}")
	}
	w.line(0, `workflow %q {`, heal)
	w.line(1, `input "n" { type = number }`)
	w.line(1, "max_concurrency = 2")
	w.line(1, `step "mend" { run = ["do", "--", "${input.n}"] }`)
	w.line(1, `output "x" { value = step.mend.output }`)
	w.line(0, "}")
}

// escalate lets a node escalate, and a step perhaps by a gate at once.
func (w *writer) escalate(depth int, step bool) bool {
	if w.helps == 0 || w.more.IntN(4) > 0 {
		return false
	}
	w.line(depth, "escalate = escalation.e%d", w.more.IntN(w.helps))
	if step && w.more.IntN(3) == 0 {
		w.line(depth, `gate "n%d_alarm" {`, w.names)
		w.line(depth+1, `check   = "result.attempts != %d"`, 1+w.more.IntN(2))
		w.line(depth+1, `on_fail = "escalate"`)
		w.line(depth, "}")
	}
	return true
}

// other is a node that can be named here, or "".
func (w *writer) other() string {
	if len(w.seen) == 0 || w.early {
		return ""
	}
	return w.seen[w.r.IntN(len(w.seen))]
}

// hasEvents reports whether the program of a seed has events and sync points.
func hasEvents(seed uint64) bool { return seed%4 == 1 }

// events writes a group with an event and a wait for it, or with the parties of a sync point. The nodes inside are not read by
// others: whose event is the first one, and who is the last at a point, depends on time. The group has a value for the same reason.
func (w *writer) events(depth int, name string, timed bool) {
	each, again := w.maybe(3), w.maybe(3)
	kind := "sequence"
	if w.maybe(2) {
		kind = "parallel"
	}
	w.line(depth, "%s %q {", kind, name)
	w.line(depth+1, `value = "done"`)
	if each {
		w.line(depth+1, `for_each = ["x", "y", "z"]`)
	}
	if again {
		w.line(depth+1, "repeat { max = %d }", 1+w.r.IntN(3))
	}
	step := func(part, kind string, lines ...string) {
		w.line(depth+1, "step %q {", name+part)
		w.line(depth+2, "%s {", kind)
		for _, l := range lines {
			w.line(depth+3, "%s", l)
		}
		w.line(depth+2, "}")
		w.line(depth+1, "}")
	}
	if kind == "sequence" {
		step("e", "emit", fmt.Sprintf("event = %q", "e_"+name), `data = { n = 1 }`)
		step("w", "wait", fmt.Sprintf("event = %q", "e_"+name), `match = "event.n > 0"`, `data = object({ n = number })`)
	} else {
		for _, as := range []string{"a", "b"} {
			lines := []string{fmt.Sprintf(`point = "%s-${run.id}"`, name), fmt.Sprintf("as = %q", as), `needs = ["b", "a"]`}
			if timed { // a budget, or a stop, can keep the other party from coming
				lines = append(lines, `timeout = "300s"`)
			}
			step(as, "sync", lines...)
		}
	}
	w.line(depth, "}")
}

func (w *writer) node(depth int, timed bool) {
	if w.people != nil && depth < 4 && w.people.IntN(4) == 0 {
		w.asksPeople(depth, timed)
	}
	if w.patterns != nil && depth < 4 && w.patterns.IntN(4) == 0 {
		w.pattern(depth, timed)
	}
	w.left--
	w.names++
	name := fmt.Sprintf("n%d", w.names)
	if w.happens && depth < 4 && w.maybe(12) {
		w.events(depth, name, timed)
		w.seen = append(w.seen, name)
		return
	}
	kind := "step"
	if depth < 4 && w.left > 1 && w.maybe(4) {
		kind = []string{"sequence", "parallel", "switch"}[w.r.IntN(3)]
	}
	w.line(depth, "%s %q {", kind, name)
	each, again := w.maybe(6), w.maybe(8)
	if each {
		w.line(depth+1, "for_each = %s", []string{`["x", "y", "z"]`, `{ a = 1, b = 2 }`, `[]`, `range(5)`}[w.r.IntN(4)])
	}
	if w.maybe(3) {
		if o := w.other(); o != "" {
			w.line(depth+1, "depends_on = [step.%s]", o)
			w.rule(depth + 1)
		}
	}
	w.conditions(depth + 1)
	w.failures(depth+1, timed)
	if again {
		w.repeat(depth + 1)
	}
	if timed && each != (kind == "parallel") && w.maybe(2) {
		w.join(depth+1, again)
	}
	if kind == "step" {
		w.action(depth+1, each, again, timed)
	} else {
		w.group(depth, kind, each || again, timed)
	}
	w.line(depth, "}")
	w.early = false
	w.seen = append(w.seen, name)
}

// rule writes a trigger rule. What a node sees of others that it does not wait for depends on the order of events, so a
// node whose rule fires early looks at nothing.
func (w *writer) rule(depth int) {
	if !w.maybe(2) {
		return
	}
	rule := []string{"none_failed", "all_success", "all_failed", "all_done", "one_success", "one_failed", "always"}[w.r.IntN(7)]
	w.line(depth, "trigger_rule = %q", rule)
	w.early = strings.HasPrefix(rule, "one_")
}

func (w *writer) conditions(depth int) {
	if w.maybe(5) {
		if o := w.other(); o != "" {
			w.line(depth, `when = "%s"`, []string{"step." + o + ".status == 'succeeded'", "step." + o + ".attempts > 1", "step." + o + ".output != null"}[w.r.IntN(3)])
		}
	}
	if w.called && w.maybe(8) {
		w.line(depth, `require { condition = "input.a != 'failed'" }`)
	} else if w.maybe(20) {
		if o := w.other(); o != "" {
			w.line(depth, `require { condition = "step.%s.status != 'failed'" }`, o)
		}
	}
}

// failures says what becomes of them. What a stop still finds running depends on time.
func (w *writer) failures(depth int, timed bool) {
	switch w.r.IntN(8) {
	case 0, 1:
		w.line(depth, `on_error = "continue"`)
	case 2:
		if timed {
			w.line(depth, `on_error = "stop"`)
		}
	}
	if w.maybe(12) {
		w.line(depth, `degrade { output = "degraded" }`)
	}
	if w.maybe(6) {
		w.line(depth, `priority = %d`, w.r.IntN(3))
	}
}

func (w *writer) repeat(depth int) {
	w.line(depth, "repeat {")
	w.line(depth+1, "max = %d", 1+w.r.IntN(3))
	if w.maybe(2) {
		w.line(depth+1, `until = "%s"`, []string{"result.status == 'succeeded'", "iteration >= 2", "result.attempts > 1 || result.output != null"}[w.r.IntN(3)])
	}
	if w.maybe(3) {
		w.line(depth+1, `delay = "%ds"`, 1+w.r.IntN(20))
	}
	w.line(depth, "}")
}

// joined is how many successes a join by number needs.
const joined = 2

// join lets a node have enough of what it holds. Which that is depends on time. The number stands in a local: a literal one
// that is more than there are children is refused before a run, and what a run makes of it is to be seen, too.
func (w *writer) join(depth int, again bool) {
	w.line(depth, "join = %s", []string{`"all"`, `"any"`, `"first_success"`, "local.enough", `"succeeded > 0 && done >= local.enough"`}[w.r.IntN(5)])
	switch losers := w.r.IntN(4); {
	case losers < 2:
		w.line(depth, "losers = %q", []string{"wait", "cancel"}[losers])
	case losers == 2 && !again:
		w.line(depth, `losers = "detach"`)
	}
}

func (w *writer) action(depth int, each, again, timed bool) {
	argument := `"plain"`
	if w.called && w.maybe(2) {
		argument = "input.a"
	}
	if o := w.other(); o != "" {
		argument = []string{"step." + o + ".status", "jsonencode(step." + o + ".output)"}[w.r.IntN(2)]
	}
	if each && w.maybe(2) {
		argument = "jsonencode(each.value)"
	}
	if again && w.maybe(2) {
		argument = []string{"tostring(iteration)", fmt.Sprintf("coalesce(last.step.n%d.status, \"first\")", w.names)}[w.r.IntN(2)]
	}
	did := w.r.IntN(8)
	switch did {
	case 0:
		if w.maybe(4) && !again {
			w.line(depth, "fail {}")
			return
		}
		if w.names%3 == 0 {
			w.line(depth, "kv {")
			w.line(depth+1, `set = "k"`)
			w.line(depth+1, "value = { a = %s }", argument)
			w.line(depth, "}")
			return
		}
		if w.names%3 == 1 {
			w.line(depth, "handoff {")
			w.line(depth+1, `to = "leo"`)
			w.line(depth+1, `summary = "done"`)
			w.line(depth+1, "next = jsonencode(%s)", argument)
			w.line(depth, "}")
			return
		}
		w.line(depth, "value = { a = %s }", argument)
		return
	case 1:
		if w.maybe(3) {
			w.line(depth, `wait { at = "2026-01-01T00:%02d:00Z" }`, w.r.IntN(60))
		} else {
			w.line(depth, `wait { duration = "%ds" }`, 1+w.r.IntN(100))
		}
		w.judgesPause(depth, w.more)
		return
	case 2, 3:
		who := []string{"agent.echo", "pool.echoes", "pool.echoes", `pool.echoes["echo"]`,
			`pool.echoes[run.id == "" ? "echo" : "echo3"]`, `run.id == "" ? agent.echo2 : pool.echoes`}[w.r.IntN(6)]
		w.line(depth, "agent = %s", who)
		if !strings.Contains(who, "echo2") && w.maybe(4) {
			w.line(depth, `capabilities = ["echo"]`)
		}
		w.line(depth, "with  = { a = %s, n = attempt }", argument)
		if w.maybe(3) {
			w.line(depth, "feedback = %s", argument)
		}
	case 6:
		if w.maybe(2) {
			w.line(depth, "http {")
			w.line(depth+1, `url = "http://localhost/${%s}"`, argument)
			w.line(depth, "}")
			break
		}
		switch w.names % 3 {
		case 0:
			w.line(depth, `remember { text = "it is ${%s}" }`, argument)
		case 1:
			w.line(depth, `recall { query = "what is ${%s}?" }`, argument)
		default:
			w.line(depth, `run = ["do", "--", %s]`, argument)
		}
	case 4, 5:
		if len(w.callable) > 0 {
			w.call(depth, argument, timed)
			return
		}
		fallthrough
	default:
		w.line(depth, `run = ["do", "--", %s]`, argument)
	}
	w.take(depth)
	w.classify(depth)
	w.escalate(depth, true)
	if w.maybe(2) {
		w.retry(depth)
	}
	if timed && w.maybe(4) {
		w.line(depth, `timeout = "%ds"`, 1+w.r.IntN(20))
		if did <= 3 && w.maybe(2) {
			w.line(depth, `on_timeout = "hand_in"`)
		}
	}
	w.gates(depth)
}

func (w *writer) gates(depth int) {
	switch w.r.IntN(6) {
	case 0:
		w.line(depth, "gates = [gate.quick]")
	case 1:
		w.line(depth, "gates = [gate.probe, gate.quick]")
	case 2:
		w.line(depth, "gates = [gate.critic, gate.probe]")
	}
}

// judgesPause lets gates judge a wait or an approval, and its failure escalate.
func (w *writer) judgesPause(depth int, r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		w.line(depth, "gates = [gate.quick]")
	case 1:
		w.line(depth, "gates = [gate.better, gate.quick]")
		if r.IntN(2) == 0 {
			w.line(depth, "retry { max_attempts = %d }", 1+r.IntN(4))
		}
	case 2:
		w.line(depth, "gates = [gate.critic, gate.probe]")
	}
	if w.helps > 0 && r.IntN(3) == 0 {
		w.line(depth, "escalate = escalation.e%d", r.IntN(w.helps))
	}
}

// call writes the call of another workflow. Which of its failures a run tells depends on time, so where nothing else does a
// retry does not look at the error.
func (w *writer) call(depth int, argument string, timed bool) {
	w.line(depth, "call = workflow.%s", w.callable[w.r.IntN(len(w.callable))])
	w.line(depth, "with = { a = %s }", argument)
	w.hold(depth)
	w.escalate(depth, true)
	switch {
	case !timed:
		w.line(depth, `retry {`)
		w.line(depth+1, "max_attempts = %d", 1+w.r.IntN(3))
		w.line(depth+1, `when = "attempt < 3"`)
		w.line(depth, `}`)
	case w.maybe(2):
		w.retry(depth)
	}
	if timed && w.maybe(3) {
		w.line(depth, `timeout = "%ds"`, 1+w.r.IntN(60))
	}
	w.gates(depth)
}

// group writes the children. What lies in a for_each or repeat can be named only inside it.
func (w *writer) group(depth int, kind string, inside, timed bool) {
	early := w.early
	w.early = false
	if w.maybe(3) {
		w.line(depth+1, "max_concurrency = %d", 1+w.r.IntN(3))
	}
	w.hold(depth + 1)
	w.classify(depth + 1)
	again := w.escalate(depth+1, false)
	if timed && w.maybe(4) {
		w.line(depth+1, `timeout = "%ds"`, 1+w.r.IntN(60))
	}
	outside := len(w.seen)
	if w.maybe(5) {
		w.line(depth+1, "gates = [gate.better, gate.quick]")
		inside = true
	} else if w.maybe(5) {
		w.line(depth+1, "gates = [gate.probe]")
	}
	if w.maybe(4) {
		w.line(depth+1, `value = %s`, []string{fmt.Sprintf("step.n%d.output", w.names+1), fmt.Sprintf("tonumber(step.n%d.attempts) / 2", w.names+1), `tonumber("x${run.id}")`}[w.r.IntN(3)])
	}
	if kind == "switch" {
		w.cases(depth+1, early, timed)
	} else {
		w.children(depth+1, timed)
	}
	if inside || again {
		w.seen = w.seen[:outside]
	}
}

func (w *writer) children(depth int, timed bool) {
	for n := 1 + w.r.IntN(4); n > 0 && w.left > 0; n-- {
		w.node(depth, timed)
	}
}

// cases writes those of a switch. A node can't name those of other cases, for at most one of the two is there.
func (w *writer) cases(depth int, early, timed bool) {
	outside := len(w.seen)
	var inside []string
	for n := 1 + w.r.IntN(2); n >= 0; n-- {
		when := "false"
		if o := w.other(); o != "" && !early {
			when = "step." + o + ".status == 'succeeded'"
		}
		if n > 0 {
			w.line(depth, "case {")
			w.line(depth+1, `when = "%s"`, when)
		} else if w.maybe(2) {
			w.line(depth, "default {")
		} else {
			break
		}
		w.children(depth+1, timed)
		w.line(depth, "}")
		inside = append(inside, w.seen[outside:]...)
		w.seen = w.seen[:outside:outside]
	}
	w.seen = append(w.seen, inside...)
}
