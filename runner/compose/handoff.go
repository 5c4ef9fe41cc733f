package compose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// composeHandoff computes the work that a hand-over adds, with its document.
func (c *Composer) composeHandoff(h *ir.Handoff, a *event.Attempt, w *Work) (q *event.DispatchRequest, place string, err error) {
	d := &event.Handoff{Run: a.Run, Node: a.Node, At: w.Now}
	if err = c.composeTexts(w.Scope, &place, textPart{"to", &h.To, &d.To}, textPart{"summary", &h.Summary, &d.Summary}, textPart{"next", &h.Next, &d.Next},
		textPart{"ticket", h.Ticket, &d.Ticket}); err != nil {
		return nil, place, err
	}
	for _, part := range []struct{ place, text string }{{"to", d.To}, {"summary", d.Summary}, {"next", d.Next}} {
		if strings.TrimSpace(part.text) == "" {
			return nil, part.place, errors.New("it is empty")
		}
	}
	for _, part := range []struct {
		place string
		expr  *ir.Expr
		to    *[]string
	}{{"files_changed", h.FilesChanged, &d.FilesChanged}, {"decisions", h.Decisions, &d.Decisions}, {"open_questions", h.OpenQuestions, &d.OpenQuestions},
		{"acceptance", h.Acceptance, &d.Acceptance}, {"blockers", h.Blockers, &d.Blockers}} {
		if *part.to, err = c.evalTexts(part.expr, w.Scope); err != nil {
			return nil, part.place, err
		}
	}
	if d.Artifacts, err = c.evalArtifacts(h.Artifacts, w.Scope); err != nil {
		return nil, "artifacts", err
	}
	if len(h.Members) > 0 && !slices.Contains(h.Members, d.To) {
		return nil, "to", noMember{d.To, h.Members}
	}
	item := &event.Item{Title: titleOf(d.Next), Body: d.Summary, Assignee: d.To, Handoff: d}
	if len(h.Anyone) > 0 {
		item.Assignee, item.Agents = "", h.Anyone
	}
	if h.Priority != nil {
		if item.Priority, err = c.evalPriority(h.Priority, w.Scope); err != nil {
			return nil, "priority", err
		}
	}
	q = &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: item, By: "run " + a.Run}
	if len(h.Notify) > 0 {
		n, no := c.Notice(&Notice{Path: w.Path, Name: w.Node.Name, Generation: w.Generation, About: string(event.MessageHandoff),
			Message: event.Message{Kind: event.MessageHandoff}, To: h.Notify, Now: d.At})
		if no != nil {
			return nil, "notify", errors.New(no.Message)
		}
		q.Notice = n.BeginNotice()
		q.Notice.Message.Title = "" // the store knows it once the work has an id
	}
	return q, "", nil
}

// noMember is the error of work for an agent that is not a member of the pool.
type noMember struct {
	name    string
	members []string
}

func (e noMember) Error() string {
	return fmt.Sprintf("the pool has no member %.80q; it has %.200s", e.name, strings.Join(e.members, ", "))
}

// titleOf is the first line of a text that is not empty.
func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if len(line) > limits.MaxWorkTitle {
		line = strings.ToValidUTF8(line[:limits.MaxWorkTitle], "")
	}
	return line
}

// evalTexts evaluates a list of texts; nil and null are empty lists.
func (c *Composer) evalTexts(e *ir.Expr, sc *Scope) (texts []string, err error) {
	if e == nil {
		return nil, nil
	}
	v, err := c.Value(e, sc)
	if err != nil || v == nil {
		return nil, err
	}
	list, is := v.([]any)
	if !is {
		return nil, fmt.Errorf("a list of texts is needed, but this is %.60s", value.Text(v))
	}
	for _, v := range list {
		text, is := v.(string)
		if !is {
			return nil, fmt.Errorf("a list of texts is needed, but a member is %.60s", value.Text(v))
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// evalArtifacts evaluates texts by their names; null members are left out.
func (c *Composer) evalArtifacts(e *ir.Expr, sc *Scope) (map[string]string, error) {
	if e == nil {
		return nil, nil
	}
	v, err := c.Value(e, sc)
	if err != nil || v == nil {
		return nil, err
	}
	o, is := v.(map[string]any)
	if !is {
		return nil, fmt.Errorf("an object of texts is needed, but this is %.60s", value.Text(v))
	}
	texts := map[string]string{}
	for _, name := range value.Keys(o) {
		switch text := o[name].(type) {
		case nil:
		case string:
			texts[name] = text
		default:
			return nil, fmt.Errorf("an object of texts is needed, but %s is %.60s", name, value.Text(text))
		}
	}
	return texts, nil
}

// evalPriority evaluates the priority of work.
func (c *Composer) evalPriority(e *ir.Expr, sc *Scope) (int, error) {
	v, err := c.Value(e, sc)
	if err != nil || v == nil {
		return 0, err
	}
	f, is := v.(float64)
	if !is || f != float64(int(f)) || f > limits.MaxPriority || f < -limits.MaxPriority {
		return 0, fmt.Errorf("a whole number from -%d to %d is needed, but this is %.60s", limits.MaxPriority, limits.MaxPriority, value.Text(v))
	}
	return int(f), nil
}
