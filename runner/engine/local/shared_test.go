package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// The numbers of TestProcessesCountOnce. The large test is
//
//	go test ./runner/engine/local -run TestProcessesCountOnce -shared.processes 64 -shared.steps 1000 -shared.kills 5 -timeout 30m -v
//
// It takes 21 s beside other work on two processors, with about 300 kills.
var (
	sharedProcesses = flag.Int("shared.processes", 3, "how many processes count at once")
	sharedSteps     = flag.Int("shared.steps", 12, "how often each of them counts")
	sharedKills     = flag.Int("shared.kills", 2, "how often each of them is killed")
)

// TestProcessesCountOnce has processes add to one key at once. Each is killed before or after one of its commits, several times, and
// another process goes on with its run. The number is that of all steps, and each step was answered another number.
func TestProcessesCountOnce(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	p := enginetest.Program{Parallel: 8}
	for i := range *sharedSteps {
		p.Tasks = append(p.Tasks, enginetest.Task{Name: fmt.Sprint("t", i), Count: "n"})
	}
	began := time.Now()
	var wait sync.WaitGroup
	runs, killed, again := make([]string, *sharedProcesses), make([]int, *sharedProcesses), make([]int, *sharedProcesses)
	for i := range runs {
		runs[i] = begin(t, e, p)
		rng := rand.New(rand.NewPCG(uint64(i), 14))
		wait.Go(func() {
			for {
				o := childOrder{Dir: s.dir, Run: runs[i]}
				if killed[i] < *sharedKills {
					// From the fourth commit on, so that the run makes progress: nobody takes it for poison. Some eight steps share a commit.
					o.KillAt, o.KillAfter = 4+rng.IntN(max(*sharedSteps/(4*(*sharedKills+1)), 4)), rng.IntN(2) == 0
				}
				c := startChild(t, o)
				line := c.line()
				if c.Wait() != nil {
					killed[i]++
				} else if line == "end succeeded <nil>" {
					return
				} else if again[i]++; !strings.Contains(line, ErrBusy.Error()) || again[i] > 100 {
					t.Errorf("a process says %q", line)
					return
				}
			}
		})
	}
	wait.Wait()
	took, all, kills, busy := time.Since(began), *sharedProcesses**sharedSteps, 0, 0
	got, err := e.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "n"}})
	if err != nil || !value.Equal(got, float64(all)) {
		t.Errorf("the number is %v (%v), want %d", got, err, all)
	}
	answered := map[float64]string{}
	for i, run := range runs {
		kills, busy = kills+killed[i], busy+again[i]
		end, err := e.Drive(context.Background(), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts, _ := end.Outputs["counts"].(map[string]any)
		for task, n := range counts {
			if other := answered[n.(float64)]; other != "" {
				t.Errorf("%s and %s/%s were both answered %v", other, run, task, n)
			}
			answered[n.(float64)] = run + "/" + task
		}
	}
	if len(answered) != all {
		t.Errorf("%d answers, want %d", len(answered), all)
	}
	var left int
	if err := e.read.QueryRow("SELECT count(*) FROM shared WHERE space LIKE 'answers %'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d recorded answers are left of runs that have ended (%v)", left, err)
	}
	if *sharedSteps >= 10 && kills < *sharedProcesses {
		t.Errorf("only %d kills: they prove little", kills)
	}
	t.Logf("%d processes, %d steps: %v, %d kills, %d times busy for %s", *sharedProcesses, all, took.Round(time.Millisecond), kills, busy, durable.BusyTimeout)
}

// A scan of a step, or of a person, finds the keys that are left where more keys have expired than one scan goes past. A process that
// only reads cannot remove them, and says so.
func TestScanRemovesExpiredKeys(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	scan := event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVScan, Namespace: shared.DefaultNamespace}}
	for _, ask := range []func() (value.Value, error){
		func() (value.Value, error) { return e.Ask(context.Background(), scan) },
		func() (value.Value, error) {
			answers, _, err := (&storing{engine: e}).answerBatch([]*event.Attempt{{Store: &scan}})
			if err != nil {
				return nil, err
			}
			return answers[0].Output, nil
		},
	} {
		err := e.write(func(tx *transaction) (err error) {
			for i := 0; i <= shared.MaxExpired+1 && err == nil; i++ {
				r := event.KVRequest{Operation: ir.KVSet, Namespace: shared.DefaultNamespace, Key: fmt.Sprint("k", i), Value: 1.0, TTL: time.Minute}
				if i == 0 {
					r.Key, r.TTL = "left", 0
				}
				_, err = shared.Apply(sharedRows{tx}, &event.StoreRequest{KV: &r}, shared.Waiter{}, e.now())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Advance(time.Hour)
		reader := s.open(t, Options{ReadOnly: true})
		if _, err := reader.Ask(context.Background(), scan); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("a process that only reads gets %v", err)
		}
		got, err := ask()
		if err != nil || !value.Equal(got, map[string]value.Value{"left": 1.0}) {
			t.Errorf("the scan gives %v, %v", got, err)
		}
	}
}
