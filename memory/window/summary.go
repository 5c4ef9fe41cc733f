package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Summary stands for the messages From to To, both included: lines of them, verbatim, oldest first. Each names the message
// that it is from, where the original is found. The next summary is made of these lines and the messages since.
type Summary struct {
	From, To string
	Count    int // how many messages
	Lines    []Line
	// Lost says that nobody keeps the originals. Such a summary is not read back.
	Lost bool
}

// Line is one line of a summary.
type Line struct{ ID, Role, Text string }

// Text is the summary as it is sent. [ParseSummary] reads it back.
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
	if s.Lost {
		return fmt.Sprintf("Summary of %d earlier messages of this conversation, which are left out.\n", s.Count)
	}
	return fmt.Sprintf("Summary of %d earlier messages, %s to %s. The originals are found by their ids.\n", s.Count, s.From, s.To)
}

func (l Line) text() string {
	from := l.ID
	if l.Role != "" {
		from += " " + l.Role
	}
	return "- [" + from + "] " + l.Text + "\n"
}

var (
	headForm = lazyregexp.New(`^Summary of (\d+) earlier messages, (\S*) to (\S*)\. The originals are found by their ids\.$`)
	lineForm = lazyregexp.New(`^- \[([^\] ]*)(?: ([^\]]*))?\] (.*)$`)
)

// ParseSummary reads what [Summary.Text] wrote, as that is what a store keeps. It tells whether the text is one.
func ParseSummary(text string) (*Summary, bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	m := headForm().FindStringSubmatch(lines[0])
	if m == nil {
		return nil, false
	}
	s := &Summary{From: m[2], To: m[3]}
	var err error
	if s.Count, err = strconv.Atoi(m[1]); err != nil {
		return nil, false
	}
	for _, l := range lines[1:] {
		m := lineForm().FindStringSubmatch(l)
		if m == nil {
			return nil, false
		}
		s.Lines = append(s.Lines, Line{m[1], m[2], m[3]})
	}
	return s, true
}

// next makes the summary of an old one and the messages since, in so many tokens. It is nil where not even the head fits.
func next(old *Summary, messages []Message, limit int, o Options) *Summary {
	s := &Summary{Lost: o.Lost}
	var lines []Line
	if old != nil {
		*s = Summary{From: old.From, To: old.To, Count: old.Count, Lost: o.Lost}
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
