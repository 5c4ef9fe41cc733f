package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "guardian" {
		Guardian(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

// guarded are options with a guardian, which is this test's program, and with adoption.
func guarded() Options {
	self, _ := os.Executable()
	return Options{Guardian: []string{self, "guardian"}, Adopt: true}
}

// testEnviron is the driver's environment in tests.
var testEnviron = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "MY_TOKEN=t", "DB_PASSWORD=p", "PLAIN=plain"}

func newTest(t testing.TB, opt Options) *Executor {
	t.Helper()
	if opt.Environ == nil {
		opt.Environ = testEnviron
	}
	if opt.Grace == 0 {
		opt.Grace = 200 * time.Millisecond
	}
	x := New(opt)
	t.Cleanup(x.Close)
	return x
}

func run(argv ...string) event.Attempt {
	return event.Attempt{Ticket: 7, Node: "build[1]", Name: "build", Attempt: 2, Run: "r1", Workflow: "w", Key: "k", Argv: argv}
}

func script(text string) event.Attempt {
	a := run()
	a.Script = text
	return a
}

func agent(text string) event.Attempt {
	a := script(text)
	a.Agent = &event.AgentRequest{Name: "bob", Type: "shell", Task: "do it"}
	return a
}

func do(x *Executor, a event.Attempt) event.AttemptFinished {
	return x.Execute(context.Background(), a)
}

// brief is an answer as one line, without what differs from run to run.
func brief(f event.AttemptFinished) string {
	b := string(f.Outcome)
	if f.ExitCode != nil {
		b += " exit=" + string(value.AppendNumber(nil, float64(*f.ExitCode)))
	}
	if e := f.Error; e != nil {
		b += " " + string(e.Kind) + "/" + string(e.Reason)
		if e.Signal != "" {
			b += "/" + e.Signal
		}
		b += ": " + e.Message
	}
	return b
}

func TestEnds(t *testing.T) {
	x := newTest(t, Options{})
	for _, tc := range []struct {
		name string
		a    event.Attempt
		want string
	}{
		{"ok", run("true"), "ok exit=0"},
		{"exit", run("false"), "error exit=1 recoverable/exit: exit code 1"},
		{"exit 75", script("exit 75"), "error exit=75 transient/exit: exit code 75"},
		{"command not found", script("no-such-command"), "error exit=127 blocking/not_found: exit code 127: a command was not found"},
		{"signal", script("kill -9 $$"), "error transient/signal/SIGKILL: ended by SIGKILL"},
		{"sh stops at an error", script("false; true"), "error exit=1 recoverable/exit: exit code 1"},
		{"bash has pipefail", func() event.Attempt { a := script("false | true"); a.Shell = "bash"; return a }(), "error exit=1 recoverable/exit: exit code 1"},
		{"not found", func() event.Attempt { a := run("no-such"); a.Env = map[string]string{"PATH": "/a:/b"}; return a }(),
			"error blocking/not_found: command not found: no-such is not on the PATH"},
		{"sh needs no PATH", func() event.Attempt { a := script("exit 3"); a.Env = map[string]string{"PATH": "/a"}; return a }(), "error exit=3 recoverable/exit: exit code 3"},
		{"$0", script(`test "$0" = step`), "ok exit=0"},
		{"no such file", run("/no/such"), "error blocking/not_found: command not found: there is no file /no/such"},
		{"output too large", script("head -c 1048577 /dev/zero"), "error exit=0 fatal/output_too_large: the standard output has 1048577 bytes; an output may have 1048576 (1 MiB)"},
		{"output just fits", script("head -c 1048576 /dev/zero"), "ok exit=0"},
		{"timeout", func() event.Attempt { a := run("sleep", "60"); a.Timeout = 50 * time.Millisecond; return a }(),
			"error transient/timeout/SIGTERM: timed out after 50ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := brief(do(x, tc.a)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestIdentityAndStart(t *testing.T) {
	before := event.At(time.Now())
	f := do(newTest(t, Options{}), func() event.Attempt { a := run("true"); a.Gate = "g"; return a }())
	if f.Ticket != 7 || f.Node != "build[1]" || f.Attempt != 2 || f.Gate != "g" {
		t.Errorf("identity: %+v", f)
	}
	if f.StartedAt < before || f.StartedAt > event.At(time.Now()) {
		t.Errorf("started at %s", f.StartedAt)
	}
}

func TestCancel(t *testing.T) {
	x := newTest(t, Options{})
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(executor.Cancelled)
		f := x.Execute(ctx, run("touch", filepath.Join(t.TempDir(), "x")))
		if got := brief(f); got != "error fatal/cancelled: cancelled" {
			t.Error(got)
		}
	})
	for _, cause := range []error{executor.Cancelled, executor.Stopping} {
		t.Run(cause.Error(), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			dir := t.TempDir()
			go func() {
				for !exists(filepath.Join(dir, "up")) {
					time.Sleep(time.Millisecond)
				}
				cancel(cause)
			}()
			a := script("trap 'echo bye; exit 3' TERM; echo > up; while :; do sleep 0.01; done")
			a.Dir = dir
			f := x.Execute(ctx, a)
			if got := brief(f); got != "error exit=3 fatal/cancelled: cancelled" || f.Stdout != "bye\n" {
				t.Errorf("%s, stdout %q", got, f.Stdout)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	x := newTest(t, Options{})
	path := os.Getenv("PATH")
	a := run("env")
	a.Base = map[string]string{"HOME": "/base", "PATH": path}
	a.Env = map[string]string{"EXTRA": "1", "PLAIN": "mine", "FLOWRUN_RUN": "cannot be faked"}
	common := []string{"FLOWRUN_ATTEMPT=2", "FLOWRUN_IDEMPOTENCY_KEY=k", "FLOWRUN_RUN=r1", "FLOWRUN_STEP=build[1]", "FLOWRUN_WORKFLOW=w"}
	check := func(a event.Attempt, want ...string) {
		t.Helper()
		got := map[string]bool{}
		for _, kv := range strings.Split(strings.TrimSpace(do(x, a).Stdout), "\n") {
			if !strings.HasPrefix(kv, childVar+"=") { // another each time
				got[kv] = true
			}
		}
		wanted := map[string]bool{}
		for _, kv := range append(want, common...) {
			wanted[kv] = true
		}
		if d := cmp.Diff(wanted, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
	check(a, "PATH="+path, "HOME=/base", "PLAIN=mine", "EXTRA=1")
	a.Gate = "g"
	check(a, "PATH="+path, "HOME=/base", "PLAIN=mine", "EXTRA=1")
	a.Gate = ""
	a.Agent = &event.AgentRequest{Type: "exec", OutputFormat: "text"}
	check(a, "PATH="+path, "HOME=/base", "PLAIN=mine", "EXTRA=1")
	a.Env = nil
	a.Agent.PassEnv = []string{"MY_TOKEN", "NOT_SET"}
	check(a, "PATH="+path, "HOME=/base", "MY_TOKEN=t")
	a.Base = map[string]string{"PATH": path} // another run
	check(a, "PATH="+path, "MY_TOKEN=t")
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "tokenizer": true, "my_secret": true, "PGPASSWORD": true, "AWS_CREDENTIALS": true, "API_KEY": true, "api_key": true,
		"OTEL_EXPORTER_OTLP_HEADERS": true, "OTEL_EXPORTER_OTLP_TRACES_HEADERS": true, "OTEL_EXPORTER_OTLP_ENDPOINT": false,
		"KEYBOARD": false, "KEY": false, "PATH": false, "PASSWD": false, "KEY_FILE": false,
	} {
		if ir.LooksSecret(name) != want {
			t.Errorf("LooksSecret(%s) = %v", name, !want)
		}
	}
}

func TestWhereCommandsComeFrom(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tool"), 0o700); err != nil { // a folder is not a program
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	os.Mkdir(bin, 0o700)
	os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\necho tool in \"$PWD\"\n"), 0o700)
	x := newTest(t, Options{})
	for name, path := range map[string]string{"tool": dir + ":" + bin + ":/bin", "./bin/tool": "/bin"} {
		a := run(name)
		a.Dir, a.Env = dir, map[string]string{"PATH": path}
		if f := do(x, a); f.Stdout != "tool in "+dir+"\n" {
			t.Errorf("%s: %s %q %q", name, brief(f), f.Stdout, f.Stderr)
		}
	}
	a := run("tool")
	a.Dir, a.Env = bin, map[string]string{"PATH": ".::/bin"}
	if f := do(x, a); f.Error == nil || f.Error.Reason != event.ReasonNotFound {
		t.Errorf("a relative folder of PATH was searched: %s", brief(f))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestStdinIsTheNullDevice(t *testing.T) {
	if f := do(newTest(t, Options{}), run("cat")); brief(f) != "ok exit=0" || f.Stdout != "" {
		t.Errorf("%s %q", brief(f), f.Stdout)
	}
}
