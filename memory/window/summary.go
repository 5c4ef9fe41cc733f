package window

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/memory/lazyregexp"
)

// Summary stands for the messages From to To, both included: lines of them, verbatim, oldest first. Each names the message
// that it is from, where the original is found. The next summary is made of these lines and the messages since.
type Summary struct {
	From, To string
	Count    int // how many messages
	Lines    []Line
}

// Line is one line of a summary.
type Line struct{ ID, Role, Text string }

// Text is the summary as it is sent. [ParseSummary] reads it back.
func (s *Summary) Text() string {
	var b strings.Builder
	b.WriteString(s.head())
	for _, l := range s.Lines {
		b.WriteString(l.text())
	}
	return b.String()
}

func (s *Summary) head() string {
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
	room := limit - o.tokens(s.head())
	if room < 0 {
		return nil
	}
	var fresh []Line
	for _, m := range messages {
		fresh = append(fresh, linesOf(m)...)
	}
	lines = append(lines, fresh[max(0, len(fresh)-maxLines):]...)
	order := choose(lines, room, o)
	for s.Lines = inPlace(lines, order); o.tokens(s.Text()) > limit; s.Lines = inPlace(lines, order) {
		order = order[:len(order)-1] // a count of tokens that is more than the sum of its parts'
	}
	return s
}
