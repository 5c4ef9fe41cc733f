package wire

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Names of what the server knows of what runs share.
const (
	Share   = "flowrun.share.v1"   // workflow: it keeps what the runs of a store share
	Update  = "flowrun.ask.v1"     // update of it, with [Asking]; [Told] answers
	Look    = "flowrun.look.v1"    // query of it, with [Request]; [Reply] answers
	Errand  = "flowrun.errand.v1"  // activity: asks it for a run, with [Asking]; [Told] answers
	Ended   = "flowrun.ended.v1"   // signal to a run: a called run has ended
	Posted  = "flowrun.posted.v1"  // signal to a run: a message from what runs share, as engine.PackExternal gives it
	Parcels = "flowrun.parcel.v1"  // signal to a run: several messages from what runs share, with [Parcel]
	Deliver = "flowrun.deliver.v1" // activity: sends parcels to many runs, with [Delivery]
	Adopted = "flowrun.adopted.v1" // signal to a called run: the id of another run that hears of its end
	EndOf   = "flowrun.end.v1"     // activity: the end of a called run that has ended
	Newer   = "flowrun.newer.v1"   // signal to it: workers with newer rules are there; the number of the rules
	Granted = "flowrun.granted.v1" // signal to a run: an attempt of it that waits for its first answer was granted, or its turn has come
	Alive   = "flowrun.alive.v1"   // activity: which of some runs have ended
	Launch  = "flowrun.launch.v1"  // activity: starts runs that are to start by themselves
)

// DefaultStore is the name of the store of runs that name none.
const DefaultStore = "flowrun"

// ShareID is the id of the workflow that keeps what the runs of a store share.
func ShareID(store string) string { return "share/" + store } // the id of a run has no slash

// ShareQueue is the task queue of that workflow, and of the activities that ask it.
func ShareQueue(store string) string { return "share/" + store }

// Bounds of requests.
const (
	// MaxRequests is how many requests go together.
	MaxRequests = 64
	// MaxReplies is about how many bytes the replies have that go together. The requests behind them are asked again.
	MaxReplies = 1_000_000
)

// Asking are requests that are carried out in order.
type Asking struct {
	Requests []Request `json:"requests"`
}

// Request asks for one thing. Exactly one of the pointers and words is set, but for ID.
type Request struct {
	// ID names the request: the same id again gets the reply of the first time. "" is for what changes nothing.
	ID string `json:"id,omitempty"`
	// Attempt is the attempt of a step that asks for what runs share.
	Attempt *event.Attempt `json:"attempt,omitempty"`
	// Ask is what a person asks for, or an executor on behalf of a run.
	Ask *event.StoreRequest `json:"ask,omitempty"`
	// Admit asks for the admission of an attempt.
	Admit *admission.Request `json:"admit,omitempty"`
	// Stands says that an earlier attempt with the key of Admit stands in the line, or was granted since. Otherwise a request of another attempt
	// with the key is not wanted any more.
	Stands bool `json:"stands,omitempty"`
	// Refuse says that an attempt was not granted in time.
	Refuse *Holder `json:"refuse,omitempty"`
	// Remove takes an attempt out of its lines that is not wanted any more.
	Remove *Holder `json:"remove,omitempty"`
	// End gives back what an attempt had.
	End *Finish `json:"end,omitempty"`
	// Enter lets a run hear of events, and take its turn in its group.
	Enter *Enter `json:"enter,omitempty"`
	// News is what a batch of a run says to what runs share.
	News *News `json:"news,omitempty"`
	// Closed says that a run has ended.
	Closed *shared.RunEnd `json:"closed,omitempty"`
	// Quiet says that Closed changes nothing, unless somebody has subscribed to the ends of runs.
	Quiet bool `json:"quiet,omitempty"`
	// Subscribed asks whether a program starts runs for the events of a name.
	Subscribed string `json:"subscribed,omitempty"`
	// Limits asks for the state of agents and quotas.
	Limits bool `json:"limits,omitempty"`
	// Change changes a limit for a person.
	Change *event.LimitChange `json:"change,omitempty"`
	// Halted asks which agents start nothing now.
	Halted []string `json:"halted,omitempty"`
	// Turns asks for the runs that wait for their turns.
	Turns bool `json:"turns,omitempty"`
	// About asks for the rules of the workflow, and when it began anew.
	About bool `json:"about,omitempty"`
}

// Holder names the attempt of a request for admission. The request of the key that another attempt has made since is left alone.
type Holder struct {
	Key    string `json:"key"`
	Ticket uint64 `json:"ticket,omitempty"` // 0: of whatever attempt
}

// Finish is the end of an attempt that was admitted.
type Finish struct {
	Holder
	End admission.End `json:"end"`
}

// Enter is what a run that begins says of itself.
type Enter struct {
	Run     string       `json:"run"`
	Callers []string     `json:"callers,omitempty"` // the nearest first
	Group   engine.Group `json:"group"`
	Events  []string     `json:"events,omitempty"` // the names of those that it waits for
	Began   event.Time   `json:"began"`
	// Reserves says that somebody else enters the run, which is about to start: it keeps its place in its group.
	Reserves bool `json:"reserves,omitempty"`
	// Gone gives up what was reserved: the run was there already.
	Gone bool `json:"gone,omitempty"`
}

// News is what a batch of a run says to what runs share.
type News struct {
	Run    string          `json:"run"`
	Leaves []string        `json:"leaves,omitempty"` // keys of attempts that leave their sync points
	Asks   []event.Command `json:"asks,omitempty"`   // what the run asks people, and what it asks no more
	Rest   *shared.Rest    `json:"rest,omitempty"`
}

