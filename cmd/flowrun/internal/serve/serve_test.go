package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

const program = `
workflow "hold" {
  step "ask" {
    approve { prompt = "Go on?" }
  }
}

workflow "ship" {
  step "day" {
    approve {
      prompt = "Which day?"
      input "day" { type = string }
    }
  }
  step "say" { run = "echo shipped on ${step.day.output.input.day}; echo careful >&2" }
}

workflow "fails" {
  step "first" { run = "echo one line" }
  step "then" {
    depends_on = [step.first]
    run        = "echo no >&2; exit 3"
  }
}

channel "late" {
  type   = "file"
  path   = "late/messages.jsonl"
  dedupe = "0s"
}

workflow "tells" {
  step "tell" {
    notify {
      to   = [channel.late]
      text = "it is late"
    }
    on_error = "continue"
  }
}

agent "sam" {
  type    = "exec"
  command = ["true"]
}

loop "engineering" {
  agents = [agent.sam]
  source "dispatch" {}
  handle {
    workflow = workflow.work
    with     = { id = item.id }
  }
}

routine "nightly" {
  workflow = workflow.work
  with     = { id = "night" }
  cron     = "0 2 * * *"
}

workflow "twice" {
  step "first" {
    approve { prompt = "Go on?" }
  }
  step "second" {
    depends_on = [step.first]
    approve { prompt = "And on?" }
  }
  step "third" {
    depends_on = [step.second]
    run        = "true"
  }
}

workflow "long" {
  step "pause" {
    wait { duration = "1h" }
  }
}

workflow "work" {
  input "id" { type = string }
  step "a" { value = input.id }
  step "b" { value = step.a.output }
  output "id" { value = step.b.output }
}

on "order.*" {
  workflow = workflow.work
  with     = { id = event.id }
}
`

// openTestStore makes a store with the program registered, and returns a function that starts a run.
func openTestStore(t *testing.T, dir string) (*standalone.Store, func(workflow string) string) {
	t.Helper()
	return openStoreOf(t, dir, program)
}

// openStoreOf is openTestStore with another program, which has a workflow work, too.
func openStoreOf(t *testing.T, dir, program string) (*standalone.Store, func(workflow string) string) {
	t.Helper()
	s, err := standalone.Open(dir, standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(program)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	folder := filepath.Join(dir, "work")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	begin := func(workflow string) engine.Start {
		start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow},
			Definition: definition, First: event.RunStarted{Workflow: workflow, Dir: folder}}
		if p.IR.Loop(workflow) != nil {
			start.First.Loop = &event.LoopStart{}
		}
		return start
	}
	start := begin("work")
	if _, err := s.Register(context.Background(), "/flow.hcl", &start); err != nil {
		t.Fatal(err)
	}
	stop := event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "engineering", By: "test"}} // so that it has no run
	if _, err := s.Ask(context.Background(), stop); err != nil {
		t.Fatal(err)
	}
	return s, func(workflow string) string {
		run, err := s.Start(context.Background(), begin(workflow), nil)
		if err == nil {
			err = s.HandOver(context.Background(), run)
		}
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
}

// serving runs a daemon until the test ends.
func serving(t *testing.T, s *standalone.Store, o ServerOptions) (d *Daemon, at string, stop func() error) {
	t.Helper()
	d = New(Options{Store: s, Grace: 100 * time.Millisecond})
	at, err := d.Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- d.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-over
		d.Close()
		return errors.Join(err, s.Close())
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return d, at, stop
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited too long until " + what)
		}
	}
}

const secretToken = "0123456789abcdef0123456789abcdef"

// client asks a server.
type client struct {
	t  *testing.T
	at string
}

func (c client) ask(method, path, body string) (int, []byte) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.at+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secretToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return a.StatusCode, text
}

