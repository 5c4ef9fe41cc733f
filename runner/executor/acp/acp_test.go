package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/command"
)

// TestMain is the tests, or with the argument "agent" an agent that speaks the protocol by hand.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		(&stub{in: bufio.NewReader(os.Stdin)}).serve(os.Args[2])
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "sessions" {
		serveSessions(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

// stub is an agent whose behaviour a word chooses.
type stub struct {
	in    *bufio.Reader
	dir   string
	asked int

	servers string // as the client gives them
}

func (a *stub) read() (m message) {
	line, err := a.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	_ = json.Unmarshal([]byte(line), &m)
	return m
}

func (a *stub) write(m map[string]any) {
	m["jsonrpc"] = "2.0"
	text, _ := json.Marshal(m)
	fmt.Printf("%s\n", text)
}

func (a *stub) answer(id json.RawMessage, result any) {
	a.write(map[string]any{"id": id, "result": result})
}
func (a *stub) refuse(id json.RawMessage, code int, text string) {
	a.write(map[string]any{"id": id, "error": map[string]any{"code": code, "message": text}})
}
func (a *stub) tell(u map[string]any) {
	a.write(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s1", "update": u}})
}
func (a *stub) say(text string) {
	a.tell(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}})
}

// ask sends a request and gives its answer as text.
func (a *stub) ask(method string, params map[string]any) string {
	a.asked++
	a.write(map[string]any{"id": fmt.Sprintf("q%d", a.asked), "method": method, "params": params})
	m := a.read()
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}

func (a *stub) permission(kind, file string) string {
	call := map[string]any{"toolCallId": kind + file, "title": kind + " " + file, "kind": kind}
	if file != "" {
		call["locations"] = []any{map[string]any{"path": filepath.Join(a.dir, file)}}
	}
	got := a.ask("session/request_permission", map[string]any{"sessionId": "s1", "toolCall": call,
		"options": []any{map[string]any{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"}}})
	switch {
	case strings.Contains(got, `"yes"`):
		return "yes"
	case strings.Contains(got, `"no"`):
		return "no"
	}
	return got
}

func (a *stub) serve(how string) {
	for {
		m := a.read()
		switch m.Method {
		case "initialize":
			switch how {
			case "old":
				a.answer(m.ID, map[string]any{"protocolVersion": 7})
			case "greets":
				fmt.Println("Welcome to the agent!")
				a.answer(m.ID, map[string]any{"protocolVersion": 1})
			case "dies":
				fmt.Println("Segmentation fault")
				os.Exit(9)
			case "servers":
				a.answer(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{"mcpCapabilities": map[string]any{"http": true}}})
			default:
				a.answer(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{}})
			}
		case "session/new":
			var p struct {
				Cwd        string
				MCPServers json.RawMessage
			}
			_ = json.Unmarshal(m.Params, &p)
			a.dir, a.servers = p.Cwd, string(p.MCPServers)
			if how == "login" {
				a.refuse(m.ID, -32000, "Authentication required")
				continue
			}
			a.answer(m.ID, map[string]any{"sessionId": "s1"})
		case "session/prompt":
			a.prompt(how, m)
		}
	}
}

func (a *stub) prompt(how string, m message) {
	end := func(reason string) { a.answer(m.ID, map[string]any{"stopReason": reason}) }
	var p struct {
		Prompt []struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &p)
	switch how {
	case "task", "greets":
		a.say("I look.")
		a.tell(map[string]any{"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Edit main.go", "kind": "edit", "status": "in_progress"})
		a.tell(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"})
		a.say("All ")
		a.say("done.")
		a.answer(m.ID, map[string]any{"stopReason": "end_turn", "usage": map[string]any{"inputTokens": 11, "outputTokens": 5, "totalTokens": 16}})
	case "repeat":
		a.say(p.Prompt[0].Text)
		end("end_turn")
	case "servers":
		a.say(strings.ReplaceAll(a.servers, a.dir, "DIR"))
		end("end_turn")
	case "json":
		a.say("```json\n{\"ok\": true}\n```")
		end("end_turn")
	case "permissions":
		a.say(strings.Join([]string{a.permission("read", ""), a.permission("edit", "src/a.go"), a.permission("edit", "doc/a.md"), a.permission("edit", "src/secret/k"), a.permission("edit", "../x"),
			a.permission("edit", "out/x"), a.permission("edit", ""), a.permission("execute", "src/a.go"), a.permission("strange", "")}, " "))
		end("end_turn")
	case "files":
		file := func(name string) map[string]any {
			return map[string]any{"sessionId": "s1", "path": filepath.Join(a.dir, name)}
		}
		some := file("in.txt")
		some["line"], some["limit"] = 2, 1
		write := file("new/out.txt")
		write["content"] = "written"
		escape := file("out/x")
		escape["content"] = "x"
		for _, got := range []string{a.ask("fs/read_text_file", file("in.txt")), a.ask("fs/read_text_file", some), a.ask("fs/read_text_file", file("../x")), a.ask("fs/read_text_file", file("out/x")),
			a.ask("fs/read_text_file", map[string]any{"path": "/etc/passwd"}), a.ask("fs/write_text_file", write), a.ask("fs/write_text_file", escape), a.ask("terminal/create", map[string]any{})} {
			a.say(strings.ReplaceAll(got, a.dir, "DIR") + "\n")
		}
		end("end_turn")
	case "refusal", "max_tokens", "odd":
		a.say("I would rather not.")
		end(how)
	case "limit":
		a.refuse(m.ID, -32603, "Internal error: API error, status 429: rate limit")
	case "crash":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(1)
	case "slow", "deaf":
		a.say("Half of it.")
		a.tell(map[string]any{"sessionUpdate": "plan", "entries": []any{map[string]any{"content": "count", "status": "in_progress"}}})
		for m := a.read(); m.Method != "session/cancel" || how == "deaf"; m = a.read() {
		}
		fmt.Fprintln(os.Stderr, "told to stop")
		end("cancelled")
	}
}

func newTest(t *testing.T, live func(event.Attempt, string, string)) *Executor {
	t.Helper()
	return newGraceful(t, 2*time.Second, live)
}

func newGraceful(t *testing.T, grace time.Duration, live func(event.Attempt, string, string)) *Executor {
	t.Helper()
	programs := command.New(command.Options{Grace: grace})
	t.Cleanup(programs.Close)
	return New(Options{Programs: programs, Around: executor.Around{Release: "test", Live: live}})
}

func attempt(t *testing.T, how string) event.Attempt {
	t.Helper()
	self, _ := os.Executable()
	return event.Attempt{Ticket: 1, Node: "s", Name: "s", Attempt: 1, Run: "r", Workflow: "w", Kind: event.ACPAgentAttempt, Argv: []string{self, "agent", how}, Dir: t.TempDir(),
		Timeout: 2 * time.Minute, Agent: &event.AgentRequest{Name: "a", Type: "acp", Task: "Do it.", ACP: &ir.ACP{}}}
}

func brief(f event.AttemptFinished) string {
	b := string(f.Outcome)
	if f.Error != nil {
		b += fmt.Sprintf(" %s/%s: %s", f.Error.Kind, f.Error.Reason, f.Error.Message)
	} else {
		b += " " + string(value.Append(nil, f.Output))
	}
	if f.Partial != nil {
		b += " partial=" + string(value.Append(nil, f.Partial))
	}
	return b
}

func TestAgents(t *testing.T) {
	for _, tc := range []struct{ how, wanted, want string }{
		{"task", "", `ok "All done."`},
		{"greets", "", `ok "All done."`},
		{"repeat", "", `ok "Be kind.\n\nDo it.\n\n{\"a\":1}"`},
		{"json", "object({ ok = bool })", `ok {"ok":true}`},
		{"task", "object({ ok = bool })", `error recoverable/bad_json: the last message of the agent is not JSON, which the type of the output needs: at byte 0: invalid character 'A' looking for beginning of value partial="All done."`},
		{"refusal", "", `error blocking/agent: the agent refuses the task: I would rather not. partial="I would rather not."`},
		{"max_tokens", "", `error recoverable/agent: the agent stopped before its task was done: max_tokens partial="I would rather not."`},
		{"odd", "", `error recoverable/agent: the agent ended its turn for a reason that flowrun does not know: odd partial="I would rather not."`},
		{"limit", "", `error rate_limited/agent: session/prompt: the agent answers with error -32603: Internal error: API error, status 429: rate limit`},
		{"login", "", `error blocking/agent: the agent asks for a login: error -32000: Authentication required. Log in with the agent's own program, or give it a key with pass_env`},
		{"old", "", `error blocking/agent: the agent speaks version 7 of the Agent Client Protocol, and flowrun speaks version 1`},
		{"crash", "", `error recoverable/exit: exit code 1; the agent ended the connection before it answered session/prompt`},
		{"dies", "", `error recoverable/exit: exit code 9; the agent ended the connection before it answered initialize; before, it wrote a line that is not a message: Segmentation fault`},
	} {
		t.Run(tc.how+tc.wanted, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var heard []string
			x := newTest(t, func(_ event.Attempt, kind, text string) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, kind+": "+text)
			})
			a := attempt(t, tc.how)
			a.Agent.Wanted = tc.wanted
			if tc.how == "repeat" {
				a.Agent.Soul, a.Agent.With = "Be kind.", map[string]any{"a": 1.0}
			}
			f := x.Execute(context.Background(), a)
			if got := brief(f); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
			if tc.how == "task" && tc.wanted == "" {
				if got, want := strings.Join(heard, "\n"), "progress: Edit main.go (in progress)\nprogress: Edit main.go (completed)\nlog: I look."; got != want {
					t.Errorf("heard:\n%s\nwant:\n%s", got, want)
				}
				if f.Usage == nil || f.Stdout != "I look.\nAll done." {
					t.Errorf("usage %v, stdout %q", f.Usage, f.Stdout)
				}
			}
			if tc.how == "crash" && !strings.Contains(f.Stderr, "out of memory") {
				t.Errorf("stderr %q", f.Stderr)
			}
		})
	}
}

// TestServers hands on the MCP servers of the file. An agent that takes none over HTTP is not asked to.
func TestServers(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"servers": `[{"args":["-c","serve"],"command":"` + shell + `","env":[{"name":"A","value":"1"},{"name":"KEY","value":"k"}],"name":"files"},` +
			`{"args":[],"command":"DIR/bin/notes","env":[],"name":"notes"},{"headers":[{"name":"X-Team","value":"tides"}],"name":"books","type":"http","url":"http://127.0.0.1:1/mcp"}]`,
		"repeat": `error blocking/agent: the agent cannot use the server "books": it takes no servers over HTTP`,
	} {
		a := attempt(t, how)
		a.Agent.Servers = []event.ToolServer{{Name: "files", Argv: []string{"sh", "-c", "serve"}, Env: map[string]string{"KEY": "k", "A": "1"}}, {Name: "notes", Argv: []string{"bin/notes"}},
			{Name: "books", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"X-Team": "tides"}}}
		f := newTest(t, nil).Execute(context.Background(), a)
		got := brief(f)
		if f.Outcome == event.OK {
			got, _ = f.Output.(string)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", how, got, want)
		}
	}
}

