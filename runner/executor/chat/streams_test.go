package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/chat"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// voice writes streams as one API does.
type voice struct {
	provider ir.Provider
	api      ir.ChatAPI
	// answer is a whole stream of an answer in pieces, that ended for the reason that finish names in the API's word.
	answer func(finish string, pieces ...string) []string
	// typed is the same for an answer with a schema.
	typed func(pieces ...string) []string
	// tool is an answer that calls a tool, refused one in which the model refuses.
	tool, refused func() []string
	// failure is a frame with an error: its word, its message.
	failure func(word, message string) string
	// status is the body of an answer whose status is a failure.
	status                           func(word, message string) string
	stop, length, filter             string
	overload, limit, internal, wrong string // words for errors
	whole                            func(text string) string
	usage                            string // of answer
}

func js(v any) string { b, _ := json.Marshal(v); return string(b) }

type o = map[string]any

// data makes frames without a name, named those with one.
func data(list ...any) (out []string) {
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, "data: "+text+"\n\n")
			continue
		}
		out = append(out, "data: "+js(v)+"\n\n")
	}
	return out
}

func named(list ...o) (out []string) {
	for _, v := range list {
		out = append(out, fmt.Sprintf("event: %s\ndata: %s\n\n", v["type"], js(v)))
	}
	return out
}

func completion(delta o, finish any) o {
	return o{"id": "c1", "object": "chat.completion.chunk", "choices": []any{o{"index": 0, "delta": delta, "finish_reason": finish}}}
}

var completionsVoice = voice{
	provider: ir.OpenAI, stop: "stop", length: "length", filter: "content_filter", overload: "server_overloaded", limit: "rate_limit_exceeded", internal: "server_error", wrong: "invalid_request_error",
	answer: func(finish string, pieces ...string) []string {
		out := data(completion(o{"role": "assistant", "content": ""}, nil))
		for _, p := range pieces {
			out = append(out, data(completion(o{"content": p}, nil))...)
		}
		return append(out, data(completion(o{}, finish), o{"choices": []any{}, "usage": o{"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": o{"cached_tokens": 40}}}, "[DONE]")...)
	},
	tool: func() []string {
		return data(completion(o{"tool_calls": []any{o{"index": 0, "id": "t1", "function": o{"name": "shell", "arguments": ""}}}}, nil),
			completion(o{"tool_calls": []any{o{"index": 0, "function": o{"arguments": `{"cmd":"rm"}`}}}}, nil), completion(o{}, "tool_calls"), "[DONE]")
	},
	refused: func() []string {
		return data(completion(o{"refusal": "I cannot "}, nil), completion(o{"refusal": "help."}, nil), completion(o{}, "stop"), "[DONE]")
	},
	failure: func(word, message string) string {
		return data(o{"error": o{"type": word, "code": word, "message": message}})[0]
	},
	status: func(word, message string) string {
		return js(o{"error": o{"type": word, "code": nil, "message": message, "param": nil}})
	},
	whole: func(text string) string {
		return js(o{"choices": []any{o{"index": 0, "message": o{"role": "assistant", "content": text}, "finish_reason": "stop"}}, "usage": o{"prompt_tokens": 100, "completion_tokens": 7}})
	},
}

func responseObject(status, text string) o {
	return o{"id": "r1", "status": status, "output": []any{o{"type": "reasoning"}, o{"type": "message", "content": []any{o{"type": "output_text", "text": text}}}},
		"usage": o{"input_tokens": 100, "output_tokens": 7, "input_tokens_details": o{"cached_tokens": 40}}}
}

