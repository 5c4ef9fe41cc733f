package learn

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// Worder words a pattern better than a template does: a language model. It gets the lessons numbered from 1 and answers with one
// text and the numbers that it rests on. It never decides what is grouped, kept or hidden.
type Worder interface {
	Word(lessons []string) (text string, cites []int, err error)
}

// Reword puts a worder's text in place of the template's, behind the count and the date, which stay. An answer that cites
// nothing or what isn't there, has no text, or is longer than its sources or the bound is refused: the pattern comes back as it was,
// with the reason.
func Reword(p entry.Entry, sources []entry.Item, w Worder) (entry.Entry, error) {
	sources = inOrder(sources)
	lessons, length := make([]string, len(sources)), 0
	for i := range sources {
		lessons[i] = said(sources[i].Entry)
		length += len(lessons[i])
	}
	text, cites, err := w.Word(lessons)
	text = oneLine(text)
	switch {
	case err != nil:
		return p, fmt.Errorf("wording a pattern: %w", err)
	case text == "" || !utf8.ValidString(text):
		return p, fmt.Errorf("wording a pattern: the answer has no text")
	case len(text) > min(length, MaxPattern-headRoom):
		return p, fmt.Errorf("wording a pattern: the answer has %d bytes, more than its sources' %d or the %d that there is room for",
			len(text), length, MaxPattern-headRoom)
	case len(cites) == 0:
		return p, fmt.Errorf("wording a pattern: the answer cites none of its %d sources", len(sources))
	}
	for _, c := range cites {
		if c < 1 || c > len(sources) {
			return p, fmt.Errorf("wording a pattern: the answer cites source %d of %d", c, len(sources))
		}
	}
	if p.Conflict && !slices.ContainsFunc(cites, func(c int) bool { return c != cites[0] }) {
		return p, fmt.Errorf("wording a pattern: the sources contradict each other, and the answer cites one of them alone")
	}
	p.Text, p.Auto = head(sources, p.Conflict)+strings.TrimSpace(text), false
	return p, nil
}
