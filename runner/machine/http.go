package machine

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of a request.
const (
	// MaxRedirects bounds what a file may ask for.
	MaxRedirects = 20
	// MaxBody bounds how many bytes of an answer a file may ask for.
	MaxBody = MaxOutput
)

// post computes the address of an agent that is spoken to over HTTP. The host makes the body.
func (m *Machine) post(a *event.Attempt, g *ir.Agent, sc *scope) (place string, err error) {
	q := &event.HTTPRequest{Method: g.Method}
	if q.Method == "" {
		q.Method = "POST"
	}
	a.HTTP = q
	if q.URL, err = m.address(g.URL, nil, sc); err != nil {
		return "url", err
	}
	q.Headers, err = m.headers(g.Headers, sc)
	return "headers", err
}

// http computes the request of an http step.
func (m *Machine) http(a *event.Attempt, h *ir.HTTP, sc *scope) (place string, err error) {
	q := &event.HTTPRequest{Method: "GET"}
	a.HTTP = q
	if q.URL, err = m.address(&h.URL, h.Query, sc); err != nil {
		return "url", err
	}
	if q.Headers, err = m.headers(h.Headers, sc); err != nil {
		return "headers", err
	}
	if h.Body != nil {
		q.Method = "POST"
		if err = m.body(q, h.Body, sc); err != nil {
			return "body", err
		}
	}
	if h.Method != nil {
		if q.Method, err = m.text(h.Method, sc); err != nil {
			return "method", err
		}
		q.Method = strings.ToUpper(q.Method)
	}
	if h.Expect != nil {
		if q.Expect, err = m.expect(h.Expect, sc); err != nil {
			return "expect", err
		}
	}
	if h.Follow != nil {
		if q.Follow, err = m.whole(h.Follow, sc, 0, MaxRedirects); err != nil {
			return "follow", err
		}
	}
	q.MaxBytes, err = m.number(h.MaxBody, sc, 0, MaxBody)
	return "max_bytes", err
}

// address is an absolute URL of http or https, with the query added in the order of its names.
func (m *Machine) address(e, query *ir.Expr, sc *scope) (string, error) {
	text, err := m.text(e, sc)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%.200q is no URL", text)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%.200q is no URL that begins with http:// or https:// and a host", text)
	}
	if query == nil {
		return text, nil
	}
	fields, err := m.texts(query, sc)
	if err != nil {
		return "", fmt.Errorf("query: %w", err)
	}
	values := u.Query()
	for _, name := range value.Keys(fields) {
		values.Set(name, fields[name].(string))
	}
	u.RawQuery = values.Encode()
	return u.String(), nil
}

// headers computes an object of header fields.
func (m *Machine) headers(e *ir.Expr, sc *scope) (map[string]string, error) {
	if e == nil {
		return nil, nil
	}
	fields, err := m.texts(e, sc)
	if err != nil {
		return nil, err
	}
	list := make(map[string]string, len(fields))
	for _, name := range value.Keys(fields) {
		text := fields[name].(string)
		if strings.ContainsAny(name+text, "\r\n") {
			return nil, fmt.Errorf("%.60q holds a line break", name)
		}
		list[name] = text
	}
	return list, nil
}

// texts computes an object or map whose members are texts, numbers or bools. A member that is null is left out.
func (m *Machine) texts(e *ir.Expr, sc *scope) (map[string]any, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an object or map is needed, but this is %.60s", value.Text(v))
	}
	out := make(map[string]any, len(o))
	for _, name := range value.Keys(o) {
		if o[name] == nil {
			continue
		}
		if out[name], err = plain(o[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// body computes what is sent: a text as it is, anything else as JSON, which its header then says.
func (m *Machine) body(q *event.HTTPRequest, e *ir.Expr, sc *scope) error {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return err
	}
	if err := sized(v); err != nil {
		return err
	}
	if text, ok := v.(string); ok {
		q.Body = text
		return nil
	}
	q.Body = string(value.Append(nil, v))
	for name := range q.Headers { // any order: it looks for one
		if strings.EqualFold(name, "content-type") {
			return nil
		}
	}
	if q.Headers == nil {
		q.Headers = map[string]string{}
	}
	q.Headers["content-type"] = "application/json"
	return nil
}

// expect computes the status codes that are no failure.
func (m *Machine) expect(e *ir.Expr, sc *scope) ([]int, error) {
	v, err := m.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of status codes is needed, but this is %.60s", value.Text(v))
	}
	codes := make([]int, len(list))
	for i, c := range list {
		f, ok := c.(float64)
		if !ok || f < 100 || f > 599 || f != float64(int(f)) {
			return nil, fmt.Errorf("a status code from 100 to 599 is needed, but this is %.60s", value.Text(c))
		}
		codes[i] = int(f)
	}
	return codes, nil
}
