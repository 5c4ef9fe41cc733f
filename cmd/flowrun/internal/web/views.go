package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
	runview "github.com/flowrun/flowrun/runner/view"
	"github.com/flowrun/flowrun/runner/view/graph"
)

// views are all pages.
var views = []route{
	{pattern: "GET /{$}", title: "Now", page: "now", live: true, data: (*Pages).showNow},
	{pattern: "GET /runs", title: "Runs", page: "runs", live: true, data: (*Pages).showRuns},
	{pattern: "GET /runs/{run}", title: "Run", page: "run", live: true, data: (*Pages).showRun},
	{pattern: "GET /runs/{run}/node", title: "Node", page: "node", live: true, data: (*Pages).showNode},
	{pattern: "GET /runs/{run}/log", title: "Log", page: "log", live: true, data: (*Pages).showLog},
	{pattern: "GET /runs/{run}/graph.svg", data: (*Pages).showGraph},
	{pattern: "POST /runs/{run}/cancel", data: (*Pages).doCancel},
	{pattern: "POST /runs/{run}/resume", data: (*Pages).doResume},
	{pattern: "POST /runs/{run}/node/cancel", data: (*Pages).doCancelNode},
	{pattern: "POST /runs/{run}/retry", data: (*Pages).doRetry},
	{pattern: "GET /compare", title: "Two runs compared", page: "compare", data: (*Pages).showCompare},
	{pattern: "GET /inbox", title: "Inbox", page: "inbox", live: true, data: (*Pages).showInbox},
	{pattern: "POST /inbox", data: (*Pages).doDecide},
	{pattern: "POST /inbox/many", data: (*Pages).doDecideMany},
	{pattern: "GET /loops", title: "Loops", page: "loops", live: true, data: (*Pages).showLoops},
	{pattern: "POST /loops/{loop}/{change}", data: (*Pages).doLoop},
	{pattern: "POST /dispatch", data: (*Pages).doDispatch},
	{pattern: "POST /dispatch/{id}/cancel", data: (*Pages).doWithdraw},
	{pattern: "GET /routines", title: "Routines", page: "routines", live: true, data: (*Pages).showRoutines},
	{pattern: "POST /routines/{routine}/{change}", data: (*Pages).doRoutine},
	{pattern: "GET /events", title: "Events", page: "events", live: true, data: (*Pages).showEvents},
	{pattern: "POST /events", data: (*Pages).doEmit},
	{pattern: "GET /limits", title: "Agents and limits", page: "limits", live: true, data: (*Pages).showLimits},
	{pattern: "POST /limits/{name}/{change}", data: (*Pages).doLimit},
	{pattern: "GET /numbers", title: "Numbers", page: "numbers", data: (*Pages).showNumbers},
	{pattern: "GET /memory", title: "Memory", page: "memory", data: (*Pages).showMemory},
	{pattern: "GET /memory/entry", title: "Entry", page: "entry", data: (*Pages).showEntry},
	{pattern: "POST /memory/{change}", data: (*Pages).doMemory},
	{pattern: "GET /letters", title: "Dead letters", page: "letters", live: true, data: (*Pages).showLetters},
	{pattern: "POST /letters/{id}/{change}", data: (*Pages).doLetter},
	{pattern: "GET /audit", title: "Audit", page: "audit", live: true, data: (*Pages).showAudit},
	{pattern: "GET /live", data: (*Pages).live},
}

// flashes are what a page says after a change.
var flashes = map[string]string{"cancel": "The end of the run was asked for.", "node": "The end of the node was asked for. The run continues.", "continue": "The daemon drives the run.", "retry": "This run repeats the other one.", "decide": "Your answer was recorded.",
	"pause": "It is paused.", "resume": "It continues.", "stop": "It takes nothing more, and ends when the runs of its items have ended.", "dispatch": "The work was handed in.",
	"withdraw": "The work was cancelled.", "run": "The routine has started a run.", "emit": "The event was published.",
	"redrive": "The letter is tried again. It goes when that succeeds.", "sent": "The message was sent.", "drop": "The letter was removed.", "many": "Your answers were recorded.",
	"reset": "The breaker is closed, and its failures are forgotten.", "halt": "No new attempt of the agent starts.", "start": "The agent starts attempts again.", "same": "There was nothing to change.",
	"m-pin": "The entry is pinned.", "m-unpin": "The entry is not pinned any more.", "m-forget": "The entry is forgotten.", "m-revert": "The entries are reverted, as if they had never been written.",
	"m-supersede": "This entry supersedes the other one."}

func number(n int) string { return strconv.Itoa(n) }

// live states of runs.
func isLive(s event.Status) bool { return !s.Terminal() }

// nowPage is what goes on.
type nowPage struct {
	Live    []serve.Run
	Left    []serve.Run // that have not ended, and that no process drives
	Waiting []serve.Run
	Failed  []serve.Run // since yesterday
	Inbox   []serve.Ask
	Loops   []serve.LoopStatus
	Next    []serve.Routine
	Letters int
	Stats   serve.Stats
	Well    bool
	More    int // runs that are left out
	Agents  []working
	// Progress says how far a run that is at work has come, such as "29 of 60 succeeded".
	Progress map[string]string
}

