package compose

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// Bounds of a message, in bytes.
const (
	// MaxMessage is the size of the text of a message, and of its data as JSON.
	MaxMessage = 64 << 10
	// MaxTitle is the size of the title.
	MaxTitle = 256
	// MaxLevel is the size of the level.
	MaxLevel = 64

	defaultLevel = "info"
)

// Notice is a message that the machine sends about a node, or about the run (Path "").
type Notice struct {
	Path, Name string // of the node, and its declared name
	Generation int
	About      string        // tells messages of one kind about one node apart
	Number     int           // tells messages apart that count as equal; 0: there is one
	Message    event.Message // the rest is filled in
	To         []string      // names of channels
	Now        event.Time
}

// Notice computes the attempt that sends a message, at PATH/notify.
func (c *Composer) Notice(n *Notice) (*event.Attempt, *event.Error) {
	a := &event.Attempt{Node: strings.TrimPrefix(n.Path+"/notify", "/"), Name: n.Name, Attempt: 1, Run: c.run.Run, Workflow: c.run.Workflow, Base: c.run.Env,
		Key: c.attemptKey(&Work{Path: n.Path, Generation: n.Generation}, append([]string{"notify", string(n.Message.Kind), n.About}, numberOf(n.Number)...)...)}
	var err error
	if a.Dir = c.run.Program; a.Dir == "" {
		a.Dir, err = c.evalDir(nil, c.Constants())
	}
	if err != nil {
		return nil, EvaluationError("dir", err)
	}
	m := n.Message
	if len(m.Text) > MaxMessage {
		m.Text = strings.ToValidUTF8(m.Text[:MaxMessage], "")
	}
	if place, err := c.addressMessage(a, m, n.To, n.Now); err != nil {
		return nil, EvaluationError(place, err)
	}
	a.Notify.Message.Node, a.Notify.About = n.Path, n.About
	return a, nil
}

func numberOf(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{strconv.Itoa(n)}
}

// Breakers computes the attempt that asks the store which breakers have opened or closed. The run asks once for each ticket.
func (c *Composer) Breakers(r *event.BreakersRequest, ticket uint64) *event.Attempt {
	return &event.Attempt{Ticket: ticket, Node: "notify", Attempt: 1, Kind: event.StoreAttempt, Store: &event.StoreRequest{Breakers: r}, Run: c.run.Run, Workflow: c.run.Workflow,
		Key: c.attemptKey(&Work{}, "breakers", strconv.FormatUint(ticket, 10))}
}

// composeNotify computes the message of a notify step and its channels.
func (c *Composer) composeNotify(a *event.Attempt, n *ir.Notify, w *Work) (place string, err error) {
	m := event.Message{Kind: event.MessageNotify, Level: defaultLevel}
	if err = c.composeTexts(w.Scope, &place, textPart{"text", &n.Text, &m.Text}, textPart{"title", n.Title, &m.Title}, textPart{"level", n.Level, &m.Level}); err != nil {
		return place, err
	}
	for _, part := range []struct {
		place, text string
		most        int
	}{{"text", m.Text, MaxMessage}, {"title", m.Title, MaxTitle}, {"level", m.Level, MaxLevel}} {
		if len(part.text) > part.most {
			return part.place, fmt.Errorf("it has %d bytes; the limit is %d", len(part.text), part.most)
		}
	}
	if m.Text == "" {
		return "text", errors.New("the message has no text")
	}
	if n.Data != nil {
		if m.Data, err = c.Value(n.Data, w.Scope); err != nil {
			return "data", err
		}
		if size := len(value.Append(nil, m.Data)); size > MaxMessage {
			return "data", fmt.Errorf("it has %d bytes as JSON; the limit is %d", size, MaxMessage)
		}
	}
	return c.addressMessage(a, m, n.To, w.Now)
}

// addressMessage makes an attempt one that sends a message to channels.
func (c *Composer) addressMessage(a *event.Attempt, m event.Message, to []string, now event.Time) (place string, err error) {
	m.Workflow, m.Run, m.Node, m.Key, m.At = a.Workflow, a.Run, a.Node, a.Key, now.String()
	if m.Title == "" {
		m.Title = a.Workflow
		if a.Name != "" {
			m.Title += ": " + a.Name
		}
	}
	a.Kind, a.Notify = event.NotifyAttempt, &event.NotifyRequest{Message: m}
	for _, name := range to {
		ch := c.graph.Program.Channel(name)
		if ch == nil {
			return "to", fmt.Errorf("the program has no channel %q", name)
		}
		a.Notify.To = append(a.Notify.To, event.Channel{Name: name, Type: ch.Type})
		if place, err = c.composeChannel(a, len(a.Notify.To)-1, ch); err != nil {
			return fmt.Sprintf("%s of channel %q", place, name), err
		}
	}
	return "", nil
}

// composeChannel computes a channel of a message. Parts that read secrets are left to the host.
func (c *Composer) composeChannel(a *event.Attempt, number int, ch *ir.Channel) (place string, err error) {
	to, sc := &a.Notify.To[number], c.Constants()
	for _, part := range []struct {
		name string
		expr *ir.Expr
	}{{"url", ch.URL}, {"secret", ch.Secret}, {"headers", ch.Headers}, {"command", ch.Command}} {
		if part.expr == nil {
			continue
		}
		at := request.Channel + strconv.Itoa(number) + "." + part.name
		if err = c.composePart(a, at, fmt.Sprintf("%s of channel %q", part.name, ch.Name), part.expr, sc); err != nil {
			return part.name, err
		}
	}
	if err = c.composeTexts(sc, &place, textPart{"host", ch.Host, &to.Host}, textPart{"from", ch.From, &to.From}, textPart{"path", ch.Path, &to.Path}); err != nil {
		return place, err
	}
	if ch.To != nil {
		if to.To, err = c.evalReceivers(ch.To, sc); err != nil {
			return "to", err
		}
	}
	if ch.Dedupe == nil {
		to.Dedupe = ir.DefaultDedupe
		return "", nil
	}
	text, err := c.Text(ch.Dedupe, sc)
	if err == nil && !value.NoDuration(text) {
		to.Dedupe, err = value.ParseDuration(text)
	}
	return "dedupe", err
}

// evalReceivers evaluates one address or a list of them.
func (c *Composer) evalReceivers(e *ir.Expr, sc *Scope) ([]string, error) {
	v, err := c.Value(e, sc)
	if text, one := v.(string); err == nil && one && text != "" {
		return []string{text}, nil
	}
	if err != nil {
		return nil, err
	}
	return c.evalNames(e, sc)
}
