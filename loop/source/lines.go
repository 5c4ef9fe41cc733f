package source

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Protocol is the version of the questions to programs and services. A change that an older program would misread gets a new one.
const Protocol = "flowrun-source/1"

// lines is a program or a service. It gets the question as one line of JSON (standard input, or the body of a POST), and answers with lines
// of JSON.
type lines struct{ *question }

// Question is the line that a program or a service gets.
func Question(r *event.SourceRequest, verb event.SourceVerb, key string) []byte {
	o := map[string]any{"protocol": Protocol, "verb": string(verb), "loop": r.Loop, "source": r.Source, "idempotency_key": key}
	if r.Item != nil {
		o["item"] = r.Item.Object()
	}
	if r.Agent != "" {
		o["agent"] = r.Agent
	}
	if r.Token != 0 {
		o["token"] = float64(r.Token)
	}
	if r.Outcome != nil {
		o["outcome"] = map[string]any{"status": string(r.Outcome.Status), "message": r.Outcome.Message, "run": r.Outcome.Run}
	}
	return append(value.Append(nil, o), '\n')
}

// put asks a verb, and gives the lines of the answer.
func (l *lines) put(ctx context.Context, verb event.SourceVerb) ([]map[string]any, error) {
	body := string(Question(l.SourceRequest, verb, l.a.Key))
	if l.Kind == ir.SourceExec {
		argv, err := l.texts("command")
		if err != nil {
			return nil, err
		}
		if len(argv) == 0 {
			return nil, l.wrong("command", "given")
		}
		a := l.part(event.RunAttempt)
		a.Argv, a.Stdin, a.Parse = argv, &body, string(ir.ParseText)
		ans, err := l.carryOut(ctx, a)
		if said, wrong := readLines(ans.Stdout); err != nil && wrong == nil { // its own words about what failed
			for _, o := range said {
				if f := reported(o); f != nil {
					return nil, f
				}
			}
		}
		if err != nil {
			return nil, err
		}
		return checkLines(ans.Stdout)
	}
	url, err := l.text("url")
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": "application/json", "Accept": "application/x-ndjson, application/json"}
	given, _ := l.Config["headers"].(map[string]any)
	for name, v := range given { // any order: it fills a map
		text, is := v.(string)
		if !is {
			return nil, l.wrong("headers", "an object of texts")
		}
		headers[name] = text
	}
	a := l.part(event.HTTPAttempt)
	a.HTTP = &event.HTTPRequest{URL: url, Method: "POST", Headers: headers, Body: body}
	ans, err := l.carryOut(ctx, a)
	if err != nil {
		return nil, err
	}
	o, _ := ans.Output.(map[string]any)
	switch body := o["body"].(type) {
	case string:
		return checkLines(body)
	default:
		return checkLines(string(value.Append(nil, body)))
	}
}

// checkLines reads the lines of an answer. A line with an error is a failure.
func checkLines(text string) ([]map[string]any, error) {
	list, err := readLines(text)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if f := reported(o); f != nil {
			return nil, f
		}
	}
	return list, nil
}

