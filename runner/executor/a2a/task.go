package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// lostMost is the longest wait for a service that cannot be reached, and may know a task. The waits before it grow from askFirst by half, so that a
// service is asked for three times as long.
var lostMost = 5 * time.Second

const (
	// askFirst is how long after its start a task is asked for; each next time it takes half as long again, until askMost.
	askFirst = 100 * time.Millisecond
	askMost  = 5 * time.Second
	// cancelWait bounds how long the service is asked to cancel a task.
	cancelWait = 2 * time.Second
	// maxAnswer is how long an answer can be, in bytes.
	maxAnswer = 8 * limits.MaxOutput
	// cardPath is where the card of an agent is.
	cardPath = "/.well-known/agent-card.json"
)

// task is one task of a service.
type task struct {
	x       *Executor
	ctx     context.Context
	attempt *event.Attempt
	peer    *http.Peer

	at      string // the address for requests
	words   words
	streams bool // the service tells of a task as it goes on
	asked   int
	code    int    // of the last error of JSON-RPC
	open    string // the task that may go on at the service; "": none
	kept    bool   // that is durable

	warning string

	output  value.Value
	partial value.Value
	said    string
	told    string // the last line of progress
}

// carryOut gives the task and waits for its end.
func (t *task) carryOut() *event.Error {
	t.open = t.attempt.Agent.Session
	t.kept = t.open != ""
	if failure := t.find(); failure != nil {
		return failure
	}
	a, g := *t.attempt, *t.attempt.Agent
	g.Input, g.With, a.Agent = "text", nil, &g
	text := strings.TrimRight(string(protocol.Request(&a)), "\n")
	if id := t.attempt.Agent.Session; id != "" {
		switch made, failure := t.takeUp(id); {
		case failure != nil:
			return failure
		case made != nil:
			return t.follow(made)
		}
	}
	// The key is the same for an attempt that is repeated after a crash, so a service can tell.
	id := t.attempt.Key
	if id == "" {
		id = fmt.Sprintf("%s-%d", t.attempt.Run, t.attempt.Ticket)
	}
	params := map[string]value.Value{"message": t.words.message(id, text, t.attempt.Agent.With), "configuration": t.words.configuration()}
	made, message, failure := t.begin(params)
	switch {
	case failure != nil:
		return failure
	case message != nil:
		t.open = ""
		return t.take(message)
	case made == nil:
		return t.peer.Refuse("the answer is neither a task nor a message")
	}
	return t.follow(made)
}

// takeUp asks for a task that an earlier try has given. Both are nil if the service does not know the task, or somebody has cancelled it: then the task is
// given again.
func (t *task) takeUp(id string) (made map[string]value.Value, failure *event.Error) {
	for wait := askFirst; ; wait = wait * 3 / 2 {
		made, failure = t.get(id)
		status, _ := made["status"].(map[string]value.Value)
		why := ""
		switch {
		case failure == nil && state(status["state"]) != "canceled":
			t.report("continues the task " + id)
			return made, nil
		case failure == nil:
			why = "it was cancelled"
		case t.code == taskNotFound:
			why = "the agent does not know it any more"
		case failure.Kind != event.Transient || wait > lostMost || !t.sleep(wait):
			return nil, failure
		default:
			continue
		}
		t.open, t.kept = "", false
		t.warning = fmt.Sprintf("the task %s cannot be continued: %s. The task was given again", id, why)
		t.report(t.warning)
		return nil, nil
	}
}

// note keeps the id of the task, so that no later try gives the task again.
func (t *task) note(made map[string]value.Value) {
	if id, _ := made["id"].(string); id != "" && id != t.open {
		t.open, t.kept = id, t.x.opt.Note(t.ctx, *t.attempt, id)
	}
}

