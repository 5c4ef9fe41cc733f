package chat

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// messages is the API of Anthropic.
type messages struct{}

// anthropicVersion is the version of the API that is spoken.
const anthropicVersion = "2023-06-01"

// anthropicTokens is max_tokens where the file does not say it: the API wants one.
const anthropicTokens = 8192

func (messages) request(c *conversation) (string, map[string]string, map[string]any) {
	body := map[string]any{"model": c.chat.Model, "stream": true, "max_tokens": float64(anthropicTokens),
		"messages": messageList(c)}
	if c.system != "" {
		body["system"] = c.system
	}
	if n := c.chat.MaxTokens; n > 0 {
		body["max_tokens"] = float64(n)
	}
	if t := c.chat.Temperature; t != nil {
		body["temperature"] = *t
	}
	var tools []any
	for i := range c.tools {
		t := &c.tools[i]
		tools = append(tools, map[string]any{"name": t.name, "description": t.about, "input_schema": t.schema})
	}
	if c.schema != nil { // a tool that the model must call: all models know tools
		tools = append(tools, map[string]any{"name": schemaName, "description": aboutAnswer, "input_schema": c.schema})
		body["tool_choice"] = map[string]any{"type": "tool", "name": schemaName, "disable_parallel_tool_use": true}
		if len(c.tools) > 0 {
			body["tool_choice"] = map[string]any{"type": "any"}
		}
	}
	if tools != nil {
		body["tools"] = tools
	}
	headers := map[string]string{"Anthropic-Version": anthropicVersion}
	if c.chat.Key != "" {
		headers["X-Api-Key"] = c.chat.Key
	}
	return c.base + "/v1/messages", headers, body
}

// aboutAnswer describes the tool by which a model gives its answer.
const aboutAnswer = "Give your answer."

// messageList is the conversation as messages.
func messageList(c *conversation) []any {
	list := []any{map[string]any{"role": "user", "content": c.said()}}
	for _, t := range c.sent() {
		var said, results []any
		if strings.TrimSpace(t.text) != "" {
			said = append(said, map[string]any{"type": "text", "text": t.text})
		}
		for i := range t.calls {
			k := &t.calls[i]
			said = append(said, map[string]any{"type": "tool_use", "id": k.id, "name": k.name, "input": k.given()})
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": k.id, "content": t.results[i].text, "is_error": t.results[i].failed})
		}
		list = append(list, map[string]any{"role": "assistant", "content": said}, map[string]any{"role": "user", "content": results})
	}
	return list
}

// block is a part of an answer of Anthropic.
type block struct {
	kind, id, name string
	text           strings.Builder
}

// maxBlocks is how many parts an answer has at most.
const maxBlocks = 1000

type messageUsage struct {
	Input   *int64 `json:"input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Cached  *int64 `json:"cache_read_input_tokens"`
	Output  *int64 `json:"output_tokens"`
}

type messageBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Text  string          `json:"text"`
	Input json.RawMessage `json:"input"`
}

type message struct {
	Type       string          `json:"type"`
	Content    []messageBlock  `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *messageUsage   `json:"usage"`
	Error      json.RawMessage `json:"error"`
}

func (messages) take(e sse.Event, a *answer) *event.Error {
	var m struct {
		Type    string        `json:"type"`
		Index   int           `json:"index"`
		Message *message      `json:"message"`
		Block   *messageBlock `json:"content_block"`
		Delta   struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			JSON       string `json:"partial_json"`
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
		Usage *messageUsage   `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := a.parse([]byte(e.Data), &m); err != nil {
		return err
	}
	if m.Type == "" {
		m.Type = e.Name
	}
	switch m.Type {
	case "message_start":
		if m.Message != nil {
			a.count(m.Message.Usage)
		}
	case "content_block_start":
		if b := a.block(m.Index); b != nil && m.Block != nil {
			b.kind, b.id, b.name = m.Block.Type, m.Block.ID, executor.Clip(m.Block.Name, 200)
			return a.addTo(b, m.Block.Text)
		}
	case "content_block_delta":
		b := a.block(m.Index)
		if b == nil {
			return a.cut("the answer has too many parts")
		}
		switch m.Delta.Type {
		case "text_delta":
			if b.kind == "" {
				b.kind = "text"
			}
			return a.addTo(b, m.Delta.Text)
		case "input_json_delta":
			return a.addTo(b, m.Delta.JSON)
		}
	case "message_delta":
		a.count(m.Usage)
		a.stopped(m.Delta.StopReason)
	case "message_stop":
		a.ended = true
		if a.finish == "" {
			return a.cut("the answer ended without a reason")
		}
	case "error":
		return a.failed(m.Error)
	case "":
		if isError(m.Error) {
			return a.failed(m.Error)
		}
	}
	return nil
}

func (messages) whole(text []byte, a *answer) *event.Error {
	var m message
	if err := a.parse(text, &m); err != nil {
		return err
	}
	if m.Type == "error" || isError(m.Error) {
		return a.failed(m.Error)
	}
	a.count(m.Usage)
	for i := range m.Content {
		from := &m.Content[i]
		b := a.block(i)
		if b == nil {
			return a.cut("the answer has too many parts")
		}
		b.kind, b.id, b.name = from.Type, from.ID, executor.Clip(from.Name, 200)
		text := from.Text
		if from.Type == "tool_use" {
			text = string(from.Input)
		}
		if err := a.addTo(b, text); err != nil {
			return err
		}
	}
	a.stopped(m.StopReason)
	return nil
}

func (a *answer) count(u *messageUsage) {
	if u == nil {
		return
	}
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	a.counted = true
	if u.Input != nil { // it does not count what the cache gave or took
		a.in, a.cached = number(u.Input)+number(u.Written)+number(u.Cached), number(u.Cached)
	}
	if u.Output != nil {
		a.out = *u.Output
	}
}

// block returns the part of a number; nil beyond the bound.
func (a *answer) block(i int) *block {
	if i < 0 || i >= maxBlocks {
		return nil
	}
	if a.blocks == nil {
		a.blocks = map[int]*block{}
	}
	if a.blocks[i] == nil {
		a.blocks[i] = &block{}
	}
	return a.blocks[i]
}

// addTo adds to a part. The parts of an answer have no more bytes than an output together.
func (a *answer) addTo(b *block, text string) *event.Error {
	if a.inside += len(text); a.inside > limits.MaxOutput {
		return executor.TooLarge("the answer", int64(a.inside))
	}
	b.text.WriteString(text)
	if a.hear != nil && text != "" && (b.kind == "text" || b.kind == "tool_use" && b.name == schemaName) {
		a.hear(text)
	}
	return nil
}

func (a *answer) stopped(reason string) {
	switch reason {
	case "":
	case "max_tokens":
		a.finish = finishLength
	case "refusal":
		a.finish = finishRefusal
	case "model_context_window_exceeded":
		a.finish = finishContext
	default: // end_turn, stop_sequence, pause_turn; tool_use shows by its parts
		a.finish = finishStop
	}
}

// joinBlocks makes the text and the calls of the parts, in their order.
func (a *answer) joinBlocks() {
	for _, i := range slices.Sorted(maps.Keys(a.blocks)) {
		switch b := a.blocks[i]; b.kind {
		case "text":
			a.text.WriteString(b.text.String())
		case "tool_use":
			a.calls = append(a.calls, call{id: b.id, name: b.name, args: []byte(b.text.String())})
		}
	}
	a.blocks = nil
}
