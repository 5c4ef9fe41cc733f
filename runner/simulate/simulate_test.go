package simulate

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/flowtest"
)

var workflows = flag.Int("simulate.workflows", 2, "how many random workflows TestMarksHold simulates")

func load(t *testing.T, src string) *ir.Program {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"x.flow.hcl": {Data: []byte(src)}}, "x.flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list, src)
	}
	return p.IR
}

// took are attempts of a node that succeeded after so many seconds; a negative number failed after as many.
func (s *Samples) took(node string, seconds ...float64) {
	s.Runs = 1
	for _, n := range seconds {
		code := 0
		f := event.AttemptFinished{Outcome: event.OK, ExitCode: &code}
		if n < 0 {
			code = 1
			f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, ExitCode: 1, Message: "exit code 1"}
		}
		f.Usage = &event.Usage{CostUSD: math.Abs(n)}
		k := place{"w", node, "", false}
		s.of[k] = append(s.of[k], sample{f, time.Duration(math.Abs(n) * float64(time.Second))})
	}
}

func simulated(t *testing.T, p *ir.Program, s *Samples, parallel, runs int, seed uint64) *Result {
	t.Helper()
	r, err := Of(context.Background(), p, event.RunStarted{Workflow: "w", Dir: "/", Inputs: map[string]value.Value{}, Vars: map[string]value.Value{}, Parallel: parallel, FirstMembers: true}, nil, s, runs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExact compares marks with the distribution that two throws of a die with four sides have.
func TestExact(t *testing.T) {
	die := []float64{1, 2, 3, 4}
	chain := load(t, `workflow "w" {
  step "a" { run = ["a"] }
  step "b" {
    run        = ["b"]
    depends_on = [step.a]
  }
}`)
	both := load(t, `workflow "w" {
  step "a" { run = ["a"] }
  step "b" { run = ["b"] }
}`)
	sum, most := func(a, b float64) float64 { return a + b }, func(a, b float64) float64 { return max(a, b) }
	for name, c := range map[string]struct {
		p     *ir.Program
		slots int
		of    func(a, b float64) float64
	}{"one after the other": {chain, 0, sum}, "at once": {both, 0, most}, "with one slot": {both, 1, sum}} {
		s := &Samples{of: map[place][]sample{}}
		s.took("a", die...)
		s.took("b", die...)
		r := simulated(t, c.p, s, c.slots, 4000, 1)
		for share, mark := range map[float64]float64{0.1: r.Seconds.P10, 0.5: r.Seconds.P50, 0.9: r.Seconds.P90, 0.99: r.Seconds.P99} {
			below, upTo := 0.0, 0.0
			for _, a := range die {
				for _, b := range die {
					if x := c.of(a, b); x < mark-1e-6 {
						below += 1.0 / 16
					} else if x <= mark+1e-6 {
						upTo += 1.0 / 16
					}
				}
			}
			if upTo += below; below > share+0.03 || upTo < share-0.03 || upTo == below {
				t.Errorf("%s: the mark of %v is %v s, which %v to %v of the runs reach", name, share, mark, below, upTo)
			}
		}
		if r.Success != 1 || r.CostUSD.P50 != 5 || len(r.Unknown) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestRetries compares the share of runs that succeed with what the attempts let expect: of three attempts one fails.
func TestRetries(t *testing.T) {
	for attempts, want := range map[int]float64{1: 2.0 / 3, 2: 8.0 / 9, 3: 26.0 / 27} {
		s := &Samples{of: map[place][]sample{}}
		s.took("a", 1, -1, 1)
		r := simulated(t, load(t, fmt.Sprintf(`workflow "w" {
  step "a" {
    run = ["a"]
    retry { max_attempts = %d }
  }
}`, attempts)), s, 0, 3000, 7)
		if math.Abs(r.Success-want) > 0.03 {
			t.Errorf("with %d attempts %v of the runs succeed, want %v", attempts, r.Success, want)
		}
	}
}

// TestUnknown takes what no run has tried to succeed, with outputs of the declared types, and says so.
func TestUnknown(t *testing.T) {
	s := &Samples{of: map[place][]sample{}}
	s.took("a", 2, 4, 6)
	s.all = []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second}
	p := load(t, `
agent "g" {
  type    = "exec"
  command = ["g"]
  output  = object({ n = number, words = list(string), kind = string })
}
workflow "w" {
  step "a" { run = ["a"] }
  step "typed" {
    run    = ["b"]
    parse  = "json"
    output = object({ ok = bool })
  }
  step "asked" {
    agent = agent.g
    task  = "x"
  }
  step "ask" {
    when = "step.asked.output.n > 0"
    approve { prompt = "Go?" }
  }
  output "all" { value = "${step.asked.output.n} ${step.typed.output.ok}" }
}`)
	r := simulated(t, p, s, 0, 50, 1)
	if !slices.Equal(r.Unknown, []string{"asked", "typed"}) || r.Success != 1 || r.Seconds.P50 < 4 {
		t.Errorf("%+v", r)
	}
	p = load(t, `workflow "w" {
  step "ask" {
    approve { prompt = "Go?" }
  }
}`)
	if r := simulated(t, p, s, 0, 20, 1); r.Waiting != 1 || r.Success != 0 {
		t.Errorf("a run that waits for a person: %+v", r)
	}
}

// TestMarksHold simulates random workflows twice: as many of the second runs are within a mark as it says, to within three points. Two samples of
// 4,000 runs differ by 1.1 points of standard deviation, so what seems to be further apart is simulated again, with 16 times as many runs (0.3).
func TestMarksHold(t *testing.T) {
	again := 0
	for n := range *workflows {
		r := rand.New(rand.NewPCG(11, uint64(n)))
		s := &Samples{of: map[place][]sample{}}
		var b strings.Builder
		b.WriteString("workflow \"w\" {\n")
		for i := range 2 + r.IntN(8) {
			fmt.Fprintf(&b, "step \"s%d\" {\n run = [\"x\"]\n", i)
			if i > 0 && r.IntN(2) == 0 {
				fmt.Fprintf(&b, "depends_on = [step.s%d]\n", r.IntN(i))
			}
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "retry {\n max_attempts = %d\n base_delay = \"1s\"\n }\n", 2+r.IntN(3))
			}
			if r.IntN(4) == 0 {
				b.WriteString("on_error = \"continue\"\n")
			}
			b.WriteString("}\n")
			var all []float64
			for range 5 + r.IntN(40) {
				x := math.Exp(r.NormFloat64()) // long tails, as attempts have
				if r.IntN(10) == 0 {
					x = -x
				}
				all = append(all, x)
			}
			s.took(fmt.Sprint("s", i), all...)
		}
		p := load(t, b.String()+"}")
		start := event.RunStarted{Workflow: "w", Dir: "/", Inputs: map[string]value.Value{}, Vars: map[string]value.Value{}, Parallel: 1 + r.IntN(4), FirstMembers: true}
		wrong := apart(t, s, p, start, 4000, 1)
		if wrong != "" {
			again++
			wrong = apart(t, s, p, start, 64000, 3)
		}
		if wrong != "" {
			t.Errorf("workflow %d: %s", n, wrong)
		}
	}
	t.Logf("%d workflows, %d of them twice", *workflows, again)
}

// apart says where runs of a seed and runs of the next one are more than three points apart.
func apart(t *testing.T, s *Samples, p *ir.Program, start event.RunStarted, runs int, seed uint64) string {
	t.Helper()
	said, err := Of(t.Context(), p, start, nil, s, runs, seed)
	if err != nil {
		t.Fatal(err)
	}
	ends, _, err := s.play(t.Context(), p, start, nil, runs, seed+1)
	if err != nil {
		t.Fatal(err)
	}
	share := func(of func(flowtest.Rehearsal) bool) (n float64) {
		for _, e := range ends {
			if of(e) {
				n++
			}
		}
		return n / float64(runs)
	}
	for want, mark := range map[float64]float64{0.5: said.Seconds.P50, 0.9: said.Seconds.P90} {
		below := share(func(e flowtest.Rehearsal) bool { return e.Elapsed.Seconds() < mark-1e-6 })
		upTo := share(func(e flowtest.Rehearsal) bool { return e.Elapsed.Seconds() <= mark+1e-6 }) // many runs may take exactly the mark
		if below > want+0.03 || upTo < want-0.03 {
			return fmt.Sprintf("the mark of %v is %v s, which %v to %v of the runs reach", want, mark, below, upTo)
		}
	}
	if did := share(func(e flowtest.Rehearsal) bool { return e.Status == event.Succeeded }); math.Abs(said.Success-did) > 0.03 {
		return fmt.Sprintf("%v of the runs were to succeed, %v did", said.Success, did)
	}
	return ""
}

// TestDecisionsTakeTime: what people are asked is answered as in earlier runs, as late as then. Without an earlier answer the run waits.
func TestDecisionsTakeTime(t *testing.T) {
	p := load(t, `
agent "ann" { type = "human" }
workflow "w" {
  step "ok" {
    approve {
      prompt = "May it?"
      quorum = 2
    }
  }
  step "look" {
    agent      = agent.ann
    task       = "Look."
    output     = number
    depends_on = [step.ok]
  }
  step "high" {
    when  = "step.look.output > 1"
    value = 1
  }
}`)
	s := &Samples{of: map[place][]sample{}}
	if r := simulated(t, p, s, 0, 20, 1); r.Waiting != 1 {
		t.Errorf("without earlier answers %v of the runs wait", r.Waiting)
	}
	two := func(w event.Word) []event.Decision {
		return []event.Decision{{Word: w, By: "user:a"}, {Word: w, By: "user:b"}}
	}
	s.asks = map[asked][]settled{
		{"w", "ok", event.AskApproval}: {{two(event.WordApprove), time.Hour}, {two(event.WordApprove), time.Hour}, {two(event.WordReject)[:1], time.Minute}},
		{"w", "look", event.AskTask}:   {{[]event.Decision{{Word: event.WordDone, By: "user:c", Output: 2.0}}, 10 * time.Minute}},
	}
	r := simulated(t, p, s, 0, 600, 1)
	if r.Waiting != 0 || math.Abs(r.Success-2.0/3) > 0.06 || r.Seconds.P10 != 60 || r.Seconds.P50 != 4200 || r.Seconds.P99 != 4200 {
		t.Errorf("%+v", r)
	}
	if again := simulated(t, p, s, 0, 600, 1); again.Seconds != r.Seconds || again.Success != r.Success {
		t.Errorf("the same seed gives %+v and %+v", r, again)
	}
}