// working is an agent and what it works on: a node of a run, or an item of a loop.
type working struct {
	Agent, Run, Node, Item string
	Since                  any // as of moment
}

// maxProgress bounds the runs whose progress the first page shows: the server keeps a view of so many.
const maxProgress = 8

// maxNow bounds each list of runs on the first page.
const maxNow = 20

// failedFor is how long a failed run is news.
const failedFor = 24 * time.Hour

func (p *Pages) showNow(_ http.ResponseWriter, r *http.Request) (any, error) {
	var d nowPage
	list, err := get[serve.Runs](p, r, "/runs?limit=%d", 1000)
	if err != nil {
		return nil, err
	}
	retried := map[string]bool{}
	for _, x := range list.Runs {
		retried[x.RetryOf] = true
		switch {
		case x.Status == event.Waiting:
			d.Waiting = append(d.Waiting, x)
		case isLive(x.Status) && x.Driven:
			d.Live = append(d.Live, x)
		case isLive(x.Status):
			d.Left = append(d.Left, x)
		case x.Status == event.FailedS && x.Parent == "" && !retried[x.Run] && p.now().Sub(moment(x.Ended)) < failedFor:
			d.Failed = append(d.Failed, x)
		}
	}
	inbox, err := get[serve.Inbox](p, r, "/inbox")
	if err != nil {
		return nil, err
	}
	d.Inbox = inbox.Items
	for _, list := range []*[]serve.Run{&d.Live, &d.Left, &d.Waiting, &d.Failed} {
		if n := len(*list); n > maxNow {
			d.More += n - maxNow
			*list = (*list)[:maxNow]
		}
	}
	d.Progress = map[string]string{}
	for _, x := range d.Live[:min(len(d.Live), maxProgress)] {
		doc, err := get[runview.Document](p, r, "/runs/%s", x.Run)
		if err != nil {
			return nil, err
		}
		roots, _ := grow(doc.Nodes)
		d.Progress[x.Run] = tallyOf(roots)
		for _, u := range doc.Unanswered {
			if u.Agent != "" && u.Outcome == event.Outcome(event.Running) && len(d.Agents) < maxNow {
				d.Agents = append(d.Agents, working{Agent: u.Agent, Run: x.Run, Node: u.Node, Since: u.StartedAt})
			}
		}
	}
	loops, err := get[serve.Loops](p, r, "/loops")
	if err != nil {
		return nil, err
	}
	d.Loops = loops.Loops
	for _, l := range d.Loops {
		var claims []serve.Claim
		if err := convert(l.Items, &claims); err != nil {
			return nil, err
		}
		for _, c := range claims {
			if c.Agent != "" && len(d.Agents) < 2*maxNow {
				d.Agents = append(d.Agents, working{Agent: c.Agent, Run: c.Run, Item: strings.TrimSpace(c.Item + " " + c.Title), Since: c.Since})
			}
		}
	}
	slices.SortStableFunc(d.Agents, func(a, b working) int { return strings.Compare(a.Agent, b.Agent) })
	routines, err := get[serve.Routines](p, r, "/routines")
	if err != nil {
		return nil, err
	}
	for _, x := range routines.Routines {
		if x.Next != nil && !x.Paused {
			d.Next = append(d.Next, x)
		}
	}
	slices.SortStableFunc(d.Next, func(a, b serve.Routine) int { return moment(a.Next).Compare(moment(b.Next)) })
	letters, err := get[serve.DeadLetters](p, r, "/dead-letters")
	if err != nil {
		return nil, err
	}
	d.Letters = len(letters.Items)
	if d.Stats, err = get[serve.Stats](p, r, "/stats?since=%s", "24h"); err != nil {
		return nil, err
	}
	d.Well = len(d.Failed)+len(d.Left)+len(d.Inbox)+d.Letters == 0
	return d, nil
}

// pageSize is how many rows a list has on a page.
const pageSize = 50

// runsPage is a list of runs.
type runsPage struct {
	Runs                   []serve.Run
	Workflow, Status, Text string
	Since                  string // "": of any age
	Spans                  []string
	Workflows              []string
	Page, Pages, Total     int
	Statuses               []event.Status
	Query                  string // without the page
	Cause                  event.CauseKind
	Causes                 []event.CauseKind
}

