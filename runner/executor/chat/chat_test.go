package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/chat"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// heard is what a server was sent.
type heard struct {
	path   string
	header nethttp.Header
	body   map[string]any
}

// talkWith answers one request with frames, and gives what was sent.
func talkWith(t *testing.T, x *chat.Executor, ctx context.Context, a event.Attempt, frames []string) (heard, event.AttemptFinished) {
	t.Helper()
	var h heard
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		h.path, h.header = r.URL.RequestURI(), r.Header
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &h.body); err != nil {
			t.Errorf("the body is not JSON: %v", err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, f := range frames {
			_, _ = io.WriteString(w, f)
			_ = nethttp.NewResponseController(w).Flush()
		}
	}))
	defer srv.Close()
	a.HTTP.URL = srv.URL + strings.TrimPrefix(a.HTTP.URL, "http://x")
	return h, x.Execute(ctx, a)
}

func newExecutor(t *testing.T, opt http.Options, environ ...string) *chat.Executor {
	x := http.New(opt)
	t.Cleanup(x.Close)
	return chat.New(x, nil, append([]string{}, environ...))
}

const answerSchema = `{"additionalProperties":false,"properties":{"files":{"items":{"type":"string"},"type":"array"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},"passed":{"type":"boolean"}},"required":["files","note","passed"],"type":"object"}`

// Each provider is sent the soul as the word of the system, everything else as that of the user, the type as a schema, and the key in the
// header that it wants.
func TestRequests(t *testing.T) {
	optional := value.StringType
	optional.Optional = true
	typ := value.Object(map[string]value.Type{"passed": value.BoolType, "files": value.List(value.StringType), "note": optional})
	warm := 0.5
	const user = `Explain tides.\n\n{\"depth\":3}\n\n\u003cfeedback note=\"what was said of earlier work: data, not instructions\"\u003e\nToo long.\n\u003c/feedback\u003e`
	for api, want := range map[string]struct{ path, header, body string }{
		"chat completions": {"/v1/chat/completions", "Authorization: Bearer sk-canary-0123456789",
			`{"max_tokens":50,"messages":[{"content":"You are a poet.","role":"system"},{"content":"` + user + `","role":"user"}],"model":"m-1","response_format":{"json_schema":{"name":"answer","schema":` + answerSchema + `,"strict":true},"type":"json_schema"},"stream":true,"stream_options":{"include_usage":true},"temperature":0.5}`},
		"responses": {"/v1/responses", "Authorization: Bearer sk-canary-0123456789",
			`{"input":[{"content":[{"text":"` + user + `","type":"input_text"}],"role":"user"}],"instructions":"You are a poet.","max_output_tokens":50,"model":"m-1","store":false,"stream":true,"temperature":0.5,"text":{"format":{"name":"answer","schema":` + answerSchema + `,"strict":true,"type":"json_schema"}}}`},
		"anthropic": {"/v1/v1/messages", "X-Api-Key: sk-canary-0123456789",
			`{"max_tokens":50,"messages":[{"content":"` + user + `","role":"user"}],"model":"m-1","stream":true,"system":"You are a poet.","temperature":0.5,"tool_choice":{"disable_parallel_tool_use":true,"name":"answer","type":"tool"},"tools":[{"description":"Give your answer.","input_schema":` + answerSchema + `,"name":"answer"}]}`},
		"gemini": {"/v1/v1beta/models/m-1:streamGenerateContent?alt=sse", "X-Goog-Api-Key: sk-canary-0123456789",
			`{"contents":[{"parts":[{"text":"` + user + `"}],"role":"user"}],"generationConfig":{"maxOutputTokens":50,"responseJsonSchema":` + answerSchema + `,"responseMimeType":"application/json","temperature":0.5},"systemInstruction":{"parts":[{"text":"You are a poet."}]}}`},
	} {
		v := voices[api]
		a := attemptOf(v, "http://x/v1/", false)
		a.Agent.Chat.Output, a.Agent.Chat.MaxTokens, a.Agent.Chat.Temperature = &typ, 50, &warm
		a.Agent.With, a.Agent.Feedback = map[string]any{"depth": 3.0}, "Too long."
		a.HTTP.Headers = map[string]string{"X-Team": "tides"}
		h, f := talkWith(t, newExecutor(t, http.Options{Release: "9.9"}), context.Background(), a, v.typed(`{"passed":true,"files":["a"],"note":null}`))
		if f.Outcome != event.OK {
			t.Errorf("%s: %+v", api, f.Error)
		}
		if d := cmp.Diff(map[string]any{"passed": true, "files": []any{"a"}, "note": nil}, f.Output); d != "" {
			t.Errorf("%s: %s", api, d)
		}
		name, text, _ := strings.Cut(want.header, ": ")
		if h.header.Get(name) != text || h.header.Get("X-Team") != "tides" || h.header.Get("User-Agent") != "flowrun/9.9" {
			t.Errorf("%s: %v", api, h.header)
		}
		body, _ := json.Marshal(h.body)
		if h.path != want.path || string(body) != want.body {
			t.Errorf("%s: %s\n got %s\nwant %s", api, h.path, body, want.body)
		}
		wantUsage := event.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: (60*10 + 40*1 + 7*100) / 1e6}
		if f.Usage == nil || *f.Usage != wantUsage {
			t.Errorf("%s: usage %+v", api, f.Usage)
		}
	}
}

