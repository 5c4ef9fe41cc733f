package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func TestUnknownWhenBusyIsRefused(t *testing.T) {
	later := func([]byte, event.RunStarted) (Group, error) { return Group{Name: "g", WhenBusy: "later"}, nil }
	if _, err := GroupOf(later, &Start{}); err == nil || !strings.Contains(err.Error(), `unknown when_busy "later"`) {
		t.Errorf("the error is %v", err)
	}
}

// places are runs in lines, as FindDeadlock asks for them: run i was called by caller[i], -1 if nobody called it, and stands in line[i],
// -1 if it is in no group.
type places struct {
	caller, line []int
	holds        []bool
}

func (p *places) above(run int) (list []string) {
	for run = p.caller[run]; run >= 0; run = p.caller[run] {
		list = append(list, fmt.Sprint(run))
	}
	return list
}

func (p *places) Holders(in Line) (runs []string, _ error) {
	for run := range p.line {
		if p.holds[run] && fmt.Sprint(p.line[run]) == in.Group {
			runs = append(runs, fmt.Sprint(run))
		}
	}
	return runs, nil
}

func (p *places) Below(run string) (lines []Line, _ error) {
	for below := range p.line {
		if p.line[below] >= 0 && !p.holds[below] && slices.Contains(p.above(below), run) {
			lines = append(lines, Line{Group: fmt.Sprint(p.line[below])})
		}
	}
	return lines, nil
}

// waitFor returns the runs whose ends a run waits for, by itself or through others, if it waits in a line: the holder of the turn, and
// whatever the runs wait for that the holder has called.
func (p *places) waitFor(line int, known map[int]bool) map[int]bool {
	for holder := range p.line {
		if !p.holds[holder] || p.line[holder] != line || known[holder] {
			continue
		}
		known[holder] = true
		for below := range p.line {
			if p.line[below] >= 0 && !p.holds[below] && slices.Contains(p.above(below), fmt.Sprint(holder)) {
				p.waitFor(p.line[below], known)
			}
		}
	}
	return known
}

// A wait is refused if and only if it would be, through others, a wait for a caller.
func TestDeadlocksOfRandomRuns(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n, lines := 2+rng.IntN(12), 1+rng.IntN(4)
		p, taken := &places{holds: make([]bool, n)}, map[int]bool{}
		for run := range n {
			p.caller, p.line = append(p.caller, rng.IntN(run+1)-1), append(p.line, rng.IntN(lines+1)-1)
			if in := p.line[run]; in >= 0 && !taken[in] {
				taken[in], p.holds[run] = true, true
			}
		}
		last := n - 1 // it wants its turn
		if p.line[last] < 0 || p.holds[last] || p.caller[last] < 0 {
			continue
		}
		callers, in := map[string]bool{}, p.line[last]
		for _, run := range p.above(last) {
			callers[run] = true
		}
		p.line[last] = -1
		d, err := FindDeadlock(Line{Group: fmt.Sprint(in)}, callers, p)
		if err != nil {
			t.Fatal(err)
		}
		want := false
		for run := range p.waitFor(in, map[int]bool{}) {
			want = want || callers[fmt.Sprint(run)]
		}
		if (d != nil) != want || d != nil && (!callers[d.Caller] || d.Group != fmt.Sprint(in)) {
			t.Errorf("seed %d: for a wait in line %d of a run that %v called, the deadlock is %+v, want one: %v\n%+v", seed, in, callers, d, want, p)
		}
		if want {
			found++
		} else {
			none++
		}
	}
	if found < 100 || none < 100 {
		t.Errorf("%d deadlocks and %d waits without one prove little", found, none)
	}
}
