package learn

import (
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
	norms := make([]string, len(group))
	for i := range group {
		norms[i] = Norm(said(group[i].Entry))
	}
	taken, again := make([]bool, len(group)), make([]float64, len(group)) // again is how much of it was told already
	take := func(j int) {
		taken[j] = true
		for i := range group {
			if again[i] = max(again[i], overlap(words[i], words[j])); norms[i] == norms[j] {
				again[i] = 1
			}
		}
	}
	for _, j := range chosen {
		take(j)
	}
	var out []int
	for {
		best, bestScore := -1, 0.0
		for i := range group {
			if taken[i] || again[i] > sameAgain {
				continue
			}
			if score := overlap(words[i], words[chosen[0]]) - again[i]; best < 0 || score >= bestScore {
				best, bestScore = i, score
			}
		}
		if best < 0 {
			return out
		}
		take(best)
		out = append(out, best)
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
	stances := make([]stance, len(group))
	for i := range group {
		stances[i] = stanceOf(group[i].Entry)
	}
	for i := len(group) - 1; i > 0; i-- {
		for j := i - 1; j >= 0; j-- {
			if stances[i].contradicts(&stances[j]) {
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
