package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A driver that is killed again and again over the same attempt, with SIGKILL, leaves each time what the attempt had written: a text of
// its own, that is shown beside that attempt and no other, before the run goes on and after it has ended.
func TestKilledAttemptsAreShown(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes for some seconds")
	}
	const kills = 3
	binary, dir := build(t), t.TempDir()
	source := `workflow "w" {
  step "work" {
    run = ["sh", "-c", "echo this is $(cat turn); echo complaint of $(cat turn) >&2; until [ -e go ]; do sleep 0.02; done"]
  }
}`
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	flowrun := func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary, append(args, "--store", filepath.Join(dir, ".flowrun"))...)
		cmd.Dir = dir
		return cmd
	}
	type attempt struct{ Outcome, Stdout, Stderr string }
	check := func(want int, status string, driven bool) {
		t.Helper()
		out, err := flowrun("runs", "show", "latest", "--json").Output()
		var have struct {
			Status     string
			Driven     bool
			Unanswered []attempt
		}
		if err == nil {
			err = json.Unmarshal(out, &have)
		}
		if err != nil || have.Status != status || have.Driven != driven || len(have.Unanswered) != want {
			t.Fatalf("the run is %s (%v), want %s with %d attempts that have not answered", out, err, status, want)
		}
		for i, a := range have.Unanswered {
			if want := (attempt{"interrupted", fmt.Sprintf("this is %d\n", i+1), fmt.Sprintf("complaint of %d\n", i+1)}); a != want {
				t.Errorf("attempt %d is %+v, want %+v", i, a, want)
			}
		}
	}
	for n := 1; n <= kills; n++ {
		if err := os.WriteFile(filepath.Join(dir, "turn"), []byte(fmt.Sprint(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := flowrun("resume", "latest", "--death-limit", "100")
		if n == 1 {
			cmd = flowrun("apply", "w.flow.hcl")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(dir, ".flowrun", "logs", "*", "000001-work-1.stderr")
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if files, _ := filepath.Glob(log); len(files) == 1 {
				if text, _ := os.ReadFile(files[0]); string(text) == fmt.Sprintf("complaint of %d\n", n) {
					break
				}
			}
			if time.Now().After(end) {
				cmd.Process.Kill()
				t.Fatal("nothing of the attempt is in its log")
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		check(n, "running", false)
	}
	if out, err := flowrun("runs", "list").Output(); err != nil || !strings.Contains(string(out), " interrupted ") {
		t.Errorf("the list is\n%s (%v)", out, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := flowrun("resume", "latest", "--death-limit", "100").CombinedOutput(); err != nil {
		t.Fatalf("resume: %v\n%s", err, out)
	}
	check(kills, "succeeded", false)
	for _, args := range [][]string{{"logs", "latest"}, {"logs", "latest", "-f"}} {
		out, err := flowrun(args...).Output()
		last := -1
		for n := 1; n <= kills; n++ {
			at := strings.Index(string(out), fmt.Sprintf("this is %d\n", n))
			if at <= last {
				t.Errorf("%v: what attempt %d wrote is not where it belongs", args, n)
			}
			last = at
		}
		if err != nil || strings.Count(string(out), ": interrupted") != kills || strings.Count(string(out), "this is 3\n") != 2 {
			t.Errorf("%v gives %v and\n%s", args, err, out)
		}
	}
}
