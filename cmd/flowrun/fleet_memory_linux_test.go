package main_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const memoryFile = `
memory {
  embedder { provider = "none" }
}

agent "builder" {
  type    = "exec"
  command = ["sh", "-c", <<-EOT
    cat > request
    echo '{"type":"remember","lesson":"Link with mold.","context":"release build"}'
    grep -q '"task":"Build the release' request && { echo "the linker has no memory" >&2; exit 1; }
    echo '{"type":"result","output":{"ok":true}}'
  EOT
  ]
}

workflow "build" {
  step "note" {
    remember { lesson = "The linker needs 6 GiB." }
  }
  step "fails" {
    agent      = agent.builder
    task       = "Build the release."
    depends_on = [step.note]
    on_error   = "continue"
  }
  step "again" {
    agent      = agent.builder
    task       = "Link the release."
    depends_on = [step.fails]
  }
  step "search" {
    recall { query = "linker" }
    depends_on = [step.again]
  }
  output "found" { value = step.search.output.count }
}

workflow "agents" {
  step "work" {
    agent = agent.builder
    task  = "Link the release."
  }
}
`

// hiresIn starts a worker with a workspace of its own, which is killed by the function.
func (s *site) hiresIn(workspace string, words ...string) (kill func()) {
	s.Helper()
	if err := os.MkdirAll(filepath.Join(s.dir, workspace, ".git"), 0o700); err != nil { // its store is its own
		s.Fatal(err)
	}
	var out bytes.Buffer
	c := s.command(context.Background(), nil, append([]string{"worker", "--slots", "4", "--workspace", workspace}, words...)...)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	kill = func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
			s.Logf("worker in %s: %s", workspace, out.String())
		}
	}
	s.Cleanup(kill)
	return kill
}