// readLines reads objects, one on each line; an array stands for its elements.
func readLines(text string) (out []map[string]any, err error) {
	for n, line := range bytes.Split([]byte(text), []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, err := value.Decode(line)
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, one := range list {
			o, is := one.(map[string]any)
			if err != nil || !is {
				return nil, fail(event.Blocking, event.ReasonBadJSON, "line %d of the answer of the source is not a JSON object: %.100q", n+1, line)
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// reported is the failure that a line tells; nil if it tells none.
func reported(o map[string]any) error {
	message, is := o["error"].(string)
	if !is || message == "" {
		return nil
	}
	f := &failure{event.Error{Kind: event.Transient, Reason: event.ReasonAgent, ExitCode: -1, Message: message}}
	if text, _ := o["kind"].(string); text != "" {
		var kind event.ErrorKind
		if kind.UnmarshalText([]byte(text)) == nil {
			f.err.Kind = kind
		}
	}
	switch after := o["retry_after"].(type) {
	case float64:
		f.err.RetryAfter = max(0, after)
	case string:
		if d, err := time.ParseDuration(after); err == nil {
			f.err.RetryAfter = max(0, d.Seconds())
		}
	}
	return f
}

func (l *lines) list(ctx context.Context) (items []event.Item, err error) {
	said, err := l.put(ctx, event.SourceList)
	if err != nil {
		return nil, err
	}
	if len(said) == 1 && said[0]["items"] != nil {
		text := value.Append(nil, said[0]["items"])
		if said, err = readLines(string(text)); err != nil {
			return nil, err
		}
	}
	for _, o := range said {
		it, err := event.ItemOf(withTexts(o))
		if err != nil {
			return nil, fail(event.Blocking, event.ReasonBadOutput, "%s", err)
		}
		it.Title = strings.Join(strings.Fields(it.Title), " ")
		items = append(items, it)
	}
	return items, nil
}

// withTexts takes numbers as ids: programs have them.
func withTexts(o map[string]any) map[string]any {
	if n, is := o["id"].(float64); is {
		o["id"] = value.Text(n)
	}
	if needs, is := o["needs"].([]any); is {
		for i := range needs {
			if n, is := needs[i].(float64); is {
				needs[i] = value.Text(n)
			}
		}
	}
	return o
}

// answered asks a verb and gives the last line of the answer; nothing stands for {"ok": true}.
func (l *lines) answered(ctx context.Context, verb event.SourceVerb) (map[string]any, error) {
	said, err := l.put(ctx, verb)
	if err != nil {
		return nil, err
	}
	if len(said) == 0 {
		return map[string]any{}, nil
	}
	return said[len(said)-1], nil
}

// look asks the program with verb look. One that does not know the verb says nothing, which stands for an open item.
func (l *lines) look(ctx context.Context, _ *event.Item) (s standing, err error) {
	o, err := l.answered(ctx, event.SourceLook)
	if err != nil {
		return s, err
	}
	return standingOf(o), nil
}

func standingOf(o map[string]any) (s standing) {
	s.closed, _ = o["closed"].(bool)
	s.why, _ = o["why"].(string)
	ok, said := o["ok"].(bool)
	switch {
	case said && ok && !s.closed:
		s.why = ""
	case s.closed && s.why == "":
		s.why = "the source says that it is closed"
	case said && !ok && s.why == "":
		s.why = "the source says not to work on it"
	}
	return s
}

func (l *lines) take(ctx context.Context, _ *event.Item) (string, error) {
	return l.write(ctx, event.SourceTake)
}

func (l *lines) report(ctx context.Context, _ *event.Item, _ *event.ItemOutcome) (string, error) {
	return l.write(ctx, event.SourceReport)
}

func (l *lines) write(ctx context.Context, verb event.SourceVerb) (string, error) {
	o, err := l.answered(ctx, verb)
	if err != nil {
		return "", err
	}
	if ok, said := o["ok"].(bool); said && !ok {
		return "", &refusal{standingOf(o)}
	}
	return "", nil
}

// refusal is what a source says that does not want to be written to.
type refusal struct{ standing }

func (r *refusal) Error() string { return r.why }

func (l *lines) create(ctx context.Context, _ *event.Item) (id string, duplicate bool, err error) {
	o, err := l.answered(ctx, event.SourceCreate)
	if err != nil {
		return "", false, err
	}
	withTexts(o)
	id, _ = o["id"].(string)
	duplicate, _ = o["duplicate"].(bool)
	if id == "" {
		text, _ := json.Marshal(o)
		return "", false, fail(event.Blocking, event.ReasonBadOutput, "the answer of the source to create has no id: %.100s", text)
	}
	return id, duplicate, nil
}
