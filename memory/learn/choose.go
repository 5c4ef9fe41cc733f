package learn

import (
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// medoid is the member of a group whose words are nearest to the others'. One that somebody worded goes before a
// template's, and of equals the newest.
func medoid(group []entry.Item) int {
	words := groupTerms(group)
	best, bestSum := -1, 0.0
	for i := range group {
		sum := 0.0
		for j := range group {
			if i != j {
				sum += overlap(words[i], words[j])
			}
		}
		if best < 0 || group[best].Auto && !group[i].Auto || group[best].Auto == group[i].Auto && sum >= bestSum {
			best, bestSum = i, sum
		}
	}
	return best
}

// distinct are the other members, those first that add most to what was chosen: maximal marginal relevance (Carbonell and
// Goldstein 1998) over words, half for nearness to the group and half against saying it again. What says the same is left out.
func distinct(group []entry.Item, chosen []int) []int {
	words := groupTerms(group)
	middle := words[chosen[0]]
	taken := slices.Clone(chosen)
	var out []int
	for {
		best, bestScore := -1, 0.0
		for i := range group {
			if slices.Contains(taken, i) {
				continue
			}
			again := 0.0
			for _, j := range taken {
				again = max(again, overlap(words[i], words[j]))
				if Norm(said(group[i].Entry)) == Norm(said(group[j].Entry)) {
					again = 1
				}
			}
			if again > sameAgain {
				continue
			}
			if score := overlap(words[i], middle) - again; best < 0 || score >= bestScore {
				best, bestScore = i, score
			}
		}
		if best < 0 {
			return out
		}
		taken, out = append(taken, best), append(out, best)
	}
}

// sameAgain is the share of common words over which a lesson adds nothing to another.
const sameAgain = 0.8

// conflicting tells whether any two of a group contradict each other.
func conflicting(group []entry.Item) bool {
	a, _ := sides(group)
	return a >= 0
}

// sides are the newest two members that contradict each other, the newer first; -1 where none do.
func sides(group []entry.Item) (newer, older int) {
	for i := len(group) - 1; i > 0; i-- {
		for j := i - 1; j >= 0; j-- {
			if Contradict(group[i].Entry, group[j].Entry) {
				return i, j
			}
		}
	}
	return -1, -1
}

func groupTerms(group []entry.Item) [][]string {
	out := make([][]string, len(group))
	for i := range group {
		out[i] = termSet(said(group[i].Entry))
	}
	return out
}