func (p *Pages) showRuns(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := runsPage{Workflow: q.Get("workflow"), Status: q.Get("status"), Text: q.Get("text"), Since: q.Get("since"), Spans: append([]string{"1h"}, spans...), Page: 1, Statuses: []event.Status{event.Running, event.Waiting, event.Pending, event.Succeeded, event.FailedS, event.Cancelled}}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		d.Page = n
	}
	if !slices.Contains(d.Spans, d.Since) {
		d.Since = ""
	}
	if d.Causes = event.CauseKinds; slices.Contains(d.Causes, event.CauseKind(q.Get("cause"))) {
		d.Cause = event.CauseKind(q.Get("cause"))
	}
	all, err := get[serve.Runs](p, r, "/runs?limit=%d&since=%s&cause=%s", 10_000, d.Since, d.Cause)
	if err != nil {
		return nil, err
	}
	for _, x := range all.Runs {
		if !slices.Contains(d.Workflows, x.Workflow) {
			d.Workflows = append(d.Workflows, x.Workflow)
		}
		if (d.Workflow == "" || x.Workflow == d.Workflow) && (d.Status == "" || string(x.Status) == d.Status) && (d.Text == "" || strings.Contains(x.Run+" "+x.Workflow, d.Text)) {
			if d.Total/pageSize+1 == d.Page {
				d.Runs = append(d.Runs, x)
			}
			d.Total++
		}
	}
	if d.Workflow != "" && !slices.Contains(d.Workflows, d.Workflow) {
		d.Workflows = append(d.Workflows, d.Workflow)
	}
	slices.Sort(d.Workflows)
	d.Pages = (d.Total + pageSize - 1) / pageSize
	d.Query = url.Values{"workflow": {d.Workflow}, "status": {d.Status}, "text": {d.Text}, "since": {d.Since}, "cause": {string(d.Cause)}}.Encode()
	return d, nil
}

// runPage is a run.
type runPage struct {
	*runview.Document
	Tab      string
	Rows     []row
	Tally    string
	Failures []*runview.NodeDoc
	Told     bool // one of them has the error of the run
	More     int  // failures that are left out
	Under    string
	Page     int
	Pages    int
	Graph    template.HTML
	NoGraph  string
	Timeline timeline
	Files    []file
	Changes  changes
	Ended    bool
	Asked    []*runview.NodeDoc // nodes that wait for a person, maxFailures at most
	Steps    []string           // the names of its steps and groups, of which it can be retried; maxSteps at most
}

type file struct{ Name, Text string }

func (d *runPage) title() string { return d.Workflow + " " + d.Run }

// isAsked reports whether a node waits for the decision of a person.
func isAsked(n *runview.NodeDoc) bool {
	return n.Status == event.Waiting && n.WaitsFor != nil && n.WaitsFor.Kind == event.WaitDecision
}

// maxSteps bounds the names of steps that a form offers.
const maxSteps = 100

// iteration matches the last part of the path of an iteration, as in build/i2.
var iteration = lazyregexp.New(`^i[1-9][0-9]*$`)

// tabs are the ways to look at a run.
var tabs = []string{"", "graph", "timeline", "definition"}

func (p *Pages) showRun(w http.ResponseWriter, r *http.Request) (any, error) {
	id, q := r.PathValue("run"), r.URL.Query()
	doc, err := get[runview.Document](p, r, "/runs/%s", id)
	if err != nil {
		return nil, err
	}
	if doc.Run != id { // a prefix, or latest
		http.Redirect(w, r, runPath(doc.Run), http.StatusSeeOther)
		return nil, errAnswered
	}
	roots, byPath := grow(doc.Nodes)
	d := &runPage{Document: &doc, Tab: q.Get("tab"), Under: q.Get("under"), Page: 1, Ended: doc.Status.Terminal()}
	if !slices.Contains(tabs, d.Tab) {
		d.Tab = ""
	}
	for i := range doc.Nodes {
		if runview.IsShort(d.Under) && runview.Short(doc.Nodes[i].ID) == d.Under {
			d.Under = doc.Nodes[i].ID
		}
	}
	d.Tally = tallyOf(roots)
	for i := range doc.Nodes {
		if n := &doc.Nodes[i]; len(d.Asked) < maxFailures && isAsked(n) {
			d.Asked = append(d.Asked, n)
		}
		if name := runview.Base(doc.Nodes[i].ID); len(d.Steps) < maxSteps && !iteration().MatchString(name) && !slices.Contains(d.Steps, name) {
			d.Steps = append(d.Steps, name)
		}
	}
	d.Failures, d.More = failures(doc.Nodes, byPath)
	d.Told = doc.Error != nil && slices.ContainsFunc(d.Failures, func(n *runview.NodeDoc) bool { return n.Error != nil && n.Error.Message == doc.Error.Message })
	switch d.Tab {
	case "":
		if t := byPath[d.Under]; t != nil {
			if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
				d.Page = n
			}
			d.Pages = (len(t.below) + maxRows/2 - 1) / (maxRows / 2)
			from := min((d.Page-1)*maxRows/2, len(t.below))
			roots = t.below[from:min(from+maxRows/2, len(t.below))]
		} else if len(roots) > maxRows {
			roots = roots[:maxRows]
		}
		d.Rows = rows(roots)
	case "graph":
		if d.Graph, err = p.drawGraph(r, id, func(step string) string { return runPath(id, "node", "name", step) }); err != nil {
			d.NoGraph = err.Error()
		}
	case "timeline":
		if d.Timeline, err = p.readTimeline(r, id, millis(q.Get("from")), millis(q.Get("to")), true); err != nil {
			return nil, err
		}
	case "definition":
		if d.Files, err = p.files(r, id); err != nil {
			return nil, err
		}
		changes, err := get[serve.DefinitionChanges](p, r, "/runs/%s/definition/changes", id)
		if err != nil {
			return nil, err
		}
		d.Changes = newChanges(&changes)
	}
	return d, nil
}

