package diag

// Nearest returns the candidate that a mistyped name most likely meant, or "": the one with the smallest edit distance
// (insert, delete, replace, swap of neighbours), if that is at most a third of the name's length, at least one. Ties go
// to the first candidate.
func Nearest(name string, candidates []string) string {
	best, bound := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if abs(len(c)-len(name)) >= bound || c == name {
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
