package window

import (
	"errors"
	"fmt"
	"slices"
)

// Fit chooses what to send. It fails with a [*TooLargeError] where the soul and the system prompt, what is pinned, or the last
// messages do not fit.
func Fit(c Content, o Options) (Fitted, error) {
	f := Fitted{Soul: c.Soul, System: c.System, Summary: c.Summary}
	var err error
	if f.Tokens, err = fixed(c, o); err != nil {
		return Fitted{}, err
	}
	room := o.Budget - f.Tokens
	if f.Pinned, err = f.cutLarge(c.Pinned, room, o); err != nil {
		return Fitted{}, err
	}
	f.Tokens += o.all(f.Pinned)
	if f.Tokens > o.Budget {
		return Fitted{}, &TooLargeError{What: "the pinned notes with the soul and the system prompt", Tokens: f.Tokens, Budget: o.Budget}
	}
	messages, err := f.cutLarge(after(c.Summary, c.Messages), room, o)
	if err != nil {
		return Fitted{}, err
	}
	if whole := f.Tokens + o.all(messages) + summaryCost(c.Summary, o); whole <= part(o.Budget, Trigger) {
		f.Messages, f.Tokens = messages, whole
	} else if err := f.summarize(messages, o); err != nil {
		return Fitted{}, err
	}
	f.Messages = withCalls(f.Messages)
	return f, nil
}

// FitLast keeps the last messages whole. If they do not fit, it is as many of them as leave room for a summary of the others, and if
// none do, as many as fit.
func FitLast(c Content, o Options) (Fitted, error) {
	o.Keep = o.keep()
	f, err := Fit(c, o)
	if last(err) == 0 {
		return f, err
	}
	for ; o.Keep > 1 && (last(err) > 0 || len(f.Left) > 0); o.Keep-- {
		fewer := o
		fewer.Keep--
		g, e := Fit(c, fewer)
		if err != nil || e == nil && len(g.Left) == 0 {
			f, err = g, e
		}
	}
	return f, err
}

// last is how many last messages an error says do not fit.
func last(err error) int {
	var large *TooLargeError
	if errors.As(err, &large) {
		return large.Last
	}
	return 0
}

// fixed is what soul and system prompt cost.
func fixed(c Content, o Options) (int, error) {
	soul, system := o.tokens(c.Soul), o.tokens(c.System)
	if soul > o.Budget {
		return 0, &TooLargeError{What: "the soul", Tokens: soul, Budget: o.Budget}
	}
	if soul+system > o.Budget {
		return 0, &TooLargeError{What: "the soul and the system prompt", Tokens: soul + system, Budget: o.Budget}
	}
	return soul + system, nil
}

// after are the messages that a summary does not stand for.
func after(s *Summary, messages []Message) []Message {
	if s != nil {
		if i := slices.IndexFunc(messages, func(m Message) bool { return m.ID == s.To }); i >= 0 {
			return messages[i+1:]
		}
	}
	return messages
}

// summarize keeps the last messages, and makes the others part of the summary.
func (f *Fitted) summarize(messages []Message, o Options) error {
	start := lastWhole(messages, o.keep())
	last := messages[start:]
	used := f.Tokens + o.all(last)
	if used > o.Budget {
		return &TooLargeError{What: fmt.Sprintf("the last %d messages with the soul and all that is fixed", len(last)),
			Tokens: used, Budget: o.Budget, Last: len(last)}
	}
	f.Messages, f.Tokens = last, used
	older, old := messages[:start], f.Summary
	if cost := summaryCost(old, o); len(older) == 0 && used+cost <= o.Budget {
		f.Tokens += cost
		return nil
	}
	room := min(max(part(o.Budget, Target)-used, part(o.Budget, leastSummary), leastTokens), o.Budget-used)
	f.Summary = next(old, older, room-PerMessage, o)
	if f.Summary == nil { // not even its first line fits; nothing is lost, as the originals are with the caller
		for _, m := range older {
			f.Left = append(f.Left, m.ID)
		}
		return nil
	}
	f.Tokens += summaryCost(f.Summary, o)
	f.New = true
	return nil
}

// lastWhole is where the last keep messages begin, or earlier where one of them answers a call made before.
func lastWhole(messages []Message, keep int) int {
	start := max(0, len(messages)-keep)
	asked := func(id string, before int) int {
		return slices.IndexFunc(messages[:before], func(m Message) bool { return slices.Contains(m.Calls, id) })
	}
	for i := len(messages) - 1; i >= start; i-- {
		if id := messages[i].Answers; id != "" {
			if call := asked(id, start); call >= 0 {
				start = call
			}
		}
	}
	return start
}

// withCalls makes plain messages of results whose call is not sent, as it was summarized before they came.
func withCalls(messages []Message) []Message {
	called := map[string]bool{}
	for i, m := range messages {
		for _, id := range m.Calls {
			called[id] = true
		}
		if m.Answers != "" && !called[m.Answers] {
			messages[i].Answers = ""
		}
	}
	return messages
}

func summaryCost(s *Summary, o Options) int {
	if s == nil {
		return 0
	}
	return o.cost(s.Text())
}

func part(budget int, of float64) int { return int(float64(budget) * of) }