// millis reads a time in a run; 0 for anything else.
func millis(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// files are the texts that a run was started with, by name.
func (p *Pages) files(r *http.Request, id string) (list []file, err error) {
	def, err := get[serve.Definition](p, r, "/runs/%s/definition", id)
	for name, text := range def.Files { // any order: they are sorted below
		list = append(list, file{name, text})
	}
	slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// drawGraph draws the graph of a run. link is the address behind a step; "" is none.
func (p *Pages) drawGraph(r *http.Request, id string, link func(step string) string) (template.HTML, error) {
	v, err := p.server.Get(r.Context(), apiPath("/runs/%s/graph", id))
	if err != nil {
		return "", err
	}
	body, err := v.(*graph.Graph).Part(func(n *graph.Node) string {
		if n.State == nil || strings.HasPrefix(n.ID, "#") || strings.Contains(n.ID, "#") {
			return ""
		}
		return link(n.ID)
	})
	return template.HTML(body), err // the drawing escapes all texts
}

func (p *Pages) showGraph(w http.ResponseWriter, r *http.Request) (any, error) {
	v, err := p.server.Get(r.Context(), apiPath("/runs/%s/graph", r.PathValue("run")))
	if err != nil {
		return nil, err
	}
	body, err := v.(*graph.Graph).SVG()
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	_, _ = w.Write(body)
	return nil, errAnswered
}

// nodePage is one node of a run.
type nodePage struct {
	runview.StoryDoc
	Logs   []serve.LogAttempt
	Live   bool
	ByHand bool   // a person may say what it came to
	Ended  bool   // the run has ended
	Asked  bool   // it waits for a person
	By     string // who answered last in this browser
	// Memory is the one of the run's program, and Learned what it keeps of the node.
	Memory  string
	Learned []memoryRow
}

func (d *nodePage) title() string { return d.Node.ID + " of " + d.Workflow }

func (d *nodePage) polls() bool { return d.Live }

func (p *Pages) showNode(w http.ResponseWriter, r *http.Request) (any, error) {
	id, path := r.PathValue("run"), r.URL.Query().Get("path")
	if name := r.URL.Query().Get("name"); path == "" && name != "" {
		doc, err := get[runview.Document](p, r, "/runs/%s", id)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(doc.Nodes, func(n runview.NodeDoc) bool { return runview.Base(n.ID) == name })
		if at < 0 {
			return nil, &serve.Failure{Status: http.StatusNotFound, Code: "node", Message: fmt.Sprintf("The group around %q has not started it.", name)}
		}
		http.Redirect(w, r, runPath(id, "node", "path", doc.Nodes[at].ID), http.StatusSeeOther)
		return nil, errAnswered
	}
	story, err := get[runview.StoryDoc](p, r, "/runs/%s/node?path=%s", id, path)
	if err != nil {
		return nil, err
	}
	path = story.Node.ID // it may have been named by its short form
	logs, err := get[serve.Logs](p, r, "/runs/%s/logs?node=%s", id, path)
	if err != nil {
		return nil, err
	}
	d := &nodePage{StoryDoc: story, Live: isLive(story.Node.Status), ByHand: story.Node.Status == event.FailedS || story.Node.Status == event.Cancelled, Ended: story.RunStatus.Terminal(), Asked: isAsked(&story.Node), By: who(r)}
	for _, l := range logs.Attempts {
		if l.Node == path {
			d.Logs = append(d.Logs, l)
		}
	}
	return d, p.readLearned(r, d)
}

// readLearned reads what the memory keeps of a node that has ended and that an agent carried out.
func (p *Pages) readLearned(r *http.Request, d *nodePage) error {
	if d.Live || !slices.ContainsFunc(d.Tries, func(t runview.TryDoc) bool { return t.Request != nil && t.Request.Agent != "" }) {
		return nil
	}
	memories, err := get[serve.Memories](p, r, "/memory")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(memories.Memories, func(m serve.Memory) bool { return slices.Contains(m.Workflows, d.Workflow) })
	if at = max(at, 0); at == len(memories.Memories) || !memories.Memories[at].Exists {
		return nil
	}
	d.Memory = memories.Memories[at].ID
	which := url.Values{"run": {d.Run}, "memory": {d.Memory}, "limit": {number(pageSize)}}
	list, err := get[serve.MemoryEntries](p, r, "/memory/entries?"+escaped(which))
	for i := range list.Entries {
		if e := &list.Entries[i]; e.By.Step == d.Node.ID || e.By.Step == runview.Base(d.Node.ID) {
			d.Learned = append(d.Learned, newMemoryRow(e))
		}
	}
	return err
}

// logPage is what an attempt wrote.
type logPage struct {
	Run, Attempt, Stream, Text, Find string
	Node                             string
	Whole                            string // the address of all of it
	Cut                              bool
	Live                             bool // the attempt still writes
	Found                            int
}

func (d *logPage) polls() bool { return d.Live }

func (d *logPage) title() string { return d.Stream + " of " + d.Node }

const (
	maxLog      = 256 << 10 // how much of the end of a log a page shows, in bytes
	maxSearched = 16 << 20  // how much of it is searched
)

func (p *Pages) showLog(w http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := &logPage{Run: r.PathValue("run"), Attempt: q.Get("attempt"), Stream: q.Get("stream"), Find: q.Get("find")}
	api := fmt.Sprintf("/api/v1/runs/%s/logs/%s/%s", url.PathEscape(d.Run), url.PathEscape(d.Attempt), url.PathEscape(d.Stream))
	if q.Get("whole") != "" {
		if err := p.server.Stream(w, r, api); err != nil {
			return nil, err
		}
		return nil, errAnswered
	}
	logs, err := get[serve.Logs](p, r, "/runs/%s/logs?attempt=%s", d.Run, d.Attempt)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(logs.Attempts, func(l serve.LogAttempt) bool { return l.ID == d.Attempt })
	if at < 0 {
		return nil, &serve.Failure{Status: http.StatusNotFound, Code: "log", Message: "This attempt does not exist."}
	}
	l := logs.Attempts[at]
	d.Node, d.Live = l.Node, l.Status == string(event.Running)
	size := l.Stdout
	if d.Stream == "stderr" {
		size = l.Stderr
	}
	header := http.Header{}
	most := int64(maxLog)
	if d.Find != "" {
		most = maxSearched
	}
	if size > most {
		header.Set("Range", fmt.Sprintf("bytes=%d-", size-most))
		d.Cut = true
	}
	body, err := p.document(r, api, header)
	if err != nil {
		return nil, err
	}
	d.Whole = runPath(d.Run, "log", "attempt", d.Attempt, "stream", d.Stream, "whole", "1")
	if d.Text = string(body); d.Find != "" {
		var found []string
		for i, line := range strings.Split(d.Text, "\n") {
			if strings.Contains(strings.ToLower(line), strings.ToLower(d.Find)) {
				if d.Found++; len(found) < 1000 {
					if !d.Cut {
						line = fmt.Sprintf("%6d  %s", i+1, line)
					}
					found = append(found, line)
				}
			}
		}
		d.Text = strings.Join(found, "\n")
	}
	return d, nil
}

// inboxPage is what waits for people.
type inboxPage struct {
	Asks []askForm
	Many []askForm // those that a person can approve or reject without inputs
	By   string    // who answered last in this browser
}

type askForm struct {
	serve.Ask
	Inputs []serve.FormInput
	NoForm string
}

// Key names the ask with what it shows, for a form of several.
func (a *askForm) Key() string {
	return url.Values{"run": {a.Run}, "node": {a.Node}, "shown": {a.Shown}}.Encode()
}

// OutputOf is the label of the field of an output; "" where no word takes one.
func (a *askForm) OutputOf() string {
	switch {
	case slices.Contains(a.Words, string(event.WordDone)):
		return "Result"
	case slices.Contains(a.Words, string(event.WordOverride)):
		return "Output of the step, to override it"
	}
	return ""
}

// meanings say what the words do.
var meanings = map[event.Word]string{event.WordApprove: "lets the run continue.", event.WordReject: "makes the step fail.",
	event.WordRevise: "repeats the steps before the question; the comment says what to change.", event.WordDone: "gives the step your result.",
	event.WordFail: "says that the task cannot be done; the step fails.", event.WordRetry: "gives the node new attempts.",
	event.WordSkip: "skips the node, and the run continues.", event.WordAbort: "makes the node fail.", event.WordOverride: "gives the node your output.",
	event.WordAck: "says that you look at it; the node continues to wait.", event.WordContinue: "lets more start.", event.WordStop: "lets nothing more start."}

// meaning is a word with what it does.
type meaning struct{ Word, Means string }

// Meanings are those of the words of the ask.
func (a *askForm) Meanings() (list []meaning) {
	for _, word := range a.Words {
		list = append(list, meaning{word, meanings[event.Word(word)]})
	}
	return list
}

// takesOutput reports whether an answer has an output.
func takesOutput(word string) bool {
	return word == string(event.WordDone) || word == string(event.WordOverride)
}

func (p *Pages) showInbox(_ http.ResponseWriter, r *http.Request) (any, error) {
	list, err := get[serve.Inbox](p, r, "/inbox")
	if err != nil {
		return nil, err
	}
	var d inboxPage
	for _, a := range list.Items {
		form := askForm{Ask: a}
		if a.Node != "." && slices.Contains(a.Words, string(event.WordApprove)) {
			f, err := get[serve.Form](p, r, "/inbox/form?run=%s&node=%s", a.Run, a.Node)
			if form.Inputs = f.Inputs; err != nil {
				form.NoForm = err.Error()
			}
		}
		d.Asks = append(d.Asks, form)
		needs := slices.ContainsFunc(form.Inputs, func(in serve.FormInput) bool { return in.Required })
		if slices.Contains(a.Words, string(event.WordApprove)) && !needs && form.NoForm == "" {
			d.Many = append(d.Many, form)
		}
	}
	d.By = who(r)
	return d, nil
}

func (p *Pages) showLoops(_ http.ResponseWriter, r *http.Request) (any, error) {
	loops, err := get[serve.Loops](p, r, "/loops")
	if err != nil {
		return nil, err
	}
	type control struct {
		Stopped bool               `json:"stopped"`
		Paused  map[string]*string `json:"paused"`
	}
	type one struct {
		serve.LoopStatus
		Control control
		Claims  []serve.Claim
	}
	var d struct {
		Loops []one
		Work  serve.WorkList
	}
	for _, l := range loops.Loops {
		if l.Run != "" {
			if l, err = get[serve.LoopStatus](p, r, "/loops/%s", l.Loop); err != nil {
				return nil, err
			}
		}
		x := one{LoopStatus: l}
		for from, to := range map[any]any{&l.Control: &x.Control, &l.Items: &x.Claims} { // any order: each is read on its own
			if err := convert(from, to); err != nil {
				return nil, err
			}
		}
		d.Loops = append(d.Loops, x)
	}
	d.Work, err = get[serve.WorkList](p, r, "/dispatch")
	return d, err
}

func (p *Pages) showRoutines(_ http.ResponseWriter, r *http.Request) (any, error) {
	return get[serve.Routines](p, r, "/routines?next=5")
}

func (p *Pages) showEvents(_ http.ResponseWriter, r *http.Request) (any, error) {
	list, err := get[serve.Events](p, r, "/events")
	if err != nil {
		return nil, err
	}
	slices.Reverse(list.Items)
	programs, err := get[serve.Programs](p, r, "/programs")
	return map[string]any{"Events": list.Items[:min(len(list.Items), 200)], "Left": max(0, len(list.Items)-200), "Programs": programs.Programs}, err
}

func (p *Pages) showLimits(_ http.ResponseWriter, r *http.Request) (any, error) {
	limits, err := get[serve.Limits](p, r, "/limits")
	if err != nil {
		return nil, err
	}
	agents, err := get[serve.Stats](p, r, "/stats?since=24h&by=agent")
	return map[string]any{"Limits": limits.Limits, "Agents": agents.Groups}, err
}

// spans are the spans of time of the page with numbers.
var spans = []string{"24h", "7d", "30d", "90d", "365d"}

// numbersPage are the figures of a span, of its days, and by group.
type numbersPage struct {
	Stats         serve.Stats
	Since, By, Of string
	Spans         []string
	Groups        []stats.Group
	Charts        []chart
	Days          []serve.Day         // the newest first
	Forecasts     []stats.ForecastDay // of days with runs, the newest first
}

func (p *Pages) showNumbers(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := numbersPage{Since: q.Get("since"), By: q.Get("by"), Of: q.Get("of"), Spans: spans, Groups: stats.Groups}
	if !slices.Contains(spans, d.Since) {
		d.Since = "7d"
	}
	if !slices.Contains(stats.Groups, stats.Group(d.By)) {
		d.By = string(stats.ByWorkflow)
	}
	var err error
	d.Stats, err = get[serve.Stats](p, r, "/stats?since=%s&by=%s&daily=true&forecasts=true", d.Since, d.By)
	d.Charts = newCharts(d.Stats.Days, d.Of)
	d.Days = slices.Clone(d.Stats.Days)
	slices.Reverse(d.Days)
	if f := d.Stats.Forecasts; f != nil {
		for _, day := range slices.Backward(f.Days) {
			if day.Total.Runs > 0 {
				d.Forecasts = append(d.Forecasts, day)
			}
		}
	}
	return d, err
}

func (p *Pages) showLetters(_ http.ResponseWriter, r *http.Request) (any, error) {
	list, err := get[serve.DeadLetters](p, r, "/dead-letters")
	slices.Reverse(list.Items)
	return list, err
}

func (p *Pages) showAudit(_ http.ResponseWriter, r *http.Request) (any, error) {
	return get[serve.Audits](p, r, "/audit")
}

// The changes.

// goTo answers a change with the page to look at next.
func goTo(w http.ResponseWriter, r *http.Request, path, done string) (any, error) {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	http.Redirect(w, r, path+sign+"done="+done, http.StatusSeeOther)
	return nil, errAnswered
}

func (p *Pages) post(r *http.Request, body any, format string, args ...any) (any, error) {
	quoted := make([]any, len(args))
	for i, a := range args {
		quoted[i] = url.PathEscape(fmt.Sprint(a))
	}
	return p.server.Post(r.Context(), "/api/v1"+fmt.Sprintf(format, quoted...), r.RemoteAddr, body)
}

func (p *Pages) doCancel(w http.ResponseWriter, r *http.Request) (any, error) {
	run := r.PathValue("run")
	if _, err := p.post(r, serve.Cancel{Reason: or(r.PostFormValue("reason"), "from the dashboard")}, "/runs/%s/cancel", run); err != nil {
		return nil, err
	}
	return goTo(w, r, runPath(run), "cancel")
}

// doCancelNode ends one node of a run, with all nodes below it.
func (p *Pages) doCancelNode(w http.ResponseWriter, r *http.Request) (any, error) {
	run, node := r.PathValue("run"), r.PostFormValue("node")
	by := strings.TrimSpace(r.PostFormValue("by"))
	if by == "" {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "by", Message: "Say who you are: the node's reason has your name."}
	}
	v, err := p.post(r, serve.CancelNode{Node: node, By: by, Reason: r.PostFormValue("reason")}, "/runs/%s/node/cancel", run)
	if err != nil {
		return nil, err
	}
	remember(w, by)
	return goTo(w, r, runPath(run, "node", "path", v.(serve.NodeCancelled).Node), "node")
}

// doResume lets the daemon drive a run that no process drives.
func (p *Pages) doResume(w http.ResponseWriter, r *http.Request) (any, error) {
	run := r.PathValue("run")
	if _, err := p.post(r, serve.Nothing{}, "/runs/%s/resume", run); err != nil {
		return nil, err
	}
	return goTo(w, r, runPath(run), "continue")
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// jsonOf is a text of a form as JSON: as it is if it is JSON, and else as a string, unless it begins as JSON does. what names the field.
func jsonOf(what, text string) (json.RawMessage, error) {
	v, err := value.JSONOrText(text)
	if err != nil {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: what, Message: fmt.Sprintf("The %s %v.", what, err)}
	}
	return value.Append(nil, v), nil
}

func (p *Pages) doRetry(w http.ResponseWriter, r *http.Request) (any, error) {
	o := serve.Retry{From: r.PostFormValue("from"), Only: r.PostFormValue("only"), All: r.PostFormValue("all") != "", File: r.PostFormValue("file") != "", By: strings.TrimSpace(r.PostFormValue("by"))}
	if step := r.PostFormValue("step"); step != "" {
		output, err := jsonOf("output", r.PostFormValue("output"))
		if err != nil {
			return nil, err
		}
		o.Set = []serve.SetOutput{{Step: step, Output: output}}
	}
	v, err := p.post(r, o, "/runs/%s/retry", r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return goTo(w, r, runPath(v.(serve.Started).Run), "retry")
}

func (p *Pages) doDecide(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "body", Message: "The form cannot be read."}
	}
	d := serve.Decide{Node: r.PostForm.Get("node"), Word: r.PostForm.Get("word"), By: strings.TrimSpace(r.PostForm.Get("by")), Comment: r.PostForm.Get("comment"), Shown: r.PostForm.Get("shown")}
	if d.By == "" {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "by", Message: "Say who you are: the answer is recorded with your name."}
	}
	if text := r.PostForm.Get("output"); text != "" && takesOutput(d.Word) {
		var err error
		if d.Output, err = jsonOf("output", text); err != nil {
			return nil, err
		}
	}
	if d.Word == string(event.WordApprove) {
		f, err := get[serve.Form](p, r, "/inbox/form?run=%s&node=%s", r.PostForm.Get("run"), d.Node)
		if err != nil {
			return nil, err
		}
		d.Inputs = map[string]json.RawMessage{}
		for _, in := range f.Inputs {
			text, given := r.PostForm["input."+in.Name]
			if !given || text[0] == "" && !in.Required {
				continue
			}
			if in.Type == "string" {
				d.Inputs[in.Name] = value.Append(nil, text[0])
			} else if d.Inputs[in.Name], err = jsonOf("input "+in.Name, text[0]); err != nil {
				return nil, err
			}
		}
	}
	if _, err := p.post(r, d, "/runs/%s/decide", r.PostForm.Get("run")); err != nil {
		return nil, err
	}
	remember(w, d.By)
	return goTo(w, r, "/inbox", "decide")
}

