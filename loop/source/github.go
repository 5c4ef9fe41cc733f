package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/runner/event"
)

const (
	// gitHub is where the API is if the configuration does not say it.
	gitHub = "https://api.github.com"
	// perPage is how many issues a page has. A page that is too large for an answer is asked for with fewer.
	perPage = 100
	// maxPages bounds the pages of a list, and maxLooks the issues that are looked at one by one because others need them.
	maxPages = 100
	maxLooks = 100
	// maxKept bounds the answers that are kept for their tags.
	maxKept = 2000
	// claimLabel marks a taken issue where no account is told that it would be assigned to.
	claimLabel = "in progress"
)

// github are the issues of a repository behind the API of GitHub, or of a server that speaks it.
type github struct {
	*question
	base, repo, token string
	labels            []string // an issue has all of them
	assignee          string   // only issues of this account; "none": of nobody
	login             string   // taken issues are assigned to this account
	mark              string   // the label of taken issues; "": none
}

// issues is an answer that is kept for its tag.
type issues struct {
	tag  string
	body value.Value
	next string // the address of the next page
}

var repoName = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)

func (q *question) github() (place, error) {
	g := &github{question: q}
	var err error
	for name, to := range map[string]*string{"base_url": &g.base, "repo": &g.repo, "token": &g.token, "assignee": &g.assignee, "login": &g.login, "claim_label": &g.mark} { // any order: each for itself
		if *to, err = q.text(name); err != nil {
			return nil, err
		}
	}
	if g.labels, err = q.texts("labels"); err != nil {
		return nil, err
	}
	if g.base == "" {
		g.base = gitHub
	}
	g.base = strings.TrimRight(g.base, "/")
	if u, err := url.Parse(g.base); err != nil || u.Host == "" {
		return nil, q.wrong("base_url", "a URL")
	}
	if !repoName().MatchString(g.repo) || strings.Contains(g.repo, "..") {
		return nil, q.wrong("repo", `of the form "owner/name"`)
	}
	if g.login == "" && q.Config["claim_label"] == nil {
		g.mark = claimLabel
	}
	return g, nil
}

// reply is an answer of the server.
type reply struct {
	status  int
	headers map[string]any
	body    value.Value
}

func (r *reply) header(name string) string {
	text, _ := r.headers[name].(string)
	return text
}

// expected are the answers that are looked at here; any other is a failure of the request.
var expected = []int{200, 201, 204, 304, 403, 404, 410, 422, 429}

// send makes one request. A rate limit is a failure with the moment from which on the server wants to be asked again.
func (g *github) send(ctx context.Context, method, address string, body any, tag string) (*reply, error) {
	a := g.part(event.HTTPAttempt)
	a.HTTP = &event.HTTPRequest{URL: address, Method: method, Expect: expected,
		Headers: map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}}
	if method == "GET" {
		a.HTTP.Follow = 2 // a repository that was renamed
	}
	if g.token != "" {
		a.HTTP.Headers["Authorization"] = "Bearer " + g.token
	}
	if tag != "" {
		a.HTTP.Headers["If-None-Match"] = tag
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		a.HTTP.Body, a.HTTP.Headers["Content-Type"] = string(text), "application/json"
	}
	ans, err := g.carryOut(ctx, a)
	if err != nil {
		return nil, err
	}
	o, _ := ans.Output.(map[string]any)
	status, _ := o["status"].(float64)
	r := &reply{status: int(status), body: o["body"]}
	r.headers, _ = o["headers"].(map[string]any)
	if after, limited := r.limited(g.x.now()); limited {
		return nil, &failure{event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, Status: r.status, ExitCode: -1, RetryAfter: after,
			Message: fmt.Sprintf("the server of source %s wants no requests for %.0f s: %s", g.Source, after, r.said())}}
	}
	return r, nil
}

// said is the message of an answer.
func (r *reply) said() string {
	o, _ := r.body.(map[string]any)
	message, _ := o["message"].(string)
	return fmt.Sprintf("status %d %.300s", r.status, message)
}

