package window

import (
	"fmt"
	"slices"
	"strings"
)

// Summary stands for the messages From to To, both included: lines of them, verbatim, oldest first. Each names the message
// that it is from. The next summary is made of these lines and the messages since.
type Summary struct {
	From, To string
	Count    int // how many messages
	Lines    []Line
}

// Line is one line of a summary.
type Line struct{ ID, Role, Text string }

// Text is the summary as it is sent.
func (s *Summary) Text() string { return below(s.head(), s.Lines) }

// below writes lines below a head.
func below(head string, lines []Line) string {
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString(l.text())
	}
	return b.String()
}

func (s *Summary) head() string {
	return fmt.Sprintf("Summary of %d earlier messages of this conversation, which are left out.\n", s.Count)
}

func (l Line) text() string {
	from := l.ID
	if l.Role != "" {
		from += " " + l.Role
	}
	return "- [" + from + "] " + l.Text + "\n"
}

// next makes the summary of an old one and the messages since, in so many tokens. It is nil where not even the head fits.
func next(old *Summary, messages []Message, limit int, o Options) *Summary {
	s := &Summary{}
	var lines []Line
	if old != nil {
		*s = Summary{From: old.From, To: old.To, Count: old.Count}
		lines = append(lines, old.Lines...)
	}
	if n := len(messages); n > 0 {
		if s.From == "" {
			s.From = messages[0].ID
		}
		s.To, s.Count = messages[n-1].ID, s.Count+n
	}
	if o.tokens(s.head()) > limit {
		return nil
	}
	s.Lines = chosen(s.head(), append(lines, fresh(messages)...), limit, o)
	return s
}

// Extract is a summary without its head: the lines of messages that are worth most under a limit of tokens, oldest first.
func Extract(messages []Message, limit int) []Line {
	return chosen("", fresh(messages), limit, Options{})
}

// fresh are the newest lines of messages.
func fresh(messages []Message) (out []Line) {
	var last [][]Line
	for n := 0; len(messages) > 0 && n < MaxLines; messages = messages[:len(messages)-1] {
		lines := linesOf(messages[len(messages)-1])
		last, n = append(last, lines), n+len(lines)
	}
	slices.Reverse(last)
	out = slices.Concat(last...)
	return out[max(0, len(out)-MaxLines):]
}

// chosen are the lines that are worth most, as many as fit into a limit below a head, oldest first.
func chosen(head string, lines []Line, limit int, o Options) (out []Line) {
	order := choose(lines, limit-o.tokens(head), o)
	for out = inPlace(lines, order); len(order) > 0 && o.tokens(below(head, out)) > limit; out = inPlace(lines, order) {
		order = order[:len(order)-1] // a count of tokens that is more than the sum of its parts'
	}
	return out
}
