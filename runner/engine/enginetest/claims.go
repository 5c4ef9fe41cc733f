package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Taking is a program that takes each of the items in turn, and does the work of those that it wins.
func Taking(items []string) Program {
	p := Program{Parallel: 4}
	for _, item := range items {
		p.Tasks = append(p.Tasks, Task{Name: item, Claim: item})
	}
	return p
}

// Won lists the items whose claims a run of a program of [Taking] has won, by its outputs.
func Won(outputs map[string]value.Value) (won []string) {
	counts, _ := outputs["counts"].(map[string]value.Value)
	for item, v := range counts { // any order: sorted below
		if c, err := event.ClaimOf(v); err == nil && c.Won {
			won = append(won, item)
		}
	}
	slices.Sort(won)
	return won
}

// request carries out a request of a person.
func request(t *testing.T, h Host, r event.StoreRequest) value.Value {
	t.Helper()
	v, err := h.Ask(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// itemsOnce kills the host at each commit of two runs that race for the same items.
func itemsOnce(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		if after != (n%2 == 0) { // half of the cases will do
			return false
		}
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		items := []string{fmt.Sprintf("a%d%v", n, after), fmt.Sprintf("b%d%v", n, after)}
		w := newWitness()
		c := newCrew(t, s, w)
		runs := []string{c.start(Taking(items), "", ""), c.start(Taking(items), "", "")}
		c.CrashAt(n, after)
		lived := c.workFor(runs...)
		c.Close()
		c = c.takeOver(w, runs...)
		defer c.Close()
		c.mustWork(event.Succeeded, c.left...)
		won := append(Won(outputs(t, c, runs[0])), Won(outputs(t, c, runs[1]))...)
		if slices.Sort(won); !slices.Equal(won, items) {
			t.Errorf("%s: the runs have won %v, want each of %v once", where, won, items)
		}
		for _, item := range items {
			done := request(t, c, event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "work " + item}})
			late, err := event.ClaimOf(request(t, c, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimRenew, Item: item, Token: 1, Lease: time.Hour}}))
			if done != 1.0 || err != nil || late.Won || late.State != event.ClaimClosed || late.Token != 1 {
				t.Errorf("%s: the work of %s was done %v times, and a late request gets %+v, %v", where, item, done, late, err)
			}
		}
		return lived
	})
}

// loopsWake adds work, and pauses a loop, while nobody drives the runs that listen.
func loopsWake(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	p := Program{Tasks: []Task{{Name: "listen", Listen: "l"}, {Name: "x", Note: true, After: []string{"listen"}}}}
	run := c.start(p, "", "")
	c.work()
	for range 3 {
		request(t, c, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "work"}}})
		request(t, c, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "l"}})
		request(t, c, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "other"}})
	}
	if runs, _, err := c.Wakeable(context.Background(), 10); err != nil || !slices.Equal(runs, []string{run}) {
		t.Fatalf("the runs %v are to be driven (%v), want %s", runs, err, run)
	}
	if err := c.Signal(context.Background(), run, event.External{Kind: Note, Node: "x"}); err != nil {
		t.Fatal(err)
	}
	c.mustWork(event.Succeeded, run)
	if got := outputs(t, c, run)["woken"]; got != 2.0 {
		t.Errorf("the run was woken %v times, want once for the work and once for the pause", got)
	}
	request(t, c, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "l"}})
}

// claimsOutside takes work as a person does, beside somebody else.
func claimsOutside(t *testing.T, s Store) {
	c := newCrew(t, s, newWitness())
	defer c.Close()
	o, _ := request(t, c, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "claimed outside"}}}).(map[string]any)
	id, _ := o["id"].(string)
	claim := func(q event.ClaimRequest) event.Claim {
		t.Helper()
		q.Item = string(event.QueueDispatch) + "/" + id
		got, err := event.ClaimOf(request(t, c, event.StoreRequest{Claim: &q}))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	over := func(token uint64) map[string]any {
		t.Helper()
		o, _ := request(t, c, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchHandOver, Queue: event.QueueDispatch, ID: id, Token: token,
			Item: &event.Item{Title: "the rest", Handoff: &event.Handoff{To: "leo", Summary: "half", Next: "the rest"}}}}).(map[string]any)
		return o
	}
	ann := claim(event.ClaimRequest{Operation: event.ClaimTake, Agent: "ann", Lease: time.Hour})
	leo := claim(event.ClaimRequest{Operation: event.ClaimTake, Agent: "leo", Lease: time.Hour})
	if !ann.Won || leo.Won || leo.Agent != "ann" {
		t.Errorf("ann gets %+v, and leo %+v", ann, leo)
	}
	claim(event.ClaimRequest{Operation: event.ClaimRelease, Token: ann.Token})
	leo = claim(event.ClaimRequest{Operation: event.ClaimTake, Agent: "leo", Lease: time.Hour})
	if !leo.Won || leo.Token <= ann.Token {
		t.Errorf("leo gets %+v", leo)
	}
	if o := over(ann.Token); o["id"] != nil {
		t.Errorf("the old token %d handed the work over: %v", ann.Token, o)
	}
	first, again := over(leo.Token), over(leo.Token)
	if first["id"] == nil || first["id"] != again["id"] {
		t.Errorf("the hand-over gives %v, and again %v", first, again)
	}
	if late := claim(event.ClaimRequest{Operation: event.ClaimRenew, Token: leo.Token, Lease: time.Hour}); late.Won || late.State != event.ClaimClosed {
		t.Errorf("work that was handed over can be renewed: %+v", late)
	}
}

// handsOver kills the host at each commit of a run that hands work over, and cancels the run, so that another host does not ask again. For
// each work that is there, the message that nobody sent is a dead letter.
func handsOver(t *testing.T, s Store) {
	both, neither := 0, 0
	seen := map[any]bool{}
	atEveryCommit(t, func(n int, after bool) bool {
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		h := s.Open(t, Factory, newWitness())
		run := start(t, h, Program{Tasks: []Task{{Name: "over", HandOver: "leo"}, {Name: "x", Null: true, After: []string{"over"}}}})
		lived := crashAt(t, s, h, run, n, after)
		if lived {
			h.Close()
		}
		h = s.Open(t, Factory, newWitness())
		defer h.Close()
		if !lived {
			if err := h.Cancel(context.Background(), run, "not now"); err != nil && !errors.Is(err, engine.ErrEnded) {
				t.Fatal(err)
			}
			if err := drive(context.Background(), s, h, run, nil); err != nil {
				t.Fatal(where, err)
			}
		}
		work, letters := 0, 0
		o := request(t, h, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}}).(map[string]any)
		for _, v := range o["items"].([]any) {
			if doc := v.(map[string]any)["handoff"].(map[string]any); doc["run"] == run && doc["next"] == "the rest" {
				seen[v.(map[string]any)["id"]] = true
				work++
			}
		}
		for _, v := range request(t, h, event.StoreRequest{Dead: &event.DeadRequest{}}).([]any) {
			d := v.(map[string]any)
			if m, _ := d["message"].(map[string]any); d["run"] == run && m != nil && seen[m["data"].(map[string]any)["id"]] {
				letters++
			}
		}
		if work != letters || work > 1 || lived && work != 1 {
			t.Errorf("%s: the store has %d works and %d messages", where, work, letters)
		}
		if both += work; work == 0 {
			neither++
		}
		return lived
	})
	if both == 0 || neither == 0 {
		t.Errorf("the work was there %d times, and was not there %d times: want both", both, neither)
	}
}