var responsesVoice = voice{
	provider: ir.OpenAI, api: ir.APIResponses, stop: "completed", length: "max_output_tokens", filter: "content_filter", overload: "server_overloaded", limit: "rate_limit_exceeded", internal: "server_error", wrong: "invalid_request_error",
	answer: func(finish string, pieces ...string) []string {
		out := named(o{"type": "response.created", "response": o{"status": "in_progress"}}, o{"type": "response.output_item.added", "item": o{"type": "message"}})
		for _, p := range pieces {
			out = append(out, named(o{"type": "response.output_text.delta", "delta": p})...)
		}
		r := responseObject("completed", strings.Join(pieces, ""))
		if finish != "completed" {
			r["status"], r["incomplete_details"] = "incomplete", o{"reason": finish}
			return append(out, named(o{"type": "response.incomplete", "response": r})...)
		}
		return append(out, named(o{"type": "response.completed", "response": r})...)
	},
	tool: func() []string {
		call := o{"type": "function_call", "call_id": "t1", "name": "shell", "arguments": `{"cmd":"rm"}`}
		return named(o{"type": "response.output_item.done", "item": call}, o{"type": "response.completed", "response": o{"status": "completed", "output": []any{call}}})
	},
	refused: func() []string {
		return named(o{"type": "response.refusal.delta", "delta": "I cannot "}, o{"type": "response.refusal.delta", "delta": "help."},
			o{"type": "response.completed", "response": o{"status": "completed", "output": []any{o{"type": "message", "content": []any{o{"type": "refusal", "refusal": "I cannot help."}}}}}})
	},
	failure: func(word, message string) string {
		return named(o{"type": "response.failed", "response": o{"status": "failed", "error": o{"code": word, "message": message}}})[0]
	},
	whole: func(text string) string { return js(responseObject("completed", text)) },
}

