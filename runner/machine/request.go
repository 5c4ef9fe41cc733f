package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// composeAttempt computes an attempt. Its error is blocking, because a retry would fail in the
// same way.
func (m *Machine) composeAttempt(w slotRequest) (*event.Attempt, *event.Error) {
	n, d := m.node(w.ref), m.liveState(w.ref)
	a := &event.Attempt{
		Node: d.path, Name: n.Name, Attempt: d.attempts, Run: m.run.Run, Workflow: m.run.Workflow, Base: m.run.Env,
	}
	sc := m.newScope(w.ref)
	if w.gate != work {
		g := n.Gates[w.gate]
		a.Gate, a.Key = g.Name, m.idempotencyKey(w.ref, g.Name, strconv.Itoa(d.attempts)) // a gate checks the result of one attempt
		sc.mode = gates
		dirs := m.listDirs(w.ref)
		if g.Dir != nil {
			dirs = []*ir.Expr{g.Dir}
		}
		if a.PassEnv = g.PassEnv; g.PassEnv == nil {
			a.PassEnv = m.passEnv(w.ref)
		}
		return a, m.composeCommon(a, sc, append(m.listEnvs(w.ref), g.Env), dirs, g.Run, g.Timeout)
	}
	a.Key = m.idempotencyKey(w.ref)
	timeout := n.Timeout
	if g := m.agentOf(w.ref); timeout == nil && g != nil {
		timeout = g.Timeout
	}
	if err := m.composeCommon(a, sc, m.listEnvs(w.ref), m.listDirs(w.ref), nil, timeout); err != nil {
		return nil, err
	}
	if place, err := actions[n.Action.Kind()].compose(m, a, n, sc); err != nil {
		return nil, evaluationError(place, err)
	}
	return a, nil
}

// composeCommon computes the parts that all attempts share, and the program if there is one.
func (m *Machine) composeCommon(
	a *event.Attempt, sc *scope, env []map[string]*ir.Expr, dirs []*ir.Expr, run *ir.Run, timeout *ir.Expr,
) *event.Error {
	var err error
	if err = m.composeEnv(a, env, sc); err != nil {
		return evaluationError("env", err)
	}
	if a.Dir, err = m.evalDir(dirs, sc); err != nil {
		return evaluationError("dir", err)
	}
	if run != nil {
		if place, err := m.composeProgram(a, run, sc); err != nil {
			return evaluationError(place, err)
		}
	}
	if timeout != nil {
		if a.Timeout, err = m.evalDuration(timeout, sc); err != nil {
			return evaluationError("timeout", err)
		}
	}
	return nil
}