// limited reports whether an answer refuses the request because there were too many, and for how many seconds. GitHub says so by 403 and 429.
func (r *reply) limited(now time.Time) (after float64, limited bool) {
	if r.status != 403 && r.status != 429 {
		return 0, false
	}
	if n, err := strconv.ParseFloat(r.header("retry-after"), 64); err == nil && n >= 0 {
		return min(n, 86400), true
	}
	if r.header("x-ratelimit-remaining") == "0" {
		if at, err := strconv.ParseInt(r.header("x-ratelimit-reset"), 10, 64); err == nil {
			if date, err := time.Parse(time.RFC1123, r.header("date")); err == nil { // the server's own clock
				now = date
			}
			return min(max(1, float64(at-now.Unix())), 86400), true
		}
	}
	return 60, r.status == 429
}

func (g *github) refused(what string, r *reply) error {
	return &failure{event.Error{Kind: event.Blocking, Reason: event.ReasonHTTP, Status: r.status, ExitCode: -1, Message: fmt.Sprintf("%s of %s was refused: %s", what, g.repo, r.said())}}
}

// get asks for what may be the same as last time.
func (g *github) get(ctx context.Context, address string) (*issues, int, error) {
	key := g.token + " " + address
	g.x.mu.Lock()
	kept := g.x.issues[key]
	g.x.mu.Unlock()
	tag := ""
	if kept != nil {
		tag = kept.tag
	}
	r, err := g.send(ctx, "GET", address, nil, tag)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case r.status == 304 && kept != nil:
		return kept, 200, nil
	case r.status == 304:
		return nil, 0, fail(event.Transient, event.ReasonHTTP, "the server of source %s says that nothing has changed, but was not asked before", g.Source)
	case r.status != 200:
		if r.status == 404 || r.status == 410 {
			return nil, r.status, nil
		}
		return nil, 0, g.refused("the question", r)
	}
	fresh := &issues{tag: r.header("etag"), body: r.body}
	if fresh.next, err = g.nextPage(address, r.header("link")); err != nil {
		return nil, 0, err
	}
	g.x.mu.Lock()
	defer g.x.mu.Unlock()
	if len(g.x.issues) >= maxKept {
		clear(g.x.issues)
	}
	if fresh.tag != "" {
		g.x.issues[key] = fresh
	}
	return fresh, 200, nil
}

var linkPart = lazyregexp.New(`<([^<>]+)>\s*;([^<]*)`)

// nextPage reads the header Link. The token goes to no other server than the one that was named.
func (g *github) nextPage(address, link string) (string, error) {
	for _, m := range linkPart().FindAllStringSubmatch(link, -1) {
		if !strings.Contains(strings.ReplaceAll(m[2], `"`, ""), "rel=next") {
			continue
		}
		from, err := url.Parse(address)
		if err != nil {
			return "", err
		}
		to, err := from.Parse(m[1])
		if err != nil || to.Scheme != from.Scheme || to.Host != from.Host {
			return "", fail(event.Fatal, event.ReasonHTTP, "the server of source %s says that its next page is at another place: %.200s", g.Source, m[1])
		}
		return to.String(), nil
	}
	return "", nil
}

// errGone says that the server does not have what a request names.
var errGone = errors.New("the server does not have it")

// pages asks for a list with all of its pages. The error is errGone if there is none.
func (g *github) pages(ctx context.Context, path string, query url.Values) (out []map[string]any, err error) {
	for size := perPage; ; size /= 2 {
		query.Set("per_page", strconv.Itoa(size))
		out, err = g.pagesOf(ctx, g.base+path+"?"+query.Encode())
		if f, is := err.(*failure); !is || f.err.Reason != event.ReasonOutputTooLarge || size < 4 {
			return out, err
		}
	}
}

func (g *github) pagesOf(ctx context.Context, address string) (out []map[string]any, err error) {
	seen := map[string]bool{}
	for range maxPages {
		if seen[address] {
			return nil, fail(event.Blocking, event.ReasonHTTP, "the pages of source %s go in a circle: %.200s came twice", g.Source, address)
		}
		seen[address] = true
		p, status, err := g.get(ctx, address)
		if err != nil {
			return nil, err
		}
		if status != 200 {
			return nil, errGone
		}
		list, is := p.body.([]any)
		if !is {
			return nil, fail(event.Blocking, event.ReasonBadOutput, "the answer of the server of source %s is not a list", g.Source)
		}
		for _, one := range list {
			if o, is := one.(map[string]any); is {
				out = append(out, o)
			}
		}
		if address = p.next; address == "" {
			return out, nil
		}
	}
	return out, nil
}

