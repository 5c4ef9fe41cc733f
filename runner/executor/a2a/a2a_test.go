package a2a

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/mask"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stub is a service whose behaviour a word chooses, in one of the two versions of the protocol.
type stub struct {
	*httptest.Server
	how string
	old bool
	// events are what a stream tells; nil: the card names no streams.
	events []any

	mu        sync.Mutex
	asked     int
	methods   []string
	sent      map[string]any
	headers   nethttp.Header
	cancelled bool
}

func newStub(t *testing.T, how string, old bool) *stub {
	t.Helper()
	s := &stub{how: how, old: old}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers = r.Header
	write := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	if r.Method == "GET" {
		at := s.URL + "/rpc"
		switch s.how {
		case "elsewhere":
			at = "http://127.0.0.1:1/rpc"
		case "grpc":
			write(map[string]any{"name": "x", "supportedInterfaces": []any{map[string]any{"url": at, "protocolBinding": "GRPC", "protocolVersion": "1.0"}}})
			return
		case "page":
			fmt.Fprint(w, "<html>")
			return
		case "lost":
			nethttp.NotFound(w, r)
			return
		}
		can := map[string]any{"streaming": s.events != nil}
		if s.old {
			write(map[string]any{"name": "x", "capabilities": can, "url": at, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"})
		} else {
			write(map[string]any{"name": "x", "capabilities": can, "supportedInterfaces": []any{map[string]any{"url": at, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}})
		}
		return
	}
	var q struct {
		ID     any
		Method string
		Params map[string]any
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	s.methods = append(s.methods, q.Method)
	result := func(v any) { write(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": v}) }
	part := func(text string) any {
		p := map[string]any{"text": text}
		if s.old {
			p["kind"] = "text"
		}
		return p
	}
	task := func(state, text string, artifacts ...any) map[string]any {
		if !s.old {
			state = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
		}
		status := map[string]any{"state": state}
		if text != "" {
			status["message"] = map[string]any{"role": "agent", "messageId": "m", "parts": []any{part(text)}}
		}
		t := map[string]any{"id": "t1", "contextId": "c1", "status": status}
		if artifacts != nil {
			t["artifacts"] = []any{map[string]any{"artifactId": "a1", "parts": artifacts}}
		}
		if s.old {
			t["kind"] = "task"
		}
		return t
	}
	wrap := func(t map[string]any) any {
		if s.old || !strings.Contains(strings.ToLower(q.Method), "send") {
			return t
		}
		return map[string]any{"task": t}
	}
	if strings.Contains(strings.ToLower(q.Method), "stream") && s.how != "plain" {
		s.tell(w, r, q.ID)
		return
	}
	switch {
	case strings.Contains(strings.ToLower(q.Method), "cancel"):
		s.cancelled = true
		result(task("canceled", ""))
		return
	case strings.Contains(strings.ToLower(q.Method), "send"):
		s.sent, _ = q.Params["message"].(map[string]any)
	}
	s.asked++
	switch s.how {
	case "message":
		m := map[string]any{"role": "agent", "messageId": "m", "parts": []any{part("hello")}}
		if s.old {
			m["kind"] = "message"
			result(m)
		} else {
			result(map[string]any{"message": m})
		}
	case "plain":
		result(wrap(task("completed", "", part("all at once"))))
	case "task", "json", "wait":
		switch {
		case s.asked < 3 || s.how == "wait":
			result(wrap(task("working", fmt.Sprintf("step %d", min(s.asked, 2)), part("half"))))
		case s.how == "json":
			result(wrap(task("completed", "done", part(`{"n": 1}`))))
		default:
			result(wrap(task("completed", "done", part("one"), part("two"))))
		}
	case "data":
		result(wrap(task("completed", "", map[string]any{"kind": "data", "data": map[string]any{"n": 7}})))
	case "file":
		result(wrap(task("completed", "", part("see"), map[string]any{"raw": "eA==", "filename": "x"})))
	case "said":
		result(wrap(task("completed", "only said")))
	case "failed", "rejected", "canceled", "input-required", "auth-required":
		result(wrap(task(s.how, "because")))
	case "limited":
		w.Header().Set("Retry-After", "9")
		nethttp.Error(w, "slow down", 429)
	case "key":
		nethttp.Error(w, "who are you", 401)
	case "unknown":
		write(map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
	case "internal":
		write(map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": map[string]any{"code": -32603, "message": "upstream status 503"}})
	case "empty":
		result(map[string]any{})
	}
}

// tell answers with a stream. A text among the events is written as it is, "wait" waits until the client is gone, and "break" ends the connection.
func (s *stub) tell(w nethttp.ResponseWriter, r *nethttp.Request, id any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range s.events {
		switch text, _ := e.(string); text {
		case "wait":
			s.mu.Unlock()
			<-r.Context().Done()
			s.mu.Lock()
			return
		case "break":
			panic(nethttp.ErrAbortHandler)
		case "":
			m := map[string]any{"jsonrpc": "2.0", "id": id, "result": e}
			if o, _ := e.(map[string]any); o["code"] != nil {
				m = map[string]any{"jsonrpc": "2.0", "id": id, "error": e}
			}
			line, _ := json.Marshal(m)
			fmt.Fprintf(w, "data: %s\n\n", line)
		default:
			fmt.Fprintf(w, "data: %s\n\n", text)
		}
		_ = nethttp.NewResponseController(w).Flush()
	}
}

// Streams tell of a task as it goes on; one that breaks off leaves the task to be asked for.
func TestStreams(t *testing.T) {
	type o = map[string]any
	for _, old := range []bool{false, true} {
		text := func(said string) o {
			p := o{"text": said}
			if old {
				p["kind"] = "text"
			}
			return p
		}
		spell := func(state string) string {
			if old {
				return state
			}
			return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
		}
		told := func(kind, name string, v o) any {
			if old {
				v["kind"] = kind
				return v
			}
			return o{name: v}
		}
		task := func(state string) any {
			return told("task", "task", o{"id": "t1", "contextId": "c1", "status": o{"state": spell(state)}})
		}
		status := func(state, said string) any {
			st := o{"state": spell(state)}
			if said != "" {
				st["message"] = o{"role": "agent", "messageId": "m", "parts": []any{text(said)}}
			}
			return told("status-update", "statusUpdate", o{"taskId": "t1", "contextId": "c1", "status": st})
		}
		artifact := func(id, said string, more bool) any {
			return told("artifact-update", "artifactUpdate", o{"taskId": "t1", "append": more, "artifact": o{"artifactId": id, "parts": []any{text(said)}}})
		}
		for _, c := range []struct {
			name, how string
			events    []any
			want      string
			heard     string
			asked     bool // for the task
		}{
			{"a task", "task", []any{task("submitted"), status("working", "step 1"), artifact("a", "on", false), artifact("b", "two", false), artifact("a", "e", true), status("completed", "done")},
				`ok "one\ntwo"`, "submitted|working step 1|completed done", false},
			{"an artifact again", "task", []any{task("working"), artifact("a", "old", false), artifact("a", "new", false), status("completed", "")}, `ok "new"`, "", false},
			{"no task but updates", "task", []any{status("working", "go"), artifact("a", "x", false), status("completed", "")}, `ok "x"`, "working go|completed", false},
			{"a message", "task", []any{told("message", "message", o{"role": "agent", "messageId": "m", "parts": []any{text("hello")}})}, `ok "hello"`, "", false},
			{"an unknown event", "task", []any{o{"future": true}, task("working"), status("completed", "said")}, `ok "said"`, "", false},
			{"a failure", "task", []any{task("working"), artifact("a", "half", false), status("failed", "because")}, `error recoverable/agent: the task failed: because partial="half"`, "", false},
			{"a question", "task", []any{task("working"), status("input-required", "which?")}, `error blocking/agent: the agent asks for more, and flowrun has no answer: which?`, "", false},
			{"a refusal", "task", []any{status("rejected", "no")}, `error blocking/agent: the agent rejects the task: no`, "", false},
			{"an error", "task", []any{o{"code": -32602, "message": "bad"}}, `error blocking/agent: URL: METHOD: error -32602: bad`, "", false},
			{"an error in the middle", "task", []any{task("working"), o{"code": -32603, "message": "upstream status 503"}}, `ok "one\ntwo"`, "", true},
			{"an end in the middle", "task", []any{task("working")}, `ok "one\ntwo"`, "", true},
			{"a break in the middle", "task", []any{task("working"), status("working", "step"), "break"}, `ok "one\ntwo"`, "", true},
			{"no JSON in the middle", "task", []any{task("working"), "{"}, `ok "one\ntwo"`, "", true},
			{"nothing", "task", []any{}, `error transient/http: URL: EOF`, "", false},
			{"an event that is too large", "task", []any{task("working"), strings.Repeat("x", sse.MaxEvent+1)}, `error fatal/output_too_large: an event of the agent has 4194305 bytes; an output may have 1048576 (1 MiB)`, "", false},
			{"no stream after all", "plain", []any{}, `ok "all at once"`, "", false},
		} {
			s := newStub(t, c.how, old)
			s.events = c.events
			var heard []string
			x := newTest(t, func(_ event.Attempt, _, text string) { heard = append(heard, text) })
			got := strings.ReplaceAll(strings.ReplaceAll(brief(x.Execute(context.Background(), s.attempt())), s.URL, "URL"), map[bool]string{false: "SendStreamingMessage", true: "message/stream"}[old], "METHOD")
			if got != c.want {
				t.Errorf("%s, old=%t:\n got %s\nwant %s", c.name, old, got, c.want)
			}
			if c.heard != "" && strings.Join(heard, "|") != c.heard {
				t.Errorf("%s, old=%t: heard %q", c.name, old, heard)
			}
			if asked := strings.Contains(strings.ToLower(strings.Join(s.methods, " ")), "get"); asked != c.asked {
				t.Errorf("%s, old=%t: %q", c.name, old, s.methods)
			}
		}
		s := newStub(t, "task", old)
		s.events = []any{task("working"), artifact("a", "half", false), status("working", "on"), "wait"}
		ctx, cancel := context.WithCancelCause(context.Background())
		x := newTest(t, func(_ event.Attempt, _, text string) {
			if text == "working on" {
				cancel(executor.Cancelled)
			}
		})
		if got := brief(x.Execute(ctx, s.attempt())); got != `error fatal/cancelled: cancelled partial="half"` || !s.cancelled {
			t.Errorf("%s, cancelled: %v", got, s.cancelled)
		}
	}
}

func (s *stub) attempt() event.Attempt {
	return event.Attempt{Ticket: 1, Node: "s", Name: "s", Attempt: 1, Run: "r", Workflow: "w", Key: "k1", Kind: event.A2AAgentAttempt, Timeout: time.Minute,
		HTTP: &event.HTTPRequest{URL: s.URL, Method: "POST", Headers: map[string]string{"Authorization": "Bearer sesame-open"}}, Agent: &event.AgentRequest{Name: "a", Type: "a2a", Task: "Do it.", With: map[string]any{"a": 1.0}}}
}

func newTest(t *testing.T, live func(event.Attempt, string, string)) *Executor {
	t.Helper()
	web := http.New(http.Options{})
	t.Cleanup(web.Close)
	return New(Options{Web: web, Around: executor.Around{Live: live}})
}

func brief(f event.AttemptFinished) string {
	b := string(f.Outcome)
	if f.Error != nil {
		b += fmt.Sprintf(" %s/%s", f.Error.Kind, f.Error.Reason)
		if f.Error.RetryAfter > 0 {
			b += fmt.Sprintf(" after=%v", f.Error.RetryAfter)
		}
		b += ": " + f.Error.Message
	} else {
		b += " " + string(value.Append(nil, f.Output))
	}
	if f.Partial != nil {
		b += " partial=" + string(value.Append(nil, f.Partial))
	}
	return b
}

func TestServices(t *testing.T) {
	for _, tc := range []struct{ how, wanted, want string }{
		{"message", "", `ok "hello"`},
		{"task", "", `ok "one\ntwo"`},
		{"json", "object({ n = number })", `ok {"n":1}`},
		{"task", "object({ n = number })", `error recoverable/bad_json: the agent answers with text that is not JSON, which the type of the output needs: at byte 0: invalid character 'o' looking for beginning of value`},
		{"data", "", `ok {"n":7}`},
		{"file", "", `ok {"data":[],"files":[{"filename":"x","raw":"eA=="}],"text":"see"}`},
		{"said", "", `ok "only said"`},
		{"failed", "", `error recoverable/agent: the task failed: because`},
		{"rejected", "", `error blocking/agent: the agent rejects the task: because`},
		{"canceled", "", `error recoverable/agent: the agent cancelled the task: because`},
		{"input-required", "", `error blocking/agent: the agent asks for more, and flowrun has no answer: because`},
		{"auth-required", "", `error blocking/agent: the agent asks for a login. Give it a key in headers: because`},
		{"limited", "", `error rate_limited/http after=9: POST URL: status 429 Too Many Requests: slow down`},
		{"key", "", `error blocking/http: POST URL: status 401 Unauthorized: who are you`},
		{"lost", "", `error blocking/http: GET URL: status 404 Not Found: 404 page not found`},
		{"page", "", `error blocking/agent: URL: the answer is not JSON: at byte 0: invalid character '<' looking for beginning of value`},
		{"grpc", "", `error blocking/agent: URL: the card of the agent names no address for JSON-RPC of the protocol 1.0 or 0.3`},
		{"elsewhere", "", `error blocking/start: URL names an address at another origin, http://127.0.0.1:1, which would receive the headers of the file`},
		{"unknown", "", `error blocking/agent: URL: METHOD: error -32601: no such method`},
		{"internal", "", `error transient/agent: URL: METHOD: error -32603: upstream status 503`},
		{"empty", "", `error recoverable/agent: URL: the answer is neither a task nor a message`},
	} {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s%s old=%v", tc.how, tc.wanted, old), func(t *testing.T) {
				t.Parallel()
				s := newStub(t, tc.how, old)
				var heard []string
				x := newTest(t, func(_ event.Attempt, kind, text string) { heard = append(heard, kind+": "+text) })
				a := s.attempt()
				a.Agent.Wanted = tc.wanted
				f := x.Execute(executor.WithMask(context.Background(), mask.New([]string{"sesame-open"})), a)
				got := strings.ReplaceAll(strings.ReplaceAll(brief(f), s.URL, "URL"), map[bool]string{false: "SendMessage", true: "message/send"}[old], "METHOD")
				if got != tc.want && !(tc.how == "grpc" && old) {
					t.Errorf("\n got %s\nwant %s", got, tc.want)
				}
				if s.sent == nil {
					return
				}
				sent, _ := json.Marshal(s.sent)
				want := `{"messageId":"k1","parts":[{"text":"Do it."},{"data":{"a":1}}],"role":"ROLE_USER"}`
				if old {
					want = `{"kind":"message","messageId":"k1","parts":[{"kind":"text","text":"Do it."},{"data":{"a":1},"kind":"data"}],"role":"user"}`
				}
				if string(sent) != want && tc.wanted == "" {
					t.Errorf("sent %s", sent)
				}
				if s.headers.Get("Authorization") != "Bearer sesame-open" || (s.headers.Get("A2A-Version") == "1.0") == old {
					t.Errorf("headers %v", s.headers)
				}
				if tc.how == "task" && strings.Join(heard, "\n") != "progress: working step 1\nprogress: working step 2\nprogress: completed done" {
					t.Errorf("heard %q", heard)
				}
			})
		}
	}
}

// TestTasksAreCancelled cancels an attempt, and lets one take too long: the service is asked to cancel its task.
func TestTasksAreCancelled(t *testing.T) {
	for _, old := range []bool{false, true} {
		s := newStub(t, "wait", old)
		ctx, cancel := context.WithCancelCause(context.Background())
		x := newTest(t, func(event.Attempt, string, string) { cancel(executor.Cancelled) })
		if got := brief(x.Execute(ctx, s.attempt())); got != `error fatal/cancelled: cancelled partial="half"` || !s.cancelled {
			t.Errorf("%s, cancelled: %v", got, s.cancelled)
		}
		for timeout := 300 * time.Millisecond; ; timeout *= 10 { // on a busy machine the task may need longer to reach the service
			s = newStub(t, "wait", old)
			a := s.attempt()
			a.Timeout = timeout
			if got := brief(newTest(t, nil).Execute(context.Background(), a)); !strings.HasPrefix(got, "error transient/timeout: ") {
				t.Error(got)
			}
			s.mu.Lock()
			cancelled := s.cancelled
			s.mu.Unlock()
			if cancelled {
				break
			} else if timeout > 10*time.Second {
				t.Fatal("the task is not cancelled")
			}
		}
	}
}
