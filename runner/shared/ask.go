package shared

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of what waits for people.
const (
	// MaxDecision is the size of a decision as JSON, in bytes.
	MaxDecision = 60 << 10
	// MaxAnswers is how many decisions one ask takes.
	MaxAnswers = 10_000
	// MaxRefused is how many refused decisions are kept, the newest.
	MaxRefused = 1000
)

// Spaces of what waits for people. Keys of the first two are "RUN NODE".
const (
	asksSpace    = "asks"    // what waits
	decidedSpace = "decided" // the last ask of a node that has ended, until its run is removed
	refusedSpace = "refused" // decisions that were refused, by number
)

// openAsk is the row of what waits.
type openAsk struct {
	event.Ask
	Votes []event.Decision `json:"votes,omitempty"`
	Taken int              `json:"taken,omitempty"` // decisions that were let in
	// Settled is set when the votes have settled it and the run does not know yet.
	Settled *decided `json:"settled,omitempty"`
}

// decided says what became of an ask.
type decided struct {
	Number uint64     `json:"number"`
	Node   string     `json:"node"`
	Plain  string     `json:"plain"`
	Name   string     `json:"name"`
	Word   event.Word `json:"word,omitempty"`
	By     []string   `json:"by,omitempty"`
	Why    string     `json:"why,omitempty"`
	At     event.Time `json:"at"`
}

// Outcome says what became of a decision.
type Outcome string

// The outcomes.
const (
	Recorded Outcome = "recorded" // the run will count it
	Late     Outcome = "late"     // it was decided before, or the time is over
	Stranger Outcome = "stranger" // the person is not an approver
	Changed  Outcome = "changed"  // something else is shown now
	Unasked  Outcome = "unasked"  // the node asks nobody
	BadWord  Outcome = "bad_word" // the node waits for other words
	Misfit   Outcome = "misfit"   // the output is not of the type of the task
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Recorded, Late, Stranger, Changed, Unasked, BadWord, Misfit}

// Verdict is the answer to a decision.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"` // in words
	Node    string  `json:"node,omitempty"`
	Ask     uint64  `json:"ask,omitempty"`
	// Word, By and At say who decided what when, if it is settled.
	Word event.Word `json:"word,omitempty"`
	By   []string   `json:"by,omitempty"`
	At   event.Time `json:"-"`
	// Missing is how many approvals are still missing.
	Missing int `json:"missing,omitempty"`
}

// OpenAsk keeps what a node of a run asks people. The same ask again changes until when they may answer.
func OpenAsk(rows Rows, run string, q *event.Ask) error {
	key := askKey(run, q.Node)
	var a openAsk
	if err := loadRow(rows, asksSpace, key, &a); err != nil {
		return err
	}
	if a.Number != q.Number {
		a = openAsk{}
	}
	a.Ask = *q
	return saveRow(rows, asksSpace, key, &a)
}

// EndAsk ends what a node has asked. A person who decides later is told of it.
func EndAsk(rows Rows, run string, e *event.EndAsk, now event.Time) error {
	key := askKey(run, e.Node)
	var a openAsk
	if err := loadRow(rows, asksSpace, key, &a); err != nil || a.Number != e.Number {
		return err
	}
	if err := rows.Delete(asksSpace, key); err != nil {
		return err
	}
	if a.Settled != nil && a.Settled.Word == e.Word { // the run has only heard of it now
		now = a.Settled.At
	}
	return saveRow(rows, decidedSpace, key, &decided{e.Number, a.Node, a.Plain, a.Name, e.Word, e.By, e.Why, now})
}

// ApplyAsks keeps and ends what the nodes of a run ask, as the commands of a batch say, in their order.
func ApplyAsks(rows Rows, run string, commands []event.Command, now event.Time) (err error) {
	for i := range commands {
		switch c := &commands[i]; {
		case err != nil:
		case c.Ask != nil:
			err = OpenAsk(rows, run, c.Ask)
		case c.EndAsk != nil:
			err = EndAsk(rows, run, c.EndAsk, now)
		}
	}
	return err
}

// RemoveRun removes what is kept of the asks of a run that is removed.
func RemoveRun(rows Rows, run string) error {
	for _, space := range []string{asksSpace, decidedSpace} {
		if err := removeAll(rows, space, run); err != nil {
			return err
		}
	}
	return nil
}

