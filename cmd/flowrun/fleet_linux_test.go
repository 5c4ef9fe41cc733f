//go:build linux

package main_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// site is a server, and commands that work on it: go test ./cmd/flowrun -run TestEngine -engine.server BINARY.
type site struct {
	*testing.T
	binary, dir string
	env         []string
}

func newSite(t *testing.T, files map[string]string, env ...string) *site {
	t.Helper()
	f := newFleet(t)
	s := &site{T: t, binary: f.binary, dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append([]string{"FLOWRUN_ENGINE=" + f.engine}, env...)
	return s
}

// command is one command of the site.
func (s *site) command(ctx context.Context, env []string, words ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.binary, words...)
	c.Dir, c.Env = s.dir, append(append(os.Environ(), s.env...), env...)
	return c
}

// does runs a command, and returns what it printed. The exit code and the texts are wanted.
func (s *site) does(code int, env []string, words string, wants ...string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	c := s.command(ctx, env, strings.Fields(words)...)
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run() // the exit code says it
	if have := c.ProcessState.ExitCode(); have != code {
		s.Errorf("flowrun %s: exit code %d, want %d\n%s", words, have, code, out.String())
	}
	for _, want := range wants {
		if !strings.Contains(out.String(), want) {
			s.Errorf("flowrun %s: want %q in\n%s", words, want, out.String())
		}
	}
	return out.String()
}

// hires starts a worker, which ends with the test or by the function.
func (s *site) hires(env ...string) (fire func()) {
	s.Helper()
	var out bytes.Buffer
	c := s.command(context.Background(), env, "worker", "--slots", "4")
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	fired := false
	fire = func() {
		if !fired {
			fired = true
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
		}
	}
	s.Cleanup(fire)
	return fire
}

// until runs a command again and again until it prints a text.
func (s *site) until(words, want string) {
	s.Helper()
	s.untilIn(nil, words, want)
}

// untilIn is until with an environment.
func (s *site) untilIn(env []string, words, want string) {
	s.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		c := s.command(s.Context(), env, strings.Fields(words)...)
		out, _ := c.CombinedOutput()
		if strings.Contains(string(out), want) {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("flowrun %s: want %q in\n%s", words, want, out)
		}
	}
}

var engineFiles = map[string]string{"t.flow.hcl": `
variable "token" {
  type      = string
  sensitive = true
  default   = null
}

workflow "hello" {
  step "greet" { run = ["echo", "hello there"] }
  step "shout" { run = "echo ${step.greet.output} | tr a-z A-Z; echo aside >&2" }
  step "sub" {
    call = workflow.below
    with = { n = 1 }
  }
  output "greeting" { value = step.shout.output }
}

workflow "below" {
  input "n" { type = number }
  step "deep" { run = "echo deep" }
}

workflow "fails" {
  step "ok" { run = "echo once >> ran" }
  step "bad" {
    run        = "test -e mended || { echo oh no >&2; exit 3; }"
    depends_on = [step.ok]
  }
}

workflow "long" {
  step "sleeps" { run = "echo began; sleep 100" }
  step "other" { run = ["true"] }
}

workflow "secret" {
  step "use" {
    run = "printf 'token is %s' \"$T\""
    env = { T = var.token }
  }
  output "said" { value = step.use.output }
}

workflow "large" {
  step "make" {
    for_each = range(40)
    run      = "head -c 120000 /dev/urandom | base64 -w0"
  }
}
`}

