package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

var (
	webNodes = flag.String("web.nodes", "10", "how many nodes the runs of TestLargeRuns have; the whole: 10,5000,100000")
	webPages = flag.Int("web.pages", 3, "how many pages are open in TestOpenPages; the whole: 50")
	webHours = flag.Int("web.hours", 1, "how long a page is open in TestOpenForADay; the whole: 24")
)

// storeOf makes a store with a program of n steps. start makes a run of it, and drive drives one to its end.
func storeOf(t *testing.T, n int, step string) (s *standalone.Store, start func() string, drive func(run string)) {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("workflow \"w\" {\n  max_concurrency = 4\n  step \"all\" {\n    for_each = range(0, %d)\n    %s\n  }\n}\n", n-1, step)
	if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	s, err := standalone.Open(filepath.Join(dir, "store"), standalone.Options{AnyRoom: true, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	definition := p.IR.Canonical()
	start = func() string {
		t.Helper()
		run, err := s.Start(t.Context(), engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "w"},
			Definition: definition, First: event.RunStarted{Workflow: "w", Dir: dir}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	return s, start, func(run string) {
		t.Helper()
		if _, err := s.Drive(t.Context(), run, nil); err != nil {
			t.Fatal(err)
		}
		s.Release(run)
	}
}

func processTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLargeRuns draws the pages of large runs: they fold what they have no room for. The whole, whose times are those of the process:
//
//	go test ./cmd/flowrun/internal/web -run TestLargeRuns -web.nodes 10,5000,100000 -v
func TestLargeRuns(t *testing.T) {
	for _, words := range strings.Split(*webNodes, ",") {
		var n int
		if _, err := fmt.Sscan(words, &n); err != nil {
			t.Fatal(err)
		}
		s, start, drive := storeOf(t, n, "value = each.value")
		run := start()
		drive(run)
		pages := New(serve.Reader(s))
		for _, tab := range []string{"", "?tab=graph", "?tab=timeline", "?under=all&page=2"} {
			least, size, tight := time.Duration(1<<62), 0, 0
			for range 3 {
				w := httptest.NewRecorder()
				runtime.GC()
				before := processTime(t)
				pages.ServeHTTP(w, httptest.NewRequest("GET", "/runs/"+run+tab, nil))
				least = min(least, processTime(t)-before)
				if w.Code != 200 {
					t.Fatalf("%d: %.1000s", w.Code, w.Body)
				}
				var z bytes.Buffer
				g := gzip.NewWriter(&z)
				_, _ = g.Write(w.Body.Bytes())
				_ = g.Close()
				size, tight = w.Body.Len(), z.Len()
			}
			t.Logf("%6d nodes %-18s %9s of the processor, %8d bytes, %7d with gzip", n, tab, least.Round(100*time.Microsecond), size, tight)
			most, slowest := 60<<10, 150*time.Millisecond // of a small run, with gzip
			if n > 10 {
				most, slowest, tight = 1<<20, 400*time.Millisecond, size
			}
			if n > 10_000 {
				most, slowest = 2<<20, time.Hour // it is folded; no bound of its time was promised
			}
			if tight > most || least > slowest {
				t.Errorf("the page of %d nodes has %d bytes and takes %s", n, tight, least)
			}
		}
		pages.Close()
	}
}

// TestOpenPages drives the same run with and without open pages, which draw themselves again at each change as a browser does: pages of the
// run, of the list of runs, and of what goes on now. Another process, which gives way to this one, opens them. How much longer the run takes,
// and the time of the processor, are printed: they say something on a machine that does nothing else. The whole:
//
//	go test ./cmd/flowrun/internal/web -run TestOpenPages -web.pages 50 -v
func TestOpenPages(t *testing.T) {
	steps, repeats := 40, 1
	if *webPages >= 50 {
		steps, repeats = 2000, 7
	}
	s, start, drive := storeOf(t, steps, `run = ["true"]`)
	d := serve.New(serve.Options{Store: s})
	at, err := d.Listen("127.0.0.1:0", serve.ServerOptions{Pages: New})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var ratios, costs []float64
	drawn, seconds := 0, 0.0 // with open pages
	for i := range repeats {
		var took, used [2]time.Duration
		for j := range 2 {
			with := (i + j) % 2
			run := start()
			var close func() int
			if with == 1 {
				close = openPages(t, at, run, *webPages)
			}
			began, before := time.Now(), processTime(t)
			drive(run)
			took[with], used[with] = time.Since(began), processTime(t)-before
			if with == 1 {
				drawn += close()
			}
		}
		ratios = append(ratios, float64(took[1])/float64(took[0]))
		costs = append(costs, float64(used[1])/float64(used[0]))
		seconds += took[1].Seconds()
		t.Logf("with pages %s and %s of the processor, without %s and %s", took[1], used[1], took[0], used[0])
	}
	slices.Sort(ratios)
	slices.Sort(costs)
	t.Logf("%d pages, drawn %d times in %.1f s; a run of %d steps takes %.3f times as long (%.3f to %.3f in %d pairs), and this process %.3f times the processor",
		*webPages, drawn, seconds, steps, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], repeats, costs[len(costs)/2])
	// Each page is drawn when it is opened, and is told of a change once in its rest; a pair ends with pages that are being drawn.
	most := float64(*webPages) * (seconds/restAfter.Seconds() + float64(3*repeats))
	if drawn < *webPages || float64(drawn) > most {
		t.Errorf("%d pages were drawn %d times, %.0f at most", *webPages, drawn, most)
	}
}

// openPages opens pages in another process. close closes them, and returns how often they were drawn.
func openPages(t *testing.T, at, run string, n int) (close func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^TestBrowser$", "-test.v")
	c.Env = append(os.Environ(), fmt.Sprintf("FLOWRUN_BROWSER=%s %s %d", at, run, n))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	value := func(name string) (n int) {
		for lines.Scan() {
			if text, is := strings.CutPrefix(lines.Text(), name+" "); is {
				n, err = strconv.Atoi(text)
				return n
			}
		}
		t.Errorf("the pages of another process do not say %q", name)
		return 0
	}
	value("open")
	return func() int {
		in.Close()
		drawn := value("drawn")
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		return drawn
	}
}

// TestBrowser is the other process of TestOpenPages.
func TestBrowser(t *testing.T) {
	var at, run string
	var n int
	if _, err := fmt.Sscan(os.Getenv("FLOWRUN_BROWSER"), &at, &run, &n); err != nil {
		t.Skip("it is a part of TestOpenPages")
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
	paths := []string{"/runs/" + run, "/runs", "/"}
	ctx, cancel := context.WithCancel(t.Context())
	var open sync.WaitGroup
	var drawn, opened atomic.Int64
	for i := range n {
		open.Go(func() { keepOpen(ctx, t, at, paths[i%len(paths)], &opened, &drawn) })
	}
	for opened.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("open 0")
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	open.Wait()
	fmt.Println("drawn", drawn.Load())
}

// keepOpen is a page that is open: it loads the page at each event of the stream.
func keepOpen(ctx context.Context, t *testing.T, at, path string, opened, drawn *atomic.Int64) {
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, "GET", at+path, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("HX-Request", "true")
		return http.DefaultClient.Do(r)
	}
	stream := "/live"
	if run, is := strings.CutPrefix(path, "/runs/"); is {
		stream += "?run=" + run
	}
	events, err := get(stream)
	if err != nil {
		t.Error(err)
		opened.Add(1)
		return
	}
	defer events.Body.Close()
	buffer := make([]byte, 4096)
	for first := true; ; first = false {
		n, err := events.Body.Read(buffer)
		if err != nil {
			return
		}
		if !bytes.Contains(buffer[:n], []byte("event: change")) {
			continue
		}
		page, err := get(path)
		if err != nil {
			return
		}
		_, err = io.Copy(io.Discard, page.Body)
		page.Body.Close()
		if err != nil {
			return
		}
		if page.StatusCode != 200 {
			t.Errorf("%s: %s", path, page.Status)
		}
		if drawn.Add(1); first {
			opened.Add(1)
		}
	}
}

// TestOpenForADay leaves a page open in virtual time, while the store changes every 7 seconds: the page hears of each change at once, the
// stream keeps nothing of what was, and nothing is left when the page is closed. The whole: -web.hours 24.
func TestOpenForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 7030 * time.Millisecond // not a multiple of the pause between two looks
		begin := time.Now()
		stamp := func() string { return fmt.Sprint(time.Since(begin) / every) }
		p := &Pages{pulse: newPulse(stamp)}
		ctx, cancel := context.WithCancel(t.Context())
		w := &heard{begin: begin, every: every}
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = p.live(w, httptest.NewRequestWithContext(ctx, "GET", "/live", nil)) // ends with ctx
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		goroutines, heap := runtime.NumGoroutine(), heapOf()
		open := time.Duration(*webHours) * time.Hour
		time.Sleep(open)
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines, %d at the beginning", n, goroutines)
		}
		if now := heapOf(); now > heap+1<<20 {
			t.Errorf("the heap has %d bytes, %d at the beginning", now, heap)
		}
		cancel()
		<-over
		p.pulse.close()
		want := int((open+time.Minute)/every) + 1
		t.Logf("%s: %d events of %d changes, the latest %s after its change", open, w.events, want, w.latest)
		if w.events < want-1 || w.events > want+1 || w.latest > pulseEvery+restAfter {
			t.Error("the page falls behind, or is drawn for nothing")
		}
	})
}

func heapOf() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// heard counts the events of a stream, and keeps how late the latest was.
type heard struct {
	header http.Header
	begin  time.Time
	every  time.Duration
	events int
	latest time.Duration
}

func (h *heard) Header() http.Header {
	if h.header == nil {
		h.header = http.Header{}
	}
	return h.header
}

func (h *heard) WriteHeader(int) {}

func (h *heard) Flush() {}

func (h *heard) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("event: change")) {
		h.events++
		h.latest = max(h.latest, time.Since(h.begin)%h.every)
	}
	return len(b), nil
}
