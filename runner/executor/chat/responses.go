package chat

import (
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// responses is the newer API of OpenAI.
type responses struct{}

func (responses) request(c *conversation) (string, map[string]string, map[string]any) {
	input := []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": c.said()}}}}
	for _, t := range c.sent() {
		if t.text != "" {
			input = append(input, thoughtItems(t.thoughts)...)
			input = append(input, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": t.text}}})
		}
		for i := range t.calls {
			k := &t.calls[i]
			input = append(input, thoughtItems(k.thoughts)...)
			input = append(input, map[string]any{"type": "function_call", "call_id": k.id, "name": k.name, "arguments": k.givenText()})
		}
		for i := range t.calls {
			input = append(input, map[string]any{"type": "function_call_output", "call_id": t.calls[i].id, "output": t.results[i].text})
		}
	}
	body := map[string]any{"model": c.chat.Model, "stream": true, "store": false, "input": input}
	var tools []any
	for i := range c.tools {
		t := &c.tools[i]
		tools = append(tools, map[string]any{"type": "function", "name": t.name, "description": t.about, "parameters": t.schema, "strict": false})
	}
	if tools != nil {
		body["tools"] = tools
		if !c.plain { // nothing is kept at the provider, so that the next request brings the reasoning back
			body["include"] = []any{"reasoning.encrypted_content"}
		}
	}
	if c.system != "" {
		body["instructions"] = c.system
	}
	if n := c.chat.MaxTokens; n > 0 {
		body["max_output_tokens"] = float64(n)
	}
	if t := c.chat.Temperature; t != nil {
		body["temperature"] = *t
	}
	if c.schema != nil {
		body["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": schemaName, "schema": c.schema, "strict": c.strict}}
	}
	return c.base + "/responses", bearer(c), body
}

// thoughtItems are the reasoning that stood before a message or a call, as input. They have no ids: the provider looks for an item with an id
// among those that it keeps, and finds none.
func thoughtItems(encrypted []string) (items []any) {
	for _, text := range encrypted {
		items = append(items, map[string]any{"type": "reasoning", "summary": []any{}, "encrypted_content": text})
	}
	return items
}

// refusesThoughts reports whether a provider refuses a request because its model does not reason, or gives no reasoning.
func (responses) refusesThoughts(status int, text []byte) bool {
	said := readComplaint(text)
	words := strings.ToLower(said.message)
	return status == 400 && (strings.Contains(words, "encrypted content is not supported") || strings.Contains(words, "reasoning.encrypted_content"))
}

// response is the object that the API makes.
type response struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []responseItem `json:"output"`
	Usage  *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

type responseItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"` // of reasoning
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

func (responses) take(e sse.Event, a *answer) *event.Error {
	var m struct {
		Type     string          `json:"type"`
		Delta    json.RawMessage `json:"delta"`
		Response *response       `json:"response"`
		Item     *responseItem   `json:"item"`
		Error    json.RawMessage `json:"error"`
	}
	if err := a.parse([]byte(e.Data), &m); err != nil {
		return err
	}
	if m.Type == "" {
		m.Type = e.Name
	}
	switch m.Type {
	case "response.output_text.delta", "response.refusal.delta":
		var text string
		if err := a.parse(m.Delta, &text); err != nil {
			return err
		}
		if m.Type == "response.refusal.delta" {
			a.refuse(text)
			return nil
		}
		return a.say(text)
	case "response.output_item.done":
		if m.Item != nil {
			return a.addItem(m.Item)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if m.Response == nil {
			return a.cut("the last event of the stream has no response")
		}
		if len(m.Response.Output) > 0 { // all items stand in the response, but not for each server
			a.calls, a.thoughts, a.thinking, a.thought = nil, nil, nil, 0
		}
		return m.Response.end(a)
	case "error":
		if isError(m.Error) {
			return a.failed(m.Error)
		}
		return a.failed([]byte(e.Data))
	case "":
		if isError(m.Error) { // of a server before the API
			return a.failed(m.Error)
		}
	}
	return nil
}

func (responses) whole(text []byte, a *answer) *event.Error {
	var r response
	if err := a.parse(text, &r); err != nil {
		return err
	}
	return r.end(a)
}

// addItem adds a call, or reasoning, which belongs to the message or the call behind it.
func (a *answer) addItem(i *responseItem) *event.Error {
	switch i.Type {
	case "function_call":
		return a.addCall(i)
	case "message":
		a.thoughts, a.thinking = append(a.thoughts, a.thinking...), nil
	case "reasoning":
		if a.thought += len(i.Encrypted); a.thought > limits.MaxOutput {
			return executor.TooLarge("the reasoning of the model", int64(a.thought))
		}
		if i.Encrypted != "" {
			a.thinking = append(a.thinking, i.Encrypted)
		}
	}
	return nil
}

func (a *answer) addCall(i *responseItem) *event.Error {
	c := a.call(len(a.calls))
	if c == nil {
		return a.cut("the answer calls too many tools")
	}
	c.thoughts, a.thinking = a.thinking, nil
	c.named(i.CallID, i.Name)
	return c.argue(i.Arguments)
}

// end takes the response as it is at its end. Its output is what counts: deltas can be lost or come in another order.
func (r *response) end(a *answer) *event.Error {
	if u := r.Usage; u != nil {
		a.counted, a.in, a.out, a.cached = true, u.Input, u.Output, u.Details.Cached
	}
	if isError(r.Error) {
		return a.failed(r.Error)
	}
	text, found := "", false
	for i := range r.Output {
		item := &r.Output[i]
		if err := a.addItem(item); err != nil {
			return err
		}
		if item.Type != "message" {
			continue
		}
		for _, part := range item.Content {
			switch part.Type {
			case "output_text":
				text, found = text+part.Text, true
			case "refusal":
				a.refusal.Reset()
				a.refuse(part.Refusal)
			}
		}
	}
	if found && text != a.text.String() {
		heard := a.text.Len() > 0
		a.text.Reset()
		hear := a.hear
		if heard { // the watcher has heard most of it
			a.hear = nil
		}
		err := a.say(text)
		if a.hear = hear; err != nil {
			return err
		}
	}
	a.ended = true
	switch r.Status {
	case "completed":
		a.finish = finishStop
	case "incomplete":
		a.finish = finishLength
		if r.Incomplete != nil && r.Incomplete.Reason == "content_filter" {
			a.finish = finishFilter
		}
	case "failed", "cancelled":
		return a.cut("the provider says that the response " + r.Status + ", and no more")
	default:
		return a.cut("the response has no end")
	}
	return nil
}
