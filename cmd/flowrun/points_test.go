package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
)

var pointEvery = flag.Int("crash.every", 13, "kill at each how manieth point; 1 is every one")

// TestKillAtEveryPoint kills the real command, in real processes, at the points between which something becomes true: before
// a transaction is committed and after it, after the mark, before each command, before and after it is shown ([engine.Point]).
// Points are counted anew for each shape of workflow: the nth run dies at its nth, until one lives to its end. Every other
// one dies once more when it is resumed. What must hold is what [sunk.judge] and [sunk.ended] say.
//
// The whole: go test ./cmd/flowrun -run TestKillAtEveryPoint -crash.every=1 -v
func TestKillAtEveryPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes for some seconds")
	}
	binary := mortalBinary(t)
	var mu sync.Mutex
	kinds, kills, again := map[string]int{}, 0, 0
	t.Run("shapes", func(t *testing.T) {
		for i, shape := range killShapes {
			t.Run(shape.name, func(t *testing.T) {
				t.Parallel()
				calm := newSunk(t, binary, shape)
				calm.apply(t, "")
				want := calm.ended(t)
				if !strings.Contains(want, shape.ends) {
					t.Fatalf("undisturbed it ends\n%s", want)
				}
				r := rand.New(rand.NewPCG(uint64(i), 3))
				for n := 1 + i*4%*pointEvery; ; n += *pointEvery {
					s := newSunk(t, binary, shape)
					if s.apply(t, fmt.Sprint("KILL ", n)) {
						if n < 20 {
							t.Errorf("it comes by fewer than %d points", n)
						}
						return
					}
					if n%2 == 0 {
						s.resume(t, fmt.Sprint("KILL ", 1+r.IntN(12)))
					}
					for !s.resume(t, "") {
						t.Fatalf("killed at point %d, it does not end", n)
					}
					if have := s.ended(t); have != want {
						t.Errorf("killed at %v, it ends\n%s\nundisturbed it ends\n%s", s.died, have, want)
					}
					s.judge(t)
					if shape.name == "long" {
						s.judgeArtifacts(t)
					}
					if t.Failed() {
						t.Fatalf("killed at point %d, %v", n, s.died)
					}
					mu.Lock()
					for _, p := range s.died {
						kinds[p]++
					}
					kills, again = kills+len(s.died), again+len(s.died)-1
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d kills, %d of them of a process that resumed: %v", kills, again, kinds)
	for _, p := range []engine.Point{engine.Appending, engine.Committed, engine.Acting} {
		if kinds[string(p)] == 0 {
			t.Errorf("none was killed at %q: this proves little", p)
		}
	}
}

// sinkShape is a workflow whose every attempt goes through the sink.
type sinkShape struct {
	name, source string
	ends         string // of what the undisturbed end holds
	cancel       string // the step over which somebody cancels the run, once
}

// sink is the outside world: it notes the run, step, attempt, key and kind of each attempt, and ends with the code it is
// told. A line is one write to a file that is open for appending; what has been written a SIGKILL does not take back.
const sink = `echo "$FLOWRUN_RUN $FLOWRUN_STEP $FLOWRUN_ATTEMPT $FLOWRUN_IDEMPOTENCY_KEY $1" >> "$WITNESS"
echo "out of $FLOWRUN_STEP"
test "$FLOWRUN_ATTEMPT" -ge "${2:-1}"
`

// long is a sink that prints many bytes, which the journal does not keep.
const long = `echo "$FLOWRUN_RUN $FLOWRUN_STEP $FLOWRUN_ATTEMPT $FLOWRUN_IDEMPOTENCY_KEY $1" >> "$WITNESS"
printf "%09000d" 7
`

var killShapes = []sinkShape{
	{name: "chain", ends: "succeeded", source: `workflow "w" {
  step "a" { run = ["sh", "sink", "work"] }
  step "b" {
    run        = ["sh", "sink", "work"]
    depends_on = [step.a]
  }
  step "c" {
    run        = ["sh", "sink", "work"]
    depends_on = [step.b]
  }
  output "c" { value = step.c.output }
}`},
	{name: "wide", ends: "succeeded", source: `workflow "w" {
  max_concurrency = 3
  step "s" {
    for_each = range(8)
    run      = ["sh", "sink", "work"]
  }
  output "all" { value = step.s.output }
}`},
	{name: "long", ends: "succeeded", source: `workflow "w" {
  step "s" {
    for_each = range(3)
    run      = ["sh", "long", "work"]
  }
  step "read" {
    for_each = range(3)
    when     = "len(step.s.output[each.value]) == 9000"
    run      = ["sh", "sink", "work"]
  }
  output "lengths" { value = [for text in step.s.output : length(text)] }
}`},
	{name: "gates", ends: "succeeded", source: `gate "probe" { run = ["sh", "sink", "gate"] }
workflow "w" {
  step "s" {
    for_each = ["x", "y", "z"]
    run      = ["sh", "sink", "work", "2"]
    gates    = [gate.probe]
    gate "check" { check = "result.output contains 'out of'" }
    retry {
      max_attempts = 3
      base_delay   = "5ms"
    }
  }
  output "all" { value = step.s.output }
}`},
	{name: "control", ends: "succeeded", source: `workflow "w" {
  sequence "line" {
    step "first" { run = ["sh", "sink", "work"] }
    switch "way" {
      case {
        when = "step.first.output contains 'first'"
        step "left" { run = ["sh", "sink", "work"] }
      }
      default {
        step "right" { run = ["sh", "sink", "work"] }
      }
    }
    step "turns" {
      run = ["sh", "sink", "work"]
      repeat {
        until = "iteration >= 3"
        max   = 5
      }
    }
  }
  output "line" { value = step.line.output }
}`},
	{name: "events", ends: "succeeded", source: `workflow "w" {
  sequence "rounds" {
    repeat { max = 3 }
    step "say" {
      emit {
        event = "said"
        data  = { n = iteration }
      }
    }
    step "hear" {
      wait {
        event = "said"
        data  = object({ n = number })
      }
    }
    step "work" { run = ["sh", "sink", "work"] }
  }
  parallel "meet" {
    step "a" {
      sync {
        point = "p"
        as    = "a"
        needs = ["a", "b"]
      }
    }
    step "b" {
      sync {
        point = "p"
        as    = "b"
        needs = ["a", "b"]
      }
      depends_on = [step.rounds]
    }
  }
  output "heard" { value = step.rounds.output.hear.n }
  output "last" { value = length([for last in [step.a.output.last, step.b.output.last] : last if last]) }
}`},
	{name: "budget", ends: "succeeded", source: `workflow "w" {
  default = true
  sequence "s" {
    budget { attempts = 5 }
    step "a" { run = ["sh", "sink", "work"] }
    step "b" {
      call     = workflow.child
      on_error = "continue"
      budget { attempts = 2 }
    }
    step "c" {
      for_each        = range(4)
      max_concurrency = 1
      run             = ["sh", "sink", "work"]
      on_error        = "continue"
    }
  }
  output "c" { value = step.s.output }
}
workflow "child" {
  step "k" {
    for_each        = range(4)
    max_concurrency = 1
    run             = ["sh", "sink", "work"]
  }
}`},
	{name: "call", ends: "failed", source: `workflow "w" {
  default = true
  step "before" {
    run = ["sh", "sink", "work"]
    compensate { run = ["sh", "sink", "undo"] }
  }
  step "sub" {
    depends_on = [step.before]
    call       = workflow.child
    compensate { run = ["sh", "sink", "undo"] }
  }
  step "after" {
    run        = ["sh", "sink", "work", "9"]
    depends_on = [step.sub]
    compensate { run = ["sh", "sink", "undo"] }
  }
  finally {
    step "tell" { run = ["sh", "sink", "work"] }
  }
  output "sub" { value = step.sub.output }
}
workflow "child" {
  step "one" { run = ["sh", "sink", "work"] }
  step "two" {
    run        = ["sh", "sink", "work"]
    depends_on = [step.one]
  }
  finally {
    step "sweep" { run = ["sh", "sink", "work"] }
  }
  output "two" { value = step.two.output }
}`},
	{name: "cancel", ends: "cancelled", cancel: "hold", source: `workflow "w" {
  step "pause" {
    wait { duration = "30ms" }
  }
  step "did" {
    run        = ["sh", "sink", "work"]
    depends_on = [step.pause]
    compensate { run = ["sh", "sink", "undo"] }
  }
  step "later" {
    wait { duration = "1h" }
  }
  step "hold" {
    run        = ["sh", "-c", "sh sink work; exec sleep 60"]
    depends_on = [step.did]
  }
  finally {
    step "tell" { run = ["sh", "sink", "work"] }
  }
}`},
}

// newSunk makes the folder of one run.
func newSunk(t *testing.T, binary string, shape sinkShape) *sunk {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"sink": sink, "long": long, "w.flow.hcl": shape.source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &sunk{binary: binary, dir: dir, cancel: shape.cancel, acknowledged: map[string]int{}}
}

// lines are what the sink has noted.
func (s *sunk) lines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "witness"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return l == "" })
}
