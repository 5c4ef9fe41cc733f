package event

import (
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// MessageKind says what a message is about.
type MessageKind string

// The kinds of messages.
const (
	MessageNotify     MessageKind = "notify"     // a step with notify sends it
	MessageDeadline   MessageKind = "deadline"   // a part of a node's deadline has passed, or all of it
	MessageBudget     MessageKind = "budget"     // a budget is nearly spent
	MessageBreaker    MessageKind = "breaker"    // a circuit breaker has opened or closed
	MessageEscalation MessageKind = "escalation" // a node has come to a level of its escalation
	MessageLoop       MessageKind = "loop"       // a loop has stopped or stops an agent, has reached a limit, or gives up an item
	MessageHandoff    MessageKind = "handoff"    // work was handed over to another agent
	MessageApproval   MessageKind = "approval"   // an approval waits for people
	MessageAdapt      MessageKind = "adapt"      // a rule of adapt has come on, or has ended
)

// MessageKinds lists all kinds of messages.
var MessageKinds = []MessageKind{MessageNotify, MessageDeadline, MessageBudget, MessageBreaker, MessageEscalation, MessageLoop, MessageHandoff, MessageApproval, MessageAdapt}

// Message is what people are told. Its JSON is what receivers read.
type Message struct {
	Title    string        `json:"title"`
	Text     string        `json:"text"`
	Level    string        `json:"level"`
	Kind     MessageKind   `json:"kind"`
	Workflow string        `json:"workflow"`
	Run      string        `json:"run"`
	Node     string        `json:"node,omitempty"`  // the path of the instance; "": the run itself
	Error    *MessageError `json:"error,omitempty"` // nil: the message is not about an error
	Key      string        `json:"key"`             // a message that is sent twice has the same key
	At       string        `json:"at"`              // when the message was asked for, as in RFC 3339
	URL      string        `json:"url,omitempty"`
	Decide   string        `json:"decide,omitempty"` // the command that answers
	Data     value.Value   `json:"data,omitempty"`
	// Suppressed is how many equal messages were counted and not sent since the last one that was sent.
	Suppressed int `json:"suppressed,omitempty"`
}

// MessageError is the error that a message is about.
type MessageError struct {
	Kind    ErrorKind `json:"kind"`
	Reason  Reason    `json:"reason"`
	Message string    `json:"message"`
}

// NotifyRequest asks for a message to channels.
type NotifyRequest struct {
	Message Message `json:"message"`
	// Direct sends the message without asking the store: it was given up, and somebody wants it sent again.
	Direct bool      `json:"direct,omitempty"`
	About  string    `json:"about,omitempty"` // tells messages of one kind about one node apart, where equal ones are counted
	To     []Channel `json:"to"`
}

// BeginNotice asks the store to which channels the message of an attempt goes.
func (a *Attempt) BeginNotice() *NoticeRequest {
	r := &NoticeRequest{Message: a.Notify.Message, Place: a.Name, Begin: map[string]time.Duration{}}
	if a.Notify.About != "" {
		r.Place += " " + a.Notify.About
	}
	for i := range a.Notify.To {
		r.Begin[a.Notify.To[i].Name] = a.Notify.To[i].Dedupe
	}
	return r
}

// Channel is a way to a receiver. Fields that the type does not use are zero.
type Channel struct {
	Name    string            `json:"name"`
	Type    ir.ChannelType    `json:"type"`
	URL     string            `json:"url,omitempty"`
	Secret  string            `json:"secret,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Argv    []string          `json:"argv,omitempty"`
	Host    string            `json:"host,omitempty"`
	From    string            `json:"from,omitempty"`
	To      []string          `json:"to,omitempty"`
	Path    string            `json:"path,omitempty"`
	Dedupe  time.Duration     `json:"dedupe,omitempty"` // 0: each message is sent
}

func (f *facts) notify(n *NotifyRequest) {
	*f = append(*f, 'N')
	f.message(&n.Message)
	f.truth('D', n.Direct)
	f.text('b', n.About)
	for i := range n.To {
		c := &n.To[i]
		f.text('c', c.Name)
		f.text('T', string(c.Type))
		f.text('U', c.URL)
		f.text('S', c.Secret)
		f.pairs('H', c.Headers)
		f.texts('A', c.Argv)
		f.text('h', c.Host)
		f.text('F', c.From)
		f.texts('O', c.To)
		f.text('P', c.Path)
		f.number('D', uint64(c.Dedupe))
		f.end()
	}
	f.end()
}

func (f *facts) message(m *Message) {
	f.text('t', m.Title)
	f.text('x', m.Text)
	f.text('l', m.Level)
	f.text('k', string(m.Kind))
	f.text('w', m.Workflow)
	f.text('R', m.Run)
	f.text('n', m.Node)
	if m.Error != nil {
		f.always('e', string(m.Error.Kind))
		f.text('r', string(m.Error.Reason))
		f.text('m', m.Error.Message)
	}
	f.text('K', m.Key)
	f.text('a', m.At)
	f.text('u', m.URL)
	f.text('d', m.Decide)
	f.value('v', m.Data)
	f.number('s', uint64(m.Suppressed))
}

func (f *facts) notice(n *NoticeRequest) {
	*f = append(*f, 'n')
	f.message(&n.Message)
	f.text('p', n.Place)
	for _, name := range slices.Sorted(maps.Keys(n.Begin)) {
		f.always('b', name)
		f.number('D', uint64(n.Begin[name]))
	}
	f.pairs('E', n.End)
	f.end()
}
