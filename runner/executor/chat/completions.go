package chat

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// completions is the API of chat completions, of OpenAI and of many other servers.
type completions struct{}

func (completions) request(c *conversation) (string, map[string]string, map[string]any) {
	var list []any
	if c.system != "" {
		list = append(list, map[string]any{"role": "system", "content": c.system})
	}
	list = append(list, map[string]any{"role": "user", "content": c.said()})
	for _, t := range c.sent() {
		var calls, results []any
		for i := range t.calls {
			k := &t.calls[i]
			calls = append(calls, map[string]any{"id": k.id, "type": "function", "function": map[string]any{"name": k.name, "arguments": k.givenText()}})
			results = append(results, map[string]any{"role": "tool", "tool_call_id": k.id, "content": t.results[i].text})
		}
		list = append(append(list, map[string]any{"role": "assistant", "content": t.text, "tool_calls": calls}), results...)
	}
	body := map[string]any{"model": c.chat.Model, "messages": list, "stream": true, "stream_options": map[string]any{"include_usage": true}}
	if n := c.chat.MaxTokens; n > 0 {
		// OpenAI has renamed it, and refuses the old name for some models; other servers know the old one.
		name := "max_tokens"
		if u, err := url.Parse(c.base); err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com")) {
			name = "max_completion_tokens"
		}
		body[name] = float64(n)
	}
	if t := c.chat.Temperature; t != nil {
		body["temperature"] = *t
	}
	if c.schema != nil {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": schemaName, "schema": c.schema, "strict": c.strict}}
	}
	var tools []any
	for i := range c.tools {
		t := &c.tools[i]
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": t.name, "description": t.about, "parameters": t.schema}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return c.base + "/chat/completions", bearer(c), body
}

func bearer(c *conversation) map[string]string {
	if c.chat.Key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + c.chat.Key}
}

// completion is an event of a stream, or a whole answer.
type completion struct {
	Choices []struct {
		Index        int             `json:"index"`
		Delta        completionWords `json:"delta"`
		Message      completionWords `json:"message"`
		FinishReason string          `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
		Details          struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type completionWords struct {
	Content   words  `json:"content"`
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// words is a content: a text, or a list of parts, as some servers give it.
type words string

func (w *words) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*w = words(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			*w += words(p.Text)
		}
	}
	return nil
}

func (completions) whole(text []byte, a *answer) *event.Error { return completions{}.add(text, a) }

func (completions) take(e sse.Event, a *answer) *event.Error {
	return completions{}.add([]byte(e.Data), a)
}

func (completions) add(text []byte, a *answer) *event.Error {
	var c completion
	if err := a.parse(text, &c); err != nil {
		return err
	}
	if isError(c.Error) {
		return a.failed(c.Error)
	}
	if u := c.Usage; u != nil {
		a.counted, a.in, a.out, a.cached = true, u.PromptTokens, u.CompletionTokens, u.Details.Cached
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 { // nobody asked for several
			continue
		}
		for _, w := range []*completionWords{&choice.Message, &choice.Delta} {
			if err := a.addWords(w); err != nil {
				return err
			}
		}
		switch choice.FinishReason {
		case "":
		case "length":
			a.finish = finishLength
		case "content_filter":
			a.finish = finishFilter
		case "tool_calls", "function_call":
			a.finish = finishTools
		case "error": // of servers that stand before several providers
			return a.cut("the provider behind the server failed")
		default:
			a.finish = finishStop
		}
	}
	return nil
}

func (a *answer) addWords(w *completionWords) *event.Error {
	a.refuse(w.Refusal)
	if err := a.say(string(w.Content)); err != nil {
		return err
	}
	for i, t := range w.ToolCalls {
		if t.Index != nil {
			i = *t.Index
		}
		c := a.call(i)
		if c == nil {
			return a.cut("the answer calls too many tools")
		}
		c.named(t.ID, t.Function.Name)
		if err := c.argue(t.Function.Arguments); err != nil {
			return err
		}
	}
	return nil
}