// TestEngineReads asks each command that reads a run for a run of a server, with and without workers.
func TestEngineReads(t *testing.T) {
	s := newSite(t, engineFiles)
	s.does(0, nil, "apply t.flow.hcl hello --detach", "no worker takes work from the queue", "flowrun worker")
	s.until("runs list", "no worker takes work from the queue")
	s.does(0, nil, "runs show hello", "no worker takes work", "flowrun worker")
	s.does(0, nil, "runs show hello --json", `"trouble":"no worker takes work from the queue`)
	s.does(1, nil, "resume hello", "does not continue: no worker takes work from the queue")
	s.does(1, nil, "doctor", "no worker takes work from the queue", "Start a worker of its queue with: flowrun worker")
	fire := s.hires()
	s.does(0, nil, "runs watch hello", "greet: succeeded", "greeting = HELLO THERE")
	s.does(0, nil, "apply t.flow.hcl hello --logs", "greeting = HELLO THERE", "-- stderr")
	s.does(1, nil, "apply t.flow.hcl fails", "oh no", "Retry the failed steps with: flowrun retry")
	s.until("runs list", "fails")
	fire()
	for _, x := range []struct {
		words string
		wants []string
	}{
		{"runs list", []string{"hello", "succeeded", "below", "called by sub", "bad: exit code 3: oh no"}},
		{"runs list --status failed", []string{"fails"}},
		{"runs list --limit 1", []string{"fails"}},
		{"runs show hello", []string{"✓ greet", "greeting = HELLO THERE"}},
		{"runs show hello greet", []string{"attempt 1: ok", "needed by: shout", "at t.flow.hcl:9"}},
		{"runs show fails --failed", []string{"✗ bad", "| oh no"}},
		{"runs show hello --at 1", []string{"After event 1 of", "greet"}},
		{"runs timeline hello", []string{"critical path"}},
		{"runs diff hello fails", []string{"hello"}},
		{"events hello", []string{"run_started", "attempt_finished", "child_finished"}},
		{"logs hello", []string{"== greet, attempt 1: ok", "hello there", "aside", "flowrun logs "}},
		{"logs fails bad", []string{"oh no"}},
		{"logs -f hello", []string{"greet | hello there"}},
		{"graph hello --format mermaid", []string{"flowchart", "greet"}},
		{"replay hello", []string{"replays the same"}},
		{"replay fails --file t.flow.hcl", []string{"fails"}},
		{"export hello", []string{"<html", "greet"}},
		{"export hello --otlp", []string{"resourceSpans"}},
		{"runs watch hello", []string{"greeting = HELLO THERE"}},
		{"resume hello", []string{"had ended before: succeeded"}},
	} {
		code := 0
		s.does(code, nil, x.words, x.wants...)
	}
	var doc struct{ Status, Workflow string }
	if out := s.does(0, nil, "runs show hello --json"); json.Unmarshal([]byte(out), &doc) != nil || doc.Status != "succeeded" {
		t.Errorf("the document is %s", out)
	}
	c := s.command(t.Context(), nil, "console", "hello")
	c.Stdin = strings.NewReader("step.greet.output\n")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), `"hello there"`) {
		t.Errorf("the console says %s, %v", out, err)
	}
}

