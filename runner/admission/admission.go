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
// A request stands in the lines of its needs in their order, to the first one that it cannot have: in
// the lines behind that it would keep others from what nobody uses. It would also make deadlocks,
// because a group can hold the first and need the second inside. All requests name what they need in
// the same order, that of declaration, and whatever holds something asks only for what comes later;
// so nobody waits in a circle.
//
// Rate limits, spending, breakers, stopped agents and the moments that the other side named stand in rows of package shared. A
// request that could have its units is granted when all of them agree, too. If one of them refuses, nothing is used up, and
// the request keeps its place in all of its lines. The host tells the end of each attempt, which gives the units back and
// is reported to the breakers.
//
// A granted request is a reservation. The attempt that asked uses it. It ends when the host
// removes the request: because the attempt has ended, because the node does not want to start any
// more, or because the driver of the run is gone. A run of a group keeps its place in the line when
// its driver is gone: its request lapses, and holds nothing and blocks nobody until the run is
// driven again.
//
// What always holds: the units of the granted requests of a resource never exceed the capacity
// that the last of them was granted with. The package imports the vocabulary of events and the rules of package shared, and
// must never import a host or the machine. Enter at [State.Apply].
package admission

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Patience is how long an attempt waits for its grant before it is refused. An attempt that cannot start before is refused
// at once, unless its own run can give back what it needs. A refused request stays in the line.
const Patience = time.Second

// Horizon is how many waiting requests of each resource, from the front of its line, a host gives to Apply at first: see
// [State.Truncate]. One operation rarely frees more; the next one grants the rest. A request behind so many others is not told
// a moment, so that a moment does not wake all runs of a long line.
const Horizon = 64

// Request is what one attempt, or one run of a group, asks for. Key identifies the request: it is
// the attempt's idempotency key, or the run's id.
type Request struct {
	Key      string
	Run      string
	Node     string     // the path of the node
	Ticket   uint64     // of the attempt that asked last
	Driver   int64      // the epoch of the process that drives the run
	Priority int        // the higher goes first
	Order    int64      // of the first asking, over the store
	Asked    event.Time // first
	Needs    []event.Need
	Granted  bool
	At       event.Time // when it was granted, or when the attempt asked again that has a reservation: it starts then
	Refused  bool       // the attempt was answered, and whoever drives the run has to be told of the grant
	Lapsed   bool       // the driver is gone: the request keeps its place, holds nothing and blocks nobody
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
	rows     shared.Rows
	edges    map[resource]*Request // see Truncate
}

// Load makes a state of stored requests, in any order. rows hold the rate limits and breakers; nil: none of the requests is
// for something that has one, or that can be stopped.
func Load(requests []*Request, rows shared.Rows) *State {
	s := &State{requests: slices.Clone(requests), rows: rows}
	sort.Slice(s.requests, func(i, j int) bool { return s.requests[i].standsBefore(s.requests[j]) })
	return s
}

// Truncate says that the line of a resource goes on behind a request, and that the state does not hold the waiting requests there.
// None behind it is granted then that stands in the line, because others may stand before it; [Answer].Short says that more of
// the line is needed.
func (s *State) Truncate(n *event.Need, last *Request) {
	if s.edges == nil {
		s.edges = map[resource]*Request{}
	}
	s.edges[resource{n.Kind, n.Name}] = last
}

// isBehindEdge reports whether requests that the state does not hold may stand before a waiting request, in a line that is free.
func (s *State) isBehindEdge(r *Request, blocked map[resource]bool) bool {
	return slices.ContainsFunc(r.Needs, func(n event.Need) bool {
		at := resource{n.Kind, n.Name}
		last := s.edges[at]
		return last != nil && last.standsBefore(r) && !blocked[at]
	})
}

// Requests lists the requests in the order of the line.
func (s *State) Requests() []*Request { return s.requests }

// Clone copies the state. A host tries an operation on the copy, and stores the copy if its
// transaction succeeds. The needs of requests are shared, because no operation changes them.
func (s *State) Clone() *State {
	c := &State{requests: make([]*Request, len(s.requests)), rows: s.rows}
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
	// Refuse says that a request was not granted within Patience. It is granted if nothing refuses it any more. The verdict is Removed if
	// the request is not known.
	Refuse string
	// Remove takes requests away: they are not wanted any more. Breakers do not count them. An empty list only grants what
	// can be granted.
	Remove []string
	// End takes the requests of attempts away that have ended, or were lost with their driver.
	End []End
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
	Refused Verdict = "refused" // the attempt ends as refused, and the request stays in the line; a reservation that it had is gone
	Removed Verdict = "removed"
	Lapsed  Verdict = "lapsed"
)