func removeAll(rows Rows, space, run string) error {
	keys, err := keysOf(rows, space, run)
	for _, key := range keys {
		if err == nil {
			err = rows.Delete(space, key)
		}
	}
	return err
}

func askKey(run, node string) string { return run + " " + node }

// keysOf lists the keys of a run.
func keysOf(rows Rows, space, run string) (keys []string, err error) {
	err = rows.Scan(space, askKey(run, ""), func(key string, _ []byte) bool {
		of := strings.HasPrefix(key, askKey(run, ""))
		if of {
			keys = append(keys, key)
		}
		return of
	})
	return keys, err
}

// decide lets a decision into the inbox of its run, or refuses it. A refusal is noted.
func decide(rows Rows, q *event.DecideRequest, now event.Time) (a Answer, err error) {
	d := q.Decision
	d.At = now.Go().Format(time.RFC3339Nano)
	if size := len(value.Append(nil, d.Data())); size > MaxDecision {
		return a, refuse("the decision has %d bytes as JSON; the limit is %d", size, MaxDecision)
	}
	v, open, err := findAsk(rows, q, now)
	if err != nil {
		return a, err
	}
	if v.Outcome == "" && (d.Word == event.WordDone || d.Word == event.WordOverride) && open.Output != nil {
		if d.Output, err = value.Convert(d.Output, *open.Output); err != nil {
			v.Outcome, v.Message = Misfit, fmt.Sprintf("the output of %s: %v", open.words(), err)
		}
	}
	if v.Outcome == "" {
		a.Posts, err = open.take(rows, q.Run, d, &v, now)
	} else {
		err = noteRefused(rows, q, &v, now)
	}
	if err != nil {
		return a, err
	}
	a.Output, err = v.output()
	return a, err
}

// output is the verdict as a value.
func (v *Verdict) output() (value.Value, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out, err := value.Decode(text)
	if err == nil && v.At != 0 {
		out.(map[string]any)["at"] = v.At.String()
	}
	return out, err
}

// ReadVerdict reads the answer to a decision.
func ReadVerdict(answer value.Value) (v Verdict, err error) {
	if err = json.Unmarshal(value.Append(nil, answer), &v); err != nil {
		return v, err
	}
	o, _ := answer.(map[string]any)
	if text, _ := o["at"].(string); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		v.At = event.At(at)
		return v, err
	}
	return v, nil
}

