package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// with changes an attempt.
func with(a event.Attempt, change func(*event.Attempt)) event.Attempt {
	change(&a)
	return a
}

func env(name, v string) func(*event.Attempt) {
	return func(a *event.Attempt) { a.Env = map[string]string{name: v} }
}

// What no system can start says which part of it is at fault.
func TestNotStartable(t *testing.T) {
	const head = "error blocking/start: "
	x := newTest(t, Options{})
	for _, tc := range []struct {
		name string
		a    event.Attempt
		want string
	}{
		{"NUL in an argument", run("true", "a", "a\x00b"), "true cannot start: argument 2 holds a NUL byte"},
		{"NUL in a command", run("tr\x00ue"), `"tr\x00ue" cannot start: the command's name holds a NUL byte`},
		{"NUL in a path", run("/bin/tr\x00ue"), `"/bin/tr\x00ue" cannot start: the command's name holds a NUL byte`},
		{"NUL in a script", script("echo\x00"), "sh cannot start: the script holds a NUL byte"},
		{"NUL in a bash script", with(script("echo\x00"), func(a *event.Attempt) { a.Shell = "bash" }), "bash cannot start: the script holds a NUL byte"},
		{"NUL in a folder", with(run("true"), func(a *event.Attempt) { a.Dir = "/tmp\x00" }), "true cannot start: the name of its folder holds a NUL byte"},
		{"NUL in a value", with(run("true"), env("A", "b\x00")), "true cannot start: the environment variable A holds a NUL byte"},
		{"NUL in a name", with(run("true"), env("A\x00", "")), `true cannot start: "A\x00" is not a name of an environment variable: it may not be empty, nor hold = or a NUL byte`},
		{"= in a name", with(run("true"), env("A=B", "")), `true cannot start: "A=B" is not a name of an environment variable: it may not be empty, nor hold = or a NUL byte`},
		{"an empty name", with(run("true"), env("", "")), `true cannot start: "" is not a name of an environment variable: it may not be empty, nor hold = or a NUL byte`},
		{"NUL in a task", with(agent("true"), func(a *event.Attempt) { a.Agent.Task = "\x00" }), "sh cannot start: the environment variable FLOWRUN_TASK holds a NUL byte"},
		{"an empty command", run(""), `"" cannot start: the command is empty`},
		{"no folder", with(run("true"), func(a *event.Attempt) { a.Dir = "/no/dir" }), "the folder /no/dir is not there"},
		{"a file for a folder", with(run("true"), func(a *event.Attempt) { a.Dir = "/dev/null" }), "/dev/null is not a folder"},
		{"a folder in a file", with(run("true"), func(a *event.Attempt) { a.Dir = "/dev/null/x" }), "the folder /dev/null/x cannot be entered: not a directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := brief(do(x, tc.a)); got != head+tc.want {
				t.Errorf("got  %s\nwant %s", got, head+tc.want)
			}
		})
	}
}

// What is too large for the system says how much it is and what the most of it is.
func TestTooMuch(t *testing.T) {
	x := newTest(t, Options{})
	large, many := strings.Repeat("x", 1<<20), []string{"true"}
	for range 90 {
		many = append(many, strings.Repeat("y", 100_000))
	}
	for _, tc := range []struct {
		a       event.Attempt
		largest string
	}{
		{run("true", "small", large), "argument 2 with 1048576."},
		{script(": " + large), "the script with 1048578."},
		{with(run("true"), env("LARGE", large)), "the environment variable LARGE with 1048582."},
		{run(many...), "argument 1 with 100000."},
	} {
		got := brief(do(x, tc.a))
		if !strings.HasPrefix(got, "error blocking/start: ") || !strings.Contains(got, "more than the system takes; the largest is "+tc.largest) {
			t.Errorf("%.400s\nwant %s", got, tc.largest)
		}
	}
}

// Names of any length and of any bytes make messages that are short and text.
func TestMessagesAreBounded(t *testing.T) {
	x := newTest(t, Options{})
	long := strings.Repeat("\u00e9\xff", 50_000)
	for _, a := range []event.Attempt{
		run(long), run("/" + long), with(run("no-such"), env("PATH", "/"+long)), with(run("true"), env(long+"=", "")),
		with(run("true"), func(a *event.Attempt) { a.Dir = "/" + long }), with(run("true"), env(long, "\x00")),
	} {
		f := do(x, a)
		if f.Error == nil || f.Error.Kind != event.Blocking || len(f.Error.Message) > executor.MaxMessage || !utf8.ValidString(f.Error.Message) {
			t.Errorf("%.300s", brief(f))
		}
	}
}

func TestFilesThatDoNotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o600)
	write("lost", "#!/no/such/interpreter\n", 0o700)
	write("text", "echo hi\n", 0o700)
	x := newTest(t, Options{})
	for name, want := range map[string]string{
		"./plain": "error blocking/not_found: ./plain is not executable by this user: chmod +x?",
		"./lost":  "error blocking/not_found: ./lost cannot start: the interpreter that its first line names, or the loader that it was built for, is not there",
		"./text":  "error blocking/not_found: ./text is not a program: it is built for another system, or is a script without a #! line",
		"plain":   "error blocking/not_found: command not found: plain is not on the PATH",
	} {
		a := run(name)
		a.Dir, a.Env = dir, map[string]string{"PATH": dir}
		if got := brief(do(x, a)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// Why a system refused, and whether it may do better later.
func TestStartFailed(t *testing.T) {
	p := &program{path: "/no/such", argv: []string{"such"}}
	folder := &program{path: t.TempDir(), argv: []string{"tmp"}}
	for _, tc := range []struct {
		p    *program
		err  error
		want string
	}{
		{p, syscall.EMFILE, "transient/start: such cannot start: too many open files"},
		{p, syscall.EAGAIN, "transient/start: such cannot start: resource temporarily unavailable"},
		{p, syscall.ETXTBSY, "transient/start: such cannot start: text file busy"},
		{p, syscall.ENOENT, "blocking/not_found: command not found: there is no file /no/such"},
		{p, syscall.ELOOP, "blocking/not_found: command not found: /no/such: too many levels of symbolic links"},
		{p, syscall.EACCES, "blocking/not_found: /no/such is not executable by this user: chmod +x?"},
		{folder, syscall.EACCES, "blocking/not_found: " + folder.path + " is a folder, not a program"},
	} {
		e := startFailed(tc.p, tc.err)
		if got := string(e.Kind) + "/" + string(e.Reason) + ": " + e.Message; got != tc.want || e.ExitCode != -1 {
			t.Errorf("%v:\ngot  %s\nwant %s", tc.err, got, tc.want)
		}
	}
	if e := notReady(p, &os.PathError{Op: "open", Path: "/dev/null", Err: os.ErrNotExist}); e.Reason != event.ReasonStart || e.Message != "such cannot start: open /dev/null: file does not exist" {
		t.Errorf("%+v", e)
	}
}

// FuzzStart gives a child an argument and a variable of any bytes: it gets them as they are, or is refused in words.
func FuzzStart(f *testing.F) {
	f.Add("a", "b", "NAME")
	f.Add("a\x00", "b=\n", "N=M")
	f.Add("-\xff", "\xe2\x82", "")
	f.Fuzz(func(t *testing.T, arg, v, name string) {
		x := newTest(t, Options{LogDir: t.TempDir()})
		refused := func(got event.AttemptFinished) bool {
			if got.Error == nil {
				return false
			}
			bad := strings.ContainsRune(arg+v+name, 0) || strings.ContainsRune(name, '=') || name == "" || name == "PATH"
			large := len(arg)+len(v)+len(name) > 100_000
			if !bad && !large || got.Error.Kind != event.Blocking || len(got.Error.Message) > executor.MaxMessage || !utf8.ValidString(got.Error.Message) {
				t.Fatalf("%s", brief(got))
			}
			return true
		}
		got := do(x, with(run("printf", "%s", arg), env(name, v)))
		if !refused(got) && len(arg) <= limits.MaxStream/3 && got.Stdout != executor.Valid([]byte(arg)) {
			t.Fatalf("argument %q came as %q", arg, got.Stdout)
		}
		got = do(x, with(run("env", "-0", "A="+arg), env(name, v)))
		if !refused(got) && len(name+v) <= limits.MaxStream/6 && !strings.HasPrefix(name, "FLOWRUN_") && name != "A" &&
			!strings.Contains("\x00"+got.Stdout, executor.Valid([]byte("\x00"+name+"="+v+"\x00"))) {
			t.Fatalf("variable %q=%q is not in %q", name, v, got.Stdout)
		}
	})
}
