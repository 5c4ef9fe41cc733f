package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// TestSyncsOfTheSystem has strace break the syncs of a process that drives a run: an error from the system, or a SIGKILL at the
// call. What it showed is there, no acknowledged attempt begins again, and another driver brings the run to its end.
func TestSyncsOfTheSystem(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not on the PATH")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may trace nothing here: %v: %s", err, out)
	}
	hits := map[string]int{}
	const calls = 4
	for _, fault := range []string{"error=EIO", "signal=SIGKILL"} {
		for n := 1; n <= calls; n++ {
			hits[fault] += breakSync(t, strace, fault, n)
		}
		if hits[fault] == 0 {
			t.Errorf("no sync was ever hit by %s", fault)
		}
	}
	t.Logf("of %d processes each, hit at a sync: %v", calls, hits)
}

// breakSync breaks the nth sync of each thread of a process, and tells whether any was.
func breakSync(t *testing.T, strace, fault string, n int) int {
	t.Helper()
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: childExecutor(s.dir)})
	run := begin(t, e, tasks(12))
	trace := t.TempDir() + "/trace"
	order, _ := json.Marshal(childOrder{Dir: s.dir, Run: run})
	c := exec.Command(strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,write", "-e", fmt.Sprintf("inject=fsync,fdatasync:%s:when=%d", fault, n), os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+string(order), "GOMAXPROCS=1")
	out, _ := c.CombinedOutput() // where the store cannot be opened, it panics with the reason
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	// What SQLite writes back when it is closed is whole in the log, so it keeps an error there to itself. The process has said by
	// then how the run ended.
	driving, _, _ := strings.Cut(string(text), `"shown `)
	hit := broken(driving, s.dir) || strings.Contains(string(text), "SIGKILL")
	shown := 0
	if _, after, ok := strings.Cut(string(out), "shown "); ok {
		fmt.Sscan(after, &shown)
	}
	if hit && strings.Contains(fault, "EIO") && !strings.Contains(string(out), "I/O error") && !strings.Contains(string(out), "input/output error") {
		t.Errorf("%s at sync %d: the process says %q", fault, n, out)
	}
	before := noted(t, s.dir)
	there, err := eventsOf(e, run)
	if err != nil || len(there) < shown {
		t.Fatalf("%s at sync %d: %d events were shown, %d are there, %v", fault, n, shown, len(there), err)
	}
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatalf("%s at sync %d: %v, %v", fault, n, end, err)
	}
	after := noted(t, s.dir)
	for _, ev := range there {
		if f := ev.AttemptFinished; f != nil {
			if line := fmt.Sprintf("%s|%d|%s/%s", f.Node, f.Attempt, run, f.Node); after[line] != before[line] {
				t.Errorf("%s at sync %d: %s was acknowledged and ran again", fault, n, line)
			}
		}
	}
	if hit {
		return 1
	}
	return 0
}

// broken tells whether a sync in a trace was given an error. That of the folder does not count: SQLite makes it once the log is new,
// and keeps its error to itself, too.
func broken(trace, dir string) bool {
	for line := range strings.Lines(trace) {
		if strings.Contains(line, "(INJECTED)") && !strings.Contains(line, "<"+dir+">") {
			return true
		}
	}
	return false
}
