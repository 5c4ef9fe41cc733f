package a2a

import (
	"mime"
	nethttp "net/http"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/sse"
)

// listen sends the message, and hears what the service tells of the task until it has ended or the stream has. A stream that breaks off is no
// failure while the task has an id: the service is asked for the task then.
func (t *task) listen(params map[string]value.Value) (made, message map[string]value.Value, failure *event.Error) {
	req, failure := t.request(t.ctx, t.words.stream, params, "text/event-stream, application/json")
	if failure != nil {
		return nil, nil, failure
	}
	res, failure := t.do(req)
	if failure != nil {
		return nil, nil, failure
	}
	defer res.Body.Close()
	if !isStream(res) {
		v, failure := t.read(res.Body)
		if failure != nil {
			return nil, nil, failure
		}
		result, failure := t.result(t.words.stream, v)
		if failure != nil {
			return nil, nil, failure
		}
		made, message = answer(result)
		t.note(made)
		return made, message, nil
	}
	made, message, failure = t.hear(sse.NewReader(res.Body))
	if t.ctx.Err() != nil && made != nil {
		t.keep(made)
		if id, _ := made["id"].(string); id != "" {
			t.cancel(id)
		}
		return nil, nil, executor.WasCancelled()
	}
	if id, _ := made["id"].(string); failure != nil && id != "" && failure.Kind == event.Transient {
		return made, nil, nil
	}
	return made, message, failure
}

// resubscribe hears of a task that is under way until the stream ends, for whatever reason. A service that refuses is only asked from then on.
func (t *task) resubscribe(id string) {
	req, failure := t.request(t.ctx, t.words.listen, map[string]value.Value{"id": id}, "text/event-stream, application/json")
	if failure != nil {
		return
	}
	res, failure := t.do(req)
	if failure != nil {
		t.streams = failure.Kind == event.Transient
		return
	}
	defer res.Body.Close()
	if isStream(res) {
		_, _, failure = t.hear(sse.NewReader(res.Body))
		t.streams = failure == nil || failure.Kind == event.Transient
		return
	}
	t.streams = false
}

func isStream(res *nethttp.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// hear takes the events of a stream. The error is transient if the stream ended before its task did.
func (t *task) hear(events *sse.Reader) (made, message map[string]value.Value, failure *event.Error) {
	size := 0
	for {
		e, err := events.Next()
		switch {
		case err == sse.ErrTooLarge:
			return made, nil, executor.TooLarge("an event of the agent", sse.MaxEvent+1)
		case err != nil:
			if f := t.peer.Failure(); f != nil {
				return made, nil, f
			}
			return made, nil, t.cut(err)
		}
		v, err := value.Decode([]byte(e.Data))
		if err != nil {
			f := t.peer.Refuse("an event of the stream is not JSON: %v", err)
			f.Kind = event.Transient
			return made, nil, f
		}
		result, failure := t.result(t.words.stream, v)
		if failure != nil {
			return made, nil, failure
		}
		task, said := answer(result)
		status, artifact, more := update(result)
		switch {
		case said != nil:
			return made, said, nil
		case artifact != nil:
			if size += len(e.Data); size > 2*limits.MaxOutput {
				return made, nil, executor.TooLarge("the output of the agent", int64(size))
			}
			if made == nil {
				made = begun(result)
			}
			list, _ := made["artifacts"].([]value.Value)
			made["artifacts"] = join(list, artifact, more)
		case isUpdate(result):
			if made == nil {
				made = begun(result)
			}
			made["status"] = status
		case task != nil:
			made = task
		}
		t.note(made)
		if made == nil {
			continue // an event of a kind that came later
		}
		now, _ := made["status"].(map[string]value.Value)
		switch state(now["state"]) {
		case "submitted", "working", "":
			t.tell(now)
		default: // the end, or a question
			return made, nil, nil
		}
	}
}

// isUpdate reports whether an event tells of the status of a task, and not of the whole task.
func isUpdate(result value.Value) bool {
	r, _ := result.(map[string]value.Value)
	_, wrapped := r["statusUpdate"]
	return wrapped || r["kind"] == "status-update"
}

// begun is a task of which the first event tells only a part.
func begun(result value.Value) map[string]value.Value {
	r, _ := result.(map[string]value.Value)
	for _, name := range []string{"statusUpdate", "artifactUpdate"} {
		if inner, ok := r[name].(map[string]value.Value); ok {
			r = inner
		}
	}
	return map[string]value.Value{"id": r["taskId"], "status": map[string]value.Value{"state": "working"}}
}
