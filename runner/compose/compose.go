// Package compose computes the attempts of a run: the program, the environment, the folder, the
// request to an agent, the HTTP request, what an attempt needs of quotas, the entry for the memory, and the inputs of a called run.
//
// A [Composer] serves one run. It evaluates the expressions of the file in a [Scope]. A scope
// resolves the names of an expression: var, input, local and run come from the beginning of the
// run, and all other names come from a [State], which the machine implements. The composer keeps
// no state of the run, so it can compute an attempt, or one text, without a machine.
//
// An expression that reads secrets is not evaluated: it goes to the host as an [event.Late], with
// the values of the other names that it reads.
//
// Files: evaluate.go evaluates an expression as a text, a number, a duration. inherit.go collects
// the settings that a node inherits from its agent, its groups and its workflow. http.go, memory.go,
// store.go, notify.go, quota.go and child.go compute the parts that belong to one kind of action. scope.go and result.go resolve
// names. output.go turns an answer into an output.
//
// The package is pure. It imports the IR, values, events, plan, policy and request, and must never
// import the machine or a host.
package compose

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/request"
)

// Composer computes the attempts of one run. It is not safe for concurrent use. Make it with New.
type Composer struct {
	graph  *plan.Graph
	eval   ir.Evaluator
	run    *event.RunStarted
	locals map[string]localValue
}

// New makes the composer of a run of a graph. The evaluator must be pure. The composer keeps run
// and does not change it.
func New(g *plan.Graph, eval ir.Evaluator, run *event.RunStarted) *Composer {
	return &Composer{graph: g, eval: eval, run: run, locals: map[string]localValue{}}
}

// Work describes the work of a node. The composer computes an attempt at it.
type Work struct {
	Node *plan.Node
	Path string
	// Agent has the step now; nil for a step without an agent.
	Agent *ir.Agent
	// Attempt is the number of the attempt, from 1.
	Attempt int
	// Generation is the generation of the work, from 0. Work after a rejection, or with another
	// agent, has the next generation and so another key.
	Generation int
	// Feedback holds the messages of gates on the last result; "" if there is none. The attribute
	// feedback of the step takes its place then.
	Feedback string
	// Admission lists what an attempt needs of what runs share; nil if the attempt needs no admission.
	Admission *event.Admission
	// Now is the time of the machine.
	Now event.Time
	// Scope resolves the names in the node's expressions.
	Scope *Scope
}

// Attempt computes an attempt of the node's action. The action must be one that [Composes] knows.
// The error is blocking, because a retry would fail in the same way.
func (c *Composer) Attempt(w *Work) (*event.Attempt, *event.Error) {
	a := c.newAttempt(w)
	a.Key, a.Admission = c.attemptKey(w), w.Admission
	timeout := w.Node.Timeout
	if timeout == nil && w.Agent != nil {
		timeout = w.Agent.Timeout
	}
	if err := c.composeCommon(a, w, c.listEnvs(w), c.listDirs(w), nil, timeout); err != nil {
		return nil, err
	}
	if place, err := actions[w.Node.Action.Kind()](c, a, w); err != nil {
		failure := EvaluationError(place, err)
		if errors.As(err, new(noMember)) {
			failure.Reason = event.ReasonNoMember
		}
		return nil, failure
	}
	return a, nil
}

// Gate computes an attempt of a gate that runs a program. A gate checks the result of one attempt,
// so its key holds the number of that attempt.
func (c *Composer) Gate(w *Work, g *ir.Gate) (*event.Attempt, *event.Error) {
	a := c.newAttempt(w)
	a.Gate, a.Key = g.Name, c.attemptKey(w, g.Name, strconv.Itoa(w.Attempt))
	dirs := c.listDirs(w)
	if g.Dir != nil {
		dirs = []*ir.Expr{g.Dir}
	}
	if a.PassEnv = g.PassEnv; g.PassEnv == nil {
		a.PassEnv = c.passEnv(w)
	}
	if err := c.composeCommon(a, w, append(c.listEnvs(w), g.Env), dirs, g.Run, g.Timeout); err != nil {
		return a, err
	}
	if b := g.Benchmark; b != nil {
		a.Kind, a.Benchmark = event.BenchmarkAttempt, &event.Benchmark{Samples: b.Samples, Metric: b.Metric, Baseline: b.Baseline}
	}
	return a, nil
}

