package serve

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

var (
	load = flag.Int("serve.load", 20, "how many parked runs TestLoad serves, and half as many that wait for an event; from 100 on it prints figures, and from 10,000 on it asserts them")
	live = flag.Int("serve.live", 5, "how many more runs have an attempt in flight")
)

// loadProgram has runs that wait, runs with an attempt in flight, routines and loops.
func loadProgram(url string, routines, loops int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
workflow "long" {
  step "pause" {
    wait { duration = "1h" }
  }
}

workflow "order" {
  step "paid" {
    wait {
      event   = "order.paid"
      timeout = "2h"
    }
  }
}

workflow "live" {
  step "ask" {
    http { url = %q }
  }
}

workflow "work" {
  step "a" { value = 1 }
}

agent "sam" {
  type    = "exec"
  command = ["true"]
}
`, url)
	for i := range routines {
		fmt.Fprintf(&b, "\nroutine \"r%d\" {\n  workflow = workflow.work\n  cron     = \"%d %d 1 1 *\"\n}\n", i, i%60, i/60)
	}
	for i := range loops {
		fmt.Fprintf(&b, "\nloop \"l%d\" {\n  agents = [agent.sam]\n  source \"dispatch\" {}\n  handle { workflow = workflow.work }\n}\n", i)
	}
	return b.String()
}

// TestLoad serves a store with parked runs, runs with an attempt in flight, routines and loops. The next daemon takes the parked runs over
// without a look at their journals, begins the attempts anew, and wakes a parked run by an event.
func TestLoad(t *testing.T) {
	var asked atomic.Int64
	release := make(chan struct{})
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer peer.Close()
	defer close(release)
	routines, loops := 5, 2
	if *load >= 100 {
		routines, loops = 500, 10
	}
	dir, text := t.TempDir(), loadProgram(peer.URL, routines, loops)
	s, start := openStoreOf(t, dir, text)
	parked := *load + *load/2
	var first, order string
	for i := range *load {
		run := start("long")
		if i == 0 {
			first = run
		}
	}
	for range *load / 2 {
		order = start("order")
	}
	began := time.Now()
	if err := New(Options{Store: s}).Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := time.Since(began)
	for range *live {
		start("live")
	}
	d, _, stop := serving(t, s, ServerOptions{})
	until(t, "the attempts are in flight", func() bool { return asked.Load() == int64(*live) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	asked.Store(0)
	s, _ = openStoreOf(t, dir, text)
	changes := driverChanges(t, s, first)
	before := processTime(t)
	began = time.Now()
	d, at, stop := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	until(t, "the daemon is ready", func() bool { status, _ := c.ask("GET", "/readyz", ""); return status == 200 })
	ready := time.Since(began)
	c.ask("POST", "/api/v1/events", fmt.Sprintf(`{"event":"order.paid","run":%q}`, order))
	until(t, "the event has woken its run", func() bool {
		_, b := c.ask("GET", "/api/v1/runs/"+order, "")
		return strings.Contains(string(b), `"finished_at":"`)
	})
	woken := time.Since(began)
	until(t, "the attempts are in flight again", func() bool { return asked.Load() >= int64(*live) })
	taken := time.Since(began)
	until(t, "no more runs are driven than those with an attempt in flight", func() bool { return d.runs.Driven() == *live })
	if n := driverChanges(t, s, first) - changes; n != 0 {
		t.Errorf("the journal of a run that only waits got %d changes of driver", n)
	}
	var programs Programs
	_, body := c.ask("GET", "/api/v1/programs", "")
	if err := json.Unmarshal(body, &programs); err != nil || len(programs.Programs) != 1 {
		t.Errorf("the programs are %.200s, %v", body, err)
	}
	time.Sleep(100 * time.Millisecond)
	idle, heap, rss := processTime(t), heapSize(), residentSize(t)
	if *load >= 100 {
		time.Sleep(10 * time.Second)
	}
	used := processTime(t) - idle
	began = time.Now()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stopped := time.Since(began)
	if *load < 100 {
		return
	}
	t.Logf("%d parked runs (made in %v), %d live, %d routines, %d loops: ready after %v, an event has woken its run after %v, all attempts in flight after %v (%v of CPU), heap %d MiB, resident %d MiB, 10 s of idling take %v of CPU, stopped after %v",
		parked, made, *live, routines, loops, ready, woken, taken, idle-before, heap>>20, rss>>20, used, stopped)
	if *load >= 10_000 && (ready > 3*time.Second || rss > 400<<20 || stopped > 10*time.Second) {
		t.Errorf("ready after %v, %d MiB, stopped after %v; want 3 s, 400 MiB, 10 s at most", ready, rss>>20, stopped)
	}
}

// driverChanges counts the changes of driver in the journal of a run.
func driverChanges(t *testing.T, s *standalone.Store, run string) (n int) {
	t.Helper()
	var reader *journal.Reader
	info, err := s.Get(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Pinned(t.Context(), info.Run)
	if err != nil {
		t.Fatal(err)
	}
	reader = journal.NewReader(p.Header)
	_, err = s.Batches(t.Context(), run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for i := range events {
			if events[i].DriverChanged != nil {
				n++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func heapSize() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// residentSize is the memory of this process, in bytes; 0 where the system does not tell.
func residentSize(t *testing.T) (size uint64) {
	t.Helper()
	debug.FreeOSMemory()
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			if _, err := fmt.Sscan(rest, &size); err != nil {
				t.Fatal(err)
			}
		}
	}
	return size << 10
}

// processTime is the CPU time of this process.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
