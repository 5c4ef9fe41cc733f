package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const mcpProgram = `
workflow "greet" {
  default = true

  input "name" { type = string }
  input "times" {
    type    = number
    default = 1
  }

  step "say" { run = ["echo", "hello ${input.name} ${input.times}"] }

  output "said" { value = step.say.output }
}

workflow "ask" {
  step "ok" {
    approve {
      prompt = "May it go?"
      show   = { change = "one line" }
    }
  }
}

workflow "long" {
  step "wait" { run = ["sleep", "60"] }
}
`

// mcpClient starts flowrun mcp in a new folder and connects to it.
func mcpClient(t *testing.T, o *mcp.ClientOptions, words ...string) (*mcp.ClientSession, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(mcpProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(build(t), append([]string{"mcp", "--store", filepath.Join(dir, "store")}, words...)...)
	c.Dir, c.Stderr = dir, os.Stderr
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// call calls a tool, and returns the text of its result.
func call(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any) (string, *mcp.CallToolResult) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*mcp.TextContent).Text)
	}
	return strings.Join(all, "\n"), r
}

// TestMCP is a session of an agent: it checks, plans and runs a workflow, looks at the run, and hands in work.
func TestMCP(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	s, _ := mcpClient(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, r.Params.Message)
	}})
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	for _, name := range []string{"validate", "plan", "test", "apply", "run", "logs", "inbox", "ask_person", "dispatch", "items", "claim", "renew_claim", "close_work", "give_back", "hand_over", "check_in", "memory_search", "memory_add"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no tool %s: %v", name, names)
		}
	}
	if slices.Contains(names, "decide") {
		t.Error("a client can decide in the place of a person without the right to")
	}
	// A text of an input is a text, whatever it looks like.
	p := &mcp.CallToolParams{Name: "apply", Arguments: map[string]any{"path": "w.flow.hcl", "inputs": map[string]any{"name": "@w.flow.hcl", "times": 3}}}
	p.SetProgressToken("p")
	r, err := s.CallTool(t.Context(), p)
	if err != nil || r.IsError {
		t.Fatal(err, r)
	}
	var run struct {
		Run, Status string
		Outputs     map[string]string
	}
	decodeMCP(t, r, &run)
	if run.Status != "succeeded" || run.Outputs["said"] != "hello @w.flow.hcl 3" {
		t.Errorf("the run ends so: %+v", run)
	}
	mu.Lock()
	if len(told) == 0 || !strings.Contains(strings.Join(told, "\n"), run.Run) {
		t.Errorf("progress: %q", told)
	}
	mu.Unlock()
	for _, c := range []struct {
		tool  string
		given map[string]any
		want  string
	}{
		{"validate", map[string]any{"path": "w.flow.hcl"}, `"valid":true`},
		{"plan", map[string]any{"path": "w.flow.hcl", "inputs": map[string]any{"name": "x"}}, `"say"`},
		{"explain", map[string]any{"word": "step.when"}, "when"},
		{"graph", map[string]any{"path": "w.flow.hcl", "format": "mermaid"}, "say"},
		{"test", map[string]any{"path": "w.flow.hcl"}, "test"},
		{"runs", map[string]any{"limit": 1}, run.Run},
		{"run", map[string]any{"run": run.Run, "step": "say"}, "hello"},
		{"logs", map[string]any{"run": run.Run}, "hello @w.flow.hcl 3"},
		{"stats", nil, `"`},
		{"inbox", nil, `"inbox":[]`},
		{"dispatch", map[string]any{"title": "--help", "label": []string{"a", "--as=root"}, "priority": 2}, "ds-1"},
		{"work", nil, `"--help"`},
		{"work", nil, `"--as=root"`},
		{"claim", map[string]any{"as": "ann", "lease": "1h"}, `"token":1`},
		{"renew_claim", map[string]any{"id": "ds-1", "token": 1, "lease": "2h"}, `"state":"held"`},
		{"give_back", map[string]any{"id": "ds-1", "token": 1, "reason": "--json"}, `"state":"open"`},
		{"claim", map[string]any{"id": "ds-1", "as": "leo"}, `"token":2`},
		{"hand_over", map[string]any{"id": "ds-1", "token": 2, "to": "ann", "summary": "half", "next": "the rest", "open_questions": []string{"why?"}}, "ds-2"},
		{"claim", map[string]any{"as": "leo"}, `"id":null`},
		{"claim", map[string]any{"as": "ann"}, `"open_questions":["why?"]`},
		{"close_work", map[string]any{"id": "ds-2", "token": 1}, `"state":"closed"`},
		{"loops", nil, ""},
		{"items", nil, ""},
		{"emit", map[string]any{"name": "tick", "data": map[string]any{"a": []int{1}}}, "ev-1"},
		{"memory_add", map[string]any{"lesson": "Give the linker 6 GiB.", "type": "insight"}, ""},
		{"memory_search", map[string]any{"query": "linker memory"}, "6 GiB"},
		{"check_in", map[string]any{"point": "p", "as": "me"}, ""},
		{"format", map[string]any{"path": "w.flow.hcl"}, "w.flow.hcl"},
	} {
		if text, r := call(t, s, c.tool, c.given); r.IsError && c.tool != "test" && c.tool != "check_in" || !strings.Contains(text, c.want) {
			t.Errorf("%s(%v) has no %q: %v %s", c.tool, c.given, c.want, r.IsError, text)
		}
	}
	for _, c := range []struct {
		tool  string
		given map[string]any
		want  string
	}{
		{"validate", map[string]any{"path": "missing.flow.hcl"}, "missing.flow.hcl"},
		{"validate", map[string]any{"path": "--version"}, "--version"}, // a file of that name, and no flag
		{"validate", nil, "path is missing"},
		{"validate", map[string]any{"path": 3}, "path must be a text"},
		{"validate", map[string]any{"path": "x", "more": 1}, `takes no "more"`},
		{"graph", map[string]any{"path": "w.flow.hcl", "format": "svg"}, "one of mermaid, dot"},
		{"run", map[string]any{"run": "nosuchrun"}, "nosuchrun"},
		{"cancel", map[string]any{"run": "latest"}, "reason is missing"},
		{"ask_person", map[string]any{"run": run.Run, "node": "ok"}, "cannot show forms"},
		{"claim", map[string]any{"id": "ds-2", "as": "leo"}, "ds-2 is not taken: it is closed"},
		{"renew_claim", map[string]any{"id": "ds-1", "token": 1}, "token 1 does not have the item"},
		{"close_work", map[string]any{"id": "ds-1"}, "token is missing"},
	} {
		if text, r := call(t, s, c.tool, c.given); !r.IsError || !strings.Contains(text, c.want) {
			t.Errorf("%s(%v): %v %s, want %q", c.tool, c.given, r.IsError, text, c.want)
		}
	}
	read, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "flowrun://runs/" + run.Run})
	if err != nil || !strings.Contains(read.Contents[0].Text, `"succeeded"`) {
		t.Errorf("the resource: %v %+v", err, read)
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "flowrun://runs/--help/events"}); err == nil {
		t.Error("a run of a name that is none has events")
	}
}

