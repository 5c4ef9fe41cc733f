package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// tf reads one Taskfile, as taskfile.dev/reference/schema has it. Each task is a workflow; a dependency is a call.
type tf struct {
	p      *program
	doc    *node
	global map[string]*node // vars of the file
	tasks  map[string]*task
	order  []*task
}

type task struct {
	key   string
	node  *node
	w     *workflow
	reads map[string]bool // variables of the file that a call may set; see inputs
	shell map[string]string
	words bool // it reads the words behind --
}

func importTaskfile(p *program, doc *node) error {
	if len(doc.get("tasks").pairs()) == 0 {
		return fmt.Errorf("the file has no tasks")
	}
	t := &tf{p: p, doc: doc, global: map[string]*node{}, tasks: map[string]*task{}}
	for _, v := range doc.get("vars").pairs() {
		t.global[v.key] = v.value
	}
	for _, key := range []string{"includes", "dotenv", "output", "run", "method", "set", "shopt"} {
		if v := doc.get(key); v != nil {
			p.leave(nil, "%s (line %d): %s", key, v.line(), v.short())
		}
	}
	for _, m := range doc.get("tasks").pairs() {
		one := &task{key: m.key, node: m.value, shell: map[string]string{}}
		one.w = p.workflow(m.key)
		t.tasks[m.key] = one
		for _, alias := range m.value.get("aliases").texts() {
			if t.tasks[alias] == nil {
				t.tasks[alias] = one
			}
		}
		t.order = append(t.order, one)
	}
	first := t.order[0]
	if d := t.tasks["default"]; d != nil {
		first = d
	}
	first.w.isDefault = true
	// Which variables are inputs of a task is known before the calls are written.
	for _, one := range t.order {
		t.inputs(one)
	}
	for _, one := range t.order {
		t.task(one)
	}
	return nil
}

