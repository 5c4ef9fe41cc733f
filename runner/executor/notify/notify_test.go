package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/shared"
)

// store is a store in memory with a clock that stands still.
type store struct {
	mu   sync.Mutex
	rows shared.Map
	now  event.Time
}

func (s *store) ask(_ context.Context, r event.StoreRequest) (value.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := shared.Apply(&s.rows, &r, shared.Waiter{}, s.now)
	return a.Output, err
}

// message is an attempt that sends a message to channels.
func message(key string, to ...event.Channel) event.Attempt {
	return event.Attempt{Ticket: 1, Node: "tell", Name: "tell", Attempt: 1, Kind: event.NotifyAttempt, Key: key, Run: "r", Workflow: "w",
		Notify: &event.NotifyRequest{To: to, Message: event.Message{Title: "Disk", Text: "The disk is full", Level: "critical", Kind: event.MessageNotify,
			Workflow: "w", Run: "r", Node: "tell", Key: key, At: "2026-01-05T08:00:00Z", Data: map[string]any{"free": 0.0}}}}
}

// fates are the lists of an output, in words.
func fates(f event.AttemptFinished) string {
	o, _ := f.Output.(map[string]any)
	return fmt.Sprint(o["sent"], o["suppressed"], o["failed"])
}

// receiver is a server that checks signatures as a receiver should: of the time and the body, not older than five minutes, and each once.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	bodies []event.Message
	seen   map[string]bool // signatures
	last   recorded        // the newest request that it has taken
	down   int             // how many requests it answers with an error
}

// recorded is a request that somebody has written down.
type recorded struct{ at, signature, body string }

func newReceiver(t *testing.T, secret string) *receiver {
	r := &receiver{secret: secret, seen: map[string]bool{}}
	r.Server = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		body, _ := io.ReadAll(q.Body)
		at, err := strconv.ParseInt(q.Header.Get(TimestampHeader), 10, 64)
		age := time.Since(time.Unix(at, 0)).Abs()
		switch {
		case r.down > 0:
			r.down--
			w.WriteHeader(nethttp.StatusServiceUnavailable)
			return
		case err != nil || age > 5*time.Minute || q.Header.Get(SignatureHeader) != Sign(r.secret, at, string(body)):
			w.WriteHeader(nethttp.StatusForbidden)
			return
		case r.seen[q.Header.Get(SignatureHeader)]:
			w.WriteHeader(nethttp.StatusConflict)
			return
		}
		r.last = recorded{q.Header.Get(TimestampHeader), q.Header.Get(SignatureHeader), string(body)}
		r.seen[r.last.signature] = true
		var m event.Message
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		r.bodies = append(r.bodies, m)
	}))
	t.Cleanup(r.Close)
	return r
}

func newExecutor(t *testing.T, s *store, o Options) *Executor {
	web := http.New(http.Options{})
	t.Cleanup(web.Close)
	return New(executor.Registry{event.HTTPAttempt: web}, s.ask, o)
}

func TestWebhookIsSignedAndInOrder(t *testing.T) {
	r := newReceiver(t, "key-of-the-pager")
	x := newExecutor(t, &store{}, Options{})
	c := event.Channel{Name: "pager", Type: ir.ChannelWebhook, URL: r.URL, Secret: "key-of-the-pager"}
	for i := range 3 {
		if f := x.Execute(context.Background(), message(fmt.Sprint("k", i), c)); fates(f) != "[pager] [] []" || f.Warning != "" {
			t.Fatalf("%+v", f)
		}
	}
	var keys []string
	for _, m := range r.bodies {
		keys = append(keys, m.Key)
	}
	if !slices.Equal(keys, []string{"k0", "k1", "k2"}) || r.bodies[0].Text != "The disk is full" || r.bodies[0].Level != "critical" {
		t.Errorf("the receiver got %+v", r.bodies)
	}
	replay := func(what recorded) int {
		q, _ := nethttp.NewRequest("POST", r.URL, strings.NewReader(what.body))
		q.Header.Set(TimestampHeader, what.at)
		q.Header.Set(SignatureHeader, what.signature)
		ans, err := nethttp.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		ans.Body.Close()
		return ans.StatusCode
	}
	at, _ := strconv.ParseInt(r.last.at, 10, 64)
	later, old := r.last, recorded{at: fmt.Sprint(at - 301), signature: Sign(r.secret, at-301, r.last.body), body: r.last.body}
	later.at = fmt.Sprint(at + 1)
	for what, status := range map[recorded]int{r.last: 409, later: 403, old: 403} {
		if got := replay(what); got != status || len(r.bodies) != 3 {
			t.Errorf("a request that is sent again with the time %s gets %d, want %d; %d messages", what.at, got, status, len(r.bodies))
		}
	}
	c.Secret = "another-key-of-mine"
	if f := x.Execute(context.Background(), message("k4", c)); f.Outcome != event.Failed || !strings.Contains(f.Error.Message, "403") || len(r.bodies) != 3 {
		t.Errorf("with a wrong key: %+v, %d messages", f, len(r.bodies))
	}
}

