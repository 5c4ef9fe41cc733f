package learn

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// Alike is how like each other the members of a group are on average, as the cosine of their vectors: over it two
// learnings speak of one subject. Of 1,770 pairs of distinct learnings the median was .435 and the 99th percentile .662; hand-
// reworded pairs lay between .619 and .898. So it takes words in common beside it: see [Group].
const Alike = 0.62

// Bounds of a group.
const (
	// MaxItems is how many entries are grouped at once; the work grows with its cube.
	MaxItems = 256
	// MaxGroup is how many of them one group takes.
	MaxGroup = 50
	// sharedRare is how many rare terms two entries without a common tag must share.
	sharedRare = 3
)

// Group finds the items that speak of one subject: average link from [Alike] up, within one scope and agent, and only where
// two of them share a tag or three rare terms, or are near repeats: where all items speak of one subject, none of its terms is
// rare. It gives the groups of two and more as sorted indexes, in order of their first.
// Similar is the likeness of two items, rare the rare terms of one, sorted. Items beyond [MaxItems] are left alone.
func Group(items []entry.Item, similar func(i, j int) float64, rare func(i int) []string) [][]int {
	n := min(len(items), MaxItems)
	// like[i][j] is the sum of the likenesses between the members of groups i and j; common, whether any two share words.
	like, common := square[float64](n), square[bool](n)
	groups := make([][]int, n)
	for i := range n {
		groups[i] = []int{i}
		for j := range i {
			if items[i].Scope != items[j].Scope || items[i].Agent != items[j].Agent {
				like[i][j] = float64(-MaxItems) // never on average alike
			} else {
				like[i][j] = similar(i, j)
				common[i][j] = shares(items[i].Tags, items[j].Tags, 1) || shares(rare(i), rare(j), sharedRare) ||
					slices.Contains(items[i].Repeats, items[j].ID)
			}
			like[j][i], common[j][i] = like[i][j], common[i][j]
		}
	}
	for {
		a, b := closest(groups, like, common)
		if a < 0 {
			break
		}
		groups[a], groups[b] = append(groups[a], groups[b]...), nil
		for k := range n {
			like[a][k] += like[b][k]
			common[a][k] = common[a][k] || common[b][k]
			like[k][a], common[k][a] = like[a][k], common[a][k]
		}
	}
	var out [][]int
	for _, g := range groups {
		if len(g) > 1 {
			slices.Sort(g)
			out = append(out, g)
		}
	}
	return out
}

// closest are the two groups to be joined next, the lower first, or -1.
func closest(groups [][]int, like [][]float64, common [][]bool) (a, b int) {
	a, b = -1, -1
	best := Alike
	for i, g := range groups {
		for j := i + 1; j < len(groups) && g != nil; j++ {
			h := groups[j]
			if h == nil || !common[i][j] || len(g)+len(h) > MaxGroup {
				continue
			}
			if mean := like[i][j] / float64(len(g)*len(h)); mean > best || mean == best && a < 0 {
				a, b, best = i, j, mean
			}
		}
	}
	return a, b
}

func square[T any](n int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, n)
	}
	return out
}

// shares tells whether two sorted lists have at least n members in common.
func shares(a, b []string, n int) bool {
	for i, j := 0, 0; i < len(a) && j < len(b) && n > 0; {
		switch strings.Compare(a[i], b[j]) {
		case -1:
			i++
		case 1:
			j++
		default:
			i, j, n = i+1, j+1, n-1
			if n == 0 {
				return true
			}
		}
	}
	return n <= 0
}

// Rare finds the rare terms of items among themselves: those that at most a quarter of them have, and two always.
func Rare(items []entry.Item) func(i int) []string {
	of, df := make([][]string, len(items)), map[string]int{}
	for i := range items {
		of[i] = termSet(items[i].Whole())
		for _, t := range of[i] {
			df[t]++
		}
	}
	for i := range of {
		of[i] = slices.DeleteFunc(of[i], func(t string) bool { return df[t] > max(2, len(items)/4) })
	}
	return func(i int) []string { return of[i] }
}
