package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// TestFailedSync has one sync fail, each in turn, while all later ones say yes, as a kernel does that has dropped what it
// could not write. After the error nothing is acknowledged and no attempt starts; opening afresh goes on, on the same computer
// without a restart, and when the power goes later on.
func TestFailedSync(t *testing.T) {
	hit, byFile := 0, map[string]int{}
	const last = 50
	for i := range *syncCases {
		n := 1 + i*last / *syncCases
		dir := t.TempDir() + "/store"
		d, s := newFaultyDisk(t, dir, int64(n)), newShown()
		d.failSync, d.half = n, n%2 == 0
		after := 0
		x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			if d.hasFailed() {
				after++
			}
			return answersOK(ctx, a)
		})
		atFailure := -1
		d.onFailure = func() { atFailure = s.count() }
		err := busy(dir, Options{disk: d.option(), Executor: x}, s)
		if !d.hasFailed() {
			t.Fatalf("sync %d: there were only %d", n, d.syncs)
		}
		hit++
		byFile[filepath.Base(d.failed)]++
		var sql *sqlite.Error
		var own *os.PathError
		if !errors.As(err, &sql) && !errors.As(err, &own) {
			t.Errorf("sync %d of %s fails and the store says %v", n, d.failed, err)
		}
		if strings.Contains(filepath.Base(d.failed), databaseFile) && (s.count() != atFailure || after > 0) {
			t.Errorf("sync %d of %s: %d events were acknowledged before it and %d in all, %d attempts began after it", n, d.failed, atFailure, s.count(), after)
		}
		for _, cut := range []int{15, 40, 100} {
			if lost, err := goesOn(t, d, s, cut); lost > 0 || err != nil {
				t.Errorf("sync %d of %s, then the power goes at %d: %d lost, %v", n, d.failed, cut, lost, err)
			}
		}
	}
	t.Logf("%d of %d syncs failed, by file: %v", hit, *syncCases, byFile)
}

// goesOn opens a store whose process was killed after a sync had failed: its files as the kernel shows them, which the disk
// does not hold in full. It is driven on; then the power goes, and what was acknowledged before and after is looked for.
func goesOn(t *testing.T, old *faultyDisk, before *shown, cut int) (int, error) {
	dir := t.TempDir() + "/store"
	d := newFaultyDisk(t, dir, 1)
	d.takeOver(t, old)
	d.cutAt = cut
	s := &shown{runs: slices.Clone(before.runs), events: maps.Clone(before.events), end: maps.Clone(before.end)}
	o := Options{disk: d.option()}
	o.disk.checkpoint = 0 // rarely: what was left behind is followed by much
	if err := busy(dir, o, s); err == nil || d.image == nil {
		return 0, fmt.Errorf("without power: %v", err)
	}
	left := t.TempDir() + "/store"
	restore(t, dir, left, d.image)
	return survived(left, s)
}
