package admission

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/runner/event"
)

func agent(name string, units, capacity int) event.Need {
	return event.Need{Kind: event.NeedAgent, Name: name, Units: units, Capacity: capacity}
}

func apply(t interface {
	Helper()
	Fatal(...any)
}, s *State, op Operation) Answer {
	t.Helper()
	a, err := s.Apply(op, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func keys(list []*Request) (out []string) {
	for _, r := range list {
		out = append(out, r.Key)
	}
	return out
}

// A life of four requests for an agent that does one task at a time.
func TestOneAtATime(t *testing.T) {
	s, order := Load(nil, nil), int64(0)
	ask := func(key string, priority int) Verdict {
		order++
		return apply(t, s, Operation{Ask: &Request{Key: key, Priority: priority, Order: order, Needs: []event.Need{agent("dev", 1, 1)}}}).Verdict
	}
	for _, step := range []struct {
		key      string
		priority int
		want     Verdict
	}{{"a", 0, Granted}, {"b", 0, Queued}, {"c", 5, Queued}, {"a", 0, Granted}, {"b", 0, Queued}} {
		if got := ask(step.key, step.priority); got != step.want {
			t.Errorf("%s is %s, want %s", step.key, got, step.want)
		}
	}
	if got := apply(t, s, Operation{Refuse: "b"}).Verdict; got != Refused {
		t.Errorf("b is %s after its patience", got)
	}
	for _, step := range []struct{ remove, granted string }{{"a", "[c]"}, {"nobody", "[]"}, {"c", "[b]"}, {"b", "[]"}} {
		a := apply(t, s, Operation{Remove: []string{step.remove}})
		if got := fmt.Sprint(keys(a.Granted)); got != step.granted {
			t.Errorf("the end of %s grants %s, want %s", step.remove, got, step.granted)
		}
		for _, r := range a.Granted {
			if r.Refused != (r.Key == "b") {
				t.Errorf("%s: refused is %t", r.Key, r.Refused)
			}
		}
	}
}

// A request that is granted in its last moment is not refused.
func TestGrantBeatsRefusal(t *testing.T) {
	s := Load(nil, nil)
	for i, key := range []string{"a", "b"} {
		apply(t, s, Operation{Ask: &Request{Key: key, Order: int64(i), Needs: []event.Need{agent("dev", 1, 1)}}})
	}
	apply(t, s, Operation{Remove: []string{"a"}})
	if got := apply(t, s, Operation{Refuse: "b"}).Verdict; got != Granted {
		t.Errorf("b is %s", got)
	}
}

// A small request does not overtake a large one of its priority, and a request with two needs gets both or none.
func TestAllOrNothingAndNobodyOvertakes(t *testing.T) {
	s := Load(nil, nil)
	verdicts := ""
	for i, r := range []Request{
		{Key: "half", Needs: []event.Need{agent("gpu", 1, 2)}},
		{Key: "both", Needs: []event.Need{agent("disk", 1, 1), agent("gpu", 2, 2)}},
		{Key: "small", Needs: []event.Need{agent("gpu", 1, 2)}},
		{Key: "disk", Needs: []event.Need{agent("disk", 1, 1)}},
		{Key: "other", Needs: []event.Need{agent("net", 1, 1)}},
	} {
		r.Order = int64(i)
		verdicts += string(apply(t, s, Operation{Ask: &r}).Verdict) + " "
	}
	if want := "granted queued queued queued granted "; verdicts != want {
		t.Errorf("the verdicts are %s, want %s", verdicts, want)
	}
	if got := fmt.Sprint(keys(apply(t, s, Operation{Remove: []string{"half"}}).Granted)); got != "[both]" {
		t.Errorf("granted is %s", got)
	}
	if got := fmt.Sprint(keys(apply(t, s, Operation{Remove: []string{"both"}}).Granted)); got != "[small disk]" {
		t.Errorf("granted is %s", got)
	}
}

// A group holds a, and something inside needs b. A request for both, which waits for a, stands before it in no line: the group
// would never end.
func TestWaitingForTheFirstLeavesTheSecond(t *testing.T) {
	s := Load(nil, nil)
	a, b := event.Need{Kind: event.NeedQuota, Name: "a", Units: 1, Capacity: 1}, event.Need{Kind: event.NeedQuota, Name: "b", Units: 1, Capacity: 1}
	verdicts := ""
	for i, r := range []Request{
		{Key: "group", Needs: []event.Need{a}}, {Key: "both", Needs: []event.Need{a, b}}, {Key: "inside", Needs: []event.Need{b}},
		{Key: "next", Needs: []event.Need{b}}, {Key: "late", Needs: []event.Need{a}},
	} {
		r.Order = int64(i)
		verdicts += string(apply(t, s, Operation{Ask: &r}).Verdict) + " "
	}
	if want := "granted queued granted queued queued "; verdicts != want {
		t.Errorf("the verdicts are %s, want %s", verdicts, want)
	}
	// With a free, both stands in the line of b, before the next, and still before late.
	if got := fmt.Sprint(keys(apply(t, s, Operation{Remove: []string{"group"}}).Granted)); got != "[]" {
		t.Errorf("granted is %s", got)
	}
	if got := fmt.Sprint(keys(apply(t, s, Operation{Remove: []string{"inside"}}).Granted)); got != "[both]" {
		t.Errorf("granted is %s", got)
	}
	if got := fmt.Sprint(keys(apply(t, s, Operation{Remove: []string{"both"}}).Granted)); got != "[next late]" {
		t.Errorf("granted is %s", got)
	}
}

func turn(run string, order int64) *Request {
	return &Request{Key: run, Run: run, Order: order, Needs: []event.Need{{Kind: event.NeedTurn, Name: "deploys", Units: 1, Capacity: 1}}}
}

// Runs of a group take turns. A run whose driver is gone keeps its place, but waits for the run that has the turn now.
func TestTurnsLapseWithTheirDriver(t *testing.T) {
	s := Load(nil, nil)
	ahead := func(run string) string {
		if r := s.FindAhead(run); r != nil {
			return r.Key
		}
		return ""
	}
	for i, run := range []string{"a", "b", "c", "d"} {
		apply(t, s, Operation{Ask: turn(run, int64(i))})
	}
	if got := ahead("a") + ahead("b") + ahead("c") + ahead("d"); got != "abc" {
		t.Errorf("the runs wait for %q", got)
	}
	for _, step := range []struct {
		op            Operation
		granted       string
		verdict       Verdict
		run, waitsFor string
	}{
		{Operation{Lapse: []string{"b"}}, "[]", Lapsed, "c", "a"},
		{Operation{Lapse: []string{"a"}}, "[c]", Lapsed, "d", "c"},
		{Operation{Ask: turn("a", 0)}, "[]", Queued, "a", "c"},
		{Operation{Ask: turn("b", 1)}, "[]", Queued, "b", "a"},
		{Operation{Remove: []string{"c"}}, "[a]", Removed, "d", "b"},
		{Operation{Lapse: []string{"b", "d"}}, "[]", Lapsed, "a", ""},
		{Operation{Remove: []string{"a"}}, "[]", Removed, "b", ""},
		{Operation{Ask: turn("d", 3)}, "[d]", Granted, "d", ""},
	} {
		a := apply(t, s, step.op)
		if got := fmt.Sprint(keys(a.Granted)); a.Verdict != step.verdict || got != step.granted || ahead(step.run) != step.waitsFor {
			t.Errorf("%+v: %s, granted %s, and %s waits for %q; want %s, %s and %q", step.op, a.Verdict, got, step.run, ahead(step.run),
				step.verdict, step.granted, step.waitsFor)
		}
	}
}

// An operation on a copy leaves the state as it was.
func TestCloneIsACopy(t *testing.T) {
	s := Load(nil, nil)
	apply(t, s, Operation{Ask: turn("a", 0)})
	apply(t, s, Operation{Ask: turn("b", 1)})
	c := s.Clone()
	apply(t, c, Operation{Lapse: []string{"a"}})
	if a, b := s.Find("a"), s.Find("b"); !a.Granted || a.Lapsed || b.Granted || !c.Find("b").Granted {
		t.Errorf("a is %+v, b is %+v, and in the copy %+v", a, b, c.Find("b"))
	}
}

func TestWrongOperations(t *testing.T) {
	for name, op := range map[string]Operation{
		"empty":          {},
		"no key":         {Ask: &Request{Needs: []event.Need{agent("a", 1, 1)}}},
		"no needs":       {Ask: &Request{Key: "k"}},
		"no units":       {Ask: &Request{Key: "k", Needs: []event.Need{agent("a", -1, 1)}}},
		"too many units": {Ask: &Request{Key: "k", Needs: []event.Need{agent("a", 2, 1)}}},
	} {
		s := Load(nil, nil)
		if a, err := s.Apply(op, 0); err == nil || len(s.Requests()) != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A request that is gone is not refused.
func TestRefusingNobody(t *testing.T) {
	if a, err := Load(nil, nil).Apply(Operation{Refuse: "nobody"}, 0); err != nil || a.Verdict != Removed {
		t.Errorf("the answer is %+v, %v", a, err)
	}
}

// TestRules throws random operations at a state, and checks capacity, order and that no room is left to whoever is first.
func TestRules(t *testing.T) {
	grants, waits := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		capacity := map[string]int{"a": rapid.IntRange(1, 3).Draw(t, "a"), "b": rapid.IntRange(1, 3).Draw(t, "b")}
		s, order := Load(nil, nil), int64(0)
		step := func(op Operation) Answer {
			s = Load(s.Requests(), nil) // a host stores the state between operations
			return apply(t, s, op)
		}
		some := func(t *rapid.T) *Request {
			if len(s.Requests()) == 0 {
				t.Skip()
			}
			return s.Requests()[rapid.IntRange(0, len(s.Requests())-1).Draw(t, "which")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				order++
				r := &Request{Key: fmt.Sprint(order), Order: order, Priority: rapid.IntRange(0, 1).Draw(t, "priority")}
				for _, name := range []string{"a", "b"} {
					if n := rapid.IntRange(0, capacity[name]).Draw(t, name); n > 0 {
						r.Needs = append(r.Needs, agent(name, n, capacity[name]))
					}
				}
				if r.Needs == nil {
					t.Skip()
				}
				step(Operation{Ask: r})
			},
			"ask again": func(t *rapid.T) {
				r := *some(t)
				a := step(Operation{Ask: &r})
				// A lapsed one that stands in the line again can let others through: a request behind it that lacks its first need now does
				// not stand in the line of its second one.
				if at := s.Find(r.Key); at.Lapsed || at.Order != r.Order || !r.Lapsed && ((a.Verdict == Granted) != r.Granted || len(a.Granted) > 0) {
					t.Fatalf("%s asks again: %+v", r.Key, a)
				}
			},
			"refuse": func(t *rapid.T) { step(Operation{Refuse: some(t).Key}) },
			"remove": func(t *rapid.T) {
				grants += len(step(Operation{Remove: []string{some(t).Key}}).Granted)
			},
			"lapse": func(t *rapid.T) {
				r := some(t)
				a := step(Operation{Lapse: []string{r.Key}})
				if at := s.Find(r.Key); at == nil || at.Granted || !at.Lapsed || slices.Contains(keys(a.Granted), r.Key) {
					t.Fatalf("%s lapses, and is %+v", r.Key, at)
				}
				grants += len(a.Granted)
			},
			"": func(t *rapid.T) {
				for _, r := range s.Requests() {
					ahead := s.FindAhead(r.Key)
					if ahead == nil && !r.Granted && !r.Lapsed || ahead != nil && (r.Granted || ahead.Lapsed || ahead == r) {
						t.Fatalf("%+v waits for %+v", r, ahead)
					}
				}
				used, ahead := map[string]int{}, map[string]bool{}
				list := slices.SortedFunc(slices.Values(s.Requests()), func(a, b *Request) int {
					return cmp.Or(b.Priority-a.Priority, int(a.Order-b.Order))
				})
				for _, r := range list {
					for _, n := range r.Needs {
						if r.Granted {
							used[n.Name] += n.Units
						}
					}
				}
				for name, n := range used {
					if n > capacity[name] {
						t.Fatalf("%d of %d units of %s are given away", n, capacity[name], name)
					}
				}
				for _, r := range list {
					if r.Granted || r.Lapsed {
						continue
					}
					waits++
					room := true
					for _, n := range r.Needs {
						room = room && !ahead[n.Name] && used[n.Name]+n.Units <= n.Capacity
					}
					if room {
						t.Fatalf("%s waits, though it is the first and there is room", r.Key)
					}
					for _, n := range r.Needs { // in the lines behind the first that it waits for it does not stand
						waits := ahead[n.Name] || used[n.Name]+n.Units > n.Capacity
						if ahead[n.Name] = true; waits {
							break
						}
					}
				}
			},
		})
	})
	t.Logf("%d grants after a wait, %d requests seen waiting", grants, waits)
	if (grants == 0 || waits == 0) && !testing.Short() { // a short run has few operations
		t.Error("too little happened")
	}
}
