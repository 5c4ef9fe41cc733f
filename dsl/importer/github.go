package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// ghScope is where an expression of GitHub Actions stands.
type ghScope struct {
	g      *gh
	w      *workflow
	matrix map[string]bool   // names of the axes around
	env    map[string]text   // what env sets around
	steps  map[string]string // names of nodes, by the id of a step of the job
}

// gh reads one workflow of GitHub Actions.
type gh struct {
	p      *program
	doc    *node
	w      *workflow
	inputs map[string]string // types of inputs
	jobs   map[string]string // names of nodes, by the id of a job
	// outputs has what an output of a job is, in HCL, by job and name.
	outputs map[string]typed
	fanned  map[string]bool // jobs with a matrix
}

// importGitHub reads a workflow as docs.github.com/actions/reference/workflows-and-actions/workflow-syntax has it.
func importGitHub(p *program, doc *node) error {
	if len(doc.get("jobs").pairs()) == 0 {
		return fmt.Errorf("the file has no jobs")
	}
	name := doc.get("name").text()
	if name == "" || ident(name) == "unnamed" {
		name = baseName(p.name)
	}
	g := &gh{p: p, doc: doc, w: p.workflow(strings.ToLower(name)), inputs: map[string]string{}, jobs: map[string]string{},
		outputs: map[string]typed{}, fanned: map[string]bool{}}
	w := g.w
	if ident(name) != name {
		w.about = name
	}
	g.triggers()
	w.attrs = append(w.attrs, attr{"shell", quote("bash")})
	top := &ghScope{g: g, w: w, env: map[string]text{}}
	if e := top.environment(doc.get("env")); e != "" {
		w.attrs = append(w.attrs, attr{"env", e})
	}
	if dir := doc.get("defaults").get("run").get("working-directory"); dir != nil {
		w.attrs = append(w.attrs, attr{"dir", top.text(dir.text(), false).template()})
	}
	if v := doc.get("permissions"); v != nil {
		p.leave(nil, "permissions (line %d): %s", v.line(), v.short())
	}
	g.concurrency(top, doc.get("concurrency"), name)
	jobs := doc.get("jobs").pairs()
	for _, j := range jobs {
		g.jobs[j.key] = unique(w.taken, ident(j.key))
		g.fanned[j.key] = j.value.get("strategy").get("matrix") != nil
	}
	for _, j := range ghOrder(jobs) {
		g.job(top, j.key, j.value)
	}
	return nil
}

// ofWorkflow is the name of the workflow, as groups of concurrency read it.
var ofWorkflow = lazyregexp.New(`\$\{\{\s*github\.workflow\s*\}\}`)

// concurrency writes the group in which one run of the workflow is active at a time. A group with the number of the run is that of one run.
func (g *gh) concurrency(s *ghScope, n *node, name string) {
	if n == nil {
		return
	}
	group, cancels := n.text(), (*node)(nil)
	if n.isMap() {
		group, cancels = n.get("group").text(), n.get("cancel-in-progress")
	}
	if group == "" || strings.Contains(group, "github.run_") {
		g.p.leave(nil, "concurrency (line %d): %s", n.line(), n.short())
		return
	}
	group = ofWorkflow().ReplaceAllLiteralString(group, name)
	if strings.HasPrefix(group, "${{") { // it can be empty here
		group = g.w.name + "-" + group
	}
	b := &block{kind: "concurrency"}
	b.set("group", s.text(group, false).template())
	switch {
	case cancels.yes():
		b.set("when_busy", quote("cancel_previous"))
	case cancels != nil && cancels.text() != "false":
		g.p.leave(b, "cancel-in-progress: %s", cancels.short())
	default:
		b.comment("All runs of the group wait for their turn; GitHub keeps the newest of those that wait.")
	}
	g.w.blocks = append(g.w.blocks, b)
}

// ghOrder puts jobs behind those that they need, so that their outputs are known.
func ghOrder(jobs []pair) (order []pair) {
	done := map[string]bool{}
	for len(order) < len(jobs) {
		before := len(order)
		for _, j := range jobs {
			if done[j.key] || slices.ContainsFunc(j.value.get("needs").texts(), func(n string) bool { return !done[n] }) {
				continue
			}
			done[j.key] = true
			order = append(order, j)
		}
		if len(order) == before { // a circle, or a job that is missing
			for _, j := range jobs {
				if !done[j.key] {
					done[j.key] = true
					order = append(order, j)
				}
			}
		}
	}
	return order
}

