package local

import (
	"context"
	"runtime"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// On one processor, attempts that answer at once come in together: the first answer does not shut the others out for the time of a
// commit.
func TestReadyAnswersShareACommit(t *testing.T) {
	const attempts = 64
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	p := enginetest.Fan(attempts, attempts)
	for i := range p.Tasks {
		p.Tasks[i].Null = false // a goroutine each
	}
	batches := 0
	_, err := e.Drive(context.Background(), begin(t, e, p), func([]event.Event, *event.Reaction, bool) { batches++ })
	if err != nil {
		t.Fatal(err)
	}
	if batches > attempts/8 {
		t.Errorf("%d answers took %d commits", attempts, batches)
	}
	t.Logf("%d answers, %d commits", attempts, batches)
}
