package admission

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// MaxHold is how long nothing starts at most because the other side named a moment. An attempt asks the other side again then, and a new
// answer holds the next ones.
const MaxHold = time.Hour

// Obstacle is why a request is not granted. The zero value is none.
type Obstacle struct {
	Reason event.Reason // quota, busy, rate_limit, budget or breaker
	Need   event.Need   // of what refuses
	// Stopped tells that a person stopped the agent.
	Stopped bool
	// Until is the first moment at which the attempt can start, if all goes well; 0 where nobody knows it, and the grant is
	// waited for.
	Until event.Time
}

// Wait says that the first request of a line can start at a moment. The host applies an operation then.
type Wait struct {
	Request *Request
	At      event.Time
}

// End is how an attempt ended that was granted.
type End struct {
	Key   string
	Needs []event.Need // of the attempt
	// Endings are what the breakers of the needs hear, in the order of the needs. nil: they do not count the attempt.
	Endings []shared.Ending
	// Began says that the attempt began and has ended, and Used what it used. An attempt that the host takes out of the line before it
	// began spends nothing.
	Began bool
	Used  event.Bounds
	// Error is why the attempt failed; nil if it did not, or lost its driver.
	Error *event.Error
	// Lost says that the driver of the attempt died.
	Lost bool
	// Until is the moment before which the other side lets nothing start that has one of the needs; 0: it named none.
	Until event.Time
}

// Change is that of a breaker.
type Change struct {
	Need     event.Need
	From, To shared.Health
}

// Resource names what a need is of, over all kinds: "quota gpu".
func Resource(n *event.Need) string { return string(n.Kind) + " " + n.Name }

func window(n *event.Need) *shared.Window {
	w := &shared.Window{Name: Resource(n)}
	if n.Pace != nil {
		w.Requests, w.Per = n.Pace.Requests, n.Pace.Per
	}
	return w
}

func breaker(n *event.Need) *shared.Breaker {
	return &shared.Breaker{Name: Resource(n), Failures: n.Breaker.Failures, Reset: n.Breaker.Reset}
}

func spending(n *event.Need) *shared.Spending {
	return &shared.Spending{Name: Resource(n), Most: n.Spending.Most, Per: n.Spending.Per}
}

// askLimits returns the first obstacle of a request that has its units: a stopped agent, a rate limit, spending, a breaker. ahead says how many
// requests start before, of those that need the same.
func (s *State) askLimits(r *Request, now event.Time, ahead func(*event.Need) int) (first Obstacle, err error) {
	known := true
	meet := func(reason event.Reason, n *event.Need, until event.Time) {
		if first.Reason == "" {
			first = Obstacle{Reason: reason, Need: *n}
		}
		known = known && until != 0
		first.Until = max(first.Until, until)
	}
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Kind == event.NeedAgent {
			stopped, err := shared.IsStopped(s.rows, n.Name)
			if err != nil {
				return first, err
			}
			if stopped {
				meet(event.ReasonBusy, n, 0)
				first.Stopped = true
			}
		}
	}
	for i := range r.Needs {
		n := &r.Needs[i]
		if err := window(n).Settle(s.rows, now); err != nil {
			return first, err
		}
		next, err := window(n).Next(s.rows, now, ahead(n))
		if err != nil {
			return first, err
		}
		if next != 0 {
			meet(event.ReasonRateLimit, n, next)
		}
	}
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Spending == nil {
			continue
		}
		if err := spending(n).Settle(s.rows, now); err != nil {
			return first, err
		}
		next, err := spending(n).Next(s.rows, now, ahead(n))
		if err != nil {
			return first, err
		}
		if next != 0 {
			meet(event.ReasonBudget, n, next)
		}
	}
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Breaker == nil {
			continue
		}
		may, next, err := breaker(n).MayStart(s.rows, r.Key, now)
		if err != nil {
			return first, err
		}
		if !may {
			meet(event.ReasonBreaker, n, next)
		}
	}
	if !known {
		first.Until = 0
	}
	return first, nil
}

// useLimits grants a request in its breakers, which have agreed, and in its rate limits if it starts now. A reservation counts there
// when its attempt starts; until then its place is kept.
func (s *State) useLimits(r *Request, now event.Time) error {
	for i := range r.Needs {
		if n := &r.Needs[i]; n.Breaker != nil {
			if _, _, err := breaker(n).Start(s.rows, r.Key, now); err != nil {
				return err
			}
		}
	}
	if r.Refused {
		return nil
	}
	return s.takePaces(r, now)
}

