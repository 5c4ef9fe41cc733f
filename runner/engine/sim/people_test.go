package sim_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// hasPeople reports whether the program of a seed has approvals and tasks of people.
func hasPeople(seed uint64) bool { return seed%5 != 0 && seed%5 != 2 }

// people writes a group with an approval, and perhaps with rounds of revisions or the task of a person. Nothing outside reads the nodes
// in it, because the output of an approval holds a time; the group has a value for the same reason. Nodes of people have names with p.
func (w *writer) asksPeople(depth int, timed bool) {
	r := w.people
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	w.asking++
	name := fmt.Sprintf("p%d", w.asking)
	w.line(depth, "sequence %q {", name)
	w.line(depth+1, `value = "done"`)
	if maybe(2) {
		w.line(depth+1, `on_error = "continue"`)
	}
	if len(w.seen) > 0 && !w.early && maybe(3) {
		w.line(depth+1, "depends_on = [step.%s]", w.seen[r.IntN(len(w.seen))])
	}
	if maybe(4) {
		w.line(depth+1, `for_each = ["x", "y"]`)
	}
	if maybe(4) {
		w.line(depth+1, "repeat { max = 2 }")
	}
	w.line(depth+1, `step "%sa" {`, name)
	switch what := r.IntN(4); what {
	case 0:
		w.line(depth+2, `run = ["do"]`)
	case 1:
		w.line(depth+2, `agent = agent.echo`)
		w.line(depth+2, "with  = { n = 1 }")
	default:
		w.line(depth+2, `agent = %s`, []string{"agent.person", "pool.folk"}[what-2])
		w.line(depth+2, `task  = "do"`)
		w.line(depth+2, "with  = { n = 2 }")
		if maybe(2) {
			w.line(depth+2, "retry { max_attempts = 2 }")
		}
		if timed && maybe(2) {
			w.line(depth+2, `timeout = "%ds"`, 1+r.IntN(300))
		}
	}
	w.line(depth+1, "}")
	w.line(depth+1, `step "%so" {`, name)
	w.line(depth+2, "approve {")
	w.line(depth+3, `prompt = "p"`)
	if maybe(2) {
		w.line(depth+3, "show = step.%sa.output", name)
	}
	if maybe(3) {
		w.line(depth+3, "quorum = 2")
		w.line(depth+3, "rejections = 2")
	}
	if maybe(2) {
		w.line(depth+3, "revise = step.%sa", name)
		w.line(depth+3, "max_revisions = %d", 1+r.IntN(3))
	}
	if timed && maybe(2) {
		w.line(depth+3, `timeout = "%ds"`, 1+r.IntN(300))
		w.line(depth+3, "default = %q", []string{"approve", "reject"}[r.IntN(2)])
	}
	w.line(depth+2, "}")
	w.judgesPause(depth+2, r)
	w.line(depth+1, "}")
	if maybe(2) {
		w.line(depth+1, `step "%sz" { run = ["do"] }`, name)
	}
	w.line(depth, "}")
}

// forPeople reports whether a node was written by asksPeople.
func forPeople(n *ir.Node) bool { return strings.HasPrefix(n.Name, "p") }

// asks lets people answer what a run asks: by the seed, the node and the attempt alone, at a time that is chance. Two people say the
// same, and in a timed program a third says something else. No more than one of the decisions settles it.
func (c *simulation) asks(run string, s *seen, q *event.Ask) {
	c.askedAt[run+" "+q.Node]++
	id := fmt.Sprintf("%s %d %s", run, q.Number, q.Node) // a crash before the commit takes the number back
	if c.asked[id] {
		return // it is told again after a crash
	}
	c.asked[id] = true
	if q.Kind == event.AskTask {
		if task := did[*ir.AgentTask](node(s.w.Nodes, q.Plain[strings.LastIndexByte(q.Plain, '/')+1:])); task.Pool == "folk" {
			c.chosen++
		}
	}
	d := c.decision(s.name, q.Node, c.askedAt[run+" "+q.Node], q.Kind, slices.Contains(q.Words, event.WordRevise))
	d.Ask, d.Shown = q.Number, q.Shown
	r := rand.New(rand.NewPCG(c.seed, q.Number))
	settled := 0
	by := []string{"ann", "bob"}
	if !c.untimed {
		by = append(by, "eve")
	}
	asks := event.DecideRequest{Run: run, Node: q.Node}
	if q.Node == "" {
		asks.Node = "."
	}
	for _, name := range by {
		d := d
		if d.By = name; name == "eve" {
			d.Word = map[event.AskKind]event.Word{event.AskApproval: event.WordReject, event.AskTask: event.WordFail, event.AskEscalation: event.WordAbort,
				event.AskBudget: event.WordStop}[q.Kind]
		} else if name == "ann" && q.Kind == event.AskEscalation && q.Number%3 == 0 {
			d.Word = event.WordAck
		}
		asks := asks
		asks.Decision = d
		c.engine.Schedule(sim.Moment{At: c.store.After(time.Duration(r.Int64N(int64(2 * time.Minute)))), Do: func() error {
			out, err := c.engine.Ask(context.Background(), event.StoreRequest{Decide: &asks})
			if err != nil {
				return err
			}
			v, err := shared.ReadVerdict(out)
			switch {
			case err != nil:
				return err
			case v.Outcome == shared.Recorded && v.Word != "":
				if settled++; settled > 1 {
					c.t.Errorf("seed %d: %s of run %q was decided %d times", c.seed, q.Node, s.name, settled)
				}
				c.settled++
				c.kinds[q.Kind]++
			case v.Outcome == shared.Late:
				c.late++
			}
			return nil
		}})
	}
}

