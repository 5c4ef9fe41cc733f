package shared

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxDeadLetters is how many dead letters a store keeps. The oldest makes room for the next.
const MaxDeadLetters = 10_000

// MaxRedrives is how many redrives an entry tells, the last ones.
const MaxRedrives = 16

// The kinds of dead letters.
const (
	DeadRun          = "run"          // a run that failed
	DeadNotification = "notification" // a message that could not be sent
	DeadItem         = "item"         // an item that failed, or was lost with its driver, too often
	DeadEvent        = "event"        // an event that could not start a run
	DeadRoutine      = "routine"      // moments of a routine that could not start their runs
)

// Spaces of dead letters: the entries by number, the number of the entry about something, and how many there were and are.
const (
	deadSpace      = "dead"
	deadAboutSpace = "dead-about"
	deadCountSpace = "dead-count"
)

// DeadLetter is what was given up. An entry is about a failed run, a sort of message, or an item; what is given up again counts in it.
type DeadLetter struct {
	Seq       uint64         `json:"seq"`
	Kind      string         `json:"kind"`
	Workflow  string         `json:"workflow"`
	Run       string         `json:"run"`               // the last one
	Node      string         `json:"node,omitempty"`    // the path of the node that failed first, or that the message is about
	Channel   string         `json:"channel,omitempty"` // of a message
	Message   *event.Message `json:"message,omitempty"` // the last one
	Item      string         `json:"item,omitempty"`    // the name of an item over the store
	Title     string         `json:"title,omitempty"`   // of the item
	Loop      string         `json:"loop,omitempty"`    // that had the item last
	Agent     string         `json:"agent,omitempty"`   // that had the item last
	ErrorKind string         `json:"error_kind,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Error     string         `json:"error"`
	Times     int            `json:"times"` // how often it was given up
	At        event.Time     `json:"at"`    // the first time
	Last      event.Time     `json:"last"`
	Redrives  []Redrive      `json:"redrives,omitempty"`
	About     string         `json:"about"`
	// Program, Name, Event and Due are those of an event that could not start a run: the program that is subscribed, the event's name and
	// itself, and the row of its delivery.
	Program string `json:"program,omitempty"`
	Name    string `json:"name,omitempty"`
	Event   *Event `json:"event,omitempty"`
	Due     string `json:"due,omitempty"`
	// Routine and Moments are those of a routine that could not start runs, the oldest first and at most MaxMissed.
	Routine string       `json:"routine,omitempty"`
	Moments []event.Time `json:"moments,omitempty"`

	causes []string // the ids of the events that led to the run that failed
}

// Redrive says who tried a dead letter again.
type Redrive struct {
	By string     `json:"by"`
	At event.Time `json:"at"`
}

// ID names the entry in its store.
func (d *DeadLetter) ID() string { return fmt.Sprintf("dl-%d", d.Seq) }

// deadCount is how many entries there were, and how many there are; and how often an entry was given up again after somebody had tried it again, with
// the numbers of the last maxDeadAgain of those entries.
type deadCount struct {
	Last  uint64   `json:"last"`
	Kept  int      `json:"kept"`
	Again uint64   `json:"again,omitempty"`
	Which []uint64 `json:"which,omitempty"`
}

// maxDeadAgain bounds deadCount.Which.
const maxDeadAgain = 20

// noteAgain counts an entry that was given up again.
func noteAgain(rows Rows, seq uint64) error {
	var n deadCount
	if err := loadRow(rows, deadCountSpace, "", &n); err != nil {
		return err
	}
	n.Again++
	n.Which = append(n.Which, seq)
	n.Which = n.Which[max(0, len(n.Which)-maxDeadAgain):]
	return saveRow(rows, deadCountSpace, "", &n)
}

// bury adds an entry, or counts in the one about the same.
func bury(rows Rows, d *DeadLetter, now event.Time) error {
	var seq uint64
	if err := loadRow(rows, deadAboutSpace, d.About, &seq); err != nil {
		return err
	}
	if seq != 0 {
		var before DeadLetter
		if err := loadRow(rows, deadSpace, seqKey(seq), &before); err != nil {
			return err
		}
		d.Seq, d.At, d.Times, d.Redrives = seq, before.At, before.Times, before.Redrives
		if r := d.Redrives; d.Kind == DeadRun || len(r) > 0 && r[len(r)-1].At >= before.Last { // a run counts here only if it repeats one
			if err := noteAgain(rows, seq); err != nil {
				return err
			}
		}
	} else {
		var n deadCount
		if err := loadRow(rows, deadCountSpace, "", &n); err != nil {
			return err
		}
		n.Last, n.Kept = n.Last+1, n.Kept+1
		if n.Kept > MaxDeadLetters {
			if err := dropOldest(rows); err != nil {
				return err
			}
			n.Kept--
		}
		if err := saveRow(rows, deadCountSpace, "", &n); err != nil {
			return err
		}
		d.Seq, d.At = n.Last, now
		if err := saveRow(rows, deadAboutSpace, d.About, d.Seq); err != nil {
			return err
		}
	}
	d.Times, d.Last = d.Times+1, now
	if err := saveRow(rows, deadSpace, seqKey(d.Seq), d); err != nil {
		return err
	}
	return announceDead(rows, d, now)
}

// GivenUp is the event of a dead letter. Its data is an object of id, kind, workflow, run, node, item, error and times.
const GivenUp = OwnEvents + "dlq"

// maxDeadError bounds the message of the error in the event of a dead letter, in bytes.
const maxDeadError = 4096

// announceDead publishes a dead letter, if somebody has subscribed to it. The dead letters of the workflows that it
// starts are not told, and those of such an event: one would make the next. A message that cannot be sent is told once.
func announceDead(rows Rows, d *DeadLetter, now event.Time) error {
	if d.Kind == DeadEvent && d.Name == GivenUp || d.Kind == DeadNotification && d.Times > 1 {
		return nil
	}
	list, err := subscribers(rows, GivenUp)
	if err != nil || len(list) == 0 || slices.ContainsFunc(list, func(s Subscription) bool { return s.Workflow == d.Workflow }) {
		return err
	}
	o, data := d.object(), map[string]any{}
	for _, name := range []string{"id", "kind", "workflow", "run", "node", "times"} {
		data[name] = o[name]
	}
	data["item"] = nil
	if d.Kind == DeadItem {
		data["item"] = event.ShownItem(d.Item)
	}
	data["error"] = map[string]any{"kind": d.ErrorKind, "reason": d.Reason, "message": cut(d.Error, maxDeadError)}
	e := Emission{Name: GivenUp, Source: d.Run, Data: data, Causes: d.causes}
	if e.Source == "" {
		e.Source = Flowrun
	}
	if d.Event != nil {
		e.Causes = append(slices.Clip(d.Event.Causes), d.Event.ID())
	}
	_, err = Emit(rows, &e, now)
	return err
}

func dropOldest(rows Rows) error {
	var oldest DeadLetter
	var broken error
	err := rows.Scan(deadSpace, "", func(key string, _ []byte) bool {
		broken = loadRow(rows, deadSpace, key, &oldest)
		return false
	})
	if err == nil {
		err = broken
	}
	if err == nil && oldest.Seq != 0 {
		err = unbury(rows, &oldest)
	}
	return err
}

// unbury removes the rows of an entry.
func unbury(rows Rows, d *DeadLetter) error {
	if err := rows.Delete(deadAboutSpace, d.About); err != nil {
		return err
	}
	return rows.Delete(deadSpace, seqKey(d.Seq))
}

// closeLetter removes an entry and counts it out.
func closeLetter(rows Rows, d *DeadLetter) error {
	var n deadCount
	if err := loadRow(rows, deadCountSpace, "", &n); err != nil {
		return err
	}
	n.Kept--
	if err := saveRow(rows, deadCountSpace, "", &n); err != nil {
		return err
	}
	return unbury(rows, d)
}

// RunEnd is how a run ended, as far as dead letters want to know.
type RunEnd struct {
	Run, Workflow string
	RetryOf       string // the run that it repeats
	Called        bool   // another run called it, and answers for it
	Status        event.Status
	Error         *event.Error
	Causes        []string // the ids of the events that led to the run
}

// EndOf is how a run ended that began so.
func EndOf(first *event.RunStarted, end *event.End) *RunEnd {
	return &RunEnd{Run: first.Run, Workflow: first.Workflow, RetryOf: first.RetryOf, Called: first.Parent != "", Status: end.Status, Error: end.Error, Causes: first.Events()}
}

// EndRun removes what is kept for a run that has ended, as [Forget] does. A run that failed becomes a dead letter, unless another run
// called it. A run that repeats one with a dead letter takes its place there: it closes the entry if it succeeds. Where somebody has
// subscribed to it, the end is an event: [RunEnded]. Some of what is too old goes, too.
func EndRun(rows Rows, e *RunEnd, now event.Time) error {
	if err := Forget(rows, e.Run, now); err != nil || e.Called {
		return err
	}
	if err := buryRun(rows, e, now); err != nil {
		return err
	}
	if err := announceEnd(rows, e, now); err != nil {
		return err
	}
	return sweepOld(rows, now)
}

// RunEnded is the event of the end of a run that no other run called. Its data is an object of run, workflow, status, retry_of and error.
const RunEnded = OwnEvents + "run"

// announceEnd publishes the end of a run, if somebody has subscribed to it.
func announceEnd(rows Rows, e *RunEnd, now event.Time) error {
	list, err := subscribers(rows, RunEnded)
	if err != nil || len(list) == 0 {
		return err
	}
	data := map[string]any{"run": e.Run, "workflow": e.Workflow, "status": string(e.Status), "retry_of": nil, "error": nil}
	if e.RetryOf != "" {
		data["retry_of"] = e.RetryOf
	}
	if e.Error != nil {
		data["error"] = e.Error.Object()
	}
	_, err = Emit(rows, &Emission{Name: RunEnded, Source: e.Run, Data: data, Causes: e.Causes}, now)
	if _, refused := err.(*Refusal); refused { // a message that is too large must not keep the run from ending
		delete(data, "error")
		_, err = Emit(rows, &Emission{Name: RunEnded, Source: e.Run, Data: data, Causes: e.Causes}, now)
	}
	return err
}

// buryRun makes a run that failed a dead letter, and closes or takes over that of the run that it repeats.
func buryRun(rows Rows, e *RunEnd, now event.Time) error {
	var before DeadLetter
	if e.RetryOf != "" {
		var seq uint64
		err := loadRow(rows, deadAboutSpace, aboutRun(e.RetryOf), &seq)
		if err == nil && seq != 0 {
			err = loadRow(rows, deadSpace, seqKey(seq), &before)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case e.Status == event.Succeeded && before.Seq != 0:
		return closeLetter(rows, &before)
	case e.Status != event.FailedS:
		return nil
	}
	d := DeadLetter{Kind: DeadRun, Workflow: e.Workflow, Run: e.Run, About: aboutRun(e.Run), causes: e.Causes}
	if x := e.Error; x != nil {
		d.Node, d.ErrorKind, d.Reason, d.Error = x.Node, string(x.Kind), string(x.Reason), x.Message
	}
	if before.Seq != 0 { // the entry is about the new run from now on
		if err := rows.Delete(deadAboutSpace, before.About); err != nil {
			return err
		}
		if err := saveRow(rows, deadAboutSpace, d.About, before.Seq); err != nil {
			return err
		}
	}
	return bury(rows, &d, now)
}

func aboutRun(run string) string { return "run " + run }

// ForgetDead removes the dead letter of a run that is removed.
func ForgetDead(rows Rows, run string) error {
	var seq uint64
	var d DeadLetter
	err := loadRow(rows, deadAboutSpace, aboutRun(run), &seq)
	if err == nil && seq != 0 {
		err = loadRow(rows, deadSpace, seqKey(seq), &d)
	}
	if err != nil || d.Seq == 0 {
		return err
	}
	return closeLetter(rows, &d)
}

// applyDead carries out a request about dead letters.
func applyDead(rows Rows, r *event.DeadRequest, now event.Time) (a Answer, err error) {
	if r.ID == "" {
		a.Output, err = listDead(rows, r)
		return a, err
	}
	if r.RedrivenBy != "" && strings.Contains(r.ID, "/") {
		return redriveItem(rows, r.ID, now)
	}
	d, err := findDead(rows, r.ID)
	switch {
	case err != nil:
		return a, err
	case r.Close:
		err = closeLetter(rows, d)
	case r.RedrivenBy != "":
		if d.Kind == DeadItem {
			if a.Posts, err = reviveItem(rows, d.Item, now); err != nil {
				return a, err
			}
		}
		if d.Redrives = append(d.Redrives, Redrive{r.RedrivenBy, now}); len(d.Redrives) > MaxRedrives {
			d.Redrives = d.Redrives[1:]
		}
		err = saveRow(rows, deadSpace, seqKey(d.Seq), d)
	case r.Redeliver && d.Kind == DeadRoutine:
		err = redeliverMoments(rows, d)
	case r.Redeliver:
		err = redeliver(rows, d)
	case r.FailedAgain != "":
		d.Times, d.Last, d.Error = d.Times+1, now, r.FailedAgain
		err = saveRow(rows, deadSpace, seqKey(d.Seq), d)
	}
	a.Output = d.object()
	return a, err
}

// redriveItem lets loops take an item again that was given up and whose dead letter was dropped.
func redriveItem(rows Rows, item string, now event.Time) (a Answer, err error) {
	var c claimRow
	var seq uint64
	shown := item
	if item, err = givenUp(rows, shown); err != nil {
		return a, err
	}
	if err := loadRow(rows, claimSpace, item, &c); err != nil {
		return a, err
	}
	if err := loadRow(rows, deadAboutSpace, aboutItem(item), &seq); err != nil {
		return a, err
	}
	switch {
	case c.State != event.ClaimDead:
		return a, refuse("no item %.80q was given up", shown)
	case seq != 0:
		return a, refuse("item %.80q has the dead letter %s: redrive that", shown, (&DeadLetter{Seq: seq}).ID())
	}
	d := DeadLetter{Kind: DeadItem, Item: c.Item, Title: c.Title, Loop: c.Loop, Agent: c.Agent, Run: c.Run}
	o := d.object()
	o["id"] = "" // it has none any more
	a.Output = o
	a.Posts, err = reviveItem(rows, item, now)
	return a, err
}

// givenUp finds the name over the store of an item that was given up, by the name that people read; the same name if there is none.
func givenUp(rows Rows, shown string) (item string, err error) {
	label, _, _ := strings.Cut(shown, "/")
	item = shown
	var wrong error
	err = rows.Scan(claimSpace, label, func(key string, body []byte) bool {
		if !strings.HasPrefix(key, label) || wrong != nil {
			return false
		}
		if event.ShownItem(key) != shown {
			return true
		}
		var c claimRow
		if wrong = decodeRow(claimSpace, key, body, &c); c.State == event.ClaimDead {
			if item != shown {
				wrong = refuse("items %.80q and %.80q were given up: name one of them so", item, key)
			}
			item = key
		}
		return wrong == nil
	})
	if err == nil {
		err = wrong
	}
	return item, err
}

func findDead(rows Rows, id string) (*DeadLetter, error) {
	number, is := strings.CutPrefix(id, "dl-")
	seq, err := strconv.ParseUint(number, 10, 64)
	if !is || err != nil {
		return nil, refuse("%.60q is not the name of a dead letter: names are like dl-1", id)
	}
	var d DeadLetter
	if err := loadRow(rows, deadSpace, seqKey(seq), &d); err != nil {
		return nil, err
	}
	if d.Seq == 0 {
		return nil, refuse("the store has no dead letter %s: it was closed or dropped, or never there", id)
	}
	return &d, nil
}

// listDead lists entries. Where the number of the newest is bounded, those that were given up again since so many were are added, and say by again
// how many were by then.
func listDead(rows Rows, r *event.DeadRequest) (value.Value, error) {
	list := []any{}
	var keys []string
	err := rows.Scan(deadSpace, seqKey(r.After+1), func(key string, _ []byte) bool {
		keys = append(keys, key)
		return true
	})
	if r.Newest > 0 {
		keys = keys[max(0, len(keys)-r.Newest):]
	}
	again := map[string]uint64{}
	if r.Newest > 0 && err == nil {
		var n deadCount
		err = loadRow(rows, deadCountSpace, "", &n)
		for i, seq := range n.Which {
			at, key := n.Again-uint64(len(n.Which)-1-i), seqKey(seq)
			if at <= r.Again {
				continue
			}
			if again[key] == 0 && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
			again[key] = at
		}
	}
	for _, key := range keys {
		var d DeadLetter
		if err == nil {
			err = loadRow(rows, deadSpace, key, &d)
		}
		if d.Seq == 0 { // it was closed since it was given up again
			continue
		}
		o := d.object()
		if n := again[key]; n > 0 {
			o["again"] = float64(n)
		}
		list = append(list, o)
	}
	return list, err
}

// object is an entry as answers have it.
func (d *DeadLetter) object() map[string]any {
	redrives := []any{}
	for _, r := range d.Redrives {
		redrives = append(redrives, map[string]any{"by": r.By, "at": r.At.String()})
	}
	o := map[string]any{"id": d.ID(), "kind": d.Kind, "workflow": d.Workflow, "run": d.Run, "node": nil, "channel": nil, "message": nil, "item": nil,
		"program": nil, "event": nil, "routine": nil,
		"error": map[string]any{"kind": d.ErrorKind, "reason": d.Reason, "message": d.Error}, "times": float64(d.Times),
		"at": d.At.String(), "last": d.Last.String(), "redrives": redrives}
	if d.Node != "" {
		o["node"] = d.Node
	}
	if d.Kind == DeadItem {
		o["item"] = map[string]any{"id": event.ShownItem(d.Item), "title": d.Title, "loop": d.Loop, "agent": d.Agent}
	}
	if e := d.Event; e != nil {
		o["program"], o["event"] = d.Program, e.External(d.Name).Data
	}
	if d.Kind == DeadRoutine {
		moments := []any{}
		for _, m := range d.Moments {
			moments = append(moments, m.String())
		}
		o["program"], o["routine"] = d.Program, map[string]any{"name": d.Routine, "moments": moments}
	}
	if m := d.Message; m != nil {
		o["channel"] = d.Channel
		o["message"] = messageObject(m)
	}
	return o
}

// messageObject is a message as its JSON says it.
func messageObject(m *event.Message) value.Value {
	body, err := json.Marshal(m)
	if err != nil {
		return nil // it was JSON when it came
	}
	v, err := value.Decode(body)
	if err != nil {
		return nil
	}
	return v
}