// get asks for a task.
func (t *task) get(id string) (map[string]value.Value, *event.Error) {
	result, failure := t.call(t.ctx, t.words.get, map[string]value.Value{"id": id})
	if failure != nil {
		return nil, failure
	}
	made, _ := answer(result)
	if made == nil {
		return nil, t.peer.Refuse("the answer to %s is not a task", t.words.get)
	}
	return made, nil
}

// sleep waits, and reports whether the attempt goes on.
func (t *task) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// begin sends the message. It gives the task as far as the service tells of it by itself, or the answer without a task.
func (t *task) begin(params map[string]value.Value) (made, message map[string]value.Value, failure *event.Error) {
	if t.streams {
		return t.listen(params)
	}
	result, failure := t.call(t.ctx, t.words.send, params)
	if failure != nil {
		return nil, nil, failure
	}
	made, message = answer(result)
	t.note(made)
	return made, message, nil
}

// find reads the card.
func (t *task) find() *event.Error {
	card := *t.peer.URL
	if !strings.HasSuffix(card.Path, ".json") {
		card.Path = strings.TrimSuffix(card.Path, "/") + cardPath
	}
	req, err := nethttp.NewRequestWithContext(t.ctx, "GET", card.String(), nil)
	if err != nil {
		return t.peer.Refuse("%v", err)
	}
	req.Header.Set("Accept", "application/json")
	v, failure := t.send(req)
	if failure != nil {
		return failure
	}
	said, _ := v.(map[string]value.Value)
	at, w, ok := address(said)
	if !ok {
		failure := t.peer.Refuse("the card of the agent names no address for JSON-RPC of the protocol 1.0 or 0.3")
		failure.Kind = event.Blocking
		return failure
	}
	u, err := url.Parse(at)
	if err != nil {
		return t.peer.Refuse("the card of the agent names the address %.100q", at)
	}
	t.at, t.words = t.peer.URL.ResolveReference(u).String(), w
	can, _ := said["capabilities"].(map[string]value.Value)
	t.streams = can["streaming"] == true
	return nil
}

// call sends a request of JSON-RPC.
func (t *task) call(ctx context.Context, method string, params map[string]value.Value) (value.Value, *event.Error) {
	req, failure := t.request(ctx, method, params, "application/json")
	if failure != nil {
		return nil, failure
	}
	v, failure := t.send(req)
	if failure != nil {
		return nil, failure
	}
	return t.result(method, v)
}

// request makes a request of JSON-RPC, whose answer has a type that accept names.
func (t *task) request(ctx context.Context, method string, params map[string]value.Value, accept string) (*nethttp.Request, *event.Error) {
	t.asked++
	body := value.Append(nil, map[string]value.Value{"jsonrpc": "2.0", "id": float64(t.asked), "method": method, "params": params})
	req, err := nethttp.NewRequestWithContext(ctx, "POST", t.at, bytes.NewReader(body))
	if err != nil {
		return nil, t.peer.Refuse("%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	if t.words.version != "" {
		req.Header.Set("A2A-Version", t.words.version)
	}
	return req, nil
}

// taskNotFound is the code of the error that the service does not know a task.
const taskNotFound = -32001

// result is what an answer of JSON-RPC gives.
func (t *task) result(method string, v value.Value) (value.Value, *event.Error) {
	t.code = 0
	m, _ := v.(map[string]value.Value)
	if e, ok := m["error"].(map[string]value.Value); ok {
		code, _ := e["code"].(float64)
		t.code = int(code)
		text, _ := e["message"].(string)
		failure := t.peer.Refuse("%s: error %d: %s", method, int(code), executor.Clip(text, 1000))
		switch code {
		case -32603: // internal error: what the service says of it may tell more
			failure.Kind = protocol.KindOf(text)
		case taskNotFound, -32600, -32601, -32602, -32004, -32005, -32007, -32009:
			failure.Kind = event.Blocking
		}
		return nil, failure
	}
	if m["result"] == nil {
		return nil, t.peer.Refuse("the answer to %s has neither a result nor an error", method)
	}
	return m["result"], nil
}

// send sends a request whose answer is JSON.
func (t *task) send(req *nethttp.Request) (value.Value, *event.Error) {
	res, failure := t.do(req)
	if failure != nil {
		return nil, failure
	}
	defer res.Body.Close()
	return t.read(res.Body)
}

// do sends a request. Whoever calls it closes the body of the answer.
func (t *task) do(req *nethttp.Request) (*nethttp.Response, *event.Error) {
	res, err := t.peer.Client.Do(req)
	if err != nil {
		if f := t.peer.Failure(); f != nil {
			return nil, f
		}
		return nil, t.cut(err)
	}
	if f := t.peer.Failure(); f != nil {
		res.Body.Close()
		return nil, f
	}
	return res, nil
}

// read reads an answer that is JSON.
func (t *task) read(body io.Reader) (value.Value, *event.Error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case len(text) > maxAnswer:
		return nil, &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputTooLarge, ExitCode: -1, Message: fmt.Sprintf("an answer of the agent has more than %d bytes", maxAnswer)}
	case err != nil:
		if f := t.peer.Failure(); f != nil {
			return nil, f
		}
		return nil, t.cut(err)
	}
	v, err := value.Decode(text)
	if err != nil {
		f := t.peer.Refuse("the answer is not JSON: %v", err)
		f.Kind = event.Blocking
		return nil, f
	}
	return v, nil
}

