package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/chat"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/mcp"
)

// wanted is a call of a tool that a model makes: its arguments in pieces.
type wanted struct {
	id, name string
	pieces   []string
}

func echo(id, say string) wanted {
	text := js(o{"say": say})
	return wanted{id, "echo", []string{text[:len(text)/2], text[len(text)/2:]}}
}

// object is the arguments as a member of a bigger object; those that are not JSON are a text.
func (w *wanted) object() any {
	var v any
	text := strings.Join(w.pieces, "")
	if text == "" {
		return nil
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// caller writes answers that call tools as one API does, and reads what the model is told of them.
type caller struct {
	// stream is an answer with text and calls, which ends for a reason; mixed tells the pieces of all calls by turns, the last call first.
	stream func(finish, text string, mixed bool, calls ...wanted) []string
	finish string // where tools are called
	whole  func(calls ...wanted) string
	// told are the results in the body of a request.
	told func(body o) []string
}

// turns gives the pieces of calls in the order in which they are told: by call and piece.
func turns(mixed bool, calls []wanted, each func(call, piece int)) {
	if !mixed {
		for i := range calls {
			for j := range calls[i].pieces {
				each(i, j)
			}
		}
		return
	}
	for j, more := 0, true; more; j++ {
		more = false
		for i := len(calls) - 1; i >= 0; i-- {
			if j < len(calls[i].pieces) {
				more = true
				each(i, j)
			}
		}
	}
}

func list(v any) []any { l, _ := v.([]any); return l }

func object(v any) o { m, _ := v.(o); return m }

var callers = map[string]caller{
	"chat completions": {
		finish: "tool_calls",
		stream: func(finish, text string, mixed bool, calls ...wanted) []string {
			out := data(completion(o{"role": "assistant", "content": nil}, nil))
			if text != "" {
				out = append(out, data(completion(o{"content": text}, nil))...)
			}
			for i := range calls { // a call is named before its arguments; not always in the order of the numbers
				if mixed {
					i = len(calls) - 1 - i
				}
				out = append(out, data(completion(o{"tool_calls": []any{o{"index": i, "id": calls[i].id, "type": "function", "function": o{"name": calls[i].name, "arguments": ""}}}}, nil))...)
			}
			turns(mixed, calls, func(i, j int) {
				out = append(out, data(completion(o{"tool_calls": []any{o{"index": i, "function": o{"arguments": calls[i].pieces[j]}}}}, nil))...)
			})
			return append(out, data(completion(o{}, finish), o{"choices": []any{}, "usage": o{"prompt_tokens": 100, "completion_tokens": 7}}, "[DONE]")...)
		},
		whole: func(calls ...wanted) string {
			var all []any
			for _, c := range calls {
				all = append(all, o{"id": c.id, "type": "function", "function": o{"name": c.name, "arguments": strings.Join(c.pieces, "")}})
			}
			return js(o{"choices": []any{o{"index": 0, "message": o{"role": "assistant", "content": nil, "tool_calls": all}, "finish_reason": "tool_calls"}}, "usage": o{"prompt_tokens": 100, "completion_tokens": 7}})
		},
		told: func(body o) (out []string) {
			for _, m := range list(body["messages"]) {
				if object(m)["role"] == "tool" {
					out = append(out, fmt.Sprint(object(m)["tool_call_id"], ": ", object(m)["content"]))
				}
			}
			return out
		},
	},
	"responses": {
		finish: "completed",
		stream: func(finish, text string, mixed bool, calls ...wanted) []string {
			out := named(o{"type": "response.created", "response": o{"status": "in_progress"}})
			output := []any{}
			if text != "" {
				out = append(out, named(o{"type": "response.output_text.delta", "delta": text})...)
				output = append(output, o{"type": "message", "content": []any{o{"type": "output_text", "text": text}}})
			}
			turns(mixed, calls, func(i, j int) {
				out = append(out, named(o{"type": "response.function_call_arguments.delta", "output_index": i, "delta": calls[i].pieces[j]})...)
			})
			for _, c := range calls {
				item := o{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.name, "arguments": strings.Join(c.pieces, "")}
				output = append(output, item)
				out = append(out, named(o{"type": "response.output_item.done", "item": item})...)
			}
			r := o{"status": "completed", "output": output, "usage": o{"input_tokens": 100, "output_tokens": 7}}
			if finish != "completed" {
				r["status"], r["incomplete_details"] = "incomplete", o{"reason": finish}
				return append(out, named(o{"type": "response.incomplete", "response": r})...)
			}
			return append(out, named(o{"type": "response.completed", "response": r})...)
		},
		whole: func(calls ...wanted) string {
			output := []any{o{"type": "reasoning"}}
			for _, c := range calls {
				output = append(output, o{"type": "function_call", "call_id": c.id, "name": c.name, "arguments": strings.Join(c.pieces, "")})
			}
			return js(o{"status": "completed", "output": output, "usage": o{"input_tokens": 100, "output_tokens": 7}})
		},
		told: func(body o) (out []string) {
			for _, m := range list(body["input"]) {
				if object(m)["type"] == "function_call_output" {
					out = append(out, fmt.Sprint(object(m)["call_id"], ": ", object(m)["output"]))
				}
			}
			return out
		},
	},
	"anthropic": {
		finish: "tool_use",
		stream: func(finish, text string, mixed bool, calls ...wanted) []string {
			out := named(o{"type": "message_start", "message": o{"role": "assistant", "usage": o{"input_tokens": 100, "output_tokens": 1}}})
			first := 0
			if text != "" {
				first = 1
				out = append(out, named(o{"type": "content_block_start", "index": 0, "content_block": o{"type": "text", "text": ""}},
					o{"type": "content_block_delta", "index": 0, "delta": o{"type": "text_delta", "text": text}}, o{"type": "content_block_stop", "index": 0})...)
			}
			begin := func(i int) {
				out = append(out, named(o{"type": "content_block_start", "index": first + i, "content_block": o{"type": "tool_use", "id": calls[i].id, "name": calls[i].name, "input": o{}}})...)
			}
			if mixed {
				for i := range calls {
					begin(len(calls) - 1 - i)
				}
			}
			begun := -1
			turns(mixed, calls, func(i, j int) {
				for ; !mixed && begun < i; begun++ {
					begin(begun + 1)
				}
				out = append(out, named(o{"type": "content_block_delta", "index": first + i, "delta": o{"type": "input_json_delta", "partial_json": calls[i].pieces[j]}})...)
			})
			for ; !mixed && begun < len(calls)-1; begun++ {
				begin(begun + 1)
			}
			for i := range calls {
				out = append(out, named(o{"type": "content_block_stop", "index": first + i})...)
			}
			return append(out, named(o{"type": "message_delta", "delta": o{"stop_reason": finish}, "usage": o{"output_tokens": 7}}, o{"type": "message_stop"})...)
		},
		whole: func(calls ...wanted) string {
			var content []any
			for _, c := range calls {
				content = append(content, o{"type": "tool_use", "id": c.id, "name": c.name, "input": c.object()})
			}
			return js(o{"type": "message", "content": content, "stop_reason": "tool_use", "usage": o{"input_tokens": 100, "output_tokens": 7}})
		},
		told: func(body o) (out []string) {
			for _, m := range list(body["messages"]) {
				for _, part := range list(object(m)["content"]) {
					if p := object(part); p["type"] == "tool_result" {
						out = append(out, fmt.Sprint(p["tool_use_id"], ": ", p["content"]))
					}
				}
			}
			return out
		},
	},
	"gemini": {
		finish: "STOP",
		stream: func(finish, text string, mixed bool, calls ...wanted) []string {
			var out []string
			if text != "" {
				out = data(candidate(text, nil))
			}
			for i, c := range calls {
				call := o{"name": c.name, "id": c.id}
				if args := c.object(); args != nil {
					call["args"] = args
				}
				out = append(out, data(o{"candidates": []any{o{"index": 0, "content": o{"role": "model", "parts": []any{o{"functionCall": call, "thoughtSignature": fmt.Sprint("signed", i)}}}}}})...)
			}
			return append(out, data(o{"candidates": []any{o{"index": 0, "content": o{"parts": []any{}}, "finishReason": finish}},
				"usageMetadata": o{"promptTokenCount": 100, "candidatesTokenCount": 7}})...)
		},
		whole: func(calls ...wanted) string {
			var parts []any
			for _, c := range calls {
				parts = append(parts, o{"functionCall": o{"name": c.name, "id": c.id, "args": c.object()}})
			}
			return js(o{"candidates": []any{o{"index": 0, "content": o{"parts": parts}, "finishReason": "STOP"}}, "usageMetadata": o{"promptTokenCount": 100, "candidatesTokenCount": 7}})
		},
		told: func(body o) (out []string) {
			for _, m := range list(body["contents"]) {
				for _, part := range list(object(m)["parts"]) {
					if r := object(object(part)["functionResponse"]); r != nil {
						for _, text := range object(r["response"]) { // there is one
							id := r["id"]
							if id == nil {
								id = ""
							}
							out = append(out, fmt.Sprint(id, ": ", text))
						}
					}
				}
			}
			return out
		},
	},
}

// toolServer is a server of the official SDK with tools, and what it was asked.
type toolServer struct {
	url string
	sync.Mutex
	called []string
}

func newToolServer(t testing.TB) *toolServer {
	s := sdk.NewServer(&sdk.Implementation{Name: "stub", Version: "1"}, nil)
	tools := &toolServer{}
	type in struct {
		Say string `json:"say"`
	}
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	note := func(name string, v any) {
		tools.Lock()
		defer tools.Unlock()
		tools.called = append(tools.called, name+" "+js(v))
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, i in) (*sdk.CallToolResult, any, error) {
		note("echo", i)
		return text("echo: " + i.Say), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "notes.fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		note("fail", nil)
		return nil, nil, errors.New("no such note")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "large"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		note("large", nil)
		return text(strings.Repeat("All work and no play. ", 20000)), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "slow"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		note("slow", nil)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(s, &sdk.Tool{Name: "secret_tool"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		note("secret_tool", nil)
		return text("you should not be here"), nil, nil
	})
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*nethttp.Request) *sdk.Server { return s }, nil))
	t.Cleanup(srv.Close)
	tools.url = srv.URL
	return tools
}