// triggers reads on: inputs and schedules have counterparts.
func (g *gh) triggers() {
	on := g.doc.get("on")
	for _, name := range on.texts() {
		if name != "workflow_dispatch" && name != "workflow_call" {
			g.w.comments = append(g.w.comments, fmt.Sprintf("It ran on %s. Let CI start it, or subscribe it with the block on.", name))
		}
	}
	for _, t := range on.pairs() {
		switch t.key {
		case "schedule":
			for i, s := range t.value.list() {
				r := &block{kind: "routine", name: g.w.name}
				if i > 0 {
					r.name = fmt.Sprintf("%s_%d", g.w.name, i+1)
				}
				r.set("cron", quote(s.get("cron").text()))
				if zone := s.get("timezone"); zone != nil {
					r.set("timezone", quote(zone.text()))
				}
				r.set("workflow", "workflow."+g.w.name)
				g.p.routines = append(g.p.routines, r)
			}
		case "workflow_dispatch", "workflow_call":
			for _, i := range t.value.get("inputs").pairs() {
				g.input(i.key, i.value)
			}
		default:
			text := t.key
			if t.value != nil {
				text += ": " + t.value.short()
			}
			g.w.comments = append(g.w.comments, fmt.Sprintf("It ran on %s. Let CI start it, or subscribe it with the block on.", text))
		}
	}
}

func (g *gh) input(name string, n *node) {
	i := &param{name: ident(name), typ: "string", about: oneLine(n.get("description").text())}
	if g.inputs[i.name] != "" {
		return
	}
	switch n.get("type").text() {
	case "boolean":
		i.typ = "bool"
	case "number":
		i.typ = "number"
	case "choice":
		i.enum = quotes(n.get("options").texts())
	}
	g.inputs[i.name] = i.typ
	if d := n.get("default"); d != nil {
		switch {
		case i.typ == "string":
			i.def = quote(d.text())
		default:
			i.def = d.text()
		}
	} else if !n.get("required").yes() {
		switch {
		case i.typ == "bool":
			i.def = "false"
		case i.typ == "number":
			i.def = "0"
		case i.enum == "":
			i.def = `""`
		}
	}
	g.w.inputs = append(g.w.inputs, i)
}

// job writes a job as a sequence of its steps, or as a step if it has one.
func (g *gh) job(top *ghScope, id string, j *node) {
	w := g.w
	b := &block{kind: "sequence", name: g.jobs[id]}
	s := &ghScope{g: g, w: w, env: maps.Clone(top.env), matrix: map[string]bool{}, steps: map[string]string{}}
	if n := j.get("name"); n != nil {
		b.set("description", quote(oneLine(strings.NewReplacer("${{", "{", "}}", "}").Replace(n.text()))))
	}
	g.matrix(s, b, j.get("strategy"))
	var needs []string
	for _, n := range j.get("needs").texts() {
		if g.jobs[n] != "" {
			needs = append(needs, "step."+g.jobs[n])
		} else {
			g.p.leave(b, "needs %s: there is no such job", n)
		}
	}
	always := false
	if cond := j.get("if"); cond != nil {
		s.when(b, cond.text(), needs, &always)
	}
	if len(needs) > 0 && !always {
		b.set("depends_on", "["+strings.Join(needs, ", ")+"]")
	}
	if t := j.get("timeout-minutes"); t != nil {
		s.timeout(b, t)
	}
	if c := j.get("continue-on-error"); c.yes() {
		b.set("on_error", quote("continue"))
	} else if c != nil && c.text() != "false" {
		g.p.leave(b, "continue-on-error: %s", c.short())
	}
	run := j.get("defaults").get("run")
	if dir := run.get("working-directory"); dir != nil {
		b.set("dir", s.text(dir.text(), false).template())
	}
	if e := s.environment(j.get("env")); e != "" {
		b.set("env", e)
	}
	if on := j.get("runs-on"); on != nil && !strings.HasPrefix(on.text(), "ubuntu-") {
		b.comment("It ran on %s; here it runs on this machine.", on.short())
	}
	for _, key := range []string{"container", "services", "environment", "permissions", "concurrency"} {
		if v := j.get(key); v != nil {
			g.p.leave(b, "%s of the job %s (line %d): %s", key, id, v.line(), v.short())
		}
	}
	if uses := j.get("uses"); uses != nil {
		b.add(w.todo(id+"_call", "the workflow %s, which the job %s calls; import it, and write call = workflow.NAME", uses.text(), id))
	}
	var late []*block
	for i, step := range j.get("steps").list() {
		s.step(b, &late, id, i, step, run.get("shell").text())
	}
	for _, o := range j.get("outputs").pairs() {
		if !g.fanned[id] {
			g.outputs[id+"."+o.key] = s.output(o.value.text())
		}
	}
	if len(b.blocks) == 0 {
		b.add(w.todo(id+"_work", "the job %s has no step that flowrun can run", id))
	}
	if len(s.steps) == 0 { // a step that others read by its name keeps it
		b = single(b)
	}
	w.nodes = append(w.nodes, b)
	w.finally = append(w.finally, late...)
}

