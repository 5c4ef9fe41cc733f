//go:build linux

package command

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// keyed gives an attempt a key of its own; whoever carries it in the environment descends from the attempt.
func keyed(a event.Attempt) event.Attempt {
	a.Key = fmt.Sprintf("test-%d-%d-%06d", os.Getpid(), time.Now().UnixNano(), keys.Add(1))
	return a
}

var keys atomic.Int32

// descendants are the living processes that an attempt left behind.
func descendants(t *testing.T, key string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		t.Fatalf("no /proc: %v", err)
	}
	for _, name := range all {
		env, _ := os.ReadFile(name) // of a zombie it is empty
		if bytes.Contains(env, []byte("FLOWRUN_IDEMPOTENCY_KEY="+key)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// illBehaved is an agent that breaks the rules.
type illBehaved struct {
	name, script string
	want         string // the start of the answer
	prepares     bool   // it does something before it is ready for TERM
	with         any
}

// TestIllBehaved runs agents that break the rules. Each ends within its timeout + grace + 1 s, leaves nobody, in its group or out of
// it, and makes us allocate a bounded amount, over its whole life, whatever it says. With -short several run at
// once: what they make us allocate is counted together, and they have more time to spare. All of it, as often as you like:
//
//	go test ./runner/executor/command -run TestIllBehaved -ill.times=20 -v
func TestIllBehaved(t *testing.T) {
	const maxHeap = 16 << 20
	result := `echo '{"type":"result","output":1}'`
	cases := []illBehaved{
		// These hold a pipe for holdWait. They come first, for the time of all together.
		{name: "forks a grandchild that holds the pipe", script: result + `; sleep 1000 &`, want: "ok exit=0"},
		{name: "setsid", script: result + `; setsid sleep 1000 &`, want: "ok exit=0"},
		{name: "its grandchild floods after its end", script: result + `; yes &`, want: "ok exit=0"},
		{name: "a result too late", script: `(sleep 5; ` + result + `) &`, want: "error exit=0 blocking/bad_json: the agent printed nothing"},
		{name: "ignores TERM", prepares: true, script: `trap "" TERM; while :; do sleep 0.05; done`, want: "error transient/timeout/SIGKILL: timed out"},
		{name: "its grandchild ignores TERM", prepares: true, script: `(trap "" TERM; while :; do sleep 0.05; done) & wait`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "sleeps for ever", script: `sleep 1000`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "is stopped", script: `kill -STOP $$`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "forks a grandchild that holds nothing", script: result + `; sleep 1000 >/dev/null 2>&1 &`, want: "ok exit=0"},
		{name: "setsid, then sleeps", prepares: true, script: `setsid sleep 1000 & sleep 1000`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "floods stdout", script: `yes`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "floods stdout and ignores TERM", prepares: true, script: `trap "" TERM; yes`, want: "error transient/timeout/SIGKILL: timed out"},
		{name: "floods stderr", script: `yes >&2`, want: "error transient/timeout/SIGTERM: timed out"},
		{name: "one line of 20 MB", script: `head -c 20000000 /dev/zero | tr '\0' x`, want: "error exit=0 fatal/output_too_large"},
		{name: "one line of 20 MB, then a result", script: `head -c 20000000 /dev/zero | tr '\0' x; echo; ` + result, want: "ok exit=0"},
		{name: "closes stdin at once", script: `exec 0<&-; ` + result, want: "ok exit=0", with: strings.Repeat("x", 1<<20)},
		{name: "never reads 1 MB", script: `sleep 1000`, want: "error transient/timeout/SIGTERM: timed out", with: strings.Repeat("x", 1<<20)},
		{name: "never reads 1 MB and ends well", script: result, want: "ok exit=0", with: strings.Repeat("x", 1<<20)},
		{name: "two results", script: result + ";" + result, want: "error exit=0 recoverable/agent: the agent gave 2 results"},
		{name: "a result from behind the end", script: `(sleep 0.2; ` + result + `) &`, want: "ok exit=0"},
		{name: "junk and half JSON", script: `printf 'hello\n\377\376\n{"type":"result","outp'`, want: "error exit=0 blocking/bad_json: the agent's output is not JSON"},
		{name: "junk, then a result", script: `printf 'hello\n\377{"type":\n'; ` + result, want: "ok exit=0"},
	}
	if testing.Short() {
		before := allocated()
		var next atomic.Int32
		parallel(len(cases), func() { tc := cases[next.Add(1)-1]; t.Run(tc.name, tc.test) })
		if n := allocated() - before; n > uint64(len(cases))*maxHeap/4 {
			t.Errorf("%d bytes were allocated", n)
		}
		return
	}
	resetPeak(t)
	calm := memory(t, "VmRSS")
	for _, tc := range cases {
		before, made := allocated(), illMade.Load()
		t.Run(tc.name, func(t *testing.T) {
			for range *illTimes {
				tc.test(t)
			}
		})
		if n := allocated() - before; n > uint64(illMade.Load()-made)*maxHeap {
			t.Errorf("%s: %d bytes were allocated", tc.name, n)
		}
	}
	noChildren(t)
	grown := max(0, memory(t, "VmHWM")-calm)
	if grown > 64<<20 {
		t.Errorf("resident memory grew by %d bytes", grown)
	}
	t.Logf("%d agents, %d times each: nobody left, no zombie; at most %s beyond timeout and grace; %d KiB more memory at the peak",
		len(cases), *illTimes, time.Duration(slowest.Load()).Round(time.Millisecond), grown>>10)
}

var (
	illTimes = flag.Int("ill.times", 1, "how often each agent that breaks the rules is run")
	slowest  atomic.Int64 // nanoseconds beyond timeout and grace
	illMade  atomic.Int64 // attempts of agents that break the rules
)

// memory is a line of /proc/self/status, in bytes.
func memory(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	kib, err := strconv.Atoi(strings.TrimSpace(strings.Split(rest, " kB")[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// resetPeak makes VmHWM begin anew.
func resetPeak(t *testing.T) {
	t.Helper()
	runtime.GC()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak of memory is that of the whole process: %v", err)
	}
}

// allocated is how much was ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func (tc illBehaved) test(t *testing.T) {
	const grace = 200 * time.Millisecond
	timeout := 200 * time.Millisecond
	if tc.prepares {
		timeout = 500 * time.Millisecond
	}
	if strings.HasPrefix(tc.want, "ok") || strings.Contains(tc.want, "exit=") { // ends by itself
		timeout = 100 * time.Second
	}
	got := tc.attempt(t, timeout, grace)
	for try := 1; try < 3 && tc.prepares && !strings.HasPrefix(got, tc.want); try++ { // on a busy machine it was not ready
		timeout *= 8
		got = tc.attempt(t, timeout, grace)
	}
	if !strings.HasPrefix(got, tc.want) {
		t.Errorf("got  %s\nwant %s", got, tc.want)
	}
}

// attempt carries out one attempt, and checks all but how it ended.
func (tc illBehaved) attempt(t *testing.T, timeout, grace time.Duration) string {
	const spare = 30 * time.Second // whatever is not ended would live on for minutes; the log shows what was needed
	opt := guarded()
	opt.Grace, opt.LogDir = grace, t.TempDir()
	x := newTest(t, opt)
	a := keyed(agent(tc.script))
	a.Timeout, a.Agent.With = timeout, tc.with
	illMade.Add(1)
	start := time.Now()
	f := do(x, a)
	took := time.Since(start)
	if took > min(timeout, spare)+grace+spare {
		t.Errorf("it took %s", took)
	}
	if over := int64(took - timeout - grace); over > slowest.Load() {
		slowest.Store(over)
	}
	if len(f.Stdout) > limits.MaxStream || len(f.Stderr) > limits.MaxStream {
		t.Errorf("%d bytes of stdout, %d of stderr", len(f.Stdout), len(f.Stderr))
	}
	left := descendants(t, a.Key)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return brief(f)
}

// A shell dies of TERM at once; what it started gets the grace all the same.
func TestGroupGetsTheGrace(t *testing.T) {
	x := newTest(t, Options{Grace: 100 * time.Second})
	a := keyed(script(`(trap 'sleep 0.1; echo put away; exit' TERM; echo > up; while :; do sleep 0.01; done); true`))
	a.Dir = t.TempDir()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		for !exists(filepath.Join(a.Dir, "up")) {
			time.Sleep(time.Millisecond)
		}
		cancel(executor.Cancelled)
	}()
	start := time.Now()
	f := x.Execute(ctx, a)
	if f.Stdout != "put away\n" {
		t.Errorf("%s %q", brief(f), f.Stdout)
	}
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %s: the grace ends when the group is empty", took)
	}
	if left := descendants(t, a.Key); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A child leads its group; beside a terminal it leads a session too, and all else is the same.
func TestGroupAndSession(t *testing.T) {
	for _, session := range []bool{false, true} {
		x := newTest(t, Options{})
		x.session = session
		f := do(x, script(`read -r pid comm state ppid group session rest < /proc/$$/stat; echo $((group == $$)) $((session == $$))`))
		if want := map[bool]string{false: "1 0\n", true: "1 1\n"}[session]; f.Stdout != want {
			t.Errorf("session %v: %s%s", session, f.Stdout, f.Stderr)
		}
		a := keyed(script(`sleep 1000 & sleep 1000`))
		a.Timeout = 20 * time.Millisecond
		if got := brief(do(x, a)); !strings.HasPrefix(got, "error transient/timeout/SIGTERM") || len(descendants(t, a.Key)) != 0 {
			t.Errorf("session %v: %s", session, got)
		}
	}
}

// Where there is no pidfd the end is told by a goroutine. The same things hold.
func TestWithoutPidfd(t *testing.T) {
	noPidfd = true
	defer func() { noPidfd = false }()
	t.Run("ends", TestEnds)
	t.Run("cancel", TestCancel)
	t.Run("grace", TestGroupGetsTheGrace)
}

// TestDiesWithTheDriver kills a driver (this test binary, run again) and looks for its child.
func TestDiesWithTheDriver(t *testing.T) {
	key, dir := keyed(run()).Key, t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	driver, err := os.StartProcess(self, []string{self, "-test.run=^TestHelperDriver$"}, &os.ProcAttr{
		Env: append(os.Environ(), "TEST_DRIVER_KEY="+key, "TEST_DRIVER_DIR="+dir)})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the child is up", func() bool { return exists(filepath.Join(dir, "up")) })
	driver.Kill()
	driver.Wait()
	await(t, "the child is gone", func() bool { return len(descendants(t, key)) == 0 })
}

// TestHelperDriver is the driver of TestDiesWithTheDriver; by itself it does nothing.
func TestHelperDriver(t *testing.T) {
	key := os.Getenv("TEST_DRIVER_KEY")
	if key == "" {
		t.Skip("runs in a process of its own")
	}
	a := script("echo > up; exec sleep 1000")
	a.Key, a.Dir = key, os.Getenv("TEST_DRIVER_DIR")
	do(New(Options{Environ: testEnviron}), a)
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Where orphans come to us, as to the first process of a container, they are reaped as well.
func TestOrphansAreReaped(t *testing.T) {
	x := newTest(t, Options{Grace: 100 * time.Second, Adopt: true})
	start := time.Now()
	do(x, script(`sleep 1000 >/dev/null 2>&1 & sleep 1000 >/dev/null 2>&1 &`))
	a := script(`sleep 1000 & sleep 1000`)
	a.Timeout = 20 * time.Millisecond
	do(x, a)
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %s: a dead member of the group was waited for", took)
	}
	noChildren(t)
}

// Attempts leave no descriptors and no zombies behind, whatever became of them.
func TestNothingLeaks(t *testing.T) {
	x := newTest(t, Options{})
	attempts := 80
	if testing.Short() {
		attempts = 16
	}
	round := func() {
		parallel(attempts, func() {
			do(x, run("true"))
			do(x, run("no-such"))
			do(x, run("/no/such"))
			do(x, run("true", strings.Repeat("x", 1<<20)))
			do(x, with(agent(""), func(a *event.Attempt) { a.Argv, a.Agent.With = []string{"/no/such"}, strings.Repeat("x", 1<<20) }))
			do(x, with(agent("true"), func(a *event.Attempt) { a.Dir = "/no/such" }))
			a := agent(`echo '{}'`)
			a.Timeout = time.Minute
			do(x, a)
		})
	}
	round()
	before, slots := descriptors(t), len(x.idle)
	round()
	if after, made := descriptors(t), len(x.idle)-slots; after != before+2*made { // a slot has two
		t.Errorf("%d descriptors were open, now %d, with %d more slots", before, after, made)
	}
	noChildren(t)
}

// descriptors is how many are open.
func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// Attempts that are more than the descriptors carry wait for each other; none of them fails.
func TestAttemptsWaitForDescriptors(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	const attempts, carried = 40, 4
	x := newTest(t, Options{})
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(descriptors(t)) + carried*9, Max: was.Max})
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	answers := make(chan string, attempts)
	began := time.Now()
	for range attempts {
		go func() { answers <- brief(do(x, run("sleep", "0.1"))) }()
	}
	for range attempts {
		if got := <-answers; got != "ok exit=0" {
			t.Error(got)
		}
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("all of them ran at once: no test of it (%v)", took)
	}
}

// Wherever on the way to a child the descriptors run out, those that were open are closed, and whoever waits can be called off.
func TestDescriptorsRunOut(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<20) // more than a pipe holds, so that the input is open while the child starts
	before, ok, failed := descriptors(t), 0, 0
	for more := range uint64(16) {
		wait := 300 * time.Millisecond
		if more == 15 { // enough descriptors: the attempt need not be called off
			wait = time.Minute
		}
		free, err := syscall.Dup(0) // the lowest that is free
		if err != nil {
			t.Fatal(err)
		}
		syscall.Close(free)
		x := New(Options{Environ: testEnviron})
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(free) + more, Max: was.Max})
		ctx, enough := context.WithTimeout(context.Background(), wait)
		f := x.Execute(ctx, with(agent("echo '{}'"), func(a *event.Attempt) { a.Agent.With = large }))
		enough()
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
		x.Close()
		switch got := brief(f); {
		case got == "ok exit=0":
			ok++
		case got == "error fatal/cancelled: cancelled":
			failed++
		default:
			t.Errorf("with %d descriptors: %s", more, got)
		}
		if after := descriptors(t); after != before {
			t.Fatalf("with %d descriptors: %d were open, now %d", more, before, after)
		}
	}
	if ok == 0 || failed < 9 {
		t.Errorf("%d succeeded and %d failed: no test of it", ok, failed)
	}
	noChildren(t)
}

func noChildren(t *testing.T) {
	t.Helper()
	orphans.reap()
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: pid %d, %v", pid, err)
	}
}