func (s *toolServer) take() []string {
	s.Lock()
	defer s.Unlock()
	out := s.called
	s.called = nil
	slices.Sort(out)
	return out
}

// withTools gives an attempt the tools of a server.
func withTools(a event.Attempt, s *toolServer) event.Attempt {
	a.Agent.Chat.MaxTurns = 5
	a.Agent.Servers = []event.ToolServer{{Name: "stub", URL: s.url, Tools: []event.ToolRequest{{Name: "echo"}, {Name: "notes.fail"}, {Name: "large"}, {Name: "slow"}}}}
	return a
}

// model answers its requests with streams, one after the other; the last one stays.
type model struct {
	sync.Mutex
	streams []stream
	bodies  []o
}

func (m *model) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	text, _ := io.ReadAll(r.Body)
	var body o
	_ = json.Unmarshal(text, &body)
	m.Lock()
	m.bodies = append(m.bodies, body)
	s := m.streams[min(len(m.bodies), len(m.streams))-1]
	m.Unlock()
	s.send(w)
}

func newModel(t testing.TB, streams ...stream) (m *model, url string) {
	m = &model{streams: streams}
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	return m, srv.URL
}

func newWithTools(t testing.TB, said func(text string)) *chat.Executor {
	hear := func(_ event.Attempt, _, text string) {
		if said != nil {
			said(text)
		}
	}
	x := http.New(http.Options{Live: hear})
	t.Cleanup(x.Close)
	return chat.New(x, mcp.New(mcp.Options{Web: x, Around: executor.Around{Live: hear}}), []string{})
}

