package http

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

func TestBodyBounds(t *testing.T) {
	x := newTest(t, Options{})
	body := func(n int) handler { return say(200, "text/plain", strings.Repeat("x", n)) }
	for _, tc := range []struct {
		name   string
		server handler
		max    int
		want   string
	}{
		{"no bound given, and it fits", body(limits.MaxOutput), 0, "ok"},
		{"no bound given, one more", body(limits.MaxOutput + 1), 0, "fatal/output_too_large 200"},
		{"what is longer as JSON", say(200, "text/plain", strings.Repeat("\"", limits.MaxOutput)), 0, "ok"},
		{"a bound, and it fits", body(1000), 1000, "ok"},
		{"a bound, and one more", body(1001), 1000, "fatal/output_too_large 200"},
		{"a bound beyond what an output may have", body(limits.MaxOutput + 1), 2 * limits.MaxOutput, "fatal/output_too_large 200"},
		{"without an end", endless([]byte(strings.Repeat("x", 1000))), 0, "fatal/output_too_large 200"},
		{"packed, and it fits", packed(1000), 1000, "ok"},
		{"packed, and one more", packed(1001), 1000, "fatal/output_too_large 200"},
		{"a bomb", packed(64 << 20), 0, "fatal/output_too_large 200"},
		{"packed nothings without an end", endless(zipped(0)), 0, "fatal/output_too_large 200"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := step("GET", serve(t, tc.server))
			a.HTTP.MaxBytes = tc.max
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := do(x, a)
			runtime.ReadMemStats(&after)
			if got := brief(f); got != tc.want && (tc.want != "ok" || f.Outcome != event.OK) {
				t.Errorf("got %.200s %+v, want %s", got, f.Error, tc.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
		})
	}
}

func TestAgentStreamBound(t *testing.T) {
	x := newTest(t, Options{})
	line := []byte(`{"type":"heartbeat"}` + "\n")
	a := agent(serve(t, endless(bytes.Repeat(line, 50))))
	a.HTTP.MaxBytes = 100_000
	if f := do(x, a); brief(f) != "fatal/output_too_large 200" || len(f.Stdout) != limits.MaxStream {
		t.Errorf("%s %+v, %d bytes of stdout", brief(f), f.Error, len(f.Stdout))
	}
}

// endless repeats a text until the client has gone.
func endless(text []byte) handler {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			w.Header().Set("Content-Encoding", "gzip")
		}
		for {
			if _, err := w.Write(text); err != nil {
				return
			}
		}
	}
}

func packed(n int) handler {
	return say(200, "text/plain", string(zipped(n)), "Content-Encoding", "gzip")
}

