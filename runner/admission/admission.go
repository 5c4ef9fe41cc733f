// Package admission decides when an attempt may start that needs a resource of the whole store, such
// as an agent of bounded concurrency, and when the turn of a run in its group has come.
//
// It is a reducer: [State.Apply] takes an operation and the time, changes the state, and returns
// the answer and the requests that it granted. Hosts store the state, carry the time in, and wake
// the runs of granted requests. The package has no clock, no I/O and no lock.
//
// A request names resources and how many units of each it needs. It gets all of its units at once
// or none. Requests that have to wait form one line per resource, in the order of (priority, first
// asking). A request is granted when it is the first in the lines of all of its resources and all
// of them have room. So no request overtakes another one of its priority, not even a smaller one.
//
// A granted request is a reservation. The attempt that asked uses it. It ends when the host
// removes the request: because the attempt has ended, because the node does not want to start any
// more, or because the driver of the run is gone. A run of a group keeps its place in the line when
// its driver is gone: its request lapses, and holds nothing and blocks nobody until the run is
// driven again.
//
// What always holds: the units of the granted requests of a resource never exceed the capacity
// that the last of them was granted with. The package imports the vocabulary of events, and must
// never import a host or the machine. Enter at [State.Apply].
package admission

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Patience is how long an attempt waits for its grant before it is refused. A refused request
// stays in the line.
const Patience = time.Second

// Horizon is how many waiting requests of each resource, from the front of its line, a host has to
// give to Apply. One operation rarely frees more; the next one grants the rest.
const Horizon = 64

// Request is what one attempt, or one run of a group, asks for. Key identifies the request: it is
// the attempt's idempotency key, or the run's id.
type Request struct {
	Key      string
	Run      string
	Node     string // the path of the node
	Ticket   uint64 // of the attempt that asked last
	Driver   int64  // the epoch of the process that drives the run
	Priority int    // the higher goes first
	Order    int64  // of the first asking, over the store
	Needs    []event.Need
	Granted  bool
	Refused  bool // the attempt was answered, and whoever drives the run has to be told of the grant
	Lapsed   bool // the driver is gone: the request keeps its place, holds nothing and blocks nobody
}

// standsBefore reports whether r stands before another request in a line.
func (r *Request) standsBefore(other *Request) bool {
	if r.Priority != other.Priority {
		return r.Priority > other.Priority
	}
	return r.Order < other.Order
}

// State holds the granted and the waiting requests of the resources in use. The zero value is
// empty. It is not safe for concurrent use.
type State struct {
	requests []*Request
}

// Load makes a state of stored requests, in any order.
func Load(requests []*Request) *State {
	s := &State{requests: slices.Clone(requests)}
	sort.Slice(s.requests, func(i, j int) bool { return s.requests[i].standsBefore(s.requests[j]) })
	return s
}

// Requests lists the requests in the order of the line.
func (s *State) Requests() []*Request { return s.requests }

// Clone copies the state. A host tries an operation on the copy, and stores the copy if its
// transaction succeeds. The needs of requests are shared, because no operation changes them.
func (s *State) Clone() *State {
	c := &State{requests: make([]*Request, len(s.requests))}
	for i, r := range s.requests {
		copied := *r
		c.requests[i] = &copied
	}
	return c
}

// Find returns the request of a key; nil if there is none.
func (s *State) Find(key string) *Request {
	for _, r := range s.requests {
		if r.Key == key {
			return r
		}
	}
	return nil
}

// FindAhead returns the request that a waiting request waits for: the nearest one before it that
// needs the same resource, or else the first one behind it that holds the resource. A request that
// has lapsed is not waited for. nil means that the request does not wait, or is not known.
func (s *State) FindAhead(key string) *Request {
	r := s.Find(key)
	if r == nil || r.Granted {
		return nil
	}
	at := slices.Index(s.requests, r)
	for i := at - 1; i >= 0; i-- {
		if o := s.requests[i]; !o.Lapsed && r.sharesNeed(o) {
			return o
		}
	}
	for _, o := range s.requests[at+1:] {
		if o.Granted && r.sharesNeed(o) {
			return o
		}
	}
	return nil
}

// sharesNeed reports whether two requests need the same resource.
func (r *Request) sharesNeed(other *Request) bool {
	return slices.ContainsFunc(r.Needs, func(n event.Need) bool {
		return slices.ContainsFunc(other.Needs, func(o event.Need) bool { return o.Kind == n.Kind && o.Name == n.Name })
	})
}

