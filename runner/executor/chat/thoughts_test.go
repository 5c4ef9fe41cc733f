package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// thinking is a stream of OpenAI's responses API as its documentation has it (API reference of the streaming events, 2025-08): reasoning, a
// message, reasoning again, and a call. The content of an item that was added is not whole; that of one that is done is.
func thinking(call string, whole bool) []string {
	reasoning := func(id, content string) o {
		return o{"type": "reasoning", "id": id, "summary": []any{}, "encrypted_content": content}
	}
	items := []any{reasoning("rs_1"+call, "gAAA-one-"+call),
		o{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{o{"type": "output_text", "text": "Look.", "annotations": []any{}}}},
		reasoning("rs_2"+call, "gAAA-two-"+call),
		o{"type": "function_call", "id": "fc_1", "call_id": call, "name": "echo", "arguments": `{"say":"hi"}`, "status": "completed"}}
	out := named(o{"type": "response.created", "sequence_number": 0, "response": o{"status": "in_progress", "output": []any{}}})
	for i, item := range items {
		added := o{}
		for k, v := range object(item) {
			added[k] = v
		}
		if added["encrypted_content"] != nil {
			added["encrypted_content"] = "gAAA-"
		}
		out = append(out, named(o{"type": "response.output_item.added", "output_index": i, "item": added})...)
		if added["type"] == "message" {
			out = append(out, named(o{"type": "response.output_text.delta", "output_index": i, "delta": "Lo"}, o{"type": "response.output_text.delta", "output_index": i, "delta": "ok."})...)
		}
		out = append(out, named(o{"type": "response.output_item.done", "output_index": i, "item": item})...)
	}
	r := o{"status": "completed", "output": items, "usage": o{"input_tokens": 100, "output_tokens": 7, "output_tokens_details": o{"reasoning_tokens": 5}}}
	if !whole { // some servers leave the items out
		r["output"] = []any{}
	}
	return append(out, named(o{"type": "response.completed", "response": r})...)
}

// The reasoning of a model goes back to it in front of the message and the call that it came before, without the ids by which a provider
// would look for items that it does not keep. A request without tools has no next one, and asks for no reasoning.
func TestReasoningGoesBack(t *testing.T) {
	tools := newToolServer(t)
	v := voices["responses"]
	const turn = `{"encrypted_content":"gAAA-one-%[1]s","summary":[],"type":"reasoning"},{"content":[{"text":"Look.","type":"output_text"}],"role":"assistant"},` +
		`{"encrypted_content":"gAAA-two-%[1]s","summary":[],"type":"reasoning"},{"arguments":"{\"say\":\"hi\"}","call_id":"%[1]s","name":"echo","type":"function_call"},{"call_id":"%[1]s","output":"echo: hi","type":"function_call_output"}`
	for _, whole := range []bool{true, false} {
		m, url := newModel(t, stream{frames: thinking("t1", whole)}, stream{frames: thinking("t2", whole), chunk: 7}, stream{frames: v.answer(v.stop, "Done.")})
		f := newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
		if f.Outcome != event.OK || len(m.bodies) != 3 {
			t.Fatalf("whole %v: %d requests, %+v", whole, len(m.bodies), f.Error)
		}
		for i, body := range m.bodies {
			if js(body["include"]) != `["reasoning.encrypted_content"]` || body["store"] != false {
				t.Errorf("request %d: include %v, store %v", i, body["include"], body["store"])
			}
		}
		want := "[" + fmt.Sprintf(turn, "t1") + "," + fmt.Sprintf(turn, "t2") + "]"
		if got := js(list(m.bodies[2]["input"])[1:]); got != want {
			t.Errorf("whole %v:\n got %s\nwant %s", whole, got, want)
		}
	}
	m, url := newModel(t, stream{frames: v.answer(v.stop, "Done.")})
	if f := newWithTools(t, nil).Execute(t.Context(), attemptOf(v, url, false)); f.Outcome != event.OK || m.bodies[0]["include"] != nil {
		t.Errorf("without tools: %+v, include %v", f.Error, m.bodies[0]["include"])
	}
}

// A model that does not reason refuses to give reasoning: it is asked again without, and from then on without. Another refusal stays one.
func TestModelWithoutReasoning(t *testing.T) {
	tools := newToolServer(t)
	v, c := voices["responses"], callers["responses"]
	refusal := stream{status: 400, frames: []string{js(o{"error": o{"message": "Encrypted content is not supported with this model.", "type": "invalid_request_error", "param": "include", "code": nil}})}}
	m, url := newModel(t, refusal, stream{frames: c.stream(c.finish, "", false, echo("t1", "hi"))}, stream{frames: v.answer(v.stop, "Done.")})
	f := newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
	var asked []bool
	for _, body := range m.bodies {
		asked = append(asked, body["include"] != nil)
	}
	if f.Outcome != event.OK || !slices.Equal(asked, []bool{true, false, false}) {
		t.Errorf("asked for reasoning %v, %+v", asked, f.Error)
	}
	m, url = newModel(t, stream{status: 400, frames: []string{js(o{"error": o{"message": "Unknown parameter.", "type": "invalid_request_error"}})}})
	f = newWithTools(t, nil).Execute(t.Context(), withTools(attemptOf(v, url, false), tools))
	if f.Outcome == event.OK || len(m.bodies) != 1 {
		t.Errorf("%d requests, %+v", len(m.bodies), f.Error)
	}
}

// Reasoning counts where the conversation has a bound, and is left out where the last turn does not fit with it.
func TestReasoningIsBounded(t *testing.T) {
	tools := newToolServer(t)
	v := voices["responses"]
	long := strings.Repeat("x", 20000)
	frames := thinking("t1", true)
	for i := range frames {
		frames[i] = strings.ReplaceAll(frames[i], "gAAA-two-t1", "gAAA-two-"+long)
	}
	for tokens, kept := range map[int]bool{0: true, 20000: true, 3000: false} {
		m, url := newModel(t, stream{frames: frames}, stream{frames: v.answer(v.stop, "Done.")})
		a := withTools(attemptOf(v, url, false), tools)
		a.Agent.Chat.ContextTokens = tokens
		f := newWithTools(t, nil).Execute(t.Context(), a)
		if f.Outcome != event.OK || strings.Contains(js(m.bodies[1]), long) != kept || len(list(m.bodies[1]["input"])) < 3 {
			t.Errorf("context_tokens %d: %+v, %.400s", tokens, f.Error, js(m.bodies[1]))
		}
	}
}