// takePaces starts a request in its rate limits and in its spending.
func (s *State) takePaces(r *Request, now event.Time) error {
	for i := range r.Needs {
		if n := &r.Needs[i]; n.Pace != nil {
			next, err := window(n).Take(s.rows, now)
			if err == nil && next != 0 {
				err = fmt.Errorf("admission: request %.60q starts before the rate limit of %q allows it", r.Key, n.Name)
			}
			if err != nil {
				return err
			}
		}
		if n := &r.Needs[i]; n.Spending != nil {
			if err := spending(n).Use(s.rows, now, event.Bounds{Attempts: 1}); err != nil {
				return err
			}
		}
	}
	return nil
}

// findObstacle finds out what a request waits for: units, a limit, or a request that stands before it.
func (s *State) findObstacle(a *Answer, r *Request, now event.Time) error {
	if n := r.lacksUnits(s.countUnits()); n != nil {
		a.Obstacle = Obstacle{Reason: lackOf(n), Need: *n}
		return nil
	}
	if s.rows != nil {
		far := false
		o, err := s.askLimits(r, now, func(n *event.Need) int {
			ahead := s.countAhead(r, n)
			far = far || ahead >= Horizon
			return ahead + s.countReserved(n)
		})
		if err != nil {
			return err
		}
		if far {
			o.Until = 0
		}
		if a.Obstacle = o; o.Reason != "" {
			return nil
		}
	}
	if ahead := s.FindAhead(r.Key); ahead != nil {
		at := slices.IndexFunc(r.Needs, func(n event.Need) bool { return ahead.needs(&n) })
		a.Obstacle = Obstacle{Reason: lackOf(&r.Needs[at]), Need: r.Needs[at]}
	}
	return nil
}

// lackOf returns the reason of a wait for units, or for a place in the line.
func lackOf(n *event.Need) event.Reason {
	if n.Kind == event.NeedQuota {
		return event.ReasonQuota
	}
	return event.ReasonBusy
}

// countReserved counts the attempts with a reservation that need something with a rate limit or with spending.
func (s *State) countReserved(n *event.Need) (count int) {
	if n.Pace == nil && n.Spending == nil {
		return 0
	}
	for _, o := range s.requests {
		if o.isReserved() && o.needs(n) {
			count++
		}
	}
	return count
}

func (r *Request) needs(n *event.Need) bool {
	return slices.ContainsFunc(r.Needs, func(m event.Need) bool { return m.Kind == n.Kind && m.Name == n.Name })
}

// countAhead counts the waiting requests that stand before a request and need the same.
func (s *State) countAhead(r *Request, n *event.Need) (count int) {
	for _, o := range s.requests {
		if o == r {
			break
		}
		if !o.Granted && !o.Lapsed && o.needs(n) {
			count++
		}
	}
	return count
}

// endRequest removes a request, and reports its end to its breakers and rate limits. Breakers do not hear of a request that is not
// known.
func (s *State) endRequest(a *Answer, end End, now event.Time) error {
	if end.Until != 0 {
		until := min(end.Until, now.Add(MaxHold))
		for i := range end.Needs {
			if err := window(&end.Needs[i]).Hold(s.rows, until); err != nil {
				return err
			}
		}
	}
	at := slices.IndexFunc(s.requests, func(r *Request) bool { return r.Key == end.Key })
	if at < 0 {
		return nil
	}
	r := s.requests[at]
	s.requests = slices.Delete(s.requests, at, at+1)
	if !r.Granted || s.rows == nil {
		return nil
	}
	if !r.Refused { // a reservation has spent nothing
		if err := s.spend(r, end, now); err != nil {
			return err
		}
	}
	return s.reportEnd(a, r, end, now)
}

// spend counts what an attempt has used. One that was told when to come back, or did not begin, is taken back.
func (s *State) spend(r *Request, end End, now event.Time) error {
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Spending == nil {
			continue
		}
		if err := spending(n).Use(s.rows, now, end.Used); err != nil {
			return err
		}
		if !end.Lost && (!end.Began || end.Until != 0) {
			if err := spending(n).Return(s.rows, r.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportEnd reports the end of a granted request to its breakers.
func (s *State) reportEnd(a *Answer, r *Request, end End, now event.Time) error {
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Breaker == nil {
			continue
		}
		how := shared.Uncounted
		switch {
		case end.Lost && !r.Refused: // one that was refused has only a reservation
			how = shared.Lost
		case i < len(end.Endings):
			how = end.Endings[i]
		}
		from, to, err := breaker(n).Report(s.rows, r.Key, how, now)
		if err != nil {
			return err
		}
		if from != to {
			a.Changes = append(a.Changes, Change{*n, from, to})
			var posts []shared.Post
			posts, err = shared.NoteBreaker(s.rows, n, to, end.Error, now)
			a.Posts = append(a.Posts, posts...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