func decodeMCP(t *testing.T, r *mcp.CallToolResult, to any) {
	t.Helper()
	text, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMCPAsksThePerson puts an approval to the person at the client: it is the person who decides, by a form.
func TestMCPAsksThePerson(t *testing.T) {
	t.Parallel()
	var asked []string
	s, dir := mcpClient(t, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		asked = append(asked, r.Params.Message)
		if len(asked) == 1 {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve", "comment": "fine"}}, nil
	}})
	_, r := call(t, s, "apply", map[string]any{"path": "w.flow.hcl", "workflow": "ask"})
	var run struct{ Run, Status string }
	if decodeMCP(t, r, &run); r.IsError || run.Status != "waiting" {
		t.Fatalf("%+v", run)
	}
	if text, r := call(t, s, "ask_person", map[string]any{"run": run.Run, "node": "ok"}); !r.IsError || !strings.Contains(text, "no decision (decline)") {
		t.Errorf("who declines has decided: %s", text)
	}
	if text, r := call(t, s, "ask_person", map[string]any{"run": run.Run, "node": "ok"}); r.IsError {
		t.Errorf("the decision is refused: %s", text)
	}
	if len(asked) != 2 || !strings.Contains(asked[1], "May it go?") || !strings.Contains(asked[1], "one line") {
		t.Errorf("the person is asked %q", asked)
	}
	_, r = call(t, s, "resume", map[string]any{"run": run.Run})
	if decodeMCP(t, r, &run); run.Status != "succeeded" {
		t.Errorf("the run is %s in %s", run.Status, dir)
	}
	if text, r := call(t, s, "ask_person", map[string]any{"run": run.Run, "node": "ok"}); !r.IsError || !strings.Contains(text, "nothing waits") {
		t.Errorf("asked once more: %s", text)
	}
}

// TestMCPCancel gives a call up: the run is interrupted, and nothing of it goes on.
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	var once sync.Once
	s, _ := mcpClient(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		if strings.HasPrefix(r.Params.Message, "wait: running") {
			once.Do(func() { close(begun) })
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		p := &mcp.CallToolParams{Name: "apply", Arguments: map[string]any{"path": "w.flow.hcl", "workflow": "long"}}
		p.SetProgressToken(1)
		_, err := s.CallTool(ctx, p)
		ended <- err
	}()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the step does not begin")
	}
	if text, _ := call(t, s, "runs", nil); !strings.Contains(text, `"driven":true`) {
		t.Errorf("nobody drives the run: %s", text)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the call ended well")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text, _ := call(t, s, "runs", nil)
		if strings.Contains(text, `"driven":false`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run goes on: %s", text)
		}
	}
}

// TestMCPOverHTTP holds the tokens: one has the rights of --allow, one only reads, and without one nobody is answered.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := exec.Command(build(t), "mcp", "--store", filepath.Join(dir, "store"), "--listen", "127.0.0.1:0", "--allow", "read,run,decide")
	c.Dir = dir
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Signal(syscall.SIGTERM); _ = c.Wait() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(line, " answers at ")
	at, _, _ = strings.Cut(at, ",")
	tools := func(token string) []string {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
		if err != nil {
			return nil
		}
		defer s.Close()
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	token := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, "store", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	if all := tools(token("serve.token")); !slices.Contains(all, "decide") || !slices.Contains(all, "apply") {
		t.Errorf("the token of the store: %v", all)
	}
	if read := tools(token("mcp-read.token")); slices.Contains(read, "apply") || slices.Contains(read, "ask_person") || !slices.Contains(read, "validate") {
		t.Errorf("the token of readers: %v", read)
	}
	if none := tools("wrong"); none != nil {
		t.Errorf("a wrong token: %v", none)
	}
	r, err := http.NewRequest("POST", at, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token("serve.token"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another site: %v %v", answer, err)
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