// findAsk finds what a decision is for. A verdict with an outcome refuses the decision.
func findAsk(rows Rows, q *event.DecideRequest, now event.Time) (v Verdict, a openAsk, err error) {
	list, err := asksOf(rows, q.Run)
	if err != nil {
		return v, a, err
	}
	var found []openAsk
	for _, match := range []func(*event.Ask) string{
		func(a *event.Ask) string { return a.Node }, func(a *event.Ask) string { return a.Plain }, func(a *event.Ask) string { return a.Name },
	} {
		for i := range list {
			if match(&list[i].Ask) == strings.TrimSuffix(q.Node, ".") {
				found = append(found, list[i])
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		v, err = missedAsk(rows, q, list)
		return v, a, err
	case 1:
	default:
		return Verdict{Outcome: Unasked, Message: fmt.Sprintf("%d nodes are meant by %q: %s. Write the whole path", len(found), q.Node, nodesOf(found))}, a, nil
	}
	a, d := found[0], &q.Decision
	v = Verdict{Node: a.Node, Ask: a.Number}
	switch {
	case !slices.Contains(a.Words, d.Word):
		v.Outcome, v.Message = BadWord, fmt.Sprintf("%s does not wait for %q; it waits for %s", a.words(), d.Word, strings.Join(ir.Texts(a.Words), ", "))
	case d.Shown != "" && d.Shown != a.Shown:
		v.Outcome, v.Message = Changed, fmt.Sprintf("%s shows something else now: %s", a.words(), a.Shown)
	case a.Settled != nil:
		v.late(a.Settled)
	case a.Until != 0 && now >= a.Until:
		v.Outcome, v.Message, v.At = Late, fmt.Sprintf("the time of %s was over at %s", a.words(), a.Until), a.Until
	case len(a.Approvers) > 0 && !slices.Contains(a.Approvers, d.By):
		v.Outcome, v.Message = Stranger, fmt.Sprintf("%q may not decide %s; %s may", d.By, a.words(), strings.Join(a.Approvers, ", "))
	case d.Word == event.WordRevise && strings.TrimSpace(d.Comment) == "":
		v.Outcome, v.Message = Misfit, fmt.Sprintf("a revision of %s needs a comment that says what is to be changed", a.words())
	case a.Taken >= MaxAnswers:
		return v, a, refuse("%s has got %d decisions, and takes no more", a.words(), a.Taken)
	}
	return v, a, nil
}

func (a *openAsk) words() string {
	if a.Node == "" {
		return "the run"
	}
	return a.Node
}

func nodesOf(list []openAsk) string {
	var names []string
	for i := range list {
		if names = append(names, list[i].words()); i == 9 {
			break
		}
	}
	return strings.Join(names, ", ")
}

// late says who has decided before.
func (v *Verdict) late(d *decided) {
	v.Outcome, v.Word, v.By, v.At, v.Ask = Late, d.Word, d.By, d.At, d.Number
	node := d.Node
	if node == "" {
		node = "the run"
	}
	v.Node = d.Node
	v.Message = node + " no longer waits for a decision: " + d.describe()
}

func (d *decided) describe() string {
	switch {
	case len(d.By) > 0:
		return fmt.Sprintf("%s %s it at %s", strings.Join(d.By, " and "), d.Word.Past(), d.At)
	case d.Word != "":
		return fmt.Sprintf("%s, so it was %s at %s", d.Why, d.Word.Past(), d.At)
	}
	return fmt.Sprintf("it %s at %s", d.Why, d.At)
}

// missedAsk says why no open ask is meant: it was decided, or there never was one.
func missedAsk(rows Rows, q *event.DecideRequest, open []openAsk) (v Verdict, err error) {
	var last *decided
	err = rows.Scan(decidedSpace, askKey(q.Run, ""), func(key string, body []byte) bool {
		if !strings.HasPrefix(key, askKey(q.Run, "")) {
			return false
		}
		var d decided
		if json.Unmarshal(body, &d) == nil && (last == nil || d.Number > last.Number) {
			if name := strings.TrimSuffix(q.Node, "."); name == d.Node || name == d.Plain || name == d.Name {
				last = &d
			}
		}
		return true
	})
	switch {
	case err != nil:
	case last != nil:
		v.late(last)
	case len(open) > 0:
		v = Verdict{Outcome: Unasked, Message: fmt.Sprintf("%q does not wait for a decision; these do: %s", q.Node, nodesOf(open))}
	default:
		v = Verdict{Outcome: Unasked, Message: "nothing in the run waits for people"}
	}
	return v, err
}

// asksOf lists what a run asks.
func asksOf(rows Rows, run string) (list []openAsk, err error) {
	var bad error
	err = rows.Scan(asksSpace, askKey(run, ""), func(key string, body []byte) bool {
		if !strings.HasPrefix(key, askKey(run, "")) {
			return false
		}
		var a openAsk
		if bad = json.Unmarshal(body, &a); bad != nil {
			return false
		}
		list = append(list, a)
		return true
	})
	if err == nil && bad != nil {
		err = fmt.Errorf("what run %s asks is damaged: %w", run, bad)
	}
	return list, err
}

// take counts a decision, and makes the message for the run.
func (a *openAsk) take(rows Rows, run string, d event.Decision, v *Verdict, now event.Time) ([]Post, error) {
	d.Ask, d.Shown = a.Number, a.Shown
	a.Votes, a.Taken = event.AddVote(a.Votes, d), a.Taken+1
	v.Outcome = Recorded
	if word, by := a.Settle(a.Votes); word != "" {
		a.Settled = &decided{Number: a.Number, Node: a.Node, Word: word, By: by, At: now}
		v.Word, v.By, v.At = word, by, now
	} else if d.Word == event.WordAck { // the run says when the time is over now
		a.Until = 0
	} else {
		for i := range a.Votes {
			if a.Votes[i].Word == event.WordApprove {
				v.Missing--
			}
		}
		v.Missing += a.Quorum
	}
	kept := *a
	kept.Votes = slices.Clone(a.Votes)
	for i := range kept.Votes { // who voted for what is enough to settle it
		kept.Votes[i].Input, kept.Votes[i].Output, kept.Votes[i].Comment = nil, nil, ""
	}
	return []Post{{Run: run, External: event.External{Kind: event.ExternalDecision, Node: a.Node, Data: d.Data()}}}, saveRow(rows, asksSpace, askKey(run, a.Node), &kept)
}

// refusedDecision is the row of a decision that was refused.
type refusedDecision struct {
	Run  string     `json:"run"`
	Node string     `json:"node"`
	Word event.Word `json:"word"`
	By   string     `json:"by"`
	At   string     `json:"at"`
	Why  Outcome    `json:"why"`
	Says string     `json:"message"`
}

// noteRefused keeps a refused decision.
func noteRefused(rows Rows, q *event.DecideRequest, v *Verdict, now event.Time) error {
	var keys []string
	err := rows.Scan(refusedSpace, "", func(key string, _ []byte) bool {
		keys = append(keys, key)
		return true
	})
	if err != nil {
		return err
	}
	next := 1
	if n := len(keys); n > 0 {
		if _, err := fmt.Sscanf(keys[n-1], "%d", &next); err != nil {
			return err
		}
		next++
	}
	if len(keys) >= MaxRefused {
		if err := rows.Delete(refusedSpace, keys[0]); err != nil {
			return err
		}
	}
	node := v.Node
	if node == "" {
		node = cut(q.Node, limits.MaxSyncName)
	}
	return saveRow(rows, refusedSpace, fmt.Sprintf("%012d", next), &refusedDecision{q.Run, node, q.Decision.Word, cut(q.Decision.By, limits.MaxSyncName), now.String(), v.Outcome, v.Message})
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// listAsks lists what waits for people in all runs, the oldest first.
func listAsks(rows Rows) (value.Value, error) {
	type row struct {
		since  event.Time
		run    string
		number uint64
		value  map[string]any
	}
	var list []row
	var bad error
	err := rows.Scan(asksSpace, "", func(key string, body []byte) bool {
		var a openAsk
		if bad = json.Unmarshal(body, &a); bad != nil {
			return false
		}
		if a.Settled == nil {
			run, _, _ := strings.Cut(key, " ")
			list = append(list, row{a.Since, run, a.Number, a.row(run)})
		}
		return true
	})
	if err == nil {
		err = bad
	}
	slices.SortFunc(list, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.run, b.run), cmp.Compare(a.number, b.number))
	})
	out := []any{}
	for _, r := range list {
		out = append(out, r.value)
	}
	return out, err
}

