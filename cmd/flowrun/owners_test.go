package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	stops  = flag.Int("crash.stops", 5, "how often an owner is stopped, loses its run, and is continued")
	starts = flag.Int("crash.starts", 12, "how many processes want a run at once")
)

// holding is a workflow whose steps say that they have begun and then take for ever, unless there is a file "go".
const holding = `workflow "w" {
  max_concurrency = 50
  step "s" {
    for_each = range(%d)
    run      = ["sh", "-c", "echo $$ >> pids; sh sink work; test -e go || exec sleep 600"]
  }
}`

func newHolding(t *testing.T, binary string, steps int) *sunk {
	t.Helper()
	return newSunk(t, binary, sinkShape{source: fmt.Sprintf(holding, steps)})
}

// process is a process whose stops can be seen, too.
type process struct {
	*exec.Cmd
	out, err string // the files of its output
	exited   bool
}

func (s *sunk) start(t *testing.T, at string, words ...string) *process {
	t.Helper()
	p := &process{Cmd: s.command(at, words...)}
	for _, of := range []struct {
		name *string
		to   func(*os.File)
	}{{&p.out, func(f *os.File) { p.Stdout = f }}, {&p.err, func(f *os.File) { p.Stderr = f }}} {
		f, err := os.CreateTemp(s.dir, "output")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		*of.name = f.Name()
		of.to(f)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.exited {
			p.Process.Kill()
			p.wait(t)
		}
	})
	return p
}

// wait waits until a process has ended or is stopped.
func (p *process) wait(t *testing.T) syscall.WaitStatus {
	t.Helper()
	for {
		var w syscall.WaitStatus
		switch _, err := syscall.Wait4(p.Process.Pid, &w, syscall.WUNTRACED, nil); {
		case err == syscall.EINTR:
		case err != nil:
			t.Fatal(err)
		default:
			p.exited = !w.Stopped()
			return w
		}
	}
}

// said is what a process has written.
func said(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(3 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// begun waits until so many attempts have begun, and gives the process ids of their children.
func (s *sunk) begun(t *testing.T, n int) []string {
	t.Helper()
	until(t, fmt.Sprint(n, " attempts have begun"), func() bool { return len(s.lines(t)) >= n })
	if s.run == "" {
		s.run = strings.Fields(s.lines(t)[0])[0]
	}
	return strings.Fields(said(t, filepath.Join(s.dir, "pids")))
}

// gone waits until a process is no more.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the child "+pid+" has ended", func() bool { return syscall.Kill(n, 0) == syscall.ESRCH })
}

// fenced checks how an owner ends that was stopped, and continued when its run was another's.
func fenced(t *testing.T, p *process, w syscall.WaitStatus) {
	t.Helper()
	text := said(t, p.err)
	if w.ExitStatus() != 3 || !strings.Contains(text, "another process drives run") || !strings.Contains(text, "taken over by another process") {
		t.Errorf("the old owner ends with %d and says\n%s", w.ExitStatus(), text)
	}
}

// TestOwnerIsStopped has owners stopped in the middle of an attempt, one after the other. The next takes the run over while the
// one before cannot move. Continued, that one writes nothing, says what happened, and its child ends.
//
// The whole: go test ./cmd/flowrun -run TestOwnerIsStopped -crash.stops=100 -v
func TestOwnerIsStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newHolding(t, mortalBinary(t), 1)
	owner := s.start(t, "", "apply", "w.flow.hcl")
	var slowest time.Duration
	for n := 1; n <= *stops; n++ {
		child := s.begun(t, n)[n-1]
		owner.Process.Signal(syscall.SIGSTOP)
		if w := owner.wait(t); !w.Stopped() {
			t.Fatalf("the owner is not stopped: %v\n%s", w, said(t, owner.err))
		}
		next := s.start(t, "", "resume", s.run, "--take-over")
		s.begun(t, n+1)
		owner.Process.Signal(syscall.SIGCONT)
		began := time.Now()
		fenced(t, owner, owner.wait(t))
		slowest = max(slowest, time.Since(began))
		gone(t, child)
		owner = next
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owner.Process.Signal(syscall.SIGTERM)
	if w := owner.wait(t); w.ExitStatus() != 143 {
		t.Errorf("the last owner ends with %d\n%s", w.ExitStatus(), said(t, owner.err))
	}
	s.resume(t, "")
	s.keys(t)
	epochs := s.epochs(t)
	if len(epochs) != *stops+1 || !slices.IsSorted(epochs) || len(slices.Compact(slices.Clone(epochs))) != len(epochs) {
		t.Errorf("the journal has the owners %v after %d stops", epochs, *stops)
	}
	t.Logf("%d owners were stopped and lost their run; continued, they had ended after %s at most", *stops, slowest)
}

// TestOwnerIsStoppedAtEveryPoint stops owners between what they write, carry out and show. The run is taken over and goes on
// while the old owner is continued, or has ended by then. Whoever calls other runs writes on behalf of several at once: stopped
// in one of them, it could hold the lock of the database for another, and others are told so (local.ErrBusy). So the shapes
// here call none.
func TestOwnerIsStoppedAtEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	binary := mortalBinary(t)
	lost, early := 0, 0
	const stride = 7 // the points of a shape are taken in so many passes
	for i := 0; i < 4*stride && lost < *stops; i++ {
		shape := killShapes[i%4]
		calm := newSunk(t, binary, shape)
		calm.apply(t, "")
		want := calm.ended(t)
		for n := 4 + i/4; lost < *stops; n += stride {
			s := newSunk(t, binary, shape)
			old := s.start(t, fmt.Sprint("STOP ", n), "apply", "w.flow.hcl", "--json")
			if w := old.wait(t); !w.Stopped() {
				break
			}
			s.look(t)
			taker := s.start(t, "", "resume", s.run, "--take-over", "--json")
			if n%2 == 0 { // at the same time
				until(t, "the taker says something", func() bool { return said(t, taker.out) != "" })
				old.Process.Signal(syscall.SIGCONT)
				early++
			}
			if w := taker.wait(t); w.ExitStatus() > 1 {
				t.Fatalf("%s, stopped at point %d: the taker ends with %d\n%s", shape.name, n, w.ExitStatus(), said(t, taker.out))
			}
			have := s.ended(t)
			old.Process.Signal(syscall.SIGCONT)
			switch w := old.wait(t); {
			case w.ExitStatus() <= 1 && strings.Contains(said(t, old.out), `"run.`+strings.Fields(want[strings.Index(want, "run ")+4:])[0]+`"`):
				// it was stopped after the run's last event, and goes on to show that
			default:
				var out bytes.Buffer
				out.WriteString(said(t, old.out))
				if w.ExitStatus() != 3 || !strings.Contains(out.String(), "taken over by another process") {
					t.Errorf("%s, stopped at point %d: the old owner ends with %d\n%s", shape.name, n, w.ExitStatus(), out.String())
				}
				lost++
			}
			if after := s.ended(t); have != want || after != have {
				t.Errorf("%s, stopped at point %d, ends\n%s\nafter the old owner's end it is\n%s\nand undisturbed\n%s", shape.name, n, have, after, want)
			}
			s.look(t) // nothing is gone, and the chain holds
			s.keys(t)
		}
	}
	t.Logf("%d owners lost their run, %d were continued while it was driven", lost, early)
	if lost < min(*stops, 50) || early == 0 {
		t.Error("this proves little")
	}
}

