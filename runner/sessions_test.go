package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
)

// The two programs of the test differ in nothing but what their runs must not share: names of steps, agents and secrets are the same.
const twin = `
memory {
  store    = "memory"
  embedder { provider = "none" }
}

variable "token" {
  type      = string
  sensitive = true
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
  memory { trusted = true }
}

workflow "top" {
  default = true
  step "print" { run = ["print", "top", "--", var.token] }
  step "learn" {
    agent = agent.coder
    task  = "Deploy the billing service."
    depends_on = [step.print]
  }
  step "rest" {
    wait { duration = "WAIT" }
    depends_on = [step.learn]
  }
  step "apply" {
    agent = agent.coder
    task  = "Deploy the billing service."
    depends_on = [step.rest]
  }
  step "below" {
    call  = workflow.below
    depends_on = [step.apply]
  }
}

workflow "below" {
  step "rest" {
    wait { duration = "BELOW" }
  }
  step "print" {
    run = ["print", "below", "--", var.token]
    depends_on = [step.rest]
  }
}
`

// tree is one of the two programs, with its run.
type tree struct {
	name, secret, lesson string
	dir, definition      string
	program              *ir.Program
	run                  string
	end                  event.End
	err                  error
}

// world carries out the attempts of both runs. Attempts that the two runs make alike are carried out at the same time: each waits until
// the other one is there, too.
type world struct {
	trees map[string]*tree // by run; a called run is added when its first attempt comes
	t     *testing.T

	mu   sync.Mutex
	seen map[string][]event.Attempt // by run and step
	met  map[string]*meeting
}

type meeting struct {
	come int
	both chan struct{}
}

// meet waits for the other run's attempt of the same step.
func (w *world) meet(step string) {
	w.mu.Lock()
	m := w.met[step]
	if m == nil {
		m = &meeting{both: make(chan struct{})}
		w.met[step] = m
	}
	if m.come++; m.come == 2 {
		close(m.both)
	}
	w.mu.Unlock()
	select {
	case <-m.both:
	case <-time.After(time.Minute):
		w.t.Errorf("the two runs are not in step %s at the same time", step)
	}
}

// didBoth reports whether both runs began a step.
func (w *world) didBoth(step string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.met[step] != nil && w.met[step].come >= 2
}

// every text that an attempt writes holds the secrets of both programs: its own is masked, and the other's is not, for nothing of this
// run knows it.
const everySecret = "alpha-secret-1 beta-secret-22"

func (w *world) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	w.meet(a.Workflow + "/" + a.Name)
	w.mu.Lock()
	w.seen[a.Run+"/"+a.Name] = append(w.seen[a.Run+"/"+a.Name], a)
	w.mu.Unlock()
	ans := executor.Answer(a)
	ans.StartedAt, ans.Outcome, ans.Stdout = event.At(time.Now()), event.OK, everySecret
	if a.Agent != nil {
		ans.Stdout, ans.Output = "", everySecret
		if a.Name == "learn" {
			ans.Learned = []event.Learned{{Type: "insight", Lesson: "Deploy the billing service with the flag of " + filepath.Base(a.Dir) + "."}}
		}
	}
	return ans
}

// twins are the two programs on one service.
type twins struct {
	world   *world
	trees   []*tree
	service *runner.Service
	clock   *movedClock
}

// movedClock is the wall clock, moved.
type movedClock struct{ ahead atomic.Int64 }