// TestPermissions asks for leave: the first rule that matches decides, and without one the answer is no. out is a link that leads out.
func TestPermissions(t *testing.T) {
	a := attempt(t, "permissions")
	if err := os.Symlink(t.TempDir(), filepath.Join(a.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	x := newTest(t, nil)
	for _, tc := range []struct {
		rules []ir.Permission
		want  string
	}{
		{nil, "no no no no no no no no no"},
		{[]ir.Permission{{Allow: true}}, "yes yes yes yes yes yes yes yes yes"},
		{[]ir.Permission{{Kinds: []string{"read", "other"}, Allow: true}}, "yes no no no no no no no yes"},
		{[]ir.Permission{{Kinds: []string{"edit"}, Paths: []string{"src/secret/**"}}, {Kinds: []string{"edit"}, Paths: []string{"src/**", "out/**"}, Allow: true}}, "no yes no no no no no no no"},
		{[]ir.Permission{{Paths: []string{"**/*.md", "*/a.go"}, Allow: true}}, "no yes yes no no no no yes no"},
	} {
		a.Agent.ACP = &ir.ACP{Permissions: tc.rules}
		if got := x.Execute(context.Background(), a).Output; got != tc.want {
			t.Errorf("%+v:\n got %v\nwant %s", tc.rules, got, tc.want)
		}
	}
}

// TestFiles reads and writes files for an agent, and none outside of its folder.
func TestFiles(t *testing.T) {
	x := newTest(t, nil)
	const no = "flowrun does not offer it"
	for access, want := range map[ir.FileAccess][]string{
		"":            {no, no, no, no, no, no, no, "flowrun does not offer terminal/create"},
		ir.FilesRead:  {`{"content":"one\ntwo\nthree\n"}`, `{"content":"two\n"}`, "is not a path below DIR", "openat out/x: path escapes from parent", `"/etc/passwd" is not a path below DIR`, no, no, "flowrun does not offer terminal/create"},
		ir.FilesWrite: {`{"content":"one\ntwo\nthree\n"}`, `{"content":"two\n"}`, "is not a path below DIR", "openat out/x: path escapes from parent", `"/etc/passwd" is not a path below DIR`, "{}", "path escapes from parent", "flowrun does not offer terminal/create"},
	} {
		a := attempt(t, "files")
		outside := t.TempDir()
		for name, text := range map[string]string{filepath.Join(a.Dir, "in.txt"): "one\ntwo\nthree\n", filepath.Join(outside, "x"): "secret"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(a.Dir, "out")); err != nil {
			t.Fatal(err)
		}
		a.Agent.ACP = &ir.ACP{Files: access}
		f := x.Execute(context.Background(), a)
		text, _ := f.Output.(string)
		got := strings.Split(text, "\n")
		for i, w := range want {
			if i >= len(got) || !strings.Contains(got[i], w) {
				t.Fatalf("files = %q, answer %d: %s\nwant %s", access, i, brief(f), w)
			}
		}
		written, _ := os.ReadFile(filepath.Join(a.Dir, "new", "out.txt"))
		if string(written) != map[ir.FileAccess]string{ir.FilesWrite: "written"}[access] {
			t.Errorf("files = %q: wrote %q", access, written)
		}
		if secret, _ := os.ReadFile(filepath.Join(outside, "x")); string(secret) != "secret" {
			t.Error("a file outside was written")
		}
	}
}

// TestSessionsAreCancelled cancels a turn, with an agent that hears of it and one that does not, and lets one take too long.
func TestSessionsAreCancelled(t *testing.T) {
	for _, how := range []string{"slow", "deaf"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			grace := 2 * time.Second // which the deaf one uses up
			if how == "slow" {
				grace = time.Minute
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			x := newGraceful(t, grace, func(_ event.Attempt, _, text string) {
				if text == "count" {
					cancel(executor.Cancelled)
				}
			})
			a := attempt(t, how)
			a.Timeout = 2 * time.Minute
			begun := time.Now()
			f := x.Execute(ctx, a)
			if got := brief(f); got != `error fatal/cancelled: cancelled partial="Half of it."` {
				t.Error(got)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if told := strings.Contains(f.Stderr, "told to stop"); told != (how == "slow") {
				t.Errorf("stderr %q", f.Stderr)
			}
			a.Timeout = 300 * time.Millisecond
			for f = newTest(t, nil).Execute(context.Background(), a); f.Partial == nil && a.Timeout < 30*time.Second; f = newTest(t, nil).Execute(context.Background(), a) {
				a.Timeout *= 10 // on a busy machine the agent may need longer for its first words
			}
			if got, want := brief(f), fmt.Sprintf(`error transient/timeout: timed out after %s partial="Half of it."`, a.Timeout); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
