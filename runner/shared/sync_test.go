package shared

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// syncModel is a sync point as the documentation says it.
type syncModel struct {
	needs    []string
	ready    map[string]bool // by party
	waits    []string        // keys, in the order of coming
	released map[string]value.Value
	order    []string // keys of released, in the order of coming
	given    bool
}

// leave hands on what must happen once.
func (m *syncModel) leave(key string) {
	m.waits = slices.DeleteFunc(m.waits, func(k string) bool { return k == key })
	v := m.released[key]
	m.forget(key)
	if v == nil || v.(map[string]any)["last"] != true {
		return
	}
	if len(m.order) == 0 {
		m.given = false
		return
	}
	m.released[m.order[0]].(map[string]any)["last"] = true
}

func (m *syncModel) forget(key string) {
	delete(m.released, key)
	m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
}

func (m *syncModel) met() bool {
	return len(m.needs) > 0 && !slices.ContainsFunc(m.needs, func(n string) bool { return !m.ready[n] })
}

func (m *syncModel) output() value.Value {
	var names []value.Value
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range m.ready { // any order: sorted
			if !yield(n) {
				return
			}
		}
	}) {
		names = append(names, name)
	}
	last := !m.given
	m.given = true
	return map[string]value.Value{"checked_in": names, "last": last}
}

// checkIn returns the output of the attempt, and the keys that it releases.
func (m *syncModel) checkIn(c *CheckIn) (output value.Value, wake []string) {
	if v := m.released[c.Key]; v != nil {
		m.forget(c.Key)
		return v, nil
	}
	if len(m.needs) == 0 {
		m.needs = c.Needs
	}
	was := m.met()
	if c.Key == "" || !slices.Contains(m.waits, c.Key) { // an attempt that waits only asks again
		m.ready[c.As] = !c.Blocked
	}
	if was && !m.met() {
		m.given = false
	}
	if !m.met() {
		if c.Key != "" && !slices.Contains(m.waits, c.Key) {
			m.waits = append(m.waits, c.Key)
		}
		return nil, nil
	}
	if c.Key != "" {
		output = m.output()
	}
	for _, key := range m.waits {
		if key != c.Key {
			m.released[key] = m.output()
			m.order = append(m.order, key)
			wake = append(wake, key)
		}
	}
	m.waits = nil
	return output, wake
}

// TestSyncAgainstModel has parties come, come again, be blocked and leave, in any order. Of those that are released together, one is
// the last.
func TestSyncAgainstModel(t *testing.T) {
	asked := 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 5))
		rows, m := &Map{}, &syncModel{ready: map[string]bool{}, released: map[string]value.Value{}}
		needs := []string{"a", "b", "c"}[:1+rng.IntN(3)]
		meetings := 0
		for i := range 200 {
			c := &CheckIn{Point: "p", As: []string{"a", "b", "c", "d"}[rng.IntN(4)], Blocked: rng.IntN(3) == 0, Reason: []string{"", "red"}[i%2]}
			if rng.IntN(4) > 0 {
				c.Needs = needs
				c.Waiter = Waiter{Key: fmt.Sprint("k", rng.IntN(6)), Run: "r", Node: c.As, Ticket: uint64(i)}
			}
			where := fmt.Sprintf("seed %d, %d: %+v", seed, i, *c)
			if rng.IntN(8) == 0 && c.Key != "" {
				if err := Leave(rows, "p", c.Waiter); err != nil {
					t.Fatal(err)
				}
				m.leave(c.Key)
				continue
			}
			got, err := Sync(rows, c)
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			output, wake := m.checkIn(c)
			var woken []string
			for _, w := range got.Wake {
				woken = append(woken, w.Key)
			}
			if !value.Equal(got.Output, output) || !slices.Equal(woken, wake) {
				t.Fatalf("%s:\ngives %v and wakes %v\nwant  %v and %v", where, got.Output, woken, output, wake)
			}
			if len(wake) > 0 {
				meetings++
			}
			for _, w := range got.Tell {
				before := rowsOf(rows)
				again := &CheckIn{Point: "p", As: []string{"a", "b", "c"}[rng.IntN(3)], Needs: needs, Blocked: rng.IntN(2) == 0, Waiter: w}
				got, err := Sync(rows, again)
				if err != nil || got.Met || len(got.Wake)+len(got.Tell) > 0 || !slices.Equal(rowsOf(rows), before) {
					t.Fatalf("%s: %+v asks again and gets %+v (%v), want no change", where, *again, got, err)
				}
				asked++
			}
		}
		if meetings == 0 {
			t.Errorf("seed %d: nobody ever met", seed)
		}
	}
	if asked == 0 {
		t.Error("nobody asked again")
	}
}

