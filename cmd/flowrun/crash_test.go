package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	crashRuns  = flag.Int("crash.runs", 6, "how many runs are killed")
	crashKills = flag.Int("crash.kills", 5, "how often each of them is killed")
	crashSeed  = flag.Uint64("crash.seed", 1, "draws the moments of the kills")
)

// TestCrash kills the real binary with SIGKILL at moments drawn evenly over the time that the run takes undisturbed, and
// resumes it until it ends. An outside file, to which every step of the workflow appends a line when it starts and when
// it ends, is the witness. On a slow machine most drawn moments lie before the first attempt. So while fewer than half of
// the kills struck a live attempt, the next kill waits until the witness shows one. What must hold:
//
//   - every run ends with the status and the outputs that it has when nobody kills it;
//   - a step that was reported as done, on the screen or in the journal, never starts again;
//   - a step that does start again has the idempotency key that it had.
//
// The large version: go test ./cmd/flowrun -run TestCrash -crash.runs=200 -timeout 1h -v
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes for some seconds")
	}
	t.Parallel()
	binary := build(t)
	r := rand.New(rand.NewPCG(*crashSeed, 2))
	wanted := *crashRuns * *crashKills
	var score tally
	runs := 0
	for ; runs < *crashRuns || score.kills < wanted && runs < 4**crashRuns; runs++ {
		shape := shapes[runs%len(shapes)]
		calm := newRun(t, binary, shape)
		took := calm.finish(t)
		hit := newRun(t, binary, shape)
		owed := min((runs+1)**crashKills, wanted) - score.kills // with the kills that came too late for earlier runs
		before := score.kills
		hit.torment(t, r, took, owed, &score)
		if hit.ending != calm.ending {
			t.Errorf("%s, killed %d times, ends\n%s\nundisturbed it ends\n%s", shape.name, score.kills-before, hit.ending, calm.ending)
		}
	}
	t.Logf("%d runs, %d kills, %d of them while an attempt was live (waited for: %d), %d runs ended before a kill could strike",
		runs, score.kills, score.live, score.aimed, score.missed)
	if score.kills < wanted/2 || score.live*4 < score.kills {
		t.Errorf("%d kills, %d of them live: too few to mean anything", score.kills, score.live)
	}
}

// tally counts the kills of all runs.
type tally struct {
	kills  int // processes killed
	live   int // kills that struck a live attempt
	aimed  int // kills that waited for a live attempt
	missed int // runs that ended before a kill struck
}

// build gives the real binary a name that is the test's own. All tests share one build.
func build(t *testing.T) string {
	t.Helper()
	built, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "flowrun")
	if err := os.Link(built, binary); err != nil {
		t.Fatal(err)
	}
	return binary
}

var buildOnce = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(os.Getenv("FLOWRUN_TEST_BUILD"), "flowrun") // TestMain removes that folder
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

type shape struct{ name, source string }

// witness is a step's command: it says in the outside file that it starts, works a little, and says that it ends.
const witness = `["sh", "-c", "echo start $FLOWRUN_STEP $FLOWRUN_ATTEMPT $FLOWRUN_IDEMPOTENCY_KEY >> $WITNESS; sleep 0.06; echo end $FLOWRUN_STEP >> $WITNESS; echo out of $FLOWRUN_STEP"]`

// shapes are the kinds of workflow that are killed.
var shapes = []shape{
	{"chain", chainOf(12)},
	{"wide", `workflow "w" {
  max_concurrency = 4
  step "s" {
    for_each = range(32)
    run      = ` + witness + `
  }
  output "all" { value = step.s.output }
}`},
	{"groups", `workflow "w" {
  sequence "service" {
    for_each = ["api", "web", "cli"]
    step "build" { run = ` + witness + ` }
    parallel "check" {
      step "lint" { run = ` + witness + ` }
      step "test" { run = ` + witness + ` }
    }
    step "ship" { run = ` + witness + ` }
  }
  output "all" { value = step.service.output }
}`},
	{"gates", `gate "probe" { run = ["sh", "-c", "sleep 0.04"] }
workflow "w" {
  step "a" {
    run   = ` + witness + `
    gates = [gate.probe]
  }
  step "b" {
    run        = ` + witness + `
    depends_on = [step.a]
    gates      = [gate.probe]
    gate "check" { check = "result.output contains 'out of'" }
  }
  step "c" {
    run        = ` + witness + `
    depends_on = [step.b]
    gates      = [gate.probe]
  }
  output "b" { value = step.b.output }
}`},
	{"retry", `workflow "w" {
  step "flaky" {
    for_each = range(6)
    run      = ["sh", "-c", "echo start $FLOWRUN_STEP $FLOWRUN_ATTEMPT $FLOWRUN_IDEMPOTENCY_KEY >> $WITNESS; sleep 0.05; echo end $FLOWRUN_STEP >> $WITNESS; test $FLOWRUN_ATTEMPT -ge 3"]
    retry {
      max_attempts = 4
      base_delay   = "40ms"
      jitter       = "equal"
    }
  }
  output "status" { value = step.flaky.status }
}`},
	{"failure", `agent "echo" { type = "null" }
workflow "w" {
  step "good" { run = ` + witness + ` }
  step "noted" {
    agent = agent.echo
    with  = { was = step.good.output }
  }
  step "pause" {
    wait { duration = "150ms" }
  }
  step "bad" {
    run        = ["sh", "-c", "sleep 0.1; exit 7"]
    depends_on = [step.pause]
  }
  step "never" {
    run        = ` + witness + `
    depends_on = [step.bad]
  }
  step "rescue" {
    run  = ` + witness + `
    when = "step.bad.status == 'failed'"
  }
  output "noted" { value = step.noted.output }
  output "code" { value = step.bad.exit_code }
}`},
}

