package slots

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naive is a queue without heaps: of all requests that wait, the first with room in all of its limiters starts.
type naive struct {
	waiting []rival
}

type rival struct {
	request
	call   bool
	limits []*limiter // the model's
	choice []*limiter // one of these; empty: none
	person *limiter   // one more of them, for which no slot is needed; it is never full
}

type (
	request = Request[uint64] // of an attempt that is named by its Seq
	limiter = Limiter[uint64]
)

func (n *naive) pick(run *limiter) (request, bool) {
	slices.SortFunc(n.waiting, func(a, b rival) int {
		if a.Before(b.request) {
			return -1
		}
		return 1
	})
	for i, r := range n.waiting {
		if r.person != nil && least(r.choice, r.person) == r.person {
			n.waiting = slices.Delete(n.waiting, i, i+1)
			return r.request, true
		}
		if !r.call && run.isFull() || slices.ContainsFunc(r.limits, (*limiter).isFull) ||
			len(r.choice) > 0 && !slices.ContainsFunc(r.choice, (*limiter).HasRoom) {
			continue
		}
		n.waiting = slices.Delete(n.waiting, i, i+1)
		return r.request, true
	}
	return request{}, false
}

// least is the limiter with room that has the fewest slots taken, the first of equals; person comes behind of.
func least(of []*limiter, person *limiter) (l *limiter) {
	for _, o := range append(slices.Clone(of), person) {
		if o != nil && o.HasRoom() && (l == nil || o.used < l.used) {
			l = o
		}
	}
	return l
}

// TestQueueIsFair compares the queue with the naive one: groups within groups, agents across them, choices of agents and of a person, who needs no
// slot, priorities, ways, calls, requests that are cancelled while they wait, and slots that come back in any order.
func TestQueueIsFair(t *testing.T) {
	starts, passed, apart := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		type pair struct{ real, model *limiter }
		limit := func(name string) pair {
			n := rapid.IntRange(1, 4).Draw(t, name)
			return pair{NewLimiter[uint64](n), NewLimiter[uint64](n)}
		}
		run, agents := limit("run"), []pair{{}, limit("agent"), limit("agent")}
		person := pair{NewLimiter[uint64](math.MaxInt), NewLimiter[uint64](math.MaxInt)}
		groups, up := []pair{{}}, []int{0}
		for range rapid.IntRange(0, 5).Draw(t, "groups") {
			up = append(up, rapid.IntRange(0, len(groups)-1).Draw(t, "up"))
			groups = append(groups, limit("group"))
		}
		type slots struct {
			call        bool
			real, model []*limiter
			choice      *Choice[uint64]
			of          []*limiter // the model's of the choice
			person      *limiter   // the model's
			free        bool       // the person was chosen
		}
		choices := map[string]*Choice[uint64]{}
		q, n := NewQueue[uint64](), naive{}
		q.SetRun(run.real)
		live, holds, dead := []uint64{}, map[uint64]slots{}, map[uint64]bool{}
		seq := uint64(0)
		enter := func(t *rapid.T) {
			seq++
			w := request{Of: seq, Seq: seq, Priority: int16(rapid.IntRange(0, 1).Draw(t, "priority")), Left: rapid.Int64Range(0, 3).Draw(t, "left")}
			s, key := slots{call: rapid.IntRange(0, 9).Draw(t, "call") == 0}, Key[uint64]{}
			key.Call = s.call
			for g := rapid.IntRange(0, len(groups)-1).Draw(t, "group"); g != 0; g = up[g] {
				s.real, s.model = append(s.real, groups[g].real), append(s.model, groups[g].model)
			}
			if len(s.real) > 0 {
				key.Around = s.real[0]
			}
			if ids := rapid.SampledFrom([]string{"", "2", "12", "12", "1p", "12p"}).Draw(t, "choice"); ids != "" && !s.call {
				if choices[ids] == nil {
					choices[ids] = &Choice[uint64]{}
					for _, id := range strings.TrimSuffix(ids, "p") {
						choices[ids].Of = append(choices[ids].Of, agents[id-'0'].real)
					}
					choices[ids].Slotless = strings.HasSuffix(ids, "p")
				}
				for _, id := range strings.TrimSuffix(ids, "p") {
					s.of = append(s.of, agents[id-'0'].model)
				}
				if choices[ids].Slotless {
					s.person = person.model
				}
				s.choice = choices[ids]
				key.Choice = s.choice
			} else if a := agents[rapid.IntRange(0, 2).Draw(t, "agent")]; a.real != nil && !s.call {
				key.Agent = a.real
				s.real, s.model = append(s.real, a.real), append(s.model, a.model)
			}
			holds[seq] = s
			q.Add(w, key, s.real)
			n.waiting = append(n.waiting, rival{w, s.call, s.model, s.of, s.person})
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": enter,
			"more": func(t *rapid.T) {
				for range 8 {
					enter(t)
				}
			},
			"cancel": func(t *rapid.T) {
				if len(n.waiting) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(n.waiting)-1).Draw(t, "which")
				dead[n.waiting[i].Seq] = true
				n.waiting = slices.Delete(n.waiting, i, i+1)
			},
			"end": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				s := holds[live[i]]
				live = slices.Delete(live, i, i+1)
				if s.free {
					q.Return(person.real)
					person.model.used--
					return
				}
				if !s.call {
					q.ReturnRun()
					run.model.used--
				}
				for j, l := range s.real {
					q.Return(l)
					s.model[j].used--
				}
			},
			"": func(t *rapid.T) {
				for {
					w, picked, more := q.Pick(func(seq uint64) bool { return !dead[seq] }, func(seq uint64) bool {
						return least(holds[seq].choice.Of, person.real) == person.real
					})
					if more && !picked {
						continue
					}
					want, some := n.pick(run.model)
					if picked != some || w.Seq != want.Seq {
						t.Fatalf("picked %d (%t), the first that has room is %d (%t)", w.Seq, picked, want.Seq, some)
					}
					if !picked {
						passed += len(n.waiting)
						return
					}
					s := holds[w.Seq]
					if s.free = s.person != nil && least(s.of, s.person) == s.person; s.free {
						q.Take(person.real)
						person.model.used++
						apart++
					} else if s.choice != nil { // from now on the request holds what was chosen
						i := slices.Index(s.of, least(s.of, nil))
						q.Take(s.choice.Of[i])
						s.real, s.model = append(s.real, s.choice.Of[i]), append(s.model, s.of[i])
					}
					if holds[w.Seq] = s; !s.free {
						if !s.call {
							run.model.used++
						}
						for _, l := range s.model {
							l.used++
						}
					}
					live = append(live, w.Seq)
					starts++
				}
			},
		})
	})
	t.Logf("%d starts, in the order of the naive queue, %d of them without a slot; %d times one had to wait", starts, apart, passed)
	if (starts == 0 || passed == 0 || apart == 0) && !testing.Short() { // a short run has few operations
		t.Errorf("too little happened")
	}
}