// A person overrides a party that is blocked, while another one is missing. The attempt of the party is told, asks again, and the word
// of the person stays.
func TestAskingAgainIsNoCheckIn(t *testing.T) {
	rows, needs := &Map{}, []string{"a", "b"}
	checkIn := func(as string, blocked bool, reason, key string) Meeting {
		t.Helper()
		c := &CheckIn{Point: "p", As: as, Blocked: blocked, Reason: reason, Waiter: Waiter{Key: key, Run: "r" + key}}
		if key != "" {
			c.Needs = needs
		}
		m, err := Sync(rows, c)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	checkIn("a", true, "tests fail", "x")
	told := checkIn("a", false, "", "").Tell
	if len(told) != 1 || told[0].Key != "x" {
		t.Fatalf("the person told %v, want x", told)
	}
	if m := checkIn("a", true, "tests fail", "x"); m.Met || len(m.Tell) > 0 || !slices.Equal(m.Missing, []string{"b"}) {
		t.Errorf("x asks again: %+v, want that b is missing, and nobody told", m)
	}
	if m := checkIn("b", false, "", "y"); !m.Met {
		t.Errorf("both parties are ready, and %v is missing", m.Missing)
	}
}

// TestOneIsTheLast has three parties meet, in each order, one of them by a person.
func TestOneIsTheLast(t *testing.T) {
	for _, person := range []string{"", "a", "b", "c"} {
		for _, order := range []string{"abc", "acb", "bac", "bca", "cab", "cba"} {
			rows, last, met := &Map{}, 0, 0
			take := func(m Meeting) {
				if m.Output != nil {
					met++
					if m.Output.(map[string]any)["last"] == true {
						last++
					}
				}
			}
			var wake []Waiter
			for _, as := range strings.Split(order, "") {
				c := &CheckIn{Point: "p", As: as}
				if as != person {
					c.Needs, c.Waiter = []string{"a", "b", "c"}, Waiter{Key: as}
				}
				m, err := Sync(rows, c)
				if err != nil {
					t.Fatal(err)
				}
				take(m)
				wake = append(wake, m.Wake...)
			}
			for _, w := range wake { // they ask again
				m, err := Sync(rows, &CheckIn{Point: "p", As: w.Key, Needs: []string{"a", "b", "c"}, Waiter: w})
				if err != nil {
					t.Fatal(err)
				}
				take(m)
			}
			want := 3
			if person != "" {
				want = 2
			}
			if met != want || last != 1 {
				t.Errorf("%s, %q a person: %d were released, want %d; %d of them are the last", order, person, met, want, last)
			}
		}
	}
}

// TestSyncTellsWhoIsMissing has a party that is blocked.
func TestSyncTellsWhoIsMissing(t *testing.T) {
	rows := &Map{}
	if _, err := Sync(rows, &CheckIn{Point: "p", As: "b", Blocked: true, Reason: "no licence"}); err != nil {
		t.Fatal(err)
	}
	m, err := Sync(rows, &CheckIn{Point: "p", As: "a", Needs: []string{"c", "b", "a", "a"}, Waiter: Waiter{Key: "k"}})
	if err != nil || !slices.Equal(m.Missing, []string{"b: no licence", "c"}) {
		t.Errorf("%q (%v)", m.Missing, err)
	}
	for want, c := range map[string]*CheckIn{
		"this check-in says a, b":     {Point: "p", As: "b", Needs: []string{"a", "b"}, Waiter: Waiter{Key: "l"}},
		"does not know yet":           {Point: "other", As: "b", Waiter: Waiter{Key: "l"}},
		"cannot be the name of a par": {Point: "p", As: ""},
		"cannot be the name of a poi": {Point: strings.Repeat("x", limits.MaxSyncName+1), As: "a"},
		"the limit is 256":            {Point: "p", As: "a", Needs: make256()},
	} {
		before := rowsOf(rows)
		if _, err := Sync(rows, c); err == nil || !strings.Contains(err.Error(), want) || !slices.Equal(rowsOf(rows), before) {
			t.Errorf("%v, want %q and no change", err, want)
		}
	}
}

func make256() (names []string) {
	for i := range limits.MaxParties + 1 {
		names = append(names, fmt.Sprint("n", i))
	}
	return names
}

// An attempt that was answered as the one that does what must happen once has no node any more. Another attempt does it. The end of a
// run that did it hands nothing on.
func TestAnsweredAttemptHandsOn(t *testing.T) {
	for _, how := range []string{"completes the point", "was released", "ends well"} {
		rows, needs := &Map{}, []string{"a", "b"}
		checkIn := func(as, key string) Meeting {
			t.Helper()
			m, err := Sync(rows, &CheckIn{Point: "p", As: as, Needs: needs, Waiter: Waiter{Key: key, Run: "run-" + key}})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		checkIn("a", "x")
		checkIn("a", "y")
		heir, m := "x", checkIn("b", "z")
		gone := "z"
		if how == "was released" { // z leaves it to x, and x has its answer
			if err := Withdraw(rows, "run-z", "z"); err != nil {
				t.Fatal(err)
			}
			gone, heir, m = "x", "y", checkIn("a", "x")
		}
		if !isLast(m.Output) {
			t.Fatalf("%s: %s is not the last: %v", how, gone, m.Output)
		}
		leave := func() error { return Withdraw(rows, "run-"+gone, gone) }
		if how == "ends well" {
			leave = func() error { return Forget(rows, "run-"+gone, 1) }
		}
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if last := isLast(checkIn("a", heir).Output); last != (how != "ends well") {
			t.Errorf("%s: %s is the last: %v", how, heir, last)
		}
		for _, run := range []string{"run-x", "run-y", "run-z"} {
			if err := Forget(rows, run, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, row := range rowsOf(rows) {
			if strings.Contains(fmt.Sprint(row), "run-") {
				t.Errorf("%s: the row %v is left", how, row)
			}
		}
	}
}