func chainOf(n int) string {
	var b strings.Builder
	b.WriteString("workflow \"w\" {\n")
	for i := range n {
		fmt.Fprintf(&b, "  step \"s%d\" {\n    run = %s\n", i, witness)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on = [step.s%d]\n", i-1)
		}
		b.WriteString("  }\n")
	}
	fmt.Fprintf(&b, "  output \"last\" { value = step.s%d.output }\n}\n", n-1)
	return b.String()
}

// crashed is one run and its witness.
type crashed struct {
	binary, dir, witness string
	id                   string
	ending               string
	done                 map[string]int // nodes reported as done, and how often they had started by then
}

func newRun(t *testing.T, binary string, s shape) *crashed {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(s.source), 0o600); err != nil {
		t.Fatal(err)
	}
	return &crashed{binary: binary, dir: dir, witness: filepath.Join(dir, "witness"), done: map[string]int{}}
}

// command is flowrun as a person would call it in the run's folder.
func (c *crashed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.binary, append(args, "--store", filepath.Join(c.dir, ".flowrun"))...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "WITNESS="+c.witness)
	return cmd
}

// next is the command that brings the run further: apply first, then resume.
func (c *crashed) next() *exec.Cmd {
	if c.id == "" {
		return c.command("apply", "w.flow.hcl", "--json", "--death-limit", "1000")
	}
	return c.command("resume", c.id, "--json", "--death-limit", "1000")
}

// finish runs to the end and keeps how it ended.
func (c *crashed) finish(t *testing.T) time.Duration {
	t.Helper()
	start := time.Now()
	cmd := c.next()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	code := cmd.ProcessState.ExitCode()
	if code != 0 && code != 1 {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, stderr.Bytes())
	}
	if c.read(t, out); c.id == "" {
		t.Fatalf("%v started no run\n%s%s", cmd.Args, out, stderr.Bytes())
	}
	shown, err := c.command("runs", "show", c.id, "--json").Output()
	if err != nil {
		t.Fatalf("runs show %q: %v: %s", c.id, err, stderrOf(err))
	}
	var doc struct {
		Status  string
		Outputs json.RawMessage
		Nodes   []struct {
			ID, Status string
			ExitCode   int `json:"exit_code"`
			Output     json.RawMessage
		}
	}
	if err := json.Unmarshal(shown, &doc); err != nil {
		t.Fatal(err)
	}
	c.ending = fmt.Sprintf("exit code %d, %s, outputs %s", code, doc.Status, doc.Outputs)
	for _, n := range doc.Nodes {
		c.ending += fmt.Sprintf("\n%s %s %d %s", n.ID, n.Status, n.ExitCode, n.Output)
	}
	return time.Since(start)
}

// torment kills and resumes the run n times, counts the kills in score, and then judges the witness.
func (c *crashed) torment(t *testing.T, r *rand.Rand, took time.Duration, n int, score *tally) {
	t.Helper()
	moments := make([]time.Duration, n)
	for i := range moments {
		moments[i] = time.Duration(r.Int64N(int64(took)))
	}
	slices.Sort(moments)
	last := time.Duration(0)
	for _, at := range moments {
		old := len(c.lines(t)) // a killed attempt has no end line, so only lines of this process count
		moment := func(exited <-chan struct{}) { sleep(at-last, exited) }
		if score.live*2 < score.kills {
			delay := time.Duration(r.Int64N(int64(20 * time.Millisecond))) // an attempt lasts 50 ms or more
			moment = func(exited <-chan struct{}) {
				c.awaitLive(t, old, exited)
				sleep(delay, exited)
			}
			score.aimed++
		}
		out, ended := c.kill(t, moment)
		last = at
		c.read(t, out)
		if ended {
			score.missed++
			break
		}
		score.kills++
		if c.hasLive(t, old) {
			score.live++
		}
		c.acknowledged(t)
	}
	c.finish(t)
	c.judge(t)
}