// TestEngineMemory: one worker has the memory, and the others ask it. A step that needs the memory waits for that worker, also after it was killed.
func TestEngineMemory(t *testing.T) {
	s := newSite(t, map[string]string{"t.flow.hcl": memoryFile})
	s.hiresIn("one")
	s.does(0, nil, "apply t.flow.hcl build --detach")
	s.until("runs show build", "a step waits for the memory: no worker serves the memory. Start one with:\n  flowrun worker --memory")
	s.does(1, nil, "doctor", "no worker serves the memory", "Start one with: flowrun worker --memory")
	s.does(3, nil, "memory list", "no worker serves the memory")
	kill := s.hiresIn("two", "--memory")
	s.until("runs show build", "found = ")
	s.does(0, nil, "runs show build again", "recalled: M-", "ok after")
	s.does(0, nil, "runs show build fails", "error: recoverable/exit")
	request, err := os.ReadFile(filepath.Join(s.dir, "one", "request"))
	if err != nil { // the worker with the memory carries attempts out, too
		request, err = os.ReadFile(filepath.Join(s.dir, "two", "request"))
	}
	if err != nil || !strings.Contains(string(request), `"memory":"<memory note=`) {
		t.Errorf("the agent was asked with %s, %v", request, err)
	}
	s.until("memory list", "It failed (exit code 1)")
	s.until("doctor", "1 worker with the memory")
	s.does(0, nil, "memory search linker --json", "The linker needs 6 GiB.")
	s.does(0, nil, "memory add --id mine --tag ci --tag linux Typed.", "mine")
	s.does(0, nil, "memory show mine", "Typed.", "ci, linux")
	s.does(2, nil, "memory show nothing", "there is no such entry")
	s.does(2, nil, "memory list --file t.flow.hcl", "--file is a program of this machine")
	s.does(2, nil, "memory path", "names a file of this machine")
	if err := os.WriteFile(filepath.Join(s.dir, "more.jsonl"), []byte(`{"id":"more","text":"imported"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(0, nil, "memory import more.jsonl", "1 entry")
	s.does(0, nil, "memory export", `"id":"more"`)
	s.does(0, nil, "memory forget more")
	for _, words := range []string{"memory list --all", "memory list --all --engine local --store two/.flowrun"} {
		if out := s.does(0, nil, words, "mine"); strings.Contains(out, "imported") {
			t.Errorf("flowrun %s has a forgotten entry:\n%s", words, out)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "three", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.does(3, nil, "worker --memory --workspace three", "serves the memory of another folder")

	kill()
	s.does(0, nil, "apply t.flow.hcl build --detach")
	s.does(0, nil, "apply t.flow.hcl agents", "warning: nothing was recalled: no worker serves the memory")
	s.hiresIn("two", "--memory")
	s.until("runs show build", "found = ")
	s.does(0, nil, "runs show build again", "recalled: M-")
}

// TestEngineMemoryLearns: a run ends while no worker serves the memory, and the memory learns from it later.
func TestEngineMemoryLearns(t *testing.T) {
	s := newSite(t, map[string]string{"t.flow.hcl": strings.ReplaceAll(memoryFile, "Link the release.", "Build the release, then.")})
	s.hiresIn("one")
	s.does(1, nil, "apply t.flow.hcl agents", "nothing was recalled: no worker serves the memory")
	s.until("doctor", "which has not learned yet from 1 run")
	s.hiresIn("two", "--memory")
	s.until("memory list", "It failed (exit code 1)")
	for range 20 {
		if !strings.Contains(s.does(0, nil, "doctor", "1 worker with the memory"), "to learn from") {
			return
		}
		time.Sleep(time.Second)
	}
	t.Error("the memory learns from a run for ever")
}

const worktreeFile = `
agent "ann" { type = "null" }

loop "items" {
  agents   = [agent.ann]
  worktree = true
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  handle {
    workflow = workflow.item
    with     = { id = item.id }
  }
}

workflow "item" {
  input "id" { type = string }
  step "write" { run = "echo ${input.id} > done; pwd -P > MARKS/write; echo $FLOWRUN_RUN > MARKS/run; git branch --show-current > MARKS/branch" }
  step "wait" {
    run        = "until test -e MARKS/go; do sleep 0.1; done"
    depends_on = [step.write]
  }
  step "read" {
    run        = "cat done > MARKS/read; pwd -P >> MARKS/read; rm done"
    depends_on = [step.wait]
  }
}
`

// TestEngineWorktrees: the worktree of an item lies with one worker, and all steps of the item run there, also after that worker was killed. In the end
// it is removed.
func TestEngineWorktrees(t *testing.T) {
	marks := t.TempDir()
	s := newSite(t, map[string]string{"t.flow.hcl": strings.ReplaceAll(worktreeFile, "MARKS", marks)})
	for _, workspace := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(s.dir, workspace), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"init -q -b main", "-c user.name=ann -c user.email=ann@example.com commit -q --allow-empty -m first"} {
			c := exec.Command("git", strings.Fields(words)...)
			c.Dir = filepath.Join(s.dir, workspace)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s", words, err, out)
			}
		}
	}
	mark := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(marks, name))
		return strings.TrimSpace(string(text))
	}
	s.does(3, nil, "loop next items t.flow.hcl --dry-run", "no worker takes work from the queue")
	kill := map[string]func(){"one": s.hiresIn("one"), "two": s.hiresIn("two")}
	if err := os.WriteFile(filepath.Join(s.dir, "one", "TODO.md"), []byte("- [x] done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.does(0, nil, "dispatch add first")
	s.does(0, nil, "loop next items t.flow.hcl --dry-run", "ann takes ds-1 of dispatch: first")
	s.does(0, nil, "loop next items t.flow.hcl --dry-run --json", `"choices":[{"agent":"ann"`)
	c := s.command(t.Context(), nil, "loop", "run", "items", "t.flow.hcl", "--until-idle")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "the item is in work", func() bool { return mark("branch") != "" })
	has := "one"
	if strings.Contains(mark("write"), "/two/") {
		has = "two"
	}
	if !strings.Contains(mark("write"), "/"+has+"/.flowrun/worktrees/") || !strings.HasPrefix(mark("branch"), "flowrun/items/ds-1-") {
		t.Errorf("the item is in work in %s, on branch %s", mark("write"), mark("branch"))
	}
	kill[has]()
	s.until("runs show "+mark("run"), "its worktree is in ")
	s.does(0, nil, "runs show "+mark("run"), "and no worker has that store: start one in a workspace of it")
	s.hiresIn(has)
	if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), "closed = 1") {
		t.Errorf("the loop: %v\n%s", err, out.String())
	}
	if mark("read") != "ds-1\n"+mark("write") {
		t.Errorf("the last step read %q, and the first one worked in %q", mark("read"), mark("write"))
	}
	for _, workspace := range []string{"one", "two"} {
		if left, _ := filepath.Glob(filepath.Join(s.dir, workspace, ".flowrun", "worktrees", "*.json")); len(left) > 0 {
			t.Errorf("these worktrees are left: %q", left)
		}
	}
}

// TestEngineMCP: the tools of agents look at the runs of the server.
func TestEngineMCP(t *testing.T) {
	s := newSite(t, engineFiles)
	s.hires()
	s.does(0, nil, "apply t.flow.hcl hello")
	s.until("runs list", "hello")
	s.binary = build(t) // its tools are processes of their own
	c := s.command(t.Context(), nil, "mcp")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for _, x := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, "flowrun"},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"run":"hello"}}}`, "HELLO THERE"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"validate","arguments":{"path":"t.flow.hcl"}}}`, "valid"},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"apply","arguments":{"path":"t.flow.hcl","workflow":"hello"}}}`, "succeeded"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"work","arguments":{}}}`, "result"},
	} {
		if _, err := io.WriteString(in, x.request+"\n"); err != nil {
			t.Fatal(err)
		}
		if x.want == "" {
			continue
		}
		answer := ""
		for !strings.Contains(answer, `"id":`) && lines.Scan() {
			answer = lines.Text()
		}
		if !strings.Contains(answer, x.want) || strings.Contains(answer, `"isError":true`) {
			t.Errorf("%s is answered by %s", x.request, answer)
		}
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
