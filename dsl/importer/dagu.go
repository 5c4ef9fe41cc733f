package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// dg reads one DAG of dagu, as its reference of the YAML specification has it. A document of the file is a DAG; the others are called by name.
type dg struct {
	p      *program
	w      *workflow
	dags   map[string]*workflow // by name
	params map[string]bool
	env    map[string]bool
	nodes  map[string]string // names of nodes, by the name or id of a step
	output map[string]string // names of nodes, by the variable that takes a step's output
}

func importDagu(p *program, docs []*node) error {
	dags := map[string]*workflow{}
	var all []*dg
	for i, doc := range docs {
		name := doc.get("name").text()
		if name == "" {
			name = baseName(p.name)
		}
		w := p.workflow(name)
		w.isDefault = i == 0
		dags[name] = w
		all = append(all, &dg{p: p, w: w, dags: dags, params: map[string]bool{}, env: map[string]bool{}, nodes: map[string]string{}, output: map[string]string{}})
	}
	for i, d := range all {
		if err := d.dag(docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// dgSteps are the steps in their order. A step may be a text, a list of those that run at once, or a member of an object.
func dgSteps(n *node) (steps []pair) {
	for _, m := range n.pairs() {
		steps = append(steps, m)
	}
	for _, one := range n.list() {
		if one == nil {
			continue
		}
		name := one.get("id").text()
		if name == "" {
			name = one.get("name").text()
		}
		steps = append(steps, pair{name, one})
	}
	return steps
}

func (d *dg) dag(doc *node) error {
	w := d.w
	w.about = oneLine(doc.get("description").text())
	if doc.get("steps") == nil {
		return fmt.Errorf("steps is missing")
	}
	d.parameters(doc.get("params"))
	members := doc.get("env").pairs()
	for _, one := range doc.get("env").list() {
		members = append(members, one.pairs()...)
		if name, value, ok := strings.Cut(one.text(), "="); ok {
			d.p.leave(nil, "env %s=%s", name, value)
		}
	}
	var env []attr
	for _, m := range members {
		env = slices.DeleteFunc(env, func(a attr) bool { return a.name == m.key })
		env = append(env, attr{m.key, d.text(m.value.text(), false).template()})
		d.env[m.key] = true
	}
	if len(env) > 0 {
		w.attrs = append(w.attrs, attr{"env", lines(env)})
	}
	if n := doc.get("maxActiveSteps", "max_active_steps"); n != nil && plainNumber(n.text()) && n.text() != "0" {
		w.attrs = append(w.attrs, attr{"max_concurrency", n.text()})
	}
	if n := doc.get("timeoutSec", "timeout_sec"); n != nil && plainNumber(n.text()) {
		w.attrs = append(w.attrs, attr{"timeout", quote(n.text() + "s")})
	}
	if n := doc.get("workingDir", "working_dir"); n != nil {
		w.attrs = append(w.attrs, attr{"dir", d.text(n.text(), false).template()})
	}
	if sh := doc.get("shell").text(); strings.HasPrefix(sh, "bash") || strings.HasSuffix(sh, "/bash") {
		w.attrs = append(w.attrs, attr{"shell", quote("bash")})
	}
	d.schedule(doc.get("schedule"))
	for _, key := range []string{"mailOn", "mail_on", "smtp", "errorMail", "error_mail", "infoMail", "info_mail", "container", "queue", "dotenv", "secrets", "otel", "ssh", "delaySec", "restartWaitSec", "skipIfSuccessful",
		"logDir", "histRetentionDays", "maxActiveRuns", "max_active_runs", "MaxCleanUpTimeSec", "group", "tags", "labels", "runConfig", "workerSelector", "registryAuths", "defaults", "base", "registry_auths", "kubernetes", "webhook"} {
		if v := doc.get(key); v != nil {
			d.p.leave(nil, "%s (line %d): %s", key, v.line(), v.short())
		}
	}
	for i, c := range doc.get("preconditions", "precondition").listOrOne() {
		b := w.node("step", fmt.Sprintf("precondition_%d", i+1))
		d.precondition(b, c)
		w.nodes = append(w.nodes, b)
	}
	steps := dgSteps(doc.get("steps"))
	graph := doc.get("type").text() == "graph" || doc.get("steps").isMap()
	for _, s := range steps {
		if s.key == "" && s.value.isMap() {
			continue
		}
		graph = graph || s.value.get("depends") != nil
	}
	var names []string
	for i, s := range steps {
		name := s.key
		if name == "" {
			name = fmt.Sprintf("step_%d", i+1)
		}
		names = append(names, unique(w.taken, ident(name)))
		for _, key := range []string{s.key, s.value.get("name").text(), s.value.get("id").text()} {
			if key != "" {
				d.nodes[key] = names[i]
			}
		}
		if o := s.value.get("output"); o != nil {
			out := o.text()
			if o.isMap() {
				out = o.get("name").text()
			}
			d.output[strings.TrimPrefix(out, "$")] = names[i]
		}
	}
	var nodes []*block
	for i, s := range steps {
		if s.value.isList() { // those that run at once
			group := &block{kind: "parallel", name: names[i]}
			for j, one := range s.value.list() {
				inner := one.get("name").text()
				if inner == "" {
					inner = fmt.Sprintf("%s_%d", names[i], j+1)
				}
				b := w.node("step", inner)
				d.step(b, one)
				group.add(b)
			}
			nodes = append(nodes, group)
			continue
		}
		b := &block{kind: "step", name: names[i]}
		d.step(b, s.value)
		nodes = append(nodes, b)
	}
	if len(nodes) == 0 {
		return fmt.Errorf("steps is empty")
	}
	first := len(w.nodes) > 0
	if !graph && len(nodes) > 1 || first {
		group := w.node("sequence", "all")
		if graph {
			inner := w.node("parallel", "steps")
			inner.blocks = nodes
			nodes = []*block{inner}
		}
		group.blocks = append(w.nodes, nodes...)
		nodes = []*block{group}
	}
	w.nodes = nodes
	handlers := doc.get("handlerOn", "handler_on")
	for _, h := range handlers.pairs() {
		b := w.node("step", "on_"+h.key)
		switch h.key {
		case "success":
			b.set("when", quote("run.status == 'succeeded'"))
		case "failure":
			b.set("when", quote("run.status == 'failed'"))
		case "cancel", "abort":
			b.set("when", quote("run.status == 'cancelled'"))
		case "exit":
		default:
			d.p.leave(nil, "handlerOn.%s: %s", h.key, h.value.short())
			continue
		}
		d.step(b, h.value)
		w.finally = append(w.finally, b)
	}
	return nil
}

// parameters reads params: a text "a=1 b=2", a list of objects or of texts, or an object.
func (d *dg) parameters(n *node) {
	add := func(name, def string) {
		if d.params[name] {
			return
		}
		d.params[name] = true
		d.w.inputs = append(d.w.inputs, &param{name: ident(name), typ: "string", def: quote(def)})
	}
	one := func(s string, i int) {
		if name, value, ok := strings.Cut(s, "="); ok && ident(name) == name {
			add(name, strings.Trim(value, `"'`))
		} else {
			add(fmt.Sprint(i), strings.Trim(s, `"'`))
		}
	}
	for _, m := range n.pairs() {
		add(m.key, m.value.text())
	}
	if n.isText() {
		for i, word := range dgWords().FindAllString(n.text(), -1) {
			one(word, i+1)
		}
	}
	for i, p := range n.list() {
		if p.isText() {
			one(p.text(), i+1)
		}
		if p.get("name") != nil && (p.get("type") != nil || p.get("default") != nil || p.get("description") != nil) {
			add(p.get("name").text(), p.get("default").text())
			continue
		}
		for _, m := range p.pairs() {
			add(m.key, m.value.text())
		}
	}
}

var dgWords = lazyregexp.New(`[^\s"'=]+="[^"]*"|[^\s"'=]+='[^']*'|"[^"]*"|'[^']*'|[^\s]+`)

func (d *dg) schedule(n *node) {
	crons := n.texts()
	if n.isMap() {
		crons = n.get("start").texts()
		for _, key := range []string{"stop", "restart"} {
			if v := n.get(key); v != nil {
				d.p.leave(nil, "schedule.%s (line %d): %s", key, v.line(), v.short())
			}
		}
	}
	for i, cron := range crons {
		r := &block{kind: "routine", name: d.w.name}
		if i > 0 {
			r.name = fmt.Sprintf("%s_%d", d.w.name, i+1)
		}
		r.set("cron", quote(cron))
		r.set("workflow", "workflow."+d.w.name)
		d.p.routines = append(d.p.routines, r)
	}
}

func (d *dg) step(b *block, n *node) {
	if n.isText() {
		b.set("run", d.text(n.text(), true).script())
		return
	}
	if v := n.get("description"); v != nil {
		b.set("description", quote(oneLine(v.text())))
	}
	var after []string
	for _, name := range n.get("depends").texts() {
		if to := d.nodes[name]; to != "" && to != b.name {
			after = append(after, "step."+to)
		} else {
			d.p.leave(b, "depends %s: there is no such step", name)
		}
	}
	if len(after) > 0 {
		b.set("depends_on", "["+strings.Join(after, ", ")+"]")
	}
	if v := n.get("dir", "workingDir", "working_dir"); v != nil {
		b.set("dir", d.text(v.text(), false).template())
	}
	if sh := n.get("shell").text(); strings.HasSuffix(strings.SplitN(sh, " ", 2)[0], "bash") {
		b.set("shell", quote("bash"))
	}
	if v := n.get("continueOn", "continue_on"); v.get("failure").yes() || v.text() == "failed" {
		b.set("on_error", quote("continue"))
	} else if v != nil && v.get("skipped") == nil {
		d.p.leave(b, "continueOn: %s", v.short())
	}
	if v := n.get("timeoutSec", "timeout_sec"); v != nil && plainNumber(v.text()) {
		b.set("timeout", quote(v.text()+"s"))
	}
	members := n.get("env").pairs()
	for _, one := range n.get("env").list() {
		members = append(members, one.pairs()...)
	}
	var env []attr
	for _, m := range members {
		env = append(env, attr{m.key, d.text(m.value.text(), false).template()})
	}
	if len(env) > 0 {
		b.set("env", lines(env))
	}
	if v := n.get("parallel"); v != nil {
		items := v.texts()
		if v.isMap() {
			items = v.get("items").texts()
			if most := v.get("maxConcurrent", "max_concurrent"); most != nil && plainNumber(most.text()) {
				b.set("max_concurrency", most.text())
			}
		}
		if len(items) == 1 && strings.HasPrefix(items[0], "$") {
			b.set("for_each", fmt.Sprintf("jsondecode(%s)", d.text(items[0], false).template()))
		} else {
			b.set("for_each", quotes(items))
		}
	}
	if v := n.get("retryPolicy", "retry_policy"); v != nil {
		r := &block{kind: "retry"}
		if limit := v.get("limit"); plainNumber(limit.text()) {
			var n int
			_, _ = fmt.Sscan(limit.text(), &n)
			r.set("max_attempts", fmt.Sprint(min(max(n+1, 1), 1000)))
		}
		if s := v.get("intervalSec", "interval_sec"); plainNumber(s.text()) && s.text() != "0" {
			r.set("base_delay", quote(s.text()+"s"))
			r.set("multiplier", "1")
			if m := v.get("backoff"); m.yes() {
				r.attrs[len(r.attrs)-1].value = "2"
			} else if plainNumber(m.text()) {
				r.attrs[len(r.attrs)-1].value = m.text()
			}
			r.set("max_delay", quote("1h"))
			r.set("jitter", quote("none"))
		}
		b.add(r)
	}
	for _, c := range n.get("preconditions", "precondition").listOrOne() {
		d.precondition(b, c)
	}
	for _, key := range []string{"repeatPolicy", "repeat_policy", "signalOnStop", "signal_on_stop", "mailOnError", "mail_on_error", "stdout", "stderr", "container", "workerSelector", "worker_selector", "approval"} {
		if v := n.get(key); v != nil {
			d.p.leave(b, "%s (line %d): %s", key, v.line(), v.short())
		}
	}
	d.action(b, n)
}

func (d *dg) action(b *block, n *node) {
	executor := n.get("executor", "type")
	kind := executor.text()
	if executor.isMap() {
		kind = executor.get("type").text()
	}
	fail := func(f string, a ...any) {
		what := fmt.Sprintf(f, a...)
		d.p.leave(b, "%s", what)
		b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: " + what)}}})
	}
	if sub := n.get("call", "run", "dag"); sub != nil {
		to := d.dags[sub.text()]
		if to == nil || to == d.w {
			fail("the DAG %s, which another file has; import it, and write call = workflow.NAME", sub.text())
			return
		}
		b.set("call", "workflow."+to.name)
		var with []attr
		for _, word := range dgWords().FindAllString(n.get("params").text(), -1) {
			if name, value, ok := strings.Cut(word, "="); ok {
				with = append(with, attr{ident(name), d.text(strings.Trim(value, `"'`), false).template()})
			}
		}
		for _, m := range n.get("params").pairs() {
			with = append(with, attr{ident(m.key), d.text(m.value.text(), false).template()})
		}
		if len(with) > 0 {
			b.set("with", object(with))
		}
		return
	}
	switch kind {
	case "", "shell", "command", "sh", "bash":
	case "http":
		method, url, _ := strings.Cut(n.get("command").text(), " ")
		h := &block{kind: "http"}
		h.set("method", quote(method))
		h.set("url", d.text(strings.TrimSpace(url), false).template())
		b.add(h)
		return
	default:
		fail("the executor %s: %s", kind, n.get("command", "script").short())
		return
	}
	script := n.get("script")
	cmd := n.get("command", "cmd", "run")
	switch {
	case cmd.isList():
		texts := cmd.texts()
		if strings.ContainsAny(strings.Join(texts, ""), " \n") && dgLines(texts) { // each is a command
			b.set("run", d.text(strings.Join(texts, "\n"), true).script())
			return
		}
		var all []string
		for _, word := range texts {
			all = append(all, d.text(word, false).template())
		}
		b.set("run", "["+strings.Join(all, ", ")+"]")
	case script != nil:
		if prog := cmd.text(); prog != "" && prog != "sh" && prog != "bash" {
			words := strings.Fields(prog)
			flag := map[string]string{"python": "-c", "python3": "-c", "node": "-e", "ruby": "-e", "perl": "-e"}[words[0]]
			if flag == "" {
				fail("a script for %s", prog)
				return
			}
			b.set("run", "["+quote(words[0])+", "+quote(flag)+", "+d.text(script.text(), false).script()+"\n]")
			return
		}
		if cmd.text() == "bash" {
			b.set("shell", quote("bash"))
		}
		b.set("run", d.text(script.text(), true).script())
	case cmd != nil:
		b.set("run", d.text(cmd.text(), true).script())
	default:
		fail("a step without a command: %s", n.short())
	}
}

// dgLines tells whether a list of texts is one command a text, as dagu reads a list whose members have blanks.
func dgLines(texts []string) bool {
	return len(texts) > 0 && strings.Contains(strings.TrimSpace(texts[0]), " ")
}

// precondition writes a condition as when, and one that flowrun cannot compute as a comment.
func (d *dg) precondition(b *block, n *node) {
	condition, expected := n.text(), ""
	if n.isMap() {
		condition, expected = n.get("condition", "command").text(), n.get("expected").text()
	}
	t := d.text(condition, false)
	inner := b
	if ref := ""; len(t) == 1 && t[0].expr != "" && !strings.HasPrefix(expected, "re:") {
		ref = t[0].expr
		b.set("when", quote(ref+" == "+inCondition(expected)))
		return
	}
	if strings.HasPrefix(expected, "re:") && len(t) == 1 && t[0].expr != "" {
		b.set("when", quote(t[0].expr+" matches "+inCondition(strings.TrimPrefix(expected, "re:"))))
		return
	}
	if strings.HasPrefix(b.name, "precondition_") && !strings.Contains(condition, "`") {
		script := d.text(condition, true)
		if expected != "" {
			script = append(text{{lit: `test "`}}, append(script, part{lit: `" = ` + shellQuote(expected)})...)
		}
		inner.set("run", script.script())
		return
	}
	if strings.HasPrefix(b.name, "precondition_") {
		cmd := strings.Trim(condition, "`$()")
		script := text{{lit: `test "$(`}}
		script = append(script, d.text(cmd, true)...)
		inner.set("run", append(script, part{lit: `)" = ` + shellQuote(expected)}).script())
		return
	}
	d.p.leave(b, "the precondition %s, expected %q", oneLine(condition), expected)
	b.set("when", quote(d.w.unknown("if_"+b.name, "bool", "the precondition "+oneLine(condition))))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var dgHole = lazyregexp.New(`\$\{([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)\}|\$([A-Za-z_]\w*|\d)`)

// text reads a text with $NAME and ${NAME} in it: parameters and outputs become references, and in a script the rest stays the shell's.
func (d *dg) text(src string, script bool) (out text) {
	at := 0
	for _, m := range dgHole().FindAllStringSubmatchIndex(src, -1) {
		name, path := "", ""
		if m[2] >= 0 {
			name, path = src[m[2]:m[3]], src[m[4]:m[5]]
		} else {
			name = src[m[6]:m[7]]
		}
		expr := ""
		switch {
		case d.params[name]:
			expr = "input." + ident(name)
		case name == "ITEM":
			expr = "each.value" + path
		case d.output[name] != "" && path == "":
			expr = "step." + d.output[name] + ".output"
		case d.output[name] != "":
			expr = fmt.Sprintf("jsondecode(step.%s.output)%s", d.output[name], path)
		case d.nodes[name] != "" && path == ".stdout":
			expr = "step." + d.nodes[name] + ".output"
		case script || name == "HOME" || name == "PATH":
			if script {
				continue
			}
			fallthrough
		default:
			expr = d.w.unknown(name, "string", "the variable "+name)
		}
		if m[0] > at {
			out = append(out, part{lit: src[at:m[0]]})
		}
		out = append(out, part{expr: expr})
		at = m[1]
	}
	if at < len(src) || len(out) == 0 {
		out = append(out, part{lit: src[at:]})
	}
	return out
}
