package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/stats"
	"github.com/flowrun/flowrun/runner/view"
)

// hostile is a text that must be seen as it is, wherever a page shows it.
const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

const program = `
workflow "ship" {
  description = "A team, because <b>no part</b> can be done alone"
  step "build" {
    run = "printf '\\033[31mred\\033[0m <b>bold</b>\\n'; echo '\"><script>alert(1)</script>' >&2"
  }
  step "test" {
    for_each   = ["a", "<i>b</i>", "c"]
    depends_on = [step.build]
    run        = "test ${each.key} != 1"
  }
  step "after" {
    depends_on = [step.test]
    value      = 1
  }
}

workflow "ask" {
  step "ok" {
    approve {
      prompt = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
      show   = { html = "</pre><script>alert(1)</script>" }
      input "day" {
        type    = string
        default = "monday"
      }
      input "count" { type = number }
    }
  }
  feedback "draft" {
    producer = agent.idle
    reviewer = agent.critic
    accept   = "true"
  }
  output "day" { value = step.ok.output.input.day }
  output "count" { value = step.ok.output.input.count }
}

workflow "simple" {
  step "first" {
    approve { prompt = "First?" }
  }
}

workflow "long" {
  step "pause" {
    wait { duration = "1h" }
  }
}

workflow "slow" {
  step "first" { value = 1 }
  step "hold" {
    depends_on = [step.first]
    run        = "sleep 1000"
  }
  step "last" {
    depends_on = [step.hold]
    value      = 1
  }
}

agent "tired" {
  type    = "exec"
  command = ["sleep", "1000"]
}

workflow "busy" {
  step "nap" {
    agent = agent.tired
    task  = "Sleep."
  }
}

workflow "keys" {
  step "each" {
    for_each = { (join("", [for i in range(0, 9000) : "k"])) = 1, b = 2 }
    run      = "echo of a long key; exit 1"
  }
}

workflow "many" {
  step "all" {
    for_each = range(0, 2000)
    require {
      condition = "each.value % 500 != 3"
      message   = "number ${each.value}"
    }
    value = each.value
  }
}

agent "idle" { type = "null" }

agent "critic" { type = "null" }

agent "sam" {
  type    = "exec"
  command = ["true"]
}

workflow "work" {
  input "id" { type = string }
  step "a" { value = input.id }
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

on "order.*" {
  workflow = workflow.work
  with     = { id = event.id }
}
`

const token = "0123456789abcdef0123456789abcdef"

// house is a daemon with pages, and a browser.
type house struct {
	t     *testing.T
	at    string
	store *standalone.Store
	start func(workflow string) string
	web   *http.Client
}

// open serves the store in a folder until the test ends; stop ends that earlier. A token of "" lets everybody in.
func open(t *testing.T, dir, token, address string) (h *house, stop func()) {
	t.Helper()
	s, err := standalone.Open(dir, standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(program)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition, folder := p.IR.Canonical(), t.TempDir()
	begin := func(workflow string) engine.Start {
		return engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow},
			Definition: definition, First: event.RunStarted{Workflow: workflow, Dir: folder},
			Source: runner.Source{Files: map[string]string{"flow.hcl": program}, Path: "/flow.hcl"}.Encode()}
	}
	start := begin("work")
	if _, err := s.Register(t.Context(), "/flow.hcl", &start); err != nil {
		t.Fatal(err)
	}
	d := serve.New(serve.Options{Store: s, Grace: 100 * time.Millisecond})
	at, err := d.Listen(address, serve.ServerOptions{Token: token, Pages: New})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- d.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			err := <-over
			d.Close()
			if err := errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	jar, _ := cookiejar.New(nil)
	h = &house{t: t, at: at, store: s, web: &http.Client{Jar: jar, Timeout: time.Minute}}
	h.start = func(workflow string) string {
		t.Helper()
		run, err := s.Start(context.Background(), begin(workflow), nil)
		if err == nil {
			err = s.HandOver(context.Background(), run)
		}
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	return h, stop
}

