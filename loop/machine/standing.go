package machine

import (
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/runner/event"
)

// Standing is how a loop stands, for those who look at its run.
type Standing struct {
	Draining string // why nothing is taken any more, in words; "": something may be
	Agents   []AgentStanding
	// Board is what the sources have listed last, and who has which item. Choose says what would be taken now.
	Board *loop.Board
}

// AgentStanding is how an agent of a loop stands.
type AgentStanding struct {
	Name    string
	Busy    int    // items that it has, without those that are parked
	Stopped string // why a fatal failure keeps it from taking anything, in words; "": none does
	Paused  bool
}

// Standing tells how the loop stands. It changes nothing. Before the first event it is empty.
func (m *Machine) Standing() Standing {
	s := Standing{Draining: m.draining, Board: &loop.Board{}}
	for _, a := range m.agents {
		s.Agents = append(s.Agents, AgentStanding{a.Name, a.busy, a.stopped, m.paused(a.Name) > m.now})
	}
	for _, source := range m.sources {
		b := m.board(source)
		s.Board.Agents, s.Board.Sources = b.Agents, append(s.Board.Sources, b.Sources...)
	}
	s.Board.Handled = func(agent string, at int, item *event.Item) string {
		s := m.sources[at]
		if h, known := s.handled[agent+"\x00"+item.ID]; known && h.mark == s.marks[item.ID] {
			return h.why
		}
		h, _ := m.findHandle(s, agent, item)
		return h.why
	}
	return s
}