// single writes a group with one step that has no comments of its own kind as that step.
func single(b *block) *block {
	if len(b.blocks) != 1 || b.blocks[0].kind != "step" {
		return b
	}
	inner := b.blocks[0]
	for _, a := range inner.attrs {
		if slices.ContainsFunc(b.attrs, func(o attr) bool { return o.name == a.name }) {
			return b
		}
	}
	return &block{kind: "step", name: b.name, comments: append(b.comments, inner.comments...), attrs: append(b.attrs, inner.attrs...), blocks: append(b.blocks[1:], inner.blocks...)}
}

// matrix writes a matrix as for_each over objects.
func (g *gh) matrix(s *ghScope, b *block, strategy *node) {
	m := strategy.get("matrix")
	if m == nil {
		return
	}
	if most := strategy.get("max-parallel"); most != nil && plainNumber(most.text()) {
		b.set("max_concurrency", most.text())
	}
	if !m.isMap() {
		s.matrix[""] = true
		g.p.leave(b, "the matrix %s, which GitHub computes during the run", m.short())
		b.set("for_each", "[{}]")
		return
	}
	cells := [][]attr{nil}
	for _, axis := range m.pairs() {
		if axis.key == "include" || axis.key == "exclude" {
			continue
		}
		s.matrix[axis.key] = true
		if !axis.value.isList() {
			g.p.leave(b, "the axis %s of the matrix: %s", axis.key, axis.value.short())
			for i := range cells {
				cells[i] = append(cells[i], attr{axis.key, quote("")})
			}
			continue
		}
		var wider [][]attr
		for _, c := range cells {
			for _, v := range axis.value.list() {
				wider = append(wider, append(slices.Clone(c), attr{axis.key, cellValue(v)}))
			}
		}
		if cells = wider; len(cells) > 256 {
			g.p.leave(b, "a matrix of more than 256 jobs")
			cells = cells[:256]
		}
	}
	axes := len(s.matrix)
	matches := func(c []attr, want *node, only bool) bool {
		for _, p := range want.pairs() {
			i := slices.IndexFunc(c, func(a attr) bool { return a.name == p.key })
			if only && i >= axes || i < 0 && only {
				continue
			}
			if i < 0 || c[i].value != cellValue(p.value) {
				return false
			}
		}
		return true
	}
	for _, e := range m.get("exclude").list() {
		cells = slices.DeleteFunc(cells, func(c []attr) bool { return matches(c, e, false) })
	}
	if axes == 0 {
		cells = nil
	}
	for _, inc := range m.get("include").list() {
		added := false
		for i, c := range cells {
			if axes > 0 && len(c) >= axes && matches(c, inc, true) && hasAxis(inc, c[:axes]) {
				cells[i], added = extend(c, inc), true
			}
		}
		if !added {
			cells = append(cells, extend(nil, inc))
		}
		for _, p := range inc.pairs() {
			s.matrix[p.key] = true
		}
	}
	if len(cells) == 0 {
		cells = [][]attr{nil}
	}
	// All members of the list have the same names, as flowrun wants it.
	var all []string
	for _, c := range cells {
		for _, name := range sorted(s.matrix) {
			if !slices.ContainsFunc(c, func(a attr) bool { return a.name == name }) {
				c = append(c, attr{name, quote("")})
			}
		}
		for i := range c {
			c[i].name = ident(c[i].name)
		}
		all = append(all, object(c))
	}
	b.set("for_each", "[\n"+strings.Join(all, ",\n")+",\n]")
}

// cellValue is a value of a matrix: scripts read all of them as text.
func cellValue(n *node) string {
	if n.isText() && !n.isBool() {
		return quote(n.text())
	}
	return literalOf(n)
}