func (c *movedClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *movedClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func startTwins(t *testing.T, wait string) *twins {
	x := &twins{world: &world{t: t, seen: map[string][]event.Attempt{}, met: map[string]*meeting{}}, clock: &movedClock{}}
	store := t.TempDir()
	registry := executor.Registry{}
	registry.Register(x.world, event.RunAttempt, event.ExecAgentAttempt)
	x.service = runner.New(runner.Options{Store: store, Executors: registry, Say: func(text string) { t.Error(text) }})
	host, err := local.Open(store, local.Options{Factory: x.service.Machine, Executor: x.service, Group: x.service.Group, Watch: x.service.Observe, Clock: x.clock})
	if err != nil {
		t.Fatal(err)
	}
	x.service.Attach(host)
	x.trees = []*tree{{name: "alpha", secret: "alpha-secret-1"}, {name: "beta", secret: "beta-secret-22"}}
	for _, p := range x.trees {
		p.start(t, x.service, wait)
	}
	return x
}

// check looks at the runs and their memories after their ends, and closes the service.
func (x *twins) check(t *testing.T) {
	t.Helper()
	for i, p := range x.trees {
		p.check(t, x.world, x.service, x.trees[1-i])
	}
	if err := x.service.Close(); err != nil {
		t.Error(err)
	}
	for i, p := range x.trees {
		p.checkMemory(t, x.trees[1-i])
	}
}

// Two programs with secrets and memories of their own run in one process, through one service, step by step at the same time: each run
// gets its own secret and has it masked, each agent recalls what its own run learned, and a called run has what its caller has.
func TestSessionsShareNothing(t *testing.T) {
	x := startTwins(t, "1ms")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var both sync.WaitGroup
	for _, p := range x.trees {
		both.Go(func() { p.end, p.err = x.service.Drive(ctx, p.run, nil) })
	}
	both.Wait()
	x.check(t)
}

// The same holds if both runs are parked and woken in between. While they are parked, the service has no session.
func TestSessionsOfParkedRunsShareNothing(t *testing.T) {
	x := startTwins(t, "1h")
	ended := make(chan *tree, len(x.trees))
	supervisor := runner.NewSupervisor(x.service, runner.SupervisorOptions{Ended: func(run string, end event.End, err error) {
		for _, p := range x.trees {
			if p.run == run {
				p.end, p.err = end, err
				ended <- p
			}
		}
	}})
	for _, p := range x.trees {
		supervisor.Add(p.run)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- supervisor.Run(ctx) }()
	for _, step := range []string{"top/learn", "top/apply"} { // the runs wait behind it, and then the runs that they call
		for !x.world.didBoth(step) || x.service.Sessions() > 0 {
			if ctx.Err() != nil {
				t.Fatalf("the runs are never parked behind step %s", step)
			}
			time.Sleep(time.Millisecond)
		}
		x.clock.ahead.Add(int64(time.Hour))
	}
	for range x.trees {
		select {
		case <-ended:
		case <-ctx.Done():
			t.Fatal("the runs do not end")
		}
	}
	stop()
	<-stopped
	x.check(t)
}

func (x *tree) start(t *testing.T, service *runner.Service, wait string) {
	t.Helper()
	x.dir = filepath.Join(t.TempDir(), x.name)
	if err := os.Mkdir(x.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.dir, "flow.hcl"), []byte(strings.NewReplacer("WAIT", wait, "BELOW", wait).Replace(twin)), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(x.dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	start := engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "top"},
		Definition: definition,
		First: event.RunStarted{Workflow: "top", Dir: x.dir,
			Secrets: map[string]event.Secret{"var.token": secret.Seal("given", "00", x.secret)}},
	}
	var err error
	if x.run, err = service.Start(t.Context(), start, map[string]value.Value{"var.token": x.secret}); err != nil {
		t.Fatal(err)
	}
}

func (x *tree) check(t *testing.T, w *world, service *runner.Service, other *tree) {
	t.Helper()
	if x.err != nil || x.end.Status != event.Succeeded {
		t.Fatalf("%s ends as %s: %v", x.name, x.end.Status, x.err)
	}
	infos, err := service.Tree(t.Context(), x.run)
	if err != nil || len(infos) != 2 {
		t.Fatalf("%s called %v, %v", x.name, infos, err)
	}
	for step, argv := range map[string][]string{x.run + "/print": {"print", "top", "--", x.secret}, infos[1].Run + "/print": {"print", "below", "--", x.secret}} {
		if got := w.seen[step]; len(got) != 1 || !slices.Equal(got[0].Argv, argv) {
			t.Errorf("%s: the program of %s gets %v, want %q", x.name, step, got, argv)
		}
	}
	if got := w.seen[x.run+"/apply"]; len(got) != 1 || !strings.Contains(got[0].Agent.Recalled, "the flag of "+x.name) || strings.Contains(got[0].Agent.Recalled, other.name) {
		t.Errorf("%s: the agent recalls %v", x.name, got)
	}
	texts := 0
	for _, i := range infos {
		h, err := service.Batches(t.Context(), i.Run, func(journal.Batch) error { return runner.ErrEnough })
		if err != runner.ErrEnough {
			t.Fatal(err)
		}
		reader := journal.NewReader(h)
		_, err = service.Batches(t.Context(), i.Run, func(b journal.Batch) error {
			events, err := reader.Read(b)
			for _, e := range events {
				text, _ := json.Marshal(e)
				if strings.Contains(string(text), x.secret) {
					t.Errorf("%s: its secret is in the journal: %s", x.name, text)
				}
				if f := e.AttemptFinished; f != nil {
					texts++
					if said := fmt.Sprint(f.Stdout, f.Output); !strings.Contains(said, other.secret) {
						t.Errorf("%s: step %s has the secret of %s masked, which it does not know: %q", x.name, f.Node, other.name, said)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts != 4 {
		t.Errorf("%s has %d attempts, want 4", x.name, texts)
	}
}

// checkMemory opens the memory that the program names.
func (x *tree) checkMemory(t *testing.T, other *tree) {
	t.Helper()
	m, err := memory.Open(filepath.Join(x.dir, "memory"), memory.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	items, err := m.List(t.Context(), memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	if err != nil || len(items) == 0 {
		t.Fatalf("%s: the memory has %v, %v", x.name, items, err)
	}
	for _, i := range items {
		if i.By.Run != x.run || !strings.Contains(i.Lesson, x.name) || strings.Contains(i.Lesson, other.name) {
			t.Errorf("%s: the memory has %+v", x.name, i)
		}
	}
}
