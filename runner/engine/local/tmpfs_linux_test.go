package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// smallDisk mounts a file system of a few bytes, where that is allowed.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir() + "/disk"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("flowrun", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// stuff fills a disk to its last byte with one file.
func stuff(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "stuffing"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// TestDiskFullForReal fills a small disk 20 times over in the middle of one run after the other, and frees it again.
func TestDiskFullForReal(t *testing.T) {
	disk := smallDisk(t, "2m")
	dir := disk + "/store"
	full := 0
	for i := range 20 {
		n := 0
		x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			if n++; n == 1+i%5 {
				stuff(t, disk)
			}
			return answersOK(ctx, a)
		})
		e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: x})
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		s := newShown()
		run := begin(t, e, tasks(60))
		s.runs = []string{run}
		_, err = e.Drive(context.Background(), run, s.watcher(run))
		if errors.Is(err, engine.ErrFull) {
			full++
		} else if err != nil {
			t.Errorf("round %d: %v", i, err)
		}
		read := func(when string) {
			reader, err := Open(dir, Options{ReadOnly: true})
			if err != nil {
				t.Errorf("round %d, %s: %v", i, when, err)
				return
			}
			defer reader.Close()
			if list, err := reader.List(context.Background(), 1); err != nil || len(list) != 1 || list[0].Run != run {
				t.Errorf("round %d, %s: the list is %+v, %v", i, when, list, err)
			}
			if list, err := eventsOf(reader, run); err != nil || len(list) < s.count() {
				t.Errorf("round %d, %s: %d of %d events, %v", i, when, len(list), s.count(), err)
			}
		}
		read("while it is open")
		e.Close()
		stuff(t, disk)
		read("after it was closed")
		if err := os.Remove(filepath.Join(disk, "stuffing")); err != nil {
			t.Fatal(err)
		}
		if lost, err := survived(dir, s); lost > 0 || err != nil {
			t.Errorf("round %d: %d events lost, %v", i, lost, err)
		}
	}
	if full < 15 {
		t.Errorf("%d of 20 runs noticed that the disk was full", full)
	}
	t.Logf("%d of 20 runs were stopped by a full disk; 0 acknowledged events lost, each went on", full)
}

// TestLogOnAFullDiskIsRead reads what a process left that was killed before it wrote its log back.
func TestLogOnAFullDiskIsRead(t *testing.T) {
	disk := smallDisk(t, "2m")
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Chain(5))
	if _, err := e.Drive(context.Background(), run, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{databaseFile, databaseFile + "-wal", identityFile} {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || len(b) == 0 {
			t.Fatal(name, err)
		}
		if err := os.WriteFile(filepath.Join(disk, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stuff(t, disk)
	reader, err := Open(disk, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if i, err := reader.Find(context.Background(), "latest"); err != nil || i.Run != run || i.Status != event.Succeeded {
		t.Errorf("the run is %+v, %v", i, err)
	}
	if list, err := eventsOf(reader, run); err != nil || len(list) != 6 {
		t.Errorf("%d events, %v", len(list), err)
	}
}
