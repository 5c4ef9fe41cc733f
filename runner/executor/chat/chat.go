// Package chat carries out attempts of agents of type chat: it asks a model behind the API of a provider.
//
// It knows three providers and four APIs: chat completions and responses of OpenAI and of the many servers that speak them, messages of
// Anthropic, generateContent of Gemini. It knows no machine, engine or journal: everything stands in the attempt. How a request is sent
// under a timeout, a heartbeat and a mask is the matter of package http. Enter at [New] and [Executor.Execute]; dialect.go says what a
// provider is, package sse reads streams, failure.go says what an error means. turn.go goes on with a conversation while the model
// calls tools of MCP servers, which tools.go has from package mcp.
//
// What always holds, whatever a server sends:
//
//   - Execute returns within the attempt's timeout, and memory does not grow with the answer: see [sse.MaxEvent], [limits.MaxOutput] and
//     [limits.MaxAgentAnswer].
//   - An answer counts only if the provider said that it is complete. A stream that ends before is a transient error.
//   - The model hears only of the tools that the file names, and no call of another one is carried out. A conversation has a bounded number
//     of turns, and each result of a tool is bounded.
//   - The key goes to the origin of the base address and to no other. It is masked in all that comes back, also where it was read from
//     the environment.
package chat

import (
	"context"
	"io"
	"mime"
	"os"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/mask"
	"github.com/flowrun/flowrun/runner/executor/mcp"
	"github.com/flowrun/flowrun/runner/executor/protocol"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct {
	http   *http.Executor
	tools  *mcp.Executor
	getenv func(string) string

	mu    sync.Mutex
	masks map[string]*mask.Masker // by key: one takes milliseconds to make
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor that sends its requests by another, and has tools from a third. Environ is the environment from which keys are
// read; nil means that of the process.
func New(x *http.Executor, tools *mcp.Executor, environ []string) *Executor {
	if environ == nil {
		return &Executor{http: x, tools: tools, getenv: os.Getenv}
	}
	return &Executor{http: x, tools: tools, getenv: func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if text, ok := strings.CutPrefix(environ[i], name+"="); ok {
				return text
			}
		}
		return ""
	}}
}

// Execute carries out one attempt. A provider that misbehaves is an answer, never an error of ours.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	q := *a.Agent.Chat
	if q.Key == "" && q.KeyEnv != "" {
		q.Key = strings.TrimSpace(x.getenv(q.KeyEnv))
	}
	hide := executor.Mask(ctx)
	if hide.Text(q.Key) == q.Key { // the run does not know it as a secret
		hide = hide.And(x.maskOf(q.Key))
	}
	ans := x.http.Talk(executor.WithMask(ctx, hide), a, func(t *http.Talk, ans *event.AttemptFinished) *event.Error {
		talk := &talk{Talk: t, tools: x.tools, attempt: &a, chat: &q, answer: ans, mask: hide}
		if q.Describe != "" {
			return talk.describe()
		}
		if err := checkKey(&q); err != nil {
			return err
		}
		return talk.carryOut()
	})
	executor.Hide(hide, &ans) // a secret can come in pieces, which are joined only here
	return ans
}

// maxMasks is how many keys have a mask at once.
const maxMasks = 32

// maskOf is the mask of a key.
func (x *Executor) maskOf(key string) *mask.Masker {
	x.mu.Lock()
	defer x.mu.Unlock()
	if m, made := x.masks[key]; made {
		return m
	}
	if x.masks == nil || len(x.masks) == maxMasks {
		x.masks = map[string]*mask.Masker{}
	}
	m := mask.New([]string{key})
	x.masks[key] = m
	return m
}