// decision is what people answer.
func (c *simulation) decision(run, node string, attempt int, kind event.AskKind, revisions bool) (d event.Decision) {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, c.seed))
	fmt.Fprint(h, run, node, attempt, "decision")
	dice := (h.Sum64() >> 20) % 10
	d.Comment = "so be it"
	switch {
	case kind == event.AskBudget && dice < 6:
		d.Word = event.WordContinue
	case kind == event.AskBudget:
		d.Word = event.WordStop
	case kind == event.AskEscalation && dice < 4:
		d.Word = event.WordRetry
	case kind == event.AskEscalation && (dice < 6 || dice < 8 && c.isPause(node)): // no text can stand in for the output of a pause
		d.Word = event.WordSkip
	case kind == event.AskEscalation && dice < 8:
		d.Word, d.Output = event.WordOverride, "by hand"
	case kind == event.AskEscalation:
		d.Word = event.WordAbort
	case kind == event.AskTask && dice < 7:
		d.Word, d.Output = event.WordDone, "out of "+node
	case kind == event.AskTask:
		d.Word = event.WordFail
	case dice < 3 && revisions:
		d.Word = event.WordRevise
	case dice < 8:
		d.Word = event.WordApprove
	default:
		d.Word = event.WordReject
	}
	return d
}

// isPause reports whether a path is that of a wait or an approval.
func (c *simulation) isPause(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ = strings.Cut(name, "[")
	for i := range c.program.Workflows {
		if n := c.program.Workflows[i].Find(name); n != nil {
			return n.Action != nil && n.Action.Kind().Course() == ir.Pausing
		}
	}
	return false
}

// help is what the agent of a pool gives in the place of the person who is its other member.
func (c *simulation) help(run string, f *event.AttemptFinished) {
	d := c.decision(run, f.Node, f.Attempt, event.AskTask, false)
	if f.Output = d.Output; d.Word != event.WordDone {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, ExitCode: -1}
	}
}

// pause is what a wait or an approval comes to in the model.
func (m *model) pause(n *ir.Node, in *activation, path string) *outcome {
	o, l := &outcome{status: event.Succeeded}, m.ladder(n)
	for {
		o.attempts++
		rejected, refused := false, false
		if o.err, o.output = nil, nil; did[*ir.Approve](n) != nil {
			o.err, o.output = m.approved(did[*ir.Approve](n), in, path, o.attempts)
		}
		if o.err == nil {
			if d, _ := o.output.(map[string]any); d["decision"] == "revised" {
				return o
			}
			if rejected, refused = m.judged(n, in, o, path); !rejected {
				return o
			}
		}
		m.classify(n, in, o, 0)
		plain := func() bool { return rejected && !refused && m.again(n, in, o, 0, o.attempts, true) }
		if !m.climb(n, in, o, path, l, rejected && m.alarmed(n, in, o), plain, func() bool { return false }) {
			o.status, o.output = event.FailedS, nil
			return o
		}
	}
}

// approved is what people say at an attempt of an approval in the model.
func (m *model) approved(a *ir.Approve, in *activation, path string, attempt int) (*event.Error, value.Value) {
	iteration := 0
	for up := in; up != nil && iteration == 0; up = up.up {
		iteration = up.iteration
	}
	switch d := m.c.decision(m.run, path, attempt, event.AskApproval, a.Revise != "" && iteration <= whole(a.Revisions)); d.Word {
	case event.WordApprove:
		return nil, map[string]any{"decision": "approved"}
	case event.WordRevise:
		return nil, map[string]any{"decision": "revised"}
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonRejected}, nil
}

// answered is what a person gives for an attempt in the model.
func (m *model) answered(path string, attempt int) (output value.Value, err *event.Error) {
	if d := m.c.decision(m.run, path, attempt, event.AskTask, false); d.Word == event.WordDone {
		return d.Output, nil
	}
	return nil, &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, ExitCode: -1}
}