// TestRunIsCaughtUp asks for a run twice while it goes on: the second answer is that of a replay from the beginning. The server keeps few views.
func TestRunIsCaughtUp(t *testing.T) {
	s, start := openTestStore(t, t.TempDir())
	d, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	run := start("twice")
	waits := func(node string) {
		until(t, "the run waits at "+node, func() bool {
			_, inbox := c.ask("GET", "/api/v1/inbox", "")
			_, body := c.ask("GET", "/api/v1/runs/"+run, "")
			return strings.Contains(string(inbox), `"node":"`+node+`"`) && strings.Contains(string(body), `"driven":true`)
		})
	}
	waits("first")
	c.ask("POST", "/api/v1/runs/"+run+"/decide", `{"node":"first","word":"approve","by":"ann"}`)
	waits("second")
	info, err := s.Get(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if x := d.server.views.byRun[run]; x == nil || x.past == nil {
		t.Error("the server has no view of the run")
	}
	// compare asks for all folds of the run, which are caught up, and again after the view of the run was forgotten.
	now := regexp.MustCompile(`"to":"[^"]*","critical":\[\],"waits":{[^}]*}`) // of the timeline of a run that goes on
	compare := func() {
		t.Helper()
		paths := []string{"", "/node?path=second", "/timeline", "/graph", "/node?path=third"}
		var caught [5]string
		for i, path := range paths {
			status, body := c.ask("GET", "/api/v1/runs/"+run+path, "")
			if caught[i] = string(body); status != 200 || !strings.Contains(caught[i], "second") {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		for i, path := range paths {
			d.server.views.forget(run)
			if _, body := c.ask("GET", "/api/v1/runs/"+run+path, ""); now.ReplaceAllString(string(body), "") != now.ReplaceAllString(caught[i], "") {
				t.Errorf("%s: caught up, the run is\n%s\nreplayed, it is\n%s", path, caught[i], body)
			}
		}
		doc, err := d.server.readRun(t.Context(), info)
		var plain bytes.Buffer
		if err = errors.Join(err, json.NewEncoder(&plain).Encode(doc)); err != nil || plain.String() != caught[0] {
			t.Errorf("encoded, the run is\n%s\nnot\n%s\n%v", caught[0], plain.String(), err)
		}
		for _, path := range paths { // the last view has all folds
			c.ask("GET", "/api/v1/runs/"+run+path, "")
		}
	}
	compare()
	d.server.views.take(run).created = 1 // as of another run with the same id, which was removed
	c.ask("GET", "/api/v1/runs/"+run, "")
	if x := d.server.views.take(run); x.created != info.Created {
		t.Error("the view of a run is that of another one with its id")
	}
	compare()
	c.ask("POST", "/api/v1/runs/"+run+"/decide", `{"node":"second","word":"approve","by":"ann"}`)
	until(t, "the run has ended", func() bool {
		_, body := c.ask("GET", "/api/v1/runs?status=succeeded", "")
		return strings.Contains(string(body), run)
	})
	if _, body := c.ask("GET", "/api/v1/runs/"+run, ""); !strings.Contains(string(body), `"status":"succeeded"`) {
		t.Errorf("the run that has ended is %s", body)
	}
	if info, err = s.Get(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	compare()
	if _, body := c.ask("GET", "/api/v1/runs/"+run+"/node?path=third", ""); !strings.Contains(string(body), `"tries":[{"attempt":1`) {
		t.Errorf("the node has no attempt: %s", body)
	}
	for range 2 * maxViews {
		other := start("hold")
		if status, body := c.ask("GET", "/api/v1/runs/"+other, ""); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	if n := len(d.server.views.byRun); n > maxViews {
		t.Errorf("the server keeps %d views", n)
	}
}

// TestViewsAtOnce asks for all folds of a run at once while it goes on. At its end each is that of a replay.
func TestViewsAtOnce(t *testing.T) {
	s, start := openStoreOf(t, t.TempDir(), "workflow \"w\" {\n  step \"s\" {\n    for_each = range(40)\n    run = \"true\"\n  }\n}\n")
	d, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	run := start("w")
	paths := []string{"", "/node?path=s", "/timeline", "/graph", "/logs", "/logs?node=s%5B0%5D"}
	var all sync.WaitGroup
	for i := range 2 * len(paths) {
		all.Go(func() {
			for ended := false; !ended; {
				info, err := s.Get(t.Context(), run)
				if ended = err != nil || info.Status.Terminal(); err != nil {
					t.Error(err)
				}
				if status, body := c.ask("GET", "/api/v1/runs/"+run+paths[i%len(paths)], ""); status != 200 {
					t.Errorf("%s: %d %s", paths[i%len(paths)], status, body)
				}
			}
		})
	}
	all.Wait()
	for _, path := range paths {
		_, kept := c.ask("GET", "/api/v1/runs/"+run+path, "")
		d.server.views.forget(run)
		if _, fresh := c.ask("GET", "/api/v1/runs/"+run+path, ""); !bytes.Equal(kept, fresh) || !strings.Contains(string(kept), `"s[0]"`) && path != "/node?path=s" && path != "/graph" {
			t.Errorf("%s: caught up, the run is\n%s\nreplayed, it is\n%s", path, kept, fresh)
		}
	}
}

// TestViewsAreBounded: the server keeps the views that were used last, and not too much.
func TestViewsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v views
		byRun := func() map[string]*runView {
			v.mu.Lock()
			defer v.mu.Unlock()
			return maps.Clone(v.byRun)
		}
		for i := range 2 * maxViews {
			time.Sleep(time.Millisecond)
			v.take(fmt.Sprint(i))
		}
		first, last := fmt.Sprint(maxViews), fmt.Sprint(2*maxViews-1)
		if len(byRun()) != maxViews || byRun()[first] == nil || byRun()[last] == nil {
			t.Errorf("%d views, of which %v and %v", len(byRun()), byRun()[first], byRun()[last])
		}
		kept := v.take(first)
		for i := range 3 {
			time.Sleep(time.Millisecond)
			v.weigh(v.take(fmt.Sprint("large ", i)), maxViewed/2)
		}
		if len(byRun()) != 2 || byRun()["large 1"] == nil || byRun()["large 2"] == nil {
			t.Errorf("views of the size %d: %v", maxViewed/2, byRun())
		}
		if v.weigh(kept, 1); len(byRun()) != 2 {
			t.Errorf("a view that was forgotten is back: %v", byRun())
		}
		v.weigh(v.take("too large"), 2*maxViewed)
		if len(byRun()) != 1 || byRun()["too large"] == nil {
			t.Errorf("a view that is too large: %v", byRun())
		}
		time.Sleep(viewFor - time.Millisecond)
		v.take("young")
		time.Sleep(viewFor)
		synctest.Wait()
		if len(byRun()) != 1 || byRun()["young"] == nil {
			t.Errorf("views that nobody has used for %s: %v", viewFor, byRun())
		}
		time.Sleep(3 * viewFor)
		synctest.Wait()
		if len(byRun()) != 0 || v.sweeps {
			t.Errorf("views that nobody uses: %v", byRun())
		}
	})
}

// TestStreamGoesOn asks for the transitions of a run again from the middle: each comes once.
func TestStreamGoesOn(t *testing.T) {
	s, start := openTestStore(t, t.TempDir())
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	run := start("hold")
	until(t, "the run waits", func() bool { _, b := c.ask("GET", "/api/v1/inbox", ""); return strings.Contains(string(b), run) })
	c.ask("POST", "/api/v1/runs/"+run+"/decide", `{"node":"ask","word":"approve","by":"ann"}`)
	read := func(after string) (ids, data []string) {
		r, err := http.NewRequest("GET", at+"/api/v1/runs/"+run+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secretToken)
		r.Header.Set("Last-Event-ID", after)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		lines := bufio.NewScanner(a.Body)
		for lines.Scan() {
			if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
				ids = append(ids, id)
			} else if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
				data = append(data, text)
			}
		}
		return ids, data
	}
	_, all := read("0")
	if len(all) < 5 || !strings.Contains(all[0], `"to":"running"`) || all[len(all)-1] != "{}" {
		t.Fatalf("the stream is %q", all)
	}
	ids, rest := read("2")
	if ids[0] != "3" || strings.Join(rest, "\n") != strings.Join(all[2:], "\n") {
		t.Errorf("behind 2 the stream is %q %q, want %q", ids, rest, all[2:])
	}
}

