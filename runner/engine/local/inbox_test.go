package local

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/journal"
)

// A message of a kind that this release does not know, as a newer one may have put it into the inbox, stops the run before it is
// recorded. The run goes on once the message is gone.
func TestMessageOfAnUnknownKindStopsTheRun(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run, err := e.Start(context.Background(), enginetest.Chain(2).Start())
	if err != nil {
		t.Fatal(err)
	}
	read := func() (list []uint64) {
		t.Helper()
		_, _, err := e.Journal(context.Background(), run, func(b journal.Batch) error {
			list = append(list, b.First)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := read()
	alter(t, s.dir, `INSERT INTO inbox (run, body, created) SELECT key, CAST('{"kind":"later"}' AS BLOB), 1 FROM runs`)
	for range 2 {
		_, err = e.Drive(context.Background(), run, nil)
		if err == nil || !strings.Contains(err.Error(), `kind "later"`) {
			t.Errorf("driving the run gives %v", err)
		}
		if after := read(); !reflect.DeepEqual(after, before) {
			t.Errorf("the journal has batches at %v, before %v", after, before)
		}
	}
	alter(t, s.dir, "DELETE FROM inbox")
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != "succeeded" {
		t.Errorf("without the message: %v, %v", end, err)
	}
}
