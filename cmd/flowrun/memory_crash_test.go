package main_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
)

var (
	learningRuns  = flag.Int("learning.runs", 3, "how many runs of agents with a memory are killed")
	learningKills = flag.Int("learning.kills", 4, "how often each of them is killed")
)

// rememberers is a workflow of agents' tasks of which some fail; each notes something, says what it learned, and writes an entry.
const rememberers = `memory {
  consolidate_every = 0
  embedder { provider = "none" }
}

agent "worker" {
  type    = "shell"
  run     = <<-EOT
    cat >/dev/null
    echo "{\"type\":\"remember\",\"text\":\"a note of $FLOWRUN_STEP\"}"
    echo >>begun
    sleep 0.1
    case $FLOWRUN_STEP in *[[]19]) until [ -e go ]; do sleep 0.02; done ;; esac
    case $FLOWRUN_STEP in
    *[05]]) echo "{\"type\":\"error\",\"kind\":\"blocking\",\"message\":\"no disk $FLOWRUN_STEP\"}" ;;
    *) echo "{\"type\":\"result\",\"output\":1,\"learnings\":[\"It is known now what $FLOWRUN_STEP does.\"]}" ;;
    esac
  EOT
  memory { trusted = true }
}

workflow "w" {
  max_concurrency = 4
  step "work" {
    for_each = range(20)
    agent    = agent.worker
    task     = "Do part ${each.key} of the work."
    on_error = "continue"
  }
  step "keep" {
    for_each = range(5)
    remember { lesson = "Lesson number ${each.key} of the run." }
  }
}
`

// TestLearningSurvivesKills kills the real binary while its agents work and learn, and resumes it until the run ends, which waits
// for the kills. Then every task has left its learnings, once.
func TestLearningSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes for some seconds")
	}
	t.Parallel()
	binary := build(t)
	r := rand.New(rand.NewPCG(*crashSeed, 3))
	for range *learningRuns {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(rememberers), 0o600); err != nil {
			t.Fatal(err)
		}
		begun := filepath.Join(dir, "begun")
		flowrun := func(kill bool, words ...string) {
			t.Helper()
			os.Remove(begun)
			c := exec.Command(binary, append(words, "--death-limit", "1000", "--store", filepath.Join(dir, ".flowrun"))...)
			c.Dir = dir
			var said strings.Builder
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if kill {
				for end := time.Now().Add(2 * time.Minute); ; time.Sleep(2 * time.Millisecond) {
					if _, err := os.Stat(begun); err == nil || time.Now().After(end) {
						break
					}
				}
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				_ = c.Process.Kill()
			}
			err := c.Wait()
			var exit *exec.ExitError
			if kill && (!errors.As(err, &exit) || exit.ExitCode() != -1) {
				t.Fatalf("%q ended before it was killed: %v\n%s", words, err, said.String())
			}
			if !kill && (err != nil || strings.Contains(said.String(), "memory:")) {
				t.Fatalf("%q: %v\n%s", words, err, said.String())
			}
		}
		flowrun(true, "apply", "flow.hcl")
		for range *learningKills - 1 {
			flowrun(true, "resume", "latest")
		}
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		flowrun(false, "resume", "latest")
		learnedOnce(t, filepath.Join(dir, ".flowrun"))
	}
	t.Logf("%d runs, each killed %d times", *learningRuns, *learningKills)
}

// learnedOnce counts what the memory has of a run of rememberers.
func learnedOnce(t *testing.T, store string) {
	t.Helper()
	m, err := memory.Open(store, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	all, err := m.List(context.Background(), memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, i := range all {
		what := fmt.Sprintf("%s of %s", i.Type, i.By.Source)
		if i.Working {
			what = fmt.Sprintf("working, archived %v", i.Archived)
		}
		if count[what]++; i.Count != 1 {
			t.Errorf("%s is counted %d times", i.ID, i.Count)
		}
	}
	want := map[string]int{"failure of result": 4, "insight of result": 16, "insight of remember": 5, "working, archived true": 20}
	for what, n := range want {
		if count[what] != n {
			t.Errorf("%d entries are %s, want %d", count[what], what, n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(store, "learning", "*")); len(left) > 0 || len(count) != len(want) {
		t.Errorf("%v is left to learn; there is %v", left, count)
	}
}