// Compensation computes a node's compensation, which reads the node's result.
func (c *Composer) Compensation(w *Work) (*event.Attempt, *event.Error) {
	undo, a := w.Node.Compensate, c.newAttempt(w)
	a.Compensate, a.Key = true, c.attemptKey(w, "compensate")
	if a.PassEnv = undo.PassEnv; undo.PassEnv == nil {
		a.PassEnv = c.passEnv(w)
	}
	env, dirs := append(c.listEnvs(w), undo.Env), append([]*ir.Expr{undo.Dir}, c.listDirs(w)...)
	return a, c.composeCommon(a, w, env, dirs, &undo.Run, undo.Timeout)
}

func (c *Composer) newAttempt(w *Work) *event.Attempt {
	return &event.Attempt{Node: w.Path, Name: w.Node.Name, Attempt: w.Attempt, Run: c.run.Run, Workflow: c.run.Workflow, Base: c.run.Env}
}

// attemptKey returns the key of a node's work, or of a part of it. Every attempt at the same work
// has the same key.
func (c *Composer) attemptKey(w *Work, about ...string) string {
	var small [128]byte
	text := append(append(append(append(small[:0], c.run.Run...), 0), w.Path...), 0)
	text = strconv.AppendInt(text, int64(w.Generation), 10)
	for _, a := range about {
		text = append(append(text, 0), a...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// ChildID computes the id of a called run from its parent, node and generation, so that a repeated
// request names the same run. The id has the form of every run's id: 12 characters of base32.
func (c *Composer) ChildID(path string, generation int) string {
	sum := sha256.Sum256([]byte(c.run.Run + "\x00" + path + "\x00" + strconv.Itoa(generation) + "\x00child"))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:8]))[:12]
}

// composeCommon computes the parts that all attempts share, and the program if there is one.
func (c *Composer) composeCommon(
	a *event.Attempt, w *Work, env []map[string]*ir.Expr, dirs []*ir.Expr, run *ir.Run, timeout *ir.Expr,
) *event.Error {
	var err error
	if err = c.composeEnv(a, env, w.Scope); err != nil {
		return EvaluationError("env", err)
	}
	if a.Dir, err = c.evalDir(dirs, w.Scope); err != nil {
		return EvaluationError("dir", err)
	}
	if run != nil {
		if place, err := c.composeProgram(a, run, w.Scope); err != nil {
			return EvaluationError(place, err)
		}
	}
	if timeout != nil {
		if a.Timeout, err = c.Duration(timeout, w.Scope); err != nil {
			return EvaluationError("timeout", err)
		}
	}
	return nil
}

// actions computes, for each kind of action, the part of an attempt that belongs to the action, and
// the attempt's kind. An action that makes no attempts has nil. place names the part that could not
// be computed.
var actions = map[ir.ActionKind]func(c *Composer, a *event.Attempt, w *Work) (place string, err error){
	ir.RunAction: func(c *Composer, a *event.Attempt, w *Work) (string, error) {
		a.PassEnv = c.passEnv(w)
		return c.composeProgram(a, w.Node.Action.(*ir.Run), w.Scope)
	},
	ir.AgentAction: (*Composer).composeTask,
	ir.HTTPAction: func(c *Composer, a *event.Attempt, w *Work) (string, error) {
		return c.composeHTTP(a, w.Node.Action.(*ir.HTTP), w.Scope)
	},
	ir.RememberAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind = event.RememberAttempt
		a.Remember, place, err = c.composeRemember(w.Node.Action.(*ir.Remember), w.Scope)
		return place, err
	},
	ir.RecallAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind = event.RecallAttempt
		a.Recall, place, err = c.composeRecall(w.Node.Action.(*ir.Recall), w.Scope)
		return place, err
	},
	ir.KVAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{}
		a.Store.KV, place, err = c.composeKV(w.Node.Action.(*ir.KV), w.Scope)
		return place, err
	},
	ir.EmitAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{}
		a.Store.Emit, place, err = c.composeEmit(w.Node.Action.(*ir.Emit), w.Scope)
		return place, err
	},
	ir.SyncAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{}
		a.Store.Sync, place, err = c.composeSync(w.Node.Action.(*ir.Sync), w.Scope)
		return place, err
	},
	ir.NotifyAction: func(c *Composer, a *event.Attempt, w *Work) (string, error) {
		return c.composeNotify(a, w.Node.Action.(*ir.Notify), w)
	},
	ir.HandoffAction: func(c *Composer, a *event.Attempt, w *Work) (place string, err error) {
		a.Kind, a.Store = event.StoreAttempt, &event.StoreRequest{}
		a.Store.Dispatch, place, err = c.composeHandoff(w.Node.Action.(*ir.Handoff), a, w)
		return place, err
	},
	ir.ValueAction:   nil,
	ir.CallAction:    nil,
	ir.WaitAction:    nil,
	ir.ApproveAction: nil,
	ir.FailAction:    nil,
	ir.EndAction:     nil,
}

