package http

import (
	"context"
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
			return &response{res, r, executor.Mask(e.ctx)}, nil
		}
		res.Body.Close()
		if hops == h.Follow {
			return nil, &event.Error{Kind: event.Recoverable, Reason: "http", Status: res.StatusCode, ExitCode: -1,
				Message: r.what() + ": one redirect more than follow allows"}
		}
		if r, err = r.redirected(res.StatusCode, location); err != nil {
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
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, e.broken(r, err)
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
	if u := r.url.User; u != nil && req.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	return req, nil
}

func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// harmless are the headers that may go to another origin than the one that the file named.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "User-Agent"}

// redirected is the request that a redirect asks for. To another origin goes no header that could let somebody in, and from
// https there is no way back to http. A POST becomes a GET, but where the status says that it must not (307 and 308).
func (r *request) redirected(status int, location string) (*request, *event.Error) {
	u, err := r.url.Parse(location)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, wayward(r, status, "to no URL of http or https")
	case r.url.Scheme == "https" && u.Scheme == "http":
		return nil, wayward(r, status, "from https to http, where all could read it")
	}
	next := &request{method: r.method, url: u, headers: r.headers.Clone(), host: r.host, body: r.body, zipped: r.zipped}
	if status == 303 && r.method != "HEAD" || status < 303 && r.method == "POST" {
		next.method, next.body = "GET", ""
		next.headers.Del("Content-Type")
	}
	if origin(u) != origin(r.url) {
		next.host = ""
		for name := range next.headers { // any order: each by itself
			if !slices.Contains(harmless, name) {
				next.headers.Del(name)
			}
		}
	}
	return next, nil
}

func wayward(r *request, status int, where string) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: "http", Status: status, ExitCode: -1, Message: r.what() + " is redirected " + where}
}

// origin is what a browser calls so: scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
