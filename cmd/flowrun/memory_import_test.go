package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An import that is stopped in the middle has kept the lines from the first to one that it had read, whole and nothing else; the
// same command again makes it complete. A signal that can be heard says how many, and ends it with its code.
func TestImportIsStopped(t *testing.T) {
	binary := build(t)
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"id":"E%d","text":"entry number %d","created_at":"2026-01-01T00:00:00Z","importance":0.5,"type":"note"}`, i, i))
	}
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sig, code := range map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		flowrun := func(words ...string) *exec.Cmd {
			c := exec.Command(binary, append([]string{"memory", "--store", filepath.Join(dir, "s")}, words...)...)
			c.Dir = dir
			return c
		}
		exported := func() []string {
			out, _ := flowrun("export").Output()
			return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		}
		c := flowrun("import", "-", "--embedder", "none")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, strings.Join(lines[:800], "\n")+"\n"); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); len(exported()) < 256 && time.Now().Before(end); {
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // no more comes, and no end: a signal is heard all the same
		in.Close()
		if have := c.ProcessState.ExitCode(); have != code {
			t.Errorf("%v: exit code %d: %s", sig, have, &errs)
		}
		kept := exported()
		if len(kept) < 256 || len(kept) > 800 {
			t.Errorf("%v: %d lines are kept", sig, len(kept))
		}
		for i, line := range kept {
			if !strings.Contains(line, fmt.Sprintf(`"id":"E%d"`, i)) || !strings.Contains(line, fmt.Sprintf(`"entry number %d"`, i)) {
				t.Fatalf("%v: line %d is %s", sig, i, line)
			}
		}
		if code > 0 && !strings.Contains(out.String(), fmt.Sprintf("added %d entries", len(kept))) {
			t.Errorf("%v: it says %q, and keeps %d", sig, out.String(), len(kept))
		}
		if said, err := flowrun("doctor").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", sig, said)
		}
		said, err := flowrun("import", file, "--embedder", "none").CombinedOutput()
		if want := fmt.Sprintf("added %d entries to s, %d were there already", len(lines)-len(kept), len(kept)); err != nil || !strings.Contains(string(said), want) {
			t.Errorf("%v: %v: %s, want %s", sig, err, said, want)
		}
		if n := len(exported()); n != len(lines) {
			t.Errorf("%v: %d entries in the end", sig, n)
		}
		t.Logf("%v in the middle of %d lines: %d kept", sig, len(lines), len(kept))
	}
}
