package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory/window"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// dialect is what the API of a provider wants and says.
type dialect interface {
	// request is the address, the headers and the body of the request for the next answer of the model.
	request(c *conversation) (address string, headers map[string]string, body map[string]any)
	// take adds one event of a stream to the answer. An event of a kind that it does not know changes nothing.
	take(e sse.Event, a *answer) *event.Error
	// whole adds an answer that is not a stream.
	whole(text []byte, a *answer) *event.Error
}

// dialects are all that are spoken, by provider and API.
var dialects = map[string]dialect{
	string(ir.OpenAI): completions{}, string(ir.OpenAI) + "/" + string(ir.APIResponses): responses{},
	string(ir.Anthropic): messages{}, string(ir.Gemini): gemini{},
}

// conversation is what a model is asked.
type conversation struct {
	base   string
	chat   *event.ChatRequest
	system string
	user   string
	schema map[string]any // of the answer; nil: the answer is a text
	strict bool           // the schema says all of its objects
	wraps  bool           // the answer stands in an object, because its type is not one
	byCall bool           // the model gives the answer by calling a tool

	tools   []tool // that the model may use
	turns   []turn // what it said before, and what its tools gave
	summary *window.Summary
	first   int  // of the turns that are sent; the summary stands for those before
	plain   bool // the model does not reason: no reasoning is asked for
}

// said is what the user says: the task, and what became of the turns that are no longer sent.
func (c *conversation) said() string {
	if c.summary == nil {
		return c.user
	}
	return c.user + "\n\n" + strings.TrimRight(c.summary.Text(), "\n")
}

func (c *conversation) dialect() string {
	if c.chat.API == "" {
		return string(c.chat.Provider)
	}
	return string(c.chat.Provider) + "/" + string(c.chat.API)
}

// schemaName is the name of the schema of an answer, and of the tool by which Anthropic gives one.
const schemaName = "answer"

// finish says how an answer ended.
type finish string

const (
	finishStop    finish = "stop"
	finishLength  finish = "length"  // at the bound of tokens
	finishFilter  finish = "filter"  // the provider stopped it
	finishRefusal finish = "refusal" // the model refused
	finishContext finish = "context" // the context of the model was full
	finishTools   finish = "tools"   // the model wants tools to be called
)

// answer is what has come of an answer.
type answer struct {
	what    string // the request, in messages
	text    strings.Builder
	refusal strings.Builder
	calls   []call
	finish  finish
	why     string // in the provider's word, where that says more than finish
	ended   bool   // nothing more comes
	garbled bool   // what came was not the JSON of the API
	hear    func(text string)

	in, cached, out int64
	counted         bool

	thoughts []string // of OpenAI's responses: the reasoning before the text, encrypted
	thinking []string // reasoning of which the text or the call behind has not come yet
	thought  int      // bytes of all reasoning

	blocks map[int]*block // of Anthropic
	inside int            // bytes in them
}

// call is a tool that the model wants to be called.
type call struct {
	id, name  string
	args      []byte
	signature string   // of Gemini, which wants it back
	thoughts  []string // of OpenAI's responses: the reasoning before the call, encrypted
	made      bool     // the id is one of ours
}

// maxCalls is how many calls of tools an answer has at most.
const maxCalls = 128

// settle makes text and calls of the parts of an answer. The call that gives the answer is the answer, if it stands alone: beside others it is a
// call like them, because the model has not seen yet what those give.
func (a *answer) settle(c *conversation) {
	a.joinBlocks()
	a.calls = slices.DeleteFunc(a.calls, func(c call) bool { return c.id == "" && c.name == "" && len(c.args) == 0 }) // a stream may leave numbers out
	if c.byCall && len(a.calls) == 1 && a.calls[0].name == schemaName {
		a.text.Reset()
		if a.text.Write(a.calls[0].args); a.text.Len() == 0 {
			a.text.WriteString("{}")
		}
		a.calls = nil
	}
}

// say adds text to the answer. It fails where there is too much.
func (a *answer) say(text string) *event.Error {
	if a.text.Len()+len(text) > limits.MaxOutput {
		return executor.TooLarge("the answer", int64(a.text.Len()+len(text)))
	}
	a.text.WriteString(text)
	if a.hear != nil && text != "" {
		a.hear(text)
	}
	return nil
}

// refuse adds to the words by which the model refuses.
func (a *answer) refuse(text string) {
	if a.refusal.Len() < executor.MaxMessage {
		a.refusal.WriteString(text)
	}
}

// call returns the call of a number, a new one if need be; nil beyond the bound.
func (a *answer) call(i int) *call {
	if i < 0 || i >= maxCalls {
		return nil
	}
	for len(a.calls) <= i {
		a.calls = append(a.calls, call{})
	}
	return &a.calls[i]
}

// named adds to the id and the name of a call, which some servers give in pieces.
func (c *call) named(id, name string) {
	const most = 1000
	if len(c.id)+len(id) <= most && len(c.name)+len(name) <= most {
		c.id, c.name = c.id+id, c.name+name
	}
}

