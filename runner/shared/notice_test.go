package shared

import (
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// begin asks whether a message is sent, and returns the answer and how many equal ones were not sent before.
func begin(t *testing.T, rows Rows, run, key string, kind event.ErrorKind, now event.Time) (string, int) {
	t.Helper()
	r := notice(run, key, kind)
	r.Begin = map[string]time.Duration{"c": 10 * time.Minute}
	a, err := Apply(rows, &event.StoreRequest{Notice: r}, Waiter{}, now)
	if err != nil {
		t.Fatal(err)
	}
	fate := a.Output.(map[string]any)["c"].(map[string]any)
	return fate["do"].(string), int(fate["before"].(float64))
}

func notice(run, key string, kind event.ErrorKind) *event.NoticeRequest {
	return &event.NoticeRequest{Place: "build", Message: event.Message{Kind: event.MessageNotify, Workflow: "w", Run: run, Key: key,
		Error: &event.MessageError{Kind: kind, Reason: event.ReasonExit}}}
}

// A storm of 500 failures in 50 runs is one message; the next one after the window says that there were 499 more.
func TestStormIsOneMessage(t *testing.T) {
	rows, start := new(Map), event.Time(1e18)
	sent := 0
	for i := range 500 {
		do, _ := begin(t, rows, fmt.Sprint("run", i/10), fmt.Sprint("key", i), event.Recoverable, start.Add(time.Duration(i)*time.Second))
		if do == NoticeSend {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d messages are sent", sent)
	}
	if do, before := begin(t, rows, "other", "k", event.Fatal, start.Add(time.Minute)); do != NoticeSend || before != 0 {
		t.Errorf("an error of another kind is %s, with %d before", do, before)
	}
	if do, before := begin(t, rows, "late", "k", event.Recoverable, start.Add(10*time.Minute)); do != NoticeSend || before != 499 {
		t.Errorf("after the window a message is %s, with %d before", do, before)
	}
}

// The same key gives the same answer, until the message has an end. After a message that could not be sent, an equal one is tried.
func TestNoticeIsRecorded(t *testing.T) {
	rows, now := new(Map), event.Time(1e18)
	for range 2 {
		if do, _ := begin(t, rows, "r", "k1", event.Fatal, now); do != NoticeSend {
			t.Errorf("a message without an end is %s", do)
		}
	}
	if do, _ := begin(t, rows, "r", "k2", event.Fatal, now); do != NoticeSuppress {
		t.Errorf("an equal message is %s", do)
	}
	end := notice("r", "k1", event.Fatal)
	end.End = map[string]string{"c": "nobody listens"}
	for range 2 { // the second driver is late
		if _, err := Apply(rows, &event.StoreRequest{Notice: end}, Waiter{}, now); err != nil {
			t.Fatal(err)
		}
	}
	if do, _ := begin(t, rows, "r", "k1", event.Fatal, now); do != NoticeFailed {
		t.Errorf("a message that could not be sent is %s", do)
	}
	if do, before := begin(t, rows, "r", "k3", event.Fatal, now); do != NoticeSend || before != 1 {
		t.Errorf("the next message is %s, with %d before", do, before)
	}
	list := deadLetters(t, rows)
	if len(list) != 1 || list[0]["kind"] != DeadNotification || list[0]["times"] != 1.0 || list[0]["channel"] != "c" {
		t.Errorf("the dead letters are %v", list)
	}
}

// What a store knows of messages is removed when it is old.
func TestNoticesAreSwept(t *testing.T) {
	rows, now := new(Map), event.Time(1e18)
	for i := range 20 {
		r := notice("r", fmt.Sprint(i), event.Fatal)
		r.Place, r.Begin = fmt.Sprint("node", i), map[string]time.Duration{"c": time.Minute}
		if _, err := Apply(rows, &event.StoreRequest{Notice: r}, Waiter{}, now.Add(time.Duration(i)*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	if err := rows.Scan(noticeSpace, "", func(string, []byte) bool { kept++; return true }); err != nil || kept > 8 {
		t.Errorf("%d rows are kept, %v", kept, err)
	}
}

func deadLetters(t *testing.T, rows Rows) (list []map[string]any) {
	t.Helper()
	a, err := Apply(rows, &event.StoreRequest{Dead: &event.DeadRequest{}}, Waiter{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range a.Output.([]any) {
		list = append(list, v.(map[string]any))
	}
	return list
}

func TestDeadRuns(t *testing.T) {
	rows, now := new(Map), event.Time(1e18)
	end := func(e RunEnd) {
		t.Helper()
		if e.Workflow = "w"; e.Status == event.FailedS {
			e.Error = &event.Error{Kind: event.Fatal, Reason: event.ReasonExit, Message: "exit code 1", Node: "build"}
		}
		if err := EndRun(rows, &e, now); err != nil {
			t.Fatal(err)
		}
	}
	end(RunEnd{Run: "a", Status: event.FailedS})
	end(RunEnd{Run: "called", Status: event.FailedS, Called: true})
	end(RunEnd{Run: "good", Status: event.Succeeded})
	end(RunEnd{Run: "cancelled", Status: event.Cancelled})
	if list := deadLetters(t, rows); len(list) != 1 || list[0]["run"] != "a" || list[0]["node"] != "build" || list[0]["id"] != "dl-1" {
		t.Fatalf("the dead letters are %v", list)
	}
	if _, err := Apply(rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: "dl-1", RedrivenBy: "ann"}}, Waiter{}, now); err != nil {
		t.Fatal(err)
	}
	end(RunEnd{Run: "b", RetryOf: "a", Status: event.FailedS})
	list := deadLetters(t, rows)
	if len(list) != 1 || list[0]["run"] != "b" || list[0]["times"] != 2.0 || len(list[0]["redrives"].([]any)) != 1 {
		t.Fatalf("after a repeat that failed: %v", list)
	}
	end(RunEnd{Run: "c", RetryOf: "b", Status: event.Succeeded})
	if list := deadLetters(t, rows); len(list) != 0 {
		t.Fatalf("after a repeat that succeeded: %v", list)
	}
	end(RunEnd{Run: "d", Status: event.FailedS})
	if err := ForgetDead(rows, "d"); err != nil || len(deadLetters(t, rows)) != 0 {
		t.Errorf("a run that was removed has %v, %v", deadLetters(t, rows), err)
	}
	if _, err := Apply(rows, &event.StoreRequest{Dead: &event.DeadRequest{ID: "dl-1"}}, Waiter{}, now); err == nil {
		t.Error("a closed entry is found")
	}
}

// The oldest entries make room.
func TestDeadLettersAreBounded(t *testing.T) {
	rows := new(Map)
	if err := saveRow(rows, deadCountSpace, "", &deadCount{Last: 5, Kept: MaxDeadLetters}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // as if the others were there
		if err := EndRun(rows, &RunEnd{Run: fmt.Sprint(i), Status: event.FailedS}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if list := deadLetters(t, rows); len(list) != 1 || list[0]["run"] != "2" {
		t.Errorf("%v", list)
	}
}
