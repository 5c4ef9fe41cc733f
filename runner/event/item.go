package event

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Item is a piece of work that a source has. Only ID and Title are always there.
type Item struct {
	ID           string      `json:"id,omitempty"`     // in its source
	Source       string      `json:"source,omitempty"` // the name of the source
	Title        string      `json:"title"`
	Body         string      `json:"body,omitempty"`
	Labels       []string    `json:"labels,omitempty"`
	Priority     int         `json:"priority,omitempty"` // the highest is first
	Needs        []string    `json:"needs,omitempty"`    // the items of the source that must be closed before this one begins, by their ids
	Capabilities []string    `json:"capabilities,omitempty"`
	Assignee     string      `json:"assignee,omitempty"` // "": everybody may take it
	Agents       []string    `json:"agents,omitempty"`   // the members of the pool that may take it; nil: everybody
	URL          string      `json:"url,omitempty"`
	CreatedAt    Time        `json:"created_at,omitempty"`
	Handoff      *Handoff    `json:"handoff,omitempty"` // nil: nobody has handed it over
	Data         value.Value `json:"data,omitempty"`
	// Closed tells that the item is done. A source lists such an item where an open one needs it.
	Closed bool `json:"closed,omitempty"`
	// Version changes with the item, where the source knows one.
	Version string `json:"version,omitempty"`
}

// Value is the item as expressions read it; its type is [ir.ItemType].
func (i *Item) Value() value.Value {
	v := map[string]any{"id": i.ID, "source": i.Source, "title": i.Title, "body": i.Body, "labels": values(i.Labels), "priority": float64(i.Priority),
		"needs": values(i.Needs), "capabilities": values(i.Capabilities), "assignee": orNull(i.Assignee), "url": orNull(i.URL),
		"created_at": orNull(i.CreatedAt.String()), "handoff": nil, "data": i.Data}
	if i.Handoff != nil {
		v["handoff"] = i.Handoff.Value()
	}
	return v
}

// Object is the item whole, as answers have it: [ItemOf] reads it.
func (i *Item) Object() map[string]value.Value {
	timeless := *i
	timeless.CreatedAt = 0
	if i.Handoff != nil {
		h := *i.Handoff
		h.At = 0
		timeless.Handoff = &h
	}
	o := object(&timeless)
	writeTimes(o, map[string]Time{"created_at": i.CreatedAt})
	if h, is := o["handoff"].(map[string]any); is {
		writeTimes(h, map[string]Time{"at": i.Handoff.At})
	}
	return o
}

// writeTimes sets members of an object to moments as in RFC 3339, those that are not 0.
func writeTimes(o map[string]any, times map[string]Time) {
	for name, at := range times { // any order: it changes a map
		if at != 0 {
			o[name] = at.String()
		}
	}
}

// readTimes sets the moments from members of an object as in RFC 3339, and returns the object without them.
func readTimes(o map[string]any, times map[string]*Time) (map[string]any, error) {
	o = maps.Clone(o)
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if text, is := o[name].(string); is && text != "" {
			moment, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			*times[name] = At(moment)
		}
		delete(o, name)
	}
	return o, nil
}

// ItemOf reads an item of the answer of a source.
func ItemOf(v value.Value) (i Item, err error) {
	o, _ := v.(map[string]any)
	var created, handed Time
	plain, err := readTimes(o, map[string]*Time{"created_at": &created})
	if h, is := o["handoff"].(map[string]any); is && err == nil {
		plain["handoff"], err = readTimes(h, map[string]*Time{"at": &handed})
	}
	if err == nil {
		err = json.Unmarshal(value.Append(nil, plain), &i)
	}
	if err != nil {
		return i, fmt.Errorf("an item that cannot be read: %w", err)
	}
	if i.CreatedAt = created; i.Handoff != nil {
		i.Handoff.At = handed
	}
	if i.ID == "" || i.Title == "" {
		return i, fmt.Errorf("an item needs id and title: %.100s", value.Append(nil, v))
	}
	return i, nil
}

