package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

const (
	// version is that of the protocol which is spoken here.
	version = 1
	// cancelWait is how long an agent may take to end its turn after it was told that the attempt is cancelled. Whoever runs the program ends
	// it sooner if its grace is shorter.
	cancelWait = 3 * time.Second
	// maxTools bounds how many uses of tools a session keeps in mind.
	maxTools = 10_000
)

// session is one task of an agent.
type session struct {
	x       *Executor
	ctx     context.Context
	attempt *event.Attempt
	wire    *wire

	dir     string
	id      string
	again   bool   // the session is that of an earlier try
	heard   bool   // the agent has told something in this try
	past    bool   // what the agent tells now was said in that try
	returns bool   // the agent can go on in a session
	left    string // the session in which the next try can go on
	warning string
	asked   int    // requests that were sent
	text    string // all messages before the last
	last    []byte // the last message, as far as it has come
	broken  bool   // something else came behind the last message
	over    bool   // a message is longer than an output can be
	tools   map[string]*tool
	output  value.Value
	partial value.Value
	usage   *event.Usage
}

// carryOut does the task.
func (s *session) carryOut() *event.Error {
	dir := s.attempt.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	var err error
	if s.dir, err = filepath.Abs(dir); err != nil {
		return s.failed(event.Blocking, "the folder %s cannot be used: %v", dir, err)
	}
	access := s.attempt.Agent.ACP.Files
	var begun abilities
	if failure := s.call("initialize", map[string]any{"protocolVersion": version,
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": access == "read" || access == "write", "writeTextFile": access == "write"}, "terminal": false},
		"clientInfo":         map[string]any{"name": "flowrun", "title": "flowrun", "version": s.x.opt.Release}}, &begun); failure != nil {
		return failure
	}
	if begun.ProtocolVersion != version {
		return s.failed(event.Blocking, "the agent speaks version %d of the Agent Client Protocol, and flowrun speaks version %d", begun.ProtocolVersion, version)
	}
	servers, failure := s.servers(begun.Capabilities.MCP.HTTP)
	if failure != nil {
		return failure
	}
	if failure := s.enter(&begun, servers); failure != nil {
		return failure
	}
	var ended struct {
		StopReason string `json:"stopReason"`
		Usage      *struct {
			Input  float64 `json:"inputTokens"`
			Output float64 `json:"outputTokens"`
		} `json:"usage"`
	}
	failure = s.call("session/prompt", map[string]any{"sessionId": s.id, "prompt": []any{map[string]any{"type": "text", "text": s.prompt()}}}, &ended)
	if u := ended.Usage; u != nil {
		s.usage = event.ReadUsage(map[string]any{"input_tokens": u.Input, "output_tokens": u.Output})
	}
	if failure != nil {
		s.keep()
		return failure
	}
	if failure = s.judge(ended.StopReason); failure == nil && s.returns && s.attempt.Agent.KeepSession {
		s.left = s.id
	}
	return failure
}

