package local

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

func TestLockIsWaitedForAndNotForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := lockFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, 4 * durable.LockBeat} {
		began := time.Now()
		if _, err := lockFile(path, wait); !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(began) < wait {
			t.Errorf("a lock that is held gives %v after %v", err, time.Since(began))
		}
	}
	time.AfterFunc(4*durable.LockBeat, func() { held.Close() })
	second, err := lockFile(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

func TestStoreHeldByAStoppedProcess(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	other := s.open(t, Options{Factory: enginetest.Factory})
	for _, step := range []struct {
		c     *committer
		query string
	}{{other.commits, "BEGIN IMMEDIATE"}, {e.commits, "PRAGMA busy_timeout = 1"}} {
		if _, err := step.c.exec(step.query); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Start(context.Background(), enginetest.Chain(1).Start()); !errors.Is(err, ErrBusy) {
		t.Errorf("a start gives %v", err)
	}
	if _, err := other.commits.exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}
