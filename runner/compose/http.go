package compose

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// composePost computes the address of an agent with an HTTP interface. The host makes the body.
func (c *Composer) composePost(a *event.Attempt, g *ir.Agent, sc *Scope) (place string, err error) {
	q := &event.HTTPRequest{Method: g.Method}
	if q.Method == "" {
		q.Method = "POST"
	}
	a.HTTP = q
	of := fmt.Sprintf(" of agent %q", g.Name)
	if err = c.composePart(a, request.URL, "url"+of, g.URL, sc); err != nil || g.Headers == nil {
		return "url" + of, err
	}
	return "headers" + of, c.composePart(a, request.Headers, "headers"+of, g.Headers, sc)
}

// composeHTTP computes the request of an http step.
func (c *Composer) composeHTTP(a *event.Attempt, h *ir.HTTP, sc *Scope) (place string, err error) {
	q := &event.HTTPRequest{Method: "GET"}
	a.Kind, a.HTTP = event.HTTPAttempt, q
	if h.Body != nil {
		q.Method = "POST"
	}
	for _, part := range []struct {
		place, name string
		expr        *ir.Expr
	}{{request.URL, "url", &h.URL}, {request.Query, "url", h.Query}, {request.Headers, "headers", h.Headers}, {request.Body, "body", h.Body}} {
		if part.expr == nil {
			continue
		}
		if err = c.composePart(a, part.place, part.name, part.expr, sc); err != nil {
			return part.name, err
		}
	}
	if h.Method != nil {
		if q.Method, err = c.Text(h.Method, sc); err != nil {
			return "method", err
		}
		q.Method = strings.ToUpper(q.Method)
	}
	if h.Expect != nil {
		if q.Expect, err = c.evalStatusCodes(h.Expect, sc); err != nil {
			return "expect", err
		}
	}
	if h.Follow != nil {
		if q.Follow, err = c.evalWhole(h.Follow, sc, 0, limits.MaxRedirects); err != nil {
			return "follow", err
		}
	}
	q.MaxBytes, err = c.Count(h.MaxBody, sc, 0, limits.MaxBody)
	return "max_bytes", err
}

// evalStatusCodes evaluates the list of accepted status codes.
func (c *Composer) evalStatusCodes(e *ir.Expr, sc *Scope) ([]int, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of status codes is needed, but this is %.60s", value.Text(v))
	}
	codes := make([]int, len(list))
	for i, code := range list {
		f, ok := code.(float64)
		if !ok || f < 100 || f > 599 || f != float64(int(f)) {
			return nil, fmt.Errorf("a status code from 100 to 599 is needed, but this is %.60s", value.Text(code))
		}
		codes[i] = int(f)
	}
	return codes, nil
}
