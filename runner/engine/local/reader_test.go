package local

import (
	"fmt"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

// A statement is prepared once, however often and from however many goroutines it is asked. A wrong one tells its error each time.
func TestStatementsArePreparedOnce(t *testing.T) {
	e, err := Open(t.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := len(e.read.prepared)
	var asking sync.WaitGroup
	for i := range 2 * readers {
		asking.Go(func() {
			var n int
			if err := e.read.QueryRow("SELECT 40 + ?", i).Scan(&n); err != nil || n != 40+i {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
	asking.Wait()
	if got := len(e.read.prepared) - before; got != 1 {
		t.Errorf("%d statements are prepared, not 1", got)
	}
	for range 2 {
		if err := e.read.QueryRow("SELECT nonsense").Scan(new(int)); err == nil {
			t.Error("a wrong statement has no error")
		}
	}
	for i := range maxPrepared + 5 { // the rest is not kept, and works
		var n int
		if err := e.read.QueryRow(fmt.Sprintf("SELECT %d", i)).Scan(&n); err != nil || n != i {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if got := len(e.read.prepared); got != maxPrepared {
		t.Errorf("%d statements are kept", got)
	}
}