// get opens a page as a browser does.
func (h *house) get(path string) (status int, page string) {
	h.t.Helper()
	r, err := http.NewRequest("GET", h.at+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Sec-Fetch-Dest", "document")
	r.Header.Set("Sec-Fetch-Site", "cross-site") // as from a link in a chat
	return h.do(r)
}

// post sends a form as a browser does.
func (h *house) post(path string, pairs ...string) (status int, page string) {
	h.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequest("POST", h.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", h.at)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return h.do(r)
}

func (h *house) do(r *http.Request) (status int, page string) {
	h.t.Helper()
	got, err := h.web.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return got.StatusCode, string(body)
}

// has opens a page and looks for texts.
func (h *house) has(path string, texts ...string) string {
	h.t.Helper()
	status, page := h.get(path)
	if status != 200 {
		h.t.Errorf("%s answers %d: %.2000s", path, status, page)
	}
	for _, text := range texts {
		if !strings.Contains(page, text) {
			h.t.Errorf("%s does not say %q:\n%s", path, text, page)
		}
	}
	return page
}

// wait waits until a run has a status.
func (h *house) wait(run string, status event.Status) {
	h.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		info, err := h.store.Get(h.t.Context(), run)
		if err != nil || time.Now().After(end) {
			h.t.Fatalf("run %s is %s, not %s: %v", run, info.Status, status, err)
		}
		if info.Status == status {
			return
		}
	}
}

// active are things in a page that a text from outside must never become.
var active = regexp.MustCompile(`(?i)<script[^>]*>[^<]|<img|<i>|<b>|<style|<[a-z][^>]*\s(?:on[a-z]+|style)\s*=|<[a-z][^>]*javascript:`)

func TestPages(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	ship, ask, many := h.start("ship"), h.start("ask"), h.start("many")
	h.wait(ship, event.FailedS)
	h.wait(ask, event.Waiting)
	h.wait(many, event.FailedS)
	if status, _ := h.post("/dispatch", "title", hostile, "to", hostile); status != 200 {
		t.Errorf("a dispatch answers %d", status)
	}
	if status, _ := h.post("/events", "event", "order.placed", "data", `{"x":"</script><script>alert(1)</script>"}`); status != 200 {
		t.Errorf("an event answers %d", status)
	}
	escaped := "&lt;script&gt;alert(1)&lt;/script&gt;"
	pages := map[string][]string{
		"/":                                {"Look at this:", escaped, "failed run", "nightly", "engineering"},
		"/runs":                            {ship, ask, many, "4 runs"},
		"/runs?status=failed&text=" + ship: {ship, "1 run"},
		"/runs?since=1h":                   {ship, "4 runs", "<option selected>1h"},
		"/runs?cause=manual":               {ship, "4 runs", "<option selected>manual"},
		"/runs?cause=event":                {"No run fits.", "<option selected>event"},
		"/runs?since=soon":                 {ship, "4 runs"},
		"/runs/" + ship:                    {"test[1]", "2 of 3 succeeded, 1 failed", "blocked", "exit code 1", "<p>A team, because &lt;b&gt;no part&lt;/b&gt; can be done alone</p>"},
		"/runs/" + ship + "?tab=graph":     {"<svg", "/runs/" + ship + "/node?name=build"},
		"/runs/" + ship + "?tab=timeline":  {"s-succeeded", "s-failed", "Critical path:", "The whole run", "Zoom into quarter"},
		"/runs/" + ship + "?tab=timeline&from=1&to=3":  {"A part of the run", "Zoom out", "Whole run", "Later"},
		"/runs/" + ship + "?tab=timeline&from=x&to=-3": {"The whole run"},
		"/runs/" + ship + "?tab=definition":            {"flow.hcl", "workflow &#34;ship&#34;", "<code>/flow.hcl</code> no longer exists"},
		"/runs/" + ship + "/node?path=build":           {`<span class="t-c1">red</span>`, "&lt;b&gt;bold", escaped, "standard error"},
		"/runs/" + ship + "/node?name=build":           {"These nodes wait for it: test"},
		"/runs/" + ship + "/node?path=test[1]":         {"exit code 1"},
		"/runs/" + ask + "/node?path=ok":               {"Answer in the inbox", "/inbox#" + ask + "-ok"},
		"/runs/" + ask:                                 {"waiting", "Waits for a person:", "/inbox#" + ask + "-ok", `draft</a> <span class="quiet">feedback</span>`, "draft_product"},
		"/runs/" + ask + "/node?path=draft":            {"<span>feedback</span>"},
		"/runs/" + many:                                {"4 failed", "number 503", "number 1503", "show 2000"},
		"/runs/" + many + "?under=all&page=10":         {"all[1999]", "Page 10 of 10"},
		"/inbox":                                       {escaped, "Your name", "number, required", "approve", "reject"},
		"/loops":                                       {"engineering", escaped, "Take back"},
		"/routines":                                    {"nightly", "0 2 * * *", "Run now"},
		"/events":                                      {"order.placed", "/flow.hcl"},
		"/limits":                                      {"Agents in the last 24 hours"},
		"/numbers?since=7d&by=agent":                   {"success rate", "By agent", "Success rate", "The figures of each day", "Forecasts against what came", "No run of this span had a forecast"},
		"/numbers?of=" + url.QueryEscape(hostile):      {"workflow &#34;&#39;&gt;&lt;script", "nothing"},
		"/letters":                                     {"exit code 1", "number 3"},
		"/audit":                                       {"dispatch", "emit", "page"},
		"/login":                                       {"Now"}, // whoever is in is led on
	}
	for path, texts := range pages { // any order: each on its own
		page := h.has(path, texts...)
		if bad := active.FindString(page); bad != "" {
			t.Errorf("%s has %q", path, bad)
		}
		if len(page) > 300<<10 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
	logs := regexp.MustCompile(`/runs/[^"]*/log\?attempt=[^"]*stdout`).FindString(h.has("/runs/" + ship + "/node?path=build"))
	logs = strings.ReplaceAll(logs, "&amp;", "&")
	h.has(logs, `<span class="t-c1">red</span> &lt;b&gt;bold`)
	h.has(logs+"&find=BOLD", "1 line found")
	if _, text := h.get(logs + "&whole=1"); text != "\x1b[31mred\x1b[0m <b>bold</b>\n" {
		t.Errorf("the whole log is %q", text)
	}
	for _, path := range []string{"/nope", "/runs/none", "/runs/" + ship + "/node?path=none", "/static/none.js", "/runs/" + ship + "/log?attempt=99&stream=stdout"} {
		if status, page := h.get(path); status != 404 || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s answers %d: %.500s", path, status, page)
		}
	}
}

// TestLongKeys: the page of an instance is found whose path is longer than an address, with its log, and so is what is below it.
func TestLongKeys(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	run := h.start("keys")
	h.wait(run, event.FailedS)
	links := regexp.MustCompile(`href="(/runs/[^"]*/node\?path=[^"]*)"`).FindAllStringSubmatch(h.has("/runs/"+run), -1)
	long := 0
	for _, m := range links {
		page := h.has(html.UnescapeString(m[1]))
		if !strings.Contains(m[1], "sha256") {
			continue
		}
		long++
		if !strings.Contains(page, "<h1>each["+strings.Repeat("k", 9000)+"]</h1>") || !strings.Contains(page, "echo of a long key") && !strings.Contains(page, "of a long key\n") {
			t.Errorf("%s is not the page of the instance:\n%.3000s", m[1], page)
		}
		h.has("/runs/" + run + "?under=" + regexp.MustCompile(`sha256[^&"]*`).FindString(m[1]))
	}
	if long == 0 {
		t.Errorf("no link has the short form: %v", links)
	}
	if status, _ := h.get("/runs/" + run + "/node?path=" + view.Short("none")); status != 404 {
		t.Errorf("a node that does not exist answers %d", status)
	}
}

func TestPolicy(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	r, err := h.web.Get(h.at + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	got := r.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(got, part) {
			t.Errorf("the policy %q lacks %q", got, part)
		}
	}
	if strings.Contains(got, "unsafe") {
		t.Errorf("the policy is %q", got)
	}
}

// TestLogin: nobody sees a page or changes a thing without having been given a session.
func TestLogin(t *testing.T) {
	dir := t.TempDir()
	h, stop := open(t, dir, token, "127.0.0.1:0")
	if status, page := h.get("/runs?status=failed"); status != 200 || !strings.Contains(page, "flowrun open") || !strings.Contains(page, `value="/runs?status=failed"`) {
		t.Errorf("without a session the page is %d %s", status, page)
	}
	if status, _ := h.post("/dispatch", "title", "x"); status != 401 {
		t.Errorf("a change without a session answers %d", status)
	}
	for _, bad := range []string{"", "x", strings.Repeat("0", 48)} {
		if status, _ := h.post("/login", "code", bad); status != 403 {
			t.Errorf("the code %q answers %d", bad, status)
		}
		if status, _ := h.post("/login", "token", bad); status != 403 {
			t.Errorf("the token %q answers %d", bad, status)
		}
	}
	r, _ := http.NewRequest("POST", h.at+"/api/v1/login", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	if status, _ := h.do(r); status != 401 {
		t.Errorf("a link without the token: %d", status)
	}
	r, _ = http.NewRequest("POST", h.at+"/api/v1/login", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	_, answer := h.do(r)
	code := regexp.MustCompile(`code=([0-9a-f]+)`).FindStringSubmatch(answer)
	if code == nil {
		t.Fatal(answer)
	}
	h.has("/login?code="+code[1]+"&next=/runs", `value="`+code[1]+`"`, `value="/runs"`) // to look at the link uses nothing up
	if status, page := h.post("/login", "code", code[1], "next", "/runs"); status != 200 || !strings.Contains(page, "<h1>Runs</h1>") {
		t.Errorf("a good code answers %d %s", status, page)
	}
	h.has("/inbox", "Inbox")
	other := &house{t: t, at: h.at, web: &http.Client{}}
	if status, _ := other.post("/login", "code", code[1]); status != 403 {
		t.Errorf("a code that was used answers %d", status)
	}
	// A session is for pages, not for the API, and only pages of the server may use it.
	r, _ = http.NewRequest("GET", h.at+"/api/v1/runs", nil)
	if status, _ := h.do(r); status != 401 {
		t.Errorf("the API with the cookie answers %d", status)
	}
	for name, header := range map[string]http.Header{
		"another site":    {"Origin": {"http://evil.test"}, "Sec-Fetch-Site": {"cross-site"}},
		"another port":    {"Origin": {"http://127.0.0.1:1"}, "Sec-Fetch-Site": {"same-site"}},
		"no origin":       {},
		"an opaque page":  {"Origin": {"null"}},
		"a site without":  {"Sec-Fetch-Site": {"cross-site"}},
		"another machine": {"Origin": {h.at}, "Host": {"evil.test"}},
	} {
		r, _ := http.NewRequest("POST", h.at+"/dispatch", strings.NewReader("title=x"))
		r.Header = header.Clone()
		r.Host = header.Get("Host")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if status, _ := h.do(r); status < 400 {
			t.Errorf("a change by %s answers %d", name, status)
		}
	}
	for _, next := range []string{"//evil.test/", "http://evil.test/", "/\\evil.test", "javascript:alert(1)", "https:evil"} {
		if got := localPath(next); got != "/" {
			t.Errorf("after the login %q leads to %q", next, got)
		}
	}
	if got := localPath("/runs/x?tab=graph"); got != "/runs/x?tab=graph" {
		t.Error(got)
	}
	// The server is started anew: whoever was logged in stays so. With another token nobody is.
	address := strings.TrimPrefix(h.at, "http://")
	stop()
	_, stop = open(t, dir, token, address)
	h.has("/inbox", "<h1>Inbox</h1>")
	stop()
	open(t, dir, strings.Repeat("f", 32), address)
	if _, page := h.get("/inbox"); strings.Contains(page, "<h1>Inbox</h1>") {
		t.Error("a session outlives its token")
	}
}

// TestSessionsEnd: a cookie cannot be made, nor be used for longer than it says.
func TestSessionsEnd(t *testing.T) {
	dir := t.TempDir()
	h, _ := open(t, dir, token, "127.0.0.1:0")
	h.post("/login", "token", token)
	h.has("/", "Now")
	u, _ := url.Parse(h.at)
	cookies := h.web.Jar.Cookies(u)
	if len(cookies) != 1 || strings.Contains(cookies[0].Value, token) {
		t.Fatal(cookies)
	}
	until, signature, _ := strings.Cut(cookies[0].Value, ".")
	for _, forged := range []string{"", ".", "9" + until + "." + signature, until + "." + strings.Repeat("0", 64), until, token} {
		r, _ := http.NewRequest("GET", h.at+"/inbox", nil)
		r.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: forged})
		got, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != 303 {
			t.Errorf("the cookie %q answers %d", forged, got.StatusCode)
		}
	}
	r, _ := http.NewRequest("GET", h.at+"/", nil)
	r.AddCookie(cookies[0])
	s := serverOf(t, dir)
	if !s.LoggedIn(r, time.Now()) || s.LoggedIn(r, time.Now().Add(8*24*time.Hour)) {
		t.Error("a session does not end after 7 days")
	}
}

// serverOf is a server with the same token, that answers nobody.
func serverOf(t *testing.T, _ string) *serve.Server {
	s, err := standalone.Open(t.TempDir(), standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	var server *serve.Server
	d := serve.New(serve.Options{Store: s})
	if _, err := d.Listen("127.0.0.1:0", serve.ServerOptions{Token: token, Pages: func(x *serve.Server) serve.Pages { server = x; return New(x) }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); s.Close() })
	return server
}

func TestChanges(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	ship, ask, long := h.start("ship"), h.start("ask"), h.start("long")
	h.wait(ship, event.FailedS)
	h.wait(ask, event.Waiting)
	h.wait(long, event.Waiting)
	does := func(path, want string, pairs ...string) string {
		t.Helper()
		status, page := h.post(path, pairs...)
		if status != 200 || !strings.Contains(page, want) {
			t.Errorf("%s answers %d without %q:\n%s", path, status, want, page)
		}
		return page
	}
	refuses := func(path string, status int, want string, pairs ...string) {
		t.Helper()
		if got, page := h.post(path, pairs...); got != status || !strings.Contains(page, want) {
			t.Errorf("%s answers %d, not %d, or without %q:\n%s", path, got, status, want, page)
		}
	}
	does("/runs/"+long+"/cancel", "The end of the run was asked for.", "reason", "enough")
	h.wait(long, event.Cancelled)
	if page := h.has("/runs/"+ship, `<option value="test">`, `<option value="build">`); strings.Contains(page, `<option value="test[`) {
		t.Error("the steps to retry from are instances")
	}
	page := does("/runs/"+ship+"/retry", "This run repeats the other one.")
	if !strings.Contains(page, ship) {
		t.Error("the new run does not name the old one")
	}
	does("/runs/"+ship+"/retry", "repeats the other", "from", "test")
	h.has("/runs/"+ship+"/node?path=test", `<span aria-hidden="true">✓</span> succeeded`) // of the step that it waits for
	does("/runs/"+ship+"/retry", "repeats the other", "only", "test[1]")
	one := h.start("long")
	h.wait(one, event.Waiting)
	if page := h.has("/runs/"+one+"/node?path=pause", "Cancel this node"); strings.Contains(page, "Retry from here") {
		t.Error("a node of a run that goes on can be retried")
	}
	refuses("/runs/"+one+"/node/cancel", 400, "Say who you are", "node", "pause")
	refuses("/runs/"+one+"/node/cancel", 404, "pauze", "node", "pauze", "by", "ann")
	does("/runs/"+one+"/node/cancel", "The end of the node was asked for.", "node", "pause", "by", "ann", "reason", "too long")
	h.wait(one, event.FailedS)
	if page := h.has("/runs/"+one+"/node?path=pause", "ann cancelled it: too long", "Retry from here"); strings.Contains(page, "Cancel this node") {
		t.Error("a node that has ended can be cancelled")
	}
	refuses("/runs/"+one+"/resume", 409, "has ended")
	left, err := h.store.RunRoutine(t.Context(), "nightly")
	if err != nil {
		t.Fatal(err)
	}
	does("/runs/"+left+"/resume", "The daemon drives the run.")
	h.wait(left, event.Succeeded)
	shown := regexp.MustCompile(`name="shown" value="([^"]+)"`).FindStringSubmatch(h.has("/inbox"))[1]
	form := []string{"run", ask, "node", "ok", "shown", shown, "word", "approve"}
	refuses("/inbox", 400, "Say who you are", form...)
	refuses("/inbox", 422, "count", append(form, "by", "ann", "input.day", "friday")...)
	refuses("/inbox", 422, "count", append(form, "by", "ann", "input.day", "friday", "input.count", "many")...)
	does("/inbox", "Your answer was recorded.", append(form, "by", "ann", "comment", "fine", "input.day", "12", "input.count", "3")...)
	h.wait(ask, event.Succeeded)
	h.has("/runs/"+ask, "&#34;day&#34;: &#34;12&#34;", "&#34;count&#34;: 3")
	refuses("/inbox", 409, "ann", append(form, "by", "bob", "input.count", "3")...)
	first, second, third := h.start("simple"), h.start("simple"), h.start("simple")
	for _, run := range []string{first, second, third} {
		h.wait(run, event.Waiting)
	}
	var keys []string
	for _, m := range regexp.MustCompile(`name="ask" value="([^"]+)"`).FindAllStringSubmatch(h.has("/inbox", `value="ann"`), -1) {
		keys = append(keys, html.UnescapeString(m[1]))
	}
	if len(keys) != 3 {
		t.Fatalf("the questions that can be decided at once are %q", keys)
	}
	refuses("/inbox/many", 400, "Say who you are", "word", "approve", "ask", keys[0])
	refuses("/inbox/many", 400, "Mark the questions", "word", "approve", "by", "ann")
	does("/inbox/many", "Your answers were recorded.", "word", "approve", "by", "ann", "ask", keys[0], "ask", keys[1])
	h.wait(first, event.Succeeded)
	h.wait(second, event.Succeeded)
	refuses("/inbox/many", 409, "1 of 2 answers were recorded", "word", "reject", "by", "bob", "ask", keys[0], "ask", keys[2])
	h.wait(third, event.FailedS)

	letter := "dl-1" // of ship, or of a run that repeats it
	h.has("/letters", "/letters/"+letter+"/redrive")
	page = does("/letters/"+letter+"/redrive", "This run repeats the other one.")
	again := regexp.MustCompile(`<h1>ship <code>([^<]+)<`).FindStringSubmatch(page)[1]
	h.wait(again, event.FailedS)
	does("/letters/"+letter+"/drop", "The letter was removed.")
	refuses("/letters/"+letter+"/redrive", 404, "no dead letter")
	refuses("/letters/"+letter+"/burn", 404, "nothing at")
	h.has("/runs/"+again+"/node?path=test[1]", "Somebody did this by hand")
	refuses("/runs/"+again+"/retry", 400, "the person who did the steps", "step", "test[1]", "output", "done")
	page = does("/runs/"+again+"/retry", "This run repeats the other one.", "step", "test[1]", "output", "done", "by", "ann")
	h.wait(regexp.MustCompile(`<h1>ship <code>([^<]+)<`).FindStringSubmatch(page)[1], event.Succeeded)
	does("/limits/sam/stop", "No new attempt of the agent starts.")
	h.has("/limits", "/limits/sam/start")
	does("/limits/sam/start", "The agent starts attempts again.")
	does("/limits/sam/reset", "There was nothing to change.")
	refuses("/limits/sam/burn", 404, "nothing at")
	does("/loops/engineering/pause", "It is paused.", "for", "30m")
	h.has("/loops", "paused until")
	does("/loops/engineering/resume", "It continues.")
	refuses("/loops/engineering/pause", 400, "such as 5m", "for", "soon")
	refuses("/loops/engineering/burn", 404, "")
	refuses("/loops/none/stop", 404, "none")
	does("/loops/engineering/stop", "takes nothing more")
	does("/dispatch", "The work was handed in.", "title", "Fix it", "priority", "3")
	id := regexp.MustCompile(`/dispatch/([^/"]+)/cancel`).FindStringSubmatch(h.has("/loops", "Fix it"))[1]
	does("/dispatch/"+id+"/cancel", "The work was cancelled.")
	refuses("/dispatch", 400, "needs a title", "title", " ")
	does("/routines/nightly/pause", "It is paused.")
	does("/routines/nightly/resume", "It continues.")
	does("/routines/nightly/run", "The routine has started a run.")
	refuses("/routines/none/run", 404, "none")
	does("/events", "The event was published.", "event", "order.placed", "data", `{"a":1}`)
	refuses("/events", 400, "column 2: ", "event", "order.placed", "data", `{a`)
	for _, what := range []string{"cancel", "cancel.node", "resume", "retry", "decide", "dead_letter.redrive", "dead_letter.drop", "agent.stop", "agent.start", "limit.reset", "loop.pause", "loop.stop", "dispatch", "dispatch.cancel", "routine.run", "emit"} {
		h.has("/audit", "<td>"+what+"</td>")
	}
	if status, _ := h.get("/runs/" + ship + "/cancel"); status != 404 {
		t.Errorf("a change by GET answers %d", status)
	}
}

// TestRetryOfTheFile: a run that has failed is repeated with its file as it is now, from the page that shows what has changed.
func TestRetryOfTheFile(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	path := filepath.Join(t.TempDir(), "flow.hcl")
	const text = `
workflow "mended" {
  step "first" { run = "echo once >> count" }
  step "second" {
    depends_on = [step.first]
    run        = "exit 3"
  }
}
`
	write := func(text string) *dsl.Program {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(text)}}, "flow.hcl", dsl.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		return p
	}
	p := write(text)
	definition := p.IR.Canonical()
	run, err := h.store.Start(t.Context(), engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "mended"},
		Definition: definition, First: event.RunStarted{Workflow: "mended", Dir: filepath.Dir(path)}, Source: serve.SourceOf(p, path, "mended").Encode()}, nil)
	if err == nil {
		err = h.store.HandOver(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.wait(run, event.FailedS)
	if page := h.has("/runs/"+run+"?tab=definition", "would do the same"); strings.Contains(page, "Retry with the file") {
		t.Error("a file that has not changed can be retried")
	}
	write(strings.ReplaceAll(text, "exit 3", "true"))
	h.has("/runs/"+run+"?tab=definition", "Retry with the file as it is now")
	if status, page := h.post("/runs/"+run+"/retry", "file", "1", "from", "third"); status != 422 || !strings.Contains(page, "no step") {
		t.Errorf("a step that the file does not have is answered %d", status)
	}
	status, page := h.post("/runs/"+run+"/retry", "file", "1")
	if status != 200 || !strings.Contains(page, "This run repeats the other one.") {
		t.Fatalf("a retry is answered %d: %s", status, page)
	}
	again := regexp.MustCompile(`<h1>mended <code>([^<]+)<`).FindStringSubmatch(page)[1]
	h.wait(again, event.Succeeded)
	if count, err := os.ReadFile(filepath.Join(filepath.Dir(path), "count")); string(count) != "once\n" {
		t.Errorf("the first step ran %q (%v)", count, err)
	}
	if status, page := h.post("/runs/"+again+"/retry", "file", "1"); status != 422 || !strings.Contains(page, "has not changed") {
		t.Errorf("a file that has not changed is answered %d: %s", status, page)
	}
	if err := os.WriteFile(path, []byte("workflow {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, page := h.post("/runs/"+run+"/retry", "file", "1"); status != 409 || !strings.Contains(page, "has errors") {
		t.Errorf("a file with errors is answered %d: %s", status, page)
	}
	failed := h.start("ship")
	h.wait(failed, event.FailedS)
	if status, page := h.post("/runs/"+failed+"/retry", "file", "1"); status != 409 || !strings.Contains(page, "/flow.hcl is not a file") {
		t.Errorf("a file that is gone is answered %d: %s", status, page)
	}
}

// TestCompare: two runs of a definition, of which a person did a step by hand in the second.
func TestCompare(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	ship, many := h.start("ship"), h.start("many")
	h.wait(ship, event.FailedS)
	h.wait(many, event.FailedS)
	_, page := h.post("/runs/"+ship+"/retry", "step", "test[1]", "output", "<script>alert(1)</script>", "by", "ann")
	again := regexp.MustCompile(`<h1>ship <code>([^<]+)<`).FindStringSubmatch(page)[1]
	h.wait(again, event.Succeeded)
	h.has("/runs/"+again, `name="a" required size="14" value="`+ship)
	page = h.has("/compare?a="+ship+"&b="+again, "The definitions are the same", "test[1]", "status", "exit code 1", "3 nodes do not differ", "&lt;script&gt;alert(1)")
	if bad := active.FindString(page); bad != "" {
		t.Errorf("the page has %q", bad)
	}
	page = h.has("/compare?a="+ship+"&b="+many, "more are left out", "not there", "<strong>added</strong> step or group <code>all</code>")
	if len(page) > 300<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	h.has("/compare", "Two runs compared")
	if status, _ := h.get("/compare?a=none&b=" + ship); status != 404 {
		t.Errorf("a run that does not exist answers %d", status)
	}
}

// TestMemory: the entries of the memory, why a search found them, and what people change.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	h, _ := open(t, dir, "", "127.0.0.1:0")
	h.has("/memory", "No entry matches.")
	m, err := memory.Open(dir, memory.Options{})
	if err == nil {
		by := entry.Source{Author: "user:bob", Trust: entry.ByPerson}
		list := []entry.Entry{{ID: "M/1 &", Type: entry.Insight, Lesson: "Raise the timeout of the parser test. " + hostile, Context: hostile, Tags: []string{"parser"}, By: by},
			{ID: "M-2", Type: entry.Note, Text: "Lunch is at noon.", By: entry.Source{Author: "user:bob", Run: "r-1", Trust: entry.ByPerson}}}
		for i := range 60 {
			list = append(list, entry.Entry{ID: fmt.Sprintf("N-%d", i), Type: entry.Note, Text: fmt.Sprintf("Note %d of many.", i), By: by})
		}
		_, err = m.Add(t.Context(), list...)
		err = errors.Join(err, m.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	one := "/memory/entry?id=" + url.QueryEscape("M/1 &")
	for path, texts := range map[string][]string{
		"/memory":                        {"62 entries, newest first", "Note 59", "Page 1 of 2"},
		"/memory?page=2":                 {"M-2", "M/1 &amp;", "Page 2 of 2"},
		"/memory?type=insight":           {"1 entry, newest first", "#parser"},
		"/memory?query=timeout+parser":   {"Parts of the score", "words", "recency", "M/1 &amp;"},
		"/memory?query=%25d+%3Cscript":   {"A score is the sum of its parts"},
		"/memory?run=r-1":                {"1 entry", "Revert all that run r-1 wrote"},
		"/memory?tag=%26x&agent=none%22": {"No entry matches."},
		one:                              {"&lt;script&gt;alert(1)", "Raise the timeout", "put", "bob", "Supersede"},
	} { // any order: each on its own
		if bad := active.FindString(h.has(path, texts...)); bad != "" {
			t.Errorf("%s has %q", path, bad)
		}
	}
	does := func(change, want string, pairs ...string) {
		t.Helper()
		if status, page := h.post("/memory/"+change, pairs...); status != 200 || !strings.Contains(page, want) {
			t.Errorf("%s answers %d without %q:\n%s", change, status, want, page)
		}
	}
	if status, page := h.post("/memory/pin", "id", "M/1 &"); status != 400 || !strings.Contains(page, "Say who you are") {
		t.Errorf("a change by nobody answers %d", status)
	}
	does("pin", "The entry is pinned.", "id", "M/1 &", "by", "ann", "reason", "true")
	h.has(one, "Unpin", `value="ann"`, "<td>true</td>")
	does("unpin", "not pinned any more", "id", "M/1 &", "by", "ann")
	does("supersede", "supersedes the other one", "id", "M/1 &", "lesson", "Mend the parser test.", "by", "ann")
	h.has(one, "<strong>superseded</strong>")
	does("forget", "The entry is forgotten.", "id", "N-3", "by", "ann")
	does("revert", "as if they had never been written", "run", "r-1", "by", "ann")
	h.has("/memory?run=r-1", "No entry matches.")
	if status, _ := h.post("/memory/burn", "id", "N-1", "by", "ann"); status != 404 {
		t.Errorf("a change that does not exist answers %d", status)
	}
	if status, _ := h.get("/memory/entry?id=none"); status != 404 {
		t.Errorf("an entry that does not exist answers %d", status)
	}
	h.has("/audit", "memory.revert", "memory.pin")
}

// TestMemoryOfAProgram: a program that keeps its memory in a folder of its own has it on the page, where it is searched and changed.
func TestMemoryOfAProgram(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	if page := h.has("/memory", "No entry matches."); strings.Contains(page, "m-memory") {
		t.Error("one memory is offered as a choice")
	}
	folder := t.TempDir()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(`
memory {
  store = "brain"
  embedder { provider = "none" }
}
workflow "clever" {
  step "a" { value = 1 }
}
`)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	run, err := h.store.Start(t.Context(), engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "clever"},
		Definition: definition, First: event.RunStarted{Workflow: "clever", Dir: folder}}, nil)
	if err == nil {
		err = h.store.HandOver(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.wait(run, event.Succeeded)
	m, err := memory.Open(filepath.Join(folder, "brain"), memory.Options{})
	if err == nil {
		_, err = m.Add(t.Context(), entry.Entry{ID: "B-1", Type: entry.Note, Text: "The brain knows the parser.", By: entry.Source{Author: "user:bob", Trust: entry.ByPerson}})
		err = errors.Join(err, m.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`<option value="([0-9a-f]+)">clever: [^<]*brain</option>`).FindStringSubmatch(h.has("/memory", "No entry matches.", "of the store"))
	if id == nil {
		t.Fatalf("the memory is not offered: %s", h.has("/memory"))
	}
	one := "/memory/entry?id=B-1&memory=" + id[1]
	h.has("/memory?memory="+id[1], "1 entry, newest first", strings.ReplaceAll(one, "&", "&amp;"), "selected")
	h.has("/memory?query=parser&memory="+id[1], "Parts of the score")
	h.has(one, "The brain knows the parser.", `name="memory" value="`+id[1]+`"`)
	if status, page := h.post("/memory/pin", "id", "B-1", "by", "ann", "memory", id[1]); status != 200 || !strings.Contains(page, "The entry is pinned.") || !strings.Contains(page, "Unpin") {
		t.Errorf("pin answers %d: %s", status, page)
	}
	for _, path := range []string{"/memory/entry?id=B-1", "/memory?memory=none", "/memory/entry?id=B-1&memory=" + url.QueryEscape(folder)} {
		if status, _ := h.get(path); status != 404 {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

// TestLive: a stream says at once that a run has changed, and nothing while it has not.
func TestLive(t *testing.T) {
	h, stop := open(t, t.TempDir(), "", "127.0.0.1:0")
	run := h.start("ask")
	h.wait(run, event.Waiting)
	listen := func(path string) <-chan string {
		r, err := h.web.Get(h.at + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatal(got)
		}
		said := make(chan string, 100)
		go func() {
			defer r.Body.Close()
			defer close(said)
			buffer := make([]byte, 1000)
			for {
				n, err := r.Body.Read(buffer)
				if n > 0 && buffer[0] != ':' { // a comment says that the stream is still there
					said <- string(buffer[:n])
				}
				if err != nil {
					return
				}
			}
		}()
		return said
	}
	hears := func(said <-chan string) {
		t.Helper()
		select {
		case text := <-said:
			if !strings.Contains(text, "event: change") {
				t.Errorf("the stream says %q", text)
			}
		case <-time.After(time.Minute):
			t.Fatal("the stream says nothing")
		}
	}
	one, all := listen("/live?run="+run), listen("/live")
	hears(one)
	hears(all)
	for range 3 { // other runs: not for the first stream
		h.start("long")
		hears(all)
	}
	select {
	case text := <-one:
		t.Errorf("the stream of a run that has not changed says %q", text)
	default:
	}
	if err := h.store.Cancel(t.Context(), run, "test"); err != nil {
		t.Fatal(err)
	}
	hears(one)
	stop()
	for _, said := range []<-chan string{one, all} {
		for range said { // until the server has ended the stream
		}
	}
}

// TestPulse: nobody looks at the store when no page is open.
func TestPulse(t *testing.T) {
	looks := make(chan struct{}, 1000)
	p := newPulse(func() string { looks <- struct{}{}; return "" })
	leave := p.join()
	other := p.join()
	<-looks
	leave()
	<-looks
	other()
	for quiet := false; !quiet; {
		select {
		case <-looks:
		case <-time.After(10 * pulseEvery):
			quiet = true
		}
	}
	leave = p.join() // nobody looks for the pages that were there before
	select {
	case <-looks:
	case <-time.After(time.Minute):
		t.Fatal("nobody looks for a page that is opened after a time without pages")
	}
	leave()
	p.close()
	p.close()
}

// TestRejoin: a page that is opened while the last one is closed is served by the one goroutine, or by a new one, and never by none or two.
func TestRejoin(t *testing.T) {
	var looks atomic.Int32
	p := newPulse(func() string { looks.Add(1); return fmt.Sprint(time.Now().UnixNano()) })
	defer p.close()
	for range 30 {
		leave := p.join()
		select {
		case <-p.next():
		case <-time.After(time.Minute):
			t.Fatal("nobody looks at the store")
		}
		leave()
	}
	defer p.join()()
	begin := time.Now()
	looks.Store(0)
	time.Sleep(10 * pulseEvery)
	if n, most := int(looks.Load()), int(time.Since(begin)/pulseEvery)+2; n > most { // one goroutine pauses after each look
		t.Errorf("%d looks in the time of %d: two goroutines look at the store", n, most)
	}
}

func TestColours(t *testing.T) {
	for text, want := range map[string]string{
		"plain <b>":                    "plain &lt;b&gt;",
		"\x1b[31mred\x1b[0m x":         `<span class="t-c1">red</span> x`,
		"\x1b[1;92mok\x1b[22m still":   `<span class="t-bold t-c2">ok</span><span class="t-c2"> still</span>`,
		"\x1b[38;5;200mpalette\x1b[m!": `palette!`,
		"\x1b[38;2;1;2;3mtrue":         `true`,
		"\x1b[2J":                      `\x1b[2J`,
		"\x1b[":                        `\x1b[`,
		"\x1b]0;title\a":               `\x1b]0;title\x07`,
		"\x1b[" + strings.Repeat("1;", 50) + "1mmany": "many",
		"\x1b[31m\"><script>":                         `<span class="t-c1">&#34;&gt;&lt;script&gt;</span>`,
	} {
		if got := string(colours(text)); got != want {
			t.Errorf("%q is\n%s\nnot\n%s", text, got, want)
		}
	}
}

// TestFilesOfOthers: the files that are not ours are those of their releases, with their licence.
func TestFilesOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"htmx.min.js":   "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130", // htmx.org 4.0.1
		"hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
	} {
		body, err := staticFiles.ReadFile("static/" + name)
		if sum := sha256.Sum256(body); err != nil || hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the checksum %x: %v", name, sum, err)
		}
	}
	if text, err := staticFiles.ReadFile("static/htmx.LICENSE.txt"); err != nil || !strings.Contains(string(text), "Zero-Clause BSD") {
		t.Error("the licence of htmx is missing", err)
	}
}

// TestSizes: what a browser loads for a small run.
func TestSizes(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	run := h.start("ship")
	h.wait(run, event.FailedS)
	load := func(path string) int {
		r, _ := http.NewRequest("GET", h.at+path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		got, err := h.web.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		if got.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed", path)
		}
		n, _ := io.Copy(io.Discard, got.Body)
		return int(n)
	}
	h.web.Transport = &http.Transport{DisableCompression: true}
	_, page := h.get("/runs/" + run)
	total := load("/runs/" + run)
	for _, found := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		total += load(found[1])
	}
	if t.Logf("a run of %d nodes: %d bytes in all", 6, total); total > 60<<10 {
		t.Errorf("a browser loads %d bytes", total)
	}
}

// TestProgress: the first page says of a run that is at work how far it has come, which agents work, and how many steps wait.
func TestProgress(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	run := h.start("slow")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, page := h.get("/")
		if strings.Contains(page, run) && strings.Contains(page, "1 of 3 succeeded, 1 running, 1 pending") {
			for _, text := range []string{"agents at work", "steps that wait"} {
				if !strings.Contains(page, text) {
					t.Errorf("the page does not say %q", text)
				}
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal(page)
		}
	}
}

// TestAgentsAtWork: the first page says what each agent works on: a node of a run, or an item of a loop.
func TestAgentsAtWork(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	if page := h.has("/"); strings.Contains(page, "Agents at work") {
		t.Error("agents are at work in a store without runs")
	}
	stop := event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "engineering", By: "test"}} // so that nobody else takes items
	take := event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: "x/1", Loop: "engineering", Agent: "sam", Lease: 3600e9, Title: hostile}}
	for _, q := range []event.StoreRequest{stop, take} {
		if _, err := h.store.Ask(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	run := h.start("busy")
	want := []string{"Agents at work", "<strong>sam</strong> x/1 &#34;&#39;&gt;&lt;script", `<strong>tired</strong> <a href="/runs/` + run + `/node?path=nap">nap</a>`}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, page := h.get("/")
		if !slices.ContainsFunc(want, func(text string) bool { return !strings.Contains(page, text) }) {
			return
		}
		if time.Now().After(end) {
			t.Fatal(page)
		}
	}
}