// byCookie keeps the name of who answers, so that it need not be typed again.
const byCookie = "flowrun_by"

// who is the name of who answered last in this browser; "" where nobody has.
func who(r *http.Request) string {
	c, err := r.Cookie(byCookie)
	if err != nil {
		return ""
	}
	by, _ := url.QueryUnescape(c.Value)
	return by
}

func remember(w http.ResponseWriter, by string) {
	http.SetCookie(w, &http.Cookie{Name: byCookie, Value: url.QueryEscape(by), Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// doDecideMany gives several asks the same answer. Each is decided on its own: those that are refused are named, and the others stand.
func (p *Pages) doDecideMany(w http.ResponseWriter, r *http.Request) (any, error) {
	by := strings.TrimSpace(r.PostFormValue("by")) // reads the form
	asks := r.PostForm["ask"]
	switch {
	case by == "":
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "by", Message: "Say who you are: the answer is recorded with your name."}
	case len(asks) == 0:
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "ask", Message: "Mark the questions that you answer."}
	}
	var refused []string
	for _, key := range asks {
		a, err := url.ParseQuery(key)
		if err == nil {
			d := serve.Decide{Node: a.Get("node"), Word: r.PostForm.Get("word"), By: by, Comment: r.PostForm.Get("comment"), Shown: a.Get("shown")}
			_, err = p.post(r, d, "/runs/%s/decide", a.Get("run"))
		}
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s of run %s: %s", a.Get("node"), a.Get("run"), err))
		}
	}
	remember(w, by)
	if len(refused) > 0 {
		return nil, &serve.Failure{Status: http.StatusConflict, Code: "refused", Message: fmt.Sprintf("%d of %d answers were recorded. Refused: %s", len(asks)-len(refused), len(asks), strings.Join(refused, "; "))}
	}
	return goTo(w, r, "/inbox", "many")
}

