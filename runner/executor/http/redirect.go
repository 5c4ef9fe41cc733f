package http

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// response is the last answer of an exchange, the request that it is to, and what must not be seen of it.
type response struct {
	*nethttp.Response
	to   *request
	mask *mask.Masker
	ctx  context.Context // who hears the wire
}

// send sends a request, and goes after redirects as often as the attempt allows. With none allowed, a redirect is an answer
// like any other. The caller closes the body.
func (e *exchange) send(r *request) (*response, *event.Error) {
	h := e.attempt.HTTP
	for hops := 0; ; hops++ {
		res, err := e.once(r)
		if err != nil {
			return nil, err
		}
		location := res.Header.Get("Location")
		if !redirects(res.StatusCode) || location == "" || h.Follow <= 0 || slices.Contains(h.Expect, res.StatusCode) {
			return &response{res, r, executor.Mask(e.ctx), e.ctx}, nil
		}
		res.Body.Close()
		if hops == h.Follow {
			return nil, &event.Error{Kind: event.Recoverable, Reason: event.ReasonHTTP, Status: res.StatusCode, ExitCode: -1,
				Message: r.what() + ": one redirect more than follow allows"}
		}
		if r, err = r.redirected(res.StatusCode, location, executor.Mask(e.ctx)); err != nil {
			return nil, err
		}
	}
}

// once sends one request.
func (e *exchange) once(r *request) (*nethttp.Response, *event.Error) {
	req, err := newRequest(context.WithValue(e.ctx, alarmOf{}, e), r)
	if err != nil {
		return nil, refused("%s cannot be sent: %v", r.what(), err)
	}
	transport := e.single
	if r.changesNothing() {
		transport = e.shared
	}
	wireRequest(e.ctx, r)
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, e.broken(r, err)
	}
	wireStatus(e.ctx, res)
	if res.StatusCode == nethttp.StatusSwitchingProtocols {
		// What follows is the caller's to read, by net/http's rules: no context ends it. Nobody here speaks that protocol.
		res.Body.Close()
		res.Body = nethttp.NoBody
	}
	return res, nil
}

func newRequest(ctx context.Context, r *request) (*nethttp.Request, error) {
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := nethttp.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.headers.Clone()
	req.Host = r.host
	return req, nil
}

func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// harmless are the headers that may go to another origin than the one that the file named, unless a secret stands in them.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "User-Agent"}

// redirected is the request that a redirect asks for. A POST becomes a GET, but where the status says that it must not (307 and
// 308). From https there is no way back to http. To another origin goes a request that only reads, without the headers that the
// file gives; where a body or a secret would go there too, or something would be changed there, the redirect is refused.
func (r *request) redirected(status int, location string, m *mask.Masker) (*request, *event.Error) {
	u, err := r.url.Parse(location)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, wayward(r, status, "to something that is not a URL of http or https")
	case u.User != nil:
		return nil, wayward(r, status, "to a URL with a user name or a password in it")
	case r.url.Scheme == "https" && u.Scheme == "http":
		return nil, wayward(r, status, "from https to http, where all could read it")
	}
	next := &request{method: r.method, url: u, name: shown(u), headers: r.headers.Clone(), host: r.host, body: r.body, zipped: r.zipped}
	if status == 303 && r.method != "HEAD" || status < 303 && r.method == "POST" {
		next.method, next.body = "GET", ""
		next.headers.Del("Content-Type")
	}
	if origin(u) == origin(r.url) {
		return next, nil
	}
	elsewhere := func(why string) (*request, *event.Error) {
		return nil, wayward(r, status, fmt.Sprintf("to another origin, %s, %s. Write the address of that origin in url if it is meant", origin(u), why))
	}
	switch {
	case next.body != "":
		return elsewhere("which would be sent the body")
	case !next.changesNothing():
		return elsewhere("where a " + next.method + " could change something")
	case m.Text(location) != location || m.Text(u.String()) != u.String():
		return elsewhere("which would be sent a secret in its address")
	}
	next.host = ""
	for name, values := range next.headers { // any order: each by itself
		text := strings.Join(values, "")
		if !slices.Contains(harmless, name) || m.Text(text) != text {
			next.headers.Del(name)
		}
	}
	return next, nil
}

func wayward(r *request, status int, where string) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonHTTP, Status: status, ExitCode: -1, Message: r.what() + " is redirected " + where}
}

// origin is what a browser calls so: scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
