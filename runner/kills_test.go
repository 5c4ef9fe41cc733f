package runner_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var killRounds = flag.Int("runner.kills", 3, "how many supervisors TestSupervisorsUnderKills kills")

// supervisorOf names, in the environment, the store that the test binary supervises as a process of its own.
const supervisorOf = "FLOWRUN_TEST_SUPERVISOR_OF"

// TestSupervisorProcess is such a process. It adopts all runs, and writes each attempt to the file "attempts" beside the store.
func TestSupervisorProcess(t *testing.T) {
	dir := os.Getenv(supervisorOf)
	if dir == "" {
		t.Skip("for other tests")
	}
	attempts, err := os.OpenFile(dir+".attempts", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		fmt.Fprintf(attempts, "%s/%s\n", a.Run, a.Node)
		return done(ctx, a)
	})
	host, err := local.Open(dir, local.Options{Factory: enginetest.Factory, Executor: x})
	if err != nil {
		t.Fatal(err)
	}
	s := runner.NewSupervisor(host, runner.SupervisorOptions{Adopt: func(engine.Info) bool { return true }, Ended: func(run string, _ event.End, err error) {
		if err != nil {
			fmt.Printf("run %s: %v\n", run, err)
		}
	}})
	fmt.Println("begins")
	t.Fatal(s.Run(context.Background()))
}

// startSupervisor starts such a process, and returns when it begins. bad gets the lines that it prints about runs that it cannot drive.
func startSupervisor(t *testing.T, dir string, bad chan<- string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestSupervisorProcess$")
	c.Env = append(os.Environ(), supervisorOf+"="+dir)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begins" {
		t.Fatalf("the process says %q", lines.Text())
	}
	go func() {
		for lines.Scan() {
			bad <- lines.Text()
		}
	}()
	return c
}

// Two processes supervise one store, and are killed again and again. All runs come to their end, with the runs that they call and that
// were parked with them, and an attempt is made twice only for a kill.
func TestSupervisorsUnderKills(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".flowrun")
	host, err := local.Open(dir, local.Options{Factory: enginetest.Factory, Executor: done})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	const runs = 6
	p := family(2)
	p.Workflows["leaf"] = waits(1500 * time.Millisecond)
	for range runs {
		start := p.Start()
		start.Header.Created = event.At(time.Now().Add(-time.Minute)) // so that no process waits for the one that made it
		if _, err := host.Start(t.Context(), start); err != nil {
			t.Fatal(err)
		}
	}
	bad := make(chan string, 1000)
	first := startSupervisor(t, dir, bad)
	for range *killRounds {
		second := startSupervisor(t, dir, bad)
		time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
		first.Process.Kill()
		first.Wait()
		first = second
	}
	last := startSupervisor(t, dir, bad)
	ended := func() (n int) {
		list, err := host.List(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].Status == event.Succeeded {
				n++
			}
		}
		return n
	}
	for due := time.Now().Add(5 * time.Minute); ended() < runs*5; time.Sleep(10 * time.Millisecond) {
		select {
		case text := <-bad:
			t.Fatal(text)
		default:
		}
		if time.Now().After(due) {
			list, _ := host.List(t.Context(), 0)
			t.Fatalf("the runs never end: %+v", list)
		}
	}
	last.Process.Kill()
	text, err := os.ReadFile(dir + ".attempts")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]int{}
	for line := range strings.Lines(string(text)) {
		made[line]++
	}
	again := 0
	for attempt, n := range made {
		if again += n - 1; n > *killRounds+1 {
			t.Errorf("attempt %s was made %d times", strings.TrimSpace(attempt), n)
		}
	}
	if len(made) != runs*6 {
		t.Errorf("%d attempts were made, want %d", len(made), runs*6)
	}
	t.Logf("%d kills, %d attempts were made again", *killRounds, again)
}

// Whenever a message comes while its run is being parked, or a called run of it is, the run takes it.
func TestMessagesWhileRunsAreParked(t *testing.T) {
	s := supervise(t, 64, done)
	other, err := local.Open(s.host.Dir(), local.Options{Factory: enginetest.Factory})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	const runs = 30
	for i := range runs {
		run := ""
		switch i % 3 {
		case 0:
			run = s.start(t, waits(time.Hour), "")
		case 1:
			run = s.start(t, waits(time.Hour), "g")
		case 2:
			run = s.start(t, family(1), "")
		}
		time.AfterFunc(time.Duration(rand.IntN(40))*time.Millisecond, func() {
			if err := other.Cancel(context.Background(), run, "enough"); err != nil && !errors.Is(err, engine.ErrEnded) {
				t.Error(err)
			}
		})
	}
	s.until(t, "all runs have ended", func() bool {
		list, err := s.host.List(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if !list[i].Status.Terminal() {
				return false
			}
		}
		return len(list) >= runs
	})
}
