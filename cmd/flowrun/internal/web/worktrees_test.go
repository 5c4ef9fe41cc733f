package web

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/worktree"
)

// The page of the loops says why a worktree stays now: it asks git, and answers in time though git does not.
func TestWorktreesThatStay(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	store, repository := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		c := exec.Command("git", args...)
		if c.Dir = repository; c.Run() != nil {
			t.Fatal(args)
		}
	}
	text, _ := json.Marshal(worktree.State{Run: "abcdefghijkl", Loop: "engineering", Item: "dispatch/one", Branch: "flowrun/gone", Root: filepath.Join(store, "none"),
		Repository: repository, Ready: true, Kept: "1 commit is not merged"})
	if err := os.MkdirAll(worktree.Folder(store), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(worktree.Folder(store), "abcdefghijkl.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}

	slow := t.TempDir()
	if err := os.WriteFile(filepath.Join(slow, "git"), []byte("#!/bin/sh\nsleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", slow+":"+path)
	h, _ := open(t, store, "", "127.0.0.1:0")
	began := time.Now()
	h.has("/loops", "dispatch/one", "stays, with branch flowrun/gone: 1 commit is not merged")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the page took %s, because git does not answer", took)
	}

	t.Setenv("PATH", path)
	h, _ = open(t, store, "", "127.0.0.1:0")
	for due := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // on a busy machine git may not answer in time; it is asked again later
		_, page := h.get("/loops")
		if strings.Contains(page, "stays, with branch flowrun/gone: its branch is merged") {
			return
		}
		if time.Now().After(due) {
			t.Fatal(page)
		}
	}
}