// Reply answers a request.
type Reply struct {
	// Refusal says why the request cannot be carried out: nothing was changed.
	Refusal string `json:"refusal,omitempty"`
	// Again says that the request was not carried out, because the replies before it are large. It is asked again.
	Again bool `json:"again,omitempty"`
	// Finished is the end of the attempt of a step.
	Finished *event.AttemptFinished `json:"finished,omitempty"`
	// Value answers what a person asks for.
	Value value.Value `json:"value,omitempty"`
	// Verdict, At and Obstacle answer a request for admission.
	Verdict  admission.Verdict  `json:"verdict,omitempty"`
	At       event.Time         `json:"at,omitempty"`
	Obstacle admission.Obstacle `json:"obstacle"`
	// Skip says why a run that has entered does nothing. Behind is the run that it waits for. Deadlock says that it would wait for ever.
	Skip     string           `json:"skip,omitempty"`
	Behind   string           `json:"behind,omitempty"`
	Deadlock *engine.Deadlock `json:"deadlock,omitempty"`
	Changed  bool             `json:"changed,omitempty"`
	Yes      bool             `json:"yes,omitempty"` // answers Subscribed
	Limits   []event.Limit    `json:"limits,omitempty"`
	Halted   []string         `json:"halted,omitempty"`
	Turns    []InLine         `json:"turns,omitempty"`
	About    *About           `json:"about,omitempty"`
}

// About describes what runs share.
type About struct {
	Rules int `json:"rules"`
	// Anew is when it began anew, because an operator had ended the workflow; 0: it did not.
	Anew event.Time `json:"anew,omitempty"`
	// Bytes is how many bytes the rows have, not compressed.
	Bytes int `json:"bytes"`
}

// InLine is a run that waits for its turn.
type InLine struct {
	Run    string `json:"run"`
	Group  string `json:"group"`
	Behind string `json:"behind"`
}

// Told are the replies to the requests of [Asking], in their order. Those to the last ones may be missing: they are asked again.
type Told struct {
	Replies []Reply `json:"replies"`
}

// Grant tells a run that its attempt with a ticket was granted. Without a ticket, the turn of the run has come.
type Grant struct {
	Ticket uint64     `json:"ticket,omitempty"`
	At     event.Time `json:"at"`
}

// Shared is what an execution of [Share] leaves to the next one, and how the first one begins.
type Shared struct {
	Store string `json:"store"`
	// Rules is the number of the rules of the reducers: each execution keeps those with which it began. 0: of releases before the number.
	Rules int `json:"rules,omitempty"`
	// Large says that the rows lie beside the server, where there is more room.
	Large bool `json:"large,omitempty"`
	// Anew is when the first execution began after an operator had ended the one before. What that had is lost.
	Anew    event.Time           `json:"anew,omitempty"`
	Rows    []byte               `json:"rows,omitempty"` // compressed
	Line    []*admission.Request `json:"line,omitempty"`
	Turns   []*admission.Request `json:"turns,omitempty"`
	Order   int64                `json:"order,omitempty"` // of the last request
	Entered map[string]*Enter    `json:"entered,omitempty"`
	GoesOn  event.Time           `json:"goes_on,omitempty"`
	Unsent  []Unsent             `json:"unsent,omitempty"`
	// Posted is the number of the last message to any run.
	Posted int64      `json:"posted,omitempty"`
	Recent []Answered `json:"recent,omitempty"`
}

// Unsent is a message to a run that was not sent yet.
type Unsent struct {
	Run  string `json:"run,omitempty"`
	Name string `json:"name"`
	Body []byte `json:"body"`
	// Number rises from message to message; 0 in what a release before parcels has left.
	Number int64 `json:"number,omitempty"`
}

// Parcel are the messages for a run that go together, in their order. A run that has taken a message of the same sender with the same number, or a
// higher one, passes over the message: a parcel that was sent twice is heard once.
type Parcel struct {
	From     string   `json:"from"` // the first execution of the sender
	Messages []Unsent `json:"messages"`
}

// Delivery are parcels for several runs. A body that several messages have is there once.
type Delivery struct {
	From    string     `json:"from"`
	Bodies  [][]byte   `json:"bodies"`
	Parcels [][]Letter `json:"parcels"`
}

// Letter is a message of a delivery.
type Letter struct {
	Run    string `json:"run"`
	Name   string `json:"name"`
	Body   int    `json:"body"` // its index
	Number int64  `json:"number"`
}

// Parcel returns a parcel of the delivery, and the run that gets it.
func (d *Delivery) Parcel(n int) (run string, p Parcel) {
	p.From = d.From
	for _, l := range d.Parcels[n] {
		run = l.Run
		p.Messages = append(p.Messages, Unsent{Name: l.Name, Body: d.Bodies[l.Body], Number: l.Number})
	}
	return run, p
}

// Answered is a request that was carried out a short while ago.
type Answered struct {
	ID    string `json:"id"`
	Reply []byte `json:"reply"`
}

// Task is what an activity of an attempt is given.
type Task struct {
	event.Attempt
	// Granted is when the attempt was admitted; 0: the worker asks, if the attempt needs it.
	Granted event.Time `json:"granted_at,omitempty"`
	// InLine says that an earlier attempt with the key was refused: the request stands in the line, or was granted since.
	InLine bool `json:"in_line,omitempty"`
	// Detaches says that the worker may detach the attempt; see [Detached].
	Detaches bool `json:"detaches,omitempty"`
}