// TestLadder: the page of loops says which items nobody takes, and why.
func TestLadder(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	add := event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: hostile, Assignee: "ben"}}}
	if _, err := h.store.Ask(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	want := []string{"<h3>Next</h3>", "as of <time", "<li>sam has no item; 1 free place</li>", "Items that no agent takes now:", "<td>it is assigned to ben</td>"}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, page := h.get("/loops")
		if !slices.ContainsFunc(want, func(text string) bool { return !strings.Contains(page, text) }) {
			return
		}
		if time.Now().After(end) {
			t.Fatal(page)
		}
	}
}

// TestExport: the file of a run shows what the pages show, and holds no script and no link.
func TestExport(t *testing.T) {
	h, _ := open(t, t.TempDir(), "", "127.0.0.1:0")
	ship, many := h.start("ship"), h.start("many")
	h.wait(ship, event.FailedS)
	h.wait(many, event.FailedS)
	body, err := Export(t.Context(), serve.Reader(h.store), ship)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"2 of 3 succeeded, 1 failed", "exit code 1", "<svg", "s-blocked", "workflow &#34;ship&#34;", "test[1]", "default-src 'none'"} {
		if !strings.Contains(string(body), text) {
			t.Errorf("the file does not say %q", text)
		}
	}
	_, page, _ := strings.Cut(string(body), "</style>")
	if bad := regexp.MustCompile(active.String() + `|<script|<a |<link|<[a-z][^>]*\ssrc=|url\([^#]`).FindString(page); bad != "" {
		t.Errorf("the file has %q", bad)
	}
	if body, err = Export(t.Context(), serve.Reader(h.store), many); err != nil || len(body) > 2<<20 {
		t.Errorf("a run of 2,000 nodes: %d bytes, %v", len(body), err)
	}
	for _, text := range []string{"number 3", "number 1503", "[1999]"} {
		if !strings.Contains(string(body), text) {
			t.Errorf("the file of many nodes does not say %q", text)
		}
	}
	if _, err := Export(t.Context(), serve.Reader(h.store), "none"); err == nil {
		t.Error("a run that does not exist has a file")
	}
}