func (g *github) issuePath(n int) string { return fmt.Sprintf("/repos/%s/issues/%d", g.repo, n) }

func (g *github) list(ctx context.Context) ([]event.Item, error) {
	query := url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}}
	if len(g.labels) > 0 {
		query.Set("labels", strings.Join(g.labels, ","))
	}
	if g.assignee != "" {
		query.Set("assignee", g.assignee)
	}
	raw, err := g.pages(ctx, "/repos/"+g.repo+"/issues", query)
	if errors.Is(err, errGone) {
		err = fail(event.Blocking, event.ReasonHTTP, "the server of source %s does not know the repository %s, or hides it from this token", g.Source, g.repo)
	}
	if err != nil {
		return nil, err
	}
	var items []event.Item
	places := map[string]int{}
	for _, o := range raw {
		it, ok := g.item(o)
		if !ok || !g.hasLabels(it.Labels) { // a server may not know how to select
			continue
		}
		if err := g.addNeeds(ctx, &it, o); err != nil {
			return nil, err
		}
		if at, twice := places[it.ID]; twice { // issues move between pages while they are read
			items[at] = it
			continue
		}
		places[it.ID] = len(items)
		items = append(items, it)
	}
	looks := 0
	for i := range items {
		for _, need := range items[i].Needs {
			n, err := strconv.Atoi(need)
			if _, known := places[need]; known || err != nil || looks >= maxLooks {
				continue
			}
			looks++
			p, status, err := g.get(ctx, g.base+g.issuePath(n))
			if err != nil {
				return nil, err
			}
			places[need] = -1
			if status != 200 {
				continue
			}
			if o, _ := p.body.(map[string]any); o["state"] == "closed" {
				title, _ := o["title"].(string)
				items = append(items, event.Item{ID: need, Title: strings.Join(append(strings.Fields(title), "(closed)"), " "), Closed: true})
			}
		}
	}
	return items, nil
}

func (g *github) hasLabels(labels []string) bool {
	for _, want := range g.labels {
		if !slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, want) }) {
			return false
		}
	}
	return true
}

// item reads an issue. Pull requests are none, and neither is what has no number and title.
func (g *github) item(o map[string]any) (it event.Item, ok bool) {
	number, _ := o["number"].(float64)
	title, _ := o["title"].(string)
	title = strings.Join(strings.Fields(title), " ")
	if o["pull_request"] != nil || number < 1 || number != float64(int(number)) || title == "" {
		return it, false
	}
	it = event.Item{ID: strconv.Itoa(int(number)), Source: g.Source, Title: title, Closed: o["state"] == "closed"}
	it.Body, _ = o["body"].(string)
	it.URL, _ = o["html_url"].(string)
	it.Version, _ = o["updated_at"].(string)
	if created, _ := o["created_at"].(string); created != "" {
		if at, err := time.Parse(time.RFC3339, created); err == nil {
			it.CreatedAt = event.At(at)
		}
	}
	labels, _ := o["labels"].([]any)
	for _, l := range labels {
		name, _ := l.(string)
		if object, is := l.(map[string]any); is {
			name, _ = object["name"].(string)
		}
		if name == "" || name == g.mark {
			continue
		}
		it.Labels = append(it.Labels, name)
		if p := backlog.LabelPriority(name); p != nil && *p > it.Priority || p != nil && it.Priority == 0 {
			it.Priority = *p
		}
	}
	it.Capabilities = backlog.Capabilities(it.Labels)
	it.Assignee = g.assigned(o)
	user, _ := o["user"].(map[string]any)
	author, _ := user["login"].(string)
	it.Data = map[string]any{"number": number, "author": author}
	return it, true
}

// assigned is the account that has the issue, if it is not the one of the loop.
func (g *github) assigned(o map[string]any) (first string) {
	all, _ := o["assignees"].([]any)
	for _, a := range append([]any{o["assignee"]}, all...) {
		account, _ := a.(map[string]any)
		login, _ := account["login"].(string)
		if login != "" && g.login != "" && strings.EqualFold(login, g.login) {
			return ""
		}
		if first == "" {
			first = login
		}
	}
	return first
}