// hasAxis tells whether an include names one of the axes with the value that the cell has; others make a job of their own.
func hasAxis(inc *node, axes []attr) bool {
	named := false
	for _, a := range axes {
		if v := inc.get(a.name); v != nil {
			named = true
			if cellValue(v) != a.value {
				return false
			}
		}
	}
	return named || len(inc.pairs()) > 0 && !named
}

func extend(c []attr, inc *node) []attr {
	c = slices.Clone(c)
	for _, p := range inc.pairs() {
		if i := slices.IndexFunc(c, func(a attr) bool { return a.name == p.key }); i >= 0 {
			c[i].value = cellValue(p.value)
		} else {
			c = append(c, attr{p.key, cellValue(p.value)})
		}
	}
	return c
}

// Actions that a step of flowrun does not need, with the reason.
var ghNeedless = []struct{ action, why string }{
	{"actions/checkout", "steps run in your checkout"},
	{"actions/cache", "files stay on this machine"},
	{"actions/upload-artifact", "files stay on this machine"},
	{"actions/download-artifact", "files stay on this machine"},
	{"actions/setup-", "install it on this machine"},
	{"ruby/setup-ruby", "install it on this machine"},
	{"dtolnay/rust-toolchain", "install it on this machine"},
	{"actions-rs/toolchain", "install it on this machine"},
	{"Swatinem/rust-cache", "files stay on this machine"},
	{"pnpm/action-setup", "install it on this machine"},
	{"oven-sh/setup-bun", "install it on this machine"},
	{"denoland/setup-deno", "install it on this machine"},
	{"astral-sh/setup-uv", "install it on this machine"},
	{"gradle/actions/setup-gradle", "install it on this machine"},
	{"hashicorp/setup-terraform", "install it on this machine"},
	{"docker/setup-", "install it on this machine"},
	{"docker/login-action", "log in on this machine"},
	{"aws-actions/configure-aws-credentials", "log in on this machine"},
	{"google-github-actions/auth", "log in on this machine"},
	{"azure/login", "log in on this machine"},
	{"azure/setup-", "install it on this machine"},
	{"step-security/harden-runner", "it guards machines of GitHub"},
}

// step writes one step of a job.
func (s *ghScope) step(job *block, late *[]*block, id string, i int, n *node, shell string) {
	g := s.g
	name := n.get("id").text()
	if name == "" {
		name = n.get("name").text()
	}
	if name == "" {
		name = fmt.Sprintf("%s_%d", id, i+1)
		if uses := n.get("uses").text(); uses != "" {
			_, name, _ = strings.Cut(strings.SplitN(uses, "@", 2)[0], "/")
		}
	}
	name = strings.ToLower(ident(name))
	title := n.get("name").text()
	if uses := n.get("uses"); uses != nil {
		for _, k := range ghNeedless {
			if strings.HasPrefix(uses.text(), k.action) {
				job.comment("uses %s: %s.", oneLine(uses.text()), k.why)
				return
			}
		}
		with := ""
		if v := n.get("with"); v != nil {
			with = " with " + v.short()
		}
		b := s.w.todo(name, "the action %s%s (line %d)", uses.text(), with, n.line())
		if cond, always := n.get("if"), false; cond != nil {
			s.when(b, cond.text(), nil, &always)
		}
		job.add(b)
		s.remember(n, b)
		return
	}
	run := n.get("run")
	if run == nil {
		g.p.leave(job, "a step without run and uses (line %d)", n.line())
		return
	}
	b := s.w.node("step", name)
	if title != "" && ident(title) != name {
		b.set("description", quote(oneLine(strings.NewReplacer("${{", "{", "}}", "}").Replace(title))))
	}
	inner := *s
	inner.env = maps.Clone(s.env)
	env := inner.environment(n.get("env"))
	where := &job.blocks
	if cond := n.get("if"); cond != nil {
		always := false
		inner.when(b, cond.text(), nil, &always)
		if always {
			where = late
		}
	}
	if t := n.get("timeout-minutes"); t != nil {
		inner.timeout(b, t)
	}
	if n.get("continue-on-error").yes() {
		b.set("on_error", quote("continue"))
	}
	if dir := n.get("working-directory"); dir != nil {
		b.set("dir", inner.text(dir.text(), false).template())
	}
	if env != "" {
		b.set("env", env)
	}
	if own := n.get("shell").text(); own != "" {
		shell = own
	}
	script := strings.NewReplacer("${GITHUB_OUTPUT}", "$FLOWRUN_OUTPUT", "$GITHUB_OUTPUT", "$FLOWRUN_OUTPUT").Replace(run.text())
	for _, file := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		if strings.Contains(script, file) {
			g.p.leave(b, "what the step %s writes to %s (line %d)", b.name, file, n.line())
			script = strings.NewReplacer("${"+file+"}", "/dev/null", "$"+file, "/dev/null").Replace(script)
		}
	}
	first, _, _ := strings.Cut(shell, " ")
	switch first {
	case "", "bash":
		b.set("run", inner.text(script, true).script())
	case "sh":
		b.set("shell", quote("sh"))
		b.set("run", inner.text(script, true).script())
	case "python":
		b.set("run", `["python3", "-c", `+inner.text(script, false).script()+"\n]")
	default:
		b = s.w.todo(name, "a script for %s (line %d)", shell, n.line())
	}
	*where = append(*where, b)
	s.remember(n, b)
}

