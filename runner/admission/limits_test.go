package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

func applyAt(t *testing.T, s *State, op Operation, now event.Time) Answer {
	t.Helper()
	a, err := s.Apply(op, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(key string, order int64, needs ...event.Need) Operation {
	return Operation{Ask: &Request{Key: key, Order: order, Needs: needs}}
}

const second = event.Time(time.Second)

func paced(name string, requests int, per time.Duration) event.Need {
	return event.Need{Kind: event.NeedAgent, Name: name, Pace: &event.Pace{Requests: requests, Per: per}}
}

func broken(name string, failures int, reset time.Duration) event.Need {
	return event.Need{Kind: event.NeedAgent, Name: name, Breaker: &event.Breaker{Failures: failures, Reset: reset}}
}

func ended(key string, how shared.Ending) Operation {
	return Operation{End: []End{{Key: key, Endings: []shared.Ending{how}}}}
}

// Each request of a line is told the first moment at which it can start, and starts then.
func TestMomentsAreExact(t *testing.T) {
	s, need := Load(nil, &shared.Map{}), paced("api", 2, 10*time.Second)
	var told []int64
	for i := range 7 {
		a := applyAt(t, s, ask(fmt.Sprint(i), int64(i), need), event.Time(i+1)*second)
		told = append(told, int64(a.Obstacle.Until/second))
		if want := a.Obstacle.Until != 0; want != (a.Verdict == Refused) || want != (a.Obstacle.Reason == event.ReasonRateLimit) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if got := fmt.Sprint(told); got != "[0 0 11 12 21 22 31]" {
		t.Errorf("the moments are %s", got)
	}
	began := map[string]int64{}
	for now := 8 * second; len(began) < 5 && now < 99*second; now++ {
		a := applyAt(t, s, Operation{Remove: []string{}}, now)
		for _, r := range a.Granted {
			applyAt(t, s, ask(r.Key, r.Order, need), now)
			began[r.Key] = int64(r.At / second)
		}
		if len(a.Waits) > 0 {
			now = a.Waits[0].At - 1
		}
	}
	if got := fmt.Sprint(began); got != "map[2:11 3:12 4:21 5:22 6:31]" {
		t.Errorf("they begin at %s", got)
	}
}

// A request whose moment comes while it waits for its first answer starts then, though nobody has looked at its line since.
func TestMomentBeforeTheRefusal(t *testing.T) {
	s, need := Load(nil, &shared.Map{}), paced("api", 1, time.Second)
	applyAt(t, s, ask("a", 1, need), second)
	if a := applyAt(t, s, ask("b", 2, need), second); a.Verdict != Queued {
		t.Fatalf("b is %+v", a)
	}
	if a := applyAt(t, s, Operation{Refuse: "b"}, 2*second); a.Verdict != Granted || a.At != 2*second || fmt.Sprint(keys(a.Granted)) != "[b]" {
		t.Errorf("b is %+v", a)
	}
}

// A request that a rate limit refuses uses nothing of its other needs, and nobody passes it.
func TestRefusedUsesNothing(t *testing.T) {
	rows := &shared.Map{}
	s := Load(nil, rows)
	gpu := event.Need{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: 1}
	both := []event.Need{gpu, {Kind: event.NeedQuota, Name: "wide", Pace: &event.Pace{Requests: 1, Per: time.Second}}, paced("api", 1, time.Hour)}
	applyAt(t, s, ask("a", 1, both...), second)
	applyAt(t, s, Operation{End: []End{{Key: "a"}}}, 2*second)
	a := applyAt(t, s, ask("b", 2, both...), 3*second)
	if a.Verdict != Refused || a.Obstacle.Need.Name != "api" || a.Obstacle.Until != second+event.Time(time.Hour) {
		t.Fatalf("b is %+v", a)
	}
	if next, err := (&shared.Window{Name: "quota wide", Requests: 1, Per: time.Second}).Next(rows, 3*second, 0); next != 0 || err != nil {
		t.Errorf("the other rate limit is used: %d, %v", next, err)
	}
	if a = applyAt(t, s, ask("c", 3, gpu), 3*second); a.Verdict != Queued || a.Obstacle.Reason != event.ReasonQuota {
		t.Errorf("c passes: %+v", a)
	}
	if a = applyAt(t, s, Operation{Remove: []string{"b"}}, 4*second); fmt.Sprint(keys(a.Granted)) != "[c]" {
		t.Errorf("granted is %v", keys(a.Granted))
	}
}

// The first obstacle in the order of admission is told: quotas, the agent's units, rate limits, breakers.
func TestOrderOfAdmission(t *testing.T) {
	needs := []event.Need{
		{Kind: event.NeedQuota, Name: "q", Units: 1, Capacity: 1, Pace: &event.Pace{Requests: 1, Per: time.Hour}, Breaker: &event.Breaker{Failures: 1, Reset: time.Minute}},
		{Kind: event.NeedAgent, Name: "a", Units: 1, Capacity: 1},
	}
	s := Load(nil, &shared.Map{})
	told := ""
	tell := func(key string, now event.Time, needs ...event.Need) {
		a := applyAt(t, s, ask(key, int64(now), needs...), now)
		told += fmt.Sprintf("%s:%s ", a.Obstacle.Reason, a.Obstacle.Need.Name)
		applyAt(t, s, Operation{Remove: []string{key}}, now)
	}
	applyAt(t, s, ask("holds", 1, needs...), second)
	tell("x", 2*second, needs...)
	tell("y", 2*second, needs[1])
	applyAt(t, s, Operation{End: []End{{Key: "holds", Endings: []shared.Ending{shared.Bad, shared.Bad}}}}, 3*second)
	tell("z", 4*second, needs...)
	needs[0].Pace = nil
	tell("v", 4*second, needs...)
	if want := "quota:q busy:a rate_limit:q breaker:q "; told != want {
		t.Errorf("the obstacles are %s, want %s", told, want)
	}
}

// After the reset one waiting attempt is the probe, and the others are granted in order when it has succeeded. A probe whose driver dies
// is lost; a reservation that lapses gives its place to the next.
func TestOneProbe(t *testing.T) {
	s, need := Load(nil, &shared.Map{}), broken("api", 2, 30*time.Second)
	for i, key := range []string{"a", "b"} {
		applyAt(t, s, ask(key, int64(i), need), second)
		if a := applyAt(t, s, ended(key, shared.Bad), 2*second); i == 1 && (len(a.Changes) != 1 || a.Changes[0].To != shared.Open) {
			t.Fatalf("the breaker changes %+v", a.Changes)
		}
	}
	for i, key := range []string{"c", "d", "e", "f"} {
		a := applyAt(t, s, ask(key, int64(10+i), need), 3*second)
		if a.Verdict != Refused || a.Obstacle.Reason != event.ReasonBreaker || a.Obstacle.Until != 32*second {
			t.Fatalf("%s is %+v", key, a)
		}
	}
	granted := func(a Answer) string { return fmt.Sprint(keys(a.Granted)) }
	look := Operation{Remove: []string{}}
	for _, step := range []struct {
		at   event.Time
		op   Operation
		want string
	}{
		{31 * second, look, "[]"},
		{32 * second, look, "[c]"},
		{33 * second, look, "[]"},
		{33 * second, Operation{End: []End{{Key: "c", Lost: true}}}, "[d]"}, // c has not started yet
		{34 * second, ask("d", 11, need), "[]"},
		{35 * second, Operation{End: []End{{Key: "d", Lost: true}}}, "[]"},
		{64 * second, look, "[]"},
		{65 * second, look, "[e]"},
		{66 * second, ask("e", 12, need), "[]"},
		{66 * second, ask("g", 20, need), "[]"},
		{67 * second, ended("e", shared.Good), "[f g]"},
	} {
		if got := granted(applyAt(t, s, step.op, step.at)); got != step.want {
			t.Errorf("at %d %+v grants %s, want %s", step.at/second, step.op, got, step.want)
		}
	}
}

// A moment that the other side names stops all that needs the same agent or quota, whether or not it has a limit. A stopped agent
// refuses everything.
func TestHeldAndStopped(t *testing.T) {
	rows := &shared.Map{}
	s := Load(nil, rows)
	agent := event.Need{Kind: event.NeedAgent, Name: "coder"}
	quota := event.Need{Kind: event.NeedQuota, Name: "api", Units: 1, Capacity: 9}
	applyAt(t, s, ask("a", 1, quota, agent), second)
	applyAt(t, s, Operation{End: []End{{Key: "a", Needs: []event.Need{quota, agent}, Until: 100 * second}}}, 2*second)
	for i, need := range []event.Need{quota, agent} {
		a := applyAt(t, s, ask(fmt.Sprint(i), int64(i+2), need), 3*second)
		if a.Verdict != Refused || a.Obstacle.Reason != event.ReasonRateLimit || a.Obstacle.Until != 100*second {
			t.Errorf("%s: %+v", need.Name, a)
		}
	}
	if got := keys(applyAt(t, s, Operation{Remove: []string{}}, 100*second).Granted); len(got) != 2 {
		t.Errorf("granted is %v", got)
	}
	change := func(c event.LimitChange) {
		if done, err := shared.ChangeLimit(rows, c, second); !done.Changed || err != nil {
			t.Fatalf("%+v changes nothing: %v", c, err)
		}
	}
	change(event.LimitChange{Stop: "coder"})
	a := applyAt(t, s, ask("b", 9, agent), 101*second)
	if a.Verdict != Queued || a.Obstacle.Reason != event.ReasonBusy || !a.Obstacle.Stopped {
		t.Errorf("b is %+v", a)
	}
	change(event.LimitChange{Start: "coder"})
	if got := fmt.Sprint(keys(applyAt(t, s, Operation{Remove: []string{}}, 102*second).Granted)); got != "[b]" {
		t.Errorf("granted is %v", got)
	}
}

// schedule is a random life of many requests for three resources, in virtual time.
type schedule struct {
	t       *testing.T
	where   string
	rng     *rand.Rand
	s       *State
	rows    *shared.Map
	now     event.Time
	waits   []Wait
	starts  map[string][]event.Time // by resource
	open    map[string]bool         // breakers, by name
	probe   map[string]string       // keys by name, while the breaker is open
	granted int
	probed  int
}

func (x *schedule) apply(op Operation) Answer {
	x.t.Helper()
	x.s = Load(x.s.Requests(), x.rows) // a host stores the state between operations
	reserved := op.Ask != nil && x.s.Find(op.Ask.Key) != nil && x.s.Find(op.Ask.Key).isReserved()
	a := applyAt(x.t, x.s, op, x.now)
	x.waits = a.Waits
	begins := a.Granted
	if reserved && a.Verdict == Granted {
		r := x.s.Find(op.Ask.Key)
		x.started(r)
		begins = append(begins, r)
	}
	for _, r := range a.Granted {
		x.granted++
		if !r.Refused {
			x.started(r)
		}
		for i := range r.Needs {
			n := &r.Needs[i]
			for _, o := range x.s.Requests() { // nobody overtakes
				if !o.Granted && o.standsBefore(r) && o.sharesNeed(&Request{Needs: []event.Need{*n}}) && !x.waitsBefore(o, n) {
					x.t.Fatalf("%s: %s overtakes %s at %s", x.where, r.Key, o.Key, n.Name)
				}
			}
		}
	}
	used := x.s.countUnits()
	for _, r := range x.s.Requests() {
		for _, n := range r.Needs {
			if used[resource{n.Kind, n.Name}] > n.Capacity && n.Units > 0 {
				x.t.Fatalf("%s: %s has %d units, and %d are used", x.where, n.Name, n.Capacity, used[resource{n.Kind, n.Name}])
			}
		}
	}
	x.judgeProbes(a, begins)
	return a
}

// waitsBefore reports whether a request waits for something that it needs before n, and so does not stand in the line of n.
func (x *schedule) waitsBefore(r *Request, n *event.Need) bool {
	used := x.s.countUnits()
	for i := range r.Needs {
		m := &r.Needs[i]
		if m.Kind == n.Kind && m.Name == n.Name {
			return false
		}
		if m.Units > 0 && used[resource{m.Kind, m.Name}]+m.Units > m.Capacity {
			return true
		}
		for _, o := range x.s.Requests() {
			if !o.Granted && !o.Lapsed && o.standsBefore(r) && o.needs(m) {
				return true
			}
		}
	}
	return false
}

// started checks the paces at the start of an attempt.
func (x *schedule) started(r *Request) {
	x.t.Helper()
	for i := range r.Needs {
		n := &r.Needs[i]
		if n.Pace == nil {
			continue
		}
		name := Resource(n)
		x.starts[name] = append(x.starts[name], x.now)
		if all := x.starts[name]; len(all) > n.Pace.Requests && x.now.Sub(all[len(all)-1-n.Pace.Requests]) < n.Pace.Per {
			x.t.Fatalf("%s: more than %d starts of %s in %s: %v", x.where, n.Pace.Requests, name, n.Pace.Per, all)
		}
		if r.At != x.now {
			x.t.Fatalf("%s: %s starts at %d, and not now", x.where, r.Key, r.At)
		}
	}
}

// judgeProbes checks that one attempt at once starts with an open breaker.
func (x *schedule) judgeProbes(a Answer, begins []*Request) {
	x.t.Helper()
	for _, c := range a.Changes { // they come before the grants of the operation
		x.open[c.Need.Name] = c.To != shared.Closed
		delete(x.probe, c.Need.Name)
	}
	for name, key := range x.probe { // any order: each is judged alone
		if r := x.s.Find(key); r == nil || !r.Granted {
			delete(x.probe, name)
		}
	}
	for _, r := range begins {
		for _, n := range r.Needs {
			if n.Breaker == nil || !x.open[n.Name] {
				continue
			}
			if other := x.probe[n.Name]; other != "" && other != r.Key {
				x.t.Fatalf("%s: %s and %s probe %s at once", x.where, other, r.Key, n.Name)
			}
			x.probe[n.Name] = r.Key
			x.probed++
		}
	}
}

// end ends one of the granted attempts: well, badly, cancelled, or with its driver.
func (x *schedule) end() {
	var live []*Request
	for _, r := range x.s.Requests() {
		if r.Granted {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return
	}
	r := live[x.rng.IntN(len(live))]
	if r.isReserved() && x.rng.IntN(4) > 0 { // it starts
		again := *r
		x.apply(Operation{Ask: &again})
		return
	}
	end := End{Key: r.Key, Needs: r.Needs}
	if end.Lost = x.rng.IntN(8) == 0; !end.Lost {
		how := []shared.Ending{shared.Good, shared.Good, shared.Bad, shared.Uncounted}[x.rng.IntN(4)]
		for range r.Needs {
			end.Endings = append(end.Endings, how)
		}
		if x.rng.IntN(15) == 0 {
			end.Until = x.now.Add(time.Duration(x.rng.IntN(5_000)) * time.Millisecond)
		}
	}
	x.apply(Operation{End: []End{end}})
}

// TestSchedules has up to 64 runs ask for units, paces and breakers in random orders. Capacity, pace, order and the one probe always
// hold, and in the end all have started.
func TestSchedules(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	probed := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 9))
		x := &schedule{t: t, rng: rng, rows: &shared.Map{}, now: second, starts: map[string][]event.Time{}, open: map[string]bool{}, probe: map[string]string{}}
		x.s = Load(nil, x.rows)
		var kinds []event.Need
		for i, name := range []string{"gpu", "api", "coder"} {
			n := event.Need{Kind: event.NeedQuota, Name: name, Capacity: 1 + rng.IntN(4)}
			if i == 2 {
				n.Kind = event.NeedAgent
			}
			if rng.IntN(2) == 0 {
				n.Pace = &event.Pace{Requests: 1 + rng.IntN(4), Per: time.Duration(1+rng.IntN(2000)) * time.Millisecond}
			}
			if rng.IntN(2) == 0 {
				n.Breaker = &event.Breaker{Failures: 1 + rng.IntN(3), Reset: time.Duration(1+rng.IntN(3000)) * time.Millisecond}
			}
			kinds = append(kinds, n)
		}
		asked := 0
		for step := 0; asked < 64 || len(x.s.Requests()) > 0; step++ {
			x.where = fmt.Sprintf("seed %d, step %d", seed, step)
			if step > 20_000 {
				t.Fatalf("%s: %d requests do not come to their ends: %+v", x.where, len(x.s.Requests()), x.s.Requests()[0])
			}
			switch what := rng.IntN(10); {
			case what < 4 && asked < 64:
				asked++
				r := &Request{Key: fmt.Sprint(asked), Order: int64(asked), Priority: rng.IntN(3)}
				for _, n := range kinds {
					if n.Units = rng.IntN(n.Capacity + 1); n.Units > 0 || rng.IntN(3) == 0 {
						r.Needs = append(r.Needs, n)
					}
				}
				if r.Needs == nil {
					r.Needs = kinds[:1]
				}
				if a := x.apply(Operation{Ask: r}); a.Verdict == Queued && rng.IntN(2) == 0 {
					x.apply(Operation{Refuse: r.Key})
				}
			case what < 7:
				x.end()
			case what < 8 && len(x.s.Requests()) > 0: // a wait is cancelled, or asks again
				r := *x.s.Requests()[rng.IntN(len(x.s.Requests()))]
				if rng.IntN(4) == 0 {
					x.apply(Operation{Remove: []string{r.Key}})
				} else {
					x.apply(Operation{Ask: &r})
				}
			case len(x.waits) > 0: // the host looks when the first request of a line can start, and not before
				x.now = max(x.now, x.waits[rng.IntN(len(x.waits))].At)
				x.apply(Operation{Remove: []string{}})
			default:
				x.now = x.now.Add(time.Duration(rng.IntN(300)) * time.Millisecond)
			}
		}
		if x.granted < 30 {
			t.Errorf("seed %d: only %d grants", seed, x.granted)
		}
		probed += x.probed
	}
	if probed < int(seeds) {
		t.Errorf("only %d probes", probed)
	}
}

// A reservation asks again after something has come between its grant and its start: it goes back to its place, and another attempt can
// have its units and be the probe.
func TestReservationMeetsAnObstacle(t *testing.T) {
	n := broken("svc", 1, time.Minute)
	n.Units, n.Capacity, n.Pace = 1, 2, &event.Pace{Requests: 9, Per: time.Minute}
	hour := second + event.Time(time.Hour)
	for what, between := range map[string]func(*State, shared.Rows){
		"rate_limit": func(s *State, _ shared.Rows) {
			applyAt(t, s, Operation{End: []End{{Key: "b", Needs: []event.Need{n}, Endings: []shared.Ending{shared.Uncounted}, Until: hour}}}, 3*second)
		},
		"breaker": func(s *State, _ shared.Rows) { applyAt(t, s, ended("b", shared.Bad), 3*second) },
		"busy": func(_ *State, rows shared.Rows) {
			if _, err := shared.ChangeLimit(rows, event.LimitChange{Stop: "svc"}, second); err != nil {
				t.Fatal(err)
			}
		},
	} {
		rows := &shared.Map{}
		s := Load(nil, rows)
		for i, key := range []string{"a", "b", "c"} {
			applyAt(t, s, ask(key, int64(i+1), n), second)
		}
		applyAt(t, s, Operation{Refuse: "c"}, 2*second)
		applyAt(t, s, ended("a", shared.Uncounted), 2*second)
		if c := s.Find("c"); !c.isReserved() {
			t.Fatalf("%s: c has no reservation: %+v", what, c)
		}
		between(s, rows)
		v := applyAt(t, s, ask("c", 3, n), 3*second)
		if c := s.Find("c"); v.Verdict != Refused || string(v.Obstacle.Reason) != what || c.Granted || !c.Refused {
			t.Errorf("%s: c is %+v; the answer is %s for %s", what, c, v.Verdict, v.Obstacle.Reason)
		}
		if started, _, err := window(&n).State(rows, 3*second); started != 2 || err != nil {
			t.Errorf("%s: %d starts count, %v; want 2", what, started, err)
		}
	}
}

// The clock was a day ahead for a while: its starts count as of now, and the rate limit does not block for a day.
func TestClockWasAhead(t *testing.T) {
	s := Load(nil, &shared.Map{})
	n := paced("svc", 1, time.Minute)
	applyAt(t, s, ask("a", 1, n), second.Add(24*time.Hour))
	if v := applyAt(t, s, ask("b", 2, n), second); v.Verdict != Refused || v.Obstacle.Until != second.Add(time.Minute) {
		t.Errorf("b is %s until %d", v.Verdict, v.Obstacle.Until)
	}
}

// The other side names a moment in a hundred years: it is asked again after an hour, and a person can do so at once.
func TestWrongMoment(t *testing.T) {
	rows := &shared.Map{}
	s := Load(nil, rows)
	n := paced("svc", 9, time.Minute)
	applyAt(t, s, ask("a", 1, n), second)
	applyAt(t, s, Operation{End: []End{{Key: "a", Needs: []event.Need{n}, Until: second.Add(876_000 * time.Hour)}}}, second)
	if v := applyAt(t, s, ask("b", 2, n), second); v.Verdict != Refused || v.Obstacle.Until != second.Add(MaxHold) {
		t.Errorf("b is %s until %d", v.Verdict, v.Obstacle.Until)
	}
	done, err := shared.ChangeLimit(rows, event.LimitChange{Reset: "svc"}, second)
	if err != nil || !done.Changed || len(done.Resources) != 1 {
		t.Errorf("reset: %+v, %v", done, err)
	}
	if v := applyAt(t, s, ask("c", 3, n), second); v.Verdict == Refused {
		t.Errorf("c is %s", v.Verdict)

	}
}

// Two nodes of a run have one slot, and a rate limit allows one start. The one that asks while the other has the reservation is not refused at
// once: the run gives the reservation back, because it has no slot for it. A node of another run is refused.
func TestRunGivesItsReservationBack(t *testing.T) {
	s := Load(nil, &shared.Map{})
	n := paced("svc", 1, time.Minute)
	applyAt(t, s, ask("a", 1, n), second)
	if a := applyAt(t, s, ask("b", 2, n), 2*second); a.Verdict != Refused {
		t.Fatalf("b is %s", a.Verdict)
	}
	minute := second.Add(time.Minute)
	applyAt(t, s, ended("a", shared.Uncounted), minute)
	if b := s.Find("b"); !b.isReserved() {
		t.Fatalf("b has no reservation: %+v", b)
	}
	other := ask("d", 4, n)
	other.Ask.Run = "another"
	if a := applyAt(t, s, other, minute); a.Verdict != Refused {
		t.Errorf("d, of another run, is %s", a.Verdict)
	}
	if a := applyAt(t, s, ask("c", 3, n), minute); a.Verdict != Queued {
		t.Errorf("c is %s", a.Verdict)
	}
	a := applyAt(t, s, Operation{Remove: []string{"b"}}, minute)
	if c := s.Find("c"); len(a.Granted) != 1 || a.Granted[0] != c || c.isReserved() {
		t.Errorf("granted: %+v; c is %+v", a.Granted, c)
	}
}