// Handoff is the document of a hand-over.
type Handoff struct {
	To            string            `json:"to"` // the agent that goes on
	Ticket        string            `json:"ticket,omitempty"`
	Summary       string            `json:"summary"` // what was done
	Next          string            `json:"next"`    // what is to be done
	FilesChanged  []string          `json:"files_changed,omitempty"`
	Decisions     []string          `json:"decisions,omitempty"`
	OpenQuestions []string          `json:"open_questions,omitempty"`
	Acceptance    []string          `json:"acceptance,omitempty"` // how to see that it is done
	Blockers      []string          `json:"blockers,omitempty"`
	Artifacts     map[string]string `json:"artifacts,omitempty"`
	Run           string            `json:"run,omitempty"` // that handed it over
	Node          string            `json:"node,omitempty"`
	At            Time              `json:"at,omitempty"`
}

// Value is the document as expressions read it; its type is [ir.HandoffType].
func (h *Handoff) Value() value.Value {
	artifacts := map[string]any{}
	for name, text := range h.Artifacts { // any order: it fills a map
		artifacts[name] = text
	}
	return map[string]any{"to": h.To, "ticket": orNull(h.Ticket), "summary": h.Summary, "next": h.Next, "files_changed": values(h.FilesChanged),
		"decisions": values(h.Decisions), "open_questions": values(h.OpenQuestions), "acceptance": values(h.Acceptance), "blockers": values(h.Blockers),
		"artifacts": artifacts, "run": h.Run, "node": h.Node, "at": h.At.String()}
}

// Message tells people of the hand-over that the store keeps as work of an id. What says from where the message comes is not set.
func (h *Handoff) Message(id string) Message {
	about := h.Ticket
	if about == "" {
		about = id
	}
	return Message{Kind: MessageHandoff, Level: "info", Title: fmt.Sprintf("%s is handed over to %s", about, h.To), Text: h.Next,
		Data: map[string]value.Value{"id": id, "handoff": h.Value()}}
}

