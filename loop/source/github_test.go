package source

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// fake speaks the part of GitHub's API that a source uses.
type fake struct {
	t   *testing.T
	url string

	mu       sync.Mutex
	issues   map[int]map[string]any
	comments map[int][]string
	requests []string
	cached   int // answers 304
	size     int // of a page, at most
	seen     func(method string)
	answer   func(w http.ResponseWriter, r *http.Request) bool // true: it has answered in place of the fake
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, issues: map[int]map[string]any{}, comments: map[int][]string{}, size: 100}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

// add adds an issue; fields are set in it.
func (f *fake) add(number int, title string, fields map[string]any) {
	o := map[string]any{"number": number, "title": title, "state": "open", "body": nil, "labels": []any{}, "assignees": []any{}, "assignee": nil,
		"html_url": fmt.Sprint("https://github.example/acme/app/issues/", number), "created_at": fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+number%28), "updated_at": "2026-02-01T00:00:00Z",
		"user": map[string]any{"login": "ann"}}
	for name, v := range fields {
		o[name] = v
	}
	f.issues[number] = o
}

func account(login string) map[string]any { return map[string]any{"login": login} }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
	if f.seen != nil {
		f.seen(r.Method)
	}
	if f.answer != nil && f.answer(w, r) {
		return
	}
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/repos/acme/app/issues"), "/")
	if !strings.HasPrefix(r.URL.Path, "/repos/acme/app/issues") {
		f.write(w, r, 404, map[string]any{"message": "Not Found"})
		return
	}
	if len(parts) == 1 {
		f.collection(w, r, body)
		return
	}
	n, _ := strconv.Atoi(parts[1])
	o := f.issues[n]
	if o == nil {
		f.write(w, r, 404, map[string]any{"message": "Not Found"})
		return
	}
	what := r.Method
	if len(parts) > 2 {
		what += " " + parts[2]
	}
	switch what {
	case "GET":
		f.write(w, r, 200, o)
	case "PATCH":
		for name, v := range body {
			o[name] = v
		}
		f.write(w, r, 200, o)
	case "GET sub_issues", "GET dependencies":
		list, _ := o["_"+parts[2]].([]any)
		f.write(w, r, 200, list)
	case "GET comments":
		var list []any
		for _, c := range f.comments[n] {
			list = append(list, map[string]any{"body": c})
		}
		f.page(w, r, list)
	case "POST comments":
		f.comments[n] = append(f.comments[n], body["body"].(string))
		f.write(w, r, 201, map[string]any{})
	case "POST labels":
		for _, l := range body["labels"].([]any) {
			o["labels"] = append(o["labels"].([]any), map[string]any{"name": l})
		}
		f.write(w, r, 200, o["labels"])
	case "DELETE labels":
		name, _ := url.PathUnescape(parts[3])
		before := len(o["labels"].([]any))
		o["labels"] = slices.DeleteFunc(o["labels"].([]any), func(l any) bool { return l.(map[string]any)["name"] == name })
		if len(o["labels"].([]any)) == before {
			f.write(w, r, 404, map[string]any{"message": "Label does not exist"})
			return
		}
		f.write(w, r, 200, o["labels"])
	case "POST assignees":
		login := body["assignees"].([]any)[0].(string)
		o["assignees"], o["assignee"] = []any{account(login)}, account(login)
		f.write(w, r, 201, o)
	case "DELETE assignees":
		o["assignees"], o["assignee"] = []any{}, nil
		f.write(w, r, 200, o)
	default:
		f.write(w, r, 405, map[string]any{"message": what})
	}
}

func (f *fake) collection(w http.ResponseWriter, r *http.Request, body map[string]any) {
	if r.Method == "POST" {
		n := len(f.issues) + 100
		f.add(n, body["title"].(string), map[string]any{"body": body["body"], "labels": body["labels"]})
		f.write(w, r, 201, f.issues[n])
		return
	}
	var list []any
	var numbers []int
	for n := range f.issues {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if state := r.URL.Query().Get("state"); state == "all" || f.issues[n]["state"] == state {
			list = append(list, f.issues[n])
		}
	}
	f.page(w, r, list)
}

// page gives a part of a list, and names the next one as GitHub does.
func (f *fake) page(w http.ResponseWriter, r *http.Request, list []any) {
	q := r.URL.Query()
	size, _ := strconv.Atoi(q.Get("per_page"))
	size = min(size, f.size)
	page, _ := strconv.Atoi(q.Get("page"))
	page = max(1, page)
	start := min(len(list), (page-1)*size)
	end := min(len(list), start+size)
	if end < len(list) {
		q.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next", <%s/x>; rel="last"`, f.url, r.URL.Path, q.Encode(), f.url))
	}
	f.write(w, r, 200, append([]any{}, list[start:end]...))
}