// callsOf are the calls of a task's dependencies and commands.
func (t *tf) callsOf(n *node) (calls []*node) {
	for _, key := range []string{"deps", "cmds", "cmd"} {
		for _, c := range n.get(key).listOrOne() {
			if c.isMap() && c.get("task") != nil {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// inputs declares those variables that some call sets.
func (t *tf) inputs(one *task) {
	if one.reads != nil {
		return
	}
	one.reads = map[string]bool{}
	for _, other := range t.order {
		for _, c := range t.callsOf(other.node) {
			if t.tasks[c.get("task").text()] == one {
				for _, v := range c.get("vars").pairs() {
					one.reads[v.key] = true
				}
			}
		}
	}
	for _, r := range one.node.get("requires").get("vars").list() {
		name := r.text()
		if r.isMap() {
			name = r.get("name").text()
		}
		one.reads[name] = true
		i := &param{name: ident(name), typ: "string"}
		if enum := r.get("enum"); enum.isList() {
			i.enum = quotes(enum.texts())
		}
		if t.has(one, name) == nil {
			one.w.inputs = append(one.w.inputs, i)
		}
	}
	for _, name := range sorted(one.reads) {
		if slices.ContainsFunc(one.w.inputs, func(i *param) bool { return i.name == ident(name) }) {
			continue
		}
		def := `""`
		if v := t.has(one, name); v.isText() && !strings.Contains(v.text(), "{{") {
			def = quote(v.text())
		}
		one.w.inputs = append(one.w.inputs, &param{name: ident(name), typ: "string", def: def})
	}
}

// has is what the task, or the file, sets for a variable.
func (t *tf) has(one *task, name string) *node {
	if v := one.node.get("vars").get(name); v != nil {
		return v
	}
	return t.global[name]
}

func (t *tf) task(one *task) {
	n, w := one.node, one.w
	if n.isText() || n.isList() { // a task can be its commands alone
		t.commands(one, n.listOrOne())
		t.finish(one)
		return
	}
	w.about = oneLine(n.get("desc").text())
	if summary := n.get("summary"); summary != nil {
		w.comments = append(w.comments, strings.TrimSpace(summary.text()))
	}
	if ident(one.key) != one.key {
		w.comments = append(w.comments, fmt.Sprintf("The task %s.", one.key))
	}
	if dir := n.get("dir"); dir != nil {
		w.attrs = append(w.attrs, attr{"dir", t.text(one, dir.text()).template()})
	}
	var env []attr
	for _, from := range []*node{t.doc.get("env"), n.get("env")} {
		for _, e := range from.pairs() {
			value := t.value(one, e.key, e.value)
			env = slices.DeleteFunc(env, func(a attr) bool { return a.name == e.key })
			env = append(env, attr{e.key, value})
		}
	}
	for _, key := range []string{"sources", "generates", "status", "platforms", "run", "method", "watch", "dotenv"} {
		if v := n.get(key); v != nil {
			w.comments = append(w.comments, fmt.Sprintf("Not carried over: %s: %s", key, v.short()))
			t.p.notes = append(t.p.notes, fmt.Sprintf("not carried over: %s of the task %s (line %d): %s", key, one.key, v.line(), v.short()))
		}
	}
	var deps []*block
	for _, d := range n.get("deps").listOrOne() {
		name := d.text()
		if d.isMap() {
			name = d.get("task").text()
		}
		deps = append(deps, t.call(one, name, d))
	}
	switch len(deps) {
	case 0:
	case 1:
		w.nodes = append(w.nodes, deps[0])
	default:
		group := w.node("parallel", "deps")
		group.blocks = deps
		w.nodes = append(w.nodes, group)
	}
	for i, c := range n.get("preconditions").list() {
		b := w.node("step", fmt.Sprintf("precondition_%d", i+1))
		script := c.text()
		if c.isMap() {
			script = c.get("sh").text()
			if msg := c.get("msg"); msg != nil {
				b.set("description", quote(oneLine(msg.text())))
			}
		}
		b.set("run", t.text(one, script).script())
		w.nodes = append(w.nodes, b)
	}
	for _, question := range n.get("prompt").texts() {
		b := w.node("step", "ask")
		b.add(&block{kind: "approve", attrs: []attr{{"prompt", t.text(one, question).template()}}})
		w.nodes = append(w.nodes, b)
	}
	cmds := n.get("cmds").listOrOne()
	if c := n.get("cmd"); c != nil {
		cmds = append(cmds, c)
	}
	t.commands(one, cmds)
	if one.words {
		env = append(env, attr{"CLI_ARGS", one.w.unknown("cli_args", "string", "the words behind --")})
	}
	if len(env) > 0 {
		w.attrs = append(w.attrs, attr{"env", lines(env)})
	}
	if n.get("ignore_error").yes() {
		for _, b := range w.nodes {
			b.set("on_error", quote("continue"))
		}
	}
	t.finish(one)
}

// finish puts the work of a task into one sequence, behind the steps whose output it reads.
func (t *tf) finish(one *task) {
	w := one.w
	if len(w.nodes) == 0 && len(w.finally) == 0 {
		b := w.node("step", "nothing")
		b.comment("The task has no commands.")
		b.set("value", "true")
		w.nodes = append(w.nodes, b)
	}
	if len(w.nodes) > 1 {
		group := w.node("sequence", "all")
		group.blocks = w.nodes
		w.nodes = []*block{group}
	}
	var before []*block
	for _, name := range sortedKeys(one.shell) {
		b := &block{kind: "step", name: one.shell[name]}
		b.set("description", quote("The variable "+name))
		b.set("run", t.text(one, t.has(one, name).get("sh").text()).script())
		before = append(before, b)
	}
	w.nodes = append(before, w.nodes...)
}

func (t *tf) commands(one *task, cmds []*node) {
	w := one.w
	for i, c := range cmds {
		if c == nil {
			continue
		}
		name := fmt.Sprintf("cmd_%d", i+1)
		if len(cmds) == 1 {
			name = "cmd"
		}
		script := c.text()
		if c.isMap() {
			script = c.get("cmd").text()
		}
		var b *block
		switch d := c.get("defer"); {
		case d != nil:
			b = w.node("step", "defer")
			if d.isMap() {
				b = t.call(one, d.get("task").text(), d)
			} else {
				b.set("run", t.text(one, d.text()).script())
			}
			w.finally = append([]*block{b}, w.finally...) // the last defer runs first
			continue
		case c.get("task") != nil:
			b = t.call(one, c.get("task").text(), c)
		case script == "":
			t.p.notes = append(t.p.notes, fmt.Sprintf("not carried over: a command of the task %s (line %d): %s", one.key, c.line(), c.short()))
			b = w.node("step", name)
			b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: " + c.short())}}})
		default:
			if b = w.node("step", name); c.get("for") != nil {
				b.attrs = append(b.attrs, t.loop(one, b, c.get("for"))...)
				script = strings.ReplaceAll(script, "{{."+loopName(c.get("for"))+"}}", "{{.\x01each}}")
			}
			b.set("run", t.text(one, script).script())
		}
		if c.get("ignore_error").yes() {
			b.set("on_error", quote("continue"))
		}
		if p := c.get("platforms"); p != nil {
			t.p.leave(b, "platforms: %s", p.short())
		}
		w.nodes = append(w.nodes, b)
	}
}

// loopName is the variable of a for.
func loopName(f *node) string {
	if as := f.get("as"); as != nil {
		return as.text()
	}
	return "ITEM"
}

// loop writes the for of a command.
func (t *tf) loop(one *task, b *block, f *node) []attr {
	switch {
	case f.isList():
		return []attr{{"for_each", quotes(f.texts())}, {"max_concurrency", "1"}}
	case f.get("var") != nil:
		name := f.get("var").text()
		split := f.get("split").text()
		if v := t.has(one, name); v.isList() {
			return []attr{{"for_each", quotes(v.texts())}, {"max_concurrency", "1"}}
		}
		if split == "" {
			return []attr{{"for_each", fmt.Sprintf(`compact(split(" ", replace(%s, "\n", " ")))`, t.text(one, "{{."+name+"}}").template())}, {"max_concurrency", "1"}}
		}
		return []attr{{"for_each", fmt.Sprintf("split(%s, %s)", quote(split), t.text(one, "{{."+name+"}}").template())}, {"max_concurrency", "1"}}
	}
	t.p.leave(b, "for: %s", f.short())
	return []attr{{"for_each", `[""]`}}
}

// call writes a call of another task.
func (t *tf) call(one *task, name string, c *node) *block {
	to := t.tasks[strings.TrimPrefix(name, ":")]
	if to == nil {
		return one.w.todo("call_"+name, "the task %s, which another file has", name)
	}
	if t.leads(to, one, map[*task]bool{}) {
		return one.w.todo("call_"+name, "the task %s calls itself over %s", one.key, name)
	}
	b := one.w.node("step", name)
	b.set("call", "workflow."+to.w.name)
	each := ""
	if f := c.get("for"); f != nil {
		b.attrs = append(b.attrs, t.loop(one, b, f)...)
		each = loopName(f)
	}
	var with []attr
	for _, v := range c.get("vars").pairs() {
		if each != "" && v.value.text() == "{{."+each+"}}" {
			with = append(with, attr{ident(v.key), "each.value"})
			continue
		}
		with = append(with, attr{ident(v.key), t.value(one, v.key, v.value)})
	}
	if len(with) > 0 {
		b.set("with", object(with))
	}
	return b
}

// leads tells whether the calls of a task lead to another one.
func (t *tf) leads(from, to *task, seen map[*task]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, d := range from.node.get("deps").texts() {
		if next := t.tasks[d]; next != nil && t.leads(next, to, seen) {
			return true
		}
	}
	for _, c := range t.callsOf(from.node) {
		if next := t.tasks[c.get("task").text()]; next != nil && t.leads(next, to, seen) {
			return true
		}
	}
	return false
}

// value is the value of a variable as an expression of text.
func (t *tf) value(one *task, name string, v *node) string {
	if v.isText() {
		return t.text(one, v.text()).template()
	}
	if v.get("sh") != nil {
		return "step." + t.shellStep(one, name) + ".output"
	}
	if v.isList() {
		return quote(strings.Join(v.texts(), " "))
	}
	return one.w.unknown(name, "string", "the variable "+name)
}

func (t *tf) shellStep(one *task, name string) string {
	if one.shell[name] == "" {
		one.shell[name] = unique(one.w.taken, ident("var_"+name))
	}
	return one.shell[name]
}

var (
	tfHole    = lazyregexp.New(`\{\{-?\s*(.*?)\s*-?\}\}`)
	tfName    = lazyregexp.New(`^\.([A-Za-z_]\w*)$`)
	tfDefault = lazyregexp.New(`^(?:\.([A-Za-z_]\w*)\s*\|\s*default\s+["` + "`" + `](.*)["` + "`" + `]|default\s+["` + "`" + `](.*)["` + "`" + `]\s+\.([A-Za-z_]\w*))$`)
)

// text reads a text with {{ }} in it.
func (t *tf) text(one *task, src string) text { return t.textAt(one, src, 0) }

func (t *tf) textAt(one *task, src string, depth int) (out text) {
	at := 0
	for _, m := range tfHole().FindAllStringSubmatchIndex(src, -1) {
		if m[0] > at {
			out = append(out, part{lit: src[at:m[0]]})
		}
		at = m[1]
		out = append(out, t.hole(one, src[m[2]:m[3]], depth)...)
	}
	if at < len(src) || len(out) == 0 {
		out = append(out, part{lit: src[at:]})
	}
	return out
}

// hole is what {{ }} means.
func (t *tf) hole(one *task, inner string, depth int) text {
	if inner == ".\x01each" {
		return text{{expr: "each.value"}}
	}
	name, def := "", ""
	if m := tfName().FindStringSubmatch(inner); m != nil {
		name = m[1]
	} else if m := tfDefault().FindStringSubmatch(inner); m != nil {
		name, def = m[1]+m[4], m[2]+m[3]
	} else {
		return text{{expr: one.w.unknown(inner, "string", "the value of {{"+oneLine(inner)+"}}")}}
	}
	if one.reads[name] {
		for _, i := range one.w.inputs {
			if i.name == ident(name) && i.def == `""` && def != "" {
				i.def = quote(def)
			}
		}
		return text{{expr: "input." + ident(name)}}
	}
	switch v := t.has(one, name); {
	case name == "TASK":
		return literal(one.key)
	case name == "ROOT_DIR" || name == "TASKFILE_DIR" || name == "USER_WORKING_DIR":
		return literal(".")
	case v == nil && name == "CLI_ARGS": // the shell splits it into words
		one.words = true
		return literal("$CLI_ARGS")
	case v == nil:
		ref := one.w.unknown(name, "string", "the variable "+name)
		for _, i := range one.w.inputs {
			if i.name == ident(name) && def != "" {
				i.def = quote(def)
			}
		}
		return text{{expr: ref}}
	case v.isText() && depth < 8:
		return t.textAt(one, v.text(), depth+1)
	case v.get("sh") != nil:
		return text{{expr: "step." + t.shellStep(one, name) + ".output"}}
	case v.isList():
		return literal(strings.Join(v.texts(), " "))
	}
	return text{{expr: one.w.unknown(name, "string", "the variable "+name)}}
}
