package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/app"
	"github.com/flowrun/flowrun/runner/engine"
)

// What mortal is told by its environment: a signal and the number of the point at which it sends that to itself, and the file
// in which it notes the point's kind before.
const (
	mortalAt   = "FLOWRUN_TEST_AT"
	mortalNote = "FLOWRUN_TEST_NOTE"
)

// mortal is flowrun, but that it kills or stops itself at a point of its driving: "KILL 7" is the seventh that it comes by,
// "STOP 7" the seventh at which it holds no lock of the database. The real one has no such door.
func mortal() {
	p := app.Process()
	var name string
	var n int
	if _, err := fmt.Sscan(os.Getenv(mortalAt), &name, &n); err == nil {
		p.At = doom(name, n)
	}
	os.Exit(app.Main(os.Args[1:], p))
}

func doom(name string, n int) func(engine.Point) {
	var mu sync.Mutex
	return func(p engine.Point) {
		mu.Lock()
		defer mu.Unlock()
		if name == "STOP" && p == engine.Appending {
			return
		}
		if n--; n != 0 {
			return
		}
		if err := os.WriteFile(os.Getenv(mortalNote), []byte(p), 0o600); err != nil {
			panic(err)
		}
		if name == "STOP" {
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(50 * time.Millisecond) // another thread may hear of it first, and this one should get no further
			return
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// mortalBinary gives the path under which this binary is mortal.
func mortalBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mortal")
	if err := os.Symlink(self, path); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	return path
}