// idempotencyKey returns the key of a node's work, or of a part of it: the same for every attempt
// at the same work. Work after a rejection, or with another agent, has another generation and so
// another key.
func (m *Machine) idempotencyKey(r ref, about ...string) string {
	d := m.liveState(r)
	var small [128]byte
	text := append(append(append(append(small[:0], m.run.Run...), 0), d.path...), 0)
	text = strconv.AppendInt(text, int64(m.generation(d)), 10)
	for _, a := range about {
		text = append(append(text, 0), a...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func (m *Machine) generation(d *liveState) int {
	if d.cold == nil {
		return 0
	}
	return d.cold.generation
}

func (m *Machine) composeProgram(a *event.Attempt, run *ir.Run, sc *scope) (place string, err error) {
	a.Kind, a.Shell, a.Parse, a.OutputFile = event.RunAttempt, run.Shell, string(run.Parse), run.OutputFile
	if run.Stdin != nil {
		if err := m.composePart(a, request.Stdin, "stdin", run.Stdin, sc); err != nil {
			return "stdin", err
		}
	}
	if run.Script != nil {
		return "run", m.composeScript(a, "run", run.Script, run.Values, sc)
	}
	return "run", m.composePart(a, request.Argv, "run", run.Argv, sc)
}

// composeScript computes a script and the values in it.
func (m *Machine) composeScript(a *event.Attempt, what string, script *ir.Expr, values []ir.Expr, sc *scope) error {
	if err := m.composePart(a, request.Script, what, script, sc); err != nil || len(values) == 0 {
		return err
	}
	a.Values = make([]string, len(values))
	for i := range values {
		e := &values[i]
		if err := m.composePart(a, request.Value+strconv.Itoa(i), what+": "+describeValue(e), e, sc); err != nil {
			return fmt.Errorf("%s: %w", describeValue(e), err)
		}
	}
	return nil
}

// describeValue names a value of a script in messages.
func describeValue(e *ir.Expr) string {
	if e.Text == "" {
		return "a value"
	}
	return fmt.Sprintf("${%.60s}", e.Text)
}

func composeTask(m *Machine, a *event.Attempt, n *plan.Node, sc *scope) (place string, err error) {
	g, task := m.agentOf(sc.ref), n.Action.(*ir.AgentTask)
	a.Agent = &event.AgentRequest{Name: g.Name, Type: string(g.Type), PassEnv: m.passEnv(sc.ref), Input: g.Input, OutputFormat: g.OutputFormat,
		Feedback: m.feedbackOf(sc.ref)}
	a.Kind, a.Shell, a.Admission = event.AgentAttempt(g.Type), g.Shell, m.admissionOf(sc.ref, g)
	if place, err = m.composeMemory(a.Agent, g, sc); err != nil {
		return place, err
	}
	if g.Heartbeat != nil {
		if a.Agent.Heartbeat, err = m.evalDuration(g.Heartbeat, sc); err != nil {
			return fmt.Sprintf("heartbeat of agent %q", g.Name), err
		}
	}
	if g.Command != nil {
		what := fmt.Sprintf("command of agent %q", g.Name)
		if err = m.composePart(a, request.Argv, what, g.Command, sc); err != nil {
			return what, err
		}
	}
	if g.Run != nil {
		what := fmt.Sprintf("run of agent %q", g.Name)
		if err = m.composeScript(a, what, g.Run, g.Values, sc); err != nil {
			return what, err
		}
	}
	if g.URL != nil {
		if place, err = m.composePost(a, g, sc); err != nil {
			return place, err
		}
	}
	if t := task.Task; t != nil {
		if err = m.composePart(a, request.Task, "task", t, sc); err != nil {
			return "task", err
		}
	}
	if w := task.With; w != nil {
		return "with", m.composePart(a, request.With, "with", w, sc)
	}
	return "", nil
}

// listEnvs lists the env blocks of a node from the outermost to the innermost, so that the
// innermost wins: the workflow, groups from the outside in, the agent, the step.
func (m *Machine) listEnvs(r ref) []map[string]*ir.Expr {
	n := m.node(r)
	list := append(make([]map[string]*ir.Expr, 0, 8), n.Env)
	if g := m.agentOf(r); g != nil {
		list = append(list, g.Env)
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		list = append(list, m.graph.Nodes[up].Env)
	}
	list = append(list, m.graph.Workflow.Env)
	slices.Reverse(list)
	return list
}

// passEnv returns the nearest list of names of the caller's environment: the step's, the agent's,
// a group's, the workflow's.
func (m *Machine) passEnv(r ref) []string {
	n := m.node(r)
	if n.PassEnv != nil {
		return n.PassEnv
	}
	if g := m.agentOf(r); g != nil && g.PassEnv != nil {
		return g.PassEnv
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		if list := m.graph.Nodes[up].PassEnv; list != nil {
			return list
		}
	}
	return m.graph.Workflow.PassEnv
}

func (m *Machine) composeEnv(a *event.Attempt, layers []map[string]*ir.Expr, sc *scope) error {
	var nearest map[string]*ir.Expr
	for _, exprs := range layers {
		if nearest == nil && len(exprs) > 0 {
			nearest = map[string]*ir.Expr{}
		}
		maps.Copy(nearest, exprs)
	}
	if nearest == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(nearest)) {
		if err := m.composePart(a, request.Env+name, "env: "+name, nearest[name], sc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// listDirs lists the expressions for a node's folder, the nearest first.
func (m *Machine) listDirs(r ref) []*ir.Expr {
	list := append(make([]*ir.Expr, 0, 8), m.node(r).Dir)
	if g := m.agentOf(r); g != nil {
		list = append(list, g.Dir)
	}
	for n := m.node(r).Parent; n != plan.None; n = m.graph.Nodes[n].Parent {
		list = append(list, m.graph.Nodes[n].Dir)
	}
	return append(list, m.graph.Workflow.Dir)
}

// evalDir returns the absolute folder of an attempt. A relative folder is below the program's
// folder.
func (m *Machine) evalDir(list []*ir.Expr, sc *scope) (string, error) {
	for _, e := range list {
		if e == nil {
			continue
		}
		s, err := m.evalText(e, sc)
		if err != nil || path.IsAbs(s) {
			return s, err
		}
		return path.Join(m.run.Dir, s), nil
	}
	return m.run.Dir, nil
}

// Bounds of a request.
const (
	// MaxRedirects is the highest number of redirects that a file may allow.
	MaxRedirects = 20
	// MaxBody is the largest answer in bytes that a file may allow.
	MaxBody = request.MaxValue
)

// composePost computes the address of an agent with an HTTP interface. The host makes the body.
func (m *Machine) composePost(a *event.Attempt, g *ir.Agent, sc *scope) (place string, err error) {
	q := &event.HTTPRequest{Method: g.Method}
	if q.Method == "" {
		q.Method = "POST"
	}
	a.HTTP = q
	of := fmt.Sprintf(" of agent %q", g.Name)
	if err = m.composePart(a, request.URL, "url"+of, g.URL, sc); err != nil || g.Headers == nil {
		return "url" + of, err
	}
	return "headers" + of, m.composePart(a, request.Headers, "headers"+of, g.Headers, sc)
}

// composeHTTP computes the request of an http step.
func (m *Machine) composeHTTP(a *event.Attempt, h *ir.HTTP, sc *scope) (place string, err error) {
	q := &event.HTTPRequest{Method: "GET"}
	a.Kind, a.HTTP = event.HTTPAttempt, q
	if h.Body != nil {
		q.Method = "POST"
	}
	for _, part := range []struct {
		place, name string
		expr        *ir.Expr
	}{{request.URL, "url", &h.URL}, {request.Query, "url", h.Query}, {request.Headers, "headers", h.Headers}, {request.Body, "body", h.Body}} {
		if part.expr == nil {
			continue
		}
		if err = m.composePart(a, part.place, part.name, part.expr, sc); err != nil {
			return part.name, err
		}
	}
	if h.Method != nil {
		if q.Method, err = m.evalText(h.Method, sc); err != nil {
			return "method", err
		}
		q.Method = strings.ToUpper(q.Method)
	}
	if h.Expect != nil {
		if q.Expect, err = m.evalStatusCodes(h.Expect, sc); err != nil {
			return "expect", err
		}
	}
	if h.Follow != nil {
		if q.Follow, err = m.evalWhole(h.Follow, sc, 0, MaxRedirects); err != nil {
			return "follow", err
		}
	}
	q.MaxBytes, err = m.evalCount(h.MaxBody, sc, 0, MaxBody)
	return "max_bytes", err
}

// evalStatusCodes evaluates the list of accepted status codes.
func (m *Machine) evalStatusCodes(e *ir.Expr, sc *scope) ([]int, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of status codes is needed, but this is %.60s", value.Text(v))
	}
	codes := make([]int, len(list))
	for i, c := range list {
		f, ok := c.(float64)
		if !ok || f < 100 || f > 599 || f != float64(int(f)) {
			return nil, fmt.Errorf("a status code from 100 to 599 is needed, but this is %.60s", value.Text(c))
		}
		codes[i] = int(f)
	}
	return codes, nil
}

// Bounds and defaults of memory steps.
const (
	MaxRecalled     = 50
	MaxRecallBudget = 100_000
	MaxTags         = 32
	// MaxRemembered bounds each text of an entry, in bytes.
	MaxRemembered = 64 << 10

	defaultSearched   = 10
	defaultBudget     = 1000
	defaultImportance = 0.5
)

// composeMemory adds an agent's soul and its use of the memory to a request.
func (m *Machine) composeMemory(q *event.AgentRequest, g *ir.Agent, sc *scope) (place string, err error) {
	if u := g.Memory; u != nil {
		q.Memory = &event.MemoryUse{Recall: u.Recall, Budget: u.Budget, Most: u.Most, Groups: u.Groups, Learn: u.Learn, Trusted: u.Trusted, Promote: u.Promote}
	}
	if g.Soul != nil {
		place = fmt.Sprintf("soul of agent %q", g.Name)
		q.Soul, err = m.evalText(g.Soul, sc)
	}
	return place, err
}

// composeRemember computes the entry that a step writes to the memory.
func (m *Machine) composeRemember(r *ir.Remember, sc *scope) (q *event.Remember, place string, err error) {
	q = &event.Remember{Type: r.Type, Agent: r.Agent, Scope: r.Scope, Importance: defaultImportance}
	for _, part := range []struct {
		name string
		expr *ir.Expr
		to   *string
	}{{"text", r.Text, &q.Text}, {"lesson", r.Lesson, &q.Lesson}, {"context", r.Context, &q.Context}, {"observation", r.Observation, &q.Observation}} {
		if part.expr == nil {
			continue
		}
		if *part.to, err = m.evalText(part.expr, sc); err == nil && len(*part.to) > MaxRemembered {
			err = fmt.Errorf("it has %d bytes, and %d can be remembered", len(*part.to), MaxRemembered)
		}
		if err != nil {
			return nil, part.name, err
		}
	}
	if r.Tags != nil {
		if q.Tags, err = m.evalTags(r.Tags, sc); err != nil {
			return nil, "tags", err
		}
	}
	if r.Importance != nil {
		if q.Importance, err = m.evalShare(r.Importance, sc); err != nil {
			return nil, "importance", err
		}
	}
	return q, "", nil
}

// composeRecall computes the query of a recall step.
func (m *Machine) composeRecall(r *ir.Recall, sc *scope) (q *event.Recall, place string, err error) {
	q = &event.Recall{Type: r.Type, Agent: r.Agent, Groups: r.Groups}
	if q.Query, err = m.evalText(&r.Query, sc); err != nil {
		return nil, "query", err
	}
	if r.Tag != nil {
		if q.Tag, err = m.evalText(r.Tag, sc); err != nil {
			return nil, "tag", err
		}
	}
	if q.K, err = m.evalCount(r.K, sc, defaultSearched, MaxRecalled); err != nil {
		return nil, "k", err
	}
	q.Budget, err = m.evalCount(r.Budget, sc, defaultBudget, MaxRecallBudget)
	return q, "budget", err
}

// evalTags evaluates a list of tags.
func (m *Machine) evalTags(e *ir.Expr, sc *scope) ([]string, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) > MaxTags {
		return nil, fmt.Errorf("a list of at most %d texts is needed, but this is %.60s", MaxTags, value.Text(v))
	}
	out := make([]string, len(list))
	for i, t := range list {
		if out[i], ok = t.(string); !ok || out[i] == "" {
			return nil, fmt.Errorf("a tag is a text that is not empty, and this is %.60s", value.Append(nil, t))
		}
	}
	return out, nil
}

// evalShare evaluates a number from 0 to 1.
func (m *Machine) evalShare(e *ir.Expr, sc *scope) (float64, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("a number from 0 to 1 is needed, but this is %.60s", value.Text(v))
	}
	return f, nil
}

// recalledObject returns the memories that a node's last attempt recalled.
func (m *Machine) recalledObject(r ref) map[string]value.Value {
	if d := m.state(r).liveState; d != nil && d.cold != nil {
		return event.RecalledObject(d.cold.recalled)
	}
	return event.RecalledObject(nil)
}
