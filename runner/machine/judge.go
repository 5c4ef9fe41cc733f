package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/judge"
	"github.com/flowrun/flowrun/runner/policy"
)

// An agent can judge for a gate. Its attempt takes the slots of that agent, can be refused by the host like any attempt of the agent,
// and is made again as the retries of the agent say. What it answers, package judge reads: nothing but the asked scores and findings
// passes.

// judging is the review of one gate of a node.
type judging struct {
	gate  int
	agent *ir.Agent
	tries int  // attempts that failed
	waits bool // for a retry, or for admission
}

// judgingOf returns the review that a node is at; nil if there is none.
func (d *liveState) judgingOf() *judging {
	if d.cold == nil {
		return nil
	}
	return d.cold.judging
}

// nextGate returns what the next attempt of a waiting node is: a gate that an agent judges, or work.
func (d *liveState) nextGate() int {
	if j := d.judgingOf(); j != nil && j.waits {
		return j.gate
	}
	return work
}

// startReview asks the judge of a gate.
func (m *Machine) startReview(r ref, gate int) {
	j := &judging{gate: gate, agent: m.chooseJudge(r, gate)}
	m.coldState(r).judging = j
	if m.ensureAgentLimiter(r, j.agent) {
		m.queueForSlots(r, gate)
	}
}

// chooseJudge returns the agent of a review. The members of a pool judge in turn, attempt by attempt, but for the agent whose work is
// judged, unless there is no other.
func (m *Machine) chooseJudge(r ref, gate int) *ir.Agent {
	who, d := m.graph.Judges[m.node(r).Gates[gate]], m.liveState(r)
	if who.Agent != nil {
		return who.Agent
	}
	others := slices.DeleteFunc(slices.Clone(who.Members), func(g *ir.Agent) bool { return g.Name == d.agent })
	if len(others) == 0 {
		others = who.Members
	}
	return others[max(0, d.attempts-1)%len(others)]
}

// composeReview computes the next attempt of a judge.
func (m *Machine) composeReview(r ref, w *compose.Work, gate int) (*event.Attempt, *event.Error) {
	j := m.liveState(r).judgingOf()
	var err *event.Error
	if w.Admission, err = m.admissionOf(r, nil, j.agent); err != nil {
		return nil, err
	}
	return m.composer.Review(w, w.Node.Gates[gate], j.agent)
}

// reviewFinished records the verdict of a judge, or asks it again if it failed.
func (m *Machine) reviewFinished(a *attempt, f *event.AttemptFinished) {
	d := m.liveState(a.ref)
	j, g := d.cold.judging, m.node(a.ref).Gates[a.gate]
	e := &event.Evidence{At: m.now, Judge: j.agent.Name, ExitCode: f.ExitCode}
	said := ""
	if f.Outcome != event.OK {
		err := failureError(f)
		if again, delay := m.judgesAgain(a.ref, j, f, err); again {
			m.waitForJudge(a.ref, j, delay, err)
			return
		}
		said = fmt.Sprintf("agent %q, who judges, failed: %s", j.agent.Name, err.Message)
	} else {
		sc := m.newScope(a.ref)
		sc.Mode = compose.InGate
		criteria, err := m.composer.Criteria(g.Review, sc)
		if err != nil {
			said = "it cannot be evaluated: " + err.Error()
		} else {
			answer := answerOf(f.Output)
			text, _ := json.Marshal(answer) // of plain values
			e.Digest = digestOf(string(text))
			var found []event.Finding
			e.Scores, found, said = judge.Review(answer, criteria, g.Block)
			judge.Keep(e, found)
		}
	}
	d.cold.judging = nil
	m.recordVerdict(a.ref, a.gate, said == "", said, e)
	m.runGates(a.ref, a.gate+1)
}

// endReview forgets a review whose next attempt cannot be computed. refused is the ticket that stands in the line of the store, or 0.
func (m *Machine) endReview(r ref, refused uint64) {
	if d := m.liveState(r); d.judgingOf() != nil {
		d.cold.judging = nil
	}
	if refused != 0 {
		m.withdrawRefused(r, refused, leftLine)
	}
}