// toolStream is an answer that calls tools, what the tools are asked, and what the model is told, or else what comes of it.
type toolStream struct {
	name   string
	first  stream
	called []string
	told   []string // texts that stand in the results, in order
	want   string   // "" is: the model answers with Done.
}

func toolStreams(api string) []toolStream {
	v, c := voices[api], callers[api]
	one, two := echo("t1", "hi 海"), echo("t2", "ho")
	good := c.stream(c.finish, "", false, one)
	whole := strings.Join(good, "")
	frames := func(calls ...wanted) stream { return stream{frames: c.stream(c.finish, "", false, calls...)} }
	says := []string{`echo {"say":"hi 海"}`}
	hears := []string{"t1: echo: hi 海"}
	both := []string{`echo {"say":"hi 海"}`, `echo {"say":"ho"}`}
	hearsBoth := []string{"t1: echo: hi 海", "t2: echo: ho"}
	inPieces := func(n int) wanted {
		text := js(o{"say": "hi 海"})
		w := wanted{id: "t1", name: "echo"}
		for len(text) > 0 {
			at := min(n, len(text))
			for at < len(text) && text[at]&0xC0 == 0x80 {
				at++
			}
			w.pieces, text = append(w.pieces, text[:at]), text[at:]
		}
		return w
	}
	var out []toolStream
	add := func(name string, s stream, called, told []string, want string) {
		out = append(out, toolStream{name, s, called, told, want})
	}
	add("a call", stream{frames: good}, says, hears, "")
	for _, n := range []int{1, 2, 3, 5, 7, 11, 64} {
		add(fmt.Sprintf("a call in chunks of %d bytes", n), stream{frames: good, chunk: n}, says, hears, "")
		add(fmt.Sprintf("arguments in pieces of %d", n), frames(inPieces(n)), says, hears, "")
	}
	add("with other line ends", stream{frames: []string{strings.ReplaceAll(whole, "\n", "\r\n")}}, says, hears, "")
	add("with comments", stream{frames: []string{strings.ReplaceAll(whole, "\n\n", "\n\n: ping\n\n")}}, says, hears, "")
	add("words beside a call", stream{frames: c.stream(c.finish, "Let me look.", false, one)}, says, hears, "")
	add("two calls", frames(one, two), both, hearsBoth, "")
	add("two calls, told by turns, the last one first", stream{frames: c.stream(c.finish, "", true, one, two)}, both, hearsBoth, "")
	add("two calls, by turns, in single bytes", stream{frames: c.stream(c.finish, "", true, inPieces(1), two), chunk: 1}, both, hearsBoth, "")
	add("two equal ids", frames(one, echo("t1", "ho")), both, []string{"t1: echo: hi 海", ": echo: ho"}, "")
	add("no ids", frames(echo("", "hi 海"), echo("", "ho")), both, []string{": echo: hi 海", ": echo: ho"}, "")
	add("a call that has ended as an answer does", stream{frames: c.stream(v.stop, "", false, one)}, says, hears, "")
	add("a whole answer", stream{plain: true, frames: []string{c.whole(one, two)}}, both, hearsBoth, "")
	add("half a whole answer", stream{plain: true, frames: []string{c.whole(one)[:40]}}, nil, nil, "transient http")

	add("arguments that are not JSON", frames(wanted{"t1", "echo", []string{"{'say'", ": 'hi'}"}}), nil, []string{"the arguments are not"}, "")
	add("half the arguments", frames(wanted{"t1", "echo", []string{`{"say": "h`}}), nil, []string{"the arguments are not"}, "")
	add("two objects as arguments", frames(wanted{"t1", "echo", []string{`{"say":"a"}`, `{"say":"b"}`}}), nil, []string{"the arguments are not"}, "")
	add("a list as arguments", frames(wanted{"t1", "echo", []string{`["hi"]`}}), nil, []string{"the arguments are not an object"}, "")
	add("a number as arguments", frames(wanted{"t1", "echo", []string{`1`}}), nil, []string{"the arguments are not an object"}, "")
	add("deep arguments", frames(wanted{"t1", "echo", []string{strings.Repeat("[", 20000)}}), nil, []string{"the arguments are not"}, "")
	add("no arguments", frames(wanted{"t1", "notes_fail", nil}), []string{"fail null"}, []string{"no such note"}, "")
	add("null as arguments", frames(wanted{"t1", "notes_fail", []string{"null"}}), []string{"fail null"}, []string{"no such note"}, "")
	add("a tool that fails beside one that does not", frames(wanted{"t1", "notes_fail", []string{"{}"}}, two), []string{`echo {"say":"ho"}`, "fail null"}, []string{"t1: no such note", "t2: echo: ho"}, "")
	add("arguments that the tool does not take", frames(wanted{"t1", "echo", []string{`{"sai":"hi"}`}}), nil, []string{"sai"}, "")
	add("an unknown tool", frames(wanted{"t1", "shell", []string{`{"cmd":"rm"}`}}), nil, []string{"There is no such tool. The tools are echo, notes_fail, large, slow."}, "")
	add("a tool that the file does not allow", frames(wanted{"t1", "secret_tool", []string{"{}"}}), nil, []string{"There is no such tool."}, "")
	add("a tool by its name at the server", frames(wanted{"t1", "notes.fail", []string{"{}"}}), nil, []string{"There is no such tool."}, "")
	add("a tool without a name", frames(wanted{"t1", "", []string{"{}"}}), nil, []string{"There is no such tool."}, "")
	add("the tool that gives an answer, where none is wanted", frames(wanted{"t1", "answer", []string{"{}"}}), nil, []string{"Call this tool alone"}, "")
	add("a long result", frames(wanted{"t1", "large", []string{"{}"}}), []string{"large null"}, []string{"(the first 262144 of 440000 bytes)"}, "")
	many := make([]wanted, 60)
	for i := range many {
		many[i] = echo(fmt.Sprint("m", i), "x")
	}
	add("60 calls", frames(many...), slices.Repeat([]string{`echo {"say":"x"}`}, 60), []string{"m0: echo: x"}, "")
	add("too many calls", frames(append(append(slices.Clone(many), many...), many...)...), nil, nil, "transient http")
	add("arguments that are too large", frames(wanted{"t1", "echo", slices.Repeat([]string{`"` + strings.Repeat("y", 60000)}, 20)}), nil, nil, "fatal output_too_large")

	add("cut at the bound of tokens", stream{frames: c.stream(v.length, "", false, one)}, nil, nil, "blocking max_tokens")
	middle := good[:max(1, len(good)-3)]
	add("overload in the middle", stream{frames: append(slices.Clone(middle), v.failure(v.overload, "The model is overloaded."))}, nil, nil, "rate_limited http")
	add("a limit in the middle", stream{frames: append(slices.Clone(middle), v.failure(v.limit, "Limit reached. Please try again in 2s."))}, nil, nil, "rate_limited http 2")
	add("a failure in the middle", stream{frames: append(slices.Clone(middle), v.failure(v.internal, "Something broke."))}, nil, nil, "transient http")
	add("an event that is not JSON in the middle", stream{frames: append(slices.Clone(middle), "data: {\"oops\n\n")}, nil, nil, "transient http")
	ends := len(whole) - 2
	if api == "anthropic" {
		ends = len(strings.Join(good[:len(good)-1], "")) - 2
	} else if api == "chat completions" {
		ends = len(strings.Join(good[:len(good)-2], "")) - 2
	}
	for i := 1; i <= 12; i++ {
		at := len(whole) * i / 13
		for _, abort := range []bool{false, true} {
			name := fmt.Sprintf("cut at byte %d, broken: %t", at, abort)
			if s := (stream{frames: []string{whole[:at]}, abort: abort, chunk: 50}); at >= ends {
				add(name, s, says, hears, "")
			} else {
				add(name, s, nil, nil, "transient http")
			}
		}
	}
	return out
}