// argue adds to the arguments of a call, within the bound of an output.
func (c *call) argue(text string) *event.Error {
	if len(c.args)+len(text) > limits.MaxOutput {
		return executor.TooLarge("the arguments of a tool", int64(len(c.args)+len(text)))
	}
	c.args = append(c.args, text...)
	return nil
}

// usage is what the provider said that the answer used; nil if it said nothing.
func (a *answer) usage(p *event.ChatPrices) *event.Usage {
	if !a.counted {
		return nil
	}
	count := func(n int64) int64 { return min(max(n, 0), 1<<50) }
	in, cached, out := count(a.in), count(a.cached), count(a.out)
	u := &event.Usage{InputTokens: in, OutputTokens: out}
	if p != nil {
		cached = min(cached, in)
		u.CostUSD = (float64(float64(in-cached)*p.Input) + float64(float64(cached)*p.CachedInput) + float64(float64(out)*p.Output)) / 1e6
	}
	return u
}

// cut is the error of an answer that did not come whole.
func (a *answer) cut(text string) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, ExitCode: -1, Message: a.what + ": " + text}
}

// judge is the error that the end of an answer is; nil where it ended well.
func (a *answer) judge(c *conversation) *event.Error {
	refused := strings.Join(strings.Fields(a.refusal.String()), " ")
	bad := func(kind event.ErrorKind, reason event.Reason, text string) *event.Error {
		return &event.Error{Kind: kind, Reason: reason, ExitCode: -1, Message: text}
	}
	also := ""
	if a.why != "" {
		also = " (" + executor.Clip(a.why, 200) + ")"
	}
	switch {
	case a.finish == finishFilter:
		return bad(event.Blocking, event.ReasonContentFilter, "the provider's content filter stopped the answer"+also)
	case a.finish == finishRefusal || refused != "":
		if refused == "" {
			refused = strings.Join(strings.Fields(a.text.String()), " ")
		}
		if refused != "" {
			refused = ": " + executor.Clip(refused, 1000)
		}
		return bad(event.Blocking, event.ReasonRefusal, "the model refused the task"+also+refused)
	case a.finish == finishContext:
		return bad(event.Blocking, event.ReasonContextLength, "the answer was cut because the model's context is full; make the task, with or soul shorter")
	case a.finish == finishLength && c.chat.MaxTokens > 0:
		return bad(event.Blocking, event.ReasonMaxTokens, "the answer was cut at max_tokens = "+number(c.chat.MaxTokens)+"; raise it, or ask for a shorter answer")
	case a.finish == finishLength:
		return bad(event.Blocking, event.ReasonMaxTokens, "the answer was cut at the provider's limit; set max_tokens, or ask for a shorter answer")
	case len(a.calls) > maxCalls:
		return a.cut("the answer calls too many tools")
	case len(a.calls) > 0 && len(c.tools) > 0:
		return nil
	case a.finish == finishTools && len(c.tools) > 0:
		return bad(event.Recoverable, event.ReasonAgent, "the model called a tool, and the provider could not read the call"+also)
	case len(a.calls) > 0 || a.finish == finishTools:
		name := ""
		if len(a.calls) > 0 {
			name = " " + executor.Clip(a.calls[0].name, 100)
		}
		return bad(event.Recoverable, event.ReasonAgent, "the model called the tool"+name+", which it was not given")
	case strings.TrimSpace(a.text.String()) == "":
		return bad(event.Recoverable, event.ReasonAgent, "the model gave an empty answer")
	}
	return nil
}

func number(n int) string { return string(value.AppendNumber(nil, float64(n))) }

// output is the output that an answer is.
func (c *conversation) output(a *answer) (value.Value, *event.Error) {
	text := a.text.String()
	if c.schema == nil {
		return strings.TrimRight(text, "\n"), nil
	}
	v, err := value.Decode([]byte(executor.Unfenced(text)))
	if err != nil {
		return nil, &event.Error{Kind: event.Recoverable, Reason: event.ReasonBadJSON, ExitCode: -1, Message: "the answer of the model is not the JSON that its output type asks for: " + executor.Clip(err.Error(), 300)}
	}
	if c.wraps {
		o, _ := v.(map[string]any)
		inner, there := o["value"]
		if !there || len(o) != 1 {
			return v, nil // a server that does not know schemas may give the value itself; the type judges it
		}
		return inner, nil
	}
	return v, nil
}

// partial is what has come of an answer that failed; nil if that is of no use.
func (c *conversation) partial(a *answer) value.Value {
	text := strings.TrimRight(a.text.String(), "\n")
	if text == "" {
		return nil
	}
	if c.schema == nil {
		return text
	}
	if _, err := value.Decode([]byte(executor.Unfenced(text))); err != nil {
		return nil
	}
	v, _ := c.output(a)
	return v
}

// parse reads the JSON of an event. What is not JSON is the server's or a proxy's fault, and passes.
func (a *answer) parse(text []byte, into any) *event.Error {
	if err := json.Unmarshal(text, into); err != nil {
		a.garbled = true
		return a.cut("the server sent something that is not the JSON of this API: " + executor.Clip(err.Error(), 200))
	}
	return nil
}
