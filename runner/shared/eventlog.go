package shared

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of events.
const (
	// EventAge is how long events are kept, and how long a key keeps a second event of its name away.
	EventAge = 7 * 24 * time.Hour
	// MaxDelivered is how many events of a name one reading returns.
	MaxDelivered = 1000
	// sweptPerEvent is how many events one sweep removes.
	sweptPerEvent = 4
)

// OwnEvents is how the names of flowrun's own events begin.
const OwnEvents = "flowrun."

// Flowrun is the source of its own events.
const Flowrun = "flowrun"

// Outside is the source of an event that no run has published.
const Outside = "outside"

var eventName = lazyregexp.New(`^[a-z0-9._-]+$`)

// Emission is an event that somebody publishes.
type Emission struct {
	Name   string
	Key    string // "": every emission is an event; else one of this name and key in EventAge
	Run    string // "": for all runs that wait for the name; else for this run alone
	Source string // who says so: a run's id, or a word for what is outside
	Data   value.Value
	Causes []string // the ids of the events that led to the run that publishes it, the oldest first
	Signed string   // of a delivery: what no delivery with another key may have in EventAge; "": nothing
	Most   int      // the size of the data as JSON, in bytes; 0 means limits.MaxKVValue
}

// Event is an event that was published.
type Event struct {
	Seq    uint64      `json:"seq"` // rises from event to event over the store
	At     event.Time  `json:"at"`
	Run    string      `json:"run,omitempty"`
	Source string      `json:"source,omitempty"`
	Key    string      `json:"key,omitempty"`
	Data   value.Value `json:"data"`
	// Causes are the ids of the events that led to it, the oldest first.
	Causes []string `json:"causes,omitempty"`
	Signed string   `json:"signed,omitempty"`
}

// ID names the event over the store.
func (e *Event) ID() string { return fmt.Sprintf("ev-%d", e.Seq) }

// Published is the answer to an emission. Runs are those to which the host delivers the event, in the order of their
// ids.
type Published struct {
	ID        string
	Duplicate bool // an earlier event has the name and the key, and nothing was published
	Replayed  bool // an earlier event has what was signed and another key, and nothing was published
	Event     Event
	Runs      []string
}

func eventSpace(name string) string { return "events " + name }
func keySpace(name string) string   { return "event-keys " + name }
func runSpace(name string) string   { return "event-runs " + name }

// signedSpace has what the deliveries of a webhook were signed with, and their events.
func signedSpace(name string) string { return "event-signed " + name }

// Spaces of all events: the order in which they grow too old, and the number of the last one.
const (
	ageSpace  = "event-ages"
	lastSpace = "event-last"
)

func seqKey(seq uint64) string { return fmt.Sprintf("%016x", seq) }

// CheckEventName returns an error for a text that cannot be the name of an event.
func CheckEventName(name string) error {
	if len(name) > limits.MaxEventName || !eventName().MatchString(name) {
		return refuse("%.80q cannot be the name of an event: it has 1 to %d characters of a-z, 0-9, dot, dash and underscore", name, limits.MaxEventName)
	}
	return nil
}