func anthropicBlocks(kind o, deltaType, member, finish string, pieces []string) []string {
	out := named(o{"type": "message_start", "message": o{"role": "assistant", "usage": o{"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1}}},
		o{"type": "content_block_start", "index": 0, "content_block": kind}, o{"type": "ping"})
	for _, p := range pieces {
		out = append(out, named(o{"type": "content_block_delta", "index": 0, "delta": o{"type": deltaType, member: p}})...)
	}
	return append(out, named(o{"type": "content_block_stop", "index": 0}, o{"type": "message_delta", "delta": o{"stop_reason": finish}, "usage": o{"output_tokens": 7}}, o{"type": "message_stop"})...)
}

var messagesVoice = voice{
	provider: ir.Anthropic, stop: "end_turn", length: "max_tokens", filter: "", overload: "overloaded_error", limit: "rate_limit_error", internal: "api_error", wrong: "invalid_request_error",
	answer: func(finish string, pieces ...string) []string {
		return anthropicBlocks(o{"type": "text", "text": ""}, "text_delta", "text", finish, pieces)
	},
	typed: func(pieces ...string) []string {
		return anthropicBlocks(o{"type": "tool_use", "id": "t0", "name": "answer", "input": o{}}, "input_json_delta", "partial_json", "tool_use", pieces)
	},
	tool: func() []string {
		return anthropicBlocks(o{"type": "tool_use", "id": "t1", "name": "shell", "input": o{}}, "input_json_delta", "partial_json", "tool_use", []string{`{"cmd":`, `"rm"}`})
	},
	refused: func() []string {
		return anthropicBlocks(o{"type": "text", "text": ""}, "text_delta", "text", "refusal", []string{"I cannot ", "help."})
	},
	failure: func(word, message string) string {
		return named(o{"type": "error", "error": o{"type": word, "message": message}})[0]
	},
	status: func(word, message string) string {
		return js(o{"type": "error", "error": o{"type": word, "message": message}, "request_id": "req_1"})
	},
	whole: func(text string) string {
		return js(o{"type": "message", "content": []any{o{"type": "text", "text": text}}, "stop_reason": "end_turn", "usage": o{"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 7}})
	},
}

func candidate(text string, finish any) o {
	c := o{"index": 0, "content": o{"role": "model", "parts": []any{o{"text": text}}}}
	if finish != nil {
		c["finishReason"] = finish
	}
	return o{"candidates": []any{c}, "usageMetadata": o{"promptTokenCount": 100, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "cachedContentTokenCount": 40}}
}

var geminiVoice = voice{
	provider: ir.Gemini, stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY", overload: "UNAVAILABLE", limit: "RESOURCE_EXHAUSTED", internal: "INTERNAL", wrong: "INVALID_ARGUMENT",
	answer: func(finish string, pieces ...string) []string {
		out := data(o{"candidates": []any{o{"content": o{"parts": []any{o{"text": "thinking", "thought": true}}}}}})
		for i, p := range pieces {
			if i == len(pieces)-1 {
				return append(out, data(candidate(p, finish))...)
			}
			out = append(out, data(candidate(p, nil))...)
		}
		return append(out, data(candidate("", finish))...)
	},
	tool: func() []string {
		return data(o{"candidates": []any{o{"content": o{"parts": []any{o{"functionCall": o{"name": "shell", "args": o{"cmd": "rm"}}}}}, "finishReason": "STOP"}}})
	},
	refused: func() []string { return data(o{"promptFeedback": o{"blockReason": "PROHIBITED_CONTENT"}}) },
	failure: func(word, message string) string {
		return data(o{"error": o{"code": 0, "status": word, "message": message}})[0]
	},
	status: func(word, message string) string {
		return js([]any{o{"error": o{"code": 0, "status": word, "message": message}}})
	},
	whole: func(text string) string { return js([]any{candidate(text, nil), candidate("", "STOP")}) },
}

func init() {
	for _, v := range []*voice{&completionsVoice, &responsesVoice, &geminiVoice} {
		answer, stop := v.answer, v.stop
		v.typed = func(pieces ...string) []string { return answer(stop, pieces...) }
	}
	responsesVoice.status = completionsVoice.status
}

var voices = map[string]*voice{"chat completions": &completionsVoice, "responses": &responsesVoice, "anthropic": &messagesVoice, "gemini": &geminiVoice}

// stream is what a server sends, and what the attempt must make of it: the outcome, or KIND REASON, or KIND REASON SECONDS.
type stream struct {
	name    string
	status  int
	header  map[string]string
	frames  []string
	chunk   int  // bytes at once; 0: a frame at once
	abort   bool // the connection breaks at the end
	typed   bool // the output is object({ sum = number })
	plain   bool // a content type of JSON
	want    string
	message string // is in the message of the error
}

// streams are the recorded and hostile streams of one API.
func streams(v *voice) []stream {
	text := []string{"Ebb and ", "flow: 海の", "潮 🌊.\n", "Two lines."}
	good := v.answer(v.stop, text...)
	whole := strings.Join(good, "")
	const said = `ok "Ebb and flow: 海の潮 🌊.\nTwo lines."`
	list := []stream{
		{name: "an answer", frames: good, want: said},
		{name: "in single bytes", frames: good, chunk: 1, want: said},
		{name: "in pieces of three bytes, within characters", frames: good, chunk: 3, want: said},
		{name: "at once", frames: []string{whole}, want: said},
		{name: "with CRLF", frames: []string{strings.ReplaceAll(whole, "\n", "\r\n")}, want: said},
		{name: "with CRLF in single bytes", frames: []string{strings.ReplaceAll(whole, "\n", "\r\n")}, chunk: 1, want: said},
		{name: "with CR", frames: []string{strings.ReplaceAll(whole, "\n", "\r")}, want: said},
		{name: "with a byte order mark", frames: []string{"\uFEFF" + whole}, want: said},
		{name: "with comments", frames: []string{": hello\n\n" + strings.Join(good, ": keep-alive\n\n")}, want: said},
		{name: "with fields that nobody knows", frames: []string{"retry: 3000\nid: 7\nnonsense\n\n" + strings.Join(good, "id: 8\n")}, want: said},
		{name: "without spaces behind data", frames: []string{strings.ReplaceAll(whole, "data: ", "data:")}, want: said},
		{name: "with events of other kinds", frames: append(named(o{"type": "future.event", "x": []any{1, nil}}), good...), want: said},
		{name: "with empty data", frames: append([]string{"data:\n\n", "data: \n\n"}, good...), want: said},
		{name: "without its last empty line", frames: []string{strings.TrimRight(whole, "\n")}, want: said},
		{name: "with words behind its end", frames: append(append([]string{}, good...), ": bye\n\n"), want: said},
		{name: "with JSON over two lines of data", frames: []string{strings.ReplaceAll(whole, `,"`, ",\ndata: \"")}, want: said},
		{name: "an answer at once, as JSON", plain: true, frames: []string{v.whole("Hello.")}, want: `ok "Hello."`},
		{name: "half an answer, as JSON", plain: true, frames: []string{v.whole("Hello.")[:30]}, want: "transient http"},
		{name: "no JSON, as JSON", plain: true, frames: []string{"<html>busy</html>"}, want: "transient http"},
		{name: "null, as JSON", plain: true, frames: []string{"null"}, want: "transient http"},
		{name: "nothing, as JSON", plain: true, want: "transient http"},

		{name: "a typed answer", typed: true, frames: v.typed(`{"su`, `m":`, ` 42}`), want: `ok {"sum":42}`},
		{name: "a typed answer in single bytes", typed: true, frames: v.typed(`{"su`, `m":`, ` 42}`), chunk: 1, want: `ok {"sum":42}`},
		{name: "a typed answer that is not JSON", typed: true, frames: v.answer(v.stop, "The sum is 42."), want: "recoverable bad_json"},
		{name: "a typed answer in a fence", typed: true, frames: v.answer(v.stop, "```json\n{\"sum\": 42}\n```"), want: `ok {"sum":42}`},
		{name: "a typed answer with half its JSON", typed: true, frames: v.typed(`{"sum": `), want: "recoverable bad_json"},
		{name: "a typed answer with two objects", typed: true, frames: v.typed(`{"sum":1}{"sum":2}`), want: "recoverable bad_json"},

		{name: "cut at the bound of tokens", frames: v.answer(v.length, "Ebb and"), want: "blocking max_tokens", message: "max_tokens"},
		{name: "a refusal", frames: v.refused(), want: "blocking refusal"},
		{name: "a tool that nobody offered", frames: v.tool(), want: "recoverable agent", message: "shell"},
		{name: "an empty answer", frames: v.answer(v.stop), want: "recoverable agent", message: "empty"},
		{name: "an answer of spaces", frames: v.answer(v.stop, " ", "\n"), want: "recoverable agent", message: "empty"},
		{name: "a stream without events", frames: []string{}, want: "transient http"},
		{name: "a stream of comments", frames: []string{strings.Repeat(": ping\n\n", 1000)}, want: "transient http"},
		{name: "no stream but a page", frames: []string{"<!doctype html>\n<title>Sign in</title>\n"}, want: "transient http"},
		{name: "an event that is not JSON", frames: append(append([]string{}, good[:2]...), "data: {\"oops\n\n"), want: "transient http"},
		{name: "an event of another JSON", frames: append(append([]string{}, good[:2]...), "data: [1,2]\n\n"), want: "transient http"},
		{name: "bytes that are not text", frames: append(append([]string{}, good[:2]...), "data: \xff\xfe\x00\n\n"), want: "transient http"},
		{name: "an event that is too large", frames: []string{"data: " + strings.Repeat("x", sse.MaxEvent+1000) + "\n\n"}, want: "fatal output_too_large"},
		{name: "an event that never ends", frames: []string{strings.Repeat("data: xxxxxxxx\n", sse.MaxEvent/8)}, want: "fatal output_too_large"},
		{name: "an answer that is too large", frames: v.answer(v.stop, strings.Split(strings.Repeat(strings.Repeat("y", 60000)+"|", 20), "|")...), want: "fatal output_too_large"},
		{name: "deep JSON", frames: data(strings.Repeat("[", 100000)), want: "transient http"},

		{name: "overload in the middle", frames: append(append([]string{}, good[:3]...), v.failure(v.overload, "The model is overloaded.")), want: "rate_limited http"},
		{name: "a limit in the middle", frames: append(append([]string{}, good[:3]...), v.failure(v.limit, "Limit reached. Please try again in 1m2.5s.")), want: "rate_limited http 62.5"},
		{name: "a failure in the middle", frames: append(append([]string{}, good[:3]...), v.failure(v.internal, "Something broke.")), want: "transient http", message: "Something broke."},
		{name: "a failure of an unknown kind", frames: []string{v.failure("new_error", "What?")}, want: "transient http"},
		{name: "a wrong request in the stream", frames: []string{v.failure(v.wrong, "No such parameter.")}, want: "recoverable http"},
		{name: "a full context in the stream", frames: []string{v.failure(v.wrong, "This model's maximum context length is 8192 tokens.")}, want: "blocking context_length"},
		{name: "a breaking connection", frames: good[:3], abort: true, want: "transient http"},
		{name: "a breaking connection before anything", abort: true, want: "transient http"},
		{name: "a breaking connection within a character", frames: []string{whole[:strings.Index(whole, "海")+1]}, abort: true, want: "transient http"},

		{name: "429", status: 429, frames: []string{v.status(v.limit, "Slow down.")}, want: "rate_limited http"},
		{name: "429 with Retry-After", status: 429, header: map[string]string{"Retry-After": "30"}, frames: []string{v.status(v.limit, "Slow down.")}, want: "rate_limited http 30", message: "Slow down."},
		{name: "429 with a part of a second", status: 429, header: map[string]string{"Retry-After": "1.5"}, want: "rate_limited http 1.5"},
		{name: "429 with a date", status: 429, header: map[string]string{"Date": "Sat, 31 Jan 2026 08:00:00 GMT", "Retry-After": "Sat, 31 Jan 2026 08:02:00 GMT"}, want: "rate_limited http 120"},
		{name: "429 with milliseconds", status: 429, header: map[string]string{"Retry-After-Ms": "2500", "Retry-After": "3"}, want: "rate_limited http 2.5"},
		{name: "429 with a reset of requests", status: 429, header: map[string]string{"X-Ratelimit-Reset-Requests": "6m0s", "X-Ratelimit-Reset-Tokens": "1s", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Remaining-Requests": "12"}, want: "rate_limited http 1"},
		{name: "429 with resets alone", status: 429, header: map[string]string{"X-Ratelimit-Reset-Requests": "20ms", "X-Ratelimit-Reset-Tokens": "1m1.5s"}, want: "rate_limited http 61.5"},
		{name: "429 with a Unix time", status: 429, header: map[string]string{"Date": "Sat, 31 Jan 2026 08:00:00 GMT", "X-Ratelimit-Reset": "1769846445"}, want: "rate_limited http 45"},
		{name: "429 with moments of Anthropic", status: 429, header: map[string]string{"Date": "Sat, 31 Jan 2026 08:00:00 GMT",
			"Anthropic-Ratelimit-Requests-Reset": "2026-01-31T08:00:05Z", "Anthropic-Ratelimit-Requests-Remaining": "3", "Anthropic-Ratelimit-Tokens-Reset": "2026-01-31T09:00:20+01:00", "Anthropic-Ratelimit-Tokens-Remaining": "0"}, want: "rate_limited http 20"},
		{name: "429 with a moment of output tokens", status: 429, header: map[string]string{"Date": "Sat, 31 Jan 2026 08:00:00 GMT", "Anthropic-Ratelimit-Output-Tokens-Reset": "2026-01-31T08:00:09Z"}, want: "rate_limited http 9"},
		{name: "429 with a moment that has passed", status: 429, header: map[string]string{"Date": "Sat, 31 Jan 2026 08:00:00 GMT", "Anthropic-Ratelimit-Requests-Reset": "2026-01-31T07:00:09Z"}, want: "rate_limited http"},
		{name: "429 with headers that say nothing", status: 429, header: map[string]string{"Retry-After": "soon", "Retry-After-Ms": "NaN", "X-Ratelimit-Reset": "-", "X-Ratelimit-Reset-Tokens": "-5s"}, want: "rate_limited http"},
		{name: "429 with a delay in its details", status: 429, frames: []string{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota.","details":[{"@type":"t","reason":"X"},{"retryDelay":"34.5s"}]}}`}, want: "rate_limited http 34.5"},
		{name: "429 without credit", status: 429, header: map[string]string{"Retry-After": "1"}, frames: []string{v.status("insufficient_quota", "You exceeded your current quota.")}, want: "blocking http"},
		{name: "529", status: 529, frames: []string{v.status(v.overload, "Overloaded")}, want: "rate_limited http"},
		{name: "503 with Retry-After", status: 503, header: map[string]string{"Retry-After": "7"}, want: "rate_limited http 7"},
		{name: "503 of an overloaded model", status: 503, frames: []string{v.status(v.overload, "The model is overloaded. Please try again later.")}, want: "rate_limited http"},
		{name: "503", status: 503, frames: []string{"upstream connect error"}, want: "transient http", message: "upstream connect error"},
		{name: "500", status: 500, frames: []string{v.status(v.internal, "Internal.")}, want: "transient http"},
		{name: "502 of a proxy", status: 502, frames: []string{"<html>" + strings.Repeat("bad gateway ", 20000)}, want: "transient http"},
		{name: "408", status: 408, want: "transient http"},
		{name: "401", status: 401, frames: []string{v.status("authentication_error", "Bad key.")}, want: "blocking http", message: "Bad key."},
		{name: "403", status: 403, frames: []string{v.status("permission_error", "Not yours.")}, want: "blocking http"},
		{name: "404 of a model", status: 404, frames: []string{v.status("not_found_error", "No such model.")}, want: "blocking http"},
		{name: "400 of a full context", status: 400, frames: []string{v.status(v.wrong, "prompt is too long: 250000 tokens > 200000 maximum")}, want: "blocking context_length"},
		{name: "400 of too many tokens", status: 400, frames: []string{v.status(v.wrong, "The input token count (5) exceeds the maximum number of tokens allowed (4).")}, want: "blocking context_length"},
		{name: "413", status: 413, want: "blocking context_length"},
		{name: "400 of a filter", status: 400, frames: []string{v.status("content_policy_violation", "Flagged.")}, want: "blocking content_filter"},
		{name: "400", status: 400, frames: []string{v.status(v.wrong, "Unknown parameter.")}, want: "recoverable http"},
		{name: "a redirect", status: 307, header: map[string]string{"Location": "http://127.0.0.1:9/v1"}, want: "recoverable http"},
		{name: "a failure whose error is a text", status: 500, frames: []string{`{"error":"it broke"}`}, want: "transient http", message: "it broke"},
	}
	if v.filter != "" {
		list = append(list, stream{name: "stopped by a filter", frames: v.answer(v.filter, "Ebb"), want: "blocking content_filter"})
	}
	// The end of the answer stands in the last frame but those behind it: every cut before is an answer that did not come whole.
	ends := len(whole)
	switch v.provider {
	case ir.OpenAI:
		if v.api == "" {
			ends = len(strings.Join(good[:len(good)-2], ""))
		}
	case ir.Anthropic:
		ends = len(strings.Join(good[:len(good)-1], ""))
	}
	ends -= 2 // its empty line may be missing
	for i := 1; i <= 16; i++ {
		at := len(whole) * i / 17
		want := "transient http"
		if at >= ends {
			want = said
		}
		list = append(list, stream{name: fmt.Sprintf("cut at byte %d", at), frames: []string{whole[:at]}, want: want},
			stream{name: fmt.Sprintf("broken at byte %d", at), frames: []string{whole[:at]}, abort: true, chunk: 50, want: want})
	}
	return list
}

var sum = value.Object(map[string]value.Type{"sum": value.NumberType})

func attemptOf(v *voice, url string, typed bool) event.Attempt {
	a := event.Attempt{Ticket: 1, Node: "ask", Name: "ask", Attempt: 1, Key: "k", Kind: event.ChatAgentAttempt, Timeout: time.Minute,
		HTTP: &event.HTTPRequest{Method: "POST", URL: url},
		Agent: &event.AgentRequest{Name: "model", Type: "chat", Task: "Explain tides.", Soul: "You are a poet.",
			Chat: &event.ChatRequest{Provider: v.provider, API: v.api, Model: "m-1", Key: "sk-canary-0123456789", Prices: &event.ChatPrices{Input: 10, CachedInput: 1, Output: 100}}}}
	if typed {
		a.Agent.Chat.Output = &sum
	}
	return a
}

// outcome is an answer as stream.want has it.
func outcome(f *event.AttemptFinished) string {
	if f.Outcome == event.OK {
		return "ok " + string(value.Append(nil, f.Output))
	}
	text := fmt.Sprintf("%s %s", f.Error.Kind, f.Error.Reason)
	if f.Error.RetryAfter > 0 {
		text += fmt.Sprintf(" %v", f.Error.RetryAfter)
	}
	return text
}

// server sends one stream.
func server(t testing.TB, s *stream) *httptest.Server {
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { s.send(w) }))
	t.Cleanup(srv.Close)
	return srv
}

// send writes the stream as an answer.
func (s *stream) send(w nethttp.ResponseWriter) {
	for name, text := range s.header {
		w.Header().Set(name, text)
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if s.plain || s.status != 0 {
		w.Header().Set("Content-Type", "application/json")
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	flush := nethttp.NewResponseController(w)
	for _, f := range s.frames {
		for len(f) > 0 {
			n := len(f)
			if s.chunk > 0 {
				n = min(n, s.chunk)
			}
			if _, err := w.Write([]byte(f[:n])); err != nil {
				return
			}
			if s.chunk == 0 || s.chunk > 1 || len(f)%16 == 0 {
				_ = flush.Flush()
			}
			f = f[n:]
		}
	}
	if s.abort {
		panic(nethttp.ErrAbortHandler)
	}
}

// Every stream gives the right result or the right error, in bounded time, and no key comes back.
func TestStreams(t *testing.T) {
	x := http.New(http.Options{})
	defer x.Close()
	for api, v := range voices {
		count, bad := 0, 0
		for _, s := range streams(v) {
			count++
			srv := server(t, &s)
			want := s.want
			if s.name == "a refusal" && v.provider == ir.Gemini { // it says of a task what others say of an answer
				want = "blocking content_filter"
			}
			began := time.Now()
			f := chat.New(x, nil, []string{}).Execute(context.Background(), attemptOf(v, srv.URL, s.typed))
			srv.Close()
			got := outcome(&f)
			switch {
			case got != want:
				bad++
				t.Errorf("%s: %s: %s, want %s: %+v", api, s.name, got, want, f.Error)
			case f.Error != nil && !strings.Contains(f.Error.Message, s.message):
				bad++
				t.Errorf("%s: %s: the message does not say %q: %s", api, s.name, s.message, f.Error.Message)
			case time.Since(began) > 30*time.Second:
				t.Errorf("%s: %s took %s", api, s.name, time.Since(began))
			}
			if strings.Contains(js(f), "canary") {
				t.Errorf("%s: %s: the key is in the answer: %s", api, s.name, js(f))
			}
		}
		t.Logf("%s: %d streams, %d wrong", api, count, bad)
		if count < 60 {
			t.Errorf("%s: %d streams", api, count)
		}
	}
}

// A large answer takes no more memory than its bounds.
func TestStreamsInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 60 MB")
	}
	x := http.New(http.Options{})
	defer x.Close()
	for api, v := range voices {
		s := stream{frames: append(v.answer(v.stop, "x")[:1], make([]string, 400)...)}
		for i := 1; i < len(s.frames); i++ {
			s.frames[i] = strings.Repeat(": nothing of importance\n\n", 6000)
		}
		srv := server(t, &s)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := chat.New(x, nil, []string{}).Execute(context.Background(), attemptOf(v, srv.URL, false))
		runtime.GC()
		runtime.ReadMemStats(&after)
		srv.Close()
		if got := outcome(&f); got != "transient http" {
			t.Errorf("%s: %s", api, got)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
			t.Errorf("%s: the heap has grown by %d bytes", api, grown)
		}
	}
}