// BenchmarkRun draws the page of a run of 5,001 nodes.
func BenchmarkRun(b *testing.B) {
	nodes := make([]view.NodeDoc, 0, 5001)
	nodes = append(nodes, view.NodeDoc{ID: "all", Status: event.FailedS})
	for i := range 5000 {
		status := event.Succeeded
		if i%1000 == 7 {
			status = event.FailedS
		}
		nodes = append(nodes, view.NodeDoc{ID: fmt.Sprintf("all[%d]", i), Status: status, StartedAt: 1, FinishedAt: 2})
	}
	for b.Loop() {
		roots, byPath := grow(nodes)
		if list, _ := failures(nodes, byPath); len(list) != 5 || len(rows(roots)) != 1 {
			b.Fatal(len(list), len(rows(roots)))
		}
	}
}

// TestCharts: a day is as high as its figure, what failed of it is drawn in it, and a day without a figure has no bar.
func TestCharts(t *testing.T) {
	half := 0.5
	days := []serve.Day{{From: "2026-01-02T00:00:00Z"}, {From: "2026-01-03T00:00:00Z", Total: stats.Figures{Tasks: 10, Failed: 2, SuccessRate: &half},
		Groups: []stats.Named{{Name: "ann", Figures: stats.Figures{Tasks: 4}}}}, {From: "2026-01-04T00:00:00Z", Total: stats.Figures{Tasks: 5}}}
	all := newCharts(days, "")
	tasks, success := all[0], all[1]
	if got := tasks.Bars[1]; got.Y != "0.0" || got.Height != "90.0" || got.FailedY != "72.0" || got.FailedHeight != "18.0" || got.Words != "2026-01-03: 10, 2 failed" {
		t.Errorf("the bar of the tasks is %+v", got)
	}
	if tasks.Bars[2].Height != "45.0" || tasks.Sum != "15" || tasks.Most != "10" || len(tasks.Labels) != 3 {
		t.Errorf("the chart of the tasks is %+v", tasks)
	}
	if success.Bars[0].Height != "" || success.Bars[1].Height != "90.0" || success.Sum != "" || success.Most != "50.0 %" {
		t.Errorf("the chart of the success rate is %+v", success)
	}
	if ann := newCharts(days, "ann")[0]; ann.Bars[0].Height != "" || ann.Bars[1].Height != "90.0" || ann.Bars[2].Words != "2026-01-04: nothing" {
		t.Errorf("the chart of ann is %+v", ann)
	}
	if newCharts(nil, "") != nil {
		t.Error("no days have a chart")
	}
}

