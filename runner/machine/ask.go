package machine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A node asks people by an Ask, and waits. The host lets in decisions that are for the ask, as externals. Each names the number of the
// ask, so that one for something that has moved on changes nothing. The node goes on when the decisions settle the ask, or when the
// time is over.

// asking is the state of a node that waits for people.
type asking struct {
	event.Ask
	of    ref              // the node, or the run (node None)
	spent *budget          // that asks, in place of the node
	votes []event.Decision // one of each person, the newest last

	// Of a level that awaits a decision.
	afterAck time.Duration // how long it waits after somebody has said that he looks at it; 0: nothing bounds that
	heard    event.Time    // when somebody last said so; 0: nobody has
}

// settledAsks says for each kind of ask what a node does when the ask is settled; the last decision is the one that settled it.
// overdueAsks does so when the time is over.
var (
	settledAsks map[event.AskKind]func(*Machine, ref, *asking, event.Word, []string)
	overdueAsks map[event.AskKind]func(*Machine, ref, *asking)
)

func init() { // in init, because some of the functions read the tables
	settledAsks = map[event.AskKind]func(*Machine, ref, *asking, event.Word, []string){
		event.AskApproval:   (*Machine).settleApproval,
		event.AskTask:       (*Machine).settleTask,
		event.AskEscalation: (*Machine).settleEscalation,
		event.AskBudget:     (*Machine).settleBudget,
	}
	overdueAsks = map[event.AskKind]func(*Machine, ref, *asking){
		event.AskApproval:   (*Machine).defaultApproval,
		event.AskTask:       (*Machine).expireTask,
		event.AskEscalation: (*Machine).expireLevel,
		event.AskBudget:     func(_ *Machine, _ ref, a *asking) { assert(false, "the question of %s has no end", a.Node) },
	}
}

// openAsk has a node wait for people. q says what they see and may answer, and until when they may.
func (m *Machine) openAsk(r ref, q *event.Ask) {
	m.startParents(r)
	s, d, n := m.state(r), m.liveState(r), m.node(r)
	m.coldState(r).asking = m.askPeople(r, q)
	from := s.status
	s.status = event.Waiting
	if d.started == 0 {
		d.started = m.now
	}
	t := event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Reason: string(event.WaitDecision),
		Name: n.Name, Kind: string(n.Kind), WaitsFor: &event.WaitsFor{Kind: event.WaitDecision, Name: string(q.Kind), Until: q.Until}}
	if q.Kind == event.AskEscalation {
		t.Result = m.resultOf(r)
	}
	m.showTransition(t)
	if q.Until != 0 {
		m.setTimer(r, q.Until, event.TimerWait)
	}
}

// askPeople has the host ask people for a node, or for the run.
func (m *Machine) askPeople(r ref, q *event.Ask) *asking {
	m.askSeq++
	q.Number, q.Node, q.Plain, q.Since = m.askSeq, m.path(r), strings.TrimPrefix(m.pathWithoutIterations(r), "/"), m.now
	if r.node != plan.None {
		q.Name = m.node(r).Name
	}
	q.Shown = shownHash(q)
	if m.asks == nil {
		m.asks = map[uint64]*asking{}
	}
	a := &asking{Ask: *q, of: r}
	m.asks[q.Number] = a
	m.addCommand(event.Command{Ask: q})
	return a
}

// shownHash tells an ask apart from all others of the run, and from what the same node shows at another time.
func shownHash(q *event.Ask) string {
	text := fmt.Appendf(nil, "%d\x00%s\x00%s\x00", q.Number, q.Node, q.Prompt)
	sum := sha256.Sum256(value.Append(text, q.Show))
	return hex.EncodeToString(sum[:6])
}

// takeDecision counts a decision. One for an ask that has ended changes nothing.
func (m *Machine) takeDecision(x *event.External) {
	v, err := event.DecisionOf(x.Data)
	a := m.asks[v.Ask]
	if err != nil || a == nil || v.Shown != a.Shown || x.Node != a.Node {
		return
	}
	r := a.of
	a.votes = event.AddVote(a.votes, v)
	if word, by := a.Settle(a.votes); word != "" {
		settledAsks[a.Kind](m, r, a, word, by)
		return
	}
	if v.Word == event.WordAck {
		m.acknowledge(r, a, v.By)
		return
	}
	m.showNote(r, event.Answered, v.By+" "+v.Word.Past()+" it", nil)
}

// endAsk ends the wait of a node for people. by is empty if nobody decided, and why says why in words.
func (m *Machine) endAsk(r ref, word event.Word, by []string, why string) {
	d := m.liveState(r)
	if d.cold == nil || d.cold.asking == nil {
		return
	}
	a := d.cold.asking
	d.cold.asking = nil
	m.cancelWorkTimer(d)
	m.stopAsking(a, word, by, why)
}

func (m *Machine) stopAsking(a *asking, word event.Word, by []string, why string) {
	delete(m.asks, a.Number)
	m.addCommand(event.Command{EndAsk: &event.EndAsk{Number: a.Number, Node: a.Node, Word: word, By: by, Why: why}})
}

