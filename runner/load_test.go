package runner_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

var (
	loadRuns   = flag.Int("runs", 60, "how many runs TestManyRuns drives at once")
	loadParked = flag.Int("parked", 60, "how many more runs it parks; from 1,000 on it asserts the figures")
)

// loadPrograms is how many programs the runs of TestManyRuns have. Two of them are slow: the agent of one does not answer, nor does the
// embedder of the other.
const (
	loadPrograms   = 20
	agentStands    = 18
	embedderStands = 19
)

// loadProgram has a secret, a memory, a wait, and steps, of which program n has 3 to 7.
func loadProgram(n int, embedder string) string {
	text := `
memory {
  store = "memory"
  embedder { EMBEDDER }
}
variable "token" {
  type      = string
  sensitive = true
}
variable "wait" { type = string }
agent "coder" {
  type    = "exec"
  command = ["coder"]
  memory { trusted = true }
}
workflow "top" {
  default = true
  step "rest" {
    wait { duration = var.wait }
  }
  step "work" {
    agent = agent.coder
    task  = "Repair part NUMBER."
    depends_on = [step.rest]
  }
  step "s0" {
    run = ["print", "--", var.token]
    depends_on = [step.work]
  }
STEPS}
`
	says := `provider = "none"`
	if n == embedderStands {
		says = fmt.Sprintf("\n    provider = \"ollama\"\n    model    = \"m\"\n    base_url = %q\n  ", embedder)
	}
	var steps strings.Builder
	for i := range n % 5 {
		fmt.Fprintf(&steps, "  step \"s%d\" {\n    run = [\"true\"]\n    depends_on = [step.s%d]\n  }\n", i+1, i)
	}
	return strings.NewReplacer("EMBEDDER", says, "NUMBER", fmt.Sprint(n), "STEPS", steps.String()).Replace(text)
}

// load is a service with a supervisor and 20 programs.
type load struct {
	t       *testing.T
	service *runner.Service
	*runner.Supervisor
	programs []*ir.Program
	dirs     []string
	clock    *movedClock
	stands   chan struct{} // closed when the slow agent and the slow embedder answer

	mu      sync.Mutex
	program map[string]int // of the runs
	ended   [loadPrograms]int
	late    []time.Duration
	wrong   []string
}

func newLoad(t *testing.T) *load {
	x := &load{t: t, clock: &movedClock{}, stands: make(chan struct{}), program: map[string]int{}}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-x.stands:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(slow.Close)
	for n := range loadPrograms {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(loadProgram(n, slow.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		x.programs, x.dirs = append(x.programs, p.IR), append(x.dirs, dir)
	}
	registry := executor.Registry{}
	registry.Register(x, event.RunAttempt, event.ExecAgentAttempt)
	store := t.TempDir()
	x.service = runner.New(runner.Options{Store: store, Executors: registry})
	host, err := local.Open(store, local.Options{Factory: x.service.Machine, Executor: x.service, Watch: x.service.Observe, Clock: x.clock})
	if err != nil {
		t.Fatal(err)
	}
	x.service.Attach(host)
	x.Supervisor = runner.NewSupervisor(x.service, runner.SupervisorOptions{MaxDriven: 2000, Watch: x.watch, Ended: x.end})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- x.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-stopped; !errors.Is(err, context.Canceled) {
			t.Errorf("the supervisor ends with %v", err)
		}
		if err := x.service.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// token is the secret of a program.
func token(n int) string { return fmt.Sprintf("the-secret-of-program-%02d", n) }

// Execute implements executor.Executor.
func (x *load) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	x.mu.Lock()
	n, known := x.program[a.Run]
	if a.Name == "s0" && (len(a.Argv) != 3 || a.Argv[2] != token(n)) || !known {
		x.wrong = append(x.wrong, fmt.Sprintf("%s of program %d gets %q", a.Name, n, a.Argv))
	}
	x.mu.Unlock()
	if n == agentStands && a.Agent != nil {
		select {
		case <-x.stands:
		case <-ctx.Done():
		}
	}
	ans := executor.Answer(a)
	ans.StartedAt, ans.Outcome = event.At(x.clock.Now()), event.OK
	return ans
}

// watch notes how late timers fire.
func (x *load) watch(string) engine.Watcher {
	due := map[uint64]event.Time{}
	return func(events []event.Event, r *event.Reaction, replayed bool) {
		for _, ev := range events {
			if f := ev.TimerFired; f != nil && !replayed {
				x.mu.Lock()
				x.late = append(x.late, ev.At.Sub(due[f.Timer]))
				x.mu.Unlock()
			}
		}
		for _, c := range r.Commands {
			if c.SetTimer != nil {
				due[c.SetTimer.Timer] = c.SetTimer.Due
			}
		}
	}
}

func (x *load) end(run string, end event.End, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil || end.Status != event.Succeeded:
		x.wrong = append(x.wrong, fmt.Sprintf("run %s of program %d ends as %s, %v", run, x.program[run], end.Status, err))
	}
	x.ended[x.program[run]]++
}

// start starts n runs of all programs, which wait before they work.
func (x *load) start(n int, wait func(i int) time.Duration) {
	x.t.Helper()
	var all sync.WaitGroup
	for worker := range 32 {
		all.Go(func() {
			for i := worker; i < n; i += 32 {
				p := i % loadPrograms
				definition := x.programs[p].Canonical()
				run := engine.NewID()
				x.mu.Lock()
				x.program[run] = p
				x.mu.Unlock()
				_, err := x.service.Start(x.t.Context(), engine.Start{
					Header:     journal.Header{Run: run, Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "top"},
					Definition: definition,
					First: event.RunStarted{Run: run, Workflow: "top", Dir: x.dirs[p], Vars: map[string]value.Value{"wait": wait(i).String()},
						Secrets: map[string]event.Secret{"var.token": {From: "given", Salt: "00", Rounds: 1, Hash: "00"}}},
				}, map[string]value.Value{"var.token": token(p)})
				if err != nil {
					x.t.Error(err)
					return
				}
				x.Add(run)
			}
		})
	}
	all.Wait()
}

// until waits until a condition holds.
func (x *load) until(what string, holds func() bool) {
	x.t.Helper()
	for due := time.Now().Add(10 * time.Minute); !holds(); time.Sleep(2 * time.Millisecond) {
		if x.t.Failed() || time.Now().After(due) {
			x.t.Fatalf("it never came that %s", what)
		}
	}
}

// quick is how many runs of the programs that are not slow have ended.
func (x *load) quick() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range x.ended[:agentStands] {
		n += m
	}
	return n
}