// TestEngineChanges cancels, retries and detaches.
func TestEngineChanges(t *testing.T) {
	s := newSite(t, engineFiles)
	s.hires()
	s.does(1, nil, "apply t.flow.hcl fails")
	if err := os.WriteFile(filepath.Join(s.dir, "mended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.until("runs list", "fails")
	s.does(0, nil, "retry fails", "ok: succeeded after 0.0s: reused from run", "bad: succeeded")
	if ran, err := os.ReadFile(filepath.Join(s.dir, "ran")); err != nil || string(ran) != "once\n" {
		t.Errorf("the step that succeeded ran %q, %v", ran, err)
	}

	c := s.command(t.Context(), nil, "apply", "t.flow.hcl", "long")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("runs list", "long")
	_ = c.Process.Signal(os.Interrupt)
	if _ = c.Wait(); c.ProcessState.ExitCode() != 130 || !strings.Contains(out.String(), "continues without this command") {
		t.Errorf("exit code %d\n%s", c.ProcessState.ExitCode(), out.String())
	}
	s.does(0, nil, "resume long", "continues by itself: workers drive it")
	s.does(2, nil, "resume long --take-over", "--take-over is for runs of a store")
	s.does(0, nil, "cancel long --reason enough --wait", "cancellation requested", "cancelled")
	s.does(0, nil, "cancel long", "had ended before: cancelled")

	s.does(0, nil, "apply t.flow.hcl long --detach")
	s.until("runs show long", "✓ other")
	s.does(0, nil, "cancel long sleeps --as ann --wait", "cancellation of sleeps requested", "sleeps: cancelled")
	s.does(0, nil, "runs show long", "ann cancelled it")
}

// TestEngineSecrets: the worker has the secrets, the server has none of them, and none of the texts if there is a key.
func TestEngineSecrets(t *testing.T) {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	const text = "hunter22-of-the-test"
	s := newSite(t, engineFiles, "FLOWRUN_PAYLOAD_KEY="+base64.StdEncoding.EncodeToString(key))
	token := []string{"FLOWRUN_VAR_token=" + text}
	s.does(2, nil, "apply t.flow.hcl secret --var token="+text, "var.token was given on the command line")
	fire := s.hires()
	s.does(1, token, "apply t.flow.hcl secret", `the sensitive variable "token" came from env FLOWRUN_VAR_token, and is not available there`)
	fire()
	s.hires(token...)
	s.does(0, token, "apply t.flow.hcl secret", "said = token is (sensitive)")
	s.until("runs list", "secret")
	for _, words := range []string{"events secret --json", "runs show secret --json", "logs secret", "runs list --json"} {
		if out := s.does(0, nil, words); strings.Contains(out, text) {
			t.Errorf("flowrun %s shows the secret:\n%s", words, out)
		}
	}
	s.does(0, []string{"FLOWRUN_PAYLOAD_KEY="}, "runs list", "this process has no key: set FLOWRUN_PAYLOAD_KEY")
	_, _ = rand.Read(key)
	other := []string{"FLOWRUN_PAYLOAD_KEY=" + base64.StdEncoding.EncodeToString(key)}
	s.does(0, other, "runs list", "and FLOWRUN_PAYLOAD_KEY has the key")
	s.does(3, other, "worker", "and FLOWRUN_PAYLOAD_KEY has the key")
}

// TestEngineArtifacts: long outputs and large payloads lie in the shared folder, and whoever does not have it says so.
func TestEngineArtifacts(t *testing.T) {
	shared := t.TempDir()
	s := newSite(t, engineFiles, "FLOWRUN_ARTIFACTS="+shared)
	var many strings.Builder
	many.WriteString("workflow \"many\" {\n")
	for i := range 3000 {
		fmt.Fprintf(&many, "  step \"s%d\" { run = [\"echo\", \"%x\"] }\n", i, i*7919*7919)
	}
	many.WriteString("}\n")
	if err := os.WriteFile(filepath.Join(s.dir, "many.flow.hcl"), []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(0, nil, "apply many.flow.hcl --detach")
	fire := s.hires("FLOWRUN_ARTIFACTS=")
	s.until("runs show many", "its workers fail at the same point, 1 times so far: a payload of")
	s.does(1, nil, "doctor", "set FLOWRUN_ARTIFACTS", "restart the workers")
	s.does(1, nil, "resume many", "set FLOWRUN_ARTIFACTS")
	fire()
	s.does(0, nil, "cancel many")
	s.hires()
	s.does(0, nil, "apply t.flow.hcl large")
	if out := s.does(0, nil, "logs large"); len(out) < 40*160_000 {
		t.Errorf("the logs have %d bytes", len(out))
	}
	s.does(0, nil, "replay large", "replays the same")
	s.does(3, []string{"FLOWRUN_ARTIFACTS="}, "runs show large", "set FLOWRUN_ARTIFACTS")
}

// objects is a server that keeps objects; package bucket has the tests of signatures.
type objects struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch have, known := o.all[r.URL.Path]; {
	case r.Method == http.MethodPut:
		o.all[r.URL.Path] = body
	case !known:
		w.WriteHeader(http.StatusNotFound)
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(have))
	}
}

// TestEngineLogs: the whole log of an attempt is in the bucket once the attempt has ended. Where nothing is shared, logs says where the whole text is.
func TestEngineLogs(t *testing.T) {
	bucket := httptest.NewServer(&objects{all: map[string][]byte{}})
	t.Cleanup(bucket.Close)
	const lines = 300_000 // over 1 MiB
	s := newSite(t, map[string]string{"t.flow.hcl": fmt.Sprintf(`workflow "w" {
  step "says" { run = "seq 20000; seq %d >&2" }
  step "waits" { run = "echo began; until test -e go; do sleep 0.1; done" }
}`, lines)})
	var all strings.Builder
	for i := range lines {
		fmt.Fprintln(&all, i+1)
	}
	for _, x := range []struct {
		env   []string
		whole bool
		where string
	}{
		{[]string{"FLOWRUN_ARTIFACTS=s3://fleet/x", "AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=s", "AWS_ENDPOINT_URL_S3=" + bucket.URL}, true, "whole output: s3://fleet/x/logs/"},
		{nil, false, "with the worker"},
	} {
		fire := s.hires(x.env...)
		s.does(0, x.env, "apply t.flow.hcl --detach")
		s.untilIn(x.env, "runs show w", "✓ says")
		s.does(0, x.env, "logs w waits", "its output stays with its worker until the attempt ends")
		if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.does(0, x.env, "logs -f w waits", "waits | began")
		for _, words := range []string{"logs w says", "logs -f w says"} {
			out := strings.ReplaceAll(s.does(0, x.env, words), "says | ", "")
			if strings.Contains(out, all.String()) != x.whole {
				t.Errorf("flowrun %s prints %d bytes, want the whole: %v", words, len(out), x.whole)
			}
			if !x.whole && !strings.Contains(out, "bytes left out") {
				t.Errorf("flowrun %s does not say that it leaves something out", words)
			}
		}
		if !x.whole {
			s.does(0, x.env, "logs w says", "-- stderr (the whole text stays with the worker, in logs/")
		}
		s.does(0, x.env, "runs show w says", x.where)
		fire()
		if err := os.Remove(filepath.Join(s.dir, "go")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "follow")); err == nil {
		t.Error("logs -f has made a folder of marks in the current folder")
	}
}

const startsFile = `
on "built" {
  workflow = workflow.mark
  with     = { name = event.name }
}
routine "yearly" {
  cron     = "0 3 1 1 *"
  workflow = workflow.mark
  with     = { name = "routine" }
}
workflow "build" {
  default = true
  step "publish" {
    emit {
      event = "built"
      data  = { name = "run" }
    }
  }
}
workflow "mark" {
  input "name" { type = string }
  step "mark" {
    run = "echo ${input.name} $FLOWRUN_RUN >> marks"
  }
}
`

// TestEngineStarts lets events and routines start runs by the workers of a server, of which one is killed.
func TestEngineStarts(t *testing.T) {
	s := newSite(t, map[string]string{"t.flow.hcl": startsFile})
	s.hires()
	killed := s.command(context.Background(), nil, "worker", "--slots", "4")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	s.does(0, nil, "apply t.flow.hcl", "added: on built → mark", "added: routine yearly", "succeeded")
	s.until("programs list", "on built → mark  0 waiting, 1 started, 0 skipped, 0 dead")
	const events = 12
	for i := range events {
		if i == events/2 {
			_ = killed.Process.Kill()
			_ = killed.Wait()
		}
		s.does(0, nil, fmt.Sprintf(`emit built --key k%d --data {"name":"n%d"}`, i, i))
	}
	s.does(0, nil, `emit built --key k0 --data {"name":"n0"}`, "was published before with this key")
	s.until("programs list", fmt.Sprintf("on built → mark  0 waiting, %d started", events+1))
	s.does(0, nil, "routines list", "yearly → mark", "next run 2")
	s.does(0, nil, "routines pause yearly", "yearly is paused")
	s.does(0, nil, "routines list", "  paused")
	s.does(0, nil, "routines resume yearly", "yearly continues")
	s.does(0, nil, "routines run yearly", "mark: succeeded")
	s.does(2, nil, "routines pause nightly", `there is no routine "nightly"`)

	s.does(0, nil, `emit built --data {"name":[1]}`) // no text
	s.until("programs list", "1 dead")
	s.does(0, nil, "dlq list", "built", "mark")
	s.does(0, nil, "dlq redrive dl-1", "dl-1: a worker starts its run")
	s.does(0, nil, "dlq drop dl-1")

	s.does(0, nil, "programs remove t.flow.hcl", "removed: on built → mark", "removed: routine yearly")
	s.does(0, nil, "programs list", "No program in this store starts runs automatically")
	var text []byte
	runs := map[string]string{}
	// What the killed worker had taken begins again once the server has heard nothing of the worker for 30 seconds.
	for limit := time.Now().Add(2 * time.Minute); len(runs) < events+2 && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		text, _ = os.ReadFile(filepath.Join(s.dir, "marks"))
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			name, run, _ := strings.Cut(line, " ")
			if runs[name] != "" && runs[name] != run { // an attempt of the killed worker runs once more, in the same run
				t.Fatalf("%s has started two runs: %s and %s", name, runs[name], run)
			}
			runs[name] = run
		}
	}
	if len(runs) != events+2 {
		t.Errorf("want %d runs, and these have ended:\n%s", events+2, text)
	}
}

