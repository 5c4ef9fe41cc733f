package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The loop of examples/autonomous does its work with real processes: what is handed in comes first, then the roadmap, each item once, and the
// roadmap is ticked off. Its test runs the same loop for a week in virtual time.
func TestAutonomous(t *testing.T) {
	binary := linked(t)
	dir := copied(t, "autonomous")
	for _, words := range [][]string{
		{"dispatch", "add", "the login", "--label", "bug", "--priority", "5", "--to", "sam"},
		{"loop", "run", "engineering", "--until-idle"},
	} {
		if out, code := flow(t, binary, dir, nil, words...); code != 0 {
			t.Fatalf("flowrun %s: exit code %d\n%s", strings.Join(words, " "), code, out)
		}
	}
	roadmap, err := os.ReadFile(filepath.Join(dir, "ROADMAP.md"))
	if text := string(roadmap); err != nil || strings.Count(text, "- [x]") != 6 || strings.Contains(text, "- [ ]") {
		t.Errorf("%v\n%s", err, text)
	}
	log, err := os.ReadFile(filepath.Join(dir, "work.log"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	first := "" // of sam
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		who, task, _ := strings.Cut(line, ": ")
		if tasks = append(tasks, task); who == "sam" && first == "" {
			first = task
		}
	}
	slices.Sort(tasks)
	if got := strings.Join(tasks, "|"); first != "Find the cause: the login" ||
		got != "Count the words of a file|Find the cause: the login|Make one thing simpler|Repair it: done|Say hello in three languages|The first chapter|The second chapter|Write the manual" {
		t.Errorf("sam began with %q\n%s", first, got)
	}
}