// TestManyWantOneRun starts many processes at once that want to drive the same run: one does, and the others are told who.
func TestManyWantOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newHolding(t, mortalBinary(t), 1)
	first := s.start(t, "", "apply", "w.flow.hcl")
	s.begun(t, 1)
	first.Process.Kill()
	first.wait(t)
	floor, _ := atOnce(t, s, func() *process { return s.start(t, "", "version") }, *starts)
	took, racers := atOnce(t, s, func() *process { return s.start(t, "", "resume", s.run) }, *starts-1)
	var owner *process
	var refused []string
	for _, p := range racers {
		if p.exited {
			refused = append(refused, said(t, p.err))
		} else if owner == nil {
			owner = p
		} else {
			t.Fatal("two processes drive the run")
		}
	}
	if owner == nil {
		t.Fatalf("nobody drives the run:\n%s", strings.Join(refused, ""))
	}
	s.begun(t, 2)
	for _, text := range refused {
		if !strings.Contains(text, "driven by another process") || !strings.Contains(text, fmt.Sprint("process ", owner.Process.Pid)) {
			t.Errorf("process %d drives the run, and another one says\n%s", owner.Process.Pid, text)
		}
	}
	if took > 5*floor+10*time.Second { // a process that waits for the run waits until patience is over
		t.Errorf("the last of %d was refused after %s; so many processes that do nothing take %s", *starts, took, floor)
	}
	owner.Process.Kill()
	owner.wait(t) // a kill is a wish: until it is heard the run is not free
	began := time.Now()
	next := s.start(t, "", "resume", s.run)
	s.begun(t, 3)
	again := time.Since(began)
	if again > time.Minute { // less than half a second on an idle machine; patience is two minutes
		t.Errorf("after the owner's death the next one has begun after %s", again)
	}
	t.Logf("%d starts, the last refusal after %s (%s for version); the next owner after %s", *starts, took, floor, again)
	next.Process.Kill()
	next.wait(t)
	s.keys(t)
}

// atOnce starts processes and waits until all have ended but as many as stay.
func atOnce(t *testing.T, s *sunk, start func() *process, wait int) (took time.Duration, all []*process) {
	t.Helper()
	began := time.Now()
	for range *starts {
		all = append(all, start())
	}
	until(t, fmt.Sprint(wait, " of them have ended"), func() bool {
		n := 0
		for _, p := range all {
			if !p.exited {
				var w syscall.WaitStatus
				pid, err := syscall.Wait4(p.Process.Pid, &w, syscall.WNOHANG, nil)
				p.exited = err == nil && pid == p.Process.Pid
			}
			if p.exited {
				n++
			}
		}
		return n >= wait
	})
	return time.Since(began), all
}

// TestTermEndsManySteps asks a process with 50 live steps to stop: it does within 30 s (an idle machine needs less than 2 s), says how to go on, and that works.
func TestTermEndsManySteps(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newHolding(t, mortalBinary(t), 50)
	p := s.start(t, "", "apply", "w.flow.hcl")
	children := s.begun(t, 50)
	began := time.Now()
	p.Process.Signal(syscall.SIGTERM)
	w := p.wait(t)
	took := time.Since(began)
	if text := said(t, p.err); w.ExitStatus() != 143 || !strings.Contains(text, "flowrun resume "+s.run) {
		t.Errorf("it ends with %d and says\n%s", w.ExitStatus(), text)
	}
	if took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	for _, pid := range children {
		gone(t, pid)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.look(t)
	if s.resume(t, ""); strings.Count(s.ended(t), "succeeded") != 53 { // the steps, their group, the run; and the run in the list
		t.Errorf("resumed, it ends\n%s", s.ended(t))
	}
	s.keys(t)
	t.Logf("50 live steps ended within %s", took)
}