// Answer is the result of an operation. Granted lists the newly granted requests in the order of
// the line.
type Answer struct {
	Verdict  Verdict
	At       event.Time // when the request was granted that asks or is to be refused
	Granted  []*Request
	Obstacle Obstacle // what a request waits for that is queued or refused
	Waits    []Wait   // moments at which lines go on
	Changes  []Change // of breakers
	// Posts are the messages about them to runs. The host delivers them with the operation.
	Posts []shared.Post
	Short bool // more can perhaps be granted, and the state does not hold enough of a line to know
}

// Apply carries out one operation. An error means that the operation is not one, and that the state is as
// it was; or it is an error of the rows, and the host drops the state and undoes what was written.
func (s *State) Apply(op Operation, now event.Time) (a Answer, err error) {
	switch {
	case op.Ask != nil:
		if err := checkRequest(op.Ask); err != nil {
			return a, err
		}
		r, reserved := s.addRequest(op.Ask, now)
		if reserved && s.rows != nil {
			if o, err := s.startReserved(&a, r, now); err != nil || o.Reason != "" {
				a.Verdict, a.Obstacle = Refused, o
				return a, err
			}
		}
		if err := s.grantInOrder(&a, now); err != nil || r.Granted {
			a.Verdict, a.At = Granted, r.At
			return a, err
		}
		a.Verdict, err = Queued, s.findObstacle(&a, r, now)
		if a.Obstacle.Until.Sub(now) > Patience && !s.mayGiveBack(r) {
			r.Refused, a.Verdict = true, Refused
		}
		return a, err
	case op.Refuse != "":
		r := s.Find(op.Refuse)
		if r == nil {
			a.Verdict = Removed
			return a, nil
		}
		if err := s.grantInOrder(&a, now); err != nil || r.Granted {
			a.Verdict, a.At = Granted, r.At
			return a, err
		}
		r.Refused, a.Verdict = true, Refused
		return a, s.findObstacle(&a, r, now)
	case op.Remove != nil, op.End != nil:
		for _, key := range op.Remove {
			if err := s.endRequest(&a, End{Key: key}, now); err != nil {
				return a, err
			}
		}
		for _, end := range op.End {
			if err := s.endRequest(&a, end, now); err != nil {
				return a, err
			}
		}
		a.Verdict = Removed
	case op.Lapse != nil:
		for _, r := range s.requests {
			if slices.Contains(op.Lapse, r.Key) {
				r.Granted, r.Refused, r.Lapsed = false, false, true
			}
		}
		a.Verdict = Lapsed
	default:
		return a, fmt.Errorf("admission: an empty operation")
	}
	return a, s.grantInOrder(&a, now)
}

func checkRequest(r *Request) error {
	if r.Key == "" || len(r.Needs) == 0 {
		return fmt.Errorf("admission: a request of node %.60q without a key or needs", r.Node)
	}
	for _, n := range r.Needs {
		if n.Units < 0 || n.Units > n.Capacity {
			return fmt.Errorf("admission: node %.60q needs %d units of %s %q, which has %d", r.Node, n.Units, n.Kind, n.Name, n.Capacity)
		}
	}
	return nil
}

// addRequest adds a request, or gives a known one its new driver and ticket. It reports whether the request has a reservation.
func (s *State) addRequest(r *Request, now event.Time) (_ *Request, reserved bool) {
	if known := s.Find(r.Key); known != nil {
		reserved = known.isReserved()
		known.Run, known.Node, known.Ticket, known.Driver, known.Refused, known.Lapsed = r.Run, r.Node, r.Ticket, r.Driver, false, false
		return known, reserved
	}
	added := *r
	added.Granted, added.Refused, added.Lapsed, added.Asked = false, false, false, now
	at := sort.Search(len(s.requests), func(i int) bool { return added.standsBefore(s.requests[i]) })
	s.requests = slices.Insert(s.requests, at, &added)
	return &added, false
}

