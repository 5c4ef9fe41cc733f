package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

var (
	races    = flag.Int("engine.races", 8, "how often two answers race, and an answer and the end of the time")
	deciders = flag.Int("engine.deciders", 3, "how many processes decide at once; every other one is killed")
	decided  = flag.Int("engine.decided", 6, "how many approvals they decide")
)

// approval is a program with one approval, which waits as long as its input says.
func approval(t *testing.T, timeout string) program {
	t.Helper()
	text := `workflow "w" {
  step "ok" {
    approve {
      prompt  = "Go on?"
      timeout = "` + timeout + `"
    }
    on_error = "continue"
  }
  output "by" { value = try(step.ok.output.by, []) }
}`
	p, list := dsl.Load(fstest.MapFS{"x.hcl": {Data: []byte(text)}}, "x.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return program{Program: p.IR}
}

func openStore(t *testing.T, dir string) *local.Engine {
	t.Helper()
	e, err := local.Open(dir, local.Options{Factory: factory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// decide lets a person answer the approval of a run.
func decide(e *local.Engine, run, by string, word event.Word) (shared.Verdict, error) {
	for {
		out, err := e.Ask(context.Background(), event.StoreRequest{Decide: &event.DecideRequest{Run: run, Node: "ok", Decision: event.Decision{Word: word, By: by}}})
		if errors.Is(err, local.ErrBusy) {
			continue
		}
		if err != nil {
			return shared.Verdict{}, err
		}
		return shared.ReadVerdict(out)
	}
}

// fate is what became of the approval of a run; its outcome is "" while that waits.
func fate(t *testing.T, e *local.Engine, run string) (v shared.Verdict) {
	t.Helper()
	out, err := e.Ask(context.Background(), event.StoreRequest{Fate: &event.FateRequest{Run: run, Node: "ok", Ask: 1}})
	if err == nil && out != nil {
		v, err = shared.ReadVerdict(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// decisions counts the decisions in the journal of a run.
func decisions(t *testing.T, e *local.Engine, run string) (n int) {
	t.Helper()
	var r event.Reaction
	var fold *engine.Fold
	h, definition, err := e.Journal(context.Background(), run, func(journal.Batch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := factory(h, definition)
	if err != nil {
		t.Fatal(err)
	}
	fold = engine.NewFold(h, m)
	_, _, err = e.Journal(context.Background(), run, func(b journal.Batch) error {
		events, err := fold.Replay(b, &r)
		for _, ev := range events {
			if ev.External != nil && ev.External.Kind == event.ExternalDecision {
				n++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waits begins a run and drives it in the background. It returns when the run asks people, with the moment at which the time is over.
func waits(t *testing.T, e *local.Engine, p program) (run string, until time.Time, end <-chan event.End) {
	t.Helper()
	run, err := e.Start(context.Background(), p.start())
	if err != nil {
		t.Fatal(err)
	}
	asked, ended := make(chan event.Time, 1), make(chan event.End, 1)
	go func() {
		end, err := e.Drive(context.Background(), run, func(_ []event.Event, r *event.Reaction, _ bool) {
			for _, c := range r.Commands {
				if c.Ask != nil {
					asked <- c.Ask.Until
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
		ended <- end
	}()
	return run, (<-asked).Go(), ended
}

// by is who a run says has approved.
func by(end event.End) string { return value.Text(end.Outputs["by"]) }

// TestAnswersRace has two people answer one approval at the same moment, through handles of their own on the store. One decision counts;
// the other person is told who decided what and when, and so is everybody who comes when the node has moved on. The large test is
//
//	go test ./runner/engine -run TestAnswersRace -engine.races 200 -v
func TestAnswersRace(t *testing.T) {
	dir := t.TempDir()
	e, handles, p := openStore(t, dir), [2]*local.Engine{openStore(t, dir), openStore(t, dir)}, approval(t, "1h")
	words, names := [2]event.Word{event.WordApprove, event.WordReject}, [2]string{"ann", "bob"}
	won := map[string]int{}
	for range *races {
		run, _, ended := waits(t, e, p)
		var verdicts [2]shared.Verdict
		var wait sync.WaitGroup
		for i := range verdicts {
			wait.Go(func() {
				var err error
				if verdicts[i], err = decide(handles[i], run, names[i], words[i]); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		end := <-ended
		first := 0
		if verdicts[0].Outcome != shared.Recorded {
			first = 1
		}
		won[names[first]]++
		late, err := decide(e, run, "eve", event.WordReject)
		if err != nil {
			t.Fatal(err)
		}
		for who, v := range map[string]shared.Verdict{names[1-first]: verdicts[1-first], "eve": late} {
			if v.Outcome != shared.Late || v.Word != words[first] || len(v.By) != 1 || v.By[0] != names[first] || v.At == 0 ||
				!strings.Contains(v.Message, names[first]+" "+words[first].Past()+" it at ") {
				t.Errorf("run %s: %s decided, and %s is told %+v", run, names[first], who, v)
			}
		}
		want := map[string]string{"ann": `["ann"]`, "bob": `[]`}[names[first]]
		if n := decisions(t, e, run); verdicts[first].Outcome != shared.Recorded || by(end) != want || n != 1 {
			t.Errorf("run %s: %s decided with %+v; the run says %s, and its journal has %d decisions", run, names[first], verdicts[first], by(end), n)
		}
	}
	t.Logf("%d races; won: %v", *races, won)
}

// TestAnswerRacesTheTime has a person answer at the moment at which the time of an approval is over. Either the answer counts or the time,
// and the person can learn which. The large test is
//
//	go test ./runner/engine -run TestAnswerRacesTheTime -engine.races 200 -v
func TestAnswerRacesTheTime(t *testing.T) {
	dir := t.TempDir()
	e, other, p := openStore(t, dir), openStore(t, dir), approval(t, "160ms")
	r := rand.New(rand.NewPCG(1, 15))
	answered, recordedLate := 0, 0
	for range *races {
		run, until, ended := waits(t, e, p)
		// a busy machine takes long to write the answer, and to hear of it
		time.Sleep(time.Until(until) - time.Duration(math.Pow(140, r.Float64())*float64(time.Millisecond)))
		v, err := decide(other, run, "ann", event.WordApprove)
		if err != nil {
			t.Fatal(err)
		}
		end := <-ended
		what := fate(t, e, run)
		again, err := decide(other, run, "bob", event.WordApprove)
		if err != nil {
			t.Fatal(err)
		}
		counts := by(end) == `["ann"]`
		switch {
		case counts && (v.Outcome != shared.Recorded || what.Word != event.WordApprove || len(what.By) != 1):
			t.Errorf("run %s: the answer counts, and ann is told %+v, later %+v", run, v, what)
		case !counts && (what.Word != event.WordReject || len(what.By) != 0 || !strings.Contains(what.Message, "no decision within 160ms, so it was rejected at ")):
			t.Errorf("run %s: the time was over first, and ann is told %+v, later %+v", run, v, what)
		case again.Outcome != shared.Late || again.Word != what.Word || again.Message != what.Message:
			t.Errorf("run %s: bob is told %+v, want %+v", run, again, what)
		}
		if counts {
			answered++
		} else if v.Outcome == shared.Recorded {
			recordedLate++
		}
	}
	if *races >= 100 && (answered < *races/20 || answered > *races*19/20) {
		t.Errorf("of %d races, the answer won %d: one side nearly always wins, which is no race", *races, answered)
	}
	t.Logf("%d races; %d answers counted, and %d came in time and the time was over when the run heard of them", *races, answered, recordedLate)
}

// decidesIn names, in the environment, the store and the runs that the test binary decides as a process of its own.
const decidesIn = "FLOWRUN_TEST_DECIDES_IN"

// TestDecideProcess is such a process. It writes a line for each verdict.
func TestDecideProcess(t *testing.T) {
	var o struct {
		Dir, By string
		Runs    []string
	}
	text := os.Getenv(decidesIn)
	if text == "" {
		t.Skip("for other tests")
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	e := openStore(t, o.Dir)
	fmt.Println("begins")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, run := range o.Runs {
		v, err := decide(e, run, o.By, event.WordApprove)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("verdict %s %s %s\n", run, v.Outcome, strings.Join(v.By, ","))
	}
	fmt.Println("all decided")
}

// TestProcessesDecideOnce has processes decide the same approvals at once, each in an order of its own, and kills every other one in the
// middle. Each approval is decided once; whoever is too late is told by whom. The large test is
//
//	go test ./runner/engine -run TestProcessesDecideOnce -engine.deciders 64 -engine.decided 40 -v
func TestProcessesDecideOnce(t *testing.T) {
	dir := t.TempDir()
	e, p := openStore(t, dir), approval(t, "1h")
	var runs []string
	ends := map[string]<-chan event.End{}
	for range *decided {
		run, _, end := waits(t, e, p)
		runs, ends[run] = append(runs, run), end
	}
	var mu sync.Mutex
	recorded, told := map[string][]string{}, map[string]map[string]bool{} // by run: who was told that the decision counts, and who was named to others
	var started, wait sync.WaitGroup
	begin := make(chan bool)
	killed := 0
	for i := range *deciders {
		r := rand.New(rand.NewPCG(uint64(i), 64))
		order, who := append([]string(nil), runs...), fmt.Sprintf("p%d", i)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		words, _ := json.Marshal(map[string]any{"Dir": dir, "By": who, "Runs": order})
		c := exec.Command(os.Args[0], "-test.run=^TestDecideProcess$")
		c.Env = append(os.Environ(), decidesIn+"="+string(words))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill := 0
		if i%2 == 1 {
			kill = 1 + r.IntN(len(runs))
			killed++
		}
		started.Add(1)
		wait.Go(func() {
			defer func() { c.Process.Kill(); c.Wait() }()
			lines, verdicts, all := bufio.NewScanner(out), 0, false
			for lines.Scan() {
				words := strings.Fields(lines.Text())
				switch {
				case lines.Text() == "begins":
					started.Done()
					<-begin
					fmt.Fprintln(in)
				case len(words) > 2 && words[0] == "verdict":
					mu.Lock()
					if words[2] == string(shared.Recorded) {
						recorded[words[1]] = append(recorded[words[1]], who)
					} else if told[words[1]] == nil {
						told[words[1]] = map[string]bool{strings.Join(words[2:], " "): true}
					} else {
						told[words[1]][strings.Join(words[2:], " ")] = true
					}
					mu.Unlock()
					if verdicts++; verdicts == kill {
						return
					}
				case lines.Text() == "all decided":
					all = true
				}
			}
			if !all {
				t.Errorf("process %s ends after %d verdicts", who, verdicts)
			}
		})
	}
	started.Wait()
	close(begin)
	wait.Wait()
	for _, run := range runs {
		end := <-ends[run]
		who := strings.Trim(by(end), `["]`)
		if n := decisions(t, e, run); n != 1 || who == "" {
			t.Errorf("run %s has %d decisions, by %q", run, n, who)
		}
		if r := recorded[run]; len(r) > 1 || len(r) == 1 && r[0] != who {
			t.Errorf("run %s was approved by %s, and %v were told that their decisions count", run, who, r)
		}
		for words := range told[run] { // any order: all are equal
			if words != "late "+who {
				t.Errorf("run %s was approved by %s, and somebody is told %q", run, who, words)
			}
		}
	}
	t.Logf("%d approvals, %d processes, %d of them killed: each approval was decided once", len(runs), *deciders, killed)
}
