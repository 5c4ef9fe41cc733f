package event

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// RegisterRequest says what starts runs of a program by itself. It takes the place of all that was registered of the program. Only a
// person makes it, by a command that names the program.
type RegisterRequest struct {
	Program string `json:"program"` // the path of the program, absolute: it names the program
	// Definition is the canonical program, and Source what is kept beside it for people; without a definition the program is removed.
	Definition string `json:"definition,omitempty"`
	Hash       string `json:"hash,omitempty"` // of the definition
	Source     string `json:"source,omitempty"`
	Release    string `json:"release,omitempty"`
	// First is what each run of the program begins with.
	First    Surroundings `json:"first"`
	Ons      []Subscribed `json:"ons,omitempty"`
	Routines []Scheduled  `json:"routines,omitempty"`
	Loops    []KeptLoop   `json:"loops,omitempty"`
}

// KeptLoop is a loop of a program that is registered: a daemon keeps it running.
type KeptLoop struct {
	Name string `json:"name"`
	Spec string `json:"spec"` // the ir.Loop as JSON, which tells whether it has changed
}

// Surroundings are what each run of a registered program begins with, as the fields of [RunStarted] of the same names.
type Surroundings struct {
	Vars    map[string]value.Value `json:"vars,omitempty"`
	Secrets map[string]Secret      `json:"secrets,omitempty"` // of variables
	Dir     string                 `json:"dir,omitempty"`
	Env     map[string]string      `json:"env,omitempty"`
	Queue   string                 `json:"queue,omitempty"` // the task queue of the runs, where a host has some
}

// Run is the first event of a run of a workflow there, without inputs.
func (s *Surroundings) Run(workflow string) RunStarted {
	return RunStarted{Workflow: workflow, Vars: s.Vars, Secrets: s.Secrets, Dir: s.Dir, Env: s.Env}
}

// Subscribed is a subscription of a program: events of a name start a workflow.
type Subscribed struct {
	Event    string `json:"event"` // or a beginning with .* behind it
	Workflow string `json:"workflow"`
	Spec     string `json:"spec"` // the block as JSON, which tells whether it has changed
}

// DueRequest asks for the events that are to start runs, the oldest first.
type DueRequest struct {
	Program string `json:"program,omitempty"` // "": of all programs
	Limit   int    `json:"limit,omitempty"`   // 0: as many as the store gives at once
}

// MaxDueListed is how many events one answer to a DueRequest lists.
const MaxDueListed = 1000

// DueAnswer is the answer to a [DueRequest].
type DueAnswer struct {
	Due      []Due       `json:"due"`
	Programs []DueStarts `json:"programs"`
	Handed   bool        `json:"handed"` // a run was handed to the daemon
}

// Due is an event that is to start a run of a workflow. Event is nil if it is too old.
type Due struct {
	Due          string    `json:"due"` // names it
	Program      string    `json:"program"`
	Subscription string    `json:"subscription"` // the name of the event as the program has it
	Workflow     string    `json:"workflow"`
	Event        *DueEvent `json:"event"`
	Store        string    `json:"store,omitempty"` // tells the store from others, where the runs of several have ids that differ
}

// DueStarts is a program, and what its runs begin with as JSON.
type DueStarts struct {
	Path       string `json:"path"`
	Definition string `json:"definition"` // the hash
	Release    string `json:"release"`
	First      string `json:"first"`
}

// DueEvent is the event itself.
type DueEvent struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	At     string          `json:"at"` // in RFC 3339
	Source string          `json:"source"`
	Data   json.RawMessage `json:"data"`
	Causes []string        `json:"causes"`
}

// ReadDue reads the answer to a [DueRequest].
func ReadDue(v value.Value) (a DueAnswer, err error) {
	err = json.Unmarshal(value.Append(nil, v), &a)
	return a, err
}

