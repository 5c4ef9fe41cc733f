package local

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

// waitingCrowd is a store with n parked runs of one group that wait for their turn, behind a run that has it.
func waitingCrowd(t testing.TB, n int) (e *Engine, holder string) {
	t.Helper()
	e = newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar})
	var runs []string
	for range 2 {
		run, err := e.Start(context.Background(), long("g", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	err := e.write(func(tx *transaction) error {
		for i := range n - 1 { // like the second run
			id := fmt.Sprintf("%.6s%06d", runs[1], i)
			_, err := tx.exec(`INSERT INTO runs (id, header, definition, workflow, created, status, driven, clean, seq, link, grp, parked, pending)
				SELECT ?, header, definition, workflow, created, status, driven, clean, seq, link, grp, parked, pending FROM runs WHERE id = ?`, id, runs[1])
			if err == nil {
				_, err = tx.exec(`INSERT INTO turns (run, grp, shares, epoch, holds, waits) SELECT (SELECT key FROM runs WHERE id = ?), grp, shares, epoch, holds, waits
					FROM turns WHERE run = (SELECT key FROM runs WHERE id = ?)`, id, runs[1])
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, runs[0]
}

// BenchmarkWakeable measures a look at the parked runs of one group after a commit that concerns none of them, and after one
// that gives the turn to the next.
func BenchmarkWakeable(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		e, holder := waitingCrowd(b, n)
		look := func(want int) {
			if runs, _, err := e.Wakeable(context.Background(), 10); err != nil || len(runs) != want {
				b.Fatalf("wakeable are %v, %v; want %d", runs, err, want)
			}
		}
		look(0)
		b.Run(fmt.Sprintf("other/%d", n), func(b *testing.B) {
			for b.Loop() {
				e.wake.version = 0 // as after a commit
				look(0)
			}
		})
		t, err := e.turnOf(e.reading(context.Background()), holder)
		if err != nil {
			b.Fatal(err)
		}
		e.leaveQueue(t, e.driverEpoch())
		b.Run(fmt.Sprintf("turn/%d", n), func(b *testing.B) {
			for b.Loop() {
				look(1)
			}
		})
		e.Close()
	}
}

// One run of a group is woken when its turn has come, however many wait, and no other is looked at.
func TestTurnsWakeOneRun(t *testing.T) {
	e, holder := waitingCrowd(t, 50)
	defer e.Close()
	first, err := e.turnOf(e.reading(context.Background()), holder)
	if err != nil {
		t.Fatal(err)
	}
	e.leaveQueue(first, e.driverEpoch())
	runs, _, err := e.Wakeable(context.Background(), 10)
	if err != nil || len(runs) != 1 {
		t.Fatalf("wakeable are %v, %v", runs, err)
	}
}

// What a process looks for again and again is found by an index, however many runs are parked and however many attempts wait.
func TestLooksUseIndexes(t *testing.T) {
	e := newStore(t).open(t, Options{})
	defer e.Close()
	for _, look := range []struct {
		query string
		args  []any
		plan  []string
	}{
		{dueRuns, []any{1, 1, 1}, []string{"SEARCH runs USING INDEX runs_parked (parked=? AND due<?)"}},
		{nextDue, []any{1, 1}, []string{"SEARCH runs USING COVERING INDEX runs_parked (parked=? AND due>?)"}},
		{lineWaits, []any{1}, []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY 1", "SEARCH admissions USING COVERING INDEX admissions_epoch (epoch=? AND granted=?)"}},
		{lineEpochs, nil, []string{"SEARCH admissions USING COVERING INDEX admissions_epoch", "SEARCH a USING COVERING INDEX admissions_epoch (epoch>?)"}},
	} {
		have := planOf(t, e, look.query, look.args...)
		for _, want := range look.plan {
			if !slices.Contains(have, want) {
				t.Errorf("the plan of %q is %q, and does not say %q", look.query, have, want)
			}
		}
	}
}

// A run is not parked in its line if its turn has come since it looked: nobody would wake it.
func TestNoRunIsParkedWhenItsTurnHasCome(t *testing.T) {
	e, holder := waitingCrowd(t, 3)
	defer e.Close()
	q, epoch := e.reading(context.Background()), e.driverEpoch()
	first, err := e.turnOf(q, holder)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := readTexts(q("SELECT r.id FROM turns t JOIN runs r ON r.key = t.run WHERE t.waits = 1 ORDER BY t.id"))
	if err != nil || len(waiting) != 3 {
		t.Fatal(waiting, err)
	}
	for i, parks := range []bool{true, false} {
		next, err := e.turnOf(q, waiting[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := e.parkQueued(next, epoch); errors.Is(err, engine.ErrParked) != parks {
			t.Errorf("try %d: the first in the line gets %v", i, err)
		}
		e.leaveQueue(first, epoch)
	}
	second, err := e.turnOf(q, waiting[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := e.parkQueued(second, epoch); !errors.Is(err, engine.ErrParked) {
		t.Errorf("the second in the line gets %v", err)
	}
}

// A list of runs says of each waiting run what a look at that run alone says, and reads the line once.
func TestListOfWaitingRuns(t *testing.T) {
	e, holder := waitingCrowd(t, 5)
	defer e.Close()
	position := func(run string, id int) { // in the line
		err := e.write(func(tx *transaction) error {
			_, err := tx.exec("UPDATE turns SET id = ? WHERE run = (SELECT key FROM runs WHERE id = ?)", id, run)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{1, 100} { // a run that came back can stand before the holder of the turn
		position(holder, at)
		list, err := e.List(context.Background(), 0)
		if err != nil || len(list) != 6 {
			t.Fatal(list, err)
		}
		var turns []*turn
		for _, i := range list {
			alone, err := e.Get(context.Background(), i.Run)
			if err != nil || !reflect.DeepEqual(i.Turn, alone.Turn) || (i.Turn == nil) != (i.Run == holder) {
				t.Errorf("holder %s at %d: the list says of run %s %+v, and a look at it %+v, %v", holder, at, i.Run, i.Turn, alone.Turn, err)
			}
			one, err := e.turnOf(e.reading(context.Background()), i.Run)
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, one)
		}
		rows := rowsRead(t, e, func(q query) error { _, err := e.runsAhead(q, turns); return err })
		if rows != len(list) {
			t.Errorf("for a line of %d runs, %d rows are read", len(list), rows)
		}
	}
}

// BenchmarkListOfWaitingRuns lists the runs of a crowded group, as flowrun runs does.
func BenchmarkListOfWaitingRuns(b *testing.B) {
	for _, n := range []int{100, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e, _ := waitingCrowd(b, n)
			defer e.Close()
			reader, err := Open(e.Dir(), Options{ReadOnly: true})
			if err != nil {
				b.Fatal(err)
			}
			defer reader.Close()
			for b.Loop() {
				if list, err := reader.List(context.Background(), 0); err != nil || len(list) != n+1 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}
