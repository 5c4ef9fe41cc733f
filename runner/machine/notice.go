package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// The machine tells people of a node by attempts of their own at NODE/notify, which hold no slots and belong to the work of no node: a
// node ends without them, and what becomes of a message changes no node. The run ends when all of its messages are answered.

// sendMessage asks for a message about a node, or about the run (node None). about makes the key: the message is sent once for each
// key, whatever process dies when. Workflow, run, node, key and time of the message are filled in. Without channels nothing is sent.
func (m *Machine) sendMessage(r ref, to []string, about string, text event.Message) {
	m.sendNumbered(r, to, about, 0, text)
}

// sendNumbered is sendMessage for messages of which a run can send several that count as equal: the number tells them apart.
func (m *Machine) sendNumbered(r ref, to []string, about string, number int, text event.Message) {
	if len(to) == 0 {
		return
	}
	m.sendNotice(r, &compose.Notice{Message: text, To: to, About: about, Number: number, Now: m.now})
}

// sendNotice asks for a message whose node is filled in.
func (m *Machine) sendNotice(r ref, n *compose.Notice) {
	n.Path = m.path(r)
	if r.node != plan.None {
		n.Name, n.Generation = m.node(r).Name, m.liveState(r).generation()
	}
	a, err := m.composer.Notice(n)
	if err != nil {
		m.warnOf(&notice{ref: r, about: n.Path}, fmt.Sprintf("a message could not be sent: %s", err.Message))
		return
	}
	m.tickets++
	a.Ticket = m.tickets
	m.addNotice(&notice{r, n.Path, a})
}

func (m *Machine) addNotice(n *notice) {
	if m.notices == nil {
		m.notices = map[uint64]*notice{}
	}
	m.notices[n.request.Ticket] = n
	m.addCommand(event.Command{Start: n.request})
}

// notice is a message that is being sent, or a question to the store whether there is one to send.
type notice struct {
	ref
	about   string // the path of the node
	request *event.Attempt
}

// noticeAnswered takes the answer to a message: what went wrong is a warning.
func (m *Machine) noticeAnswered(n *notice, f *event.AttemptFinished) {
	delete(m.notices, f.Ticket)
	if n.request.Kind == event.StoreAttempt {
		m.tellBreakers(f)
	}
	warning := f.Warning
	if f.Outcome != event.OK {
		warning = fmt.Sprintf("a message could not be sent: %s", failureError(f).Message)
	}
	if warning != "" {
		m.warnOf(n, warning)
	}
	if m.unsent && len(m.notices) == 0 {
		m.unsent = false
		m.agenda.push(task{do: doEnd})
	}
}

// repeatNotices asks the next driver for the messages that the last one did not answer.
func (m *Machine) repeatNotices() {
	for _, ticket := range slices.Sorted(maps.Keys(m.notices)) {
		m.addCommand(event.Command{Start: m.notices[ticket].request})
	}
}

// dropNotices gives up the messages that are not answered, because nobody waits for them any more.
func (m *Machine) dropNotices() {
	for _, ticket := range slices.Sorted(maps.Keys(m.notices)) {
		m.addCommand(event.Command{Cancel: &event.CancelAttempt{Ticket: ticket, Node: m.notices[ticket].request.Node, Reason: "the run ends at once"}})
	}
	m.notices = nil
	if m.unsent {
		m.unsent = false
		m.agenda.push(task{do: doEnd})
	}
}

// warnOf shows a warning at a node, or at the run if the node has ended.
func (m *Machine) warnOf(n *notice, words string) {
	if n.node != plan.None && m.state(n.ref).liveState != nil && !m.state(n.ref).status.Terminal() {
		m.showNote(n.ref, event.Warned, words, nil)
		return
	}
	if n.about != "" {
		words = n.about + ": " + words
	}
	m.showTransition(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: words})
}