// TestHostileRequests are refused, each with its status, and change nothing.
func TestHostileRequests(t *testing.T) {
	s, start := openTestStore(t, t.TempDir())
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken, Hosts: []string{"flow.example:443"}})
	run := start("long")
	good := "Bearer " + secretToken
	port := at[strings.LastIndexByte(at, ':')+1:]
	long := strings.Repeat("x", MaxPath)
	events, cancel := "/api/v1/events", "/api/v1/runs/"+run+"/cancel"
	emit := `{"event":"order.placed","data":{"id":"x"}}`
	for i, x := range []struct {
		method, path, body string
		header             map[string]string
		host               string
		want               int
	}{
		{"GET", "/api/v1/runs", "", map[string]string{"Authorization": ""}, "", 401},
		{"GET", "/api/v1/runs", "", map[string]string{"Authorization": "Bearer "}, "", 401},
		{"GET", "/api/v1/runs", "", map[string]string{"Authorization": "Bearer " + secretToken[1:]}, "", 401},
		{"GET", "/api/v1/runs", "", map[string]string{"Authorization": "Basic " + secretToken}, "", 401},
		{"GET", "/api/v1/runs?token=" + secretToken, "", map[string]string{"Authorization": ""}, "", 401},
		{"GET", "/metrics", "", map[string]string{"Authorization": ""}, "", 401},
		{"POST", events, emit, map[string]string{"Authorization": "bearer" + secretToken}, "", 401},
		{"GET", "/api/v1/runs", "", nil, "evil.example", 421},
		{"GET", "/api/v1/runs", "", nil, "127.0.0.1.evil.example:" + port, 421},
		{"GET", "/api/v1/runs", "", nil, "127.0.0.1:1", 421},
		{"GET", "/api/v1/runs", "", nil, "[::1]:" + port, 421},
		{"GET", "/api/v1/runs", "", nil, "0.0.0.0:" + port, 421},
		{"GET", "/healthz", "", nil, "evil.example:" + port, 421},
		{"GET", "/api/v1/runs", "", map[string]string{"Origin": "https://evil.example"}, "", 403},
		{"GET", "/api/v1/runs", "", map[string]string{"Origin": "null"}, "", 403},
		{"GET", "/api/v1/runs", "", map[string]string{"Origin": "file://127.0.0.1:" + port}, "", 403},
		{"POST", events, emit, map[string]string{"Origin": "http://127.0.0.1:1"}, "", 403},
		{"POST", events, emit, map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"POST", cancel, "{}", map[string]string{"Sec-Fetch-Site": "same-site"}, "", 403},
		{"POST", events, emit, map[string]string{"Content-Type": "text/plain"}, "", 415},
		{"POST", events, "event=order.placed", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, "", 415},
		{"POST", events, emit, map[string]string{"Content-Type": ""}, "", 415},
		{"GET", cancel, "", nil, "", 405},
		{"HEAD", cancel, "", nil, "", 405},
		{"PUT", events, emit, nil, "", 405},
		{"DELETE", "/api/v1/runs/" + run, "", nil, "", 405},
		{"TRACE", "/api/v1/runs", "", nil, "", 405},
		{"GET", "/api/v1/runs", emit, nil, "", 400},
		{"POST", events, `{"event":"order.placed","data":"` + strings.Repeat("x", MaxBody) + `"}`, nil, "", 413},
		{"POST", events, `{"event":"order.placed","extra":1}`, nil, "", 400},
		{"POST", events, emit + emit, nil, "", 400},
		{"POST", events, strings.Repeat("[", 20_000), nil, "", 400},
		{"POST", events, `{"event":"flowrun.run"}`, nil, "", 422},
		{"POST", events, `{"event":"Order Placed"}`, nil, "", 422},
		{"GET", "/api/v1/runs?limit=1000000", "", nil, "", 400},
		{"GET", "/api/v1/runs?x=" + long, "", nil, "", 414},
		{"GET", "/api/v1/runs/..%2f..%2fetc%2fpasswd", "", nil, "", 404},
		{"GET", "/api/v1/runs/" + strings.Repeat("a", 70), "", nil, "", 404},
		{"GET", "/api/v1/../../serve.token", "", nil, "", 404},
		{"GET", "/.flowrun/serve.token", "", nil, "", 404},
		{"POST", "/api/v1/dispatch", `{"title":"x"}`, map[string]string{"Authorization": ""}, "", 401},
		{"POST", "/api/v1/dispatch", `{"title":"x"}`, map[string]string{"Origin": "https://evil.example"}, "", 403},
		{"POST", "/api/v1/dispatch", `{"title":"x"}`, map[string]string{"Content-Type": "text/plain"}, "", 415},
		{"POST", "/api/v1/dispatch", `{"title":"x","state":"closed"}`, nil, "", 400},
		{"POST", "/api/v1/dispatch", `{"title":"x","priority":"high"}`, nil, "", 400},
		{"POST", "/api/v1/dispatch", `{"title":"` + strings.Repeat("x", MaxBody) + `"}`, nil, "", 413},
		{"POST", "/api/v1/dispatch", "", nil, "", 415},
		{"POST", "/api/v1/runs/" + run + "/retry", "{}", map[string]string{"Authorization": ""}, "", 401},
		{"POST", "/api/v1/runs/" + run + "/retry", `{"from":"a","only":"b"}`, nil, "", 409},
		{"POST", "/api/v1/runs/%2e%2e/retry", "{}", nil, "", 404},
		{"GET", "/api/v1/runs/" + run + "/logs/..%2f..%2fserve.token/stdout", "", nil, "", 404},
		{"GET", "/api/v1/runs/" + run + "/logs/1/serve.token", "", nil, "", 404},
		{"GET", "/api/v1/routines/nightly/run", "", nil, "", 405},
		{"POST", "/api/v1/routines/nightly/run", "{}", map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"POST", "/api/v1/routines/nightly/run", "[]", nil, "", 400},
		{"POST", "/api/v1/loops/engineering/stop", "{}", map[string]string{"Authorization": "Bearer x"}, "", 401},
		{"POST", "/api/v1/loops/engineering/stop", "null null", nil, "", 400},
		{"DELETE", "/api/v1/loops/engineering", "", nil, "", 405},
		{"GET", "/api/v1/dispatch?all=yes", "", nil, "", 400},
	} {
		r, err := http.NewRequest(x.method, at+x.path, strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", good)
		if x.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for name, text := range x.header { // any order: it fills a map
			if r.Header.Set(name, text); text == "" {
				r.Header.Del(name)
			}
		}
		r.Host = x.host
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		body, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != x.want || x.method != "HEAD" && !json.Valid(body) {
			t.Errorf("%d: %s %.60s %v is answered with %d %.200s, want %d", i, x.method, x.path, x.header, a.StatusCode, body, x.want)
		}
	}
	c := client{t, at}
	if _, body := c.ask("GET", events, ""); !strings.Contains(string(body), `"items":[]`) {
		t.Errorf("a hostile request has published an event: %s", body)
	}
	if _, body := c.ask("GET", "/api/v1/runs", ""); strings.Contains(string(body), "cancelled") || strings.Count(string(body), `"run":`) != 1 {
		t.Errorf("a hostile request has changed a run: %s", body)
	}
	for path, none := range map[string]string{"/api/v1/dispatch?all=true": `"items":[]`, "/api/v1/loops/engineering": `"by":"test"`} { // any order: each for itself
		if _, body := c.ask("GET", path, ""); !strings.Contains(string(body), none) {
			t.Errorf("a hostile request has left something at %s: %s", path, body)
		}
	}
	if _, body := c.ask("GET", "/api/v1/audit", ""); strings.Count(string(body), `"seq"`) != 2 { // of the two emissions that the store refuses
		t.Errorf("hostile requests are in the audit: %s", body)
	}
	if status, _ := c.ask("GET", "/healthz", ""); status != 200 {
		t.Errorf("the server answers %d in the end", status)
	}
	r, _ := http.NewRequest("GET", at+"/api/v1/runs", nil)
	r.Host = "flow.example:443"
	r.Header.Set("Authorization", good)
	r.Header.Set("Origin", "https://flow.example:443")
	if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != 200 {
		t.Errorf("a host that is allowed is refused: %v %v", a, err)
	}
	// A header without end is cut off.
	conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.Copy(conn, io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\nX: "), io.LimitReader(endless{}, 1<<20)))
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if answer, _ := io.ReadAll(conn); len(answer) > 0 && !bytes.Contains(answer, []byte("431")) {
		t.Errorf("a header without end is answered with %.100s", answer)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// TestOneDaemon takes the lock twice, and again after its release.
func TestOneDaemon(t *testing.T) {
	dir := t.TempDir()
	if by, err := Served(dir); by != nil || err != nil {
		t.Fatal(by, err)
	}
	h, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Note("http://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	var other *Serving
	if _, err := Lock(dir); !errors.As(err, &other) || other.PID == 0 || other.At != "http://127.0.0.1:1" {
		t.Errorf("the lock is taken twice: %v", err)
	}
	if by, err := Served(dir); by == nil || err != nil || !strings.Contains(by.Error(), fmt.Sprint(other.PID)) {
		t.Error(by, err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if by, err := Served(dir); by != nil || err != nil {
		t.Error(by, err)
	}
	first, path, err := Token(dir)
	if err != nil || len(first) < 32 || path != filepath.Join(dir, tokenName) {
		t.Fatal(first, path, err)
	}
	if again, _, err := Token(dir); again != first || err != nil {
		t.Error("the token changes", err)
	}
}

// TestRestart stops a daemon while runs wait and events are due: the next one goes on, and each event starts one run.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s, start := openTestStore(t, dir)
	run := start("hold")
	_, at, stop := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	until(t, "the run waits", func() bool { _, b := c.ask("GET", "/api/v1/inbox", ""); return strings.Contains(string(b), run) })
	for i := range 20 {
		c.ask("POST", "/api/v1/events", fmt.Sprintf(`{"event":"order.placed","data":{"id":"%d"},"key":"%d"}`, i, i))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = openTestStore(t, dir)
	if _, err := s.Ask(context.Background(), event.StoreRequest{Decide: &event.DecideRequest{Run: run, Node: "ask", Decision: event.Decision{Word: event.WordApprove, By: "ann"}}}); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{Store: s}).Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(context.Background(), 0)
	if err != nil || len(list) != 21 {
		t.Fatalf("there are %d runs, %v", len(list), err)
	}
	for i := range list {
		if list[i].Status != event.Succeeded {
			t.Errorf("run %s of %s is %s", list[i].Run, list[i].Workflow, list[i].Status)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOnceTakesNewRuns leaves runs that were made just now. Where their maker is gone, they are driven at once; while it lives, it has some time
// to drive them, and Once waits until then.
func TestOnceTakesNewRuns(t *testing.T) {
	for _, lives := range []bool{false, true} {
		dir := t.TempDir()
		maker, _ := openTestStore(t, dir)
		run, err := maker.RunRoutine(context.Background(), "nightly")
		if err == nil && !lives {
			err = maker.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		s, _ := openTestStore(t, dir)
		d := New(Options{Store: s})
		d.young = time.Hour
		if lives {
			d.young = 500 * time.Millisecond
		}
		if err := d.Once(context.Background()); err != nil {
			t.Fatal(err)
		}
		info, err := s.Get(context.Background(), run)
		if err != nil || info.Status != event.Succeeded {
			t.Errorf("the maker lives %v: the run is %s, %v", lives, info.Status, err)
		}
		if age := time.Since(info.Created.Go()); lives && age < d.young {
			t.Errorf("the run of a process that lives was driven after %v", age)
		}
		if err = s.Close(); lives {
			err = errors.Join(err, maker.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	latency = flag.Int("serve.latency", 0, "publish so many events one after the other, and print how long each took to start its run and to end it")
	flood   = flag.Int("serve.flood", 0, "publish so many events over the API at once, and print how long it took; each starts one run")
)

// TestLatency measures how long it takes from the answer to an emission until its run has begun, and until it has ended.
func TestLatency(t *testing.T) {
	if *latency == 0 {
		t.Skip("-serve.latency is not set")
	}
	s, _ := openTestStore(t, t.TempDir())
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	until(t, "the daemon is ready", func() bool { status, _ := c.ask("GET", "/readyz", ""); return status == 200 })
	var begun, ended []time.Duration
	for i := range *latency {
		sent := time.Now()
		c.ask("POST", "/api/v1/events", fmt.Sprintf(`{"event":"order.placed","data":{"id":"%d"}}`, i))
		for len(ended) == i {
			list, err := s.List(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == i+1 && len(begun) == i {
				begun = append(begun, time.Since(sent))
			}
			if len(list) == i+1 && list[0].Status == event.Succeeded {
				ended = append(ended, time.Since(sent))
			}
		}
	}
	slices.Sort(begun)
	slices.Sort(ended)
	t.Logf("%d events: the run began after %v (median) and %v at most, and had ended after %v and %v", *latency, begun[len(begun)/2], begun[len(begun)-1], ended[len(ended)/2], ended[len(ended)-1])
}

// TestFlood publishes many events over many connections. Each starts one run, and none is lost.
func TestFlood(t *testing.T) {
	if *flood == 0 {
		t.Skip("-serve.flood is not set")
	}
	s, _ := openTestStore(t, t.TempDir())
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	began := time.Now()
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			for i := w; i < *flood; i += 32 {
				for range 1 + i%2 { // half of them twice
					if status, body := c.ask("POST", "/api/v1/events", fmt.Sprintf(`{"event":"order.placed","data":{"id":"%d"},"key":"%d"}`, i, i)); status != 200 {
						t.Errorf("%d %s", status, body)
					}
				}
			}
		})
	}
	all.Wait()
	sent := time.Since(began)
	for {
		list, err := s.List(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for i := range list {
			if list[i].Status == event.Succeeded {
				done++
			}
		}
		if done == *flood {
			if len(list) != *flood {
				t.Errorf("%d runs for %d events", len(list), *flood)
			}
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d events, half of them sent twice, were published in %v (%.0f requests a second) and had all ended after %v; each started one run", *flood, sent,
		float64(*flood)*1.5/sent.Seconds(), time.Since(began))
}