// remember keeps the name of a step that others can read.
func (s *ghScope) remember(n *node, b *block) {
	if id := n.get("id").text(); id != "" {
		s.steps[id] = b.name
	}
}

// when writes a condition. always is set if the node runs after failures, too.
func (s *ghScope) when(b *block, src string, needs []string, always *bool) {
	src = strings.TrimSpace(src)
	if inner, ok := strings.CutPrefix(src, "${{"); ok {
		src = strings.TrimSpace(strings.TrimSuffix(inner, "}}"))
	}
	e := parseGitHub(src)
	if e == nil {
		name := s.w.unknown("if_"+b.name, "bool", "the condition "+oneLine(src))
		b.set("when", quote(name))
		return
	}
	status := ""
	e = e.withoutStatus(&status)
	var conditions []string
	switch status {
	case "always", "failure", "cancelled":
		*always = true
		if status == "cancelled" {
			s.g.p.leave(b, "cancelled() in %s", oneLine(src))
		}
		if len(needs) == 0 {
			if status == "failure" {
				conditions = append(conditions, "run.status == 'failed'")
			}
			break
		}
		var failed []string
		for _, n := range needs {
			if status == "failure" {
				failed = append(failed, n+".status == 'failed'")
			} else {
				failed = append(failed, n+".status != 'running'")
			}
		}
		if status == "failure" {
			conditions = append(conditions, "("+strings.Join(failed, " || ")+")")
		} else {
			conditions = append(conditions, strings.Join(failed, " && "))
		}
	}
	if e != nil {
		text := s.condition(e)
		if e.op == "||" && len(conditions) > 0 {
			text = "(" + text + ")"
		}
		conditions = append(conditions, text)
	}
	if len(conditions) == 1 {
		conditions[0] = unwrapped(conditions[0])
	}
	if len(conditions) > 0 {
		b.set("when", quote(strings.Join(conditions, " && ")))
	}
}

// unwrapped is a condition without brackets around the whole.
func unwrapped(c string) string {
	if inner, ok := strings.CutPrefix(c, "("); ok && strings.HasSuffix(inner, ")") && !strings.ContainsAny(inner[:len(inner)-1], "()") {
		return inner[:len(inner)-1]
	}
	return c
}

// withoutStatus takes always(), failure(), success() and cancelled() out of a condition; nil is a condition that says nothing else.
func (e *ghExpr) withoutStatus(status *string) *ghExpr {
	switch {
	case e.op == "call" && len(e.args) == 0 && (e.text == "always" || e.text == "failure" || e.text == "success" || e.text == "cancelled"):
		if *status == "" || *status == "success" {
			*status = e.text
		}
		return nil
	case e.op == "!" && e.args[0].op == "call" && e.args[0].text == "cancelled": // !cancelled() is always() here
		*status = "always"
		return nil
	case e.op == "||": // failure() || cancelled()
		probe := *status
		if a, b := e.args[0].withoutStatus(&probe), e.args[1].withoutStatus(&probe); a == nil && b == nil {
			*status = probe
			return nil
		}
		return e
	case e.op == "&&":
		a, b := e.args[0].withoutStatus(status), e.args[1].withoutStatus(status)
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return &ghExpr{op: "&&", args: []*ghExpr{a, b}, src: e.src}
	}
	return e
}

// set is what env around sets for a name env.X.
func (s *ghScope) set(name string) (text, bool) {
	x, is := strings.CutPrefix(name, "env.")
	v, has := s.env[x]
	return v, is && has
}

