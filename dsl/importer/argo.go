package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// ar reads the objects of Argo Workflows, as argo-workflows.readthedocs.io/en/latest/fields has them. Each template is a workflow; steps and
// tasks of a DAG are calls.
type ar struct {
	p         *program
	templates map[string]*arTemplate
}

type arTemplate struct {
	name   string
	node   *node
	w      *workflow
	spec   *node
	inputs map[string]string
	steps  map[string]string // names of nodes, by the name of a step or task
}

func importArgo(p *program, docs []*node) error {
	a := &ar{p: p, templates: map[string]*arTemplate{}}
	var all []*arTemplate
	for _, doc := range docs {
		kind := doc.get("kind").text()
		spec := doc.get("spec")
		schedules := spec
		switch kind {
		case "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate":
		case "CronWorkflow":
			spec = spec.get("workflowSpec")
		default:
			p.leave(nil, "the object of kind %s (line %d)", kind, doc.line())
			continue
		}
		entry := spec.get("entrypoint").text()
		first := len(all)
		for _, t := range spec.get("templates").list() {
			one := &arTemplate{name: t.get("name").text(), node: t, spec: spec, inputs: map[string]string{}, steps: map[string]string{}}
			one.w = p.workflow(one.name)
			a.templates[one.name] = one
			all = append(all, one)
		}
		for _, one := range all[first:] {
			if one.name != entry && (entry != "" || one != all[first]) {
				continue
			}
			one.w.isDefault = true
			if kind == "CronWorkflow" {
				a.schedule(schedules, one.w)
			}
			if exit := spec.get("onExit").text(); exit != "" {
				defer a.onExit(one, exit)
			}
			one.w.bounds(spec)
		}
		for _, key := range []string{"volumes", "volumeClaimTemplates", "serviceAccountName", "synchronization", "podGC", "ttlStrategy", "nodeSelector", "tolerations", "imagePullSecrets", "hooks", "artifactRepositoryRef", "workflowTemplateRef", "podSpecPatch", "securityContext", "metrics", "affinity", "archiveLogs"} {
			if v := spec.get(key); v != nil {
				p.leave(nil, "%s (line %d): %s", key, v.line(), v.short())
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("the file has no templates")
	}
	if !slices.ContainsFunc(all, func(t *arTemplate) bool { return t.w.isDefault }) {
		all[0].w.isDefault = true
	}
	for _, t := range all {
		for _, i := range t.node.get("inputs").get("parameters").list() {
			t.inputs[i.get("name").text()] = ident(i.get("name").text())
		}
	}
	for _, t := range all {
		a.template(t)
	}
	return nil
}

// bounds are the bounds of a whole run or of a template; of two the ones of the run hold.
func (w *workflow) bounds(n *node) {
	has := func(name string) bool {
		return slices.ContainsFunc(w.attrs, func(a attr) bool { return a.name == name })
	}
	if s := n.get("activeDeadlineSeconds"); plainNumber(s.text()) && !has("timeout") {
		w.attrs = append(w.attrs, attr{"timeout", quote(s.text() + "s")})
	}
	if s := n.get("parallelism"); plainNumber(s.text()) && s.text() != "0" && !has("max_concurrency") {
		w.attrs = append(w.attrs, attr{"max_concurrency", s.text()})
	}
}

func (a *ar) schedule(spec *node, w *workflow) {
	crons := append(spec.get("schedule").texts(), spec.get("schedules").texts()...)
	for i, cron := range crons {
		r := &block{kind: "routine", name: w.name}
		if i > 0 {
			r.name = fmt.Sprintf("%s_%d", w.name, i+1)
		}
		r.set("cron", quote(cron))
		if zone := spec.get("timezone"); zone != nil {
			r.set("timezone", quote(zone.text()))
		}
		switch spec.get("concurrencyPolicy").text() {
		case "Forbid":
			r.set("overlap", quote("skip"))
		case "Replace":
			r.set("overlap", quote("cancel_previous"))
		default:
			r.set("overlap", quote("allow"))
		}
		if spec.get("suspend").yes() {
			r.set("paused", "true")
		}
		r.set("workflow", "workflow."+w.name)
		a.p.routines = append(a.p.routines, r)
	}
}

func (a *ar) onExit(entry *arTemplate, name string) {
	to := a.templates[name]
	if to == nil || to == entry {
		a.p.leave(nil, "onExit: %s", name)
		return
	}
	b := entry.w.node("step", "on_exit")
	b.set("call", "workflow."+to.w.name)
	entry.w.finally = append(entry.w.finally, b)
}

func (a *ar) template(t *arTemplate) {
	n, w := t.node, t.w
	for _, i := range n.get("inputs").get("parameters").list() {
		in := &param{name: ident(i.get("name").text()), typ: "string", about: oneLine(i.get("description").text())}
		if v := i.get("value", "default"); v != nil && !strings.Contains(v.text(), "{{") {
			in.def = quote(v.text())
		} else if w.isDefault {
			if g := a.argument(t.spec, i.get("name").text()); g != nil {
				in.def = quote(g.text())
			}
		}
		if enum := i.get("enum"); enum.isList() {
			in.enum = quotes(enum.texts())
		}
		w.inputs = append(w.inputs, in)
	}
	for _, key := range []string{"artifacts"} {
		if v := n.get("inputs").get(key); v != nil {
			a.p.leave(nil, "artifacts that %s reads (line %d): files stay on this machine", t.name, v.line())
		}
		if v := n.get("outputs").get(key); v != nil {
			a.p.leave(nil, "artifacts that %s writes (line %d): files stay on this machine", t.name, v.line())
		}
	}
	for _, key := range []string{"sidecars", "initContainers", "memoize", "synchronization", "volumes", "nodeSelector", "metrics", "daemon", "hooks"} {
		if v := n.get(key); v != nil {
			a.p.leave(nil, "%s of %s (line %d): %s", key, t.name, v.line(), v.short())
		}
	}
	switch {
	case n.get("steps") != nil:
		a.steps(t, n.get("steps"))
	case n.get("dag") != nil:
		a.dag(t, n.get("dag"))
	default:
		a.leaf(t)
	}
	if len(w.nodes) == 0 {
		w.nodes = append(w.nodes, w.todo("work", "the template %s has no work that flowrun can run", t.name))
	}
	w.bounds(n)
	// Of groups, the outputs that other templates read.
	for _, o := range n.get("outputs").get("parameters").list() {
		from := o.get("valueFrom")
		if ref := from.get("parameter").text(); ref != "" {
			w.outputs = append(w.outputs, attr{ident(o.get("name").text()), a.text(t, ref).hcl()})
		} else if ref := from.get("expression"); ref != nil {
			a.p.leave(nil, "the output %s of %s: %s", o.get("name").text(), t.name, ref.text())
			w.outputs = append(w.outputs, attr{ident(o.get("name").text()), quote("")})
		}
	}
}

// argument is a parameter of the whole workflow.
func (a *ar) argument(spec *node, name string) *node {
	for _, p := range spec.get("arguments").get("parameters").list() {
		if p.get("name").text() == name {
			return p.get("value", "default")
		}
	}
	return nil
}

// leaf writes a template that does something.
func (a *ar) leaf(t *arTemplate) {
	n, w := t.node, t.w
	b := w.node("step", t.name)
	if n.get("script") != nil || n.get("container") != nil {
		w.outputs = append(w.outputs, attr{"result", "step." + b.name + ".output"})
	}
	c := n.get("container", "script")
	if c != nil {
		if image := c.get("image"); image != nil {
			b.comment("It ran in the image %s; here it runs on this machine.", image.text())
		}
		a.environment(t, b, c)
		if dir := c.get("workingDir"); dir != nil {
			a.p.leave(b, "workingDir: %s", dir.text())
		}
	}
	var words []string
	command := append(c.get("command").texts(), c.get("args").texts()...)
	switch {
	case n.get("script") != nil:
		source := c.get("source").text()
		switch cmd := strings.Join(c.get("command").texts(), " "); {
		case cmd == "bash" || cmd == "/bin/bash":
			b.set("shell", quote("bash"))
			b.set("run", a.script(t, source).script())
		case cmd == "" || cmd == "sh" || cmd == "/bin/sh":
			b.set("run", a.script(t, source).script())
		default:
			flag := map[string]string{"python": "-c", "python3": "-c", "node": "-e", "ruby": "-e", "perl": "-e"}[cmd]
			if flag == "" {
				a.p.leave(b, "a script for %s", cmd)
				b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: a script for " + cmd)}}})
				break
			}
			b.set("run", "["+quote(cmd)+", "+quote(flag)+", "+a.script(t, source).script()+"\n]")
		}
	case len(command) >= 3 && (command[1] == "-c" || command[1] == "-ec" || command[1] == "-exc") && strings.HasSuffix(command[0], "sh"):
		if strings.HasSuffix(command[0], "bash") {
			b.set("shell", quote("bash"))
		}
		b.set("run", a.script(t, command[2]).script())
	case c != nil && len(command) > 0:
		for _, word := range command {
			words = append(words, a.text(t, word).template())
		}
		b.set("run", "["+strings.Join(words, ", ")+"]")
	case n.get("suspend") != nil:
		if d := n.get("suspend").get("duration"); d != nil {
			wait := &block{kind: "wait"}
			wait.set("duration", quote(seconds(d.text())))
			b.add(wait)
		} else {
			b.add(&block{kind: "approve", attrs: []attr{{"prompt", quote("Continue?")}}})
		}
	case n.get("http") != nil:
		h := &block{kind: "http"}
		if m := n.get("http").get("method"); m != nil {
			h.set("method", quote(m.text()))
		}
		h.set("url", a.text(t, n.get("http").get("url").text()).template())
		if body := n.get("http").get("body"); body != nil {
			h.set("body", a.text(t, body.text()).template())
		}
		b.add(h)
	default:
		what := "the template " + t.name
		for _, key := range []string{"resource", "data", "plugin", "containerSet", "container"} {
			if v := n.get(key); v != nil {
				what = fmt.Sprintf("%s of the template %s: %s", key, t.name, v.short())
			}
		}
		a.p.leave(b, "%s", what)
		b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: " + what)}}})
	}
	// A file of a container becomes the output of the step.
	for _, o := range n.get("outputs").get("parameters").list() {
		if file := o.get("valueFrom").get("path"); file != nil {
			w.outputs = append(w.outputs, attr{ident(o.get("name").text()), "step." + b.name + ".output"})
			a.p.leave(b, "the output %s comes from the file %s; here it is what the step prints", o.get("name").text(), file.text())
		}
	}
	if r := n.get("retryStrategy"); r != nil {
		retry := &block{kind: "retry"}
		var limit int
		if _, err := fmt.Sscan(r.get("limit").text(), &limit); err != nil {
			limit = 3
		}
		retry.set("max_attempts", fmt.Sprint(min(max(limit+1, 1), 1000)))
		if back := r.get("backoff"); back != nil {
			if d := back.get("duration"); d != nil {
				retry.set("base_delay", quote(seconds(d.text())))
			}
			if f := back.get("factor"); plainNumber(f.text()) {
				retry.set("multiplier", f.text())
			}
			if d := back.get("cap"); d != nil {
				retry.set("max_delay", quote(seconds(d.text())))
			}
			retry.set("jitter", quote("none"))
		}
		for _, key := range []string{"expression", "affinity"} {
			if v := r.get(key); v != nil {
				a.p.leave(b, "retryStrategy.%s: %s", key, v.short())
			}
		}
		b.add(retry)
	}
	w.nodes = append(w.nodes, b)
}

// seconds is a duration of Argo: a number is in seconds.
func seconds(s string) string {
	if plainNumber(s) {
		return s + "s"
	}
	return s
}

func (a *ar) environment(t *arTemplate, b *block, c *node) {
	var env []attr
	for _, e := range c.get("env").list() {
		name := e.get("name").text()
		if ref := e.get("valueFrom").get("secretKeyRef"); ref != nil {
			env = append(env, attr{name, a.p.secret(ref.get("name").text() + "_" + ref.get("key").text())})
		} else if from := e.get("valueFrom"); from != nil {
			a.p.leave(b, "env %s: %s", name, from.short())
		} else {
			env = append(env, attr{name, a.text(t, e.get("value").text()).template()})
		}
	}
	if len(env) > 0 {
		b.set("env", lines(env))
	}
}

// steps writes a list of lists: the outer one is in order, an inner one runs at once.
func (a *ar) steps(t *arTemplate, n *node) {
	group := t.w.node("sequence", "steps")
	for i, line := range n.list() {
		var row []*block
		for _, s := range line.listOrOne() {
			row = append(row, a.call(t, s, nil))
		}
		if len(row) > 1 {
			inner := t.w.node("parallel", fmt.Sprintf("at_once_%d", i+1))
			inner.blocks = row
			row = []*block{inner}
		}
		group.blocks = append(group.blocks, row...)
	}
	if len(group.blocks) == 1 {
		t.w.nodes = group.blocks
	} else if len(group.blocks) > 0 {
		t.w.nodes = append(t.w.nodes, group)
	}
}

var arDepends = lazyregexp.New(`[A-Za-z0-9][-\w]*(\.\w+)?`)

// dag writes tasks with what they depend on.
func (a *ar) dag(t *arTemplate, n *node) {
	tasks := n.get("tasks").list()
	for _, s := range tasks {
		name := s.get("name").text()
		t.steps[name] = unique(t.w.taken, ident(name))
	}
	for _, s := range tasks {
		var after, conditions []string
		for _, d := range s.get("dependencies").texts() {
			if t.steps[d] != "" {
				after = append(after, "step."+t.steps[d])
			}
		}
		depends := s.get("depends").text()
		plain := !strings.ContainsAny(depends, "|!()")
		for _, word := range arDepends().FindAllString(depends, -1) {
			name, status, _ := strings.Cut(word, ".")
			to := t.steps[name]
			if to == "" {
				continue
			}
			switch status {
			case "", "Succeeded":
				after = append(after, "step."+to)
			case "Failed", "Errored":
				conditions = append(conditions, "step."+to+".status == 'failed'")
			case "Skipped", "Omitted":
				conditions = append(conditions, "step."+to+".status == 'skipped'")
			}
		}
		b := a.call(t, s, conditions)
		if len(after) > 0 {
			slices.Sort(after)
			b.set("depends_on", "["+strings.Join(slices.Compact(after), ", ")+"]")
		}
		if depends != "" && !plain {
			b.comment("It depended on %s; check depends_on.", depends)
			a.p.notes = append(a.p.notes, fmt.Sprintf("the condition depends: %s (line %d) is carried over in part", depends, s.line()))
		}
		t.w.nodes = append(t.w.nodes, b)
	}
}

// call writes a step or a task.
func (a *ar) call(t *arTemplate, s *node, conditions []string) *block {
	name := s.get("name").text()
	if t.steps[name] == "" {
		t.steps[name] = unique(t.w.taken, ident(name))
	}
	b := &block{kind: "step", name: t.steps[name]}
	target := s.get("template").text()
	if ref := s.get("templateRef"); ref != nil {
		target = ref.get("template").text()
	}
	to := a.templates[target]
	if s.get("inline") != nil {
		to = nil
	}
	switch {
	case s.get("withItems").isList():
		b.set("for_each", items(s.get("withItems")))
	case s.get("withParam") != nil:
		b.set("for_each", "[for item in jsondecode("+a.text(t, s.get("withParam").text()).template()+") : try(tostring(item), item)]")
	case s.get("withSequence") != nil:
		seq := s.get("withSequence")
		from, to := 0, 0
		_, _ = fmt.Sscan(seq.get("start").text(), &from)
		if _, err := fmt.Sscan(seq.get("count").text(), &to); err == nil {
			to += from
		} else if _, err := fmt.Sscan(seq.get("end").text(), &to); err == nil {
			to++
		} else {
			a.p.leave(b, "withSequence: %s", seq.short())
			to = from + 1
		}
		b.set("for_each", fmt.Sprintf("[for i in range(%d, %d) : tostring(i)]", from, to))
	}
	if when := s.get("when"); when != nil {
		if text, ok := a.condition(t, when.text()); ok {
			conditions = append(conditions, text)
		} else {
			conditions = append(conditions, t.w.unknown("if_"+b.name, "bool", "the condition "+oneLine(when.text())))
		}
	}
	if len(conditions) > 0 {
		b.set("when", quote(strings.Join(conditions, " && ")))
	}
	if s.get("continueOn").get("failed").yes() || s.get("continueOn").get("error").yes() {
		b.set("on_error", quote("continue"))
	}
	for _, key := range []string{"hooks", "onExit"} {
		if v := s.get(key); v != nil {
			a.p.leave(b, "%s: %s", key, v.short())
		}
	}
	if art := s.get("arguments").get("artifacts"); art != nil {
		b.comment("Its artifacts are files on this machine: %s", art.short())
	}
	if to == nil || a.leads(to, t, map[*arTemplate]bool{}) {
		what := fmt.Sprintf("the template %s, which this file does not have", target)
		if to != nil {
			what = fmt.Sprintf("the template %s, which leads back to %s", target, t.name)
		}
		if s.get("inline") != nil {
			what = "an inline template: " + s.get("inline").short()
		}
		a.p.leave(b, "%s", what)
		b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: " + what)}}})
		return b
	}
	b.set("call", "workflow."+to.w.name)
	var with []attr
	given := map[string]bool{}
	for _, p := range s.get("arguments").get("parameters").list() {
		n := p.get("name").text()
		if to.inputs[n] == "" {
			continue
		}
		given[n] = true
		with = append(with, attr{ident(n), a.text(t, p.get("value").text()).template()})
	}
	for _, i := range to.node.get("inputs").get("parameters").list() {
		if n := i.get("name").text(); !given[n] && i.get("value", "default") == nil {
			with = append(with, attr{ident(n), a.global(t, n)})
		}
	}
	if len(with) > 0 {
		b.set("with", object(with))
	}
	return b
}

// items are the members of a list: parameters are text, and objects of text.
func items(n *node) string {
	var all []string
	for _, one := range n.list() {
		if one.isText() {
			all = append(all, quote(one.text()))
			continue
		}
		var members []attr
		for _, p := range one.pairs() {
			v := literalOf(p.value)
			if p.value.isText() {
				v = quote(p.value.text())
			}
			members = append(members, attr{ident(p.key), v})
		}
		all = append(all, object(members))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// leads tells whether a template calls another one, over others, too.
func (a *ar) leads(from, to *arTemplate, seen map[*arTemplate]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	calls := from.node.get("dag").get("tasks").list()
	for _, line := range from.node.get("steps").list() {
		calls = append(calls, line.listOrOne()...)
	}
	for _, c := range calls {
		if next := a.templates[c.get("template").text()]; next != nil && a.leads(next, to, seen) {
			return true
		}
	}
	return false
}

// global is a parameter of the whole workflow as a variable.
func (a *ar) global(t *arTemplate, name string) string {
	return a.p.variable(name, func() *param {
		v := &param{typ: "string", def: `""`}
		if g := a.argument(t.spec, name); g != nil {
			v.def = quote(g.text())
		}
		return v
	})
}

var arHole = lazyregexp.New(`\{\{\s*(=?.*?)\s*\}\}`)

// text reads a text with {{ }} in it.
func (a *ar) text(t *arTemplate, src string) (out text) {
	at := 0
	for _, m := range arHole().FindAllStringSubmatchIndex(src, -1) {
		if m[0] > at {
			out = append(out, part{lit: src[at:m[0]]})
		}
		at = m[1]
		out = append(out, part{expr: a.reference(t, src[m[2]:m[3]])})
	}
	if at < len(src) || len(out) == 0 {
		out = append(out, part{lit: src[at:]})
	}
	return out
}

// script is a text whose values are data of a script.
func (a *ar) script(t *arTemplate, src string) text { return a.text(t, src) }

func (a *ar) reference(t *arTemplate, name string) string {
	parts := strings.Split(name, ".")
	switch {
	case len(parts) == 3 && parts[0] == "inputs" && parts[1] == "parameters" && t.inputs[parts[2]] != "":
		return "input." + t.inputs[parts[2]]
	case len(parts) == 3 && parts[0] == "workflow" && parts[1] == "parameters":
		return a.global(t, parts[2])
	case parts[0] == "item" && len(parts) <= 2:
		if len(parts) == 2 {
			return "each.value." + ident(parts[1])
		}
		return "each.value"
	case len(parts) == 4 && (parts[0] == "steps" || parts[0] == "tasks") && parts[2] == "outputs" && parts[3] == "result" && t.steps[parts[1]] != "":
		return "step." + t.steps[parts[1]] + ".output.result"
	case len(parts) == 5 && (parts[0] == "steps" || parts[0] == "tasks") && parts[2] == "outputs" && parts[3] == "parameters" && t.steps[parts[1]] != "":
		return "step." + t.steps[parts[1]] + ".output." + ident(parts[4])
	case len(parts) == 3 && (parts[0] == "steps" || parts[0] == "tasks") && parts[2] == "status" && t.steps[parts[1]] != "":
		return "step." + t.steps[parts[1]] + ".status"
	case name == "workflow.name":
		return "run.id"
	}
	return t.w.unknown(name, "string", "the value of {{"+oneLine(name)+"}}")
}

var arWhen = lazyregexp.New(`^\s*("[^"]*"|'[^']*'|\{\{[^}]*\}\}|[-\w.]+)\s*(==|!=|<=|>=|<|>|=~)\s*("[^"]*"|'[^']*'|\{\{[^}]*\}\}|[-\w.]+)\s*$`)

// condition writes comparisons that are joined by && or ||.
func (a *ar) condition(t *arTemplate, src string) (string, bool) {
	for _, sign := range []string{" || ", " && "} {
		if left, right, ok := strings.Cut(src, sign); ok && !strings.ContainsAny(src, "()") {
			l, okL := a.condition(t, left)
			r, okR := a.condition(t, right)
			return l + sign + r, okL && okR
		}
	}
	m := arWhen().FindStringSubmatch(src)
	if m == nil || m[2] == "=~" {
		return "", false
	}
	side := func(s string) string {
		s = strings.Trim(s, `"'`)
		if h := arHole().FindStringSubmatch(s); h != nil && h[0] == s {
			return a.reference(t, h[1])
		}
		return inCondition(s)
	}
	if strings.ContainsAny(m[2], "<>") {
		number := func(s string) (string, bool) {
			s = strings.Trim(s, `"'`)
			if plainNumber(s) {
				return s, true
			}
			if h := arHole().FindStringSubmatch(s); h != nil && h[0] == s {
				return "float(" + a.reference(t, h[1]) + ")", true
			}
			return "", false
		}
		l, okL := number(m[1])
		r, okR := number(m[3])
		return l + " " + m[2] + " " + r, okL && okR
	}
	return side(m[1]) + " " + m[2] + " " + side(m[3]), true
}
