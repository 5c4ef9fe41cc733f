package event

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// AskKind says what people are asked for.
type AskKind string

// The kinds of asks.
const (
	// AskApproval asks whether something may happen. Several people may have to answer.
	AskApproval AskKind = "approval"
	// AskTask asks somebody to do the task of an agent that is a person.
	AskTask AskKind = "task"
	// AskEscalation asks what becomes of a node whose attempts have failed.
	AskEscalation AskKind = "escalation"
	// AskBudget asks whether more may start in a budget that is spent.
	AskBudget AskKind = "budget"
)

// AskKinds lists all kinds of asks.
var AskKinds = []AskKind{AskApproval, AskTask, AskEscalation, AskBudget}

// Word is what a person answers.
type Word string

// The words.
const (
	WordApprove Word = "approve"
	WordReject  Word = "reject"
	WordRevise  Word = "revise" // the steps before the approval are made again, with the comment as feedback
	WordDone    Word = "done"   // with the output of the task
	WordFail    Word = "fail"   // the task cannot be done

	WordRetry    Word = "retry"    // the node has new attempts
	WordSkip     Word = "skip"     // the node is skipped, and what needs it goes on
	WordAbort    Word = "abort"    // the node has failed, which stops what is around it
	WordOverride Word = "override" // with the output that the node gets
	WordAck      Word = "ack"      // somebody looks at it; the node goes on waiting

	WordContinue Word = "continue" // more may start in the budget
	WordStop     Word = "stop"     // nothing more starts in it
)

// Words lists all words.
var Words = []Word{WordApprove, WordReject, WordRevise, WordDone, WordFail, WordRetry, WordSkip, WordAbort, WordOverride, WordAck, WordContinue, WordStop}

// pasts are the words as messages say them of somebody, in front of a node.
var pasts = map[Word]string{WordApprove: "approved", WordReject: "rejected", WordRevise: "asked for a revision of", WordDone: "finished", WordFail: "gave up on",
	WordRetry: "asked for another try of", WordSkip: "skipped", WordAbort: "aborted", WordOverride: "overrode", WordAck: "looks at", WordContinue: "allowed more for", WordStop: "stopped"}

// Past is what a person did who answered with the word, in front of a node: "approved", as in "ann approved ok".
func (w Word) Past() string { return pasts[w] }

// Ask tells people that a node waits for their decision. The host keeps it until an [EndAsk] in the transaction of the batch, lists it,
// and lets decisions into the inbox of the run that are for it.
type Ask struct {
	Number uint64  `json:"number"` // counts from 1 over a run: a decision names it
	Node   string  `json:"node"`   // the path; "" for the run itself
	Plain  string  `json:"plain"`  // the path without iterations
	Name   string  `json:"name"`   // the declared name
	Kind   AskKind `json:"kind"`
	Words  []Word  `json:"words"` // that the node waits for
	// Shown tells this ask apart from others of the node. It depends on what people see of it: the prompt and the value.
	Shown      string      `json:"shown"`
	Prompt     string      `json:"prompt"`
	Show       value.Value `json:"show,omitempty"`
	Since      Time        `json:"since"`
	Until      Time        `json:"until,omitempty"`     // from then on no decision counts; 0: nothing bounds the wait
	Approvers  []string    `json:"approvers,omitempty"` // who may answer; nil: everybody
	Quorum     int         `json:"quorum,omitempty"`    // of an approval: how many people must approve
	Rejections int         `json:"rejections,omitempty"`
	Agent      string      `json:"agent,omitempty"`  // of a task: the agent that is asked
	Output     *value.Type `json:"output,omitempty"` // the type of what done or override gives; nil: any
}

// EndAsk tells that a node waits for a decision no more.
type EndAsk struct {
	Number uint64   `json:"number"`
	Node   string   `json:"node"`
	Word   Word     `json:"word,omitempty"` // what was decided; "" if nothing was
	By     []string `json:"by,omitempty"`   // who decided so; none if nobody did
	Why    string   `json:"why,omitempty"`  // in words, where nobody decided
}

// Decision is what one person answers to an ask. It is the data of an [ExternalDecision].
type Decision struct {
	Ask     uint64                 `json:"ask"`
	Shown   string                 `json:"shown"`
	Word    Word                   `json:"word"`
	By      string                 `json:"by"`
	At      string                 `json:"at"` // as in RFC 3339
	Comment string                 `json:"comment,omitempty"`
	Input   map[string]value.Value `json:"input,omitempty"`
	Output  value.Value            `json:"output,omitempty"`
}

// Data is the decision as the data of an external.
func (d *Decision) Data() value.Value {
	text, err := json.Marshal(d)
	if err == nil {
		var v value.Value
		if v, err = value.Decode(text); err == nil {
			return v
		}
	}
	panic("event: a decision that is not JSON: " + err.Error()) // values by construction
}

// DecisionOf reads the data of an external.
func DecisionOf(data value.Value) (d Decision, err error) {
	if err := json.Unmarshal(value.Append(nil, data), &d); err != nil {
		return d, fmt.Errorf("a decision that cannot be read: %w", err)
	}
	return d, nil
}

// AddVote returns the votes with one more. A person's later vote takes the place of the earlier one, as the newest.
func AddVote(votes []Decision, d Decision) []Decision {
	votes = slices.DeleteFunc(slices.Clone(votes), func(v Decision) bool { return v.By == d.By })
	return append(votes, d)
}

// Settle returns what the votes come to, and who voted for it; "" while they come to nothing yet.
func (a *Ask) Settle(votes []Decision) (word Word, by []string) {
	if a.Kind != AskApproval {
		if n := len(votes); n > 0 && votes[n-1].Word != WordAck {
			return votes[n-1].Word, []string{votes[n-1].By}
		}
		return "", nil
	}
	if n := len(votes); n > 0 && votes[n-1].Word == WordRevise {
		return WordRevise, []string{votes[n-1].By}
	}
	approve, reject := votesFor(votes, WordApprove), votesFor(votes, WordReject)
	switch left := len(a.Approvers) - len(reject); {
	case len(approve) >= a.Quorum:
		return WordApprove, approve
	case len(reject) >= a.Rejections, len(a.Approvers) > 0 && left < a.Quorum:
		return WordReject, reject
	}
	return "", nil
}

func votesFor(votes []Decision, word Word) (by []string) {
	for i := range votes {
		if votes[i].Word == word {
			by = append(by, votes[i].By)
		}
	}
	return by
}

func (f *facts) ask(a *Ask) {
	f.number('N', a.Number)
	f.text('n', a.Node)
	f.text('p', a.Plain)
	f.text('m', a.Name)
	f.text('k', string(a.Kind))
	f.number('w', uint64(len(a.Words)))
	for _, w := range a.Words {
		f.always('w', string(w))
	}
	f.text('h', a.Shown)
	f.text('q', a.Prompt)
	f.value('s', a.Show)
	f.number('b', uint64(a.Since))
	f.number('u', uint64(a.Until))
	f.texts('a', a.Approvers)
	f.number('Q', uint64(a.Quorum))
	f.number('R', uint64(a.Rejections))
	f.text('A', a.Agent)
	if a.Output != nil {
		f.language('o', a.Output)
	}
}
