package chat

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/window"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// turn is an answer of the model that calls tools, and what they gave: a result for each call.
type turn struct {
	text     string
	thoughts []string // before the text
	calls    []call
	results  []result
}

// result is what a call of a tool gave.
type result struct {
	text   string
	failed bool // the text says why
}

// sent are the turns that are sent.
func (c *conversation) sent() []*turn {
	var out []*turn
	for i := c.first; i < len(c.turns); i++ {
		out = append(out, &c.turns[i])
	}
	return out
}

// converse asks the model, and carries out the calls of its answer, until it answers without a call.
func (t *talk) converse(c *conversation, box *toolbox) *event.Error {
	for n := 1; ; n++ {
		if err := c.fit(); err != nil {
			return err
		}
		said, err := t.ask(c)
		if err != nil {
			return err
		}
		if len(said.calls) == 0 {
			return t.finish(c, said)
		}
		if n >= t.chat.MaxTurns {
			return &event.Error{Kind: event.Blocking, Reason: event.ReasonMaxTurns, ExitCode: -1, Message: fmt.Sprintf(
				"the model still calls tools in answer %d, and max_turns = %d; raise it, or give a smaller task", n, t.chat.MaxTurns)}
		}
		now := turn{text: t.mask.Text(said.text.String()), thoughts: said.thoughts, calls: said.calls}
		for i := range now.calls {
			t.complete(&now, i, n)
		}
		if now.results, err = t.callAll(box, c, now.calls); err != nil {
			return err
		}
		c.turns = append(c.turns, now)
	}
}

// complete gives a call the id that it lacks, and takes secrets out that came in pieces.
func (t *talk) complete(now *turn, i, n int) {
	k := &now.calls[i]
	k.name, k.args = t.mask.Text(k.name), []byte(t.mask.Text(executor.Valid(k.args)))
	for j := range now.calls[:i] {
		if now.calls[j].id == k.id {
			k.id = ""
		}
	}
	if k.id == "" {
		k.id, k.made = fmt.Sprintf("call_%d_%d", n, i+1), true
	}
}

// given are the arguments of a call; an object without members if they are not an object.
func (k *call) given() map[string]any {
	if v, err := k.arguments(); err == nil {
		return v
	}
	return map[string]any{}
}

func (k *call) givenText() string { return string(value.Append(nil, k.given())) }

// arguments reads the arguments of a call.
func (k *call) arguments() (map[string]any, error) {
	if len(k.args) == 0 || string(k.args) == "null" {
		return map[string]any{}, nil
	}
	v, err := value.Decode(k.args)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the arguments are not an object")
	}
	return o, nil
}

// fit keeps what is sent below the bound of the file: a summary takes the place of older turns.
func (c *conversation) fit() *event.Error {
	if c.chat.ContextTokens == 0 {
		return nil
	}
	var list []window.Message
	begins, given := map[string]int{}, map[string]*string{} // the turns by the id of their first message, the results by theirs
	for i := range c.turns {
		t := &c.turns[i]
		said := window.Message{ID: fmt.Sprintf("m%d", i+1), Role: "assistant", Text: t.text, Beside: tokensOf(t.thoughts)}
		begins[said.ID] = i
		for j := range t.calls {
			said.Text += "\n" + t.calls[j].name + " " + t.calls[j].givenText()
			said.Beside += tokensOf(t.calls[j].thoughts)
			said.Calls = append(said.Calls, strconv.Itoa(i)+"."+t.calls[j].id)
		}
		list = append(list, said)
		for j := range t.results {
			m := window.Message{ID: fmt.Sprintf("m%d.%d", i+1, j+1), Role: "tool", Text: t.results[j].text, Answers: said.Calls[j]}
			list, given[m.ID] = append(list, m), &t.results[j].text
		}
	}
	f, err := window.FitLast(window.Content{Soul: c.system, System: c.fixed(), Summary: c.summary, Messages: list}, window.Options{Budget: c.chat.ContextTokens})
	if err != nil && c.forgetThoughts() {
		return c.fit()
	}
	if err != nil {
		return &event.Error{Kind: event.Blocking, Reason: event.ReasonContextLength, ExitCode: -1, Message: fmt.Sprintf(
			"soul, tools, task and the last results of tools have more than context_tokens = %d; raise it, or make them shorter", c.chat.ContextTokens)}
	}
	c.summary, c.first = f.Summary, len(c.turns)
	if len(f.Messages) > 0 {
		c.first = begins[f.Messages[0].ID]
	}
	for _, m := range f.Messages { // one that alone is too large was cut
		if text := given[m.ID]; text != nil {
			*text = m.Text
		} else if slices.Contains(f.Cut, m.ID) {
			t := &c.turns[begins[m.ID]]
			t.text = ""
			for j := range t.calls {
				t.calls[j].args = nil
			}
			t.forgetThoughts()
		}
	}
	return nil
}

// tokensOf estimates the tokens of reasoning by its length.
func tokensOf(thoughts []string) (n int) {
	for _, s := range thoughts {
		n += text.Tokens(s)
	}
	return n
}

// forgetThoughts leaves the reasoning of all turns out, and reports whether there was some.
func (c *conversation) forgetThoughts() (had bool) {
	for i := range c.turns {
		had = c.turns[i].forgetThoughts() || had
	}
	return had
}

func (t *turn) forgetThoughts() (had bool) {
	had, t.thoughts = len(t.thoughts) > 0, nil
	for i := range t.calls {
		had, t.calls[i].thoughts = had || len(t.calls[i].thoughts) > 0, nil
	}
	return had
}

// fixed is what is always sent beside the soul, for an estimate of its tokens.
func (c *conversation) fixed() string {
	all := c.user
	for i := range c.tools {
		t := &c.tools[i]
		all += t.name + t.about + string(value.Append(nil, t.schema))
	}
	return all
}

// resultBytes is how many bytes a result of a tool may have where so many are given at once: together they take at most a third of the context.
func (c *conversation) resultBytes(calls int) int {
	if c.chat.ContextTokens == 0 {
		return maxResult
	}
	return min(maxResult, c.chat.ContextTokens/calls) // a token is estimated as three and a half bytes
}