// Emit publishes an event.
func Emit(rows Rows, e *Emission, now event.Time) (p Published, err error) {
	if err := CheckEventName(e.Name); err != nil {
		return p, err
	}
	most := e.Most
	if most == 0 {
		most = limits.MaxKVValue
	}
	if size := len(value.Append(nil, e.Data)); size > most {
		return p, refuse("the data of event %q has %d bytes as JSON; the limit is %d", e.Name, size, most)
	}
	if len(e.Key) > limits.MaxKVKey {
		return p, refuse("the key of event %q has %d bytes; the limit is %d", e.Name, len(e.Key), limits.MaxKVKey)
	}
	if e.Key != "" {
		var before Event
		if err := loadRow(rows, keySpace(e.Name), e.Key, &before); err != nil {
			return p, err
		}
		if before.Seq != 0 && now.Sub(before.At) < EventAge {
			return Published{ID: before.ID(), Duplicate: true}, nil
		}
	}
	if e.Signed != "" {
		var before Event
		if err := loadRow(rows, signedSpace(e.Name), e.Signed, &before); err != nil {
			return p, err
		}
		if before.Seq != 0 && now.Sub(before.At) < EventAge {
			return Published{ID: before.ID(), Replayed: true}, nil
		}
	}
	var last uint64
	if err := loadRow(rows, lastSpace, "", &last); err != nil {
		return p, err
	}
	p.Event = Event{Seq: last + 1, At: now, Run: e.Run, Source: e.Source, Key: e.Key, Data: e.Data, Causes: e.Causes, Signed: e.Signed}
	p.ID = p.Event.ID()
	if err := saveRow(rows, lastSpace, "", p.Event.Seq); err != nil {
		return p, err
	}
	if err := saveRow(rows, eventSpace(e.Name), seqKey(p.Event.Seq), &p.Event); err != nil {
		return p, err
	}
	if e.Key != "" {
		if err := saveRow(rows, keySpace(e.Name), e.Key, &Event{Seq: p.Event.Seq, At: now}); err != nil {
			return p, err
		}
	}
	if e.Signed != "" {
		if err := saveRow(rows, signedSpace(e.Name), e.Signed, &Event{Seq: p.Event.Seq, At: now}); err != nil {
			return p, err
		}
	}
	if err := rows.Put(ageSpace, fmt.Sprintf("%016x %s %s", int64(now), seqKey(p.Event.Seq), e.Name), nil); err != nil {
		return p, err
	}
	err = rows.Scan(runSpace(e.Name), e.Run, func(run string, _ []byte) bool {
		if e.Run == "" || run == e.Run {
			p.Runs = append(p.Runs, run)
		}
		return e.Run == ""
	})
	if err == nil && e.Run == "" {
		err = deliver(rows, e.Name, &p.Event, now)
	}
	if err != nil {
		return p, err
	}
	return p, sweepOld(rows, now)
}

// sweepEvents removes events that are too old.
func sweepEvents(rows Rows, now event.Time) error {
	var old []string
	err := rows.Scan(ageSpace, "", func(at string, _ []byte) bool {
		if len(old) == sweptPerEvent || at >= fmt.Sprintf("%016x", int64(now.Add(-EventAge))+1) {
			return false
		}
		old = append(old, at)
		return true
	})
	for _, at := range old {
		part := strings.SplitN(at, " ", 3)
		seq, name := part[1], part[2]
		var e Event
		if err == nil {
			err = loadRow(rows, eventSpace(name), seq, &e)
		}
		if err == nil && e.Key != "" {
			err = deleteOf(rows, keySpace(name), e.Key, &e)
		}
		if err == nil && e.Signed != "" {
			err = deleteOf(rows, signedSpace(name), e.Signed, &e)
		}
		if err == nil {
			err = giveUpDue(rows, seq, now)
		}
		if err == nil {
			err = rows.Delete(eventSpace(name), seq)
		}
		if err == nil {
			err = rows.Delete(ageSpace, at)
		}
	}
	return err
}

// deleteOf removes a row that an event has left, unless a later one has it.
func deleteOf(rows Rows, space, key string, e *Event) error {
	var has Event
	err := loadRow(rows, space, key, &has)
	if err == nil && has.Seq == e.Seq {
		err = rows.Delete(space, key)
	}
	return err
}

// applyEmit publishes an event for the attempt of a step, or for a person.
func applyEmit(rows Rows, r *event.EmitRequest, by Waiter, now event.Time) (Answer, error) {
	if strings.HasPrefix(r.Name, OwnEvents) {
		return Answer{}, refuse("the event %q cannot be published: names that begin with %s are those of flowrun", r.Name, OwnEvents)
	}
	source := by.Run
	if source == "" {
		source = Outside
	}
	if err := checkReceiver(rows, r, now); err != nil {
		return Answer{}, err
	}
	p, err := Emit(rows, &Emission{Name: r.Name, Key: r.Key, Run: r.Run, Source: source, Data: r.Data, Causes: r.Causes}, now)
	if err != nil {
		return Answer{}, err
	}
	output := map[string]value.Value{"id": p.ID, "duplicate": p.Duplicate}
	if by.Run == "" && !p.Duplicate {
		starts, err := subscribers(rows, r.Name)
		if err != nil {
			return Answer{}, err
		}
		output["receivers"] = float64(len(p.Runs) + len(starts))
	}
	a := Answer{Output: output}
	for _, run := range p.Runs {
		a.Posts = append(a.Posts, Post{run, p.Event.External(r.Name)})
	}
	return a, nil
}

// BreakerEvent is the event of a circuit breaker that opens or closes: an object of name, kind (agent or quota), state and error.
const BreakerEvent = OwnEvents + "breaker"

// TargetEvent is the event of a target of a loop that is missed or met again: an object of loop, target, state, wanted and is.
const TargetEvent = OwnEvents + "target"