// reference is a name of GitHub Actions in flowrun.
func (s *ghScope) reference(name string) typed {
	parts := strings.Split(name, ".")
	unknown := func() typed {
		return typed{s.w.unknown(name, "string", "the value of "+name), "string"}
	}
	last := strings.Join(parts[1:], "_")
	switch root := parts[0]; {
	case root == "inputs" && len(parts) == 2, root == "github" && len(parts) == 4 && parts[1] == "event" && parts[2] == "inputs":
		n := ident(parts[len(parts)-1])
		if t := s.g.inputs[n]; t != "" {
			return typed{"input." + n, t}
		}
		return unknown()
	case root == "matrix" && len(parts) >= 2 && s.matrix[parts[1]]:
		names := []string{"each.value", ident(parts[1])}
		for _, p := range parts[2:] {
			if ident(p) != p {
				return unknown()
			}
			names = append(names, p)
		}
		return typed{strings.Join(names, "."), ""}
	case root == "secrets" && len(parts) == 2:
		return typed{s.g.p.secret(last), "string"}
	case name == "github.token":
		return typed{s.g.p.secret("GITHUB_TOKEN"), "string"}
	case root == "env" && len(parts) == 2:
		if v, has := s.env[last]; has {
			if lit, ok := v.isLiteral(); ok {
				return typed{inCondition(lit), "string"}
			}
			if len(v) == 1 {
				return typed{v[0].expr, ""}
			}
		}
	case root == "steps" && len(parts) == 4 && parts[2] == "outputs" && s.steps[parts[1]] != "":
		if ident(parts[3]) == parts[3] {
			return typed{"step." + s.steps[parts[1]] + ".output." + parts[3], ""}
		}
	case root == "steps" && len(parts) == 3 && (parts[2] == "outcome" || parts[2] == "conclusion") && s.steps[parts[1]] != "":
		return typed{"step." + s.steps[parts[1]] + ".status", "status"}
	case root == "needs" && len(parts) == 4 && parts[2] == "outputs":
		if t, has := s.g.outputs[parts[1]+"."+parts[3]]; has && t.text != "" {
			return t
		}
	case root == "needs" && len(parts) == 3 && parts[2] == "result" && s.g.jobs[parts[1]] != "":
		return typed{"step." + s.g.jobs[parts[1]] + ".status", "status"}
	}
	return unknown()
}

// output is the value of a job's output: a reference to what a step wrote, or nothing.
func (s *ghScope) output(src string) typed {
	inner, ok := strings.CutPrefix(strings.TrimSpace(src), "${{")
	if !ok || !strings.HasSuffix(inner, "}}") {
		return typed{}
	}
	e := parseGitHub(strings.TrimSuffix(inner, "}}"))
	if e == nil || e.op != "ref" || !strings.HasPrefix(e.text, "steps.") {
		return typed{}
	}
	return s.reference(e.text)
}

// text reads a text with ${{ }} in it. In a script, ${{ env.X }} is the variable of the shell.
func (s *ghScope) text(src string, script bool) (t text) {
	for {
		before, rest, has := strings.Cut(src, "${{")
		if before != "" {
			t = append(t, part{lit: before})
		}
		if !has {
			if len(t) == 0 {
				return literal("")
			}
			return t
		}
		inner, after, has := strings.Cut(rest, "}}")
		if !has {
			return append(t, part{lit: "${{" + rest})
		}
		src = after
		inner = strings.TrimSpace(inner)
		name, isEnv := strings.CutPrefix(inner, "env.")
		e := parseGitHub(inner)
		switch {
		case script && isEnv && ident(name) == name:
			t = append(t, part{lit: "${" + name + "}"})
		case e == nil:
			t = append(t, part{expr: s.w.unknown(inner, "string", "the value of "+oneLine(inner))})
		case e.op == "lit":
			t = append(t, part{lit: e.text})
		default:
			t = append(t, part{expr: s.expression(e)})
		}
	}
}

// environment is env as an object, and remembers what it sets.
func (s *ghScope) environment(n *node) string {
	var members []attr
	for _, p := range n.pairs() {
		v := s.text(p.value.text(), false)
		s.env[p.key] = v
		members = append(members, attr{p.key, v.hcl()})
	}
	if len(members) == 0 {
		return ""
	}
	return lines(members)
}

func (s *ghScope) timeout(b *block, n *node) {
	if plainNumber(n.text()) && n.text() != "0" {
		b.set("timeout", quote(n.text()+"m"))
	} else {
		s.g.p.leave(b, "timeout-minutes: %s", n.short())
	}
}
