package learn

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// Worder words a pattern better than a template does: a language model. It gets the lessons numbered from 1 and answers with one
// text and the numbers that it rests on. It never decides what is grouped, kept or hidden. An error that wraps [ErrRefused] says
// that it has answered, with something that is not such an answer.
type Worder interface {
	Word(lessons []string) (text string, cites []int, err error)
}

// ErrRefused is what the error of an answer wraps that does not serve: asking for the same again is no use.
var ErrRefused = errors.New("the answer does not serve")

// Reword puts a worder's text in place of the template's, behind the count and the date, which stay. An answer that cites
// nothing or what isn't there, has no text, or is longer than its sources or the bound is refused: the pattern comes back as it was,
// with [ErrRefused]. Other errors are the worder's.
func Reword(p entry.Entry, sources []entry.Item, w Worder) (entry.Entry, error) {
	sources = inOrder(sources)
	lessons := make([]string, len(sources))
	for i := range sources {
		lessons[i] = said(sources[i].Entry)
	}
	text, cites, err := w.Word(lessons)
	if err == nil {
		text = oneLine(text)
		err = fit(text, cites, Room(lessons), len(sources), p.Conflict)
	}
	if err != nil {
		return p, fmt.Errorf("wording a pattern: %w", err)
	}
	p.Text, p.Auto = head(sources, p.Conflict)+text, false
	return p, nil
}

// Room is how long the text of an answer may be, in bytes: as its lessons together, and no longer than fits behind the count.
func Room(lessons []string) int {
	length := 0
	for _, l := range lessons {
		length += len(l)
	}
	return min(length, MaxPattern-headRoom)
}

// fit tells what is wrong with an answer about so many sources, for which there is room for so many bytes.
func fit(text string, cites []int, room, sources int, conflict bool) error {
	switch {
	case text == "" || !utf8.ValidString(text):
		return fmt.Errorf("%w: it has no text", ErrRefused)
	case len(text) > room:
		return fmt.Errorf("%w: its text has %d bytes, of at most %d: its sources' length, and no more than %d", ErrRefused, len(text), room, MaxPattern-headRoom)
	case len(cites) == 0:
		return fmt.Errorf("%w: it cites none of its %d sources", ErrRefused, sources)
	}
	for _, c := range cites {
		if c < 1 || c > sources {
			return fmt.Errorf("%w: it cites source %d of %d", ErrRefused, c, sources)
		}
	}
	if conflict && !slices.ContainsFunc(cites, func(c int) bool { return c != cites[0] }) {
		return fmt.Errorf("%w: the sources contradict each other, and it cites one of them alone", ErrRefused)
	}
	return nil
}
