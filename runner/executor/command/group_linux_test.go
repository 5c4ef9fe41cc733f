package command

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/executor"
)

// cancelNegligent cancels an attempt whose group then has one member, a zombie: its parent, which left the group, never
// reaps. It returns how long the end took.
func cancelNegligent(t *testing.T, grace time.Duration) time.Duration {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x, dir := newTest(t, Options{Grace: grace}), t.TempDir()
	a := keyed(script(`"$SELF" -test.run='^TestHelperNegligent$' >/dev/null 2>&1 & wait`))
	a.Env = map[string]string{"SELF": self, "TEST_NEGLIGENT_DIR": dir}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	over := make(chan time.Time, 1)
	go func() {
		x.Execute(ctx, a)
		over <- time.Now()
	}()
	await(t, "the helper is up", func() bool { return exists(filepath.Join(dir, "up")) })
	start := time.Now()
	cancel(executor.Cancelled)
	took := (<-over).Sub(start)
	left := descendants(t, a.Key)
	if len(left) != 1 {
		t.Errorf("%d processes are left, want the helper alone", len(left))
	}
	for _, pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return took
}

// TestHelperNegligent starts a member of the group, leaves the group, and reaps nobody; by itself it does nothing.
func TestHelperNegligent(t *testing.T) {
	dir := os.Getenv("TEST_NEGLIGENT_DIR")
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	if _, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{Env: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Setsid(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "up"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// A member that is dead, and only not reaped, is not waited for.
func TestZombiesGetNoGrace(t *testing.T) {
	if took := cancelNegligent(t, 100*time.Second); took > 30*time.Second { // the helper stays for a minute
		t.Errorf("it took %s: a zombie was waited for", took)
	}
}

// Without /proc the kernel's count stands: a zombie gets the grace, and no more.
func TestZombiesWithoutProc(t *testing.T) {
	procDir = t.TempDir()
	defer func() { procDir = "/proc" }()
	const grace = 200 * time.Millisecond
	if took := cancelNegligent(t, grace); took < grace || took > grace+30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A process that began with this variable set ends its first thread, and lives on without it.
const leaderEnds = "TEST_LEADER_ENDS"

func init() {
	if up := os.Getenv(leaderEnds); up != "" {
		signal.Ignore(syscall.SIGTERM)
		go func() {
			for stat := []byte(nil); !strings.Contains(string(stat), ") Z "); time.Sleep(time.Millisecond) {
				stat, _ = os.ReadFile("/proc/self/stat")
			}
			os.WriteFile(up, nil, 0o600)
			time.Sleep(time.Minute)
			os.Exit(0)
		}()
		syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	}
}

// A process whose first thread has ended looks like a zombie, and is none.
func TestRunningWithoutFirstThread(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	up := filepath.Join(t.TempDir(), "up")
	pid, err := syscall.ForkExec(self, []string{self, "-test.run=^$"}, &syscall.ProcAttr{
		Env: append(os.Environ(), leaderEnds+"="+up), Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		t.Fatal(err)
	}
	c := &child{pid: pid}
	await(t, "it is without its first thread", func() bool { return exists(up) })
	if !c.running() || c.seen != pid {
		t.Error("a process with a thread that works counts as dead")
	}
	syscall.Kill(pid, syscall.SIGKILL)
	waitNoReap(pid)
	if c.running() {
		t.Error("a zombie counts as running")
	}
	reap(pid, nil)
	if !c.running() {
		t.Error("where no member is seen, the answer must be left to the kernel's count")
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 "
	for stat, want := range map[string]member{
		"9 (sleep) S 1 7" + rest + "1 0":       alive,
		"9 (sleep) Z 1 7" + rest + "1 0":       dead,
		"9 (sleep) X 1 7" + rest + "0 0":       dead,
		"9 (many) Z 1 7" + rest + "12 0":       alive,
		"9 (a) Z 1 7 (b) R 1 7" + rest + "1 0": alive,
		"9 (sleep) Z 1 8" + rest + "1 0":       stranger,
		"9 (sleep) Z 1 7":                      stranger,
		"":                                     stranger,
		")":                                    stranger,
	} {
		if got := parseStat(stat, 7); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}