// Each stream that calls tools has the right tools called with the right arguments, and tells the model what they gave; or it is the right
// error, and no tool is called. A tool that the file does not name is never called.
func TestToolStreams(t *testing.T) {
	tools := newToolServer(t)
	for api := range callers {
		v, c := voices[api], callers[api]
		x := newWithTools(t, nil)
		count, bad := 0, 0
		for _, s := range toolStreams(api) {
			count++
			wrong := func(format string, args ...any) {
				bad++
				t.Errorf("%s: %s: %s", api, s.name, fmt.Sprintf(format, args...))
			}
			m, url := newModel(t, s.first, stream{frames: v.answer(v.stop, "Done.")})
			began := time.Now()
			f := x.Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
			want := s.want
			if want == "" {
				want = `ok "Done."`
			}
			if got := outcome(&f); got != want {
				wrong("%s, want %s: %+v", got, want, f.Error)
				continue
			}
			if got := tools.take(); !slices.Equal(got, s.called) {
				wrong("called %q, want %q", got, s.called)
			}
			if s.want == "" {
				got := c.told(m.bodies[len(m.bodies)-1])
				if len(got) < len(s.told) || slices.ContainsFunc(s.told, func(text string) bool { return !strings.Contains(strings.Join(got, "\n"), text) }) {
					wrong("told %.300q, want %q", got, s.told)
				}
				if u := f.Usage; u == nil || (u.OutputTokens < 14 || u.InputTokens < 200) && !strings.HasPrefix(s.name, "cut at") {
					wrong("usage %+v", u)
				}
			}
			if time.Since(began) > 30*time.Second || strings.Contains(js(f), "canary") {
				wrong("%s, %s", time.Since(began), js(f))
			}
		}
		t.Logf("%s: %d streams with calls, %d wrong", api, count, bad)
		if count < 60 {
			t.Errorf("%s: %d streams", api, count)
		}
	}
}

