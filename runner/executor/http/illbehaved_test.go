package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// hold listens on loopback, says a text to each request, then as often as the client bears it another, and keeps the connection
// open until the client has gone.
func hold(t *testing.T, head, again string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go converse(c, head, again)
		}
	}()
	return "http://" + l.Addr().String()
}

func converse(c net.Conn, head, again string) {
	defer c.Close()
	r := bufio.NewReader(c)
	req, err := nethttp.ReadRequest(r)
	if err != nil {
		return
	}
	io.Copy(io.Discard, req.Body)
	_, err = io.WriteString(c, head)
	for again != "" && err == nil {
		time.Sleep(time.Millisecond)
		_, err = io.WriteString(c, again)
	}
	io.Copy(io.Discard, r) // until the client has gone
}

const (
	chunked   = "Transfer-Encoding: chunked\r\n"
	switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"
)

// illBehaved are servers that do not come to an end: what they say first, and what they then say again and again.
var illBehaved = map[string][2]string{
	"nothing at all":                     {"", ""},
	"half a status line":                 {"HTTP/1.1 2", ""},
	"101 and silence":                    {switching, ""},
	"101 and a flood":                    {switching, "more\n"},
	"101 with a length":                  {strings.Replace(switching, "\r\n\r\n", "\r\nContent-Length: 9\r\n\r\n", 1), ""},
	"101 in chunks":                      {strings.Replace(switching, "\r\n\r\n", "\r\n"+chunked+"\r\n", 1), "1\r\nx\r\n"},
	"100 without an end":                 {"", "HTTP/1.1 100 Continue\r\n\r\n"},
	"102 without an end":                 {"", "HTTP/1.1 102 Processing\r\n\r\n"},
	"103 without an end":                 {"", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"},
	"100, then 101":                      {"HTTP/1.1 100 Continue\r\n\r\n" + switching, ""},
	"headers without an end, slowly":     {"HTTP/1.1 200 OK\r\n", "X: y\r\n"},
	"a header line without an end":       {"HTTP/1.1 200 OK\r\nX: ", "y"},
	"a status line without an end":       {"HTTP/1.1 200 ", "O"},
	"a body that ends with the line":     {"HTTP/1.1 200 OK\r\n\r\n", ""},
	"a body without an end, by drops":    {"HTTP/1.1 200 OK\r\n\r\n", " "},
	"a failure without an end":           {"HTTP/1.1 500 Oh\r\n\r\n", " "},
	"a body shorter than said":           {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ""},
	"HTTP/1.0 that keeps alive":          {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n{}", ""},
	"chunks without an end":              {"HTTP/1.1 200 OK\r\n" + chunked + "\r\n", "1\r\n \r\n"},
	"a chunk's length without an end":    {"HTTP/1.1 200 OK\r\n" + chunked + "\r\n", "0"},
	"trailers without an end":            {"HTTP/1.1 200 OK\r\nTrailer: X\r\n" + chunked + "\r\n2\r\n{}\r\n0\r\n", "X: y\r\n"},
	"a trailer that does not end":        {"HTTP/1.1 200 OK\r\nTrailer: X\r\n" + chunked + "\r\n2\r\n{}\r\n0\r\nX: ", ""},
	"gzip that stops in its head":        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", ""},
	"a redirect whose body does not end": {"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", " "},
}

// Whatever a server does, its attempt ends with its timeout, and when nobody wants it any more.
func TestNoServerOutlivesTheTimeout(t *testing.T) {
	x := newTest(t, Options{})
	var all sync.WaitGroup
	for name, said := range illBehaved {
		u := hold(t, said[0], said[1])
		for kind, a := range map[string]event.Attempt{"step": step("GET", u), "agent": agent(u), "upgrade": upgrade(u),
			"step that expects it": expecting(u, 101, 200, 500), "CONNECT": step("CONNECT", u)} {
			for _, cancelled := range []bool{false, true} {
				all.Go(func() {
					if f, ended := outlives(x, a, cancelled); !ended {
						t.Errorf("%s, %s, cancelled %v: the attempt does not end", name, kind, cancelled)
					} else if f.Outcome == event.OK && !(strings.Contains(name, "101") && kind == "step that expects it") {
						t.Errorf("%s, %s, cancelled %v: %s", name, kind, cancelled, brief(f))
					}
				})
			}
		}
	}
	all.Wait()
}

// outlives carries out an attempt that times out, or has no timeout and is cancelled.
func outlives(x *Executor, a event.Attempt, cancelled bool) (f event.AttemptFinished, ended bool) {
	const soon = 300 * time.Millisecond
	q := *a.HTTP
	a.HTTP, q.Follow = &q, 3
	a.Timeout = soon
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if cancelled {
		a.Timeout = 0
		time.AfterFunc(soon, func() { cancel(executor.Cancelled) })
	}
	answer := make(chan event.AttemptFinished, 1)
	go func() { answer <- x.Execute(ctx, a) }()
	select {
	case f = <-answer:
		return f, true
	case <-time.After(unending):
		return f, false
	}
}

func upgrade(url string) event.Attempt {
	a := step("GET", url)
	a.HTTP.Headers = map[string]string{"Connection": "Upgrade", "Upgrade": "echo"}
	return a
}

func expecting(url string, codes ...int) event.Attempt {
	a := step("GET", url)
	a.HTTP.Expect = codes
	return a
}

// A server that switches to another protocol has answered: with a failure, unless its status is expected, and then without a body,
// for nobody speaks that protocol here. The connection is closed either way.
func TestSwitchingProtocols(t *testing.T) {
	for _, tc := range []struct {
		a    event.Attempt
		want string
	}{
		{step("GET", ""), "recoverable/http 101"},
		{agent(""), "recoverable/http 101"},
		{expecting("", 101), `ok {"body":"","headers":{"connection":"Upgrade","upgrade":"echo"},"status":101}`},
	} {
		closed := make(chan struct{})
		tc.a.HTTP.URL = serve(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			c, _, err := w.(nethttp.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			fmt.Fprint(c, switching)
			io.Copy(io.Discard, c)
			c.Close()
			close(closed)
		})
		tc.a.Timeout = 2 * unending
		began := time.Now()
		if f := do(newTest(t, Options{}), tc.a); brief(f) != tc.want || time.Since(began) > unending {
			t.Errorf("got %s after %v, want %s", brief(f), time.Since(began), tc.want)
		}
		select {
		case <-closed:
		case <-time.After(unending):
			t.Error("the connection stays open")
		}
	}
}
