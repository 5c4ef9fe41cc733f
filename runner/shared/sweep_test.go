package shared

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// A point goes 30 days after the last check-in, with all its rows. One at which an attempt waits stays.
func TestPointsAreSwept(t *testing.T) {
	rows, day := &Map{}, event.Time(24*time.Hour)
	checkIn := func(point, as, key string, at event.Time) {
		t.Helper()
		r := &event.SyncRequest{Point: point, As: as, Needs: []string{"a", "b"}}
		if _, err := applySync(rows, r, Waiter{Key: key, Run: "r", Node: "n", Ticket: 1}, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, as := range []string{"a", "b"} {
		checkIn("met", as, as, 0)
		checkIn("again", as, as+"2", 0)
	}
	checkIn("met", "a", "a", 0) // the answer is read
	checkIn("again", "a", "a2", 0)
	checkIn("waits", "a", "a3", 0)
	checkIn("again", "b", "b4", 20*day)
	points := func() string {
		v, err := listPoints(rows)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(slices.Sorted(func(yield func(string) bool) {
			for name := range v.(map[string]any) {
				if !yield(name) {
					return
				}
			}
		}))
	}
	for _, c := range []struct {
		day  event.Time
		want string
	}{{29, "[again met waits]"}, {31, "[again waits]"}, {49, "[again waits]"}, {51, "[waits]"}} {
		if err := EndRun(rows, &RunEnd{Run: "other"}, c.day*day); err != nil {
			t.Fatal(err)
		}
		if have := points(); have != c.want {
			t.Errorf("after %d days there are %s, want %s", c.day, have, c.want)
		}
	}
	for _, row := range rowsOf(rows) {
		if strings.Contains(row, "met") || strings.Contains(row, "again") {
			t.Errorf("%s is left", row)
		}
	}
	// The attempt that waits ends, and its point goes 30 days after it was looked at.
	if err := Forget(rows, "r", 1); err != nil {
		t.Fatal(err)
	}
	for _, at := range []event.Time{82, 83} {
		if err := EndRun(rows, &RunEnd{Run: "other"}, at*day); err != nil {
			t.Fatal(err)
		}
	}
	if left := rowsOf(rows); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// Events go also where no others are published: the end of a run removes some.
func TestEventsAreSweptByEndsOfRuns(t *testing.T) {
	rows := &Map{}
	for i := range 3 {
		if _, err := Emit(rows, &Emission{Name: "e", Key: fmt.Sprint(i)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := EndRun(rows, &RunEnd{Run: "r"}, event.Time(EventAge)); err != nil {
		t.Fatal(err)
	}
	if left := rowsOf(rows); len(left) != 1 { // the number of the last event
		t.Errorf("left are %v", left)
	}
}