// isReserved reports whether the attempt was refused and granted then, and has not asked again.
func (r *Request) isReserved() bool { return r.Granted && r.Refused }

// mayGiveBack reports whether the run of a request has a reservation that the request lacks. The run gives the reservation back if its
// node finds no slot, and the slot may be that of the attempt that asks. If the attempt were refused at once, the two nodes could take slot
// and reservation from each other for ever.
func (s *State) mayGiveBack(r *Request) bool {
	return slices.ContainsFunc(s.requests, func(o *Request) bool { return o != r && o.Run == r.Run && o.isReserved() && r.sharesNeed(o) })
}

// startReserved starts the attempt of a reservation. A limit may have met something since the grant: the reservation goes back to its place
// in the line then, and what it had goes to others.
func (s *State) startReserved(a *Answer, r *Request, now event.Time) (Obstacle, error) {
	o, err := s.askLimits(r, now, func(*event.Need) int { return 0 })
	if err == nil && o.Reason == "" {
		r.At = now
		return o, s.useLimits(r, now)
	}
	if err == nil {
		err = s.reportEnd(a, r, End{}, now)
	}
	if r.Granted, r.At, r.Refused = false, 0, true; err == nil {
		err = s.grantInOrder(a, now)
	}
	return o, err
}

// resource identifies a shared resource.
type resource struct {
	kind event.NeedKind
	name string
}

// grantInOrder grants, in order, every request that is the first in all of its lines, has room, and meets no obstacle.
func (s *State) grantInOrder(a *Answer, now event.Time) error {
	used, blocked := s.countUnits(), map[resource]bool{}
	for _, r := range s.requests {
		if r.Granted || r.Lapsed {
			continue
		}
		if s.isBehindEdge(r, blocked) {
			a.Short = true
			r.standInLines(used, blocked)
			continue
		}
		grants := !slices.ContainsFunc(r.Needs, func(n event.Need) bool { return blocked[resource{n.Kind, n.Name}] }) && r.lacksUnits(used) == nil
		if grants && s.rows != nil {
			o, err := s.askLimits(r, now, s.countReserved)
			if err != nil {
				return err
			}
			if grants = o.Reason == ""; !grants && o.Until != 0 {
				a.Waits = append(a.Waits, Wait{r, o.Until})
			}
			if o.Stopped { // nobody knows for how long: others go first
				blocked[resource{o.Need.Kind, o.Need.Name}] = true
				continue
			}
			if grants {
				err = s.useLimits(r, now)
			}
			if err != nil {
				return err
			}
		}
		if grants {
			r.Granted, r.At = true, now
			r.countUnits(used)
			a.Granted = append(a.Granted, r)
			continue
		}
		r.standInLines(used, blocked)
	}
	for at := range s.edges { // any order: one is enough
		a.Short = a.Short || !blocked[at]
	}
	return nil
}

// standInLines blocks the lines in which a waiting request stands: that of its first need, and so on to the first of which it cannot
// have its units. What it needs behind that stays free for others.
func (r *Request) standInLines(used map[resource]int, blocked map[resource]bool) {
	for i := range r.Needs {
		n := &r.Needs[i]
		at := resource{n.Kind, n.Name}
		waits := blocked[at] || n.Units > 0 && used[at]+n.Units > n.Capacity
		if blocked[at] = true; waits {
			return
		}
	}
}

// InUse returns how many units of a resource are given away.
func (s *State) InUse(n *event.Need) int { return s.countUnits()[resource{n.Kind, n.Name}] }

// countUnits returns how many units of each resource are given away.
func (s *State) countUnits() map[resource]int {
	used := map[resource]int{}
	for _, r := range s.requests {
		if r.Granted {
			r.countUnits(used)
		}
	}
	return used
}

func (r *Request) countUnits(used map[resource]int) {
	for _, n := range r.Needs {
		used[resource{n.Kind, n.Name}] += n.Units
	}
}

// lacksUnits returns the first need of which not enough units are free, or nil.
func (r *Request) lacksUnits(used map[resource]int) *event.Need {
	for i := range r.Needs {
		if n := &r.Needs[i]; n.Units > 0 && used[resource{n.Kind, n.Name}]+n.Units > n.Capacity {
			return n
		}
	}
	return nil
}