// A message links to the page of its run or node where the address of the dashboard is known. Else it names the command that shows the run.
func TestMessagesLink(t *testing.T) {
	for _, x := range []struct{ url, node, link, more string }{
		{"", "a/b[1]", "", "More: flowrun runs show r a/b[1]\n"},
		{"", "", "", "More: flowrun runs show r\n"},
		{"https://flowrun.example.com", "a/b[1]", "https://flowrun.example.com/runs/r/node?path=a%2Fb%5B1%5D", "More: https://flowrun.example.com/runs/r/node?path=a%2Fb%5B1%5D\n"},
		{"https://example.com/flowrun", "", "https://example.com/flowrun/runs/r", "More: https://example.com/flowrun/runs/r\n"},
	} {
		r := newReceiver(t, "key-of-the-pager")
		e := newExecutor(t, &store{}, Options{URL: x.url})
		a := message("k", event.Channel{Name: "pager", Type: ir.ChannelWebhook, URL: r.URL, Secret: "key-of-the-pager"})
		a.Notify.Message.Run, a.Notify.Message.Node = "r", x.node
		if f := e.Execute(context.Background(), a); fates(f) != "[pager] [] []" {
			t.Fatalf("%+v", f)
		}
		if m := r.bodies[0]; m.URL != x.link || !strings.HasSuffix(Text(&m), x.more) {
			t.Errorf("the message of %q at %q links to %q, want %q; its text is %q", x.node, x.url, m.URL, x.link, Text(&m))
		}
	}
}

// A channel that fails twice is tried a third time; one that fails for good is a warning beside one that does not.
func TestTries(t *testing.T) {
	r := newReceiver(t, "key-of-the-pager")
	r.down = 2
	s := &store{now: 1}
	x := newExecutor(t, s, Options{Bell: func() error { return errors.New("no bell") }})
	c := event.Channel{Name: "pager", Type: ir.ChannelWebhook, URL: r.URL, Secret: "key-of-the-pager", Dedupe: time.Minute}
	began := time.Now()
	f := x.Execute(context.Background(), message("k1", c, event.Channel{Name: "bell", Type: ir.ChannelBell, Dedupe: time.Minute}))
	if took := time.Since(began); fates(f) != "[pager] [] [bell]" || !strings.Contains(f.Warning, `channel "bell": no bell`) || took < 3*time.Second {
		t.Errorf("%+v after %s", f, took)
	}
	again := x.Execute(context.Background(), message("k1", c, event.Channel{Name: "bell", Type: ir.ChannelBell, Dedupe: time.Minute}))
	if fates(again) != fates(f) || len(r.bodies) != 1 {
		t.Errorf("the same key gives %+v, and the receiver has %d messages", again, len(r.bodies))
	}
}

func TestFileAndBell(t *testing.T) {
	dir, rings := t.TempDir(), 0
	x := New(executor.Registry{}, (&store{}).ask, Options{Bell: func() error { rings++; return nil }})
	for i := range 2 {
		a := message(fmt.Sprint("k", i), event.Channel{Name: "log", Type: ir.ChannelFile, Path: "m.jsonl"}, event.Channel{Name: "bell", Type: ir.ChannelBell})
		a.Dir = dir
		if f := x.Execute(context.Background(), a); fates(f) != "[log bell] [] []" {
			t.Fatalf("%+v", f)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "m.jsonl"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var m event.Message
	if err != nil || rings != 2 || len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &m) != nil || m.Key != "k1" {
		t.Errorf("%d rings, lines %q, %v", rings, lines, err)
	}
}

// Slack gets a text, ntfy the parts of a message, a program the message on its standard input.
func TestForms(t *testing.T) {
	var got []event.Attempt
	take := executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		got = append(got, a)
		f := executor.Answer(a)
		f.Outcome = event.OK
		return f
	})
	x := New(executor.Registry{event.HTTPAttempt: take, event.RunAttempt: take}, (&store{}).ask, Options{})
	for i, c := range []event.Channel{{Type: ir.ChannelSlack, URL: "http://slack"}, {Type: ir.ChannelNtfy, URL: "http://ntfy/topic", Secret: "token", Headers: map[string]string{"title": "Mine"}},
		{Type: ir.ChannelExec, Argv: []string{"page", "-now"}}} {
		c.Name = "c"
		a := message(fmt.Sprint(i), c)
		a.Notify.Message.Title, a.Notify.Message.Suppressed = "Disk <1>\nfull", 0
		if f := x.Execute(context.Background(), a); f.Outcome != event.OK {
			t.Fatalf("%+v", f)
		}
	}
	if body := got[0].HTTP.Body; !strings.Contains(body, `*Disk \u0026lt;1\u0026gt;`) || !strings.Contains(body, "The disk is full") {
		t.Errorf("Slack gets %s", body)
	}
	if h := got[1].HTTP.Headers; h["title"] != "Mine" || h["Title"] != "" || h["Authorization"] != "Bearer token" || h["Tags"] != "critical" {
		t.Errorf("ntfy gets %v", h)
	}
	var m event.Message
	if a := got[2]; a.Argv[0] != "page" || a.Stdin == nil || json.Unmarshal([]byte(*a.Stdin), &m) != nil || m.Text != "The disk is full" || a.Timeout != MaxTry {
		t.Errorf("the program gets %+v", a)
	}
}