func values(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

func orNull(text string) value.Value {
	if text == "" {
		return nil
	}
	return text
}

// object makes an object of the JSON of v.
func object(v any) map[string]any {
	text, err := json.Marshal(v)
	if err == nil {
		var o value.Value
		if o, err = value.Decode(text); err == nil {
			return o.(map[string]any)
		}
	}
	panic("event: an item that is not JSON: " + err.Error()) // values by construction
}

// SourceVerb says what a source is asked for.
type SourceVerb string

// The verbs.
const (
	SourceList   SourceVerb = "list"   // its open items; the answer's output is an object of items, and of what else the source wants to be given again
	SourceLook   SourceVerb = "look"   // whether the item is still open; an object of ok and closed
	SourceTake   SourceVerb = "take"   // to mark the item as taken by the agent; an object of ok and closed
	SourceReport SourceVerb = "report" // to write down the outcome; an object of ok, closed, and gone if the source calls the item closed afterwards
	SourceCreate SourceVerb = "create" // to add the item; an object of id
)

// SourceVerbs lists all verbs.
var SourceVerbs = []SourceVerb{SourceList, SourceLook, SourceTake, SourceReport, SourceCreate}

// SourceRequest asks a source of a loop.
type SourceRequest struct {
	Loop    string                 `json:"loop"`
	Source  string                 `json:"source"`         // its name
	List    string                 `json:"list,omitempty"` // the name of its list over the store, see [ListName]
	Kind    ir.SourceKind          `json:"kind"`
	Config  map[string]value.Value `json:"config,omitempty"` // the attributes of its block
	Verb    SourceVerb             `json:"verb"`
	Item    *Item                  `json:"item,omitempty"`  // nil: of list
	Token   uint64                 `json:"token,omitempty"` // of the claim, of take and report
	Agent   string                 `json:"agent,omitempty"` // that has the claim
	Outcome *ItemOutcome           `json:"outcome,omitempty"`
	Dry     bool                   `json:"dry,omitempty"` // of list: somebody only looks, so nothing is written
	// Watch, of list, has the source be looked at again and again, until something has changed; nil: the source is asked once.
	Watch *SourceWatch `json:"watch,omitempty"`
}

// Key names an item of the list over the store: its claim, and the runs that do it, go by that name.
func (r *SourceRequest) Key(id string) string { return r.List + "/" + id }

// whereLists are the attributes of a source that say where its list is.
var whereLists = []string{"path", "command", "url", "base_url", "repo"}

// ListName names the list that a source asks for its items, over the store. All loops of all programs that ask the same list have the same
// name for it, and so they share the claims of its items; those of other lists are other claims. r and late are what the source is asked with,
// and dir is the folder of the program, in which paths and commands are read.
func ListName(r *SourceRequest, late []Late, dir string) string {
	if r.Kind == ir.SourceDispatch || r.Kind == ir.SourceImprovement {
		return r.Source
	}
	label, _, _ := strings.Cut(r.Source, "-") // a program numbers its sources
	parts := []value.Value{string(r.Kind)}
	inDir := r.Kind == ir.SourceExec
	for _, name := range whereLists {
		v := r.Config[name]
		if p, is := v.(string); is && name == "path" {
			if !path.IsAbs(p) {
				p = path.Join(dir, p)
			}
			v = path.Clean(p)
		}
		for i := range late {
			if late[i].Place == "source."+name { // nobody knows the value here
				v, inDir = object(&late[i].Expr), true
			}
		}
		parts = append(parts, v)
	}
	if inDir {
		parts = append(parts, dir)
	}
	sum := sha256.Sum256(value.Append(nil, parts))
	return label + "@" + hex.EncodeToString(sum[:6])
}

// ShownItem is the name of an item over the store as people read it: without what tells its list apart from others of the same label.
func ShownItem(key string) string {
	list, id, is := strings.Cut(key, "/")
	label, _, _ := strings.Cut(list, "@")
	if !is {
		return key
	}
	return label + "/" + id
}

// SourceWatch says how a source is looked at, and when the attempt answers. The answer is that of the look that found a change: another list
// than the one that is known, or a list where the source could not be asked before, or a failure where it could. Where nothing has changed
// for the whole time, the answer is that of the last look if that failed, and else an object in which same is true.
type SourceWatch struct {
	Known string        `json:"known,omitempty"` // the mark of the list that is known, see [ListMark]; "": the source could not be asked
	Every time.Duration `json:"every"`           // before the first look; doubled before each other one
	Most  time.Duration `json:"most"`            // the longest pause between two looks
	For   time.Duration `json:"for"`             // when the attempt answers at the latest; the time that looks take does not count
}

// IsWatch reports whether an attempt watches a source: it can be stopped at any time and begun anew, and nothing gets lost.
func (a *Attempt) IsWatch() bool { return a.Source != nil && a.Source.Watch != nil }

// Pause is how long the watch waits before its next look, after n looks and a time of waiting; 0: that time was all.
func (w *SourceWatch) Pause(n int, waited time.Duration) time.Duration {
	d := max(w.Every, time.Millisecond)
	for ; n > 0 && d < w.Most; n-- {
		d *= 2
	}
	return max(0, min(d, max(w.Most, w.Every), w.For-waited))
}

// Changed reports whether a look found something else than what is known.
func (w *SourceWatch) Changed(look *AttemptFinished) bool {
	if look.Outcome != OK {
		return w.Known != ""
	}
	return ListMark(look.Output) != w.Known
}

// Unchanged is the output of a watch that has found no change.
func Unchanged() value.Value { return map[string]any{"same": true} }

// IsUnchanged reports whether an output is that of a watch that has found no change.
func IsUnchanged(v value.Value) bool {
	o, _ := v.(map[string]any)
	return o["same"] == true
}

// ListMark tells the output of list apart from other outputs. It is the mark that the output has, or else a hash.
func ListMark(v value.Value) string {
	o, _ := v.(map[string]any)
	if mark, is := o["mark"].(string); is && mark != "" {
		return mark
	}
	sum := sha256.Sum256(value.Append(nil, v))
	return hex.EncodeToString(sum[:16])
}

// ItemStatus says how the work on an item ended.
type ItemStatus string

// The statuses.
const (
	ItemClosed   ItemStatus = "closed"   // it is done
	ItemReleased ItemStatus = "released" // somebody else may take it
	ItemFailed   ItemStatus = "failed"   // the work on it failed
)

// ItemStatuses lists all statuses.
var ItemStatuses = []ItemStatus{ItemClosed, ItemReleased, ItemFailed}

// ItemOutcome says how the work on an item ended.
type ItemOutcome struct {
	Status  ItemStatus `json:"status"`
	Message string     `json:"message,omitempty"`
	Run     string     `json:"run,omitempty"` // that did the work
}

// ClaimOperation says what becomes of the claim of an item.
type ClaimOperation string

// The operations. Each but the first names the token of the claim; with another token than the newest one nothing happens.
const (
	ClaimTake    ClaimOperation = "take"
	ClaimRenew   ClaimOperation = "renew"   // the lease begins anew; a parked claim is held again
	ClaimRelease ClaimOperation = "release" // the item can be taken again
	ClaimFail    ClaimOperation = "fail"    // as release, once; the second failure makes a dead letter of the item
	ClaimPark    ClaimOperation = "park"    // the claim stays without a lease, for its run waits
	ClaimClose   ClaimOperation = "close"   // the item is done
	ClaimLook    ClaimOperation = "look"    // changes nothing; it is won if the token is the newest and the claim is held or parked
)

// ClaimOperations lists all operations.
var ClaimOperations = []ClaimOperation{ClaimTake, ClaimRenew, ClaimRelease, ClaimFail, ClaimPark, ClaimClose, ClaimLook}

// ClaimRequest takes an item, or changes the claim of an item. The answer is a [Claim].
type ClaimRequest struct {
	Operation ClaimOperation `json:"operation"`
	Item      string         `json:"item"` // names the item over the store
	Loop      string         `json:"loop,omitempty"`
	Agent     string         `json:"agent,omitempty"`
	Lease     time.Duration  `json:"lease,omitempty"` // of take and renew
	Token     uint64         `json:"token,omitempty"`
	Title     string         `json:"title,omitempty"` // of take: what people see of the item
	// Needs are the agents and quotas that the work asks for, as KIND and name, of take. While the breaker of one is open, or what it may spend
	// is spent, the item is not given.
	Needs   []string `json:"needs,omitempty"`
	Run     string   `json:"run,omitempty"`     // that does the work
	Message string   `json:"message,omitempty"` // of fail and release: why
	Gone    bool     `json:"gone,omitempty"`    // of close: the source calls the item closed, too, so it can be taken again when it is open again
}

// ClaimState says how an item stands.
type ClaimState string

// The states.
const (
	ClaimOpen   ClaimState = "open"   // nobody has it
	ClaimHeld   ClaimState = "held"   // until its lease runs out
	ClaimParked ClaimState = "parked" // without a lease
	ClaimClosed ClaimState = "closed" // it is done
	ClaimDead   ClaimState = "dead"   // it was given up
)

// ClaimStates lists all states.
var ClaimStates = []ClaimState{ClaimOpen, ClaimHeld, ClaimParked, ClaimClosed, ClaimDead}

// Claim says who has an item. It is the answer to a [ClaimRequest].
type Claim struct {
	Item     string     `json:"item"`
	Won      bool       `json:"won"`              // the request did what it asked for
	Why      string     `json:"why,omitempty"`    // in words, where it did not
	State    ClaimState `json:"state"`            // after the request
	Token    uint64     `json:"token"`            // of the newest claim; 0: nobody ever had the item
	Loop     string     `json:"loop,omitempty"`   // that has it
	Agent    string     `json:"agent,omitempty"`  // that has it
	Run      string     `json:"run,omitempty"`    // that does the work
	Until    Time       `json:"until,omitempty"`  // the end of the lease
	Failures int        `json:"failures"`         // that were reported
	Lost     int        `json:"lost"`             // leases that ran out
	Title    string     `json:"title,omitempty"`  // of the item
	Since    Time       `json:"since,omitempty"`  // when the newest claim was made
	Shut     string     `json:"shut,omitempty"`   // the agent or quota that keeps the item from being given, as in Needs; only in the answer to take
	Waits    bool       `json:"waits,omitempty"`  // the run waits for a person, an event or a distant moment; only in the answer to renew
	Asks     bool       `json:"asks,omitempty"`   // the run waits for a person; only in the answer to renew
	Parked   Time       `json:"parked,omitempty"` // since when it is parked; 0: it is not
	At       Time       `json:"at,omitempty"`     // what the clock of the store shows at the answer
}

// Who names the agent that has the item, with the loop if it works for one.
func (c *Claim) Who() string {
	if c.Loop == "" {
		return c.Agent
	}
	return c.Agent + " of " + c.Loop
}

// Object is the claim as answers have it: [ClaimOf] reads it.
func (c *Claim) Object() map[string]value.Value {
	timeless := *c
	timeless.Until, timeless.Since, timeless.Parked, timeless.At = 0, 0, 0, 0
	timeless.Item = ShownItem(c.Item)
	o := object(&timeless)
	writeTimes(o, map[string]Time{"until": c.Until, "since": c.Since, "parked": c.Parked, "at": c.At})
	return o
}

// ClaimOf reads the answer to a [ClaimRequest].
func ClaimOf(v value.Value) (c Claim, err error) {
	o, is := v.(map[string]any)
	if !is {
		return c, fmt.Errorf("a claim that is not an object: %.100s", value.Append(nil, v))
	}
	var until, since, parked, at Time
	plain, err := readTimes(o, map[string]*Time{"until": &until, "since": &since, "parked": &parked, "at": &at})
	if err == nil {
		err = json.Unmarshal(value.Append(nil, plain), &c)
	}
	if err != nil {
		return c, fmt.Errorf("a claim that cannot be read: %w", err)
	}
	c.Until, c.Since, c.Parked, c.At = until, since, parked, at
	return c, nil
}

// Queue names one of the lists of work of a store.
type Queue string

// The queues.
const (
	QueueDispatch Queue = "dispatch" // work that somebody handed in
	QueueTicket   Queue = "ticket"   // the backlog of the store: work that was found elsewhere
)

// Queues lists all queues.
var Queues = []Queue{QueueDispatch, QueueTicket}

// DispatchOperation says what becomes of work in a queue.
type DispatchOperation string

// The operations.
const (
	DispatchAdd    DispatchOperation = "add"    // the output is an object of id and duplicate
	DispatchList   DispatchOperation = "list"   // the output is an object of items, the first to do first, and of left: how many were left out
	DispatchShow   DispatchOperation = "show"   // the output is the item
	DispatchCancel DispatchOperation = "cancel" // nobody need do it; the output is an object of cancelled and state
	DispatchClose  DispatchOperation = "close"  // it is done; the output is an object of closed and state
	DispatchReopen DispatchOperation = "reopen" // it was closed, and is to be done again; the output is an object of reopened and state
	// DispatchHandOver adds the work of a hand-over, as add, and closes the item of who hands it over; the output is that of add.
	// Of a token that does not have the item it is an object of id (null) and why.
	DispatchHandOver DispatchOperation = "hand_over"
)

// DispatchOperations lists all operations.
var DispatchOperations = []DispatchOperation{DispatchAdd, DispatchList, DispatchShow, DispatchCancel, DispatchClose, DispatchReopen, DispatchHandOver}

// DispatchRequest reads or changes a queue of work of the store.
type DispatchRequest struct {
	Operation DispatchOperation `json:"operation"`
	Queue     Queue             `json:"queue"`
	ID        string            `json:"id,omitempty"`  // of show, cancel, close, reopen and hand_over
	All       bool              `json:"all,omitempty"` // of list: also closed and cancelled work
	// Item is what add adds. An item with an id gets that id. Key, if not empty, stands for what the item is about: where an item of the queue
	// has the id or the key already, nothing is added, and the answer has the id of that item.
	Item *Item  `json:"item,omitempty"`
	Key  string `json:"key,omitempty"`
	By   string `json:"by,omitempty"` // who asks
	// Token is that of the claim of ID, of hand_over: another one is refused. The same token again adds nothing.
	Token uint64 `json:"token,omitempty"`
	// Notice begins the message about an item that was handed over, in the transaction that adds the item: workflow, run, node, key and time
	// are set, and the store fills in the rest. nil: nobody is told.
	Notice *NoticeRequest `json:"notice,omitempty"`
}

// LoopOperation says what a request wants of a loop.
type LoopOperation string

// The operations.
const (
	LoopListen LoopOperation = "listen" // the run that asks is woken by what concerns the loop, until it ends
	LoopRead   LoopOperation = "read"   // how the loop stands
	LoopPause  LoopOperation = "pause"  // nothing is claimed
	LoopResume LoopOperation = "resume" // ends a pause or a stop
	LoopStop   LoopOperation = "stop"   // the loop ends
	LoopBegin  LoopOperation = "begin"  // whoever goes on with the run of the loop says anew when it ends
	// LoopSession asks which of the runs of the loop is the newest. The answer is a number; [LoopRun] gives the id of the run.
	LoopSession LoopOperation = "session"
	LoopEnd     LoopOperation = "end"    // the run with the number Ended takes nothing more, and ends when what it does is done
	LoopTarget  LoopOperation = "target" // a target of the loop is missed or met again: an event, where somebody asks for it; the answer is null
	LoopTell    LoopOperation = "tell"   // the loop was paused, resumed or stopped, or has reached a limit: an event, as of target; the answer is null
	LoopList    LoopOperation = "list"   // all loops of the store; the answer is a [LoopsAnswer]
)

// LoopOperations lists all operations.
var LoopOperations = []LoopOperation{LoopListen, LoopRead, LoopPause, LoopResume, LoopStop, LoopBegin, LoopSession, LoopEnd, LoopTarget, LoopTell, LoopList}

// LoopRequest reads or changes how a loop is to behave. The answer is a [LoopControl].
type LoopRequest struct {
	Operation LoopOperation `json:"operation"`
	Loop      string        `json:"loop"`
	Agent     string        `json:"agent,omitempty"` // of pause and resume: of this agent alone
	For       time.Duration `json:"for,omitempty"`   // of pause; 0: until somebody resumes
	By        string        `json:"by,omitempty"`    // who asks
	Once      bool          `json:"once,omitempty"`  // of begin, as in [LoopStart]
	UntilIdle bool          `json:"until_idle,omitempty"`
	Ended     uint64        `json:"ended,omitempty"`  // of session: the number of a run that has ended, so that the next one is the newest
	Why       string        `json:"why,omitempty"`    // of end, in words
	Target    value.Value   `json:"target,omitempty"` // of target: the data of the event
	Tell      value.Value   `json:"tell,omitempty"`   // of tell: the data of the event
}

// LoopRun is the id of a run of a loop. The runs of a loop in a store are numbered from 1, and one begins when the one before has ended.
func LoopRun(loop string, number uint64) string {
	sum := sha256.Sum256([]byte(loop + "\x00" + strconv.FormatUint(number, 10) + "\x00loop"))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:8]))[:12]
}

