package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wide is a run of many steps at once, one of which can be made to wait.
const wide = `
workflow "wide" {
  max_concurrency = 16
  step "s" {
    for_each = range(32)
    run      = "sleep 0.01; echo ${each.value}"
  }
  step "long" { run = "test ! -e wait || { echo > waiting; sleep 60; }" }
  output "count" { value = length(step.s.output) }
}
`

// strangerUID is a user without any process, whose limit counts nobody else's.
const strangerUID = 54321

// scarce is a folder in which any user can run flowrun, under a shell's limits.
type scarce struct {
	dir  string
	root bool
}

func newScarce(t *testing.T) *scarce {
	dir, err := os.MkdirTemp("", "flowrun-scarce-*") // t.TempDir is open to its owner alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "flowrun"), binary, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "w.hcl"), []byte(wide), 0o644)
	}
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &scarce{dir, os.Getuid() == 0}
}

// flowrun is a command under a limit, as another user where we are root.
func (s *scarce) flowrun(t *testing.T, limit string, words string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), "bash", "-c", limit+"; exec ./flowrun "+words)
	c.Dir, c.Env = s.dir, append(os.Environ(), "FLOWRUN_STORE="+filepath.Join(s.dir, "store"), "HOME="+s.dir)
	if s.root {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerUID, Gid: strangerUID}}
	}
	return c
}

// ends runs a command to its end, which must come soon: a run that works, or a sentence that says what is missing.
func (s *scarce) ends(t *testing.T, limit, words, missing string) (code int) {
	t.Helper()
	c := s.flowrun(t, limit, words)
	began := time.Now()
	late := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer late.Stop()
	out, _ := c.CombinedOutput()
	code = c.ProcessState.ExitCode()
	switch took := time.Since(began); {
	case code == 0 && strings.Contains(string(out), "count = 32"):
	case code == 3 && strings.Contains(string(out), missing) && strings.Contains(string(out), "Allow more with:") && took < 30*time.Second:
	default:
		t.Errorf("%s: exit code %d after %v\n%.2000s", limit, code, took, out)
	}
	return code
}

// With few descriptors a run works, or it is said at once how many it takes. No step fails for want of them.
func TestFewDescriptors(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newScarce(t)
	codes := map[int]int{}
	for _, n := range []int{16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 44, 48, 52, 56, 60, 64, 80, 96, 128, 128, 128, 192, 256} {
		codes[s.ends(t, fmt.Sprint("ulimit -n ", n), "apply w.hcl", "too few file descriptors")]++
	}
	if codes[0] < 8 || codes[3] < 8 {
		t.Errorf("exit codes: %v", codes)
	}
	c, said := s.holds(t)
	if out, err := s.flowrun(t, "ulimit -n 24", "cancel latest").CombinedOutput(); err != nil {
		t.Errorf("cancel with few: %v\n%s", err, out)
	}
	if c.Wait(); c.ProcessState.ExitCode() != 5 {
		t.Errorf("a run that was cancelled with few: %v\n%s", c.ProcessState, said.String())
	}
}

// holds starts a run that does not end by itself, and waits until its last step has begun.
func (s *scarce) holds(t *testing.T) (c *exec.Cmd, said *strings.Builder) {
	if err := os.WriteFile(filepath.Join(s.dir, "wait"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c, said = s.flowrun(t, "true", "apply w.hcl"), new(strings.Builder)
	c.Stderr = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "the step that waits has begun", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "waiting"))
		return err == nil
	})
	return c, said
}

// With few processes a run works, or it is said at once how many it takes; Go's runtime would end the process with a trace of
// its stacks. A run that was begun with more goes on with more.
func TestFewProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newScarce(t)
	if !s.root {
		t.Skip("SKIPPED: only root can be a user without any process, whose limit counts nobody else's")
	}
	codes := map[int]int{}
	for _, n := range []int{10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 64, 100, 200} {
		codes[s.ends(t, fmt.Sprint("ulimit -u ", n), "apply w.hcl", "too few processes")]++
	}
	if codes[0] < 4 || codes[3] < 4 {
		t.Errorf("exit codes: %v", codes)
	}
	c, said := s.holds(t)
	c.Process.Signal(syscall.SIGTERM)
	if c.Wait(); c.ProcessState.ExitCode() != 143 {
		t.Fatalf("%v\n%s", c.ProcessState, said.String())
	}
	os.Remove(filepath.Join(s.dir, "wait"))
	if code := s.ends(t, "ulimit -u 12", "resume latest", "too few processes"); code != 3 {
		t.Errorf("resumed with too few: exit code %d", code)
	}
	if code := s.ends(t, "ulimit -u 200", "resume latest", ""); code != 0 {
		t.Errorf("resumed with enough: exit code %d", code)
	}
}

// A step that takes all processes that there may be does not end its driver, and those that come after it wait until there are some.
func TestStepsThatTakeAllProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	s := newScarce(t)
	if !s.root {
		t.Skip("SKIPPED: only root can be a user without any process, whose limit counts nobody else's")
	}
	greedy := `
workflow "wide" {
  max_concurrency = 16
  step "bomb" {
    on_error = "continue"
    run      = "(while :; do sleep 4 & done) || exec sleep 4"
  }
  step "pause" {
    wait { duration = "1s" }
  }
  step "s" {
    for_each   = range(32)
    depends_on = [step.pause]
    run        = "echo ${each.value}"
  }
  output "count" { value = length(step.s.output) }
}
`
	if err := os.WriteFile(filepath.Join(s.dir, "w.hcl"), []byte(greedy), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{34, 40, 60} {
		if code := s.ends(t, fmt.Sprint("ulimit -u ", n), "apply w.hcl", ""); code != 0 {
			t.Errorf("with %d: exit code %d", n, code)
		}
	}
}