// row is what people see of an ask.
func (a *openAsk) row(run string) map[string]any {
	words, approvers, votes := []any{}, []any{}, []any{}
	for _, w := range a.Words {
		words = append(words, string(w))
	}
	for _, name := range a.Approvers {
		approvers = append(approvers, name)
	}
	for _, v := range a.Votes {
		votes = append(votes, map[string]any{"by": v.By, "word": string(v.Word), "at": v.At})
	}
	o := map[string]any{"kind": string(a.Kind), "run": run, "node": a.words(), "plain": a.Plain, "name": a.Name, "words": words, "since": a.Since.String(), "until": nil, "prompt": a.Prompt,
		"show": a.Show, "shown": a.Shown, "agent": a.Agent, "approvers": approvers, "votes": votes, "quorum": float64(a.Quorum)}
	if a.Node == "" {
		o["node"] = "."
	}
	if a.Until != 0 {
		o["until"] = a.Until.String()
	}
	return o
}

// listRefused lists the decisions that were refused, the oldest first.
func listRefused(rows Rows) (value.Value, error) {
	list := []any{}
	var bad error
	err := rows.Scan(refusedSpace, "", func(_ string, body []byte) bool {
		var v value.Value
		if v, bad = value.Decode(body); bad == nil {
			list = append(list, v)
		}
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	return list, err
}

// fateOf says what became of an ask; null while it is open.
func fateOf(rows Rows, q *event.FateRequest) (value.Value, error) {
	var d decided
	if err := loadRow(rows, decidedSpace, askKey(q.Run, q.Node), &d); err != nil || d.Number < q.Ask {
		return nil, err
	}
	var v Verdict
	v.late(&d)
	return v.output()
}
