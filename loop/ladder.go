// Package loop holds the rules by which a loop chooses the next piece of work.
//
// A [Board] is what is known of the items of all sources, and of the agents. [Board.Pick] chooses the item of one source for one agent,
// [Board.Choose] does so for all agents with a free place, in the order of the ladder: the sources one after the other. [Board.Why] says in
// words why an agent does not take an item, and [Circles] finds items that need each other.
//
// The package is pure. It knows no source, no claim and no run; package loop/machine is the machine that does what is chosen here.
package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Board is what is known of the items of a loop and of its agents.
type Board struct {
	Agents  []Agent
	Sources []Source // in the order in which they are asked
	// Handled says in words why no handle takes an item of a source for an agent; "" if one does. nil: every item is handled.
	Handled func(agent string, source int, item *event.Item) string
}

// Agent is one who does items.
type Agent struct {
	Name         string
	Capabilities []string
	Free         int    // how many items it can take now
	Barred       string // why it takes nothing now, in words; "": nothing is in the way
}

// Source is what a source has listed.
type Source struct {
	Name   string
	Items  []Item
	Barred string // why nothing of the source is taken now, in words; "": nothing is in the way

	known map[string]*Item // by id; made when it is first needed
	need  map[string]int   // how many open items need an item
	round map[string]bool  // the items that need each other in a circle
}

// Item is an item of a source.
type Item struct {
	event.Item
	Taken  string // who has it, in words; "": nobody
	Barred string // why nobody takes it now, in words; "": nothing is in the way
}

// Choice is an item for an agent. Agent, Source and Item are places in the board.
type Choice struct{ Agent, Source, Item int }

// index finds out once what the items of a source mean for each other.
func (s *Source) index() {
	if s.known != nil {
		return
	}
	s.known, s.need, s.round = map[string]*Item{}, map[string]int{}, map[string]bool{}
	for i := range s.Items {
		s.known[s.Items[i].ID] = &s.Items[i]
	}
	for i := range s.Items {
		if it := &s.Items[i]; !it.Closed {
			for _, id := range it.Needs {
				s.need[id]++
			}
		}
	}
	for _, circle := range Circles(s.Items) {
		for _, id := range circle {
			s.round[id] = true
		}
	}
}

// missing says in words what an item waits for in its source; "": nothing.
func (s *Source) missing(it *Item) string {
	for _, id := range it.Needs {
		switch need := s.known[id]; {
		case s.round[id] && s.round[it.ID]:
			return fmt.Sprintf("its needs form a circle: it needs %s, which needs it", id)
		case need == nil:
			return fmt.Sprintf("it needs %s, and the source does not say that it is closed", id)
		case !need.Closed:
			return fmt.Sprintf("it needs %s, which is open", id)
		}
	}
	return ""
}

// Why says in words why an agent does not take an item now, apart from handles and other items that go first; "": it can.
func (b *Board) Why(agent, source, item int) string {
	a, s := &b.Agents[agent], &b.Sources[source]
	s.index()
	it := &s.Items[item]
	switch {
	case it.Closed:
		return "it is closed"
	case it.Taken != "":
		return it.Taken
	case it.Barred != "":
		return it.Barred
	case s.Barred != "":
		return s.Barred
	case it.Assignee != "" && it.Assignee != a.Name:
		return fmt.Sprintf("it is assigned to %s", it.Assignee)
	case len(it.Agents) > 0 && !slices.Contains(it.Agents, a.Name):
		return fmt.Sprintf("it is handed over to %s", strings.Join(it.Agents, " or "))
	}
	if why := s.missing(it); why != "" {
		return why
	}
	for _, c := range it.Capabilities {
		if !slices.Contains(a.Capabilities, c) {
			return fmt.Sprintf("it asks for the capability %q, and %s does not have it", c, a.Name)
		}
	}
	return ""
}

// before reports the order of two items that an agent can take: the highest priority first, then what the most open items need, then the
// oldest, then the smallest id. Of items whose age nobody knows the one that is listed first goes first: in a file that is the upper one.
func (s *Source) before(a, b *Item) int {
	byID := cmp.Compare(a.ID, b.ID)
	if a.CreatedAt == 0 && b.CreatedAt == 0 {
		byID = 0 // who sorts keeps their order
	}
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(s.need[b.ID], s.need[a.ID]),
		cmp.Compare(uint64(a.CreatedAt-1), uint64(b.CreatedAt-1)), // 0, which nobody knows, is the youngest
		byID)
}