// LoopEvent is the event of a loop that people pause, resume or stop, that reaches a limit, or that stops an agent: an object of loop, state, agent,
// reason and until.
const LoopEvent = OwnEvents + "loop"

// EmitOwn publishes an event of flowrun's own if a run waits for its name, or a program starts runs on it. It returns the messages to the
// runs that wait.
func EmitOwn(rows Rows, name string, data value.Value, now event.Time) (posts []Post, err error) {
	waits := false
	err = rows.Scan(runSpace(name), "", func(string, []byte) bool {
		waits = true
		return false
	})
	if err == nil && !waits {
		var starts []Subscription
		starts, err = subscribers(rows, name)
		waits = len(starts) > 0
	}
	if err != nil || !waits {
		return nil, err
	}
	p, err := Emit(rows, &Emission{Name: name, Source: Flowrun, Data: data}, now)
	for _, run := range p.Runs {
		posts = append(posts, Post{run, p.Event.External(name)})
	}
	return posts, err
}

// checkReceiver refuses an event for one run that nobody would get. An event that was published before is not published again, so it needs
// no receiver.
func checkReceiver(rows Rows, r *event.EmitRequest, now event.Time) error {
	if r.Run == "" || CheckEventName(r.Name) != nil { // Emit refuses the name
		return nil
	}
	if r.Key != "" {
		var before Event
		if err := loadRow(rows, keySpace(r.Name), r.Key, &before); err != nil || before.Seq != 0 && now.Sub(before.At) < EventAge {
			return err
		}
	}
	there := false
	err := rows.Scan(runSpace(r.Name), r.Run, func(run string, _ []byte) bool {
		there = run == r.Run
		return false
	})
	if err == nil && !there {
		err = refuse("the event %q has no receiver: run %.80q does not exist, has ended, or its workflow waits for other events", r.Name, r.Run)
	}
	return err
}

// External is the message with the event to a run.
func (e *Event) External(name string) event.External {
	return event.External{Kind: event.ExternalEvent, Data: map[string]value.Value{"id": e.ID(), "name": name, "at": e.At.String(), "source": e.Source, "data": e.Data}}
}

// listEvents lists the events that are kept, the oldest first and at most MaxListed: objects of id, name, at, source, key and data.
func listEvents(rows Rows, now event.Time) (value.Value, error) {
	var at []string
	err := rows.Scan(ageSpace, fmt.Sprintf("%016x", int64(now.Add(-EventAge))+1), func(key string, _ []byte) bool {
		at = append(at, key)
		return len(at) < MaxListed
	})
	list := []value.Value{}
	for _, key := range at {
		part := strings.SplitN(key, " ", 3)
		var e Event
		if err == nil {
			err = loadRow(rows, eventSpace(part[2]), part[1], &e)
		}
		o := e.External(part[2]).Data.(map[string]value.Value)
		o["key"] = e.Key
		list = append(list, o)
	}
	return list, err
}

// Listen delivers the events of a name to a run from now on. [Forget] ends it.
func Listen(rows Rows, name, run string) error {
	if err := CheckEventName(name); err != nil {
		return err
	}
	if err := rows.Put(runHas(run), hasEvent+name, nil); err != nil {
		return err
	}
	return rows.Put(runSpace(name), run, nil)
}

// Subscribe delivers the events of a name to a run from now on. It returns those since the run began that are kept, the
// oldest first: at most MaxDelivered, and more tells that older ones were left out.
func Subscribe(rows Rows, name, run string, began, now event.Time) (events []Event, more bool, err error) {
	if err := Listen(rows, name, run); err != nil {
		return nil, false, err
	}
	var keys []string
	err = rows.Scan(eventSpace(name), "", func(key string, _ []byte) bool {
		keys = append(keys, key)
		return true
	})
	for _, key := range keys {
		var e Event
		if err == nil {
			err = loadRow(rows, eventSpace(name), key, &e)
		}
		if e.At >= began && now.Sub(e.At) < EventAge && (e.Run == "" || e.Run == run) {
			events = append(events, e)
		}
	}
	if more = len(events) > MaxDelivered; more {
		events = events[len(events)-MaxDelivered:]
	}
	return events, more, err
}

// Unsubscribe ends the delivery of the events of a name to a run.
func Unsubscribe(rows Rows, name, run string) error {
	if err := rows.Delete(runHas(run), hasEvent+name); err != nil {
		return err
	}
	return rows.Delete(runSpace(name), run)
}
