package learn

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// stance is what of an entry may contradict another.
type stance struct {
	kind     entry.Type
	auto     bool
	negative bool
	rest     []string
}

func stanceOf(e entry.Entry) stance {
	s := stance{kind: e.Type, auto: e.Auto}
	s.negative, s.rest = polarity(said(e))
	return s
}

// contradicts tells whether two entries on one subject say opposite things: one succeeded and one failed, or their lessons have
// the same words but for a "not", "never" or "avoid" in one of them.
func (a *stance) contradicts(b *stance) bool {
	if a.kind == entry.Success && b.kind == entry.Failure || a.kind == entry.Failure && b.kind == entry.Success {
		return true
	}
	if a.auto || b.auto {
		return false // a template's words are its own
	}
	return a.negative != b.negative && overlap(a.rest, b.rest) >= sameWords
}

// sameWords is the share of terms, of both lessons together, that two have in common when they speak of the same thing to do.
const sameWords = 0.6

var negations = strings.Fields("not never no dont doesnt avoid without cannot cant wont shouldnt mustnt stop isnt arent didnt wasnt instead")

// polarity takes the negations out of a text's words, and tells whether there was an odd number of them.
func polarity(text string) (negative bool, rest []string) {
	for _, w := range strings.Fields(strings.NewReplacer("'", "", "’", "").Replace(Norm(text))) {
		if slices.Contains(negations, w) {
			negative = !negative
		} else if !slices.Contains([]string{"always", "do", "does", "use", "should", "must", "please"}, w) {
			rest = append(rest, w)
		}
	}
	return negative, termSet(strings.Join(rest, " "))
}

// overlap is the share of two sorted sets that both have.
func overlap(a, b []string) float64 {
	both := 0
	for _, t := range a {
		if _, ok := slices.BinarySearch(b, t); ok {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
