package learning

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/recall"
)

// All that a file says of its memory arrives.
func TestMemoryOptions(t *testing.T) {
	three, none := 3, 0
	o, err := Options(&ir.Memory{ShortTermTasks: &three, ShortTermAge: time.Hour, ConsolidateEvery: &none, Embedder: &ir.Embedder{Provider: "none"}})
	if err != nil || o.ShortTerm != (memory.ShortTerm{Tasks: 3, Age: time.Hour}) || o.ConsolidateEvery != 0 || o.Embedder != nil || o.WordVectors {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = Options(&ir.Memory{})
	if err != nil || o.ShortTerm != (memory.ShortTerm{}) || o.ConsolidateEvery != 10 || o.Embedder == nil || !o.WordVectors {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = Options(&ir.Memory{Embedder: &ir.Embedder{Provider: "ollama", Model: "m", BaseURL: "http://127.0.0.1:9"}})
	if err != nil || o.Embedder.Model() != "ollama:m" {
		t.Errorf("%+v, %v", o, err)
	}
	for says, want := range map[string]string{"": "/repo/.flowrun", "mem": "/repo/flows/mem", "../mem": "/repo/mem", "/mem": "/mem"} {
		if got := Dir(&ir.Memory{Store: says}, "/repo/.flowrun", "/repo/flows"); got != want {
			t.Errorf("%q is %s, want %s", says, got, want)
		}
	}
}

// Working memory is there for whoever comes in the run, and is archived once it has lasted long enough.
func TestWorkingMemoryIsRefreshed(t *testing.T) {
	m, err := memory.Open(t.TempDir(), memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx := context.Background()
	a := attempts{m, time.Hour, func(context.Context) {}}
	who := recall.Who{Run: "r1", Step: "find", Agent: "finder"}
	note := recall.Entry{Who: who, Key: "k", Note: true, Learned: event.Learned{Type: "note", Text: "Port 8080 is taken."}}
	for range 2 { // recorded again, it is the same
		if _, _, err := a.Remember(ctx, note); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		run     string
		refresh time.Duration
		want    int
	}{{"r1", time.Hour, 1}, {"r2", time.Hour, 0}, {"r1", time.Nanosecond, 0}, {"r1", time.Hour, 0}} {
		a.refresh = c.refresh
		got, err := a.Recall(ctx, recall.Ask{Who: recall.Who{Run: c.run, Agent: "other"}, Task: "Something else.", Budget: 1000, Most: 5})
		if err != nil || len(got.Entries) != c.want {
			t.Errorf("run %s after %s: %+v, %v", c.run, c.refresh, got, err)
		}
	}
}

// A run is noted once, stays noted until it is settled, and belongs to other processes unless a binding of this one has noted it.
func TestPendingRuns(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // which keeps nobody out
	dir := filepath.Join(t.TempDir(), "learning")
	mine, other := pendingRuns{dir: dir}, pendingRuns{dir: dir}
	if left := mine.others(); left != nil {
		t.Errorf("%v", left)
	}
	for range 2 {
		if err := mine.begin("aaaa"); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "aaaa"): 0o600} {
		if i, err := os.Stat(path); err != nil || i.Mode().Perm() != want {
			t.Errorf("%s is %v, %v", path, i.Mode(), err)
		}
	}
	if mine.others() != nil || len(other.others()) != 1 {
		t.Errorf("left: %v, to another: %v", mine.others(), other.others())
	}
	if mine.release("aaaa"); len(mine.others()) != 1 {
		t.Error("a run that its binding has left is not pending any more")
	}
	for range 2 { // the other may have been faster
		if err := other.settle("aaaa"); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}