// answerOf returns the answer of a judge. A text that is JSON counts as what it says: assistants answer in texts.
func answerOf(output value.Value) value.Value {
	if text, ok := output.(string); ok {
		if v, err := value.Decode([]byte(text)); err == nil {
			return v
		}
	}
	return output
}

// judgesAgain reports whether a judge that failed is asked again, and after how long: the retries of its agent say so.
func (m *Machine) judgesAgain(r ref, j *judging, f *event.AttemptFinished, err *event.Error) (bool, time.Duration) {
	d := m.liveState(r)
	if m.isHalted(r) || j.agent.Retry == nil {
		return false, 0
	}
	rules, sc := *j.agent.Retry, m.newScope(r)
	attempts, wrong := m.composer.Count(rules.MaxAttempts, sc, policy.DefaultMaxAttempts, limits.MaxAttempts)
	if wrong != nil || j.tries+1 >= attempts {
		return false, 0
	}
	again := err.Kind.Retried()
	if rules.When != nil {
		of := &compose.Failure{Error: err, Attempt: d.attempts, Elapsed: max(0, m.now.Sub(d.started)), Streams: func() (stdout, stderr string, exit int) {
			s := m.wholeStreams(m.streamsOf(f))
			return s.stdout, s.stderr, f.Exit()
		}}
		if again, wrong = m.holdsFor(r, rules.When, of); wrong != nil {
			return false, 0
		}
	}
	b, wrong := m.composer.Backoff(rules, sc)
	if !again || wrong != nil {
		return false, 0
	}
	delay := b.Delay(j.tries+2, policy.Seed(m.run.Run, d.path, d.attempts+j.tries+1))
	if err.RetryAfter > 0 {
		delay = max(delay, min(time.Duration(err.RetryAfter*float64(time.Second)), policy.MaxRetryAfter))
	}
	return true, delay
}

// waitForJudge lets a node wait until its judge is asked again.
func (m *Machine) waitForJudge(r ref, j *judging, delay time.Duration, err *event.Error) {
	n, s, d := m.node(r), m.state(r), m.liveState(r)
	j.tries++
	j.waits = true
	m.showTransition(event.Transition{Node: d.path, From: s.status, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: fmt.Sprintf("agent %q, who judges, failed (%s), and is asked again in %s", j.agent.Name, err.Message, delay.Round(time.Millisecond))})
	s.status = event.Waiting
	m.setTimer(r, m.now.Add(delay), event.TimerBackoff)
}

// Bounds of what evidence keeps of a command.
const (
	maxRan     = 16  // arguments
	maxRanText = 256 // bytes of each
)

// evidenceOf is what the verdict of a program rests on.
func (m *Machine) evidenceOf(request *event.Attempt, f *event.AttemptFinished) *event.Evidence {
	ran := request.Argv
	if request.Script != "" {
		ran = []string{request.Shell, request.Script}
	}
	e := &event.Evidence{At: m.now, ExitCode: f.ExitCode, Digest: digestOf(f.Stdout)}
	for _, text := range ran[:min(len(ran), maxRan)] {
		e.Ran = append(e.Ran, event.Bound(text, maxRanText))
	}
	return e
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// judgeFindings decides on the findings that a program printed, whatever its exit code. said is "" if they pass.
func judgeFindings(g *ir.Gate, f *event.AttemptFinished, e *event.Evidence) (said string) {
	if f.ExitCode == nil { // it did not run to its end
		return failureError(f).Message
	}
	found, err := judge.Findings(g.Findings, f.Stdout)
	if err != nil {
		said = fmt.Sprintf("its findings cannot be read as %s: %v", g.Findings, err)
		if f.Stderr != "" {
			said += "\n" + f.Stderr
		}
		return said
	}
	judge.Keep(e, found)
	return judge.Blocked(found, g.Block)
}