// abilities are what an agent says of itself.
type abilities struct {
	ProtocolVersion int `json:"protocolVersion"`
	Capabilities    struct {
		MCP struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Load     bool `json:"loadSession"`
		Sessions struct {
			Resume *struct{} `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
}

// enter goes on in the session of an earlier try, or begins a session.
func (s *session) enter(can *abilities, servers []any) *event.Error {
	method := ""
	switch {
	case can.Capabilities.Sessions.Resume != nil:
		method = "session/resume"
	case can.Capabilities.Load: // as resume, and the agent tells all that was said
		method = "session/load"
	}
	s.returns = method != ""
	if before := s.attempt.Agent.Session; before != "" {
		why := "it can neither resume nor load sessions"
		if s.returns {
			s.past = true
			refusal, failure := s.ask(method, map[string]any{"sessionId": before, "cwd": s.dir, "mcpServers": servers}, &struct{}{})
			s.past = false
			switch {
			case failure != nil:
				return failure
			case refusal == nil:
				s.id, s.again = before, true
				s.report("progress", "continues the session "+before)
				return nil
			case refusal.Code == authRequired:
				return s.refused(method, refusal)
			}
			why = fmt.Sprintf("%s: %v", method, refusal)
		}
		s.warning = fmt.Sprintf("the agent cannot continue the session %s: %s. The task began again in a new session", before, executor.Clip(why, 500))
		s.report("progress", s.warning)
	}
	var made struct {
		SessionID string `json:"sessionId"`
	}
	if failure := s.call("session/new", map[string]any{"cwd": s.dir, "mcpServers": servers}, &made); failure != nil {
		return failure
	}
	if s.id = made.SessionID; s.returns {
		s.x.opt.Note(s.ctx, *s.attempt, s.id)
	}
	return nil
}

// servers are the MCP servers that the agent is to use, as the protocol has them.
func (s *session) servers(http bool) ([]any, *event.Error) {
	out := []any{}
	for i := range s.attempt.Agent.Servers {
		from := &s.attempt.Agent.Servers[i]
		if from.URL == "" {
			path := from.Argv[0]
			if strings.Contains(path, "/") && !filepath.IsAbs(path) {
				path = filepath.Join(s.dir, path)
			} else if found, err := exec.LookPath(path); err == nil { // the protocol wants a path
				path = found
			}
			out = append(out, map[string]any{"name": from.Name, "command": path, "args": from.Argv[1:], "env": pairs(from.Env)})
			continue
		}
		if !http {
			return nil, s.failed(event.Blocking, "the agent cannot use the server %q: it takes no servers over HTTP", from.Name)
		}
		out = append(out, map[string]any{"type": "http", "name": from.Name, "url": from.URL, "headers": pairs(from.Headers)})
	}
	return out, nil
}

// pairs is a map as a list of names and values, in the order of the names.
func pairs(m map[string]string) []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, map[string]any{"name": name, "value": m[name]})
	}
	return out
}

// keep makes what the agent has said so far the partial output.
func (s *session) keep() {
	if len(s.last) > 0 && !s.over {
		s.partial = executor.Valid(s.last)
	}
}

// prompt is the task with all that belongs to it, as text.
func (s *session) prompt() string {
	a, g := *s.attempt, *s.attempt.Agent
	g.Input, a.Agent = "text", &g
	text := string(protocol.Request(&a))
	if s.again {
		text = executor.Again(&g, "The connection broke off while you worked on the task below.") + text
	}
	return text
}

// judge turns the end of a turn into an output or an error.
func (s *session) judge(reason string) *event.Error {
	switch reason {
	case "end_turn":
	case "refusal":
		s.keep()
		return s.failed(event.Blocking, "the agent refuses the task%s", s.quote())
	case "cancelled":
		s.keep()
		if s.ctx.Err() != nil {
			return executor.WasCancelled()
		}
		return s.failed(event.Recoverable, "the agent cancelled its turn")
	case "max_tokens", "max_turn_requests":
		s.keep()
		return s.failed(event.Recoverable, "the agent stopped before its task was done: %s", reason)
	default:
		s.keep()
		return s.failed(event.Recoverable, "the agent ended its turn for a reason that flowrun does not know: %s", executor.Clip(reason, 100))
	}
	text := strings.TrimSpace(executor.Valid(s.last))
	switch {
	case s.over:
		return executor.TooLarge("the last message of the agent", limits.MaxOutput+1)
	case s.attempt.Agent.Wanted == "":
		s.output = text
		return nil
	}
	v, err := value.Decode([]byte(executor.Unfenced(text)))
	if err != nil {
		s.partial = text
		return &event.Error{Kind: event.Recoverable, Reason: event.ReasonBadJSON, ExitCode: -1, Message: fmt.Sprintf("the last message of the agent is not JSON, which the type of the output needs: %v", err)}
	}
	s.output = v
	return nil
}

// quote is the beginning of the last message, for an error.
func (s *session) quote() string {
	text := strings.Join(strings.Fields(executor.Valid(s.last)), " ")
	if text == "" {
		return ""
	}
	return ": " + executor.Clip(text, 500)
}

// call sends a request that the agent must not refuse.
func (s *session) call(method string, params, result any) *event.Error {
	refusal, failure := s.ask(method, params, result)
	if refusal != nil {
		return s.refused(method, refusal)
	}
	return failure
}

// ask sends a request and does what the agent asks for until its answer is there.
func (s *session) ask(method string, params, result any) (*wireError, *event.Error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, s.failed(event.Fatal, "%s: %v", method, err)
	}
	s.asked++
	id := strconv.Itoa(s.asked)
	if err := s.wire.send(&message{ID: json.RawMessage(id), Method: method, Params: text}); err != nil {
		return nil, s.ended(method, err)
	}
	done := make(chan struct{})
	defer close(done)
	defer context.AfterFunc(s.ctx, func() { s.cancel(method, done) })()
	for {
		m, err := s.wire.next()
		switch {
		case err != nil:
			return nil, s.ended(method, err)
		case m.Method != "":
			s.serve(m)
		case string(m.ID) != id: // an answer to nothing that waits
		case m.Error != nil:
			return m.Error, nil
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return nil, s.failed(event.Recoverable, "the answer to %s cannot be read: %v", method, err)
			}
			return nil, nil
		}
	}
}

// cancel tells the agent that the attempt must end, and gives it some time to end its turn; done is closed once it has.
func (s *session) cancel(method string, done <-chan struct{}) {
	if method == "session/prompt" {
		params, _ := json.Marshal(map[string]any{"sessionId": s.id})
		_ = s.wire.send(&message{Method: "session/cancel", Params: params})
		late := time.NewTimer(cancelWait)
		defer late.Stop()
		select {
		case <-done:
			return
		case <-late.C:
		}
	}
	s.wire.p.Close()
}

// ended is the error of a connection that ended.
func (s *session) ended(method string, err error) *event.Error {
	if s.ctx.Err() != nil {
		return executor.WasCancelled() // whoever ended the context knows why
	}
	if s.returns && (s.heard || !s.again) { // a session that breaks off at once is not tried a third time
		s.left = s.id
	}
	text := fmt.Sprintf("the agent ended the connection before it answered %s", method)
	if s.wire.odd != "" {
		text += "; before, it wrote a line that is not a message: " + s.wire.odd
	}
	return s.failed(event.Transient, "%s", text)
}

// refused is the error that an agent answers a request with.
func (s *session) refused(method string, e *wireError) *event.Error {
	if s.ctx.Err() != nil {
		return executor.WasCancelled()
	}
	kind := event.Recoverable
	switch e.Code {
	case authRequired:
		return s.failed(event.Blocking, "the agent asks for a login: %v. Log in with the agent's own program, or give it a key with pass_env", e)
	case methodNotFound, invalidParams:
		kind = event.Blocking
	case internalError:
		kind = protocol.KindOf(e.Error())
	}
	return s.failed(kind, "%s: the agent answers with %v", method, e)
}

func (s *session) failed(kind event.ErrorKind, format string, args ...any) *event.Error {
	return &event.Error{Kind: kind, Reason: event.ReasonAgent, ExitCode: -1, Message: fmt.Sprintf(format, args...)}
}

// serve does what the agent asks for, or hears what it tells.
func (s *session) serve(m *message) {
	if len(m.ID) == 0 {
		if m.Method == "session/update" {
			s.hear(m.Params)
		}
		return
	}
	var result any
	var err error
	switch m.Method {
	case "session/request_permission":
		result, err = s.permit(m.Params)
	case "fs/read_text_file":
		result, err = s.readFile(m.Params)
	case "fs/write_text_file":
		result, err = s.writeFile(m.Params)
	default:
		err = &wireError{Code: methodNotFound, Message: "flowrun does not offer " + m.Method}
	}
	answer := &message{ID: m.ID}
	if err != nil {
		var refused *wireError
		if !errors.As(err, &refused) {
			refused = &wireError{Code: internalError, Message: err.Error()}
		}
		answer.Error = refused
	} else if answer.Result, err = json.Marshal(result); err != nil {
		answer.Error = &wireError{Code: internalError, Message: err.Error()}
	}
	_ = s.wire.send(answer) // the next read says if the agent is gone
}

// update is what an agent tells.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"`
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`
	tool
}

// hear takes what an agent tells.
func (s *session) hear(params json.RawMessage) {
	var p struct {
		Update update `json:"update"`
	}
	if s.past || json.Unmarshal(params, &p) != nil {
		return
	}
	s.heard = true
	u := &p.Update
	switch u.Kind {
	case "agent_message_chunk":
		var c struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(u.Content, &c) == nil && c.Type == "text" {
			s.say(c.Text)
		}
	case "tool_call", "tool_call_update":
		s.broken = true
		t := s.know(&u.tool, u.Content)
		if t != nil {
			s.report("progress", t.line())
		}
	case "plan":
		var open []string
		for _, e := range u.Entries {
			if e.Status == "in_progress" {
				open = append(open, e.Content)
			}
		}
		if len(open) > 0 {
			s.report("progress", strings.Join(open, "; "))
		}
	}
}

// say adds to the last message. A message that comes after the use of a tool is another one.
func (s *session) say(text string) {
	if s.broken && len(s.last) > 0 {
		s.report("log", executor.Valid(s.last))
		s.text = s.transcript() + "\n"
		s.last, s.over = nil, false
	}
	s.broken = false
	if s.over = s.over || len(s.last)+len(text) > limits.MaxOutput; !s.over {
		s.last = append(s.last, text...)
	}
}

// transcript is all that the agent has said, cut to what the journal keeps.
func (s *session) transcript() string {
	return executor.Clip(s.text+executor.Valid(s.last), limits.MaxStream)
}

func (s *session) report(kind, text string) {
	if s.x.opt.Live != nil && text != "" {
		s.x.opt.Live(*s.attempt, kind, executor.Clip(text, executor.MaxMessage))
	}
}