// doLetter tries a dead letter again, or removes it.
func (p *Pages) doLetter(w http.ResponseWriter, r *http.Request) (any, error) {
	id, change := r.PathValue("id"), r.PathValue("change")
	var body any = serve.Nothing{}
	if change == "redrive" {
		body = serve.Redrive{By: "dashboard"}
	}
	v, err := p.post(r, body, "/dead-letters/%s/%s", id, change)
	if err != nil {
		return nil, err
	}
	out, _ := v.(serve.Redriven)
	switch {
	case out.Run != "":
		return goTo(w, r, runPath(out.Run), "retry")
	case out.Closed:
		change = "sent"
	}
	return goTo(w, r, "/letters", change)
}

// doLimit resets a breaker, or stops or starts an agent.
func (p *Pages) doLimit(w http.ResponseWriter, r *http.Request) (any, error) {
	name, change, of := r.PathValue("name"), r.PathValue("change"), "agents"
	if change == "reset" {
		of = "limits"
	}
	v, err := p.post(r, serve.Nothing{}, "/"+of+"/%s/%s", name, change)
	if err != nil {
		return nil, err
	}
	if changed, _ := v.(serve.LimitChanged); !changed.Changed {
		change = "same"
	} else if change == "stop" {
		change = "halt"
	}
	return goTo(w, r, "/limits", change)
}

