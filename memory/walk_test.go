package memory_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

var walkSeeds = flag.Int("walk.seeds", 12, "how many random stores are changed in random order")

// TestNothingIsHiddenOfItself changes random stores in random order, through two handles as two processes have them. After each step
// every learning that nobody took away is in sight, or something in its own scope that is made of it stands for it; of a
// contradiction both sides are in sight; and consolidating again changes nothing.
func TestNothingIsHiddenOfItself(t *testing.T) {
	steady(t)
	w := walk{}
	for seed := range *walkSeeds {
		w.one(t, uint64(seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%v", w.did)
	for _, what := range []string{"add", "consolidated", "supersede", "forget", "revert", "promote", "reopen", "conflict", "grown"} {
		if w.did[what] == 0 {
			t.Errorf("nothing was done of %s", what)
		}
	}
}

type walk struct {
	did   map[string]int
	dir   string
	o     memory.Options
	r     *rand.Rand
	h     [2]*memory.Memory
	n     int
	taken map[string]bool // superseded by a person
	moved map[string]bool // promoted
}

func (w *walk) one(t *testing.T, seed uint64) {
	if w.did == nil {
		w.did = map[string]int{}
	}
	at := start
	w.dir, w.r, w.n, w.taken, w.moved = t.TempDir(), rand.New(rand.NewPCG(seed, 3)), 0, map[string]bool{}, map[string]bool{}
	w.o = memory.Options{Embedder: wide{}, WordVectors: true, ConsolidateEvery: []int{0, 4, 10}[seed%3],
		Now: func() time.Time { at = at.Add(time.Second); return at }}
	w.h = [2]*memory.Memory{open(t, w.dir, w.o), open(t, w.dir, w.o)}
	for step := range 60 {
		what := w.step(t)
		w.check(t)
		if t.Failed() {
			t.Fatalf("seed %d, step %d: %s", seed, step, what)
		}
	}
	for _, m := range w.h {
		m.Close()
	}
}

func (w *walk) step(t *testing.T) string {
	ctx := context.Background()
	m := w.h[w.r.IntN(2)]
	agent := []string{"sam", "sam", "leo"}[w.r.IntN(3)]
	pick := func(want func(*entry.Item) bool) *entry.Item {
		items, err := m.List(ctx, memory.Filter{Viewer: everything, Everything: true})
		if err != nil {
			t.Fatal(err)
		}
		items = slices.DeleteFunc(items, func(i entry.Item) bool { return i.Forgotten || i.Reverted || !want(&i) })
		if len(items) == 0 {
			return nil
		}
		return &items[w.r.IntN(len(items))]
	}
	whatever := func(*entry.Item) bool { return true }
	done := func(what string, err error) string {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return what
	}
	switch k := w.r.IntN(20); {
	case k < 9:
		var es []entry.Entry
		for range 1 + w.r.IntN(4) {
			es = append(es, w.learning(agent))
		}
		_, err := m.Add(ctx, es...)
		w.did["add"] += len(es)
		return done("add", err)
	case k < 12:
		made, err := m.Consolidate(ctx, agent)
		w.did["consolidated"] += len(made)
		if again, err := w.h[w.r.IntN(2)].Consolidate(ctx, agent); err != nil || len(again) > 0 {
			t.Errorf("consolidating again makes %v, %v", again, err)
		}
		w.apart(t, agent)
		return done("consolidate", err)
	case k < 13:
		if i := pick((*entry.Item).Visible); i != nil {
			w.did["supersede"]++
			w.taken[i.ID] = true
			by := w.learning(i.Agent)
			by.Scope = i.Scope
			_, err := m.Supersede(ctx, []string{i.ID}, by, person)
			return done("supersede "+i.ID+" by "+by.ID, err)
		}
	case k < 14:
		if i := pick(func(i *entry.Item) bool { return i.Type != entry.Pattern }); i != nil {
			w.did["forget"]++
			return done("forget "+i.ID, m.Forget(ctx, []string{i.ID}, person, ""))
		}
	case k < 16:
		if i := pick(whatever); i != nil {
			w.did["revert"]++
			which := memory.Selector{IDs: []string{i.ID}}
			if w.r.IntN(4) == 0 && i.By.Run != "" {
				which = memory.Selector{Run: i.By.Run}
			}
			_, err := m.Revert(ctx, which, person, "")
			return done(fmt.Sprintf("revert %+v", which), err)
		}
	case k < 18:
		if i := pick(whatever); i != nil {
			w.did["promote"]++
			w.moved[i.ID] = true
			to := []entry.Scope{entry.Shared, entry.OfAgent("sam"), entry.OfGroup("g")}[w.r.IntN(3)]
			return done(fmt.Sprintf("promote %s to %q", i.ID, to), m.Promote(ctx, []string{i.ID}, to, person))
		}
	case k < 19:
		w.did["reopen"]++
		n := w.r.IntN(2)
		w.h[n].Close()
		w.h[n] = open(t, w.dir, w.o)
		return "reopen"
	}
	return "nothing"
}

// learning is one of few subjects in one of few wordings, which contradict each other now and then.
func (w *walk) learning(agent string) entry.Entry {
	subjects := [][]string{
		{"Restart the proxy before the upload of the nightly job", "Restart the proxy before uploads of the nightly job", "Before an upload of the nightly job, restart the proxy", "The nightly job uploads after the proxy is restarted"},
		{"Drop the staging table before the import job starts", "Drop the staging table before the import job begins", "The import job wants the staging table dropped before", "Before the import job drop its staging table"},
		{"Rotate the signing key of the mobile release", "Rotate the mobile release signing key each quarter", "The mobile release needs a rotated signing key"},
	}
	s := subjects[w.r.IntN(len(subjects))]
	e := entry.Entry{ID: fmt.Sprintf("L%03d", w.n), Agent: agent, Scope: entry.OfAgent(agent), Type: []entry.Type{entry.Failure, entry.Failure, entry.Failure, entry.Success}[w.r.IntN(4)],
		Lesson: s[w.r.IntN(len(s))], By: rule}
	if w.r.IntN(3) > 0 { // else a repeat, word for word
		e.Lesson += fmt.Sprintf(", ticket %d.", w.n)
	}
	e.By.Run = fmt.Sprint("r", w.r.IntN(30))
	switch w.r.IntN(8) {
	case 0:
		e.Scope = entry.Shared
	case 1:
		e.Scope = entry.OfRun(e.By.Run)
	}
	w.n++
	return e
}

func (w *walk) all(t *testing.T) (items []entry.Item, at map[string]*entry.Item) {
	var texts [2]string
	for n, m := range w.h {
		var err error
		if items, err = m.List(context.Background(), memory.Filter{Viewer: everything, Everything: true}); err != nil {
			t.Fatal(err)
		}
		texts[n] = fmt.Sprintf("%+v", items)
	}
	if texts[0] != texts[1] {
		t.Errorf("two processes see\n%s\nand\n%s", texts[0], texts[1])
	}
	at = map[string]*entry.Item{}
	for n := range items {
		at[items[n].ID] = &items[n]
	}
	return items, at
}

func (w *walk) check(t *testing.T) {
	items, at := w.all(t)
	for n := range items {
		i := &items[n]
		if !i.IsLearning() || i.Forgotten || i.Reverted || i.Visible() {
			continue
		}
		end, seen, taken := i, map[string]bool{}, false
		for end.SupersededBy != "" {
			taken = taken || w.taken[end.ID]
			if seen[end.ID] {
				t.Errorf("%s lies behind itself: %v", i.ID, seen)
				return
			}
			seen[end.ID] = true
			if end = at[end.SupersededBy]; end == nil {
				t.Errorf("%s lies behind nothing", i.ID)
				return
			}
		}
		if len(seen) > 1 {
			w.did["grown"]++
		}
		switch {
		case taken:
		case !end.Visible():
			t.Errorf("%s lies behind %s, which is hidden: %+v", i.ID, end.ID, end)
		case end.Scope != i.Scope && end.Scope != entry.Shared && !w.moved[end.ID]: // who moves a pattern moves what it says
			t.Errorf("%s in %q lies behind %s in %q", i.ID, i.Scope, end.ID, end.Scope)
		}
	}
}

// apart tells of an agent's learnings that are consolidated and stand beside what stands for them, or behind two, and of sides of a
// contradiction that do not.
func (w *walk) apart(t *testing.T, agent string) {
	items, at := w.all(t)
	behind := map[string]string{}
	for _, p := range items {
		if p.Agent != agent || p.Type != entry.Pattern || !p.Visible() || w.moved[p.ID] {
			continue
		}
		sides := map[entry.Type]bool{}
		for _, id := range p.DerivedFrom {
			i := at[id]
			if i == nil || i.Scope != p.Scope {
				continue
			}
			if other := behind[id]; other != "" {
				t.Errorf("%s lies behind %s and %s", id, other, p.ID)
			}
			if behind[id] = p.ID; i.Visible() {
				sides[i.Type] = true
			}
		}
		if p.Conflict {
			w.did["conflict"]++
		}
		if want := map[bool]int{true: 2}[p.Conflict]; len(sides) != want {
			t.Errorf("of %s, made of %v, there are in sight %v; in conflict: %t", p.ID, p.DerivedFrom, sides, p.Conflict)
		}
	}
}