// Composes reports whether attempts of an action can be computed.
func Composes(k ir.ActionKind) bool { return actions[k] != nil }

// composeProgram computes a program: its arguments or its script, and its standard input.
func (c *Composer) composeProgram(a *event.Attempt, run *ir.Run, sc *Scope) (place string, err error) {
	a.Kind, a.Shell, a.Parse, a.OutputFile = event.RunAttempt, run.Shell, string(run.Parse), run.OutputFile
	if run.Stdin != nil {
		if err := c.composePart(a, request.Stdin, "stdin", run.Stdin, sc); err != nil {
			return "stdin", err
		}
	}
	if run.Script != nil {
		return "run", c.composeScript(a, "run", run.Script, run.Values, sc)
	}
	return "run", c.composePart(a, request.Argv, "run", run.Argv, sc)
}

// composeScript computes a script and the values in it.
func (c *Composer) composeScript(a *event.Attempt, what string, script *ir.Expr, values []ir.Expr, sc *Scope) error {
	if err := c.composePart(a, request.Script, what, script, sc); err != nil || len(values) == 0 {
		return err
	}
	a.Values = make([]string, len(values))
	for i := range values {
		e := &values[i]
		if err := c.composePart(a, request.Value+strconv.Itoa(i), what+": "+describeValue(e), e, sc); err != nil {
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

// composeTask computes the request to an agent.
func (c *Composer) composeTask(a *event.Attempt, w *Work) (place string, err error) {
	task, sc := w.Node.Action.(*ir.AgentTask), w.Scope
	if place, err = c.composeAgent(a, w, c.passEnv(w)); err != nil {
		return place, err
	}
	if h := c.run.HandedOver(); h != nil && h.To == w.Agent.Name {
		a.Agent.Handoff = h
	}
	if w.Feedback == "" {
		if a.Agent.Feedback, err = c.Feedback(w.Node, sc); err != nil {
			return "feedback", err
		}
	}
	if t := task.Task; t != nil {
		if err = c.composePart(a, request.Task, "task", t, sc); err != nil {
			return "task", err
		}
	}
	if with := task.With; with != nil {
		return "with", c.composePart(a, request.With, "with", with, sc)
	}
	return "", nil
}

// composeAgent computes what an attempt needs of its agent: the program or the address, the soul, the memory, the resources.
func (c *Composer) composeAgent(a *event.Attempt, w *Work, pass []string) (place string, err error) {
	g, sc := w.Agent, w.Scope
	a.Agent = &event.AgentRequest{Name: g.Name, Type: string(g.Type), PassEnv: pass, Input: g.Input, OutputFormat: g.OutputFormat,
		Feedback: w.Feedback}
	a.Agent.NewSession, a.Agent.ResumeSession, a.Agent.KeepSession = g.NewSession, g.ResumeSession, g.KeepSession
	a.Kind, a.Shell = event.AgentAttempt(g.Type), g.Shell
	if place, err = c.composeMemory(a.Agent, g, sc); err != nil {
		return place, err
	}
	if g.Heartbeat != nil {
		if a.Agent.Heartbeat, err = c.Duration(g.Heartbeat, sc); err != nil {
			return fmt.Sprintf("heartbeat of agent %q", g.Name), err
		}
	}
	if place, err = c.composeResources(a, g, sc); err != nil {
		return place, err
	}
	if g.Command != nil {
		what := fmt.Sprintf("command of agent %q", g.Name)
		if err = c.composePart(a, request.Argv, what, g.Command, sc); err != nil {
			return what, err
		}
	}
	if g.Run != nil {
		what := fmt.Sprintf("run of agent %q", g.Name)
		if err = c.composeScript(a, what, g.Run, g.Values, sc); err != nil {
			return what, err
		}
	}
	composeProtocol(a.Agent, w, g)
	if place, err = c.composeServers(a, g, sc); err != nil {
		return place, err
	}
	switch {
	case g.Chat != nil:
		return c.composeChat(a, w, g, sc)
	case g.URL != nil:
		return c.composePost(a, g, sc)
	}
	return "", nil
}

// composeProtocol computes what an agent needs that is spoken to in a protocol of somebody else.
func composeProtocol(r *event.AgentRequest, w *Work, g *ir.Agent) {
	switch g.Type {
	case ir.AgentMCP:
		if r.Tool = (&event.ToolRequest{}); g.Tool != nil {
			r.Tool.Name, r.Tool.Pin = g.Tool.Name, g.Tool.Pin
		}
	case ir.AgentACP:
		if r.ACP = g.ACP; r.ACP == nil {
			r.ACP = &ir.ACP{}
		}
	case ir.AgentA2A:
	case ir.AgentExec, ir.AgentShell:
		if t := OutputType(w.Node, g); t != nil && !t.IsAny() && g.OutputFormat == ir.OutputAssistant && !isEnvelope(t) {
			r.Wanted = t.String()
		}
		return
	case ir.AgentHTTP, ir.AgentNull, ir.AgentHuman, ir.AgentChat:
		return
	}
	if t := OutputType(w.Node, g); t != nil && t.Kind != value.StringT && !t.IsAny() {
		r.Wanted = t.String()
	}
}

// isEnvelope reports whether a type is that of all that a command-line assistant prints: its answer is the attribute result.
func isEnvelope(t *value.Type) bool {
	_, is := t.Attrs["result"]
	return is
}

// Feedback computes the attribute feedback of a step: a text as it is, null as "", anything else as
// JSON. It is "" for a step without one.
func (c *Composer) Feedback(n *plan.Node, sc *Scope) (string, error) {
	task, ok := n.Action.(*ir.AgentTask)
	if !ok || task.Feedback == nil {
		return "", nil
	}
	v, err := c.eval.Eval(task.Feedback, sc)
	if err != nil || v == nil {
		return "", err
	}
	return value.Text(v), request.CheckSize(v)
}

// addsTo maps a part of an attempt to the part that must come before it.
var addsTo = map[string]string{request.Query: request.URL, request.Body: request.Headers}

// composePart computes a part of an attempt. A part that reads secrets is left to the host, and so
// is a part that adds to such a part.
func (c *Composer) composePart(a *event.Attempt, place, what string, e *ir.Expr, sc *Scope) error {
	if e.Sensitive || isDeferred(a, addsTo[place]) {
		l := event.Late{Place: place, What: what, Expr: *e}
		err := c.deferToHost(&l, e.Reads, sc)
		a.Late = append(a.Late, l)
		return err
	}
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return err
	}
	return request.Put(a, place, v)
}

// isDeferred reports whether a part of an attempt is left to the host.
func isDeferred(a *event.Attempt, place string) bool {
	for i := range a.Late {
		if a.Late[i].Place == place {
			return true
		}
	}
	return false
}

// deferToHost adds the values that an expression reads to the host's part, except secrets.
func (c *Composer) deferToHost(l *event.Late, reads []ir.Ref, sc *Scope) error {
	for _, r := range reads {
		if c.isSecret(r) {
			continue
		}
		if late, ok := c.run.Late[r.Name]; ok && r.Root == "input" {
			if l.Inputs == nil {
				l.Inputs = map[string]event.Late{}
			}
			l.Inputs[r.Name] = late
			continue
		}
		if e := c.graph.Local(r.Name); r.Root == "local" && e != nil && e.Sensitive {
			if err := c.deferLocal(l, r.Name, e); err != nil {
				return err
			}
			continue
		}
		v, err := sc.Lookup(r)
		if err != nil {
			return err
		}
		if l.Names == nil {
			l.Names = map[string]value.Value{}
		}
		l.Names[r.String()] = v
	}
	return nil
}

// deferLocal adds the expression of a local that reads secrets.
func (c *Composer) deferLocal(l *event.Late, name string, e *ir.Expr) error {
	if _, there := l.Locals[name]; there {
		return nil
	}
	if l.Locals == nil {
		l.Locals = map[string]ir.Expr{}
	}
	l.Locals[name] = *e
	return c.deferToHost(l, e.Reads, c.Constants())
}

// isSecret reports whether the value of a name is kept from the machine.
func (c *Composer) isSecret(r ir.Ref) bool {
	if len(c.run.Secrets) == 0 {
		return false
	}
	_, known := c.run.Secrets[r.String()]
	return known
}