// What is sent back has the form that each provider wants: the calls as the model made them, then the results.
func TestTurns(t *testing.T) {
	tools := newToolServer(t)
	const echoSchema = `{"additionalProperties":false,"properties":{"say":{"type":"string"}},"required":["say"],"type":"object"}`
	for api, want := range map[string]struct{ turn, tool string }{
		"chat completions": {`[{"content":"Look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"say\":\"hi\"}","name":"echo"},"id":"t1","type":"function"}]},{"content":"echo: hi","role":"tool","tool_call_id":"t1"}]`,
			`{"function":{"description":"Says it again.","name":"echo","parameters":` + echoSchema + `},"type":"function"}`},
		"responses": {`[{"content":[{"text":"Look.","type":"output_text"}],"role":"assistant"},{"arguments":"{\"say\":\"hi\"}","call_id":"t1","name":"echo","type":"function_call"},{"call_id":"t1","output":"echo: hi","type":"function_call_output"}]`,
			`{"description":"Says it again.","name":"echo","parameters":` + echoSchema + `,"strict":false,"type":"function"}`},
		"anthropic": {`[{"content":[{"text":"Look.","type":"text"},{"id":"t1","input":{"say":"hi"},"name":"echo","type":"tool_use"}],"role":"assistant"},{"content":[{"content":"echo: hi","is_error":false,"tool_use_id":"t1","type":"tool_result"}],"role":"user"}]`,
			`{"description":"Says it again.","input_schema":` + echoSchema + `,"name":"echo"}`},
		"gemini": {`[{"parts":[{"text":"Look."},{"functionCall":{"args":{"say":"hi"},"id":"t1","name":"echo"},"thoughtSignature":"signed0"}],"role":"model"},{"parts":[{"functionResponse":{"id":"t1","name":"echo","response":{"output":"echo: hi"}}}],"role":"user"}]`,
			`{"functionDeclarations":[{"description":"Says it again.","name":"echo","parametersJsonSchema":` + echoSchema + `}]}`},
	} {
		v, c := voices[api], callers[api]
		m, url := newModel(t, stream{frames: c.stream(c.finish, "Look.", false, wanted{"t1", "echo", []string{`{"say":"hi"}`}})}, stream{frames: v.answer(v.stop, "Done.")})
		a := withTools(attemptOf(v, url, false), tools)
		a.Agent.Servers[0].Tools = a.Agent.Servers[0].Tools[:1]
		var said []string
		f := newWithTools(t, func(text string) { said = append(said, text) }).Execute(t.Context(), a)
		if f.Outcome != event.OK || len(m.bodies) != 2 {
			t.Errorf("%s: %+v", api, f.Error)
			continue
		}
		messages := list(m.bodies[1][map[string]string{"chat completions": "messages", "anthropic": "messages", "responses": "input", "gemini": "contents"}[api]])
		from := 1
		if api == "chat completions" {
			from = 2
		}
		if got := js(messages[from:]); got != want.turn {
			t.Errorf("%s:\n got %s\nwant %s", api, got, want.turn)
		}
		if got := js(list(m.bodies[0]["tools"])[0]); got != want.tool {
			t.Errorf("%s:\n got %s\nwant %s", api, got, want.tool)
		}
		if !slices.Contains(said, `tool echo of stub {"say":"hi"}`) {
			t.Errorf("%s: progress %q", api, said)
		}
	}
}

