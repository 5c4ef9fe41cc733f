package shared

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
)

// TestEventsAgainstModel publishes at random moments over months, with keys and for single runs. The model keeps all events.
func TestEventsAgainstModel(t *testing.T) {
	type kept struct {
		Emission
		seq uint64
		at  event.Time
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 6))
		rows, now := &Map{}, event.Time(1)
		var all []kept
		listens := map[string]bool{} // "name run"
		duplicates := 0
		for i := range 300 {
			now = now.Add(time.Duration(rng.Int64N(int64(12 * time.Hour))))
			name, run := []string{"a", "a.b"}[rng.IntN(2)], []string{"r1", "r2", "r3"}[rng.IntN(3)]
			where := fmt.Sprintf("seed %d, %d", seed, i)
			switch rng.IntN(5) {
			case 0:
				began := now.Add(-time.Duration(rng.Int64N(int64(9 * 24 * time.Hour))))
				got, more, err := Subscribe(rows, name, run, began, now)
				if err != nil || more {
					t.Fatal(err, more)
				}
				listens[name+" "+run] = true
				var want []uint64
				for _, e := range all {
					if e.Name == name && e.at >= began && now.Sub(e.at) < EventAge && (e.Run == "" || e.Run == run) {
						want = append(want, e.seq)
					}
				}
				var have []uint64
				for _, e := range got {
					have = append(have, e.Seq)
				}
				if !slices.Equal(have, want) {
					t.Fatalf("%s: run %s gets the events %v of %s, want %v", where, run, have, name, want)
				}
				continue
			case 1:
				if err := Unsubscribe(rows, name, run); err != nil {
					t.Fatal(err)
				}
				delete(listens, name+" "+run)
				continue
			}
			e := Emission{Name: name, Key: []string{"", "x", "y"}[rng.IntN(3)], Data: float64(i)}
			if rng.IntN(4) == 0 {
				e.Run = run
			}
			got, err := Emit(rows, &e, now)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(all, func(k kept) bool { return e.Key != "" && k.Name == name && k.Key == e.Key && now.Sub(k.at) < EventAge })
			if got.Duplicate != (at >= 0) || at >= 0 && got.ID != fmt.Sprint("ev-", all[at].seq) {
				t.Fatalf("%s: %+v gives %+v; an earlier one is %d", where, e, got, at)
			}
			if at >= 0 {
				duplicates++
				continue
			}
			all = append(all, kept{e, uint64(len(all) + 1), now})
			var want []string
			for _, r := range []string{"r1", "r2", "r3"} {
				if listens[name+" "+r] && (e.Run == "" || e.Run == r) {
					want = append(want, r)
				}
			}
			if got.Event.Seq != uint64(len(all)) || !slices.Equal(got.Runs, want) {
				t.Fatalf("%s: event %d goes to %v, want %d to %v", where, got.Event.Seq, got.Runs, len(all), want)
			}
		}
		left := 0
		for _, name := range []string{"a", "a.b"} {
			if s := rows.spaces[eventSpace(name)]; s != nil {
				left += len(s.keys)
			}
		}
		if left > 60 || duplicates == 0 { // seven days of an event each six hours, and what the next emissions remove
			t.Errorf("seed %d: %d of %d events are left, %d duplicates", seed, left, len(all), duplicates)
		}
	}
}

// TestEmissionsAreRefused has each emission that is not possible.
func TestEmissionsAreRefused(t *testing.T) {
	for want, e := range map[string]Emission{
		"cannot be the name":    {Name: "Test Failed"},
		"1 to 128 characters":   {Name: strings.Repeat("x", limits.MaxEventName+1)},
		"the limit is 65536":    {Name: "a", Data: strings.Repeat("x", limits.MaxKVValue)},
		"bytes; the limit is 2": {Name: "a", Key: strings.Repeat("x", limits.MaxKVKey+1)},
	} {
		rows := &Map{}
		if _, err := Emit(rows, &e, 1); err == nil || !strings.Contains(err.Error(), want) || len(rows.spaces) != 0 {
			t.Errorf("%v, want %q and no rows", err, want)
		}
	}
}

// TestEventForNobody has an event for one run that does not wait for it refused, without an effect. What was published before is a
// duplicate though its run has ended.
func TestEventForNobody(t *testing.T) {
	rows := &Map{}
	emit := func(run, key string) (Answer, error) {
		return applyEmit(rows, &event.EmitRequest{Name: "a", Run: run, Key: key}, Waiter{}, 5)
	}
	if err := Listen(rows, "a", "run-1"); err != nil {
		t.Fatal(err)
	}
	before := len(rows.spaces)
	for _, run := range []string{"run", "run-2", "run-11"} {
		if _, err := emit(run, "k"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("run %q does not exist", run)) || len(rows.spaces) != before {
			t.Errorf("for %s: %v, with %d spaces", run, err, len(rows.spaces))
		}
	}
	if a, err := emit("run-1", "k"); err != nil || len(a.Posts) != 1 {
		t.Errorf("for a run that waits: %+v, %v", a, err)
	}
	if err := Unsubscribe(rows, "a", "run-1"); err != nil {
		t.Fatal(err)
	}
	if a, err := emit("run-1", "k"); err != nil || a.Output.(map[string]any)["duplicate"] != true {
		t.Errorf("again: %+v, %v", a, err)
	}
	if _, err := emit("run-1", "other"); err == nil {
		t.Error("an event for a run that has ended is published")
	}
}

// TestDeliveryIsBounded publishes more events than one reading returns: the oldest are left out, and that is said.
func TestDeliveryIsBounded(t *testing.T) {
	rows := &Map{}
	for i := range MaxDelivered + 5 {
		if _, err := Emit(rows, &Emission{Name: "a", Data: float64(i)}, event.Time(1+i)); err != nil {
			t.Fatal(err)
		}
	}
	got, more, err := Subscribe(rows, "a", "r", 0, 5000)
	if err != nil || !more || len(got) != MaxDelivered || got[0].Data != 5.0 {
		t.Errorf("%d events from %v on, more %v (%v)", len(got), got[0].Data, more, err)
	}
}