// cut is the error of a connection that ended.
func (t *task) cut(err error) *event.Error {
	if t.ctx.Err() != nil {
		return executor.WasCancelled() // whoever ended the context knows why
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, whose query may hold a secret
	}
	f := t.peer.Refuse("%v", err)
	f.Kind, f.Reason = event.Transient, event.ReasonHTTP
	return f
}

// follow hears of a task, or asks for it, until it has ended.
func (t *task) follow(made map[string]value.Value) *event.Error {
	id, _ := made["id"].(string)
	for wait, lost := askFirst, askFirst; ; wait = min(wait*3/2, askMost) {
		status, _ := made["status"].(map[string]value.Value)
		said, _ := status["message"].(map[string]value.Value)
		var c content
		c.add(said)
		now := t.tell(status)
		if now != "submitted" && now != "working" {
			t.open = "" // it has ended, or is cancelled below
		}
		switch now {
		case "completed":
			return t.finish(made, &c)
		case "failed":
			t.keep(made)
			return t.failed(protocol.KindOf(c.text), "the task failed", c.text)
		case "rejected":
			return t.failed(event.Blocking, "the agent rejects the task", c.text)
		case "canceled":
			t.keep(made)
			return t.failed(event.Recoverable, "the agent cancelled the task", c.text)
		case "input-required":
			t.keep(made)
			t.cancel(id)
			return t.failed(event.Blocking, "the agent asks for more, and flowrun has no answer", c.text)
		case "auth-required":
			t.cancel(id)
			return t.failed(event.Blocking, "the agent asks for a login. Give it a key in headers", c.text)
		case "submitted", "working":
		default:
			return t.peer.Refuse("the task has the state %.60q", now)
		}
		if id == "" {
			return t.peer.Refuse("a task that is not done has no id")
		}
		if t.sleep(wait) && t.streams {
			t.resubscribe(id)
		}
		var next map[string]value.Value
		var failure *event.Error
		if t.ctx.Err() == nil {
			next, failure = t.get(id) // the whole task: a stream that was taken up tells what comes now
		}
		switch {
		case t.ctx.Err() != nil:
			t.keep(made)
			t.cancel(id)
			return executor.WasCancelled()
		case failure == nil:
			made, lost = next, askFirst
		case t.code == taskNotFound:
			t.open, failure.Kind = "", event.Transient // the next try gives it again
			failure.Message += "; the agent knew the task before, and what it did is unknown"
			return failure
		case failure.Kind != event.Transient || lost > lostMost:
			return failure
		default: // the task may go on all the same
			wait, lost = lost, lost*3/2
		}
	}
}