// LoopsAnswer is the answer to [LoopList].
type LoopsAnswer struct {
	Loops    []LoopKnown `json:"loops"` // in the order of their names
	Programs []DueStarts `json:"programs"`
}

// LoopKnown is a loop that the store knows, because it is registered or because it has run.
type LoopKnown struct {
	Name       string `json:"name"`
	Program    string `json:"program"`        // the path of the program that is registered with it; "": none
	Since      string `json:"since"`          // when it was registered, in RFC 3339
	Definition string `json:"definition"`     // of the program, the hash
	Number     uint64 `json:"number"`         // of its newest run; 0: it has never run
	Stopped    bool   `json:"stopped"`        // people want it to be stopped
	Resumed    Time   `json:"resumed,string"` // when somebody asked last that it goes on
}

// LoopControl says how people want a loop to behave.
type LoopControl struct {
	Loop    string `json:"loop"`
	Stopped bool   `json:"stopped,omitempty"`
	// Paused is until when nothing is claimed, by agent; "" stands for all of them, and the greatest Time for a pause without an end.
	Paused map[string]Time `json:"paused,omitempty"`
	By     string          `json:"by,omitempty"` // who asked last
	At     Time            `json:"at,omitempty"` // what the clock of the store showed when this was said
}

// Forever is the end of a pause that only somebody ends.
const Forever = Time(math.MaxInt64)