// An answer with a type comes after tools, too. Of the providers that give it by a call, one beside calls of tools is asked for again.
func TestTypedAnswerAfterTools(t *testing.T) {
	tools := newToolServer(t)
	for api := range callers {
		v, c := voices[api], callers[api]
		last := stream{frames: v.typed(`{"su`, `m": 42}`)}
		first := []wanted{echo("t1", "hi")}
		if api == "gemini" {
			last = stream{frames: c.stream(c.finish, "", false, wanted{"t9", "answer", []string{`{"sum": 42}`}})}
		}
		if v.provider != ir.OpenAI {
			first = append(first, wanted{"t2", "answer", []string{`{"sum": 1}`}})
		}
		m, url := newModel(t, stream{frames: c.stream(c.finish, "", false, first...)}, last)
		f := newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, true), tools))
		if got := outcome(&f); got != `ok {"sum":42}` {
			t.Errorf("%s: %s %+v", api, got, f.Error)
		}
		if told := c.told(m.bodies[1]); len(told) != len(first) || len(first) > 1 && !strings.Contains(told[1], "Call this tool alone") {
			t.Errorf("%s: told %q", api, told)
		}
	}
}

// A model that calls tools forever is stopped, and what it used counts; so does what it used before a failure.
func TestTurnsAreBounded(t *testing.T) {
	tools := newToolServer(t)
	for api := range callers {
		v, c := voices[api], callers[api]
		again := stream{frames: c.stream(c.finish, "", false, echo("t1", "hi"))}
		m, url := newModel(t, again)
		f := newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
		if got := outcome(&f); got != "blocking max_turns" || len(m.bodies) != 5 || f.Usage.OutputTokens != 35 || len(tools.take()) != 4 {
			t.Errorf("%s: %s after %d requests, %+v", api, got, len(m.bodies), f.Usage)
		}
		_, url = newModel(t, again, stream{status: 429, header: map[string]string{"Retry-After": "30"}, frames: []string{v.status(v.limit, "Slow down.")}})
		f = newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
		if got := outcome(&f); got != "rate_limited http 30" || f.Usage == nil || f.Usage.OutputTokens != 7 {
			t.Errorf("%s: %s %+v", api, got, f.Usage)
		}
		tools.take()
	}
}

