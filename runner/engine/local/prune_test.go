package local

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/journal"
)

// What is being removed cannot be seen any more, wherever the removal was cut off, and the next one ends it.
func TestRemovalThatIsCutOffIsInvisible(t *testing.T) {
	e, runs := endedRuns(t, 2)
	ctx := context.Background()
	for _, statement := range []string{
		"UPDATE runs SET status = 'pruned' WHERE id = ?",
		"DELETE FROM batches WHERE run = (SELECT key FROM runs WHERE id = ?)",
	} {
		if err := e.write(func(tx *transaction) error { _, err := tx.exec(statement, runs[0]); return err }); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Get(ctx, runs[0]); !errors.Is(err, engine.ErrNoRun) {
			t.Errorf("%s: %v", statement, err)
		}
		if _, _, err := e.Journal(ctx, runs[0], nil); !errors.Is(err, engine.ErrNoRun) {
			t.Errorf("%s: %v", statement, err)
		}
		if _, err := e.Drive(ctx, runs[0], nil); !errors.Is(err, engine.ErrNoRun) {
			t.Errorf("%s: %v", statement, err)
		}
		if list, err := e.List(ctx, 0); err != nil || len(list) != 1 || list[0].Run != runs[1] {
			t.Errorf("%s: the list is %v, %v", statement, list, err)
		}
	}
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	var rows, definitions int
	if err := e.read.QueryRow("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM definitions)").Scan(&rows, &definitions); err != nil || rows != 1 || definitions != 1 {
		t.Errorf("%d runs and %d definitions are left: %v", rows, definitions, err)
	}
	if err := e.Remove(ctx, runs, false); err != nil {
		t.Fatal(err)
	}
	if err := e.read.QueryRow("SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM batches), (SELECT count(*) FROM definitions)").Scan(&rows, &definitions); err != nil || rows != 0 || definitions != 0 {
		t.Errorf("%d rows and %d definitions are left: %v", rows, definitions, err)
	}
	if err := e.Vacuum(); err != nil {
		t.Error(err)
	}
}

// A journal of many batches goes in pieces, each a transaction of its own.
func TestRemovalGoesInPieces(t *testing.T) {
	e, runs := endedRuns(t, 1)
	const many = 5 * pruneBatches
	err := e.write(func(tx *transaction) error {
		for i := range many {
			if _, err := tx.exec("INSERT INTO batches (run, first, count, digest, link, body) SELECT key, ?, 1, 0, x'00', x'0a' FROM runs WHERE id = ?",
				1_000_000+i, runs[0]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var key int64
	if err := e.read.QueryRow("SELECT key FROM runs WHERE id = ?", runs[0]).Scan(&key); err != nil {
		t.Fatal(err)
	}
	pieces, before := 0, rowsOf(t, e)
	for more := true; more; pieces++ {
		if more, err = e.removeSome(key); err != nil {
			t.Fatal(err)
		}
		after := rowsOf(t, e)
		if n := before - after; n > pruneBatches {
			t.Errorf("a transaction removes %d batches", n)
		}
		before = after
	}
	if before != 0 || pieces < 6 {
		t.Errorf("%d batches are left after %d pieces", before, pieces)
	}
}

// Whoever reads a run while it is removed hears that it is gone, and not that it is damaged.
func TestRemovalUnderAReader(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	ctx := context.Background()
	run, err := e.Start(ctx, enginetest.Chain(2*pageBatches).Start()) // more than a page
	if err == nil {
		_, err = e.Drive(ctx, run, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.scanRun(e.read.QueryRow(runRow, run).Scan, run)
	if err != nil {
		t.Fatal(err)
	}
	r, read := journal.NewReader(c.header), 0
	_, err = e.Batches(ctx, run, func(b journal.Batch) error {
		if read++; read == 1 {
			if err := e.Remove(ctx, []string{run}, false); err != nil {
				t.Error(err)
			}
		}
		_, err := r.Read(b)
		return err
	})
	if !errors.Is(err, engine.ErrNoRun) || read < firstBatches/2 || r.Next() > c.seq {
		t.Errorf("after %d batches, and event %d of %d: %v", read, r.Next()-1, c.seq, err)
	}
	h := engine.Health{Runs: 1}
	if err := e.examineRuns(ctx, []string{run}, &h); err != nil || len(h.Broken)+h.Runs+h.Checked != 0 {
		t.Errorf("of a run that is gone is said: %+v, %v", h, err)
	}
}

func rowsOf(t *testing.T, e *Engine) (n int) {
	t.Helper()
	if err := e.read.QueryRow("SELECT count(*) FROM batches").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// endedRuns makes runs of one program and drives them to their ends.
func endedRuns(t *testing.T, n int) (*Engine, []string) {
	t.Helper()
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	var runs []string
	for i := range n {
		start := enginetest.Chain(3).Start()
		start.Header.Run = fmt.Sprintf("aaaa2222222%d", i+2)
		run, err := e.Start(context.Background(), start)
		if err == nil {
			_, err = e.Drive(context.Background(), run, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return e, runs
}
