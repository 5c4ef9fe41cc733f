package shared

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// handOver answers the attempt of a run that hands work over and tells two channels.
func handOver(t *testing.T, rows Rows, run string, now event.Time) string {
	t.Helper()
	h := &event.Handoff{To: "leo", Summary: "half of it", Next: "the rest", Run: run, Node: "over", At: now}
	a := &event.Attempt{Run: run, Node: "over", Key: "k-" + run, Ticket: 1, Store: &event.StoreRequest{Dispatch: &event.DispatchRequest{
		Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "the rest", Assignee: "leo", Handoff: h},
		Notice: &event.NoticeRequest{Message: event.Message{Kind: event.MessageHandoff, Workflow: "w", Run: run, Node: "over", Key: "m-" + run, At: now.String()},
			Place: "over handoff", Begin: map[string]time.Duration{"dev": 0, "ops": time.Hour}}}}}
	f, _, err := AnswerAttempt(rows, a, now)
	if err != nil || f.Outcome != event.OK {
		t.Fatal(f, err)
	}
	return f.Output.(map[string]any)["id"].(string)
}

// The message of a hand-over begins in the transaction that adds the work: a run that ends before the message has an end leaves a dead
// letter with all of it, for each channel that was to get it.
func TestHandoverOwesItsMessage(t *testing.T) {
	rows, now := new(Map), event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	id := handOver(t, rows, "r1", now)
	if again := handOver(t, rows, "r1", now); again != id {
		t.Fatalf("the same attempt again adds %s beside %s", again, id)
	}
	// The run dies. Its next driver asks under the same key, and hears what was begun.
	sent := func(run string, end map[string]string) map[string]any {
		a, err := Apply(rows, &event.StoreRequest{Notice: &event.NoticeRequest{Place: "over handoff", End: end, Message: event.Message{Kind: event.MessageHandoff,
			Workflow: "w", Run: run, Node: "over", Key: "m-" + run}, Begin: map[string]time.Duration{"dev": 0, "ops": time.Hour}}}, Waiter{}, now)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := a.Output.(map[string]any)
		return o
	}
	for _, channel := range []string{"dev", "ops"} {
		if do := sent("r1", nil)[channel].(map[string]any)["do"]; do != NoticeSend {
			t.Errorf("channel %s: the message that was begun with the work is %v", channel, do)
		}
	}
	if err := EndRun(rows, &RunEnd{Run: "r1", Workflow: "w", Status: event.Cancelled, Called: true}, now); err != nil {
		t.Fatal(err)
	}
	list := deadLetters(t, rows)
	if len(list) != 2 {
		t.Fatalf("the dead letters are %v, want one for each channel", list)
	}
	for i, channel := range []string{"dev", "ops"} {
		m, _ := list[i]["message"].(map[string]any)
		data, _ := m["data"].(map[string]any)
		if list[i]["kind"] != DeadNotification || list[i]["channel"] != channel || m["title"] != id+" is handed over to leo" || m["key"] != "m-r1" || data["id"] != id {
			t.Errorf("the dead letter is %v", list[i])
		}
	}
	for _, row := range rowsOf(rows) {
		if strings.Contains(row, "run-has r1") || strings.Contains(row, "answers r1") {
			t.Errorf("%s is left", row)
		}
	}
}

// A message that was sent, or that an equal one stands for, leaves no dead letter.
func TestHandoverThatWasTold(t *testing.T) {
	rows, now := new(Map), event.Time(1e18)
	for i, run := range []string{"r1", "r2"} {
		handOver(t, rows, run, now)
		end := map[string]string{"dev": "", "ops": ""}
		if i == 1 {
			delete(end, "ops") // it is suppressed
		}
		if _, err := Apply(rows, &event.StoreRequest{Notice: &event.NoticeRequest{Place: "over handoff", End: end,
			Message: event.Message{Kind: event.MessageHandoff, Workflow: "w", Run: run, Node: "over", Key: "m-" + run}}}, Waiter{}, now); err != nil {
			t.Fatal(err)
		}
		if err := EndRun(rows, &RunEnd{Run: run, Workflow: "w", Status: event.Succeeded}, now); err != nil {
			t.Fatal(err)
		}
	}
	if list := deadLetters(t, rows); len(list) != 0 {
		t.Errorf("the dead letters are %v", list)
	}
}

// Who holds a claim hands its work over once: the item is closed and its continuation is there, or with a token that is not the newest neither.
func TestHandoverOfAClaim(t *testing.T) {
	rows, now := new(Map), event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	ask := func(q event.StoreRequest) map[string]any {
		t.Helper()
		a, err := Apply(rows, &q, Waiter{}, now)
		if err != nil {
			t.Fatal(err)
		}
		return a.Output.(map[string]any)
	}
	over := func(id string, token uint64) map[string]any {
		t.Helper()
		return ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchHandOver, Queue: event.QueueDispatch, ID: id, Token: token,
			Item: &event.Item{Title: "the rest", Assignee: "leo", Handoff: &event.Handoff{To: "leo", Summary: "half", Next: "the rest", Ticket: id}}}})
	}
	open := func() (ids []any) {
		for _, one := range ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}})["items"].([]any) {
			if one := one.(map[string]any); one["state"] != "closed" {
				ids = append(ids, one["id"])
			}
		}
		return ids
	}
	ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "all"}}})
	for _, token := range []uint64{0, 1} {
		if o := over("ds-1", token); o["id"] != nil || o["why"] == "" {
			t.Errorf("work that nobody has was handed over with token %d: %v", token, o)
		}
	}
	take := event.ClaimRequest{Operation: event.ClaimTake, Item: "dispatch/ds-1", Agent: "ann", Lease: time.Minute}
	ask(event.StoreRequest{Claim: &take})
	now = now.Add(time.Hour)
	ask(event.StoreRequest{Claim: &take}) // the lease has run out, and can be renewed for a while
	now = now.Add(time.Hour)
	take.Agent = "max"
	if o := ask(event.StoreRequest{Claim: &take}); o["token"] != 2.0 {
		t.Fatal(o)
	}
	if o := over("ds-1", 1); o["id"] != nil || o["why"] != "token 1 does not have the item: max has it with token 2 until 2026-01-05T10:01:00.000Z" {
		t.Errorf("an old token handed the work over: %v", o)
	}
	if ids := open(); len(ids) != 1 || ids[0] != "ds-1" {
		t.Errorf("an old token left %v", ids)
	}
	for range 2 {
		if o := over("ds-1", 2); o["id"] != "ds-2" {
			t.Errorf("the hand-over gives %v", o)
		}
		if ids := open(); len(ids) != 1 || ids[0] != "ds-2" {
			t.Errorf("after the hand-over %v are open", ids)
		}
	}
	if _, err := Apply(rows, &event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchHandOver, Queue: event.QueueDispatch, ID: "ds-2", Token: 1}}, Waiter{}, now); err == nil {
		t.Error("a hand-over without a document is accepted")
	}
}