// Object is the control as answers and messages have it: [LoopControlOf] reads it.
func (c *LoopControl) Object() value.Value {
	paused := map[string]any{}
	for agent, until := range c.Paused { // any order: it fills a map
		paused[agent] = nil
		if until != Forever {
			paused[agent] = until.String()
		}
	}
	o := map[string]any{"loop": c.Loop, "stopped": c.Stopped, "paused": paused, "by": orNull(c.By)}
	writeTimes(o, map[string]Time{"at": c.At})
	return o
}

// LoopControlOf reads a control.
func LoopControlOf(v value.Value) (c LoopControl, err error) {
	var o struct {
		Loop    string
		Stopped bool
		Paused  map[string]*time.Time
		By      string
		At      *time.Time
	}
	if err := json.Unmarshal(value.Append(nil, v), &o); err != nil {
		return c, fmt.Errorf("the control of a loop cannot be read: %w", err)
	}
	c = LoopControl{Loop: o.Loop, Stopped: o.Stopped, By: o.By}
	if o.At != nil {
		c.At = At(*o.At)
	}
	for agent, until := range o.Paused { // any order: it fills a map
		if c.Paused == nil {
			c.Paused = map[string]Time{}
		}
		c.Paused[agent] = Forever
		if until != nil {
			c.Paused[agent] = At(*until)
		}
	}
	return c, nil
}

