package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	admissionTries = flag.Int("admission.tries", 4, "how often two processes want one agent, and are killed")
	admissionSeed  = flag.Uint64("admission.seed", 1, "draws the moments of the kills")
)

// oneAgent has an agent that does one task at a time, and three called runs that ask for it at once. The agent leaves a file while it
// works, and writes to overlap if it finds the file of another one that lives. A process that has lost its memory is dying or dead.
const oneAgent = `agent "dev" {
  type          = "shell"
  run           = "exec sh agent.sh"
  output_format = "text"
  concurrency   = 1
}
workflow "task" {
  step "work" {
    agent = agent.dev
    task  = "do it"
  }
}
workflow "w" {
  default = true
  step "all" {
    for_each = range(3)
    call     = workflow.task
  }
}
`

const agentScript = `: > live/$$
for f in live/*; do
  p=${f#live/}
  [ "$p" = $$ ] || ! grep -q '^VmSize' /proc/$p/status 2>/dev/null || [ ! -e "$f" ] || echo "$p works while $$ starts" >> overlap
done
while [ -e hold ]; do sleep 0.02; done
sleep $(cat pause)
echo $$ >> done
rm live/$$
`

// An agent of concurrency 1 never does two tasks at once, whatever processes ask for it and however they die: two processes drive three
// called runs each, one of them is killed at a moment drawn at random, and its run is resumed while the other goes on.
//
// The large version: go test ./cmd/flowrun -run TestOneAgentForAllRuns -admission.tries=200 -timeout 1h -v
func TestOneAgentForAllRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes for some seconds")
	}
	t.Parallel()
	binary, dir := build(t), t.TempDir()
	for name, text := range map[string]string{"w.flow.hcl": oneAgent, "agent.sh": agentScript, "pause": ""} { // any order
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	var said [2]bytes.Buffer
	flowrun := func(who int, args ...string) *exec.Cmd {
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said[who], &said[who]
		return cmd
	}
	refusals := func() (n int) { // attempts that had to wait for the agent
		for _, run := range listRuns(t, flowrun(0, "runs", "list", "--json"), &said[0]) {
			if run.Workflow != "task" {
				continue
			}
			out, err := exec.Command(binary, "events", run.Run, "--store", filepath.Join(dir, ".flowrun")).Output()
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(out, []byte(": refused"))
		}
		return n
	}
	r := rand.New(rand.NewPCG(*admissionSeed, 13))
	killed, live, refused := 0, 0, 0
	hold := filepath.Join(dir, "hold")
	for try := range *admissionTries {
		pause := []string{"0.05", "0.4"}[try%2] // with the longer one, who comes last is refused
		if err := os.WriteFile(filepath.Join(dir, "pause"), []byte(pause), 0o600); err != nil {
			t.Fatal(err)
		}
		said[0].Reset()
		said[1].Reset()
		held := try%4 == 1 // the agent works until the kill, and somebody is refused before it
		if held {
			refused = refusals()
			if err := os.WriteFile(hold, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		first, second := flowrun(0, "apply", "w.flow.hcl"), flowrun(1, "apply", "w.flow.hcl")
		for _, cmd := range []*exec.Cmd{first, second} {
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		if try%4 < 2 { // else at once: before the first attempt, or during it
			waitForAgent(t, dir)
		}
		for end := time.Now().Add(time.Minute); held && refusals() == refused; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("an agent of concurrency 1 works, and nobody who asks for it is refused")
			}
		}
		time.Sleep(time.Duration(r.Int64N(int64(300 * time.Millisecond))))
		if works, _ := filepath.Glob(filepath.Join(dir, "live", "*")); len(works) > 0 {
			live++
		}
		first.Process.Kill()
		if first.Wait() != nil {
			killed++
		}
		if err := os.Remove(hold); held && err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ { // what it left, as often as it takes
			var open []string // started by a person, and not driven by anybody
			for _, run := range listRuns(t, flowrun(0, "runs", "list", "--json"), &said[0]) {
				if run.Parent == "" && run.Status != "succeeded" && !run.Driven {
					open = append(open, run.Run)
				}
			}
			if len(open) == 0 {
				break
			}
			if n == 10 {
				t.Fatalf("try %d: runs %v do not end\n%s", try, open, said[0].String())
			}
			cmd := flowrun(0, "resume", open[0])
			if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 3 { // 3: the other process has just made it
				t.Fatalf("try %d: resume %s: %v\n%s", try, open[0], err, said[0].String())
			}
		}
		if err := second.Wait(); err != nil {
			t.Fatalf("try %d: the other process: %v\n%s", try, err, said[1].String())
		}
		if text, err := os.ReadFile(filepath.Join(dir, "overlap")); err == nil {
			t.Fatalf("try %d: two tasks of one agent at once:\n%s", try, text)
		}
		left, _ := filepath.Glob(filepath.Join(dir, "live", "*"))
		for _, f := range left { // of agents that were killed
			os.Remove(f)
		}
	}
	works, err := os.ReadFile(filepath.Join(dir, "done"))
	if err != nil {
		t.Fatal(err)
	}
	tasks := strings.Count(string(works), "\n")
	refused = refusals()
	// Not six a try: a kill may come before the run is made.
	t.Logf("%d tries, %d processes killed, %d while the agent worked, %d tasks done, %d refusals", *admissionTries, killed, live, tasks, refused)
	if tasks < 3**admissionTries || refused == 0 || killed == 0 || live == 0 {
		t.Error("too little happened")
	}
}

// waitForAgent waits until an agent works.
func waitForAgent(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if works, _ := filepath.Glob(filepath.Join(dir, "live", "*")); len(works) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("no agent works")
		}
	}
}

type listedRun struct {
	Run, Workflow, Status, Parent string
	Driven                        bool
}

func listRuns(t *testing.T, list *exec.Cmd, said *bytes.Buffer) (runs []listedRun) {
	t.Helper()
	list.Stdout = nil
	out, err := list.Output()
	if err == nil {
		err = json.Unmarshal(out, &runs)
	}
	if err != nil {
		t.Fatalf("runs list: %v\n%s\n%s", err, out, said.String())
	}
	return runs
}
