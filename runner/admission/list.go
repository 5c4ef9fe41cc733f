package admission

import (
	"cmp"
	"slices"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// List returns the state of all agents and quotas that the rows know, or that a request of the state needs, in the order of their kinds
// and names. The state must hold all requests.
func (s *State) List(now event.Time) ([]event.Limit, error) {
	needs, err := shared.Declared(s.rows)
	if err != nil {
		return nil, err
	}
	for _, r := range s.requests {
		for _, n := range r.Needs {
			if !slices.ContainsFunc(needs, func(m event.Need) bool { return m.Kind == n.Kind && m.Name == n.Name }) {
				needs = append(needs, n)
			}
		}
	}
	stopped, err := shared.StoppedAgents(s.rows)
	if err != nil {
		return nil, err
	}
	for _, name := range stopped {
		if !slices.ContainsFunc(needs, func(m event.Need) bool { return m.Kind == event.NeedAgent && m.Name == name }) {
			needs = append(needs, event.Need{Kind: event.NeedAgent, Name: name})
		}
	}
	slices.SortFunc(needs, func(a, b event.Need) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	used := s.countUnits()
	var list []event.Limit
	for i := range needs {
		n := &needs[i]
		l := event.Limit{Kind: n.Kind, Name: n.Name, Used: used[resource{n.Kind, n.Name}], Capacity: n.Capacity, Pace: n.Pace, Breaker: n.Breaker,
			Stopped: n.Kind == event.NeedAgent && slices.Contains(stopped, n.Name)}
		if l.Started, l.Next, err = window(n).State(s.rows, now); err != nil {
			return nil, err
		}
		if n.Spending != nil {
			l.Spending = n.Spending
			var next event.Time
			if l.Spent, next, err = spending(n).State(s.rows, now); err != nil {
				return nil, err
			}
			l.Next = max(l.Next, next)
		}
		if n.Breaker != nil {
			health, failed, until, err := breaker(n).State(s.rows, now)
			if err != nil {
				return nil, err
			}
			l.Health, l.Failed, l.Next = string(health), failed, max(l.Next, until)
		}
		for _, r := range s.requests {
			if !r.Granted && !r.Lapsed && r.needs(n) {
				l.Waiting = append(l.Waiting, event.Waiter{Run: r.Run, Node: r.Node, Since: r.Asked})
			}
		}
		list = append(list, l)
	}
	return list, nil
}