// Operation is one change of the line. Exactly one of the fields is set.
type Operation struct {
	// Ask asks for a grant. Asking again with a key that is known keeps the place in the line, or
	// the grant. A request that has lapsed stands in the line again, at its old place.
	Ask *Request
	// Refuse says that a request was not granted within Patience.
	Refuse string
	// Remove takes requests away: they have ended, are not wanted any more, or have lost their
	// driver. An empty list only grants the resources that are free.
	Remove []string
	// Lapse ends the grants of requests that have lost their drivers. They keep their places, and
	// ask again when they have another driver.
	Lapse []string
}

// Verdict is the answer to an operation.
type Verdict string

// The verdicts.
const (
	Granted Verdict = "granted" // the attempt starts
	Queued  Verdict = "queued"  // the request stands in the line, and may be granted within Patience
	Refused Verdict = "refused" // the attempt ends as refused, and the request stays in the line
	Removed Verdict = "removed"
	Lapsed  Verdict = "lapsed"
)

// Answer is the result of an operation. Granted lists the newly granted requests in the order of
// the line.
type Answer struct {
	Verdict Verdict
	// RetryAfter is when asking again makes sense; 0 where nobody knows it, and the grant is
	// waited for.
	RetryAfter event.Time
	Granted    []*Request
}

// Apply carries out one operation. An error means that the operation is not one: the state is as
// it was.
func (s *State) Apply(op Operation, now event.Time) (Answer, error) {
	var a Answer
	switch {
	case op.Ask != nil:
		if err := checkRequest(op.Ask); err != nil {
			return a, err
		}
		r := s.addRequest(op.Ask)
		a.Granted = s.grantInOrder()
		if a.Verdict = Queued; r.Granted {
			a.Verdict = Granted
		}
	case op.Refuse != "":
		r := s.Find(op.Refuse)
		switch {
		case r == nil:
			return a, fmt.Errorf("admission: request %.60q is not known", op.Refuse)
		case r.Granted:
			a.Verdict = Granted
		default:
			r.Refused, a.Verdict = true, Refused
		}
	case op.Remove != nil:
		s.requests = slices.DeleteFunc(s.requests, func(r *Request) bool { return slices.Contains(op.Remove, r.Key) })
		a.Verdict, a.Granted = Removed, s.grantInOrder()
	case op.Lapse != nil:
		for _, r := range s.requests {
			if slices.Contains(op.Lapse, r.Key) {
				r.Granted, r.Refused, r.Lapsed = false, false, true
			}
		}
		a.Verdict, a.Granted = Lapsed, s.grantInOrder()
	default:
		return a, fmt.Errorf("admission: an empty operation")
	}
	return a, nil
}

func checkRequest(r *Request) error {
	if r.Key == "" || len(r.Needs) == 0 {
		return fmt.Errorf("admission: a request of node %.60q without a key or needs", r.Node)
	}
	for _, n := range r.Needs {
		if n.Units < 1 || n.Units > n.Capacity {
			return fmt.Errorf("admission: node %.60q needs %d units of %s %q, which has %d", r.Node, n.Units, n.Kind, n.Name, n.Capacity)
		}
	}
	return nil
}

// addRequest adds a request, or gives a known one its new driver and ticket.
func (s *State) addRequest(r *Request) *Request {
	if known := s.Find(r.Key); known != nil {
		known.Run, known.Node, known.Ticket, known.Driver, known.Refused, known.Lapsed = r.Run, r.Node, r.Ticket, r.Driver, false, false
		return known
	}
	added := *r
	added.Granted, added.Refused, added.Lapsed = false, false, false
	at := sort.Search(len(s.requests), func(i int) bool { return added.standsBefore(s.requests[i]) })
	s.requests = slices.Insert(s.requests, at, &added)
	return &added
}

// resource identifies a shared resource.
type resource struct {
	kind event.NeedKind
	name string
}

// grantInOrder grants, in order, every request that is the first in all of its lines and has room.
func (s *State) grantInOrder() (granted []*Request) {
	used, blocked := map[resource]int{}, map[resource]bool{}
	for _, r := range s.requests {
		if r.Granted {
			r.countUnits(used)
		}
	}
	for _, r := range s.requests {
		switch {
		case r.Granted, r.Lapsed:
		case r.hasRoom(used, blocked):
			r.Granted = true
			r.countUnits(used)
			granted = append(granted, r)
		default:
			for _, n := range r.Needs {
				blocked[resource{n.Kind, n.Name}] = true
			}
		}
	}
	return granted
}

func (r *Request) countUnits(used map[resource]int) {
	for _, n := range r.Needs {
		used[resource{n.Kind, n.Name}] += n.Units
	}
}

func (r *Request) hasRoom(used map[resource]int, blocked map[resource]bool) bool {
	for _, n := range r.Needs {
		if at := (resource{n.Kind, n.Name}); blocked[at] || used[at]+n.Units > n.Capacity {
			return false
		}
	}
	return true
}
