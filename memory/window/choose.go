package window

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/text"
)

// lambda is how much it counts that a sentence speaks of what all of them speak of; the rest counts against saying a
// thing again. Maximal marginal relevance, Carbonell and Goldstein 1998, whose summaries used .7 as well.
const lambda = 0.7

// choose picks lines under a limit of tokens: first those that are worth keeping as they stand, the weightiest first and of
// equals the newest; then the rest by lambda. It gives their indexes in the order of the choice. None is said twice.
func choose(lines []Line, limit int, o Options) []int {
	c := chooser{lines: lines, room: limit, o: o, taken: make([]bool, len(lines))}
	c.keepVerbatim()
	c.fill()
	return c.order
}

type chooser struct {
	lines []Line
	room  int
	o     Options
	taken []bool
	order []int
}

// take chooses a line if there is room for it.
func (c *chooser) take(i int) bool {
	cost := c.o.tokens(c.lines[i].text())
	c.taken[i] = true // or never again
	if cost > c.room {
		return false
	}
	c.room -= cost
	c.order = append(c.order, i)
	return true
}

func (c *chooser) keepVerbatim() {
	type worth struct{ i, weight int }
	var list []worth
	said := map[string]bool{}
	for i := len(c.lines) - 1; i >= 0; i-- {
		key := strings.ToLower(c.lines[i].Text)
		if said[key] {
			c.taken[i] = true
			continue
		}
		said[key] = true
		if w := weigh(c.lines[i].Text); w >= verbatim {
			list = append(list, worth{i, w})
		}
	}
	slices.SortFunc(list, func(a, b worth) int { return cmp.Or(b.weight-a.weight, b.i-a.i) })
	for _, w := range list {
		c.take(w.i)
	}
}

// fill takes of the lines that are left, as long as there is room, the one with most of what all speak of and least of what
// was taken.
func (c *chooser) fill() {
	v := vectors(c.lines)
	again := make([]float64, len(v.of))
	seen := func(i int) {
		for j := range v.of {
			again[j] = max(again[j], v.like(i, j))
		}
	}
	for _, i := range c.order {
		seen(i)
	}
	for {
		best, bestScore := -1, 0.0
		for j := range v.of {
			if c.taken[j] || len(v.of[j]) == 0 {
				continue
			}
			if score := float64(lambda*v.central[j]) - float64((1-lambda)*again[j]); best < 0 || score >= bestScore {
				best, bestScore = j, score
			}
		}
		if best < 0 {
			return
		}
		if c.take(best) {
			seen(best)
		}
	}
}

// space holds each line's terms as sorted numbers, and how near it is to the middle of all of them, from 0 to 1.
type space struct {
	of      [][]int
	central []float64
}

func vectors(lines []Line) space {
	s := space{of: make([][]int, len(lines)), central: make([]float64, len(lines))}
	number := map[string]int{}
	var df []float64
	for i, l := range lines {
		for _, t := range text.Terms(l.Text) {
			n, ok := number[t]
			if !ok {
				n = len(df)
				number[t], df = n, append(df, 0)
			}
			s.of[i] = append(s.of[i], n)
		}
		slices.Sort(s.of[i])
		s.of[i] = slices.Compact(s.of[i])
		for _, n := range s.of[i] {
			df[n]++
		}
	}
	length := 0.0
	for _, n := range df {
		length += float64(n * n)
	}
	for i, terms := range s.of {
		dot := 0.0
		for _, n := range terms {
			dot += df[n]
		}
		if len(terms) > 0 {
			s.central[i] = dot / math.Sqrt(length*float64(len(terms)))
		}
	}
	return s
}

// like is the cosine of two lines.
func (s space) like(i, j int) float64 {
	a, b := s.of[i], s.of[j]
	both := 0
	for x, y := 0, 0; x < len(a) && y < len(b); {
		switch {
		case a[x] < b[y]:
			x++
		case a[x] > b[y]:
			y++
		default:
			x, y, both = x+1, y+1, both+1
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / math.Sqrt(float64(len(a))*float64(len(b)))
}

// inPlace are the chosen lines in the order in which they were said.
func inPlace(lines []Line, order []int) []Line {
	order = slices.Clone(order)
	slices.Sort(order)
	var out []Line
	for _, i := range order {
		out = append(out, lines[i])
	}
	return out
}
