package event

import (
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// StoreRequest asks the host for one operation on what the runs of its store share. Exactly one field is set. The host carries
// the operation out once for each idempotency key: asked again with the same key, it gives the answer that it recorded.
type StoreRequest struct {
	KV   *KVRequest   `json:"kv,omitempty"`
	Emit *EmitRequest `json:"emit,omitempty"`
	Sync *SyncRequest `json:"sync,omitempty"`
	// Notice begins or ends the sending of a message.
	Notice *NoticeRequest `json:"notice,omitempty"`
	// Dead asks for what was given up. Only a person asks for it.
	Dead *DeadRequest `json:"dead,omitempty"`
	// Decide is the decision of a person.
	Decide *DecideRequest `json:"decide,omitempty"`
	// Asks asks for a list of all that waits for people, the oldest first. Only a person asks for it.
	Asks bool `json:"asks,omitempty"`
	// Fate asks what has become of an ask. Only a person asks for it.
	Fate *FateRequest `json:"fate,omitempty"`
	// Refused asks for a list of the decisions that were refused, the oldest first. Only a person asks for it.
	Refused bool `json:"refused,omitempty"`
	// Claim takes an item of a source, or changes the claim of one.
	Claim *ClaimRequest `json:"claim,omitempty"`
	// Dispatch reads or changes a queue of work.
	Dispatch *DispatchRequest `json:"dispatch,omitempty"`
	// Loop reads or changes how a loop is to behave.
	Loop *LoopRequest `json:"loop,omitempty"`
	// Claims asks for a list of the claims of all items, in the order of the items. Only a person asks for it.
	Claims bool `json:"claims,omitempty"`
	// Routine reads or changes the routines.
	Routine *RoutineRequest `json:"routine,omitempty"`
	// Register registers what starts runs of a program, or removes that.
	Register *RegisterRequest `json:"register,omitempty"`
	// Programs asks for a list of the registered programs, in the order of their paths. Only a person asks for it.
	Programs bool `json:"programs,omitempty"`
	// Definition asks for the definition of a registered program by its hash: an object of definition and source.
	Definition string `json:"definition,omitempty"`
	// Due asks for the events that are to start runs, and Started says what became of them.
	Due     *DueRequest     `json:"due,omitempty"`
	Started *StartedRequest `json:"started,omitempty"`
	// Delivery is a delivery to a webhook. Only a daemon asks for it.
	Delivery *DeliveryRequest `json:"delivery,omitempty"`
	// Files reads how watched files stood, or publishes their changes. Only a daemon and a registration ask for it.
	Files *FilesRequest `json:"files,omitempty"`
	// Outside asks for the programs that have webhooks or watch files: a list of [DueStarts]. Only a daemon asks for it.
	Outside bool `json:"outside,omitempty"`
	// RefusedEvents asks for a list of the deliveries that were refused, the oldest first. Only a person asks for it.
	RefusedEvents bool `json:"refused_events,omitempty"`
	// Hand hands a run to the daemon of the store, and TakeHanded asks for the runs that were handed to it, once.
	Hand       string `json:"hand,omitempty"`
	TakeHanded bool   `json:"take_handed,omitempty"`
	// Audit records a change over an API, and Audits asks for a list of those records, the newest first. Only a daemon asks for them.
	Audit  *AuditRequest `json:"audit,omitempty"`
	Audits bool          `json:"audits,omitempty"`
	// Baseline reads or changes figures that benchmarks are compared with.
	Baseline *BaselineRequest `json:"baseline,omitempty"`
	// Breakers takes the changes of breakers that no run has told people of.
	Breakers *BreakersRequest `json:"breakers,omitempty"`
	// Points asks for a list of all sync points. Only a person asks for it.
	Points bool `json:"points,omitempty"`
	// Namespaces asks for the namespaces of kv that have keys: an object of the number of keys by namespace. Only a person asks for it.
	Namespaces bool `json:"namespaces,omitempty"`
	// Events asks for a list of the events that are kept, the oldest first. Only a person asks for it.
	Events bool `json:"events,omitempty"`
}

// DecideRequest is the decision of a person for a node. Only a person makes it.
type DecideRequest struct {
	Run  string `json:"run"`
	Node string `json:"node"` // the path with or without iterations, or the name; "." for the run itself
	// Decision has no number of the ask and no time: those are found out. With Shown the decision is for what was shown so, and for
	// nothing else; "": for what is shown now.
	Decision Decision `json:"decision"`
}

// FateRequest asks what has become of an ask of a node; null while it is open.
type FateRequest struct {
	Run  string `json:"run"`
	Node string `json:"node"`
	Ask  uint64 `json:"ask"`
}

// EmitRequest publishes an event. For a person the answer also has receivers: how many live runs, and programs that start a run, it goes to.
type EmitRequest struct {
	Name string      `json:"name"`
	Data value.Value `json:"data,omitempty"`
	Key  string      `json:"key,omitempty"` // of two emissions with the same name and key, the second one publishes nothing; "": each one publishes an event
	Run  string      `json:"run,omitempty"` // the one run that gets the event; "": all runs that wait for the name
	// Causes are the ids of the events that led to the run that publishes this one, the oldest first.
	Causes []string `json:"causes,omitempty"`
}

// NoticeRequest counts equal messages, and records what became of a message. A message is begun before it is sent and ended after that.
type NoticeRequest struct {
	Message Message `json:"message"`
	// Place is the declared name of the node, and what else sets messages of one kind apart: under it equal messages are counted.
	Place string `json:"place"`
	// Begin are the channels, with how long equal messages count as one. The answer says by channel whether to send.
	Begin map[string]time.Duration `json:"begin,omitempty"`
	// End says by channel why the message could not be sent, or "" where it was sent. It is set without Begin.
	End map[string]string `json:"end,omitempty"`
}

// DeadRequest asks for the dead letters of the store, or for one of them, or changes one. At most one of the fields behind ID is set.
type DeadRequest struct {
	ID          string `json:"id,omitempty"`           // "": a list of all, the oldest first
	Close       bool   `json:"close,omitempty"`        // removes it
	RedrivenBy  string `json:"redriven_by,omitempty"`  // notes who tries it again
	FailedAgain string `json:"failed_again,omitempty"` // notes why a message could not be sent again
	Redeliver   bool   `json:"redeliver,omitempty"`    // an event is due again
	// After and Newest bound the list: letters with a higher number than After, and of those so many of the newest; 0: all.
	After  uint64 `json:"after,omitempty"`
	Newest int    `json:"newest,omitempty"`
	// Again adds to a list that Newest bounds the letters that were given up again after somebody had tried them again, the last ones, since so many
	// were. Each has a member again, the number of them by then.
	Again uint64 `json:"again,omitempty"`
}

// BreakersRequest takes the changes of some breakers that no run has told people of. The answer is a list of objects of kind, name, state
// (open or closed), number and error (null: none), the oldest of a breaker first. Nobody else gets them.
type BreakersRequest struct {
	Of []BreakerOf `json:"of"`
}

// BreakerOf names the breaker of an agent or a quota.
type BreakerOf struct {
	Kind NeedKind `json:"kind"`
	Name string   `json:"name"`
}

// BaselineRequest reads or changes a figure that benchmarks are compared with. The answer is the baseline as it was: an object of
// figure, metric, run and at, or null. Without Measure and Accept nothing changes; without a Name all baselines are listed.
type BaselineRequest struct {
	Name   string  `json:"name,omitempty"`
	Metric string  `json:"metric,omitempty"`
	Figure float64 `json:"figure,omitempty"`
	Run    string  `json:"run,omitempty"` // whose figure it is
	Key    string  `json:"key,omitempty"` // of the attempt that measured it: asked again, the answer is that of the first time
	// Measure makes the figure the baseline if there is none, and Accept in any case.
	Measure bool `json:"measure,omitempty"`
	Accept  bool `json:"accept,omitempty"`
}

// SyncRequest says that a party has come to a sync point, and waits there until all needed parties are ready.
type SyncRequest struct {
	Point   string   `json:"point"`
	As      string   `json:"as"`              // the party
	Needs   []string `json:"needs,omitempty"` // the parties that must be ready; empty only for a person, who does not wait
	Blocked bool     `json:"blocked,omitempty"`
	Reason  string   `json:"reason,omitempty"` // of a party that is blocked
	// Expired tells that the time to wait is over: the host answers whether the parties have met, and the attempt waits no more.
	Expired bool `json:"expired,omitempty"`
}

// KVRequest reads or changes state that runs share. Fields that an operation does not use are zero.
type KVRequest struct {
	Operation ir.KVOperation `json:"operation"`
	Namespace string         `json:"namespace"`
	Key       string         `json:"key"` // of scan: the prefix of the keys
	Value     value.Value    `json:"value,omitempty"`
	By        float64        `json:"by,omitempty"`
	Old       value.Value    `json:"old,omitempty"`   // null: the key has no value
	TTL       time.Duration  `json:"ttl,omitempty"`   // 0: set and cas write a value that does not expire; incr leaves the expiry as it is
	Limit     int            `json:"limit,omitempty"` // of scan
}

func (f *facts) store(s *StoreRequest) {
	*f = append(*f, 'W')
	if k := s.KV; k != nil {
		*f = append(*f, 'k')
		f.text('o', string(k.Operation))
		f.text('s', k.Namespace)
		f.text('k', k.Key)
		f.value('v', k.Value)
		f.number('b', math.Float64bits(k.By))
		f.value('w', k.Old)
		f.number('t', uint64(k.TTL))
		f.number('l', uint64(k.Limit))
		f.end()
	}
	if e := s.Emit; e != nil {
		*f = append(*f, 'e')
		f.text('n', e.Name)
		f.value('d', e.Data)
		f.text('k', e.Key)
		f.text('r', e.Run)
		f.texts('c', e.Causes)
		f.end()
	}
	if y := s.Sync; y != nil {
		*f = append(*f, 'y')
		f.text('p', y.Point)
		f.text('a', y.As)
		f.texts('n', y.Needs)
		f.truth('b', y.Blocked)
		f.text('r', y.Reason)
		f.truth('x', y.Expired)
		f.end()
	}
	if s.Notice != nil {
		f.notice(s.Notice)
	}
	if d := s.Dead; d != nil {
		*f = append(*f, 'd')
		f.text('i', d.ID)
		f.truth('c', d.Close)
		f.text('b', d.RedrivenBy)
		f.text('f', d.FailedAgain)
		f.truth('r', d.Redeliver)
		f.number('a', d.After)
		f.number('n', uint64(d.Newest))
		f.number('g', d.Again)
		f.end()
	}
	if d := s.Decide; d != nil {
		*f = append(*f, 'q')
		f.text('r', d.Run)
		f.text('n', d.Node)
		f.value('v', d.Decision.Data())
		f.end()
	}
	if a := s.Fate; a != nil {
		*f = append(*f, 'f')
		f.text('r', a.Run)
		f.text('n', a.Node)
		f.number('a', a.Ask)
		f.end()
	}
	if s.Claim != nil {
		f.claim(s.Claim)
	}
	if s.Dispatch != nil {
		f.dispatch(s.Dispatch)
	}
	if s.Loop != nil {
		f.loop(s.Loop)
	}
	if b := s.Baseline; b != nil {
		*f = append(*f, 'B')
		f.text('n', b.Name)
		f.text('m', b.Metric)
		f.number('f', math.Float64bits(b.Figure))
		f.text('r', b.Run)
		f.text('k', b.Key)
		f.truth('M', b.Measure)
		f.truth('A', b.Accept)
		f.end()
	}
	if b := s.Breakers; b != nil {
		*f = append(*f, 'b')
		for _, of := range b.Of {
			f.text('k', string(of.Kind))
			f.text('n', of.Name)
		}
		f.end()
	}
	f.truth('C', s.Claims)
	if s.Routine != nil {
		f.request('O', s.Routine)
	}
	if s.Register != nil {
		f.request('G', s.Register)
	}
	if s.Due != nil {
		f.request('u', s.Due)
	}
	if s.Started != nil {
		f.request('s', s.Started)
	}
	if s.Audit != nil {
		f.request('t', s.Audit)
	}
	if s.Delivery != nil {
		f.request('v', s.Delivery)
	}
	if s.Files != nil {
		f.request('w', s.Files)
	}
	f.truth('o', s.Outside)
	f.truth('x', s.RefusedEvents)
	f.text('h', s.Hand)
	f.truth('H', s.TakeHanded)
	f.truth('T', s.Audits)
	f.truth('P', s.Programs)
	f.text('D', s.Definition)
	f.truth('a', s.Asks)
	f.truth('R', s.Refused)
	f.truth('p', s.Points)
	f.truth('E', s.Events)
	f.truth('K', s.Namespaces)
	f.end()
}