// A conversation stays below its bound: older results give way to a summary, and the task is in each request.
func TestConversationIsBounded(t *testing.T) {
	tools := newToolServer(t)
	for api := range callers {
		v, c := voices[api], callers[api]
		var streams []stream
		for i := range 12 {
			streams = append(streams, stream{frames: c.stream(c.finish, "", false, wanted{fmt.Sprint("t", i), "large", []string{"{}"}})})
		}
		m, url := newModel(t, append(streams, stream{frames: v.answer(v.stop, "Done.")})...)
		a := withTools(attemptOf(v, url, false), tools)
		a.Agent.Chat.MaxTurns, a.Agent.Chat.ContextTokens = 20, 4000
		f := newWithTools(t, nil).Execute(t.Context(), a)
		if got := outcome(&f); got != `ok "Done."` || len(m.bodies) != 13 {
			t.Fatalf("%s: %s %+v", api, got, f.Error)
		}
		summarized := 0
		for i, body := range m.bodies {
			text := js(body)
			if n := (2*len(text) + 6) / 7; n > 4000 {
				t.Errorf("%s: request %d has about %d tokens", api, i, n)
			}
			if !strings.Contains(text, "Explain tides.") {
				t.Errorf("%s: request %d has no task", api, i)
			}
			if strings.Contains(text, "earlier messages of this conversation") {
				summarized++
			}
			if i > 0 && !strings.Contains(strings.Join(c.told(body), "\n"), fmt.Sprintf("t%d: All work", i-1)) {
				t.Errorf("%s: request %d lacks the last result: %.200q", api, i, c.told(body))
			}
		}
		if summarized < 5 {
			t.Errorf("%s: %d of the requests have a summary", api, summarized)
		}
		a.Agent.Soul = strings.Repeat("You are a poet. ", 2000)
		if f = newWithTools(t, nil).Execute(t.Context(), a); outcome(&f) != "blocking context_length" {
			t.Errorf("%s: %s %+v", api, outcome(&f), f.Error)
		}
		tools.take()
	}
}

