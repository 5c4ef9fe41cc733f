package flowtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxDifferences bounds how many runs with a crash that end otherwise are told.
const MaxDifferences = 3

// crashEverywhere runs the test again with a crash at each point of its runs, and compares the ends. It counts the tests that end alike.
func (t *test) crashEverywhere(ctx context.Context) (alike int) {
	want := t.ends()
	for n, told := 1, 0; told < MaxDifferences; n++ {
		again := newTest(t.program, t.Test)
		again.endAlone, again.eval = true, t.eval
		err := again.drive(ctx, n)
		if err == nil && again.crashed == again.own {
			return alike // the runs have fewer points
		}
		differs := want.difference(again.ends())
		if err != nil {
			differs = sentence(err)
		}
		if differs == "" {
			alike++
			continue
		}
		told++
		t.fail(Failure{Kind: Differs, At: t.At, Text: fmt.Sprintf("with a crash at point %d %s", n, differs), After: again.elapsed()})
	}
	return alike
}

// ends are what a test came to, in words by what each is about: how runs and nodes ended, with outputs and attempts, and what the
// store holds. Times are not in it, because an attempt that starts again ends later.
type ends struct{ runs, nodes, store map[string]string }

func (t *test) ends() ends {
	e := ends{map[string]string{}, map[string]string{}, map[string]string{}}
	for _, s := range t.launched {
		e.runs[s.words()+" ends"] = string(s.view.Status) + " with " + shown(map[string]any(s.view.Outputs))
	}
	s := &names{test: t}
	all := s.all()
	for path, p := range all { // any order: it fills a map
		own := path
		if path = t.itemAlone(p, path); path == "" {
			continue
		}
		e.nodes[path+" ends"] = string(p.Status)
		for words, attr := range map[string]string{"the output of " + path + " is": "output", "the attempts of " + path + " are": "attempts"} { // any order: it fills a map
			v, err := s.node(own, attr)
			if e.nodes[words] = shown(v); err != nil {
				e.nodes[words] = err.Error()
			}
		}
	}
	stored, err := t.store.KV()
	for key, v := range stored { // any order: it fills a map
		e.store[fmt.Sprintf("kv[%q] is", key)] = shown(v)
	}
	if err != nil {
		e.store["the store is"] = err.Error()
	}
	return e
}

// itemAlone is the path under which the end of a node counts. A crash can decide which of several loops takes an item, so the item counts
// where it ended well, or else where it failed, without the loop; "" where another loop did it.
func (t *test) itemAlone(p place, path string) string {
	if p.in.loop == nil || len(t.Loops) == 1 {
		return path
	}
	rank := map[event.Status]int{event.Succeeded: 3, event.FailedS: 2, event.Cancelled: 1}
	for _, name := range t.Loops {
		of := t.loopNamed(name)
		if of == nil || of == p.in {
			continue
		}
		if n := of.view.Node(p.Path); n != nil && (rank[n.Status] > rank[p.Status] || rank[n.Status] == rank[p.Status] && name < p.in.workflow) {
			return ""
		}
	}
	if rank[p.Status] == 0 {
		return ""
	}
	return strings.TrimPrefix(path, p.in.prefix)
}

// shown is a value as JSON.
func shown(v value.Value) string { return string(value.Append(nil, v)) }

// difference says what is first otherwise in a test with a crash; "" if nothing is.
func (e ends) difference(crashed ends) string {
	for _, pair := range [][2]map[string]string{{e.runs, crashed.runs}, {e.nodes, crashed.nodes}, {e.store, crashed.store}} {
		want, have := pair[0], pair[1]
		both := maps.Clone(want)
		maps.Copy(both, have)
		for _, what := range slices.Sorted(maps.Keys(both)) {
			if want[what] != have[what] {
				return fmt.Sprintf("%s %s, and without one %s", what, orNothing(have[what]), orNothing(want[what]))
			}
		}
	}
	return ""
}

// MaxDifference bounds each side of a difference, in bytes.
const MaxDifference = 400

func orNothing(s string) string {
	switch {
	case s == "":
		return "nothing"
	case len(s) > MaxDifference:
		return fmt.Sprintf("%.*s…", MaxDifference, s)
	}
	return s
}