// kill starts the next process and kills it when moment returns. It reports whether the process had ended before.
func (c *crashed) kill(t *testing.T, moment func(exited <-chan struct{})) (out []byte, ended bool) {
	t.Helper()
	cmd := c.next()
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	moment(exited)
	select {
	case <-exited:
		return stdout.Bytes(), true
	default:
		_ = cmd.Process.Kill()
		<-exited
		return stdout.Bytes(), false
	}
}

// sleep waits for d, or until the process has exited.
func sleep(d time.Duration, exited <-chan struct{}) {
	select {
	case <-exited:
	case <-time.After(d):
	}
}

// awaitLive waits until the witness shows a live attempt after its first old lines, until the process has exited, or for
// 30 s at most.
func (c *crashed) awaitLive(t *testing.T, old int, exited <-chan struct{}) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && !c.hasLive(t, old); {
		select {
		case <-exited:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// hasLive reports whether an attempt has a start line but not its end line after the witness's first old lines.
func (c *crashed) hasLive(t *testing.T, old int) bool {
	t.Helper()
	starts, ends := count(c.lines(t)[old:])
	for node, n := range starts {
		if n > ends[node] {
			return true
		}
	}
	return false
}

// read takes the run's id and what was reported as done from the lines that a process managed to write.
func (c *crashed) read(t *testing.T, out []byte) {
	t.Helper()
	starts := c.seen(t)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var line struct{ Type, Run, Node string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // the last line of a process that was killed
		}
		if c.id == "" {
			c.id = line.Run
		}
		if line.Type == "node.succeeded" {
			c.note(line.Node, starts)
		}
	}
	if c.id == "" { // it was killed before its first line; the store may have the run all the same
		list, err := c.command("runs", "list", "--json").Output()
		if err == nil {
			var doc []struct{ Run string }
			if json.Unmarshal(list, &doc) == nil && len(doc) > 0 {
				c.id = doc[0].Run
			}
		}
	}
}

func (c *crashed) note(node string, starts map[string]int) {
	if _, known := c.done[node]; !known {
		c.done[node] = starts[node]
	}
}

// acknowledged notes what the journal holds as done after a kill.
func (c *crashed) acknowledged(t *testing.T) {
	t.Helper()
	if c.id == "" {
		return
	}
	shown, err := c.command("runs", "show", c.id, "--json").Output()
	if err != nil {
		t.Fatalf("after a kill, runs show %q: %v: %s", c.id, err, stderrOf(err))
	}
	var doc struct{ Nodes []struct{ ID, Status string } }
	if err := json.Unmarshal(shown, &doc); err != nil {
		t.Fatal(err)
	}
	starts := c.seen(t)
	for _, n := range doc.Nodes {
		if n.Status == "succeeded" {
			c.note(n.ID, starts)
		}
	}
}

// seen counts the witness's start lines by node.
func (c *crashed) seen(t *testing.T) map[string]int {
	t.Helper()
	starts, _ := count(c.lines(t))
	return starts
}

// count counts start and end lines by node.
func count(lines []string) (starts, ends map[string]int) {
	starts, ends = map[string]int{}, map[string]int{}
	for _, line := range lines {
		switch words := strings.Fields(line); {
		case len(words) >= 2 && words[0] == "start":
			starts[words[1]]++
		case len(words) >= 2 && words[0] == "end":
			ends[words[1]]++
		}
	}
	return starts, ends
}

func (c *crashed) lines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(c.witness)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// judge holds the witness against what was acknowledged.
func (c *crashed) judge(t *testing.T) {
	t.Helper()
	starts := c.seen(t)
	for node, then := range c.done {
		if now := starts[node]; now != then {
			t.Errorf("%s had started %d times when it was reported as done, and %d times at the end\n%s", node, then, now, strings.Join(c.lines(t), ""))
		}
	}
	keys := map[string]string{}
	for _, line := range c.lines(t) {
		words := strings.Fields(line)
		if len(words) != 4 || words[0] != "start" {
			continue
		}
		if k, known := keys[words[1]]; known && k != words[3] {
			t.Errorf("%s started with the keys %s and %s", words[1], k, words[3])
		}
		keys[words[1]] = words[3]
	}
}

func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