// tell reports a status, and gives its state.
func (t *task) tell(status map[string]value.Value) string {
	said, _ := status["message"].(map[string]value.Value)
	var c content
	c.add(said)
	now := state(status["state"])
	if line := strings.TrimSpace(now + " " + strings.Join(strings.Fields(c.text), " ")); line != t.told {
		t.told = line
		t.report(line)
	}
	return now
}

// cancel tells the service that nobody waits for a task any more. A driver that stops leaves the task to the next one.
func (t *task) cancel(id string) {
	if t.kept && errors.Is(context.Cause(t.ctx), executor.Stopping) {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(t.ctx), cancelWait)
	defer done()
	_, _ = t.call(ctx, t.words.cancel, map[string]value.Value{"id": id}) // the attempt has its own reason to end
}

// failed is the error of a task that did not end well.
func (t *task) failed(kind event.ErrorKind, what, text string) *event.Error {
	if text != "" {
		what += ": " + executor.Clip(text, executor.MaxMessage/2)
	}
	return &event.Error{Kind: kind, Reason: event.ReasonAgent, ExitCode: -1, Message: what}
}

// artifacts is what all artifacts of a task hold.
func artifacts(made map[string]value.Value) (c content) {
	list, _ := made["artifacts"].([]value.Value)
	for _, v := range list {
		if one, ok := v.(map[string]value.Value); ok {
			c.add(one)
		}
	}
	return c
}

// keep makes what the task has given so far the partial output.
func (t *task) keep(made map[string]value.Value) {
	if c := artifacts(made); c.text != "" || c.data != nil || c.rest != nil {
		if v, failure := t.convert(&c, false); failure == nil {
			t.partial = v
		}
	}
}

// finish makes the output of a task that is completed: its artifacts, or else what was said last.
func (t *task) finish(made map[string]value.Value, last *content) *event.Error {
	c := artifacts(made)
	if c.text == "" && c.data == nil && c.rest == nil {
		c = *last
	}
	return t.put(&c)
}

// take makes the output of an answer without a task.
func (t *task) take(message map[string]value.Value) *event.Error {
	var c content
	c.add(message)
	return t.put(&c)
}

func (t *task) put(c *content) (failure *event.Error) {
	t.said = executor.Clip(c.text, limits.MaxStream)
	t.output, failure = t.convert(c, t.attempt.Agent.Wanted != "")
	return failure
}

// convert makes a value of content: the data, or else the text; if the text is wanted as JSON, what it says. Content with files is an object
// of text, data and files.
func (t *task) convert(c *content, asJSON bool) (v value.Value, failure *event.Error) {
	switch {
	case c.rest != nil:
		data := c.data
		if data == nil {
			data = []value.Value{}
		}
		v = map[string]value.Value{"text": c.text, "data": data, "files": c.rest}
	case len(c.data) == 1:
		v = c.data[0]
	case len(c.data) > 1:
		v = c.data
	case asJSON:
		var err error
		if v, err = value.Decode([]byte(strings.TrimSpace(c.text))); err != nil {
			return nil, &event.Error{Kind: event.Recoverable, Reason: event.ReasonBadJSON, ExitCode: -1, Message: fmt.Sprintf("the agent answers with text that is not JSON, which the type of the output needs: %v", err)}
		}
	default:
		v = c.text
	}
	if n := int64(len(value.Append(nil, v))); n > limits.MaxOutput {
		return nil, executor.TooLarge("the output of the agent", n)
	}
	return v, nil
}

func (t *task) report(text string) {
	if t.x.opt.Live != nil && text != "" {
		t.x.opt.Live(*t.attempt, "progress", executor.Clip(text, executor.MaxMessage))
	}
}