// addNeeds finds what an issue needs: what its text says, its open sub-issues, and the issues that block it.
func (g *github) addNeeds(ctx context.Context, it *event.Item, o map[string]any) error {
	own := regexp.MustCompile(`https?://[^\s/]+/` + regexp.QuoteMeta(g.repo) + `/issues/(\d+)|` + regexp.QuoteMeta(g.repo) + `#(\d+)`)
	for _, n := range backlog.Needs(own.ReplaceAllString(it.Body, "#$1$2")) {
		if n != it.ID && !slices.Contains(it.Needs, n) {
			it.Needs = append(it.Needs, n)
		}
	}
	count := func(summary, name string) float64 {
		s, _ := o[summary].(map[string]any)
		n, _ := s[name].(float64)
		return n
	}
	number, _ := strconv.Atoi(it.ID)
	var lists []string
	if count("sub_issues_summary", "total") > count("sub_issues_summary", "completed") {
		lists = append(lists, "/sub_issues")
	}
	if count("issue_dependencies_summary", "blocked_by") > 0 {
		lists = append(lists, "/dependencies/blocked_by")
	}
	for _, path := range lists {
		more, err := g.pages(ctx, g.issuePath(number)+path, url.Values{})
		if err != nil && !errors.Is(err, errGone) {
			return err
		}
		for _, o := range more {
			n, _ := o["number"].(float64)
			id := strconv.Itoa(int(n))
			if at, _ := o["repository_url"].(string); at != "" && !strings.HasSuffix(strings.ToLower(at), "/"+strings.ToLower(g.repo)) {
				id = strings.TrimPrefix(at[strings.LastIndex(at, "/repos/")+1:], "repos/") + "#" + id
			}
			if o["state"] != "closed" && !slices.Contains(it.Needs, id) {
				it.Needs = append(it.Needs, id)
			}
		}
	}
	return nil
}

func (g *github) look(ctx context.Context, it *event.Item) (s standing, err error) {
	n, err := number(it)
	if err != nil {
		return s, err
	}
	p, status, err := g.get(ctx, g.base+g.issuePath(n))
	if err != nil {
		return s, err
	}
	if status != 200 {
		return standing{closed: true, dropped: true, why: fmt.Sprintf("the server does not have the issue any more (status %d)", status)}, nil
	}
	o, _ := p.body.(map[string]any)
	switch who := g.assigned(o); {
	case o["state"] != "open":
		s = standing{closed: true, dropped: o["state_reason"] == "not_planned" || o["state_reason"] == "duplicate", why: "the issue is closed"}
	case who != "" && who != it.Assignee && g.Verb != event.SourceReport:
		s.why = fmt.Sprintf("the issue is assigned to %s", who)
	}
	return s, nil
}

func number(it *event.Item) (int, error) {
	n, err := strconv.Atoi(it.ID)
	if err != nil || n < 1 {
		return 0, fail(event.Fatal, event.ReasonStart, "%.50q is not the number of an issue", it.ID)
	}
	return n, nil
}

// write makes a request that changes something.
func (g *github) write(ctx context.Context, method, path string, body any, also ...int) (*reply, error) {
	r, err := g.send(ctx, method, g.base+path, body, "")
	if err == nil && (r.status < 200 || r.status > 299) && !slices.Contains(also, r.status) {
		err = g.refused("the change", r)
	}
	return r, err
}

func (g *github) take(ctx context.Context, it *event.Item) (warning string, err error) {
	n, _ := number(it)
	if g.mark != "" {
		if _, err := g.write(ctx, "POST", g.issuePath(n)+"/labels", map[string]any{"labels": []string{g.mark}}); err != nil {
			return "", err
		}
	}
	if g.login != "" {
		r, err := g.write(ctx, "POST", g.issuePath(n)+"/assignees", map[string]any{"assignees": []string{g.login}})
		if err != nil {
			return "", err
		}
		if o, _ := r.body.(map[string]any); g.assigned(o) != "" || o["assignee"] == nil && len(asList(o["assignees"])) == 0 {
			warning = fmt.Sprintf("the server does not assign issues to %s", g.login)
		}
	}
	return warning, nil
}

