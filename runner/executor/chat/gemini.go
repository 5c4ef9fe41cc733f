package chat

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// gemini is the API generateContent.
type gemini struct{}

func (gemini) request(c *conversation) (string, map[string]string, map[string]any) {
	text := func(s string) []any { return []any{map[string]any{"text": s}} }
	contents := []any{map[string]any{"role": "user", "parts": text(c.said())}}
	for _, t := range c.sent() {
		contents = append(contents, geminiTurn(t)...)
	}
	body := map[string]any{"contents": contents}
	if c.system != "" {
		body["systemInstruction"] = map[string]any{"parts": text(c.system)}
	}
	config := map[string]any{}
	if n := c.chat.MaxTokens; n > 0 {
		config["maxOutputTokens"] = float64(n)
	}
	if t := c.chat.Temperature; t != nil {
		config["temperature"] = *t
	}
	var tools []any
	for i := range c.tools {
		t := &c.tools[i]
		tools = append(tools, map[string]any{"name": t.name, "description": t.about, "parametersJsonSchema": t.schema})
	}
	if c.byCall {
		tools = append(tools, map[string]any{"name": schemaName, "description": aboutAnswer, "parametersJsonSchema": c.schema})
		body["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY"}}
	}
	if tools != nil {
		body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
	}
	if c.schema != nil && !c.byCall {
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", c.schema
	}
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	var headers map[string]string
	if c.chat.Key != "" { // in a header: addresses are logged
		headers = map[string]string{"X-Goog-Api-Key": c.chat.Key}
	}
	return c.base + "/v1beta/models/" + url.PathEscape(c.chat.Model) + ":streamGenerateContent?alt=sse", headers, body
}

// geminiTurn is a turn as two contents.
func geminiTurn(t *turn) []any {
	var said, results []any
	if t.text != "" {
		said = append(said, map[string]any{"text": t.text})
	}
	for i := range t.calls {
		k, name := &t.calls[i], "output"
		if t.results[i].failed {
			name = "error"
		}
		one := map[string]any{"name": k.name, "args": k.given()}
		result := map[string]any{"name": k.name, "response": map[string]any{name: t.results[i].text}}
		if !k.made {
			one["id"], result["id"] = k.id, k.id
		}
		part := map[string]any{"functionCall": one}
		if k.signature != "" {
			part["thoughtSignature"] = k.signature
		}
		said, results = append(said, part), append(results, map[string]any{"functionResponse": result})
	}
	return []any{map[string]any{"role": "model", "parts": said}, map[string]any{"role": "user", "parts": results}}
}

type generated struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []struct {
				Text    string `json:"text"`
				Thought bool   `json:"thought"`
				Signed  string `json:"thoughtSignature"`
				Call    *struct {
					ID   string          `json:"id"`
					Name string          `json:"name"`
					Args json.RawMessage `json:"args"`
				} `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback *struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int64 `json:"promptTokenCount"`
		Candidates int64 `json:"candidatesTokenCount"`
		Thoughts   int64 `json:"thoughtsTokenCount"`
		Cached     int64 `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

func (gemini) take(e sse.Event, a *answer) *event.Error { return gemini{}.add([]byte(e.Data), a) }

// whole takes an object, or the list of objects that the API streams where nobody asks for events.
func (gemini) whole(text []byte, a *answer) *event.Error {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '[' {
		return gemini{}.add(text, a)
	}
	var list []json.RawMessage
	if err := a.parse(text, &list); err != nil {
		return err
	}
	for _, one := range list {
		if err := (gemini{}).add(one, a); err != nil {
			return err
		}
	}
	return nil
}

func (gemini) add(text []byte, a *answer) *event.Error {
	var g generated
	if err := a.parse(text, &g); err != nil {
		return err
	}
	if isError(g.Error) {
		return a.failed(g.Error)
	}
	if u := g.Usage; u != nil {
		a.counted, a.in, a.out, a.cached = true, u.Prompt, u.Candidates+u.Thoughts, u.Cached
	}
	if g.Feedback != nil && g.Feedback.BlockReason != "" {
		a.finish, a.why = finishFilter, g.Feedback.BlockReason
		return nil
	}
	for i := range g.Candidates {
		one := &g.Candidates[i]
		if one.Index != 0 {
			continue
		}
		for _, p := range one.Content.Parts {
			switch {
			case p.Thought:
			case p.Call != nil:
				c := a.call(len(a.calls))
				if c == nil {
					return a.cut("the answer calls too many tools")
				}
				c.named(p.Call.ID, p.Call.Name)
				c.signature = p.Signed
				if err := c.argue(string(p.Call.Args)); err != nil {
					return err
				}
			default:
				if err := a.say(p.Text); err != nil {
					return err
				}
			}
		}
		switch r := one.FinishReason; r {
		case "", "FINISH_REASON_UNSPECIFIED":
		case "MAX_TOKENS":
			a.finish = finishLength
		case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE":
			a.finish, a.why = finishFilter, r
		case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
			a.finish = finishTools
		case "STOP":
			a.finish = finishStop
		default:
			return a.cut("the provider stopped the answer (" + r + ")")
		}
	}
	return nil
}