func zipped(n int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.Copy(w, io.LimitReader(zeros{}, int64(n)))
	w.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// drip sends a byte now and then, and never ends by itself.
func drip(w nethttp.ResponseWriter, r *nethttp.Request) {
	io.Copy(io.Discard, r.Body)
	for {
		io.WriteString(w, " ")
		w.(nethttp.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// silent never answers. It reads first: until then a server does not notice that its client has gone.
func silent(_ nethttp.ResponseWriter, r *nethttp.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// unending is more than even a busy machine takes for what does not wait; who waits here for a server takes longer.
const unending = 20 * time.Second

func TestTimeouts(t *testing.T) {
	x := newTest(t, Options{})
	for name, h := range map[string]handler{
		"a silent server":          silent,
		"a body that drips":        drip,
		"a failure that drips":     func(w nethttp.ResponseWriter, r *nethttp.Request) { w.WriteHeader(500); drip(w, r) },
		"redirects without an end": func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Redirect(w, r, "/", 302) },
	} {
		a := step("GET", serve(t, h))
		a.Timeout, a.HTTP.Follow = 200*time.Millisecond, 1<<30
		began := time.Now()
		f := do(x, a)
		if took := time.Since(began); took > a.Timeout+unending {
			t.Errorf("%s took %v", name, took)
		}
		if got := brief(f); got != "transient/timeout" && got != "transient/http 500" {
			t.Errorf("%s: %s %+v", name, got, f.Error)
		}
	}
}

func TestAFailureThatDripsIsNotWaitedFor(t *testing.T) {
	x := newTest(t, Options{})
	began := time.Now()
	a := step("GET", serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { w.WriteHeader(503); drip(w, r) }))
	a.Timeout = 2 * unending
	f := do(x, a)
	if took := time.Since(began); brief(f) != "transient/http 503" || took > excerptWait+unending {
		t.Errorf("%s after %v", brief(f), took)
	}
}

func TestCancel(t *testing.T) {
	x := newTest(t, Options{})
	for _, h := range []handler{silent, drip} {
		for _, a := range []event.Attempt{step("GET", serve(t, h)), agent(serve(t, h))} {
			a.Timeout = 2 * unending
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(30*time.Millisecond, func() { cancel(executor.Cancelled) })
			began := time.Now()
			if f := x.Execute(ctx, a); brief(f) != "fatal/cancelled" || time.Since(began) > unending {
				t.Errorf("%s after %v", brief(f), time.Since(began))
			}
			if f := x.Execute(ctx, a); brief(f) != "fatal/cancelled" {
				t.Errorf("cancelled before it began: %s", brief(f))
			}
		}
	}
}

func TestRedirects(t *testing.T) {
	x := newTest(t, Options{})
	var home, reached string
	other := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if reached = seen(r); r.URL.Path == "/back" {
			nethttp.Redirect(w, r, home+"/end", 302)
			return
		}
		io.WriteString(w, reached)
	})
	here := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		var status int
		var to string
		if n, _ := fmt.Sscanf(r.URL.Path, "/%d/%s", &status, &to); n < 2 {
			io.WriteString(w, seen(r))
			return
		}
		w.Header().Set("Location", map[string]string{"here": "/end", "other": other + "/end", "twice": "/302/here", "loop": r.URL.Path, "file": "file:///etc/passwd", "user": "http://u:p@" + r.Host + "/end", "name": "//u@" + r.Host + "/end", "back": other + "/back", "bad": "http://[::1", "none": ""}[to])
		w.WriteHeader(status)
	})
	home = here
	secret := "Authorization: Bearer s\n"
	for _, tc := range []struct {
		method, path string
		follow       int
		want         string // the body that came in the end, or the failure
	}{
		{"GET", "/302/here", 1, "GET /end\n" + secret + "Idempotency-Key: k1\nUser-Agent: flowrun\nX-Api-Key: s\n"},
		{"GET", "/302/other", 1, "GET /end\nUser-Agent: flowrun\n"},
		{"POST", "/302/here", 1, "GET /end\n" + secret + "Idempotency-Key: k1\nUser-Agent: flowrun\nX-Api-Key: s\n"},
		{"POST", "/303/other", 1, "GET /end\nUser-Agent: flowrun\n"},
		{"PUT", "/303/other", 1, "GET /end\nUser-Agent: flowrun\n"},
		{"PUT", "/301/here", 1, "PUT /end\n" + secret + "Content-Type: text/x\nIdempotency-Key: k1\nUser-Agent: flowrun\nX-Api-Key: s\nb"},
		{"POST", "/307/here", 1, "POST /end\n" + secret + "Content-Type: text/x\nIdempotency-Key: k1\nUser-Agent: flowrun\nX-Api-Key: s\nb"},
		{"POST", "/307/other", 1, "blocking/http 307"},
		{"POST", "/308/other", 1, "blocking/http 308"},
		{"PUT", "/302/other", 1, "blocking/http 302"},
		{"DELETE", "/302/other", 1, "blocking/http 302"},
		{"GET", "/307/other", 1, "GET /end\nUser-Agent: flowrun\n"},
		{"GET", "/302/back", 2, "GET /end\nUser-Agent: flowrun\n"},
		{"GET", "/302/user", 1, "blocking/http 302"},
		{"GET", "/302/name", 1, "blocking/http 302"},
		{"GET", "/302/twice", 2, "GET /end\n" + secret + "Idempotency-Key: k1\nUser-Agent: flowrun\nX-Api-Key: s\n"},
		{"GET", "/302/twice", 1, "recoverable/http 302"},
		{"GET", "/302/loop", 10, "recoverable/http 302"},
		{"GET", "/302/here", 0, "recoverable/http 302"},
		{"GET", "/302/none", 5, "recoverable/http 302"},
		{"GET", "/302/file", 5, "blocking/http 302"},
		{"GET", "/302/bad", 5, "blocking/http 302"},
	} {
		a := step(tc.method, here+tc.path)
		a.HTTP.Headers = map[string]string{"Authorization": "Bearer s", "X-Api-Key": "s"}
		if tc.method != "GET" && tc.method != "DELETE" {
			a.HTTP.Body, a.HTTP.Headers["Content-Type"] = "b", "text/x"
		}
		a.HTTP.Follow = tc.follow
		reached = ""
		f := do(x, a)
		got := brief(f)
		if f.Error != nil && reached != "" {
			t.Errorf("%s %s is refused, and the other origin was sent %q", tc.method, tc.path, reached)
		}
		if o, ok := f.Output.(map[string]any); ok {
			got, _ = o["body"].(string)
		}
		if got != tc.want {
			t.Errorf("%s %s: got %q (%+v)\nwant %q", tc.method, tc.path, got, f.Error, tc.want)
		}
	}
}

