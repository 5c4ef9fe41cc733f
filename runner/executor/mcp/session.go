package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
)

const (
	// maxMessage is how long a message of a server can be, in bytes: a result has its text and its structured content.
	maxMessage = 4 * limits.MaxOutput
	// maxTools bounds how many tools of a server are looked at.
	maxTools = 2000
	// maxNear bounds how many names of tools a message lists.
	maxNear = 20
	// rejected is the code with which the SDK says that a request was not sent, or was not answered in the protocol.
	rejected = -32005
)

// Session is a connection to one server. It is safe for concurrent use.
type Session struct {
	x       *Executor
	attempt *event.Attempt
	peer    *http.Peer // nil: the server is a program
	wire    *wire      // nil: the server is a service
	told    told
	with    *sdk.ClientSession
	alive   func() // hears that the server reported something; may be nil
}

// Tool is what a server says of a tool.
type Tool struct {
	Name        string
	Description string
	// Input is the JSON Schema of the arguments.
	Input value.Value
	// Said is all that the server says and that a pin compares: an object of name, title, description, inputSchema, outputSchema and
	// annotations, without members that the server leaves out.
	Said map[string]value.Value
}

// Result is what a tool gives.
type Result struct {
	// Text is the text of the content, its blocks joined by newlines. Content that is not text stands in it as JSON.
	Text string
	// Structured is the structured content; nil if there is none.
	Structured value.Value
	// Content are the blocks of the content where one of them is not text; nil otherwise.
	Content value.Value
	// Failed says that the tool reports an error: Text says which.
	Failed bool
}

// begin connects and calls use.
func (s *Session) begin(ctx context.Context, t sdk.Transport, use func(context.Context) *event.Error) *event.Error {
	client := sdk.NewClient(&sdk.Implementation{Name: "flowrun", Version: s.x.opt.Release}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, // it offers no roots, no model and no person
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			s.report(ctx, "progress", progressText(r.Params))
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			text, ok := r.Params.Data.(string)
			if !ok {
				b, _ := json.Marshal(r.Params.Data)
				text = string(b)
			}
			s.report(ctx, "log", text)
		},
	})
	var err error
	if s.with, err = client.Connect(ctx, t, nil); err != nil {
		return s.broken(ctx, "connect", err)
	}
	failure := use(ctx)
	_ = s.with.Close() // its answer is there
	return failure
}

func (s *Session) report(ctx context.Context, kind, text string) {
	if s.alive != nil {
		s.alive()
	}
	if s.x.opt.Live != nil {
		s.x.opt.Live(*s.attempt, kind, executor.Mask(ctx).Text(executor.Clip(text, executor.MaxMessage)))
	}
}

// progressText is a progress notification as a line.
func progressText(p *sdk.ProgressNotificationParams) string {
	number := func(f float64) string { return string(value.AppendNumber(nil, f)) }
	text := ""
	switch {
	case p.Total > 0:
		text = number(p.Progress) + " of " + number(p.Total)
	case p.Message == "":
		text = number(p.Progress)
	}
	if p.Message == "" {
		return text
	}
	return strings.TrimSpace(text + " " + p.Message)
}

