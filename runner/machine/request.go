package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/dsl/ir"
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