func (x *load) all() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range x.ended {
		n += m
	}
	return n
}

func quickOf(n int) (quick int) {
	for i := range n {
		if i%loadPrograms < agentStands {
			quick++
		}
	}
	return quick
}

func heapAfterCollection() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Many runs of 20 programs with secrets and memories are driven by one process, and many more are parked. No run waits for the slow
// agent or the slow embedder of another. A parked run takes little memory and no processor, and is woken when it is due.
func TestManyRuns(t *testing.T) {
	x := newLoad(t)
	long := func(int) time.Duration { return time.Hour }
	parked := func(n int) func() bool {
		return func() bool { return x.service.Sessions() == 0 && x.service.Trees() == n }
	}
	half := max(*loadParked/2, loadPrograms)
	x.start(half, long)
	x.until("half of the runs are parked", parked(half))
	before, began := heapAfterCollection(), time.Now()
	x.start(half, long)
	x.until("all runs are parked", parked(2*half))
	each := (heapAfterCollection()-before)/int64(half) - programEntry
	t.Logf("%d runs were started and parked in %v", half, time.Since(began).Round(time.Millisecond))
	if *loadParked >= 1000 { // of a few, other things of the process hide it
		t.Logf("a parked run takes %d bytes of heap", each)
	}

	rest := time.Duration(0)
	if *loadParked >= 1000 {
		rest = 5 * time.Second
	}
	worked := processorTime(t)
	time.Sleep(rest)
	used := processorTime(t) - worked
	t.Logf("while they are parked, the process takes %v of processor in %v", used, rest)

	const soon = loadPrograms
	x.start(soon, func(i int) time.Duration { return 1200*time.Millisecond + time.Duration(i)*20*time.Millisecond })
	x.until("the runs that are due soon are woken and end, but for the slow ones", func() bool { return x.quick() == quickOf(soon) })
	x.mu.Lock()
	late := slices.Clone(x.late)
	x.mu.Unlock()
	slices.Sort(late)
	t.Logf("%d of them were woken %v late in the median, and %v at most", len(late), late[len(late)/2], late[len(late)-1])
	if late[0] < 0 {
		t.Errorf("a timer fired %v before its due", -late[0])
	}

	began, worked = time.Now(), processorTime(t)
	x.start(*loadRuns, func(int) time.Duration { return time.Millisecond })
	x.until("all runs but the slow ones have ended", func() bool { return x.quick() == quickOf(soon)+quickOf(*loadRuns) })
	took, slow := time.Since(began), soon+*loadRuns-x.all()
	t.Logf("%d runs ended after %v and %v of processor, beside %d slow ones and %d parked ones", quickOf(*loadRuns), took.Round(time.Millisecond),
		(processorTime(t) - worked).Round(time.Millisecond), slow, 2*half)
	if slow == 0 {
		t.Error("no run is slow, so the test proves nothing")
	}
	close(x.stands)
	x.until("the slow runs have ended", func() bool { return x.all() == soon+*loadRuns })
	x.until("the ended runs are finished", parked(2*half))
	if n := heapAfterCollection(); *loadParked >= 1000 {
		t.Logf("the heap has %d MB at the end", n>>20)
	}
	for _, text := range x.wrong {
		t.Error(text)
	}
	if *loadParked >= 1000 && (each > 2048 || used > rest/20 || late[len(late)/2] > 100*time.Millisecond) {
		t.Errorf("a parked run takes %d bytes, all of them %v of processor in %v, and one was woken %v late in the median", each, used, rest, late[len(late)/2])
	}
}

// programEntry is what the test itself keeps of each run, in bytes.
const programEntry = 60

func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