// Tools lists the tools of a server whose names are in allow, in the order of allow; nil allows all, in the order of the server. A name that
// the server does not have is an error.
func (s *Session) Tools(ctx context.Context, allow []string) ([]Tool, *event.Error) {
	var all []Tool
	for t, err := range s.with.Tools(ctx, nil) {
		if err != nil {
			return nil, s.broken(ctx, "list the tools", err)
		}
		if len(all) == maxTools {
			return nil, failed(event.Blocking, "the server has more than %d tools", maxTools)
		}
		said, err := describe(t)
		if err != nil {
			return nil, failed(event.Blocking, "the server's tool %.60q cannot be read: %v", t.Name, err)
		}
		all = append(all, Tool{Name: t.Name, Description: t.Description, Input: said["inputSchema"], Said: said})
	}
	if allow == nil {
		return all, nil
	}
	out := make([]Tool, 0, len(allow))
	for _, name := range allow {
		i := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
		if i < 0 {
			return nil, failed(event.Blocking, "the server has no tool %q; it has %s", name, names(all))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// names lists tools for a message.
func names(tools []Tool) string {
	var out []string
	for i := range tools {
		if i == maxNear {
			out = append(out, "…")
			break
		}
		out = append(out, executor.Clip(tools[i].Name, 60))
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

// describe gives what is compared of a tool.
func describe(t *sdk.Tool) (map[string]value.Value, error) {
	text, err := json.Marshal(map[string]any{"name": t.Name, "title": t.Title, "description": t.Description, "inputSchema": t.InputSchema,
		"outputSchema": t.OutputSchema, "annotations": t.Annotations})
	if err != nil {
		return nil, err
	}
	v, err := value.Decode(text)
	if err != nil {
		return nil, err
	}
	said := v.(map[string]any)
	for name, v := range said { // any order: each by itself
		if v == nil || v == "" {
			delete(said, name)
		}
	}
	return said, nil
}

// Call calls a tool. An error of the tool itself is a Result that Failed; the error is one of the server, the connection or the protocol.
func (s *Session) Call(ctx context.Context, name string, arguments map[string]value.Value) (Result, *event.Error) {
	p := &sdk.CallToolParams{Name: name, Arguments: arguments}
	if arguments == nil {
		p.Arguments = map[string]any{}
	}
	p.SetProgressToken(fmt.Sprintf("flowrun-%d", s.attempt.Ticket))
	r, err := s.with.CallTool(ctx, p)
	if err != nil {
		s.told.wait(ctx)
		return Result{}, s.broken(ctx, fmt.Sprintf("call the tool %q", name), err)
	}
	out := Result{Failed: r.IsError}
	var texts []string
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			texts = append(texts, t.Text)
			continue
		}
		text, err := json.Marshal(c)
		if err != nil {
			return Result{}, failed(event.Blocking, "content of the tool %q cannot be read: %v", name, err)
		}
		texts = append(texts, string(text))
		out.Content = true
	}
	out.Text = executor.Valid([]byte(strings.Join(texts, "\n")))
	if out.Content != nil {
		if out.Content, err = decode(r.Content); err != nil {
			return Result{}, failed(event.Blocking, "content of the tool %q cannot be read: %v", name, err)
		}
	}
	if r.StructuredContent != nil {
		if out.Structured, err = decode(r.StructuredContent); err != nil {
			return Result{}, failed(event.Blocking, "structured content of the tool %q cannot be read: %v", name, err)
		}
	}
	return out, nil
}

// Ask calls a tool for a model, which can go on after an error of the tool, or one that the server answers with: refused is true then, and the
// text says what is wrong. The error says that the server can no longer be asked.
func (s *Session) Ask(ctx context.Context, name string, arguments map[string]value.Value) (text string, refused bool, failure *event.Error) {
	r, failure := s.Call(ctx, name, arguments)
	switch {
	case failure != nil && failure.Reason == event.ReasonAgent && failure.Kind != event.Transient:
		return failure.Message, true, nil
	case failure != nil:
		return "", false, failure
	case r.Text == "" && r.Structured != nil:
		return string(value.Append(nil, r.Structured)), r.Failed, nil
	}
	return r.Text, r.Failed, nil
}

func decode(v any) (value.Value, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return value.Decode(text)
}

// carryOut calls the tool of the attempt's agent with what the step gives.
func (s *Session) carryOut(ctx context.Context, ans *event.AttemptFinished) *event.Error {
	a := s.attempt
	tools, failure := s.Tools(ctx, []string{a.Agent.Tool.Name})
	if failure != nil {
		return failure
	}
	if a.Agent.Tool.Describe {
		ans.Output = tools[0].Said
		return nil
	}
	if failure := CheckPin(a.Agent.Tool.Pin, tools[0]); failure != nil {
		return failure
	}
	arguments, ok := a.Agent.With.(map[string]value.Value)
	if !ok && a.Agent.With != nil {
		return failed(event.Blocking, "with is not an object, and the arguments of a tool are one")
	}
	r, failure := s.Call(ctx, a.Agent.Tool.Name, arguments)
	if failure != nil {
		return failure
	}
	ans.Stdout = executor.Clip(r.Text, limits.MaxStream)
	if r.Failed {
		if r.Text == "" {
			r.Text = "the tool failed without a message"
		}
		return failed(event.Recoverable, "%s", r.Text)
	}
	ans.Output, failure = r.output(a.Agent.Wanted != "")
	return failure
}

// output is the result as the output of a step: the structured content, or else the text; or else, if the text is wanted as JSON, what it says.
func (r *Result) output(asJSON bool) (v value.Value, failure *event.Error) {
	switch {
	case r.Structured != nil:
		v = r.Structured
	case r.Content != nil:
		v = r.Content
	default:
		if v = r.Text; asJSON {
			decoded, err := value.Decode([]byte(r.Text))
			if err != nil {
				return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonBadJSON, ExitCode: -1,
					Message: fmt.Sprintf("the tool gives a text that is not JSON, and the declared output is not a string: %v", err)}
			}
			v = decoded
		}
	}
	if n := int64(len(value.Append(nil, v))); n > limits.MaxOutput {
		return nil, executor.TooLarge("the result of the tool", n)
	}
	return v, nil
}

// failed is an error that the server reports, or that its words are.
func failed(kind event.ErrorKind, format string, args ...any) *event.Error {
	return &event.Error{Kind: kind, Reason: event.ReasonAgent, ExitCode: -1, Message: fmt.Sprintf(format, args...)}
}

// broken says what it means that a request got no answer, or an error of the protocol.
func (s *Session) broken(ctx context.Context, what string, err error) *event.Error {
	if ctx.Err() != nil {
		return executor.WasCancelled() // whoever ended the context knows why
	}
	var wire *jsonrpc.Error
	answered := errors.As(err, &wire) && wire.Code != rejected
	if s.peer != nil && !answered {
		if f := s.peer.Failure(); f != nil {
			return f
		}
	}
	switch {
	case answered:
		kind := event.Recoverable
		if wire.Code == jsonrpc.CodeInvalidParams || wire.Code == jsonrpc.CodeMethodNotFound || wire.Code == jsonrpc.CodeInvalidRequest {
			kind = event.Blocking
		}
		return failed(kind, "cannot %s: the server answers with error %d: %s", what, wire.Code, wire.Message)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.ErrClosedPipe):
		if s.peer != nil {
			return failed(event.Blocking, "cannot %s: the answer is not one of the Model Context Protocol", what)
		}
		if flaw := s.wire.flaw.Load(); flaw != nil {
			return failed(event.Transient, "cannot %s: the server ended the connection; before, %s", what, *flaw)
		}
		return failed(event.Transient, "cannot %s: the server ended the connection", what)
	}
	return failed(event.Recoverable, "cannot %s: %v", what, err)
}
