package main_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var engineServer = flag.String("engine.server", "", "the server of runner/engine/temporal/testdata/devserver, built: workers are killed over it")

// Each step notes its begin and its end, and the workspace of its worker.
const engineFlow = `
workflow "night" {
  step "first" { run = "echo begun first $PWD >> MARKS; sleep 0.3; echo done first $PWD >> MARKS" }

  parallel "suites" {
    depends_on = [step.first]
    for_each   = range(6)
    step "suite" { run = "echo begun ${each.key} $PWD >> MARKS; sleep 3; echo done ${each.key} $PWD >> MARKS" }
  }

  step "last" {
    depends_on = [step.suites]
    run        = "echo begun last $PWD >> MARKS; echo done last $PWD >> MARKS"
  }

  output "said" { value = "all ${step.last.status}" }
}
`

// fleetOf is a server, and what talks to it.
type fleetOf struct {
	*testing.T
	dir, binary, engine string
	server              *exec.Cmd
}

func newFleet(t *testing.T) *fleetOf {
	if *engineServer == "" {
		t.Skip("without -engine.server")
	}
	f := &fleetOf{T: t, dir: t.TempDir(), binary: linked(t)}
	f.engine = "temporal://" + f.serve("0") + "/default?queue=tests"
	t.Cleanup(f.killServer)
	f.write("flow.hcl", strings.ReplaceAll(engineFlow, "MARKS", filepath.Join(f.dir, "marks")))
	f.write("marks", "")
	return f
}

// serve starts the server on a port of the loopback interface, with its data in a file, and returns its address.
func (f *fleetOf) serve(port string) string {
	f.Helper()
	f.server = exec.Command(*engineServer, "--port", port, "--db", filepath.Join(f.dir, "server.db"))
	out, err := f.server.StdoutPipe()
	if err == nil {
		err = f.server.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func (f *fleetOf) killServer() {
	f.server.Process.Kill()
	f.server.Wait()
}

func (f *fleetOf) write(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// flowrun types a command, with the engine, and returns what it prints.
func (f *fleetOf) flowrun(words ...string) (string, error) {
	c := exec.Command(f.binary, append(words, "--engine", f.engine)...)
	c.Dir = f.dir
	out, err := c.CombinedOutput()
	return string(out), err
}

// worker starts a worker with a workspace of that name.
func (f *fleetOf) worker(name string) *exec.Cmd {
	f.Helper()
	workspace := filepath.Join(f.dir, name)
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		f.Fatal(err)
	}
	c := exec.Command(f.binary, "worker", "--engine", f.engine, "--slots", "3", "--workspace", workspace)
	c.Dir = f.dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		f.Logf("worker %s: %s", name, out.String())
	})
	return c
}

// marks returns the notes of steps that begin with a word, each as STEP WORKSPACE.
func (f *fleetOf) marks(word string) (list []string) {
	text, _ := os.ReadFile(filepath.Join(f.dir, "marks"))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" "); ok {
			step, workspace, _ := strings.Cut(rest, " ")
			list = append(list, fmt.Sprint(step, " ", filepath.Base(workspace)))
		}
	}
	return list
}

// of counts the marks of a step.
func of(step string, marks []string) (n int) {
	for _, m := range marks {
		if strings.HasPrefix(m, step+" ") {
			n++
		}
	}
	return n
}

// A worker goes in the middle of a run, and another worker finishes the run: no finished step runs again, and what the first one was at runs
// once more. A worker that is killed is missed after a silence; one that is told to stop gives back what it has. If both are killed, a third
// one finishes the run. If the server is killed and comes back, what the workers are at goes on, and nothing runs again.
func TestEngineWorkers(t *testing.T) {
	send := func(signal syscall.Signal) func(*fleetOf, ...*exec.Cmd) {
		return func(f *fleetOf, workers ...*exec.Cmd) { workers[0].Process.Signal(signal) }
	}
	for name, c := range map[string]struct {
		happens func(f *fleetOf, workers ...*exec.Cmd)
		within  time.Duration // from then to the end of the run
		again   int           // the steps that begin once more
	}{
		"killed":          {send(syscall.SIGKILL), 60 * time.Second, 3},
		"told to stop":    {send(syscall.SIGTERM), 25 * time.Second, 3},
		"nothing happens": {func(*fleetOf, ...*exec.Cmd) {}, 25 * time.Second, 0},
		"both killed": {func(f *fleetOf, workers ...*exec.Cmd) {
			for _, w := range workers {
				w.Process.Kill()
			}
			f.worker("three")
		}, 90 * time.Second, 6},
		"server killed": {func(f *fleetOf, workers ...*exec.Cmd) {
			_, port, _ := strings.Cut(strings.TrimPrefix(f.engine, "temporal://"), ":")
			f.killServer()
			time.Sleep(3 * time.Second)
			f.serve(port[:strings.IndexByte(port, '/')])
		}, 60 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			out, err := f.flowrun("apply", "flow.hcl", "--detach")
			if err != nil || !strings.Contains(out, "no worker takes work from the queue tests") {
				t.Fatalf("nobody is missed: %v\n%s", err, out)
			}
			lines := strings.Fields(out)
			run := lines[len(lines)-1]
			one, two := f.worker("one"), f.worker("two")
			within(t, time.Minute, "six suites begin", func() bool { return len(f.marks("begun")) >= 7 })
			time.Sleep(time.Second)
			before := f.marks("done")
			c.happens(f, one, two)
			took := within(t, c.within, "the run ends", func() bool {
				time.Sleep(200 * time.Millisecond)
				shown, err := f.flowrun("runs", "show", run, "--json")
				return err == nil && strings.Contains(shown, `"status":"succeeded"`) && strings.Contains(shown, `"said":"all succeeded"`)
			})
			begun, done := f.marks("begun"), f.marks("done")
			t.Logf("%s after; done before: %q; begun: %q", took, before, begun)
			again := 0
			for _, step := range []string{"first", "0", "1", "2", "3", "4", "5", "last"} {
				n, first := of(step, begun), of(step, before)
				if of(step, done) < 1 || n > 2 || first > 0 && n > 1 {
					t.Errorf("%s has begun %d times, and ended %d times", step, n, of(step, done))
				}
				again += n - 1
			}
			if again != c.again {
				t.Errorf("%d steps have begun again, want %d: %q", again, c.again, begun)
			}
		})
	}
}