// Pick returns the place of the item of a source that an agent takes; -1 if there is none. It asks neither whether the agent has a free
// place nor whether it is barred.
func (b *Board) Pick(agent, source int) int {
	s := &b.Sources[source]
	s.index()
	var able []int
	for i := range s.Items {
		if b.Why(agent, source, i) == "" {
			able = append(able, i)
		}
	}
	slices.SortStableFunc(able, func(x, y int) int { return s.before(&s.Items[x], &s.Items[y]) })
	for _, i := range able {
		if b.Handled == nil || b.Handled(b.Agents[agent].Name, source, &s.Items[i].Item) == "" {
			return i
		}
	}
	return -1
}

// Choose returns what the agents with a free place take: each of them in turn one item, from the first source that has one for it. What is
// chosen is marked as taken, so that calling it again gives the next places.
func (b *Board) Choose() (out []Choice) {
	for a := range b.Agents {
		agent := &b.Agents[a]
		for agent.Free > 0 && agent.Barred == "" {
			c, found := b.choose(a)
			if !found {
				break
			}
			b.Sources[c.Source].Items[c.Item].Taken = agent.Name + " takes it"
			agent.Free--
			out = append(out, c)
		}
	}
	return out
}

func (b *Board) choose(agent int) (Choice, bool) {
	for s := range b.Sources {
		if i := b.Pick(agent, s); i >= 0 {
			return Choice{agent, s, i}, true
		}
	}
	return Choice{}, false
}

// Reasons says in words for an item that nobody takes why that is so: what is true for all agents once, else for each agent.
func (b *Board) Reasons(source, item int) []string {
	var out []string
	for a := range b.Agents {
		why := b.Why(a, source, item)
		switch {
		case why != "":
		case b.Agents[a].Barred != "":
			why = fmt.Sprintf("%s: %s", b.Agents[a].Name, b.Agents[a].Barred)
		case b.Handled != nil:
			why = b.Handled(b.Agents[a].Name, source, &b.Sources[source].Items[item].Item)
		}
		if why == "" {
			why = fmt.Sprintf("%s has no free place, or takes another item first", b.Agents[a].Name)
		}
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return out
}

// Left is an open item that nobody takes. Source and Item are places in the board.
type Left struct {
	Source, Item int
	Why          []string // in words
}

// Ladder returns what the agents take now as [Board.Choose] does, and the other open items with the reasons why nobody takes them.
func (b *Board) Ladder() (next []Choice, left []Left) {
	chosen := map[Choice]bool{}
	for _, c := range b.Choose() {
		next = append(next, c)
		chosen[Choice{0, c.Source, c.Item}] = true
	}
	for s := range b.Sources {
		for i := range b.Sources[s].Items {
			if !b.Sources[s].Items[i].Closed && !chosen[Choice{0, s, i}] {
				left = append(left, Left{s, i, b.Reasons(s, i)})
			}
		}
	}
	return next, left
}

// Later returns for each agent without a free place the item that it would take if a place became free now. Two agents can have the same one.
func (b *Board) Later() (out []Choice) {
	for a := range b.Agents {
		if agent := &b.Agents[a]; agent.Free == 0 && agent.Barred == "" {
			if c, found := b.choose(a); found {
				out = append(out, c)
			}
		}
	}
	return out
}

// Circles returns the open items that need each other in a circle, each circle with its ids in order.
func Circles(items []Item) (out [][]string) {
	at := map[string]int{}
	for i := range items {
		if !items[i].Closed {
			at[items[i].ID] = i
		}
	}
	// Tarjan's algorithm, with a stack of its own: lists can be long.
	type visit struct{ item, next int }
	order, low, on := map[int]int{}, map[int]int{}, map[int]bool{}
	var path []int
	for i := range items {
		if items[i].Closed || order[i] != 0 {
			continue
		}
		stack := []visit{{i, 0}}
		for len(stack) > 0 {
			v := &stack[len(stack)-1]
			if v.next == 0 && order[v.item] == 0 {
				order[v.item], low[v.item], on[v.item] = len(order)+1, len(order)+1, true
				path = append(path, v.item)
			}
			if v.next < len(items[v.item].Needs) {
				need, open := at[items[v.item].Needs[v.next]]
				v.next++
				switch {
				case !open:
				case order[need] == 0:
					stack = append(stack, visit{need, 0})
				case on[need]:
					low[v.item] = min(low[v.item], order[need])
				}
				continue
			}
			done := v.item
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				over := stack[len(stack)-1].item
				low[over] = min(low[over], low[done])
			}
			if low[done] != order[done] {
				continue
			}
			var circle []string
			for {
				last := path[len(path)-1]
				path = path[:len(path)-1]
				on[last] = false
				circle = append(circle, items[last].ID)
				if last == done {
					break
				}
			}
			if len(circle) > 1 || slices.Contains(items[done].Needs, items[done].ID) {
				slices.Sort(circle)
				out = append(out, circle)
			}
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return cmp.Compare(strings.Join(a, " "), strings.Join(b, " ")) })
	return out
}