func (f *fake) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	text, _ := json.Marshal(v)
	tag := fmt.Sprintf(`W/"%x"`, len(text)*31+int(sum(text)))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if r.Method == "GET" && status == 200 {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			f.cached++
			w.WriteHeader(304)
			return
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func sum(b []byte) (h uint32) {
	for _, c := range b {
		h = h*16777619 ^ uint32(c)
	}
	return h
}

func (f *fake) request(verb event.SourceVerb, id string, more map[string]value.Value) event.SourceRequest {
	config := map[string]value.Value{"repo": "acme/app", "base_url": f.url, "token": "secret-token", "login": "flow-bot"}
	for name, v := range more {
		config[name] = v
	}
	r := event.SourceRequest{Kind: ir.SourceGitHub, Verb: verb, Config: config}
	if id != "" {
		r.Item = &event.Item{ID: id, Title: "t"}
	}
	return r
}

func label(names ...string) (out []any) {
	for _, n := range names {
		out = append(out, map[string]any{"name": n})
	}
	return out
}

// Issues become items: needs from the text, from sub-issues and from blocking issues; closed ones that are needed; no pull requests.
func TestGitHubList(t *testing.T) {
	b, f := newBench(t), newFake(t)
	f.size = 2
	f.add(1, "parser", map[string]any{"labels": label("bug", "P1", "role: backend"), "body": "Depends on #2 and #9.\n\n```\ndepends on #77\n```\n> blocked by #78\n"})
	f.add(2, "lexer", map[string]any{"assignees": []any{account("leo")}, "assignee": account("leo")})
	f.add(3, "a pull request", map[string]any{"pull_request": map[string]any{"url": "x"}})
	f.add(4, "epic", map[string]any{"sub_issues_summary": map[string]any{"total": 2, "completed": 1},
		"_sub_issues": []any{map[string]any{"number": 1, "state": "open"}, map[string]any{"number": 9, "state": "closed"},
			map[string]any{"number": 5, "state": "open", "repository_url": f.url + "/repos/other/place"}}})
	f.add(5, "blocked", map[string]any{"issue_dependencies_summary": map[string]any{"blocked_by": 1}, "_dependencies": []any{map[string]any{"number": 4, "state": "open"}},
		"body": "## Blocked by\n- #1\n- https://github.example/acme/app/issues/2\n\nDepends on https://github.example/acme/app/issues/6"})
	f.add(6, "ours", map[string]any{"assignees": []any{account("Flow-Bot")}, "assignee": account("Flow-Bot")})
	f.add(9, "old", map[string]any{"state": "closed"})
	items := b.items(f.request(event.SourceList, "", nil))
	if have := said(items); have != "parser needs [2 9]; lexer of leo; epic needs [1 other/place#5]; blocked needs [1 2 6 4]; ours; old (closed) closed" {
		t.Error(have)
	}
	if it := items[0]; it.ID != "1" || it.Priority != 2 || !slices.Equal(it.Capabilities, []string{"backend"}) || !slices.Equal(it.Labels, []string{"bug", "P1", "role: backend"}) ||
		it.URL == "" || it.CreatedAt == 0 || it.Version == "" || it.Source != "work" {
		t.Errorf("%+v", it)
	}
	// The same again costs no answers with content.
	before := len(f.requests)
	f.cached = 0
	if again := b.items(f.request(event.SourceList, "", nil)); said(again) != said(items) || f.cached != len(f.requests)-before || f.cached < 5 {
		t.Errorf("%d of %d answers were 304: %s", f.cached, len(f.requests)-before, said(again))
	}
	f.mu.Lock()
	f.issues[9]["state"] = "open"
	f.issues[1]["title"] = "parser, changed"
	f.mu.Unlock()
	if have := said(b.items(f.request(event.SourceList, "", nil))); !strings.HasPrefix(have, "parser, changed needs [2 9]") || strings.Contains(have, "closed)") {
		t.Error(have)
	}
	if have := said(b.items(f.request(event.SourceList, "", map[string]value.Value{"labels": []any{"BUG"}}))); !strings.HasPrefix(have, "parser, changed needs [2 9]") || strings.Contains(have, "epic") {
		t.Error(have)
	}
}

// An issue is taken, reported and closed. Each write comes once, also if a verb is asked again.
func TestGitHubWork(t *testing.T) {
	b, f := newBench(t), newFake(t)
	f.add(1, "one", nil)
	f.add(2, "two", nil)
	more := map[string]value.Value{"claim_label": "in work"}
	take := f.request(event.SourceTake, "1", more)
	take.Token = b.claim("work", "1")
	for range 2 {
		if ans := b.answer(take); ans.Outcome != event.OK || ans.Output.(map[string]any)["ok"] != true || ans.Warning != "" {
			t.Fatalf("%+v", ans)
		}
	}
	if o := f.issues[1]; o["assignee"].(map[string]any)["login"] != "flow-bot" || o["labels"].([]any)[0].(map[string]any)["name"] != "in work" {
		t.Errorf("%v", o)
	}
	report := f.request(event.SourceReport, "1", more)
	report.Token, report.Outcome = take.Token, &event.ItemOutcome{Status: event.ItemFailed, Message: "no luck <!-- flowrun source=work token=99 -->", Run: "r1"}
	for range 2 {
		b.output(report)
	}
	if c := f.comments[1]; len(c) != 1 || !strings.Contains(c[0], "The work of sam on this issue failed (run `r1` of flowrun).\n\nno luck <! --") {
		t.Errorf("%q", c)
	}
	if o := f.issues[1]; o["assignee"] != nil || o["state"] != "open" {
		t.Errorf("%v", o)
	}
	b.release("work", "1", take.Token)
	report.Token, report.Outcome = b.claim("work", "1"), &event.ItemOutcome{Status: event.ItemClosed}
	if o := b.output(report); o["ok"] != true || o["closed"] != true {
		t.Errorf("%v", o)
	}
	if o := f.issues[1]; o["state"] != "closed" || o["state_reason"] != "completed" || len(f.comments[1]) != 2 {
		t.Errorf("%v, %q", o, f.comments[1])
	}
	// Another store has reported with a later token.
	f.comments[2] = []string{"<!-- flowrun source=work token=7 -->"}
	report = f.request(event.SourceReport, "2", nil)
	report.Token, report.Outcome = b.claim("work", "2"), &event.ItemOutcome{Status: event.ItemClosed}
	if o := b.output(report); o["ok"] != false || f.issues[2]["state"] != "open" {
		t.Errorf("%v", o)
	}
	// Somebody else has it now, or it is gone.
	f.issues[2]["assignee"] = account("leo")
	if o := b.output(f.request(event.SourceLook, "2", nil)); o["ok"] != false || o["closed"] != false {
		t.Errorf("%v", o)
	}
	for id, closed := range map[string]bool{"1": true, "404": true} {
		if o := b.output(f.request(event.SourceLook, id, nil)); o["closed"] != closed || o["ok"] != false {
			t.Errorf("%s: %v", id, o)
		}
	}
}

func TestGitHubCreate(t *testing.T) {
	b, f := newBench(t), newFake(t)
	r := f.request(event.SourceCreate, "abc-1", map[string]value.Value{"labels": []any{"auto"}})
	r.Item = &event.Item{ID: "abc-1", Title: "new", Body: "text", Labels: []string{"docs"}}
	first := b.output(r)
	again := b.output(r)
	if first["id"] == "" || first["duplicate"] != false || again["duplicate"] != true || first["id"] != again["id"] || len(f.issues) != 1 {
		t.Errorf("%v, %v", first, again)
	}
	n, _ := strconv.Atoi(first["id"].(string))
	if o := f.issues[n]; o["title"] != "new" || !strings.HasPrefix(o["body"].(string), "text\n\n<!-- flowrun key=abc-1 -->") || fmt.Sprint(o["labels"]) != "[auto docs]" {
		t.Errorf("%v", o)
	}
}

// Rate limits are moments; 5xx is tried again by whoever asked; what a server says that lies is an error, and the token goes nowhere else.
func TestGitHubTrouble(t *testing.T) {
	b, f := newBench(t), newFake(t)
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere++
		if r.Header.Get("Authorization") != "" {
			t.Error("the token went to another server")
		}
	}))
	defer other.Close()
	reset := strconv.FormatInt(time.Now().Add(90*time.Second).Unix(), 10)
	for _, c := range []struct {
		name    string
		status  int
		headers map[string]string
		body    string
		kind    event.ErrorKind
		message string
		after   float64
	}{
		{"primary limit", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, `{"message":"API rate limit exceeded"}`, event.Transient, "wants no requests", 90},
		{"secondary limit", 403, map[string]string{"Retry-After": "30"}, `{"message":"secondary rate limit"}`, event.Transient, "wants no requests", 30},
		{"429", 429, nil, `{}`, event.Transient, "wants no requests", 60},
		{"forbidden", 403, map[string]string{"X-RateLimit-Remaining": "10"}, `{"message":"Resource not accessible"}`, event.Blocking, "Resource not accessible", 0},
		{"unknown", 404, nil, `{"message":"Not Found"}`, event.Blocking, "does not know the repository", 0},
		{"broken", 502, nil, `oops`, event.Transient, "status 502", 0},
		{"no list", 200, nil, `{"message":"hello"}`, event.Blocking, "is not a list", 0},
		{"no JSON", 200, nil, `[{`, event.Blocking, "is not", 0},
		{"304 to nothing", 304, nil, ``, event.Transient, "was not asked before", 0},
		{"another place", 200, map[string]string{"Link": "<" + other.URL + `/next>; rel="next"`}, `[]`, event.Fatal, "another place", 0},
		{"a circle", 200, map[string]string{"Link": `<SELF>; rel="next"`}, `[]`, event.Blocking, "circle", 0},
	} {
		f.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "Bearer secret-token" {
				t.Error("the token is missing")
			}
			w.Header().Set("Content-Type", "application/json")
			for name, text := range c.headers {
				w.Header().Set(name, strings.ReplaceAll(text, "SELF", f.url+r.URL.RequestURI()))
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
			return true
		}
		e := b.answer(f.request(event.SourceList, "", nil)).Error
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.message) || e.RetryAfter < c.after-5 || e.RetryAfter > c.after+1 || strings.Contains(e.Message, "secret-token") {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	if elsewhere > 0 {
		t.Error("another server was asked")
	}
	// Odd issues are left out, and an issue that comes on two pages comes once.
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("page") == "" {
			w.Header().Set("Link", "<"+f.url+r.URL.RequestURI()+`&page=2>; rel="next"`)
			_, _ = w.Write([]byte(`[{"number":-1,"title":"x"},{"number":1.5,"title":"x"},{"title":"x"},{"number":7,"title":""},7,null,{"number":1,"title":" a\nb ","state":"open"}]`))
			return true
		}
		_, _ = w.Write([]byte(`[{"number":1,"title":"later","state":"open"},{"number":2,"title":"n","labels":[7,"text",{"name":null}],"assignees":7}]`))
		return true
	}
	if have := said(b.items(f.request(event.SourceList, "", nil))); have != "later; n" {
		t.Error(have)
	}
	for name, config := range map[string]map[string]value.Value{
		"repo": {"repo": "../x"}, "base_url": {"base_url": "x"}, "labels": {"labels": 7.0},
	} {
		if e := b.answer(f.request(event.SourceList, "", config)).Error; e == nil || e.Kind != event.Fatal || !strings.Contains(e.Message, name) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A page that is too large for an answer is asked for in parts.
func TestGitHubLargePages(t *testing.T) {
	b, f := newBench(t), newFake(t)
	for i := range 40 {
		f.add(i+1, fmt.Sprint("issue ", i+1), map[string]any{"body": strings.Repeat("long ", 10_000)})
	}
	if items := b.items(f.request(event.SourceList, "", nil)); len(items) != 40 || len(items[0].Body) > MaxItemBody {
		t.Errorf("%d items", len(items))
	}
}

// TestLoopsShareARoadmap: many loops list one roadmap at the same moment, and each item becomes one issue. The API cannot add an issue only
// if there is none with the same key, so the store says who adds it.
func TestLoopsShareARoadmap(t *testing.T) {
	f, b := newFake(t), newBench(t)
	var plan strings.Builder
	for i := range 20 {
		fmt.Fprintf(&plan, "- [ ] item %d\n", i)
	}
	b.write("PLAN.md", plan.String())
	r := event.SourceRequest{Kind: ir.SourceFile, Source: "roadmap", Verb: event.SourceList, Config: map[string]value.Value{"path": "PLAN.md", "tickets": true,
		"backlog": "issues", "backlog.from": "github", "backlog.repo": "acme/app", "backlog.base_url": f.url}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { b.output(r) })
	}
	all.Wait()
	b.output(r)
	titles := map[any]int{}
	for _, o := range f.issues { // any order: it counts
		titles[o["title"]]++
	}
	for title, n := range titles { // any order: it checks each
		if n != 1 {
			t.Errorf("%s became %d issues", title, n)
		}
	}
	if len(titles) != 20 {
		t.Errorf("%d of 20 items became issues", len(titles))
	}
}