// No secret goes to another origin, wherever in the request it stands; what only reads goes there without it.
func TestRedirectedSecrets(t *testing.T) {
	const canary = "canary/0123456789"
	reached := ""
	other := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { reached = seen(r) + fmt.Sprint(r.Header) })
	here := serve(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		status, _ := strconv.Atoi(r.Header.Get("X-Status"))
		w.Header().Set("Location", other+r.URL.RequestURI())
		w.WriteHeader(status)
	})
	x := newTest(t, Options{})
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			for where, place := range map[string]func(*event.HTTPRequest){
				"query":      func(q *event.HTTPRequest) { q.URL += "/?token=" + url.QueryEscape(canary) },
				"path":       func(q *event.HTTPRequest) { q.URL += "/" + url.PathEscape(canary) },
				"plain path": func(q *event.HTTPRequest) { q.URL += "/" + canary },
				"header":     func(q *event.HTTPRequest) { q.Headers["X-Key"] = canary },
				"agent":      func(q *event.HTTPRequest) { q.Headers["User-Agent"] = "me " + canary },
				"accept":     func(q *event.HTTPRequest) { q.Headers["accept-language"] = canary },
				"cookie":     func(q *event.HTTPRequest) { q.Headers["Cookie"] = "s=" + canary },
				"body":       func(q *event.HTTPRequest) { q.Body = "k=" + canary },
			} {
				a := step(method, here)
				a.HTTP.Follow, a.HTTP.Headers = 3, map[string]string{"X-Status": strconv.Itoa(status)}
				place(a.HTTP)
				reached = ""
				f := x.Execute(executor.WithMask(context.Background(), mask.New([]string{canary})), a)
				name := fmt.Sprintf("%d %s, secret in %s", status, method, where)
				if strings.Contains(reached, "0123456789") {
					t.Errorf("%s: the other origin was sent %q", name, reached)
				}
				sent := where == "header" || where == "agent" || where == "accept" || where == "cookie"
				if reads := method == "GET" || method == "HEAD"; reads && (reached != "") != sent && !(where == "body" && status == 303) {
					t.Errorf("%s: the other origin was sent %q (%+v)", name, reached, f.Error)
				}
				if reached == "" && (brief(f) != fmt.Sprintf("blocking/http %d", status) || !strings.Contains(f.Error.Message, "another origin, "+other) ||
					strings.Contains(f.Error.Message, "?")) {
					t.Errorf("%s: %s %+v", name, brief(f), f.Error)
				}
			}
		}
	}
}

// A redirect away from https is refused before anything goes there.
func TestNoWayBackToHTTP(t *testing.T) {
	r := &request{method: "GET", headers: nethttp.Header{}}
	for from, want := range map[string]bool{"https://a/": false, "http://a/": true} {
		r.url, _ = url.Parse(from)
		if next, err := r.redirected(302, "http://a/x", nil); (err == nil) != want {
			t.Errorf("from %s: %v, %v", from, next, err)
		}
	}
}

// An attempt that gets no socket waits for one. The time is the bubble's, and so is the server.
func TestWantOfDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		x := newTest(t, Options{})
		x.shared.DialContext = patient(nil, func(_ context.Context, network, _ string) (net.Conn, error) {
			if tries++; tries < 6 { // 155 ms
				return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EMFILE}
			}
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				if _, err := nethttp.ReadRequest(bufio.NewReader(there)); err != nil {
					t.Error(err)
				}
				io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}()
			return here, nil
		})
		a := step("GET", "http://there.test/")
		a.Timeout = 120 * time.Millisecond // which is one try's
		began := time.Now()
		if f := do(x, a); f.Outcome != event.OK || tries != 6 || time.Since(began) < a.Timeout {
			t.Errorf("%s after %d tries and %v", brief(f), tries, time.Since(began))
		}
	})
}
