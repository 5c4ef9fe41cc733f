package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// modelStub is a model behind the three APIs that the coding agents speak. It answers as its mode says.
type modelStub struct {
	url string
	sync.Mutex
	mode  string // pong, refuse, limit, key, server, hang, work
	last  string // request that has the task
	asked chan struct{}
}

func newModelStub(t *testing.T) *modelStub {
	m := &modelStub{asked: make(chan struct{}, 100)}
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.Lock()
		mode := m.mode
		if strings.Contains(string(body), "Say pong.") {
			m.last = string(body)
		}
		m.Unlock()
		api := map[bool]string{strings.HasSuffix(r.URL.Path, "/v1/messages"): "anthropic", strings.HasSuffix(r.URL.Path, "/responses"): "openai",
			strings.Contains(r.URL.Path, "enerateContent"): "gemini"}[true]
		if r.Method != "POST" || api == "" {
			http.Error(w, `{"error":{"message":"not here"}}`, http.StatusNotFound)
			return
		}
		if mode == "work" { // Claude Code keeps a session from the first answer on
			if mode = "hang"; api == "anthropic" && !strings.Contains(string(body), `"tool_result"`) {
				mode = "read"
			}
		}
		if mode == "hang" {
			m.asked <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-gone:
			}
			return
		}
		m.answer(w, api, mode, strings.Contains(r.URL.Path, "stream") || strings.Contains(string(body), `"stream":true`))
	}))
	t.Cleanup(func() { close(gone); s.Close() })
	m.url = s.URL
	return m
}

func (m *modelStub) set(mode string) {
	m.Lock()
	defer m.Unlock()
	m.mode = mode
}

type object = map[string]any

