package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what commands printed into the sessions")

// The test binary is flowrun too, and the tools that sessions need.
//
// What the tests start ends at Ctrl-C, also where they do not: a script starts what is to run in the background with that signal
// ignored, and flowrun leaves it so. What is heard here has its usual meaning for who is started.
func TestMain(m *testing.M) {
	if tests := strings.Contains(filepath.Base(os.Args[0]), "."); tests && signal.Ignored(syscall.SIGINT) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	}
	testscript.Main(suite{m}, map[string]func(){"flowrun": main, "interrupt": interrupt, "agent": agent, "say": say, "exit": exit, "fail": fail, "flaky": flaky,
		"mortal": mortal, "sessions": sessions})
}

// suite is all tests, with a folder for the binary that they share.
type suite struct{ *testing.M }

func (s suite) Run() int {
	dir, err := os.MkdirTemp("", "flowrun-build")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("FLOWRUN_TEST_BUILD", dir)
	flag.Parse()
	if p := flag.Lookup("test.parallel").Value; p.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		p.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // these tests wait for processes, and compute little
	}
	return s.M.Run()
}

// TestScript plays the sessions of testdata/script: a person at a terminal, one story a file.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script", RequireUniqueNames: true, RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "await": await, "json": jsonField, "website": website, "stored": stored, "sqlite": sqlite,
			"example": example,
		},
	})
}

// exits CODE COMMAND ARG... runs a command that must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(words[1], words[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want, _ := strconv.Atoi(words[0]); code != want {
		ts.Fatalf("exit code %d, not %d", code, want)
	}
}

// example NAME puts the files of examples/NAME here.
func example(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 1 {
		ts.Fatalf("usage: example NAME")
	}
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(filepath.Join("..", "..", "examples", words[0]))))
}

// patience bounds every wait of a session. It is long, because the machine may be busy: only what fails waits that long.
const patience = 2 * time.Minute

// await FILE waits until a file exists.
func await(ts *testscript.TestScript, neg bool, words []string) {
	if neg || len(words) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	if !appears(ts.MkAbs(words[0])) {
		ts.Fatalf("%s did not appear within %s", words[0], patience)
	}
}

func appears(file string) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}

// json FILE PATH WANT compares a field of a JSON text, or of the last of several lines: nodes.0.status.
func jsonField(ts *testscript.TestScript, neg bool, words []string) {
	if len(words) != 3 {
		ts.Fatalf("usage: json FILE PATH WANT")
	}
	text := strings.TrimSpace(ts.ReadFile(words[0]))
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		ts.Check(json.Unmarshal([]byte(text[strings.LastIndex(text, "\n")+1:]), &v))
	}
	for _, part := range strings.Split(words[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				ts.Fatalf("no %s in a list of %d", part, len(at))
			}
			v = at[i]
		default:
			ts.Fatalf("no %s in %v", part, v)
		}
	}
	have, ok := v.(string)
	if !ok {
		b, _ := json.Marshal(v)
		have = string(b)
	}
	if (have == words[2]) == neg {
		ts.Fatalf("%s is %s", words[1], have)
	}
}

// interrupt FILE SIGNAL COMMAND ARG... runs a command, sends it a signal (INT, TERM, KILL; with a + again and again) once
// FILE exists, and ends as it ends, 128 and the signal's number where the signal killed it.
func interrupt() {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	c := exec.Command(os.Args[3], os.Args[4:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !appears(os.Args[1]) {
		fmt.Fprintln(os.Stderr, os.Args[1], "did not appear")
	}
	name, again := strings.CutSuffix(os.Args[2], "+")
	c.Process.Signal(signals[name])
	over := make(chan struct{})
	go func() {
		c.Wait()
		close(over)
	}()
	for again {
		select {
		case <-over:
			again = false
		case <-time.After(50 * time.Millisecond):
			c.Process.Signal(signals[name])
		}
	}
	<-over
	if s := c.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		os.Exit(128 + int(s.Signal()))
	}
	os.Exit(c.ProcessState.ExitCode())
}

// Starting costs little: at most 20 ms of CPU for version and for validating ten steps, whatever else the program can do; on a
// slow machine half of what sorting a million numbers takes, or a quarter of that and twice what a program takes that uses 8 MiB.
func TestStartsFast(t *testing.T) {
	if raceEnabled || testing.CoverMode() != "" {
		t.Skip("the bound is that of a program that isn't instrumented")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	flowrun := filepath.Join(dir, "flowrun")
	if err := os.Symlink(self, flowrun); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "  step \"s%d\" {\n    run  = [\"true\"]\n    when = \"step.s%d.exit_code == 0\"\n  }\n", i+1, i)
	}
	file := filepath.Join(dir, "ten.hcl")
	if err := os.WriteFile(file, []byte("workflow \"w\" {\n  step \"s0\" {\n    run = [\"true\"]\n  }\n"+b.String()+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	compute := sorting(t)
	bound := max(20*time.Millisecond, compute/2, compute/4+2*touching(t))
	for _, words := range [][]string{{"version"}, {"validate", file}} {
		least, collections := time.Hour, 10 // of several: others share this machine
		for range 10 {
			c := exec.Command(flowrun, words...)
			c.Env = append(c.Environ(), "GODEBUG=gctrace=1")
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
			collections = min(collections, strings.Count("\n"+string(out), "\ngc "))
		}
		if collections > 0 {
			t.Errorf("flowrun %s collects garbage", words[0])
		}
		t.Logf("flowrun %s: %s of CPU", words[0], least)
		if least > bound {
			t.Errorf("flowrun %s takes %s of CPU, more than %s", words[0], least, bound)
		}
	}
}

// touching is the least CPU time, of ten, that a program takes which writes to 8 MiB of memory, page by page: flowrun does that before its command begins.
func touching(t *testing.T) time.Duration {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "touch.go"), filepath.Join(dir, "touch")
	if err := os.WriteFile(source, []byte("package main\n\nvar memory [8 << 20]byte\n\nfunc main() {\n\tfor i := 0; i < len(memory); i += 4096 {\n\t\tmemory[i] = 1\n\t}\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	least := time.Hour
	for range 10 {
		c := exec.Command(program)
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		least = min(least, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	}
	t.Logf("a program that uses 8 MiB takes %s of CPU", least)
	return least
}

// sorting is the least CPU time, of three, that this process needs to sort a million numbers: how fast the machine is.
func sorting(t *testing.T) time.Duration {
	t.Helper()
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Hour
	for range 3 {
		numbers := rand.New(rand.NewPCG(1, 1)).Perm(1_000_000)
		start := cpu()
		slices.Sort(numbers)
		least = min(least, cpu()-start)
	}
	t.Logf("sorting takes %s of CPU", least)
	return least
}
