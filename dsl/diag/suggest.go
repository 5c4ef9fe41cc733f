package diag

import "strings"

// MinTypo is the length from which on a name can be a mistyped one: every name of one letter is one letter away from
// every other.
const MinTypo = 3

// Nearest returns the candidate that a mistyped name most likely meant, or "": one that differs in case only, or else the
// one with the smallest edit distance (insert, delete, replace, swap of neighbours), if the name has at least [MinTypo]
// bytes and the distance is at most a third of them. Ties go to the first candidate.
func Nearest(name string, candidates []string) string {
	best, bound := "", len(name)/3+1
	for _, c := range candidates {
		switch {
		case c == name:
			continue
		case strings.EqualFold(c, name):
			return c
		case len(name) < MinTypo || abs(len(c)-len(name)) >= bound:
			continue
		}
		if d := distance(name, c, bound); d < bound {
			best, bound = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance, given up at bound.
func distance(a, b string, bound int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= bound {
			return bound
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
