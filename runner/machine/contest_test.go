package machine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive is a contest as one would explain it: of all that wait, the first that has room everywhere starts.
type naive struct {
	waiting []rival
}

type rival struct {
	want
	call   bool
	limits []*limiter // the model's
}

func (n *naive) pick(run *limiter) (want, bool) {
	slices.SortFunc(n.waiting, func(a, b rival) int {
		if a.Before(b.want) {
			return -1
		}
		return 1
	})
	for i, r := range n.waiting {
		if !r.call && run.used >= run.cap || slices.ContainsFunc(r.limits, func(l *limiter) bool { return l.used >= l.cap }) {
			continue
		}
		n.waiting = slices.Delete(n.waiting, i, i+1)
		return r.want, true
	}
	return want{}, false
}

// TestContestIsFair compares the contest with the naive one: groups within groups, agents across them, priorities, ways,
// calls, what is cancelled while it waits, and slots that come back in any order.
func TestContestIsFair(t *testing.T) {
	starts, passed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		type pair struct{ real, model *limiter }
		limit := func(name string) pair {
			n := rapid.IntRange(1, 4).Draw(t, name)
			return pair{&limiter{cap: n}, &limiter{cap: n}}
		}
		run, agents := limit("run"), []pair{{}, limit("agent"), limit("agent")}
		groups, up := []pair{{}}, []int{0}
		for range rapid.IntRange(0, 5).Draw(t, "groups") {
			up = append(up, rapid.IntRange(0, len(groups)-1).Draw(t, "up"))
			groups = append(groups, limit("group"))
		}
		type slots struct {
			call        bool
			real, model []*limiter
		}
		c, n := contest{on: true}, naive{}
		live, holds, dead := []uint64{}, map[uint64]slots{}, map[uint64]bool{}
		seq := uint64(0)
		enter := func(t *rapid.T) {
			seq++
			w := want{seq: seq, rank: int16(rapid.IntRange(0, 1).Draw(t, "rank")), left: rapid.Int64Range(0, 3).Draw(t, "left")}
			s, key := slots{call: rapid.IntRange(0, 9).Draw(t, "call") == 0}, classKey{}
			key.call = s.call
			for g := rapid.IntRange(0, len(groups)-1).Draw(t, "group"); g != 0; g = up[g] {
				s.real, s.model = append(s.real, groups[g].real), append(s.model, groups[g].model)
			}
			if len(s.real) > 0 {
				key.around = s.real[0]
			}
			if a := agents[rapid.IntRange(0, 2).Draw(t, "agent")]; a.real != nil && !s.call {
				key.agent = a.real
				s.real, s.model = append(s.real, a.real), append(s.model, a.model)
			}
			holds[seq] = s
			c.enter(w, key, s.real)
			n.waiting = append(n.waiting, rival{w, s.call, s.model})
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
				dead[n.waiting[i].seq] = true
				n.waiting = slices.Delete(n.waiting, i, i+1)
			},
			"end": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				s := holds[live[i]]
				live = slices.Delete(live, i, i+1)
				if !s.call {
					run.real.used--
					run.model.used--
				}
				for j, l := range s.real {
					l.used--
					s.model[j].used--
					c.surface(l)
				}
			},
			"": func(t *rapid.T) {
				for {
					w, picked, more := c.pick(run.real, func(w *want) bool { return !dead[w.seq] })
					if more && !picked {
						continue
					}
					want, some := n.pick(run.model)
					if picked != some || w.seq != want.seq {
						t.Fatalf("picked %d (%t), the first that has room is %d (%t)", w.seq, picked, want.seq, some)
					}
					if !picked {
						passed += len(n.waiting)
						return
					}
					s := holds[w.seq]
					if !s.call {
						run.model.used++
					}
					for _, l := range s.model {
						l.used++
					}
					live = append(live, w.seq)
					starts++
				}
			},
		})
	})
	t.Logf("%d starts, in the order of the naive contest; %d times one had to wait", starts, passed)
	if starts < 100 || passed < 100 {
		t.Errorf("too little happened")
	}
}

// looks is how many classes are looked at for each start of n attempts, below a hundred groups or in one, with an agent that
// is scarcer than the run and work beside it that wants the run's slots.
func looks(n, groups int) float64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	run, agent := &limiter{cap: 8}, &limiter{cap: 2}
	around := make([]*limiter, groups)
	for i := range around {
		around[i] = &limiter{cap: 1}
	}
	c, live, holds, looked := contest{on: true}, []uint64{}, map[uint64][]*limiter{}, 0
	for seq := uint64(1); seq <= uint64(n); seq++ {
		w, g := want{seq: seq}, around[int(seq)%groups]
		switch seq % 3 {
		case 0:
			holds[seq] = []*limiter{g, agent}
			c.enter(w, classKey{around: g, agent: agent}, holds[seq])
		case 1:
			holds[seq] = []*limiter{agent}
			c.enter(w, classKey{agent: agent}, holds[seq])
		default:
			c.enter(w, classKey{}, nil)
		}
	}
	for {
		w, picked, more := c.pick(run, func(*want) bool { return true })
		looked++
		switch {
		case picked:
			live = append(live, w.seq)
		case more:
		case len(live) == 0:
			return float64(looked) / float64(n)
		default:
			i := r.IntN(len(live))
			run.used--
			for _, l := range holds[live[i]] {
				l.used--
				c.surface(l)
			}
			live = slices.Delete(live, i, i+1)
		}
	}
}

func TestContestLooksAtFew(t *testing.T) {
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