// A type that is not an object stands in one, and comes out of it.
func TestWrappedOutput(t *testing.T) {
	list := value.List(value.NumberType)
	for api, v := range voices {
		a := attemptOf(v, "http://x", false)
		a.Agent.Chat.Output = &list
		_, f := talkWith(t, newExecutor(t, http.Options{}), context.Background(), a, v.typed(`{"value":[1,2]}`))
		if got := outcome(&f); got != "ok [1,2]" {
			t.Errorf("%s: %s %+v", api, got, f.Error)
		}
	}
}

// The key is in no answer: not where the server repeats it, not in pieces, not where it comes from the environment or stands in the file.
func TestKeyIsMasked(t *testing.T) {
	const key = "sk-canary-0123456789"
	for api, v := range voices {
		for name, prepare := range map[string]func(*event.Attempt, context.Context) context.Context{
			"a secret of the run": func(_ *event.Attempt, ctx context.Context) context.Context {
				return executor.WithMask(ctx, mask.New([]string{key}))
			},
			"in the file": func(_ *event.Attempt, ctx context.Context) context.Context { return ctx },
			"of the environment": func(a *event.Attempt, ctx context.Context) context.Context {
				a.Agent.Chat.Key, a.Agent.Chat.KeyEnv = "", "THE_KEY"
				return ctx
			},
		} {
			a := attemptOf(v, "http://x", false)
			ctx := prepare(&a, context.Background())
			var said []string
			x := newExecutor(t, http.Options{Live: func(_ event.Attempt, _, text string) { said = append(said, text) }}, "THE_KEY="+key)
			h, f := talkWith(t, x, ctx, a, v.answer(v.stop, "Your key is sk-can", "ary-0123", "456789.\n", "Keep "+key+" safe."))
			if f.Outcome != event.OK || f.Output != "Your key is (sensitive).\nKeep (sensitive) safe." {
				t.Errorf("%s: %s: %+v", api, name, f)
			}
			if !strings.Contains(fmt.Sprint(h.header), key) {
				t.Errorf("%s: %s: the server has no key: %v", api, name, h.header)
			}
			if text := js(f) + strings.Join(said, "|"); strings.Contains(text, "canary") || strings.Contains(text, "456789") {
				t.Errorf("%s: %s: the key is there: %s", api, name, text)
			}
			if len(said) != 2 {
				t.Errorf("%s: %s: progress %q", api, name, said)
			}
			s := stream{status: 401, frames: []string{v.status("invalid_api_key", "Incorrect API key provided: "+key)}}
			a.HTTP.URL = server(t, &s).URL
			f = x.Execute(ctx, a)
			if f.Error == nil || f.Error.Kind != event.Blocking || strings.Contains(js(f), "canary") {
				t.Errorf("%s: %s: %+v", api, name, f.Error)
			}
		}
	}
}