func (m *modelStub) answer(w http.ResponseWriter, api, mode string, stream bool) {
	send := func(status int, o object) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(o)
	}
	switch mode {
	case "limit":
		w.Header().Set("Retry-After", "3600")
		switch api {
		case "gemini":
			send(429, object{"error": object{"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded. Please retry in 3600s.",
				"details": []object{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}}}})
		case "openai": // as for a plan whose limit is reached
			send(429, object{"error": object{"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "pro", "resets_at": time.Now().Unix() + 3600, "resets_in_seconds": 3600}})
		default:
			send(429, object{"type": "error", "error": object{"type": "rate_limit_error", "message": "Limit reached. Please try again in 3600s."}})
		}
		return
	case "key":
		if api == "gemini" {
			send(400, object{"error": object{"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key.",
				"details": []object{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}}}})
			return
		}
		send(401, object{"type": "error", "error": object{"type": "authentication_error", "message": "invalid x-api-key"}})
		return
	case "server":
		send(500, object{"type": "error", "error": object{"type": "api_error", "message": "Internal"}})
		return
	}
	refused := mode == "refuse"
	var events []object
	switch api {
	case "anthropic":
		stop := "end_turn"
		if refused {
			stop = "refusal"
		}
		if mode == "read" {
			stop = "tool_use"
		}
		message := object{"id": "m1", "type": "message", "role": "assistant", "model": "stub", "content": []object{{"type": "text", "text": "pong"}}, "stop_reason": stop, "stop_sequence": nil,
			"usage": object{"input_tokens": 11, "output_tokens": 5}}
		if !stream {
			send(200, message)
			return
		}
		message["content"], message["stop_reason"] = []object{}, nil
		block, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "pong"}
		if mode == "read" {
			block, delta = object{"type": "tool_use", "id": "t1", "name": "Read", "input": object{}}, object{"type": "input_json_delta", "partial_json": `{"file_path":"w.flow.hcl"}`}
		}
		events = []object{{"type": "message_start", "message": message}, {"type": "content_block_start", "index": 0, "content_block": block}, {"type": "content_block_delta", "index": 0, "delta": delta},
			{"type": "content_block_stop", "index": 0}, {"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}}, {"type": "message_stop"}}
	case "openai":
		content := object{"type": "output_text", "text": "pong", "annotations": []any{}}
		if refused {
			content = object{"type": "refusal", "refusal": "I cannot help."}
		}
		item := object{"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": []object{content}}
		events = []object{{"type": "response.created", "response": object{"id": "r1", "status": "in_progress"}}, {"type": "response.output_item.done", "output_index": 0, "item": item},
			{"type": "response.completed", "response": object{"id": "r1", "status": "completed", "output": []object{item}, "usage": object{"input_tokens": 11, "output_tokens": 5, "total_tokens": 16,
				"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}}}
	case "gemini":
		one, finish := []object{{"text": "pong"}}, "STOP"
		if refused {
			one, finish = []object{}, "SAFETY"
		}
		answer := object{"candidates": []object{{"index": 0, "content": object{"role": "model", "parts": one}, "finishReason": finish}},
			"usageMetadata": object{"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}}
		if !stream {
			send(200, answer)
			return
		}
		events = []object{answer}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if name, ok := e["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		text, _ := json.Marshal(e)
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

// codingAgent is a program of somebody else with the environment that it has here: nothing of the machine's but the PATH, a home that is thrown
// away, and a key that is none.
type codingAgent struct {
	preset string
	home   string
	env    []string
	refuse string // what comes of a refusal
}

// codingProgram gives an agent one task, and one whose work is refused once.
const codingProgram = `agent "a" {
  preset  = "PRESET"
  timeout = "60s"
}

agent "keeps" {
  preset       = "PRESET"
  timeout      = "60s"
  keep_session = true
}

gate "done" {
  run     = "if ! [ -e done ]; then touch done; exit 1; fi"
  message = "That was too quiet."
  on_fail = "retry"
}

workflow "w" {
  default = true
  step "s" {
    agent = agent.a
    task  = "Say pong."
  }
  output "o" { value = step.s.output.result }
}

workflow "refused" {
  step "s" {
    agent = agent.keeps
    task  = "Say pong."
    gates = [gate.done]
  }
}
`

func newCodingAgent(t *testing.T, preset, program string, more ...string) *codingAgent {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	program, err := filepath.Abs(program)
	if err == nil {
		err = os.Symlink(program, filepath.Join(bin, preset))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "w.flow.hcl"), []byte(strings.ReplaceAll(codingProgram, "PRESET", preset)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &codingAgent{preset: preset, home: home, env: append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}, more...)}
}

// file writes a file of the home.
func (g *codingAgent) file(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(g.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flowrun starts the command in the home.
func (g *codingAgent) flowrun(t *testing.T, words ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	c, said := exec.Command(build(t), append(words, "--store", filepath.Join(g.home, "store"))...), &strings.Builder{}
	c.Dir, c.Env, c.Stdout, c.Stderr = g.home, g.env, said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, said
}

// processes are those that have the home, but for flowrun itself.
func (g *codingAgent) processes(but int) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range list {
		env, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
		if err == nil && pid != but && strings.Contains("\x00"+string(env), "\x00HOME="+g.home+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nothingLeft fails the test if a process of the agent lives.
func (g *codingAgent) nothingLeft(t *testing.T, after string) {
	t.Helper()
	for range 50 {
		if len(g.processes(0)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s: %d processes are left", after, len(g.processes(0)))
}

// trial is what agents test says of one call.
type trial struct {
	Outcome string
	Output  struct{ Result string }
	Usage   struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
	Error *struct {
		Kind, Reason, Message, Signal string
		RetryAfter                    float64 `json:"retry_after"`
	}
}

// try calls the agent once.
func (g *codingAgent) try(t *testing.T, m *modelStub, mode string) (got trial) {
	t.Helper()
	m.set(mode)
	c, said := g.flowrun(t, "agents", "test", "a", ".", "--json")
	_ = c.Wait()
	if err := json.Unmarshal([]byte(said.String()), &got); err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, said)
	}
	g.nothingLeft(t, mode)
	return got
}

// check gives the agent a task, and then one that is refused, limited, interrupted and cancelled.
func (g *codingAgent) check(t *testing.T, m *modelStub) {
	got := g.try(t, m, "pong")
	if got.Outcome != "ok" || got.Output.Result != "pong" || got.Usage.Input != 11 || got.Usage.Output != 5 {
		t.Errorf("a task: %+v", got)
	}
	for mode, want := range map[string]string{"refuse": g.refuse, "limit": "rate_limited agent", "key": "blocking agent", "server": "transient agent"} {
		got := g.try(t, m, mode)
		if got.Error == nil || got.Error.Kind+" "+got.Error.Reason != want {
			t.Errorf("%s: %+v, want %s", mode, got.Error, want)
			continue
		}
		t.Logf("%s: %s: %s", mode, want, got.Error.Message)
		if mode == "limit" && (got.Error.RetryAfter < 3500 || got.Error.RetryAfter > 3700) {
			t.Errorf("the moment of the limit: %v", got.Error.RetryAfter)
		}
	}
	g.crash(t, m)
	g.cancel(t, m)
	g.resume(t, m)
	g.refused(t, m)
}

// refused has a gate refuse the work: the agent goes on in its session, and is told why.
func (g *codingAgent) refused(t *testing.T, m *modelStub) {
	m.set("pong")
	c, said := g.flowrun(t, "apply", ".", "refused")
	_ = c.Wait()
	m.Lock()
	defer m.Unlock()
	tasks, why := strings.Count(m.last, "Say pong."), strings.Count(m.last, "That was too quiet.")
	if code := c.ProcessState.ExitCode(); code != 0 || strings.Contains(said.String(), "cannot continue the session") || tasks != 2 || why != 1 || !strings.Contains(m.last, "the work was refused") {
		t.Errorf("a refusal: exit code %d\n%s\nthe model was told the task %d times, and why it was refused %d times", code, said, tasks, why)
	}
}

// resume kills flowrun while the agent works, and continues the run: the agent goes on in its session, in which the task is there twice.
func (g *codingAgent) resume(t *testing.T, m *modelStub) {
	m.set("work")
	c, _ := g.flowrun(t, "apply", ".")
	g.awaitModel(t, m, c)
	for end := time.Now().Add(time.Minute); !g.keptWork() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	g.nothingLeft(t, "a kill of flowrun")
	m.set("pong")
	c, said := g.flowrun(t, "resume", "latest")
	_ = c.Wait()
	m.Lock()
	defer m.Unlock()
	tasks, again := strings.Count(m.last, "Say pong."), strings.Count(m.last, "do not repeat what is done")
	if code := c.ProcessState.ExitCode(); code != 0 || strings.Contains(said.String(), "cannot continue the session") || tasks < 2 || again != 1 {
		t.Errorf("a resume: exit code %d\n%s\nthe model was told the task %d times, and to continue %d times", code, said, tasks, again)
	}
}

// keptWork reports whether the agent has written down what it did, if it does so later than it asks the model again.
func (g *codingAgent) keptWork() bool {
	files, _ := filepath.Glob(filepath.Join(g.home, ".claude/projects/*/*.jsonl"))
	for _, name := range files {
		if text, _ := os.ReadFile(name); strings.Contains(string(text), `"tool_result"`) {
			return true
		}
	}
	return g.preset != "claude"
}

// crash kills the agent in the middle of its work.
func (g *codingAgent) crash(t *testing.T, m *modelStub) {
	m.set("hang")
	c, said := g.flowrun(t, "agents", "test", "a", ".", "--json")
	g.awaitModel(t, m, c)
	for _, pid := range g.processes(c.Process.Pid) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !strings.Contains(string(env), "flowrun") { // the guardian is flowrun, too
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = c.Wait()
	var got trial
	if err := json.Unmarshal([]byte(said.String()), &got); err != nil || got.Error == nil || got.Error.Kind != "transient" {
		t.Errorf("a crash: %v %+v\n%s", err, got.Error, said)
	}
	g.nothingLeft(t, "a crash")
}

// cancel cancels a run from another process while the agent works.
func (g *codingAgent) cancel(t *testing.T, m *modelStub) {
	m.set("hang")
	c, said := g.flowrun(t, "apply", ".")
	g.awaitModel(t, m, c)
	other, told := g.flowrun(t, "cancel", "latest")
	if err := other.Wait(); err != nil {
		t.Errorf("cancel: %v\n%s", err, told)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 5 || !strings.Contains(said.String(), "cancelled") {
		t.Errorf("a cancel: exit code %d\n%s", code, said)
	}
	g.nothingLeft(t, "a cancel")
}

// awaitModel waits until the agent has asked the model.
func (g *codingAgent) awaitModel(t *testing.T, m *modelStub, c *exec.Cmd) {
	t.Helper()
	select {
	case <-m.asked:
	case <-time.After(60 * time.Second):
		_ = c.Process.Kill()
		_ = c.Wait()
		t.Fatal("the agent does not ask its model")
	}
}

func peerClaude(t *testing.T, path string) {
	m := newModelStub(t)
	g := newCodingAgent(t, "claude", path, "ANTHROPIC_BASE_URL="+m.url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_MAX_RETRIES=1")
	g.refuse = "blocking refusal"
	g.check(t, m)
}

func peerCodex(t *testing.T, path string) {
	m := newModelStub(t)
	g := newCodingAgent(t, "codex", path, "OPENAI_API_KEY=none")
	g.env = append(g.env, "CODEX_HOME="+filepath.Join(g.home, ".codex"))
	g.file(t, ".codex/config.toml", fmt.Sprintf("model = \"stub\"\nmodel_provider = \"stub\"\n\n[model_providers.stub]\nname = \"stub\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n", m.url+"/v1"))
	g.refuse = "recoverable agent" // codex does not say that the model refused
	g.check(t, m)
}

func peerGemini(t *testing.T, path string) {
	m := newModelStub(t)
	g := newCodingAgent(t, "gemini", path, "GEMINI_API_KEY=none", "GEMINI_MODEL=gemini-2.5-pro", "GOOGLE_GEMINI_BASE_URL="+m.url)
	g.file(t, ".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"maxAttempts":1}}`)
	g.refuse = "blocking content_filter"
	g.check(t, m)
}

// newToolCaller is a model behind chat completions that calls read_text_file with each of some arguments at once, and then says what came.
func newToolCaller(t *testing.T, arguments ...string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role, Content string }
			Tools    []any
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		said := fmt.Sprintf("%d tools", len(asked.Tools))
		for _, m := range asked.Messages {
			if m.Role == "tool" {
				said += ", " + strings.TrimSpace(m.Content)
			}
		}
		delta, finish := object{"content": said}, "stop"
		if !strings.Contains(said, ",") {
			var calls []object
			for i, a := range arguments {
				calls = append(calls, object{"index": i, "id": fmt.Sprint("c", i), "function": object{"name": "read_text_file", "arguments": a}})
			}
			delta, finish = object{"tool_calls": calls}, "tool_calls"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text, _ := json.Marshal(object{"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text)
	}))
	t.Cleanup(s.Close)
	return s
}