// WakeKind says what has changed.
type WakeKind string

// The kinds of wakes.
const (
	WakeWork    WakeKind = "work"    // there is more to do, or something else can be done
	WakeControl WakeKind = "control" // people want the loop to behave otherwise
	WakeBegin   WakeKind = "begin"   // whoever goes on with the run wants another end of it
	WakeEnd     WakeKind = "end"     // the run is to take nothing more, and end
)

// WakeKinds lists all kinds of wakes.
var WakeKinds = []WakeKind{WakeWork, WakeControl, WakeBegin, WakeEnd}

// Wake is the data of an [ExternalWake].
type Wake struct {
	Kind    WakeKind
	Control LoopControl // of WakeControl
	Begin   LoopStart   // of WakeBegin: what it carries does not count
	Why     string      // of WakeEnd, in words
}

// Data is the wake as the data of an external.
func (w *Wake) Data() value.Value {
	if w.Kind == WakeControl {
		return map[string]any{"kind": string(w.Kind), "control": w.Control.Object()}
	}
	if w.Kind == WakeBegin {
		return map[string]any{"kind": string(w.Kind), "begin": map[string]any{"once": w.Begin.Once, "until_idle": w.Begin.UntilIdle}}
	}
	if w.Kind == WakeEnd {
		return map[string]any{"kind": string(w.Kind), "end": map[string]any{"why": w.Why}}
	}
	return map[string]any{"kind": string(w.Kind)}
}