func (p *Pages) doLoop(w http.ResponseWriter, r *http.Request) (any, error) {
	change, agent := r.PathValue("change"), r.PostFormValue("agent")
	var body any = serve.LoopChange{Agent: agent, By: "dashboard"}
	switch change {
	case "pause":
		body = serve.LoopPause{Agent: agent, For: r.PostFormValue("for"), By: "dashboard"}
	case "resume", "stop":
	default:
		return nil, &serve.Failure{Status: http.StatusNotFound, Code: "path", Message: "This change does not exist."}
	}
	if _, err := p.post(r, body, "/loops/%s/%s", r.PathValue("loop"), change); err != nil {
		return nil, err
	}
	return goTo(w, r, "/loops", change)
}

func (p *Pages) doDispatch(w http.ResponseWriter, r *http.Request) (any, error) {
	work := serve.Work{Title: strings.TrimSpace(r.PostFormValue("title")), Body: r.PostFormValue("body"), To: r.PostFormValue("to"), By: "dashboard"}
	if n, err := strconv.Atoi(r.PostFormValue("priority")); err == nil {
		work.Priority = n
	}
	if work.Title == "" {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "title", Message: "Work needs a title."}
	}
	if _, err := p.post(r, work, "/dispatch"); err != nil {
		return nil, err
	}
	return goTo(w, r, "/loops", "dispatch")
}

func (p *Pages) doWithdraw(w http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := p.post(r, serve.Nothing{}, "/dispatch/%s/cancel", r.PathValue("id")); err != nil {
		return nil, err
	}
	return goTo(w, r, "/loops", "withdraw")
}

func (p *Pages) doRoutine(w http.ResponseWriter, r *http.Request) (any, error) {
	change := r.PathValue("change")
	v, err := p.post(r, serve.Nothing{}, "/routines/%s/%s", r.PathValue("routine"), change)
	if err != nil {
		return nil, err
	}
	if started, is := v.(serve.Started); is {
		return goTo(w, r, runPath(started.Run), "run")
	}
	return goTo(w, r, "/routines", change)
}

func (p *Pages) doEmit(w http.ResponseWriter, r *http.Request) (any, error) {
	e := serve.Emit{Event: strings.TrimSpace(r.PostFormValue("event")), Key: r.PostFormValue("key")}
	if text := strings.TrimSpace(r.PostFormValue("data")); text != "" {
		var err error
		if e.Data, err = jsonOf("data", text); err != nil {
			return nil, err
		}
	}
	if _, err := p.post(r, e, "/events"); err != nil {
		return nil, err
	}
	return goTo(w, r, "/events", "emit")
}
