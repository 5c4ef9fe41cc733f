package http

import (
	nethttp "net/http"
	"net/url"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// request is what is sent, once or, along redirects, several times.
type request struct {
	method  string
	url     *url.URL
	name    string // the URL as messages have it
	headers nethttp.Header
	host    string // in place of the URL's, where the file says so
	body    string
	zipped  bool // we offer gzip, and so undo it
}

// unsettable are the headers that say how the message is framed, which is not the file's to say.
var unsettable = []string{"Content-Length", "Transfer-Encoding", "Trailer"}

// first is the request as the attempt has it.
func (e *exchange) first() (*request, *event.Error) {
	a, h := e.attempt, e.attempt.HTTP
	u, name, wrong := e.target()
	if wrong != nil {
		return nil, wrong
	}
	r := &request{method: h.Method, url: u, name: name, headers: nethttp.Header{}, body: h.Body}
	if a.Agent != nil {
		r.body = string(protocol.Request(a))
		r.headers.Set("Content-Type", "application/json")
		r.headers.Set("Accept", "application/json, application/x-ndjson")
		if a.Agent.Input == "text" {
			r.headers.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	if r.method == "" {
		r.method = "GET"
		if r.body != "" {
			r.method = "POST"
		}
	}
	r.headers.Set("User-Agent", strings.TrimSuffix("flowrun/"+e.opt.Release, "/"))
	if a.Key != "" {
		r.headers.Set("Idempotency-Key", a.Key)
	}
	if err := r.given(h.Headers); err != nil {
		return nil, err
	}
	if r.headers.Get("Accept-Encoding") == "" {
		r.headers.Set("Accept-Encoding", "gzip")
		r.zipped = true
	}
	return r, nil
}

// address reads the address of a request, and gives its name in messages.
func (e *exchange) address(address string) (u *url.URL, name string, _ *event.Error) {
	u, err := url.Parse(address)
	if err == nil {
		name = shown(u)
		// A secret is masked in the text that the file made: parsing may decode and escape it.
		if masked, err := url.Parse(executor.Mask(e.ctx).Text(address)); err == nil {
			name = strings.ReplaceAll(shown(masked), url.PathEscape(mask.Mark), mask.Mark)
		}
	}
	switch {
	case err != nil:
		return nil, "", refused("the URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "", refused("the URL %s is neither http nor https", name)
	case u.User != nil:
		return nil, "", refused("the URL %s has a user name or a password in it, which would appear in messages and logs. "+
			"Give them in headers, from a sensitive variable: { Authorization = \"Basic ${base64encode(\"USER:${var.password}\")}\" }", name)
	case u.Host == "" || u.Hostname() == "":
		return nil, "", refused("the URL %s names no host", name)
	}
	return u, name, nil
}

// target is where the attempt's request goes, and its name in messages.
func (e *exchange) target() (u *url.URL, name string, failure *event.Error) {
	return e.address(e.attempt.HTTP.URL)
}

// given puts in the headers that the file gives.
func (r *request) given(headers map[string]string) *event.Error {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		canonical := nethttp.CanonicalHeaderKey(name)
		if canonical == "Host" {
			r.host = headers[name]
			continue
		}
		for _, no := range unsettable {
			if canonical == no {
				return refused("the header %s follows from the body and cannot be given", no)
			}
		}
		r.headers.Set(canonical, headers[name])
	}
	return nil
}

// changesNothing tells whether the request may share a connection: what is sent twice on it does no harm.
func (r *request) changesNothing() bool {
	return (r.method == "GET" || r.method == "HEAD" || r.method == "OPTIONS") && r.body == ""
}

// shown is a URL as messages have it: what stands in its query, or before the @, may be a secret.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// what names the request in messages.
func (r *request) what() string { return r.method + " " + r.name }