// Identity are the parts that name the run: the same event for the same subscription starts the same run.
func (d *Due) Identity() []string {
	return inStore(d.Store, "on", d.Program, d.Subscription, d.Workflow, d.Event.ID)
}

// inStore adds the store to the parts of an identity, if it has a name.
func inStore(store string, parts ...string) []string {
	if store != "" {
		parts = append(parts, store)
	}
	return parts
}

// Cause is the cause of the run that the event starts.
func (e *DueEvent) Cause() *Cause {
	c := &Cause{Kind: CauseEvent, Name: e.Name, ID: e.ID, Source: e.Source, Events: append(slices.Clone(e.Causes), e.ID)}
	if t, err := time.Parse(time.RFC3339, e.At); err == nil {
		c.At = At(t)
	}
	return c
}

// StartedRequest says what became of events that were to start runs. What is no longer due is left out.
type StartedRequest struct {
	Done []Delivered `json:"done"`
}

// Delivered is what became of one event for one subscription. Without Run and Dead, its condition did not hold.
type Delivered struct {
	Due  string `json:"due"` // as the answer to a [DueRequest] names it
	Run  string `json:"run,omitempty"`
	Dead string `json:"dead,omitempty"` // why it cannot start a run
}

// DeliveryRequest publishes the event of a delivery to a webhook, whose signature has been checked, or records that a delivery was refused.
type DeliveryRequest struct {
	Name string `json:"name"` // of the event
	From string `json:"from"` // the address that the delivery came from
	// ID names the delivery: a second one publishes nothing.
	ID string `json:"id,omitempty"`
	// Signed, if set, is a digest that no delivery with another ID may have.
	Signed string      `json:"signed,omitempty"`
	Data   value.Value `json:"data,omitempty"`
	// Reason, if set, is why the delivery is refused, in a word, and Message in words. Nothing is published.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// More is how many more deliveries were refused that have no record of their own.
	More int `json:"more,omitempty"`
}

// DeliveryAnswer is the answer to a [DeliveryRequest] that is not refused beforehand.
type DeliveryAnswer struct {
	ID        string `json:"id"`        // of the event
	Duplicate bool   `json:"duplicate"` // an earlier delivery has published it
	Replayed  bool   `json:"replayed"`  // a delivery with another id has had what was signed; nothing was published
	Full      bool   `json:"full"`      // too many events wait for somebody who starts their runs; nothing was published
}

// FilesRequest reads how watched files stood, or publishes their changes. Without Spec it reads: the answer is an object of spec and files.
type FilesRequest struct {
	Name string `json:"name"` // of the event
	// Spec says which files are watched. Where it is another one than before, the files are taken as they are, and nothing is published.
	Spec    string       `json:"spec,omitempty"`
	Changes []FileChange `json:"changes,omitempty"`
}

// FileChange is a change of a file. Before and Now are its states as JSON; "": there is no file. A change is published once: it is passed
// over where the file does not stand as Before says.
type FileChange struct {
	Path     string `json:"path"`
	Before   string `json:"before,omitempty"`
	Now      string `json:"now,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Modified Time   `json:"modified,omitempty"`
}

// FilesAnswer is the answer to a [FilesRequest] that reads.
type FilesAnswer struct {
	Spec  string            `json:"spec"`  // "": nobody has looked
	Files map[string]string `json:"files"` // states by path
}

// AuditRequest records a change that somebody makes over the API of a daemon.
type AuditRequest struct {
	By     string `json:"by"`     // who
	From   string `json:"from"`   // the address that the request came from
	What   string `json:"what"`   // the word of the change
	Target string `json:"target"` // what is changed
	Data   string `json:"data,omitempty"`
}

// request adds a request that only a person makes.
func (f *facts) request(kind byte, r any) {
	body, err := json.Marshal(r)
	if err != nil {
		panic("event: a request that is not JSON: " + err.Error()) // values are JSON by construction
	}
	f.text(kind, string(body))
}
