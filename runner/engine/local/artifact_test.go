package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// answersLong answers with a text that is too long for the journal, another one for each task.
var answersLong = executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
	f := answersOK(ctx, a)
	f.Stdout = strings.Repeat(a.Node+" ", limits.MaxInline)
	return f
})

// TestPowerLossBesideArtifacts cuts the power while runs write artifacts. A journal names no artifact that the disk does not have.
func TestPowerLossBesideArtifacts(t *testing.T) {
	run := func(seed int64, n int) (d *faultyDisk, named int) {
		dir := t.TempDir() + "/store"
		d, s := newFaultyDisk(t, dir, seed), newShown()
		d.cutAt, d.half = n, seed%2 == 0
		err := busy(dir, Options{disk: d.option(), Executor: answersLong}, s)
		if n == 0 {
			if err != nil {
				t.Fatal(err)
			}
			return d, 0
		}
		left := t.TempDir() + "/store"
		restore(t, dir, left, d.image)
		e, err := Open(left, Options{Factory: enginetest.Factory, Executor: answersLong})
		if err != nil {
			t.Fatalf("operation %d: %v", n, err)
		}
		defer e.Close()
		for _, run := range s.runs {
			list, err := eventsOf(e, run)
			if err != nil {
				t.Fatalf("operation %d: %v", n, err)
			}
			for _, ev := range list {
				if f := ev.AttemptFinished; f != nil && f.Artifact != nil {
					named++
					if w, err := f.Whole(); err != nil || w.Stdout != strings.Repeat(f.Node+" ", limits.MaxInline) {
						t.Errorf("operation %d: %v", n, err)
					}
				}
			}
		}
		if h, err := e.Examine(context.Background(), 0); err != nil || len(h.Broken) > 0 {
			t.Errorf("operation %d: %+v, %v", n, h.Broken, err)
		}
		return d, named
	}
	d, _ := run(1, 0)
	cases, named := *powerCases/3, 0
	for i := range cases {
		_, k := run(int64(i), 1+i*d.ops/cases)
		named += k
	}
	if named < cases {
		t.Errorf("after %d cuts the journals named %d artifacts: too few", cases, named)
	}
}

// What a step reads of the store, or takes out of it, lies beside the journal if it is long, and other steps read it there.
func TestLongAnswersOfTheStoreLieBesideTheJournal(t *testing.T) {
	k := newKeeperOf(t, `workflow "w" {
  max_concurrency = 1

  sequence "all" {
    step "set" {
      kv {
        set   = "k"
        value = join(" ", [for i in range(5000) : "${i}"])
      }
    }

    step "read" {
      kv {
        get = "k"
      }
    }

    step "drop" {
      kv {
        delete = "k"
      }
    }

    step "use" {
      run = ["true", step.read.output]
    }
  }
}
`)
	k.must(t, k.drive(t, 100, nil))
	e := k.engine(t)
	defer e.Close()
	longest := 0
	k.must(t, e.read.QueryRow("SELECT max(length(body)) FROM batches").Scan(&longest))
	if files, err := filepath.Glob(filepath.Join(k.dir, artifact.Dir, k.run, "*")); err != nil || len(files) == 0 || longest > 2000 {
		t.Errorf("a batch has %d bytes, and there are %v, %v", longest, files, err)
	}
}

// What a run reuses lies beside its journal where it is long, also while the run waits for its turn, and goes with the run.
func TestReusedResultsLieBesideTheJournal(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: enginetest.Group})
	text := strings.Repeat("long ", limits.MaxInline)
	reused := map[string]*event.Reused{"a": {Status: event.Succeeded, Stdout: text, Output: map[string]any{"text": text}},
		"b": {Status: event.Succeeded, Stdout: "short", Output: "short"}, "c": {Status: event.Succeeded, Output: text, Set: true}}
	p := tasks(2)
	var runs []string
	for range 2 {
		start := p.Start()
		start.First.Reused, start.First.Vars = reused, map[string]any{"group": "g"}
		run, err := e.Start(ctx, start)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for i, run := range runs {
		if first, err := e.Started(ctx, run); err != nil || !reflect.DeepEqual(first.Reused, reused) || first.Results != nil {
			t.Errorf("run %d was started with %+v, %v", i, first.Reused, err)
		}
		if end, err := e.Drive(ctx, run, nil); err != nil || end.Status != event.Succeeded {
			t.Fatal(end, err)
		}
		if first, err := e.Started(ctx, run); err != nil || !reflect.DeepEqual(first.Reused, reused) {
			t.Errorf("run %d was started with %+v, %v", i, first.Reused, err)
		}
		list, err := eventsOf(e, run)
		if err != nil {
			t.Fatal(err)
		}
		if s := list[0].RunStarted; len(s.Results) != 1 || s.Reused["a"].Stdout != "" || s.Reused["a"].Output != nil || s.Reused["c"].Output != text || s.Reused["b"].Stdout != "short" {
			t.Errorf("the journal of run %d has %+v", i, s)
		}
	}
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if h, err := e.Examine(ctx, 0); err != nil || len(h.Broken) > 0 {
		t.Errorf("after a sweep: %+v, %v", h.Broken, err)
	}
	if err := e.artifacts.Run(runs[0]).Remove(); err != nil {
		t.Fatal(err)
	}
	if h, err := e.Examine(ctx, 0); err != nil || len(h.Broken) != 1 {
		t.Errorf("without the results: %+v, %v", h.Broken, err)
	}
}

// A backup has the artifacts, an examination finds a missing one, a restore brings it back, and a removal removes all.
func TestArtifactsOfAStore(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersLong})
	run := begin(t, e, tasks(3))
	if end, err := e.Drive(ctx, run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, artifact.Dir, run, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("there are %v, %v", files, err)
	}
	journal := 0
	if err := e.read.QueryRow("SELECT sum(length(body)) FROM batches").Scan(&journal); err != nil || journal > 3*2000 {
		t.Errorf("the journal has %d bytes, %v", journal, err)
	}
	if size, err := e.Size(ctx, run); err != nil || size < 3*2*limits.MaxInline {
		t.Errorf("the run takes %d bytes, %v", size, err)
	}
	from := filepath.Join(t.TempDir(), "copy")
	if err := e.Backup(ctx, from); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	examine := func(want int) {
		t.Helper()
		if h, err := e.Examine(ctx, 0); err != nil || len(h.Broken) != want {
			t.Errorf("the store has %+v, want %d broken: %v", h.Broken, want, err)
		}
	}
	examine(1)
	if _, err := e.Drive(ctx, run, nil); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a run without its artifact: %v", err)
	}
	e.Close() // runs are restored while nobody drives any
	if err := Restore(ctx, s.dir, from, Parts{Runs: true}); err != nil {
		t.Fatal(err)
	}
	e = s.open(t, Options{Factory: enginetest.Factory, Executor: answersLong})
	examine(0)
	stray := filepath.Join(s.dir, artifact.Dir, run, strings.Repeat("0", 64))
	gone := filepath.Join(s.dir, artifact.Dir, engine.NewID())
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	if old := time.Now().Add(-2 * strayAge); os.Chtimes(gone, old, old) != nil {
		t.Fatal("the time of a folder cannot be set")
	}
	if err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{stray, gone} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("after a sweep there is %s", path)
		}
	}
	examine(0)
	if err := e.Remove(ctx, []string{run}, false); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(s.dir, artifact.Dir)); len(left) != 0 {
		t.Errorf("after the removal there is %v", fmt.Sprint(left))
	}
}