// looks is how many classes are looked at for each start of n attempts, below a hundred groups or in one, with an agent that
// is scarcer than the run and work beside it that wants the run's slots.
func looks(n, groups int) float64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	agent := NewLimiter[uint64](2)
	around := make([]*limiter, groups)
	for i := range around {
		around[i] = NewLimiter[uint64](1)
	}
	q, live, holds, looked := NewQueue[uint64](), []uint64{}, map[uint64][]*limiter{}, 0
	q.SetRun(NewLimiter[uint64](8))
	for seq := uint64(1); seq <= uint64(n); seq++ {
		w, g := request{Of: seq, Seq: seq}, around[int(seq)%groups]
		switch seq % 3 {
		case 0:
			holds[seq] = []*limiter{g, agent}
			q.Add(w, Key[uint64]{Around: g, Agent: agent}, holds[seq])
		case 1:
			holds[seq] = []*limiter{agent}
			q.Add(w, Key[uint64]{Agent: agent}, holds[seq])
		default:
			q.Add(w, Key[uint64]{}, nil)
		}
	}
	for {
		w, picked, more := q.Pick(func(uint64) bool { return true }, nil)
		looked++
		switch {
		case picked:
			live = append(live, w.Seq)
		case more:
		case len(live) == 0:
			return float64(looked) / float64(n)
		default:
			i := r.IntN(len(live))
			q.ReturnRun()
			for _, l := range holds[live[i]] {
				q.Return(l)
			}
			live = slices.Delete(live, i, i+1)
		}
	}
}

func TestQueueLooksAtFewClasses(t *testing.T) {
	for _, groups := range []int{1, 100, 1000} {
		for _, n := range []int{1000, 10_000, 100_000} {
			per := looks(n, groups)
			t.Logf("%d groups, %d attempts: %.2f looks a start", groups, n, per)
			if per > 5 {
				t.Errorf("%d attempts in %d groups take %.1f looks a start", n, groups, per)
			}
		}
	}
}

// A queue whose only limiter is the run's gives the parked requests their slots in order.
func TestParkedRequestsStartInOrder(t *testing.T) {
	q := NewQueue[uint64]()
	q.SetRun(NewLimiter[uint64](1))
	if !q.TakeRun() || q.TakeRun() {
		t.Fatal("a run with one slot gives away one slot")
	}
	for _, seq := range []uint64{3, 1, 2} {
		q.Wait(request{Of: seq, Seq: seq})
	}
	if _, ok := q.NextParked(); ok {
		t.Error("a request starts though the run has no free slot")
	}
	for want := uint64(1); want <= 3; want++ {
		if parked := q.ReturnRun(); !parked {
			t.Errorf("before request %d nothing is parked", want)
		}
		if r, ok := q.NextParked(); !ok || r.Of != want || !q.TakeRun() {
			t.Errorf("request %d (%t) starts, want %d", r.Of, ok, want)
		}
	}
	if q.ReturnRun() {
		t.Error("a request is parked after the last one started")
	}
}
