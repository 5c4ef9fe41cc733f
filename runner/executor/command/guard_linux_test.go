package command

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	kills   = flag.Int("guard.kills", 3, "how many drivers are killed")
	escapes = flag.Int("guard.escapes", 6, "how many processes leave their group")
)

// runaways start processes that a driver's death, or an attempt's end, does not reach by itself. Each writes a file when it is up.
var runaways = []string{
	`(trap "" TERM HUP; echo > up; sleep 1000) & wait`,
	`setsid sh -c 'echo > up; sleep 1000' & wait`,
	`setsid sh -c 'setsid sh -c "echo > up; sleep 1000" & sleep 1000' & wait`,
	`(setsid sh -c '(sleep 1000 &); echo > up; exec sleep 1000' &); sleep 1000`,
	`env -i sh -c 'echo > up; sleep 1000' & wait`,
	`(while :; do sleep 0.01; echo > up; done) & wait`,
}

// A driver is killed: nobody whom its attempts started is alive soon after, whatever group or session they are in. On a
// machine that does nothing else that takes milliseconds; the runaways would live for minutes.
func TestGuardian(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	slowest := time.Duration(0)
	for i := range *kills {
		dir := t.TempDir()
		driver, err := os.StartProcess(self, []string{self, "-test.run=^TestHelperGuarded$"}, &os.ProcAttr{Dir: dir,
			Env: append(os.Environ(), "TEST_GUARDED="+runaways[i%len(runaways)])})
		if err != nil {
			t.Fatal(err)
		}
		await(t, "the runaway is up", func() bool { return exists(filepath.Join(dir, "up")) })
		if len(in(dir)) < 2 {
			t.Errorf("case %d: only %d processes are up: no test of it", i, len(in(dir)))
		}
		driver.Kill()
		driver.Wait()
		killed := time.Now()
		await(t, "everybody is gone", func() bool { return len(in(dir)) == 0 })
		if took := time.Since(killed); took > 30*time.Second {
			t.Errorf("case %d: it took %s", i, took)
		} else {
			slowest = max(slowest, took)
		}
	}
	t.Logf("%d drivers killed; nobody left after %s at the latest", *kills, slowest)
}

// in are the processes that work in a folder, whatever their environment; but for a driver itself and its guardian.
func in(dir string) (there []int) {
	pids, _ := processes()
	for _, pid := range pids {
		at, _ := os.Readlink(filepath.Join(procDir, strconv.Itoa(pid), "cwd"))
		line, _ := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "cmdline"))
		if at == dir && !strings.Contains(string(line), "TestHelper") {
			there = append(there, pid)
		}
	}
	return there
}

// TestHelperGuarded is the driver of TestGuardian.
func TestHelperGuarded(t *testing.T) {
	text := os.Getenv("TEST_GUARDED")
	if text == "" {
		t.Skip("runs in a process of its own")
	}
	opt := guarded()
	opt.Environ = testEnviron
	do(New(opt), script(text))
}

// Whoever leaves the group is ended with the attempt, and reaped.
func TestEscapes(t *testing.T) {
	opt := guarded()
	opt.Grace = time.Second
	x := newTest(t, opt)
	slowest := time.Duration(0)
	for i := range *escapes {
		a := keyed(script([]string{
			`setsid sleep 1000 & :`,
			`setsid sh -c 'echo > up; setsid sleep 1000 & sleep 1000' & while ! test -e up; do sleep 0.01; done`,
			`(setsid sh -c '(sleep 1000 &); echo > up; exec sleep 1000' &); while ! test -e up; do sleep 0.01; done`,
			`setsid sh -c 'trap "" TERM HUP; echo > up; sleep 1000' >/dev/null 2>&1 & while ! test -e up; do sleep 0.01; done; exit 3`,
			`setsid sh -c 'while :; do setsid sleep 1000 & echo > up; sleep 0.01; done' & while ! test -e up; do sleep 0.01; done`,
			`setsid sh -c 'echo > up; exec sleep 1000' & sleep 1000`,
		}[i%6]))
		a.Dir, a.Timeout = t.TempDir(), 2*time.Second
		start := time.Now()
		f := do(x, a)
		slowest = max(slowest, time.Since(start))
		if left := descendants(t, a.Key); len(left) > 0 {
			t.Errorf("case %d: %d are left: %s", i, len(left), brief(f))
		}
	}
	x.Close()
	orphans.reap()
	noChildren(t)
	t.Logf("%d attempts whose children left their group; nobody left; the longest attempt took %s", *escapes, slowest)
}

// What a run's dead driver left behind is ended before the run goes on; others' processes are not.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	dead, x := New(Options{Environ: testEnviron, LogDir: dir}), newTest(t, Options{LogDir: dir})
	defer dead.Close()
	begin := func(x *Executor, run string) (key string, over chan string) {
		a := keyed(script(`setsid sleep 1000 & sleep 1000`))
		a.Run, a.OutputFile, over = run, true, make(chan string, 1)
		go func() { over <- brief(do(x, a)) }()
		await(t, "it is up", func() bool { return len(descendants(t, a.Key)) == 3 })
		return a.Key, over
	}
	mine, others := keyed(run()).Key, keyed(run()).Key // runs of this test alone: others may be at work beside it
	key, over := begin(dead, mine)
	other, otherOver := begin(dead, others)
	if n := x.Clear(mine); n != 3 {
		t.Errorf("%d were ended, want 3", n)
	}
	if n := len(descendants(t, key)); n != 0 {
		t.Errorf("%d are left", n)
	}
	if n := len(descendants(t, other)); n != 3 {
		t.Errorf("of another run %d are left, want 3", n)
	}
	if n := x.Clear(mine); n != 0 {
		t.Errorf("again: %d were ended", n)
	}
	if got := <-over; !strings.HasPrefix(got, "error transient/signal/SIGKILL") {
		t.Error(got)
	}
	if n := dead.Clear(others); n != 0 {
		t.Errorf("%d of its own were ended", n)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", outputPrefix+"*"))
	if len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
	x.Clear(others)
	<-otherOver
}