// WakeOf reads the data of an external.
func WakeOf(data value.Value) (w Wake, err error) {
	o, _ := data.(map[string]any)
	kind, _ := o["kind"].(string)
	w.Kind = WakeKind(kind)
	if w.Kind == WakeControl {
		w.Control, err = LoopControlOf(o["control"])
	}
	if w.Kind == WakeBegin {
		begin, _ := o["begin"].(map[string]any)
		w.Begin.Once, _ = begin["once"].(bool)
		w.Begin.UntilIdle, _ = begin["until_idle"].(bool)
	}
	if w.Kind == WakeEnd {
		end, _ := o["end"].(map[string]any)
		w.Why, _ = end["why"].(string)
	}
	return w, err
}

func (f *facts) item(i *Item) {
	*f = append(*f, 'I')
	f.text('i', i.ID)
	f.text('s', i.Source)
	f.text('t', i.Title)
	f.text('b', i.Body)
	f.texts('l', i.Labels)
	f.number('p', uint64(i.Priority))
	f.texts('n', i.Needs)
	f.texts('c', i.Capabilities)
	f.text('a', i.Assignee)
	f.texts('g', i.Agents)
	f.text('u', i.URL)
	f.number('C', uint64(i.CreatedAt))
	if h := i.Handoff; h != nil {
		f.handoff(h)
	}
	f.value('d', i.Data)
	f.truth('x', i.Closed)
	f.text('v', i.Version)
	f.end()
}

