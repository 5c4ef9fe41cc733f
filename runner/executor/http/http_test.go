package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type handler = nethttp.HandlerFunc

// serve runs a server on loopback until the test is over.
func serve(t *testing.T, h handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func newTest(t *testing.T, o Options) *Executor {
	x := New(o)
	t.Cleanup(x.Close)
	return x
}

// step is an attempt of an http step.
func step(method, url string) event.Attempt {
	return event.Attempt{Ticket: 7, Node: "fetch[1]", Name: "fetch", Attempt: 2, Key: "k1", Run: "r1", Workflow: "w",
		Timeout: time.Minute, HTTP: &event.HTTPRequest{Method: method, URL: url}}
}

func agent(url string) event.Attempt {
	a := step("POST", url)
	a.Agent = &event.AgentRequest{Name: "remote", Type: "http", Task: "do it", With: map[string]any{"b": 1.0}}
	return a
}

func do(x *Executor, a event.Attempt) event.AttemptFinished {
	return x.Execute(context.Background(), a)
}

// brief is an answer in a line, without what differs from machine to machine.
func brief(f event.AttemptFinished) string {
	if f.Error == nil {
		return string(f.Outcome) + " " + string(value.Append(nil, f.Output))
	}
	s := fmt.Sprintf("%s/%s", f.Error.Kind, f.Error.Reason)
	if f.Error.Status != 0 {
		s += fmt.Sprintf(" %d", f.Error.Status)
	}
	if f.Error.RetryAfter != 0 {
		s += fmt.Sprintf(" after=%v", f.Error.RetryAfter)
	}
	return s
}

func say(status int, contentType, body string, more ...string) handler {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(more); i += 2 {
			w.Header().Add(more[i], more[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// raw answers with bytes, and hangs up.
func raw(text string) handler {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		c, _, err := w.(nethttp.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(c, text)
		c.Close()
	}
}

func TestAnswers(t *testing.T) {
	x := newTest(t, Options{})
	now, in30 := "Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:00:30 GMT" // by the server's own clock
	for _, tc := range []struct {
		name   string
		server handler
		expect []int
		want   string
	}{
		{"a text", say(200, "text/plain", "hi\n"), nil, `ok {"body":"hi\n","headers":{"content-length":"3","content-type":"text/plain"},"status":200}`},
		{"JSON", say(201, "application/json; charset=utf-8", `{"n":[1,null]}`), nil, `ok {"body":{"n":[1,null]},"headers":{"content-length":"14","content-type":"application/json; charset=utf-8"},"status":201}`},
		{"JSON of a kind", say(200, "application/problem+json", `1`), nil, `ok {"body":1,"headers":{"content-length":"1","content-type":"application/problem+json"},"status":200}`},
		{"headers that come twice", say(204, "", "", "X-A", "1", "X-A", "2"), nil, `ok {"body":"","headers":{"content-type":"","x-a":"1, 2"},"status":204}`},
		{"JSON of nothing is null", say(200, "application/json", ""), nil, `ok {"body":null,"headers":{"content-length":"0","content-type":"application/json"},"status":200}`},
		{"bytes that are not text", say(200, "text/plain", "a\xff\xfeb"), nil, "ok {\"body\":\"a\uFFFDb\",\"headers\":{\"content-length\":\"4\",\"content-type\":\"text/plain\"},\"status\":200}"},
		{"bad JSON", say(200, "application/json", `{"n":`), nil, "blocking/bad_json 200"},
		{"a number that would be rounded", say(200, "application/json", `9007199254740993`), nil, "blocking/bad_json 200"},
		{"a status that is expected", say(404, "text/plain", "no"), []int{200, 404}, `ok {"body":"no","headers":{"content-length":"2","content-type":"text/plain"},"status":404}`},
		{"a status that is not", say(200, "text/plain", "no"), []int{404}, "recoverable/http 200"},
		{"no entry", say(401, "text/plain", ""), nil, "blocking/http 401"},
		{"forbidden", say(403, "text/plain", ""), nil, "blocking/http 403"},
		{"not found", say(404, "text/plain", ""), nil, "blocking/http 404"},
		{"request timeout", say(408, "text/plain", ""), nil, "transient/http 408"},
		{"too many, in seconds", say(429, "text/plain", "", "Retry-After", "17"), nil, "rate_limited/http 429 after=17"},
		{"too many, until a date", say(429, "text/plain", "", "Date", now, "Retry-After", in30), nil, "rate_limited/http 429 after=30"},
		{"too many, until a date that has passed", say(429, "text/plain", "", "Retry-After", "Thu, 01 Jan 2026 00:00:00 GMT"), nil, "rate_limited/http 429"},
		{"too many, and nonsense", say(429, "text/plain", "", "Retry-After", "-3 soon"), nil, "rate_limited/http 429"},
		{"a server's error", say(500, "text/plain", ""), nil, "transient/http 500"},
		{"too many, until a reset in seconds", say(429, "text/plain", "", "RateLimit-Reset", "12"), nil, "rate_limited/http 429 after=12"},
		{"too many, until a reset in Unix time", say(429, "text/plain", "", "Date", "Thu, 01 Jan 2026 00:00:00 GMT", "X-RateLimit-Reset", "1767225630"), nil, "rate_limited/http 429 after=30"},
		{"too many, until a reset in Unix milliseconds", say(429, "text/plain", "", "Date", "Thu, 01 Jan 2026 00:00:00 GMT", "X-RateLimit-Reset", "1767225630000"), nil, "rate_limited/http 429 after=30"},
		{"too many, until a reset that is a date", say(429, "text/plain", "", "Date", now, "X-RateLimit-Reset", in30), nil, "rate_limited/http 429 after=30"},
		{"too many, and two moments", say(429, "text/plain", "", "Retry-After", "17", "RateLimit-Reset", "12"), nil, "rate_limited/http 429 after=17"},
		{"not available, and a reset", say(503, "text/plain", "", "X-RateLimit-Reset", "12"), nil, "transient/http 503"},
		{"not available", say(503, "text/plain", "", "Retry-After", "2"), nil, "transient/http 503 after=2"},
		{"another wrong of ours", say(422, "text/plain", ""), nil, "recoverable/http 422"},
		{"bad JSON with a status that is not expected", say(500, "application/json", "{"), nil, "transient/http 500"},
		{"a redirect that nobody follows", say(302, "text/plain", "", "Location", "/x"), nil, "recoverable/http 302"},
		{"nothing at all", raw(""), nil, "transient/http"},
		{"no HTTP", raw("SSH-2.0-OpenSSH_9.9\r\n"), nil, "transient/http"},
		{"half a header", raw("HTTP/1.1 200 OK\r\nContent-Ty"), nil, "transient/http"},
		{"half a body", raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), nil, "transient/http"},
		{"half a chunk", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha"), nil, "transient/http"},
		{"two lengths", raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"), nil, "transient/http"},
		{"headers without an end", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			for i := range 3000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), "0123456789012345678901234567890")
			}
		}, nil, "fatal/output_too_large"},
		{"no gzip", say(200, "text/plain", "hello", "Content-Encoding", "gzip"), nil, "transient/http"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := step("", serve(t, tc.server))
			a.HTTP.Expect = tc.expect
			f := do(x, a)
			if got := brief(f); got != tc.want {
				t.Errorf("got  %s (%+v)\nwant %s", got, f.Error, tc.want)
			}
			if f.Ticket != 7 || f.Node != "fetch[1]" || f.Attempt != 2 || f.StartedAt == 0 {
				t.Errorf("the answer is to %+v", f)
			}
		})
	}
}

func TestMessagesNameTheRequest(t *testing.T) {
	x := newTest(t, Options{})
	u := serve(t, say(500, "text/plain", "it   broke\n\nhere"))
	f := do(x, step("POST", u+"/p?token=secret"))
	if want := "POST " + u + "/p: status 500 Internal Server Error: it broke here"; f.Error == nil || f.Error.Message != want {
		t.Errorf("got %+v, want %q", f.Error, want)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	f = do(x, step("GET", gone.URL+"/?token=secret"))
	if f.Error == nil || f.Error.Kind != event.Transient || !strings.Contains(f.Error.Message, "connection refused") || strings.Contains(f.Error.Message, "secret") {
		t.Errorf("nobody listens: %+v", f.Error)
	}
	f = do(x, step("GET", "http://nowhere.invalid/"))
	if f.Error == nil || f.Error.Kind != event.Transient || f.Error.Reason != event.ReasonHTTP {
		t.Errorf("no such host: %+v", f.Error)
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	x := newTest(t, Options{})
	for name, a := range map[string]event.Attempt{
		"no URL":              step("GET", "http://[::1"),
		"no host":             step("GET", "http:///x"),
		"no scheme":           step("GET", "example.com/x"),
		"another scheme":      step("GET", "file:///etc/passwd"),
		"a method that is no": step("GE T", "http://127.0.0.1:1/"),
		"a header that is no": headed("X Y", "1"),
		"a header over lines": headed("X-Y", "1\r\nX-Z: 2"),
		"a framing header":    headed("content-length", "3"),
		"a password":          step("GET", "http://user:sesame66@127.0.0.1:1/"),
		"a user":              step("GET", "http://sesame66@127.0.0.1:1/"),
		"an encoded password": step("GET", "http://u%40x:sesame66%2F@127.0.0.1:1/"),
		"an empty user":       step("GET", "http://@127.0.0.1:1/?sesame66"),
		"a password, no host": step("GET", "http://user:sesame66@/"),
		"another scheme's":    step("GET", "ftp://user:sesame66@h/"),
		"an odd password":     step("GET", "http://user:sesame66%zz@h/"),
		"an odd port":         step("GET", "http://user:sesame66@h:port/"),
		"an agent's":          agent("http://user:sesame66@127.0.0.1:1/"),
	} {
		if f := do(x, a); brief(f) != "blocking/start" || strings.Contains(f.Error.Message, "sesame") {
			t.Errorf("%s: %s %+v", name, brief(f), f.Error)
		}
	}
}

func headed(name, text string) event.Attempt {
	a := step("GET", "http://127.0.0.1:1/")
	a.HTTP.Headers = map[string]string{name: text}
	return a
}

// seen is what a server saw of a request.
func seen(r *nethttp.Request) string {
	body, _ := io.ReadAll(r.Body)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, name := range []string{"Accept", "Authorization", "Content-Type", "Idempotency-Key", "User-Agent", "X-Api-Key"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	return b.String() + string(body)
}

func TestRequests(t *testing.T) {
	var got string
	u := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		got = seen(r)
		say(200, "application/json", "{}")(w, r)
	})
	x := newTest(t, Options{Release: "1.2"})
	a := step("", u+"/a?b=c")
	a.HTTP.Body = "x=1"
	a.HTTP.Headers = map[string]string{"content-type": "text/x", "x-api-key": "s"}
	check := func(want string) {
		t.Helper()
		if f := do(x, a); f.Outcome != event.OK {
			t.Errorf("%+v", f.Error)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	check("POST /a?b=c\nContent-Type: text/x\nIdempotency-Key: k1\nUser-Agent: flowrun/1.2\nX-Api-Key: s\nx=1")
	a = step("", u)
	a.HTTP.Headers = map[string]string{"user-agent": "me", "idempotency-key": "mine"}
	check("GET /\nIdempotency-Key: mine\nUser-Agent: me\n")
	a = agent(u + "/agent")
	check("POST /agent\nAccept: application/json, application/x-ndjson\nContent-Type: application/json\nIdempotency-Key: k1\nUser-Agent: flowrun/1.2\n" +
		`{"attempt":2,"feedback":"","idempotency_key":"k1","memory":"","protocol":"flowrun/1","run":"r1","soul":"","step":"fetch[1]","task":"do it","with":{"b":1}}` + "\n")
	a.Agent.Input = "text"
	check("POST /agent\nAccept: application/json, application/x-ndjson\nContent-Type: text/plain; charset=utf-8\nIdempotency-Key: k1\nUser-Agent: flowrun/1.2\ndo it\n\n{\"b\":1}\n")
}

func TestAgents(t *testing.T) {
	var live []string
	x := newTest(t, Options{Live: func(a event.Attempt, kind, text string) { live = append(live, a.Node+" "+kind+" "+text) }})
	for _, tc := range []struct {
		name, format string
		server       handler
		want, stdout string
	}{
		{"an object", "", say(200, "application/json", `{"a":1}`), `ok {"a":1}`, `{"a":1}`},
		{"lines", "", say(200, "application/x-ndjson", "{\"type\":\"progress\",\"percent\":5}\n{\"type\":\"result\",\"output\":[2]}\n"), `ok [2]`, ""},
		{"a manager's worker", "", say(200, "text/plain", `{"status":"completed","result":3}`), `ok 3`, ""},
		{"an error", "", say(200, "application/json", `{"type":"error","kind":"fatal","message":"m"}`), "fatal/agent", ""},
		{"an error with its status", "", say(500, "application/json", `{"type":"error","kind":"rate_limited","message":"m","retry_after":3}`), "rate_limited/agent 500 after=3", ""},
		{"a result with a bad status", "", say(500, "application/json", `{"type":"result","output":1}`), "transient/http 500", ""},
		{"a bad status", "", say(429, "text/plain", "slow down", "Retry-After", "9"), "rate_limited/http 429 after=9", "slow down"},
		{"two results", "", say(200, "application/json", "{\"type\":\"result\"}\n{\"type\":\"result\"}"), "recoverable/agent", ""},
		{"nothing", "", say(200, "application/json", ""), "blocking/bad_json", ""},
		{"no JSON", "", say(200, "application/json", "<html>"), "blocking/bad_json", "<html>"},
		{"text", "text", say(200, "text/plain", "two\nlines\n\n"), `ok "two\nlines"`, "two\nlines\n\n"},
		{"text that just fits", "text", say(200, "text/plain", strings.Repeat("x", limits.MaxOutput)), `ok "` + strings.Repeat("x", limits.MaxOutput) + `"`, ""},
		{"text too large", "text", say(200, "text/plain", strings.Repeat("x", limits.MaxOutput+1)), "fatal/output_too_large", ""},
		{"half an answer", "", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"type\":\"result\",\"output\":1}\n"), "transient/http", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := agent(serve(t, tc.server))
			a.Agent.OutputFormat = tc.format
			f := do(x, a)
			if got := brief(f); got != tc.want {
				t.Errorf("got  %.300s (%+v)\nwant %.300s", got, f.Error, tc.want)
			}
			if tc.stdout != "" && f.Stdout != tc.stdout || len(f.Stdout) > limits.MaxStream {
				t.Errorf("stdout is %.200q", f.Stdout)
			}
			if f.Error != nil && f.Error.ExitCode != -1 {
				t.Errorf("an exit code of %d", f.Error.ExitCode)
			}
		})
	}
	for name, c := range map[string]struct {
		format, said string
		partial      value.Value
	}{
		"a result":                          {"", `{"type":"result","output":1}`, 1.0},
		"text":                              {"text", "half a", "half a"},
		"text that looks like the protocol": {"text", `{"type":"partial","output":2}` + "\n" + `{"type":"progress","percent":50}`, `{"type":"partial","output":2}` + "\n" + `{"type":"progress","percent":50}`},
		"nothing":                           {"text", "", nil},
		"text too large":                    {"text", strings.Repeat("x", limits.MaxOutput+1), nil},
	} {
		a := agent(serve(t, raw("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"+c.said+"\n")))
		a.Agent.OutputFormat = c.format
		if f := do(x, a); f.Error == nil || !value.Equal(f.Partial, c.partial) {
			t.Errorf("%s, then the connection breaks: partial %.100v, want %.100v (%+v)", name, f.Partial, c.partial, f.Error)
		}
	}
	if d := cmp.Diff([]string{"fetch[1] progress 5%"}, live); d != "" {
		t.Error(d)
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(say(200, "text/plain", "hi"))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	if f := do(newTest(t, Options{}), step("GET", s.URL)); brief(f) != "blocking/http" || !strings.Contains(f.Error.Message, "certificate") {
		t.Errorf("a certificate that nobody vouches for: %s %+v", brief(f), f.Error)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	x := newTest(t, Options{TLS: &tls.Config{RootCAs: roots}})
	if f := do(x, step("GET", s.URL)); f.Outcome != event.OK {
		t.Errorf("a certificate that is known: %+v", f.Error)
	}
	if f := do(x, step("GET", strings.Replace(s.URL, "127.0.0.1", "localhost", 1))); brief(f) != "blocking/http" {
		t.Errorf("another host's certificate: %s %+v", brief(f), f.Error)
	}
	if f := do(x, step("GET", serve(t, say(200, "text/plain", ""))+"")); f.Outcome != event.OK {
		t.Errorf("without TLS: %+v", f.Error)
	}
	if f := do(x, step("GET", strings.Replace(serve(t, say(200, "text/plain", "")), "http:", "https:", 1))); brief(f) != "transient/http" {
		t.Errorf("a server that speaks no TLS: %s %+v", brief(f), f.Error)
	}
}

func TestProxy(t *testing.T) {
	var asked string
	proxy, err := url.Parse(serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		asked = r.URL.String()
		io.WriteString(w, "by proxy")
	}))
	if err != nil {
		t.Fatal(err)
	}
	x := newTest(t, Options{Proxy: nethttp.ProxyURL(proxy)})
	f := do(x, step("GET", "http://example.invalid/p"))
	if f.Outcome != event.OK || asked != "http://example.invalid/p" {
		t.Errorf("%s, the proxy was asked for %q", brief(f), asked)
	}
}

// A POST is sent once even where its connection breaks: only what changes nothing shares connections.
func TestConnections(t *testing.T) {
	var mu sync.Mutex // a dropped connection orders nothing between server and client
	conns, requests := map[string]bool{}, 0
	u := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		mu.Lock()
		conns[r.RemoteAddr] = true
		requests++
		mu.Unlock()
		if r.URL.Path == "/drop" {
			panic(nethttp.ErrAbortHandler)
		}
	})
	x := newTest(t, Options{})
	for range 5 {
		do(x, step("GET", u))
	}
	if len(conns) != 1 {
		t.Errorf("5 GETs took %d connections", len(conns))
	}
	for range 5 {
		do(x, step("POST", u))
	}
	if len(conns) != 6 {
		t.Errorf("5 POSTs took %d connections", len(conns)-1)
	}
	mu.Lock()
	requests = 0
	mu.Unlock()
	f := do(x, step("POST", u+"/drop"))
	mu.Lock()
	defer mu.Unlock()
	if brief(f) != "transient/http" || requests != 1 {
		t.Errorf("%s, and it was sent %d times", brief(f), requests)
	}
}
