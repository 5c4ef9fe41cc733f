package local

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var fullCases = flag.Int("local.full", 10, "how often TestDiskFull fills the disk in the middle of a run, with and without a reserve each")

// fillUp leaves a disk with room for so many bytes more.
func (d *faultyDisk) fillUp(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = bytes
}

func (d *faultyDisk) turnedAway() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// TestDiskFull fills the disk in the middle of a run, at another point in each case, and frees it again. Nothing acknowledged
// is lost, new work is refused with the reason, reading goes on, and the run comes to its end without a driver's death.
func TestDiskFull(t *testing.T) {
	acknowledged := 0
	for i := range *fullCases {
		for _, reserve := range []bool{true, false} {
			acknowledged += diskFull(t, int64(i), reserve)
		}
	}
	t.Logf("%d times a disk without room; %d events were acknowledged before, 0 lost", 2**fullCases, acknowledged)
}

func diskFull(t *testing.T, i int64, reserve bool) int {
	t.Helper()
	dir := t.TempDir() + "/store"
	d, s := newFaultyDisk(t, dir, i), newShown()
	var left atomic.Int64
	left.Store(1 + i%7)
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if left.Add(-1) == 0 {
			d.fillUp(i * 1711 % 20000)
		}
		return answersOK(ctx, a)
	})
	o := Options{Factory: enginetest.Factory, Executor: x, disk: d.option()}
	o.disk.checkpoint = 0 // so that the log grows with each commit
	e, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { e.Close() }()
	if reserve {
		if err := e.replenish(); err != nil {
			t.Fatal(err)
		}
	}
	run, other := begin(t, e, tasks(40)), begin(t, e, tasks(1))
	s.runs = []string{run, other}
	if _, err := e.Drive(context.Background(), run, s.watcher(run)); !errors.Is(err, engine.ErrFull) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("case %d, reserve %v: the drive ends with %v", i, reserve, err)
	}
	if d.turnedAway() == 0 {
		t.Fatalf("case %d: no write was refused", i)
	}
	if _, err := e.Start(context.Background(), tasks(1).Start()); !errors.Is(err, engine.ErrFull) {
		t.Errorf("case %d, reserve %v: a start gives %v", i, reserve, err)
	}
	if _, err := e.Drive(context.Background(), other, nil); !errors.Is(err, engine.ErrFull) {
		t.Errorf("case %d, reserve %v: driving another run gives %v", i, reserve, err)
	}
	reader, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("case %d, reserve %v: %v", i, reserve, err)
	}
	if list, err := reader.List(context.Background(), 0); err != nil || len(list) != 2 || list[1].Run != run || reserve && (list[1].Crashed || list[1].Driver != 0) {
		t.Errorf("case %d, reserve %v: the list is %+v, %v", i, reserve, list, err)
	}
	if list, err := eventsOf(reader, run); err != nil || len(list) < s.count() {
		t.Errorf("case %d, reserve %v: %d events were acknowledged, %d are there, %v", i, reserve, s.count(), len(list), err)
	}
	reader.Close()
	if err := e.Cancel(context.Background(), other, "no room"); reserve && err != nil || err != nil && !errors.Is(err, engine.ErrFull) {
		t.Errorf("case %d, reserve %v: a cancel gives %v", i, reserve, err)
	}
	if _, err := os.Stat(filepath.Join(dir, reserveFile)); err == nil {
		t.Errorf("case %d: the reserve is still there", i)
	}
	before := s.count()
	d.fillUp(ReserveFrom)
	if i%2 == 0 { // and by another process
		e.Close()
		if e, err = Open(dir, o); err != nil {
			t.Fatal(err)
		}
	}
	if end, err := e.Drive(context.Background(), run, s.watcher(run)); err != nil || end.Status != event.Succeeded {
		t.Fatalf("case %d, reserve %v: with room again: %v, %v", i, reserve, end, err)
	}
	list := journalOf(t, e, run)
	for _, ev := range list {
		if c := ev.DriverChanged; c != nil && c.Lost {
			t.Errorf("case %d: the stop counts as a death: %+v", i, c)
		}
	}
	e.Close()
	if lost, err := survived(dir, s); lost > 0 || err != nil {
		t.Errorf("case %d, reserve %v: %d acknowledged events lost, %v", i, reserve, lost, err)
	}
	return before
}

// TestReserve is made when there is room, remade, and not made when there is too little.
func TestReserve(t *testing.T) {
	dir := t.TempDir() + "/store"
	d := newFaultyDisk(t, dir, 1)
	e, err := Open(dir, Options{disk: d.option()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	path := filepath.Join(dir, reserveFile)
	for _, c := range []struct{ room, size int64 }{{ReserveFrom - 1, 0}, {ReserveFrom, ReserveSize}, {0, ReserveSize}} {
		d.fillUp(c.room)
		if err := e.replenish(); err != nil {
			t.Error(err)
		}
		var size int64
		info, err := os.Stat(path)
		if err == nil {
			size = info.Size()
		}
		if size != c.size {
			t.Errorf("with room for %d the reserve has %d bytes, want %d, %v", c.room, size, c.size, err)
		}
	}
	if err := os.Truncate(path, 1); err != nil { // cut off by a crash
		t.Fatal(err)
	}
	d.fillUp(ReserveFrom)
	if err := e.replenish(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != ReserveSize {
		t.Errorf("a reserve that was cut off is not written again: %v, %v", info, err)
	}
}