func (f *facts) handoff(h *Handoff) {
	*f = append(*f, 'h')
	f.text('t', h.To)
	f.text('k', h.Ticket)
	f.text('s', h.Summary)
	f.text('n', h.Next)
	f.texts('f', h.FilesChanged)
	f.texts('d', h.Decisions)
	f.texts('q', h.OpenQuestions)
	f.texts('a', h.Acceptance)
	f.texts('b', h.Blockers)
	f.pairs('A', h.Artifacts)
	f.text('r', h.Run)
	f.text('N', h.Node)
	f.number('@', uint64(h.At))
	f.end()
}

func (f *facts) source(s *SourceRequest) {
	*f = append(*f, 'O')
	f.text('l', s.Loop)
	f.text('s', s.Source)
	f.text('L', s.List)
	f.text('k', string(s.Kind))
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		f.always('c', name)
		f.value('=', s.Config[name])
	}
	f.text('v', string(s.Verb))
	if s.Item != nil {
		f.item(s.Item)
	}
	f.number('t', s.Token)
	f.text('a', s.Agent)
	if o := s.Outcome; o != nil {
		*f = append(*f, 'o')
		f.text('s', string(o.Status))
		f.text('m', o.Message)
		f.text('r', o.Run)
		f.end()
	}
	if w := s.Watch; w != nil {
		*f = append(*f, 'w')
		f.text('k', w.Known)
		f.number('e', uint64(w.Every))
		f.number('m', uint64(w.Most))
		f.number('f', uint64(w.For))
		f.end()
	}
	f.end()
}

func (f *facts) claim(c *ClaimRequest) {
	*f = append(*f, 'c')
	f.text('o', string(c.Operation))
	f.text('i', c.Item)
	f.text('l', c.Loop)
	f.text('a', c.Agent)
	f.number('d', uint64(c.Lease))
	f.number('t', c.Token)
	f.text('T', c.Title)
	f.texts('n', c.Needs)
	f.text('r', c.Run)
	f.text('m', c.Message)
	f.truth('g', c.Gone)
	f.end()
}

func (f *facts) dispatch(d *DispatchRequest) {
	*f = append(*f, 'D')
	f.text('o', string(d.Operation))
	f.text('q', string(d.Queue))
	f.text('i', d.ID)
	f.truth('a', d.All)
	if d.Item != nil {
		f.item(d.Item)
	}
	f.text('k', d.Key)
	f.text('b', d.By)
	f.number('t', d.Token)
	if d.Notice != nil {
		f.notice(d.Notice)
	}
	f.end()
}

func (f *facts) loop(l *LoopRequest) {
	*f = append(*f, 'L')
	f.text('o', string(l.Operation))
	f.text('l', l.Loop)
	f.text('a', l.Agent)
	f.number('f', uint64(l.For))
	f.text('b', l.By)
	f.truth('o', l.Once)
	f.truth('u', l.UntilIdle)
	f.number('e', l.Ended)
	f.text('w', l.Why)
	f.value('t', l.Target)
	f.value('T', l.Tell)
	f.end()
}