// TestPagesOfAServer: the pages of runs that a server keeps name the server, leave out what only a store on this machine has, and refuse to
// change it. The daemon drives nothing. A store of this machine stands in for the server.
func TestPagesOfAServer(t *testing.T) {
	local, stop := open(t, t.TempDir(), "", "127.0.0.1:0")
	run := local.start("ship")
	local.wait(run, event.FailedS)
	const address = "temporal://HOST:7233/default"
	d := serve.New(serve.Options{Store: standalone.Remote(local.store.Service, address, "", nil), Dir: t.TempDir()})
	at, err := d.Listen("127.0.0.1:0", serve.ServerOptions{Pages: New})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- d.Run(ctx) }()
	defer func() {
		cancel()
		err := <-over
		d.Close()
		if stop(); err != nil {
			t.Error(err)
		}
	}()
	h := &house{t: t, at: at, store: local.store, web: &http.Client{Timeout: time.Minute}}
	for _, path := range []string{"/", "/runs", "/runs/" + run, "/inbox", "/limits", "/numbers", "/events", "/audit"} {
		page := h.has(path, address)
		for _, left := range []string{`<li><a href="/memory"`} {
			if strings.Contains(page, left) {
				t.Errorf("%s has %s", path, left)
			}
		}
	}
	if status, page := h.post("/dispatch", "title", "Fix it"); status != 200 || !strings.Contains(page, "Fix it") {
		t.Errorf("dispatched work gives %d: %s", status, page)
	}
	r, err := http.Post(at+"/api/v1/memory/forget", "application/json", strings.NewReader(`{"ids": ["M-1"]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if r.Body.Close(); err != nil || r.StatusCode != 409 || !strings.Contains(string(text), "a Temporal server keeps these runs") {
		t.Errorf("the memory answers %d: %s, %v", r.StatusCode, text, err)
	}
	if status, page := h.post("/runs/" + run + "/retry"); status != 200 || !strings.Contains(page, "repeats the other") {
		t.Errorf("a retry gives %d: %s", status, page)
	}
}
