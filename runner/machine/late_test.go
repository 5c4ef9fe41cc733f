package machine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// Answers come out of order, several times, long after their attempt ran again, and with other words each time. The first
// counts; each of the others is an event in the journal that changes nothing; a replay drops the same ones.
func TestAnswersAreHeardOnce(t *testing.T) {
	const steps, least = 300, 1000
	p, err := load(`
		agent "a" { type = "null" }
		workflow "w" {
			step "s" {
				for_each = range(300)
				agent    = agent.a
				retry {
					max_attempts = 3
					base_delay   = "1s"
				}
			}
			step "last" { agent = agent.a }
		}`)
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 4))
		header := journal.Header{Run: "late"}
		fold, now := engine.NewFold(header, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules())), epoch
		var batches []journal.Batch
		var pending []event.Event // all that may come at any time, or again
		heard, want := map[uint64]string{}, map[string]string{}
		ended, got := map[string]int{}, map[string]string{}
		var last event.Event
		fed, dropped := 0, 0

		feed := func(events ...event.Event) {
			var out event.Reaction
			b, err := fold.Feed(now, events, &out)
			if err != nil || b.Count != len(events) {
				t.Fatalf("%d of %d events were taken: %v", b.Count, len(events), err)
			}
			batches = append(batches, b)
			for _, tr := range out.Transitions {
				if tr.To.Terminal() && tr.Node != "" {
					ended[tr.Node]++
					if tr.Result != nil && tr.Result.Error == nil {
						got[tr.Node], _ = tr.Result.Output.(string)
					}
				}
			}
			for _, c := range out.Commands {
				switch {
				case c.SetTimer != nil:
					pending = append(pending, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
				case c.Start != nil:
					for again := range 2 + r.IntN(4) {
						f := &event.AttemptFinished{Ticket: c.Start.Ticket, Node: c.Start.Node, Attempt: c.Start.Attempt, Outcome: event.OK,
							Output: string(rune('a' + again))}
						if r.IntN(3) == 0 {
							f.Outcome, f.Output, f.Error = event.Failed, nil, &event.Error{Kind: event.Transient, Message: "no", ExitCode: -1}
						}
						if ev := (event.Event{AttemptFinished: f}); c.Start.Node == "last" {
							last = ev
						} else {
							pending = append(pending, ev)
						}
					}
				}
			}
		}
		feed(event.Event{RunStarted: &event.RunStarted{Run: "late", Workflow: "w", Parallel: steps + 1}})
		for len(pending) > 0 {
			now = now.Add(1e9)
			r.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
			n := min(len(pending), 1+r.IntN(20))
			events := append([]event.Event(nil), pending[:n]...)
			pending = append([]event.Event(nil), pending[n:]...)
			for _, ev := range events {
				f := ev.AttemptFinished
				if f == nil {
					continue
				}
				if fed++; heard[f.Ticket] != "" {
					dropped++
					continue
				}
				heard[f.Ticket] = string(f.Outcome)
				if f.Outcome == event.OK {
					want[f.Node], _ = f.Output.(string)
				}
			}
			feed(events...)
		}
		last.AttemptFinished.Outcome, last.AttemptFinished.Error = event.OK, nil
		feed(last)
		delete(ended, "last")
		delete(got, "last")
		delete(ended, "s")
		delete(got, "s")
		if len(ended) != steps || fold.End() == nil {
			t.Fatalf("seed %d: %d steps ended, want %d; end %+v", seed, len(ended), steps, fold.End())
		}
		for node, n := range ended {
			if n != 1 {
				t.Errorf("seed %d: %s ended %d times", seed, node, n)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("seed %d: not the first answers count:\n%s", seed, d)
		}
		recorded := 0
		again := engine.NewFold(header, machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()))
		var out event.Reaction
		for _, b := range batches {
			events, err := again.Replay(b, &out)
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range events {
				if ev.AttemptFinished != nil && ev.AttemptFinished.Node != "last" {
					recorded++
				}
			}
		}
		if fed < least || dropped < fed/3 || recorded != fed {
			t.Errorf("seed %d: %d answers, %d of them late or again, %d in the journal", seed, fed, dropped, recorded)
		}
		t.Logf("seed %d: %d answers came, %d of them late or again; %d stand in the journal; %d steps, one result each", seed, fed, dropped, recorded, steps)
	}
}