func asList(v value.Value) []any {
	list, _ := v.([]any)
	return list
}

var markers = lazyregexp.New(`<!-- flowrun source=(\S+) token=(\d+) -->`)

// report writes a comment with the token of the claim, closes the issue, or gives it back. A comment with this token is not written twice, and
// one with a later token says that others have the issue.
func (g *github) report(ctx context.Context, it *event.Item, o *event.ItemOutcome) (string, error) {
	n, _ := number(it)
	comments, err := g.pages(ctx, g.issuePath(n)+"/comments", url.Values{})
	if err != nil {
		return "", err
	}
	written := false
	for _, c := range comments {
		body, _ := c["body"].(string)
		for _, m := range markers().FindAllStringSubmatch(body, -1) {
			token, _ := strconv.ParseUint(m[2], 10, 64)
			if m[1] == url.QueryEscape(g.Source) && token > g.Token {
				return "", &refusal{standing{why: fmt.Sprintf("token %d is old: the issue has a report with token %d", g.Token, token)}}
			}
			written = written || m[1] == url.QueryEscape(g.Source) && token == g.Token
		}
	}
	if !written && (o.Status != event.ItemReleased || o.Message != "") {
		if _, err := g.write(ctx, "POST", g.issuePath(n)+"/comments", map[string]any{"body": g.comment(o)}); err != nil {
			return "", err
		}
	}
	if o.Status == event.ItemClosed {
		if _, err := g.write(ctx, "PATCH", g.issuePath(n), map[string]any{"state": "closed", "state_reason": "completed"}); err != nil {
			return "", err
		}
	} else if g.login != "" {
		if _, err := g.write(ctx, "DELETE", g.issuePath(n)+"/assignees", map[string]any{"assignees": []string{g.login}}, 404); err != nil {
			return "", err
		}
	}
	if g.mark != "" {
		if _, err := g.write(ctx, "DELETE", g.issuePath(n)+"/labels/"+url.PathEscape(g.mark), nil, 404, 410); err != nil {
			return "", err
		}
	}
	return "", nil
}

// comment is the report as people read it.
func (g *github) comment(o *event.ItemOutcome) string {
	word := map[event.ItemStatus]string{event.ItemClosed: "is done", event.ItemFailed: "failed", event.ItemReleased: "was given back"}[o.Status]
	text := fmt.Sprintf("The work of %s on this issue %s", g.Agent, word)
	if o.Run != "" {
		text += fmt.Sprintf(" (run `%s` of flowrun)", o.Run)
	}
	text += "."
	if m := strings.TrimSpace(o.Message); m != "" {
		text += "\n\n" + strings.ReplaceAll(m, "<!--", "<! --")
	}
	return text + fmt.Sprintf("\n\n<!-- flowrun source=%s token=%d -->", url.QueryEscape(g.Source), g.Token)
}

// create adds an issue. An item with an id is added once: the id stands in a comment of the text.
func (g *github) create(ctx context.Context, it *event.Item) (id string, duplicate bool, err error) {
	body := it.Body
	if it.ID != "" {
		key := fmt.Sprintf("<!-- flowrun key=%s -->", url.QueryEscape(it.ID))
		all, err := g.pages(ctx, "/repos/"+g.repo+"/issues", url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"desc"}})
		if err != nil {
			return "", false, err
		}
		for _, o := range all {
			if text, _ := o["body"].(string); strings.Contains(text, key) {
				n, _ := o["number"].(float64)
				return strconv.Itoa(int(n)), true, nil
			}
		}
		body = strings.TrimSpace(body + "\n\n" + key)
	}
	labels := append(slices.Clip(g.labels), it.Labels...)
	slices.Sort(labels)
	r, err := g.write(ctx, "POST", "/repos/"+g.repo+"/issues", map[string]any{"title": it.Title, "body": body, "labels": slices.Compact(labels)})
	if err != nil {
		return "", false, err
	}
	o, _ := r.body.(map[string]any)
	n, _ := o["number"].(float64)
	if n < 1 {
		return "", false, fail(event.Blocking, event.ReasonBadOutput, "the server of source %s gives the new issue no number", g.Source)
	}
	return strconv.Itoa(int(n)), false, nil
}
