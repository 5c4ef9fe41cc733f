package a2a

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// words are how one version of the protocol spells what is sent.
type words struct {
	version           string // of the header A2A-Version; "" sends none
	send, get, cancel string // methods
	stream            string // the method that is send, and goes on to tell of the task
	listen            string // the method that tells of a task that is under way
	user              string // the role of who asks
	kinds             bool   // messages and parts say what they are
}

var (
	newest = words{"1.0", "SendMessage", "GetTask", "CancelTask", "SendStreamingMessage", "SubscribeToTask", "ROLE_USER", false}
	older  = words{"", "message/send", "tasks/get", "tasks/cancel", "message/stream", "tasks/resubscribe", "user", true}
)

// address is where a card says that the agent takes JSON-RPC, and in which version of the protocol.
func address(card map[string]value.Value) (url string, w words, ok bool) {
	list, _ := card["supportedInterfaces"].([]value.Value)
	for _, wanted := range []string{"1.", "0.3"} {
		for _, v := range list {
			i, _ := v.(map[string]value.Value)
			binding, _ := i["protocolBinding"].(string)
			version, _ := i["protocolVersion"].(string)
			if url, _ = i["url"].(string); url != "" && strings.EqualFold(binding, "JSONRPC") && strings.HasPrefix(version, wanted) {
				if wanted == "1." {
					return url, newest, true
				}
				return url, older, true
			}
		}
	}
	preferred, _ := card["preferredTransport"].(string)
	if url, _ = card["url"].(string); url != "" && (preferred == "" || strings.EqualFold(preferred, "JSONRPC")) {
		return url, older, true
	}
	more, _ := card["additionalInterfaces"].([]value.Value)
	for _, v := range more {
		i, _ := v.(map[string]value.Value)
		transport, _ := i["transport"].(string)
		if url, _ = i["url"].(string); url != "" && strings.EqualFold(transport, "JSONRPC") {
			return url, older, true
		}
	}
	return "", words{}, false
}

// message is what is sent.
func (w *words) message(id, text string, with value.Value) map[string]value.Value {
	parts := []value.Value{map[string]value.Value{"text": text}}
	if with != nil {
		parts = append(parts, map[string]value.Value{"data": with})
	}
	m := map[string]value.Value{"messageId": id, "role": w.user, "parts": parts}
	if w.kinds {
		m["kind"] = "message"
		for _, p := range parts {
			p := p.(map[string]value.Value)
			p["kind"] = "text"
			if p["data"] != nil {
				p["kind"] = "data"
			}
		}
	}
	return m
}

// configuration asks for an answer at once, so that progress is seen.
func (w *words) configuration() map[string]value.Value {
	if w.kinds {
		return map[string]value.Value{"blocking": false}
	}
	return map[string]value.Value{"returnImmediately": true}
}

// state is that of a task in one spelling: submitted, working, completed, failed, canceled, rejected, input-required, auth-required.
func state(spelled value.Value) string {
	s, _ := spelled.(string)
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s, "TASK_STATE_")), "_", "-")
}

// answer is a task or a message in an answer to send.
func answer(result value.Value) (task, message map[string]value.Value) {
	r, _ := result.(map[string]value.Value)
	if t, ok := r["task"].(map[string]value.Value); ok {
		return t, nil
	}
	if m, ok := r["message"].(map[string]value.Value); ok {
		return nil, m
	}
	switch r["kind"] {
	case "task":
		return r, nil
	case "message":
		return nil, r
	}
	if _, ok := r["status"].(map[string]value.Value); ok {
		return r, nil
	}
	if _, ok := r["parts"].([]value.Value); ok {
		return nil, r
	}
	return nil, nil
}

// update is a change of a task in an event of a stream: of its status, or an artifact and whether its parts come behind those before.
func update(result value.Value) (status, artifact map[string]value.Value, more bool) {
	r, _ := result.(map[string]value.Value)
	for _, name := range []string{"statusUpdate", "artifactUpdate"} {
		if inner, ok := r[name].(map[string]value.Value); ok {
			r = inner
		}
	}
	status, _ = r["status"].(map[string]value.Value)
	artifact, _ = r["artifact"].(map[string]value.Value)
	return status, artifact, r["append"] == true
}

// join puts an artifact into a list of artifacts, in place of the one with its id, or behind its parts.
func join(list []value.Value, artifact map[string]value.Value, more bool) []value.Value {
	for i, v := range list {
		old, _ := v.(map[string]value.Value)
		if old["artifactId"] != artifact["artifactId"] {
			continue
		}
		if more {
			before, _ := old["parts"].([]value.Value)
			after, _ := artifact["parts"].([]value.Value)
			artifact = map[string]value.Value{"artifactId": artifact["artifactId"], "parts": joinParts(before, after)}
		}
		list[i] = artifact
		return list
	}
	return append(list, artifact)
}

// joinParts puts parts behind others. A text goes on where the text before it ends.
func joinParts(before, after []value.Value) []value.Value {
	if len(before) > 0 && len(after) > 0 {
		last, _ := before[len(before)-1].(map[string]value.Value)
		first, _ := after[0].(map[string]value.Value)
		a, isText := last["text"].(string)
		b, alsoText := first["text"].(string)
		if isText && alsoText {
			last["text"] = a + b
			after = after[1:]
		}
	}
	return append(before, after...)
}

// content is what some parts hold: their texts, joined by newlines, their data, and parts of other kinds.
type content struct {
	text string
	data []value.Value
	rest []value.Value
}

// add adds the parts of a message or an artifact.
func (c *content) add(holder map[string]value.Value) {
	parts, _ := holder["parts"].([]value.Value)
	for _, v := range parts {
		p, _ := v.(map[string]value.Value)
		text, isText := p["text"].(string)
		switch {
		case isText && c.text != "":
			c.text += "\n" + text
		case isText:
			c.text = text
		case p["data"] != nil:
			c.data = append(c.data, p["data"])
		case p != nil:
			c.rest = append(c.rest, v)
		}
	}
}
