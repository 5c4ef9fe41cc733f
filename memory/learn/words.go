package learn

import (
	"slices"
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/text"
)

// templated are the words of the recorder's own sentences: all that it words has them, so they tell nothing of one learning.
var templated = termSet(`It works once this is seen to. It works as asked. It failed without saying why: find out before
	trying it the same way. Find out why. The other side refused access. Check the credentials before starting. It was too much at once. Ask less often,
	or for less. It ran out of time. Do less in one go, report progress, or allow more time. It could not start. Make sure that it is
	installed before starting. The result was refused. Make sure of that before handing in. The answer had not the declared form. Keep
	to the form. It was killed. It may need more memory or less work at once. What it needs was not there. Make sure of it first. See to
	this first.`)

// subjectOf are the words that tell what a learning is about, each once: those of what it says, and where that has none, those
// of its task. Numbers are left out, as they are lines, times and counts.
func subjectOf(e *entry.Item) []string {
	for _, s := range []string{said(e.Entry), e.Context} {
		terms := slices.DeleteFunc(termSet(s), func(t string) bool {
			_, own := slices.BinarySearch(templated, t)
			return own && e.Auto || strings.Trim(t, "0123456789") == ""
		})
		if len(terms) > 0 {
			return append(terms, names(s)...)
		}
	}
	return nil
}

// names are the words of a text that consist of several, as those of files, hosts and functions do, without the place in a file
// behind them. Two learnings that share one have more in common than those that share its parts.
func names(s string) (out []string) {
	for _, w := range strings.Fields(s) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		w = strings.TrimRight(w, "0123456789:(,")
		if len(text.Words(w)) > 1 {
			out = append(out, "name "+strings.ToLower(w)) // no term has a space
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
