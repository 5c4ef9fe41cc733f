package shared

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// TestBreakerAgainstModel has many runs ask and report at random. The model follows the rule in words: the moments of opening, the
// failures in a row, and the one probe.
func TestBreakerAgainstModel(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 4))
		b := &Breaker{Name: "api", Failures: 1 + rng.IntN(4), Reset: time.Duration(5 + rng.IntN(30))}
		rows, now := &Map{}, event.Time(1)
		live, opened, failures, probe, number := []string{}, event.Time(0), 0, "", 0 // opened 0: closed
		probes, openings := 0, 0
		for i := range 400 {
			now = now.Add(time.Duration(rng.IntN(6)))
			where := fmt.Sprintf("seed %d, %d at %d", seed, i, now)
			half := opened != 0 && now.Sub(opened) >= b.Reset
			if rng.IntN(2) == 0 {
				number++
				key := fmt.Sprint("k", number)
				again := probe != "" && rng.IntN(6) == 0
				if again {
					key = probe // its driver died, and the next one asks again
				}
				starts, next, err := b.Start(rows, key, now)
				if err != nil {
					t.Fatal(err)
				}
				want := opened == 0 || half && (probe == "" || probe == key)
				if starts != want {
					t.Fatalf("%s: %s starts: %v, want %v", where, key, starts, want)
				}
				if !starts && !half && next != opened.Add(b.Reset) || !starts && half && next != 0 || starts && next != 0 {
					t.Fatalf("%s: the moment is %d; it opened at %d", where, next, opened)
				}
				if starts && half && !again {
					probe = key
					probes++
				}
				if starts && !again {
					live = append(live, key)
				}
				continue
			}
			if len(live) == 0 {
				continue
			}
			at := rng.IntN(len(live))
			key := live[at]
			live = append(live[:at], live[at+1:]...)
			how := Endings[rng.IntN(len(Endings))]
			if rng.IntN(3) > 0 {
				how = Bad
			}
			from, to, err := b.Report(rows, key, how, now)
			if err != nil {
				t.Fatal(err)
			}
			wantFrom := Closed
			if opened != 0 {
				if wantFrom = Open; half {
					wantFrom = HalfOpen
				}
			}
			switch {
			case opened == 0 && how == Good:
				failures = 0
			case opened == 0 && how == Bad:
				if failures++; failures >= b.Failures {
					opened, failures, probe = now, 0, ""
					openings++
				}
			case opened != 0 && key == probe && how == Good:
				opened, failures, probe = 0, 0, ""
			case opened != 0 && key == probe && (how == Bad || how == Lost):
				opened, probe = now, ""
				openings++
			case opened != 0 && key == probe:
				probe = ""
			}
			wantTo := Closed
			if opened != 0 {
				if wantTo = Open; now.Sub(opened) >= b.Reset {
					wantTo = HalfOpen
				}
			}
			if from != wantFrom || to != wantTo {
				t.Fatalf("%s: %s of %s: from %s to %s, want from %s to %s", where, how, key, from, to, wantFrom, wantTo)
			}
			if h, err := b.Health(rows, now); h != to || err != nil {
				t.Fatalf("%s: the state is %s (%v), want %s", where, h, err, to)
			}
		}
		if openings == 0 || probes == 0 {
			t.Errorf("seed %d: %d openings and %d probes prove little", seed, openings, probes)
		}
	}
}

// TestBreakerIsClosedByAPerson opens a breaker and closes it.
func TestBreakerIsClosedByAPerson(t *testing.T) {
	b, rows := &Breaker{Name: "api", Failures: 1, Reset: time.Hour}, &Map{}
	if _, to, err := b.Report(rows, "a", Bad, 1); to != Open || err != nil {
		t.Fatal(to, err)
	}
	if err := b.Close(rows); err != nil {
		t.Fatal(err)
	}
	if starts, _, err := b.Start(rows, "b", 2); !starts || err != nil {
		t.Error(starts, err)
	}
	if len(rows.spaces) != 0 {
		t.Errorf("rows are left: %q", rowsOf(rows))
	}
	if _, _, err := (&Breaker{Name: "x"}).Report(rows, "a", Bad, 1); err == nil {
		t.Error("a breaker of 0 failures is taken")
	}
}