// leaveAsk ends the wait of a node that ends with a status for another reason than a decision.
func (m *Machine) leaveAsk(r ref, status event.Status) {
	m.endAsk(r, "", nil, statusPhrase(status))
}

// startApproval has an approval wait for people.
func (m *Machine) startApproval(r ref) {
	a, sc := m.node(r).Action.(*ir.Approve), m.newScope(r)
	m.liveState(r).attempts++
	q, failure := m.composer.Approval(a, sc)
	if failure != nil {
		m.failPause(r, failure)
		return
	}
	m.tellRefusal(r, a, q)
	if a.Timeout != nil {
		var err error
		if q.Until, err = m.evalDue(a.Timeout, sc); err != nil {
			m.failPause(r, compose.EvaluationError("timeout", err))
			return
		}
	}
	m.noteCompensation(r)
	m.openAsk(r, q)
	m.sendMessage(r, a.Notify, m.run.Run+" "+q.Shown, event.Message{Kind: event.MessageApproval, Level: "info", Title: fmt.Sprintf("%s waits for an approval", q.Node),
		Text: q.Prompt, Decide: m.answerLine(q), Data: map[string]any{"node": q.Node, "show": q.Show, "shown": q.Shown}})
}

// tellRefusal adds to a question that is asked again what the gates said of the last answer, unless the question reads that itself.
func (m *Machine) tellRefusal(r ref, a *ir.Approve, q *event.Ask) {
	said := ""
	if m.behaviour[ir.PausesFailAsAttempts] {
		said = m.feedbackOf(r)
	}
	readsIt := func(e *ir.Expr) bool {
		return e != nil && slices.ContainsFunc(e.Reads, func(of ir.Ref) bool { return of.Root == "feedback" })
	}
	if said != "" && !readsIt(&a.Prompt) && !readsIt(a.Show) {
		q.Prompt += "\n\nThe last answer was not accepted:\n" + said
	}
}

// plainPath is a path of a node that a shell takes as it is.
var plainPath = lazyregexp.New(`^[A-Za-z0-9_./-]+$`)

// answerLine is the command that answers an ask. Instances have keys that only their author knows, so quotes may be needed.
func (m *Machine) answerLine(q *event.Ask) string {
	node := cmp.Or(q.Node, ".")
	if !plainPath().MatchString(node) {
		node = "'" + strings.ReplaceAll(node, "'", `'\''`) + "'"
	}
	return fmt.Sprintf("flowrun decide %s %s %s --shown %s", m.run.Run, node, strings.Join(ir.Texts(q.Words), "|"), q.Shown)
}

// settleApproval ends an approval that people have decided.
func (m *Machine) settleApproval(r ref, a *asking, word event.Word, by []string) {
	last := a.votes[len(a.votes)-1]
	m.endAsk(r, word, by, "")
	switch {
	case word == event.WordApprove:
		m.approve(r, "approved", by, last)
		return
	case word == event.WordRevise:
		last.Input = m.defaultInputs(r)
		m.approve(r, "revised", by, last)
		return
	}
	message := last.Comment
	if message == "" {
		message = fmt.Sprintf("%s rejected it", last.By)
	}
	m.failPause(r, rejected(message))
}

// defaultApproval ends an approval that nobody has decided in time.
func (m *Machine) defaultApproval(r ref, a *asking) {
	why := m.reason(undecided, a.Until.Sub(a.Since))
	approve := m.node(r).Action.(*ir.Approve)
	if approve.Default != ir.ApproveByDefault {
		m.endAsk(r, event.WordReject, nil, why)
		m.failPause(r, rejected(why))
		return
	}
	m.endAsk(r, event.WordApprove, nil, why)
	m.approve(r, "approved", nil, event.Decision{Input: m.defaultInputs(r)})
}

// defaultInputs are the inputs of an approval that nobody has given: null where there is no default.
func (m *Machine) defaultInputs(r ref) map[string]value.Value {
	inputs := map[string]value.Value{}
	for _, in := range m.node(r).Action.(*ir.Approve).Inputs {
		inputs[in.Name] = in.Default
	}
	return inputs
}

func rejected(message string) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonRejected, Message: message, ExitCode: -1}
}

// approve gives an approval its output.
func (m *Machine) approve(r ref, decision string, by []string, last event.Decision) {
	names, inputs := []any{}, last.Input
	for _, name := range by {
		names = append(names, name)
	}
	if inputs == nil {
		inputs = map[string]value.Value{}
	}
	m.liveState(r).output = map[string]any{"decision": decision, "by": names, "comment": last.Comment, "at": m.now.String(), "input": inputs}
	if decision == "revised" && m.behaviour[ir.PausesFailAsAttempts] { // the next round asks again, and has the answer that gates judge
		m.finishNode(r, event.Succeeded, "")
		return
	}
	m.deliverOutput(r)
}
