package local

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// A chain of steps that count takes one commit a step: the number, the recorded answer and the batch that starts the step are one.
// A fan-out that is too wide to be joined counts as well.
func TestOperationSharesTheCommitOfItsBatch(t *testing.T) {
	var commits atomic.Int64
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK, At: func(p engine.Point) {
		if p == engine.Committed {
			commits.Add(1)
		}
	}})
	calls := 0
	counting := func(n int, chained bool) int64 {
		t.Helper()
		calls++
		key := fmt.Sprint("n", calls)
		p := enginetest.Program{}
		for i := range n {
			task := enginetest.Task{Name: fmt.Sprint("t", i), Count: key}
			if chained && i > 0 {
				task.After = []string{fmt.Sprint("t", i-1)}
			}
			p.Tasks = append(p.Tasks, task)
		}
		before := commits.Load()
		if end, err := e.Drive(context.Background(), begin(t, e, p), nil); err != nil || end.Status != event.Succeeded {
			t.Fatalf("%+v, %v", end, err)
		}
		got, err := e.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: key}})
		if err != nil || got != float64(n) {
			t.Errorf("%d steps, chained %v: the number is %v (%v)", n, chained, got, err)
		}
		return commits.Load() - before
	}
	counting(1, true) // the first drive makes files
	// A few commits are missing or left over: the first and the last batches of a run can share one with other writes of the store, and
	// its daemons write at their times. So the best of five pairs counts; with two commits a step no pair would do.
	var short, long int64
	for range 5 {
		if short, long = counting(10, true), counting(30, true); long-short >= 15 && long-short <= 25 {
			break
		}
	}
	if long-short < 15 || long-short > 25 {
		t.Errorf("10 steps take %d commits, 30 take %d: want one more for each step, and not two", short, long)
	}
	counting(4*maxJoined, false)
}

// On a full disk the transaction of a batch, which may use the reserve, leaves the operations out.
func TestFullDiskLeavesOperationsOut(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	a := event.Attempt{Run: "r", Key: "k", Ticket: 7, Kind: event.StoreAttempt, Store: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: "default", Key: "n", Value: 1.0}}}
	for _, full := range []bool{true, false} {
		j := joined{store: &storing{engine: e, run: &claimed{id: "r"}}, attempts: []*event.Attempt{&a}}
		e.commits.setFull(full)
		if err := e.writeUrgent(func(tx *transaction) error { return j.answer(tx) }); err != nil {
			t.Fatal(err)
		}
		e.commits.setFull(false)
		if got := j.take(&a); (got == nil) != full {
			t.Errorf("with a disk that is full %v the answer is %+v", full, got)
		}
	}
}