const loopFile = `
agent "ann" { type = "null" }
agent "bob" { type = "null" }

loop "work" {
  agents   = [agent.ann, agent.bob]
  idle     = "200ms"
  idle_max = "2s"
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  handle {
    workflow = workflow.item
    with     = { title = item.title }
  }
}

workflow "item" {
  input "title" { type = string }
  step "mark" {
    run = "echo ${input.title} $FLOWRUN_RUN >> marks; sleep 0.3"
  }
}
`

// TestEngineLoops runs a loop on the workers of a server, of which one is killed: in the foreground until it is idle, and then as a registered one.
func TestEngineLoops(t *testing.T) {
	s := newSite(t, map[string]string{"t.flow.hcl": loopFile, "TODO.md": "- [ ] first\n- [ ] second\n"})
	s.hires()
	killed := s.command(context.Background(), nil, "worker", "--slots", "1")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		s.does(0, nil, fmt.Sprintf("dispatch add item%d", i))
	}
	s.does(0, nil, "dispatch list", "item0", "item3")
	s.does(0, nil, "loop run work t.flow.hcl --until-idle", "succeeded")
	s.does(0, nil, "loop next work t.flow.hcl --dry-run", "no agent takes an item")
	s.does(0, nil, "apply t.flow.hcl item --input title=by-hand", "added: loop work", "succeeded")
	s.until("loop status work", "loop work: running")
	for i := 4; i < 10; i++ {
		s.does(0, nil, fmt.Sprintf("dispatch add item%d", i))
		if i == 6 {
			_ = killed.Process.Kill()
			_ = killed.Wait()
		}
	}
	s.until("loop status work", "dispatched and free: 0")
	s.does(0, nil, "loop pause work", "loop work is paused")
	s.does(0, nil, "dispatch add late")
	s.does(0, nil, "loop status work", "loop work is paused", "dispatched and free: 1")
	s.does(3, nil, "loop run work t.flow.hcl", "loop work runs already: workers drive run")
	s.does(0, nil, "loop resume work")
	s.until("loop status work", "dispatched and free: 0")
	s.until("loop items work", "No agent of a loop has an item")
	s.does(0, nil, "loop stop work", "loop work is stopped")
	s.until("loop status work", "loop work: succeeded")
	s.does(0, nil, "programs remove t.flow.hcl", "removed: loop work")

	text, err := os.ReadFile(filepath.Join(s.dir, "marks"))
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, run, _ := strings.Cut(line, " ")
		if runs[name] != "" && runs[name] != run { // an attempt of the killed worker runs once more, in the same run
			t.Errorf("%s was done by two runs: %s and %s", name, runs[name], run)
		}
		runs[name] = run
	}
	if len(runs) != 14 {
		t.Errorf("want 14 items, and these were done:\n%s", text)
	}
	todo, err := os.ReadFile(filepath.Join(s.dir, "TODO.md"))
	if err != nil || strings.Count(string(todo), "[x]") != 2 {
		t.Errorf("the list is\n%s%v", todo, err)
	}
}
