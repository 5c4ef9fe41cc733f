package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The workflows of examples/timers run with real processes, in short times. A job whose time is up leaves no process behind.
func TestTimers(t *testing.T) {
	binary := linked(t)
	dir := copied(t, "timers")
	for _, c := range []struct {
		workflow, input string // input is that with the time limit; "": there is none
		code            int
		want            string
	}{
		{"rate_limit", "", 0, "call: waiting: too many requests; it waits as long as the error asks"},
		{"training", "limit", 1, "terminate: succeeded"},
		{"tasks", "limit", 0, `results = ["done","done","a draft"]`},
		{"chain", "window", 0, "check: succeeded"},
		{"reconnect", "", 0, "call: succeeded"},
		{"day", "", 0, "work: succeeded"},
		{"competition", "limit", 0, "winner = quick"},
	} {
		for _, limit := range []string{"300ms", "3s", "30s"} { // on a busy machine an agent starts late
			words := []string{"apply", ".", c.workflow}
			if c.input != "" {
				words = append(words, "--input", c.input+"="+limit)
			}
			out, code := flow(t, binary, dir, nil, words...)
			_, err := os.Stat(filepath.Join(dir, ".child"))
			if code == c.code && strings.Contains(out, c.want) && (c.workflow != "training" || err == nil) {
				break
			}
			if c.input == "" || limit == "30s" {
				t.Errorf("flowrun %s: exit code %d, want %d and %q in\n%s", strings.Join(words, " "), code, c.code, c.want, out)
				break
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, ".child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a child of the job that was ended is still there: %v", err)
	}
}