// A description that is not the pinned one, a tool that is not there and a server that is not there fail the attempt before the model is asked.
func TestServersAreChecked(t *testing.T) {
	tools := newToolServer(t)
	v := voices["anthropic"]
	m, url := newModel(t, stream{frames: v.answer(v.stop, "Done.")})
	for _, c := range []struct {
		name   string
		change func(*event.ToolServer)
		want   string
		says   string
	}{
		{"another description", func(s *event.ToolServer) {
			s.Tools[0].Pin = value.Value(map[string]any{"name": "echo", "description": "Says it.", "inputSchema": map[string]any{}})
		}, "blocking pin", `server "stub": the server describes the tool "echo" in other words than its pin: description`},
		{"no such tool", func(s *event.ToolServer) { s.Tools[0].Name = "ecko" }, "blocking agent", `the server has no tool "ecko"; it has echo, large`},
		{"no server", func(s *event.ToolServer) { s.URL = "http://127.0.0.1:1/" }, "transient http", "refused"},
	} {
		a := withTools(attemptOf(v, url, false), tools)
		c.change(&a.Agent.Servers[0])
		f := newWithTools(t, nil).Execute(t.Context(), a)
		if got := outcome(&f); got != c.want || !strings.Contains(f.Error.Message, c.says) {
			t.Errorf("%s: %s %+v", c.name, got, f.Error)
		}
	}
	if len(m.bodies) != 0 {
		t.Errorf("the model was asked %d times", len(m.bodies))
	}
}

// Names of tools that a provider does not take, or that two servers have, are made ones that it takes; a call reaches the right server.
func TestTwoServers(t *testing.T) {
	one, two := newToolServer(t), newToolServer(t)
	v, c := voices["chat completions"], callers["chat completions"]
	_, url := newModel(t, stream{frames: c.stream(c.finish, "", false, wanted{"t1", "other_echo", []string{`{"say":"hi"}`}})}, stream{frames: v.answer(v.stop, "Done.")})
	a := withTools(attemptOf(v, url, false), one)
	a.Agent.Servers = append(a.Agent.Servers, event.ToolServer{Name: "other", URL: two.url, Tools: []event.ToolRequest{{Name: "echo"}}})
	f := newWithTools(t, nil).Execute(t.Context(), a)
	if f.Outcome != event.OK || len(one.take()) != 0 || len(two.take()) != 1 {
		t.Errorf("%+v", f.Error)
	}
}

// The key is not sent to a tool, and not back to the model as part of the conversation, where the model says it in pieces.
func TestKeyIsNotSentToTools(t *testing.T) {
	tools := newToolServer(t)
	for api := range callers {
		v, c := voices[api], callers[api]
		m, url := newModel(t, stream{frames: c.stream(c.finish, "Your key is sk-canary-0123456789.", false, wanted{"t1", "echo", []string{`{"say":"sk-can`, `ary-0123`, `456789"}`}})}, stream{frames: v.answer(v.stop, "Done.")})
		var mu sync.Mutex
		var said []string
		f := newWithTools(t, func(text string) { mu.Lock(); said = append(said, text); mu.Unlock() }).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
		called := tools.take()
		if text := js(f) + strings.Join(called, "|") + strings.Join(said, "|") + js(m.bodies); f.Outcome != event.OK || strings.Contains(text, "canary") || len(called) != 1 {
			t.Errorf("%s: %+v %s", api, f.Error, text)
		}
	}
}

// A tool that takes too long, is silent for too long, or whose attempt is cancelled ends the attempt in time, with the right error.
func TestSlowTools(t *testing.T) {
	tools := newToolServer(t)
	v, c := voices["anthropic"], callers["anthropic"]
	_, url := newModel(t, stream{frames: c.stream(c.finish, "", false, wanted{"t1", "slow", nil})})
	for name, want := range map[string]string{"timeout": "transient timeout", "silent": "transient lost", "cancelled": "fatal cancelled"} {
		a := withTools(attemptOf(v, url, false), tools)
		ctx, cancel := context.WithCancel(t.Context())
		switch name {
		case "timeout":
			a.Timeout = 300 * time.Millisecond
		case "silent":
			a.Agent.Heartbeat = 300 * time.Millisecond
		case "cancelled":
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		began := time.Now()
		f := newWithTools(t, nil).Execute(ctx, a)
		if got := outcome(&f); got != want || time.Since(began) > 30*time.Second {
			t.Errorf("%s: %s after %s: %+v", name, got, time.Since(began), f.Error)
		}
		cancel()
	}
}