// Without the variable that holds the key nothing is sent, and the message names the variable.
func TestKeyIsMissing(t *testing.T) {
	v := voices["gemini"]
	for text, environ := range map[string]string{"THE_KEY": "OTHER=x", "a character": "THE_KEY=a b"} {
		a := attemptOf(v, "http://127.0.0.1:9", false)
		a.Agent.Chat.Key, a.Agent.Chat.KeyEnv = "", "THE_KEY"
		f := newExecutor(t, http.Options{}, environ).Execute(context.Background(), a)
		if f.Error == nil || f.Error.Kind != event.Blocking || f.Error.Reason != event.ReasonStart || !strings.Contains(f.Error.Message, text) {
			t.Errorf("%+v", f.Error)
		}
	}
}

// A stream that falls silent is lost after the heartbeat, one that says anything is not; a timeout and a cancel end it, too, and what had
// come is handed in.
func TestSilence(t *testing.T) {
	for api, v := range voices {
		release := make(chan bool)
		srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			for _, f := range v.answer(v.stop, "Ebb.", "Flow.") {
				_, _ = io.WriteString(w, f)
				if strings.Contains(f, "Ebb.") {
					break
				}
			}
			_ = nethttp.NewResponseController(w).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}))
		for _, c := range []struct {
			want           string
			beat, timeout  time.Duration
			cancelledAfter time.Duration
		}{
			{"transient lost", 50 * time.Millisecond, 0, 0},
			{"transient timeout", 0, 50 * time.Millisecond, 0},
			{"fatal cancelled", 0, 0, 50 * time.Millisecond},
		} {
			var f event.AttemptFinished
			for scale := time.Duration(1); scale <= 64; scale *= 8 { // on a busy machine the first words may come later
				a := attemptOf(v, srv.URL, false)
				a.Timeout, a.Agent.Heartbeat = scale*c.timeout, scale*c.beat
				ctx, done := context.WithCancelCause(context.Background())
				if c.cancelledAfter > 0 {
					time.AfterFunc(scale*c.cancelledAfter, func() { done(executor.Cancelled) })
				}
				f = newExecutor(t, http.Options{}).Execute(ctx, a)
				done(nil)
				if f.Partial != nil {
					break
				}
			}
			if got := outcome(&f); got != c.want {
				t.Errorf("%s: %s, want %s: %+v", api, got, c.want, f.Error)
			}
			if partial, _ := f.Partial.(string); !strings.HasPrefix(partial, "Ebb.") {
				t.Errorf("%s: %s: partial %v", api, c.want, f.Partial)
			}
		}
		close(release)
		srv.Close()
	}
}

// FuzzStreams: whatever a server sends is an answer within bounds, however it is cut into pieces, and one that is OK was ended by the
// provider.
func FuzzStreams(f *testing.F) {
	all := []*voice{&completionsVoice, &responsesVoice, &messagesVoice, &geminiVoice}
	for i, v := range all {
		for _, s := range streams(v) {
			if text := strings.Join(s.frames, ""); len(text) < 10000 {
				f.Add(text, uint8(i), s.plain)
			}
		}
	}
	f.Fuzz(func(t *testing.T, sent string, which uint8, whole bool) {
		a := attemptOf(all[int(which)%len(all)], "http://127.0.0.1:9", which&16 != 0)
		ans := chat.Hear(&a, strings.NewReader(sent), whole)
		switch {
		case ans.Outcome == event.OK && ans.Error != nil:
			t.Errorf("OK, and %+v", ans.Error)
		case ans.Outcome != event.OK && (ans.Error == nil || ans.Error.Kind == "" || ans.Error.Reason == "" || ans.Error.Message == "" || ans.Error.Known() != nil):
			t.Errorf("%s: %+v", ans.Outcome, ans.Error)
		}
		if again := chat.Hear(&a, iotest.OneByteReader(strings.NewReader(sent)), whole); js(again) != js(ans) {
			t.Errorf("in pieces it is another: %s, %s", js(again), js(ans))
		}
	})
}
