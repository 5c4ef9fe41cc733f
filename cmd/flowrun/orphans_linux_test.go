package main_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var orphanKills = flag.Int("orphans.kills", 2, "how often flowrun is killed with children that are hard to find")

// hardToFind is a run whose steps start processes that no process group and no parent's death reaches.
const hardToFind = `
workflow "w" {
  max_concurrency = 8
  parallel "p" {
    step "group" { run = "(trap '' TERM HUP; echo > up.0; while ! test -e go; do sleep 0.05; done) & wait" }
    step "session" { run = "setsid sh -c 'echo > up.1; while ! test -e go; do sleep 0.05; done' & wait" }
    step "twice" { run = "(setsid sh -c '(while ! test -e go; do sleep 0.05; done &); echo > up.2; while ! test -e go; do sleep 0.05; done' &); while ! test -e go; do sleep 0.05; done" }
    step "agent" { agent = agent.a }
  }
}
agent "a" {
  type = "shell"
  run  = "setsid sh -c 'echo > up.3; while ! test -e go; do sleep 0.05; done' </dev/null >/dev/null 2>&1 & while ! test -e go; do sleep 0.05; done; echo '{}'"
}
`

// alive are the processes that work in a folder, but for those of flowrun.
func alive(binary, dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		at, _ := os.Readlink(link)
		program, err := os.Readlink(filepath.Join(filepath.Dir(link), "exe"))
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link))); at == dir && err == nil && program != binary {
			pids = append(pids, pid)
		}
	}
	return pids
}

// guardians are the guardians of the program in a folder.
func guardians(binary string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range all {
		at, _ := os.Readlink(link)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link))); at == binary && strings.Contains(string(line), "\x00guardian\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func within(t *testing.T, limit time.Duration, what string, is func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !is() {
		if time.Since(start) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(start)
}

// TestKilledWithChildren kills the real binary: soon after nobody whom its steps started is there, and no guardian. If the
// guardian was killed, too, they are ended by whoever resumes the run. The large version: -orphans.kills=50
func TestKilledWithChildren(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes")
	}
	binary := build(t)
	var slowest time.Duration
	found, left := 0, 0
	for i := range *orphanKills {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "w.hcl"), []byte(hardToFind), 0o600); err != nil {
			t.Fatal(err)
		}
		flowrun := exec.Command(binary, "apply", "w.hcl", "--store", "store")
		flowrun.Dir = dir
		if err := flowrun.Start(); err != nil {
			t.Fatal(err)
		}
		up := func() (files []string) {
			files, _ = filepath.Glob(filepath.Join(dir, "up.*"))
			return files
		}
		allUp := func() bool { return len(up()) == 4 }
		within(t, time.Minute, "all steps are under way", allUp)
		found += len(alive(binary, dir))
		unguarded := i%2 == 1
		if unguarded {
			for _, pid := range guardians(binary) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		flowrun.Process.Kill()
		flowrun.Wait()
		nobody := func() bool { return len(alive(binary, dir)) == 0 && len(guardians(binary)) == 0 }
		if !unguarded {
			slowest = max(slowest, within(t, 30*time.Second, "nobody is left", nobody))
			continue
		}
		left += len(alive(binary, dir))
		resume := exec.Command(binary, "resume", "latest", "--store", "store")
		resume.Dir = dir
		before := alive(binary, dir)
		for _, file := range up() {
			os.Remove(file)
		}
		var said bytes.Buffer
		resume.Stdout, resume.Stderr = &said, &said
		if err := resume.Start(); err != nil {
			t.Fatal(err)
		}
		within(t, time.Minute, "all steps are under way again", allUp) // so those that were left have been ended
		os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
		err := resume.Wait()
		out := said.String()
		if err != nil || !strings.Contains(out, "leftover processes of an earlier flowrun") {
			t.Errorf("with %d processes left, resume says %v\n%s", len(before), err, out)
		}
		within(t, 30*time.Second, "nobody is left", nobody)
	}
	if found < 8**orphanKills || *orphanKills > 1 && left == 0 {
		t.Errorf("%d processes were found, %d without a guardian: no test of it", found, left)
	}
	t.Logf("flowrun was killed %d times over %d processes; nobody left after %s; half of the time without a guardian, when %d were left to resume, which ended all",
		*orphanKills, found, slowest.Round(time.Millisecond), left)
}