// checkKey refuses a key that cannot be sent.
func checkKey(q *event.ChatRequest) *event.Error {
	text := ""
	switch {
	case q.Key == "" && q.KeyEnv != "":
		text = "the environment variable " + q.KeyEnv + " of the process that carries out the attempt is empty, and key_env says that the key is there"
	case strings.ContainsFunc(q.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		text = "the key holds a character that a key cannot have, such as a space or a line break"
	default:
		return nil
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1, Message: text}
}

// talk is one attempt under way.
type talk struct {
	*http.Talk
	tools   *mcp.Executor
	attempt *event.Attempt
	chat    *event.ChatRequest
	answer  *event.AttemptFinished
	mask    *mask.Masker
}

// carryOut asks the model, with tools if it may use some.
func (t *talk) carryOut() *event.Error {
	c := newConversation(t.attempt, t.chat)
	if len(t.attempt.Agent.Servers) == 0 {
		return t.converse(c, nil)
	}
	failure := t.tools.With(executor.WithMask(t.Context(), t.mask), t.serverAttempts(t.attempt.Agent.Servers), t.Beat, func(ctx context.Context, sessions []*mcp.Session) *event.Error {
		box, err := openTools(ctx, t.attempt.Agent.Servers, sessions)
		if err != nil {
			return err
		}
		c.offer(box)
		return t.converse(c, &toolbox{ctx: ctx, tools: box})
	})
	if failure != nil {
		if ended := t.Ended("the conversation with the model"); ended != nil {
			return ended
		}
	}
	return failure
}

// hear takes what has come of an answer into that of the attempt.
func (t *talk) hear(c *conversation, said *answer) {
	said.settle(c)
	t.answer.Stdout = executor.Clip(said.text.String(), limits.MaxStream)
	if t.answer.Partial = nil; len(said.calls) == 0 { // words beside a call are not an answer
		t.answer.Partial = c.partial(said)
	}
	if u := said.usage(t.chat.Prices); u != nil {
		if t.answer.Usage == nil {
			t.answer.Usage = &event.Usage{}
		}
		t.answer.Usage.Add(*u)
	}
}

// finish takes the last answer as that of the attempt.
func (t *talk) finish(c *conversation, said *answer) (err *event.Error) {
	if t.answer.Output, err = c.output(said); err != nil {
		return err
	}
	t.answer.Partial = nil
	t.answer.Outcome = event.OK
	return nil
}

// ask sends the conversation, and reads the answer of the model. What came of an answer is heard even if there is an error.
func (t *talk) ask(c *conversation) (*answer, *event.Error) {
	d := dialects[c.dialect()]
	address, headers, body := d.request(c)
	reply, err := t.Post(address, headers, value.Append(nil, body))
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	if reply.Status < 200 || reply.Status > 299 {
		said := reply.Excerpt()
		if r, is := d.(responses); is && body["include"] != nil && r.refusesThoughts(reply.Status, said) {
			c.plain = true
			return t.ask(c)
		}
		return nil, failed(reply, said)
	}
	said := &answer{what: reply.What}
	lines := t.watch(c)
	defer lines.end()
	said.hear = lines.write
	if isJSON(reply.Header.Get("Content-Type")) {
		err = readWhole(d, reply.Body, reply.Broken, said)
	} else {
		err = readStream(d, reply.Body, reply.Broken, said)
	}
	t.hear(c, said)
	if err != nil {
		return nil, err
	}
	return said, said.judge(c)
}

// readStream reads events until the model has said its last word.
func readStream(d dialect, body io.Reader, broken func(error) *event.Error, said *answer) *event.Error {
	r := sse.NewReader(body)
	for {
		e, err := r.Next()
		switch {
		case err == nil:
		case said.finish != "": // nothing that comes now changes the answer
			return nil
		case err == sse.ErrTooLarge:
			return executor.TooLarge("an event of the stream", sse.MaxEvent+1)
		case err == io.EOF:
			return said.cut("the stream ended before the answer was complete")
		default:
			return broken(err)
		}
		if e.Data == "" {
			continue
		}
		if e.Data == "[DONE]" {
			if said.finish == "" {
				return said.cut("the stream ended before the answer was complete")
			}
			return nil
		}
		finished := said.finish != ""
		failure := d.take(e, said)
		if failure != nil && finished && said.garbled { // the stream broke off behind the answer
			return nil
		}
		if failure != nil || said.ended {
			return failure
		}
	}
}

// readWhole reads an answer that is not a stream: some servers know no streams.
func readWhole(d dialect, body io.Reader, broken func(error) *event.Error, said *answer) *event.Error {
	text, err := io.ReadAll(io.LimitReader(body, sse.MaxEvent+1))
	switch {
	case err != nil:
		return broken(err)
	case len(text) > sse.MaxEvent:
		return executor.TooLarge("the answer", sse.MaxEvent+1)
	}
	if failure := d.whole(text, said); failure != nil {
		return failure
	}
	if said.finish == "" {
		return said.cut("the answer has no end")
	}
	return nil
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// watch makes progress of what the model says: each line of a text, and how much has come of an answer that has a type.
func (t *talk) watch(c *conversation) *progress {
	p := &progress{typed: c.wraps || c.schema != nil, say: func(text string) { t.Say("progress", text) }}
	p.masked = t.mask.Writer(p.take)
	return p
}

// progressStep is after how many bytes of an answer with a type its progress is told.
const progressStep = 1000

// maxProgressLine is where a line is cut that does not end.
const maxProgressLine = 400

// progress tells what a model says, line by line. Secrets are masked before anything is cut.
type progress struct {
	typed  bool
	say    func(string)
	masked *mask.Writer
	line   []byte
	total  int
}

func (p *progress) write(text string) { p.masked.Write([]byte(text)) }

func (p *progress) take(b []byte) {
	before := p.total
	p.total += len(b)
	if p.typed {
		if p.total/progressStep > before/progressStep {
			p.say(string(value.AppendNumber(nil, float64(p.total))) + " bytes of the answer")
		}
		return
	}
	for _, c := range b {
		if c == '\n' || len(p.line) == maxProgressLine {
			p.tell()
		}
		if c != '\n' {
			p.line = append(p.line, c)
		}
	}
}

func (p *progress) tell() {
	if text := strings.TrimSpace(executor.Valid(p.line)); text != "" {
		p.say(text)
	}
	p.line = p.line[:0]
}

func (p *progress) end() {
	p.masked.End()
	p.tell()
}

// newConversation makes the messages of an attempt: the soul is the instruction of the system, and what else the agent is told is what
// the user says.
func newConversation(a *event.Attempt, q *event.ChatRequest) *conversation {
	c := &conversation{base: strings.TrimRight(a.HTTP.URL, "/"), chat: q, system: strings.TrimSpace(a.Agent.Soul)}
	told := *a
	agent := *a.Agent
	agent.Input, agent.Soul = "text", ""
	told.Agent = &agent
	c.user = strings.TrimSpace(string(protocol.Request(&told)))
	if c.user == "" { // providers refuse an empty message
		c.user = "Begin."
	}
	c.byCall = q.Provider == ir.Anthropic
	if t := q.Output; t != nil && !t.IsAny() && t.Kind != value.StringT {
		c.schema, c.strict, c.wraps = schemaOf(*t)
	}
	return c
}
