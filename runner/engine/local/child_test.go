package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// childOrder tells the test binary, started again as another process, to drive a run.
type childOrder struct {
	Dir, Run string
	// Group, if not "", is the group of the run, which the process starts first. It says "waits" when the run has to wait.
	Group string
	// KillAt, if not 0, is the commit before or after which the process kills itself.
	KillAt    int
	KillAfter bool
	// MaxFile, if not 0, is the size in bytes beyond which the system lets no file grow: a full disk, for this process only.
	MaxFile uint64
}

const childVariable = "FLOWRUN_LOCAL_TEST_CHILD"

// asChild carries out an order, if there is one, and prints what became of it.
func asChild() bool {
	order := os.Getenv(childVariable)
	if order == "" {
		return false
	}
	var o childOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		panic(err)
	}
	e, err := Open(o.Dir, Options{Factory: enginetest.Factory, Executor: childExecutor(o.Dir), Group: groupVar,
		Waiting: func(string, engine.Turn) { fmt.Println("waits") }})
	if err != nil {
		panic(err)
	}
	if o.KillAt > 0 {
		(&host{e}).faultAt(o.KillAt, o.KillAfter, func() error {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		})
	}
	if o.MaxFile > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: o.MaxFile, Max: o.MaxFile}); err != nil {
			panic(err)
		}
	}
	if o.Group != "" {
		s := steps("a", "b")
		start := s.Start()
		start.Header.Run, start.First.Vars = o.Run, map[string]any{"group": o.Group}
		if _, err := e.Start(context.Background(), start); err != nil {
			panic(err)
		}
	}
	shown := 0
	end, err := e.Drive(context.Background(), o.Run, func(list []event.Event, _ *event.Reaction, _ bool) { shown += len(list) })
	fmt.Println("end", end.Status, err)
	fmt.Println("shown", shown)
	e.Close()
	return true
}

// childExecutor notes each attempt in a file outside of the store. A task whose name begins with "hang" does so.
func childExecutor(dir string) executor.Executor {
	return executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		noteAttempt(dir, a)
		f := executor.Answer(a)
		f.Outcome = event.OK
		if strings.HasPrefix(a.Name, "hang") {
			fmt.Println("began", a.Name)
			<-ctx.Done()
			f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Message: "ended"}
		}
		return f
	})
}

func witnessPath(dir string) string { return filepath.Join(filepath.Dir(dir), "witness") }

func noteAttempt(dir string, a event.Attempt) {
	f, err := os.OpenFile(witnessPath(dir), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, a.Node, a.Attempt, a.Key)
}

// noted is how often each attempt was started, by its line in the witness file.
func noted(t *testing.T, dir string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(witnessPath(dir))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, line := range strings.Fields(strings.ReplaceAll(string(b), " ", "|")) {
		count[line]++
	}
	return count
}

// child is a process of its own that drives a run.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, o childOrder) *child {
	t.Helper()
	b, _ := json.Marshal(o)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+string(b), "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return &child{c, bufio.NewScanner(io.Reader(out))}
}

// line waits for the child's next line, "" at its end.
func (c *child) line() string {
	c.lines.Scan()
	return c.lines.Text()
}
