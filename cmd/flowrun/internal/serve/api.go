package serve

import (
	"context"
	_ "embed" // openapi.json
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/shared"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
	"github.com/flowrun/flowrun/runner/view/graph"
	"github.com/flowrun/flowrun/runner/webhook"
)

// Error is the body of every answer that is not a success.
type Error struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Run is a run in a list.
type Run struct {
	Run        string       `json:"run"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	Created    view.Moment  `json:"created"`
	Ended      view.Moment  `json:"ended"`
	Driven     bool         `json:"driven"`
	Parent     string       `json:"parent,omitempty"`
	ParentNode string       `json:"parent_node,omitempty"`
	RetryOf    string       `json:"retry_of,omitempty"`
}

// Runs is a list of runs, the newest first.
type Runs struct {
	Runs []Run `json:"runs"`
}

// Cancel asks for the end of a run.
type Cancel struct {
	Reason string `json:"reason,omitempty"`
}

// CancelNode asks for the end of one node of a run: a step, a group, an instance or an iteration.
type CancelNode struct {
	// Node is the path of the node, such as copy[1]; its name, if it is unique; or the path with the name of an item, such as copy["b"].
	Node string `json:"node"`
	// By is the person who cancels the node; "somebody" if it is left out.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// NodeCancelled says that the request to cancel a node is recorded.
type NodeCancelled struct {
	Node string `json:"node"` // its path
}

// Emit publishes an event.
type Emit struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data,omitempty"`
	Key   string          `json:"key,omitempty"`
	Run   string          `json:"run,omitempty"`
}

// Emitted is an event that was published.
type Emitted struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// Decide is the decision of a person for a node of a run.
type Decide struct {
	Node    string          `json:"node"`
	Word    string          `json:"word"`
	By      string          `json:"by"`
	Comment string          `json:"comment,omitempty"`
	Shown   string          `json:"shown,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	// Inputs are those of an approval, by name.
	Inputs map[string]json.RawMessage `json:"inputs,omitempty"`
}

// Decided is what became of a decision.
type Decided struct {
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
	Node    string `json:"node"`
}

// Programs are the registered programs.
type Programs struct {
	Programs []runner.Registered `json:"programs"`
}

// List is a list of objects as the commands print them with --json.
type List struct {
	Items []value.Value `json:"items"`
}

// Done says that a change was made.
type Done struct {
	Done bool `json:"done"`
}

// route is a way to ask the server. A route with a body changes something, and no other does.
type route struct {
	method, path string
	about        string
	query        []param
	header       []param
	body         any // a value of its type; nil: none
	answer       any // likewise; nil: the answer is a stream or a document of its own
	open         bool
	raw          bool   // the body is of any type
	document     string // the content type of such an answer
	onDisk       bool   // only a store on this machine has what it changes
	parts        bool   // a request may ask for a part of the document, which is answered with 206
	do           func(s *Server, r *http.Request) (any, error)
	encode       func(s *Server, r *http.Request) ([]byte, error) // the JSON of what do gives, where that can be had for less; nil: it cannot
	stream       func(s *Server, w http.ResponseWriter, r *http.Request) error
}

// param is a parameter of a query or a header.
type param struct{ name, about, kind string }

// routes are all ways to ask the server.
var routes = []route{
	{method: "GET", path: "/healthz", about: "Whether the process lives.", answer: Done{}, open: true, do: func(*Server, *http.Request) (any, error) { return Done{true}, nil }},
	{method: "GET", path: "/readyz", about: "Whether the daemon drives runs: 503 before it has looked at what was left, and while it stops.", answer: Done{}, open: true, do: (*Server).ready},
	{method: "GET", path: "/metrics", about: "Figures in the text format of Prometheus.", document: "text/plain; version=0.0.4", stream: (*Server).metrics, query: []param{
		{"tasks", "Also the figures of the tasks of the last 24 hours, by agent and by pattern, which are read from the journals of runs.", "boolean"}}},
	{method: "GET", path: "/api/v1/openapi.json", about: "This description.", document: "application/json", stream: (*Server).description},
	{method: "GET", path: "/api/v1/runs", about: "Runs, the newest first.", answer: Runs{}, do: (*Server).runs, query: []param{
		{"limit", "How many; 100 if it is left out, 10000 at most.", "integer"}, {"workflow", "Only runs of this workflow.", "string"}, {"status", "Only runs with this status.", "string"},
		{"cause", "Only runs that were started by this kind of cause: manual, call, event, routine, loop or retry.", "string"},
		{"since", "Only runs that were started in this time until now, such as 24h or 7d.", "string"}}},
	{method: "GET", path: "/api/v1/runs/{run}", about: "A run with its nodes.", answer: view.Document{}, do: (*Server).run, encode: (*Server).encodedRun},
	{method: "GET", path: "/api/v1/runs/{run}/events", about: "The transitions of a run as server-sent events, until the run has ended. The id of each event is a number; a client that asks again with Last-Event-ID gets those behind it.", document: "text/event-stream", stream: (*Server).transitions, header: []param{
		{"Last-Event-ID", "The id of the last event that the client has.", "integer"}}},
	{method: "GET", path: "/api/v1/runs/{run}/node", about: "The details of a node: why it ran or did not, its attempts, and the verdicts of its gates.", answer: view.StoryDoc{}, do: (*Server).node, query: []param{
		{"path", "The path of the node, such as build/api[3]." + aboutPath, "string"}}},
	{method: "GET", path: "/api/v1/runs/{run}/graph", about: "The workflow of a run as it was when the run began, with the states of its nodes.", answer: graph.Graph{}, do: (*Server).graph},
	{method: "GET", path: "/api/v1/runs/{run}/definition", about: "The files that a run was started with.", answer: Definition{}, do: (*Server).definition},
	{method: "GET", path: "/api/v1/runs/{run}/compare", about: "What a run differs in from another one: its definition, its inputs, and its nodes by status, duration, attempts, output, error and definition.", answer: view.Comparison{}, do: (*Server).compare, query: []param{
		{"with", "The other run, which counts as the older one.", "string"}, {"all", "Also nodes that do not differ.", "boolean"}}},
	{method: "GET", path: "/api/v1/runs/{run}/definition/changes", about: "How the file that a run began with differs today from the definition of the run: its text, and the nodes that are added, removed or changed.", answer: DefinitionChanges{}, do: (*Server).changes},
	{method: "GET", path: "/api/v1/runs/{run}/timeline", about: "When the nodes of a run were at work and when they waited, and the chain of nodes that decided how long the run took.", answer: view.TimelineDoc{}, do: (*Server).timeline, query: []param{
		{"from", "The begin of the part that is wanted, in milliseconds after the begin of the run.", "integer"}, {"to", "The end of the part, likewise; the end of the run if it is left out.", "integer"},
		{"limit", "How many rows; 300 if it is left out, 100000 at most. Critical nodes come first, then those that failed, then the longest ones.", "integer"}}},
	{method: "POST", path: "/api/v1/runs/{run}/cancel", about: "Asks for the end of a run. A second request ends it at once.", body: Cancel{}, answer: Done{}, do: (*Server).cancel},
	{method: "POST", path: "/api/v1/runs/{run}/node/cancel", about: "Asks for the end of one node of a run, and of all nodes below it; the run continues.", body: CancelNode{}, answer: NodeCancelled{}, do: (*Server).cancelNode},
	{method: "POST", path: "/api/v1/runs/{run}/resume", about: "Lets the daemon drive a run that no process drives, at once. The daemon also tries it each minute by itself.", body: Nothing{}, answer: Done{}, do: (*Server).resume},
	{method: "POST", path: "/api/v1/runs/{run}/decide", about: "Answers a node that waits for a person.", body: Decide{}, answer: Decided{}, do: (*Server).decide},
	{method: "POST", path: "/api/v1/runs/{run}/retry", about: "Starts a run that repeats a run which has ended: what did not succeed runs again, and the rest is reused. The daemon drives it.", body: Retry{}, answer: Started{}, do: (*Server).retry},
	{method: "GET", path: "/api/v1/runs/{run}/logs", about: "The attempts of a run, with the sizes of what they wrote.", answer: Logs{}, do: (*Server).logs, query: []param{
		{"node", "Only attempts of this node, and of the nodes in it." + aboutPath, "string"}, {"attempt", "Only the attempt with this id.", "string"}}},
	{method: "GET", path: "/api/v1/runs/{run}/logs/follow", about: "What the attempts of a run write, as server-sent events, until the run has ended: lines, attempt (one has ended), called, warning, end. It begins with the first attempt.", document: "text/event-stream", stream: (*Server).followLogs, query: []param{
		{"node", "Only attempts of this node, and of the nodes in it." + aboutPath, "string"}}},
	{method: "GET", path: "/api/v1/runs/{run}/logs/{attempt}/{stream}", about: "What an attempt wrote: the stream is stdout or stderr. Of an attempt that runs it is what the attempt has written so far.", document: "text/plain", parts: true, stream: (*Server).log, header: []param{
		{"Range", "The part that is wanted, such as bytes=1000-.", "string"}}},
	{method: "GET", path: "/api/v1/inbox", about: "Requests that wait for people, the oldest first.", answer: Inbox{}, do: asking(event.StoreRequest{Asks: true})},
	{method: "GET", path: "/api/v1/inbox/form", about: "The inputs that an approval asks for.", answer: Form{}, do: (*Server).form, query: []param{
		{"run", "The run.", "string"}, {"node", "The path of the node that waits." + aboutPath, "string"}}},
	{method: "GET", path: "/api/v1/events", about: "The events of the last 7 days, the oldest first.", answer: Events{}, do: asking(event.StoreRequest{Events: true})},
	{method: "POST", path: "/api/v1/events", about: "Publishes an event.", body: Emit{}, answer: Emitted{}, do: (*Server).emit},
	{method: "POST", onDisk: true, path: "/webhooks/{name}", about: "A delivery to the webhook of a block  on \"webhook.NAME\". Its signature is checked in place of a token. The event is durable before the answer. A delivery that comes again is answered as the first, and starts nothing.", raw: true, open: true, answer: Delivered{}, do: (*Server).deliver},
	{method: "GET", path: "/api/v1/dead-letters", about: "Work that was given up, the oldest first.", answer: DeadLetters{}, do: asking(event.StoreRequest{Dead: &event.DeadRequest{}})},
	{method: "POST", path: "/api/v1/dead-letters/{id}/redrive", about: "Tries a dead letter again: a failed run is repeated, a message is sent, an item can be taken again, and an event or the moments of a routine start their runs. The daemon drives the runs. A letter whose work succeeds is closed.", body: Redrive{}, answer: Redriven{}, do: (*Server).redrive},
	{method: "POST", path: "/api/v1/dead-letters/{id}/drop", about: "Removes a dead letter. It removes no run and sends no message.", body: Nothing{}, answer: Done{}, do: change("dead_letter.drop", "id", (*Server).knowLetter, dropLetter)},
	{method: "GET", path: "/api/v1/programs", about: "The registered programs, and what starts their runs.", answer: Programs{}, do: (*Server).programs},
	{method: "GET", path: "/api/v1/dispatch", about: "The open work that was handed in, the first to do first, with the work that it needs.", answer: WorkList{}, do: (*Server).listWork, query: []param{
		{"all", "Also closed and cancelled work.", "boolean"}, {"tickets", "The tickets of the store's own backlog instead.", "boolean"}}},
	{method: "POST", path: "/api/v1/dispatch", about: "Hands in work for loops.", body: Work{}, answer: Added{}, do: change("dispatch", "", nil, addWork)},
	{method: "GET", path: "/api/v1/dispatch/{id}", about: "Work that was handed in.", answer: WorkItem{}, do: (*Server).showWork},
	{method: "POST", path: "/api/v1/dispatch/{id}/cancel", about: "Takes work back.", body: Nothing{}, answer: Cancelled{}, do: change("dispatch.cancel", "id", (*Server).knowWork, cancelWork)},
	{method: "GET", path: "/api/v1/routines", about: "The registered routines by name.", answer: Routines{}, do: (*Server).routines, query: []param{
		{"next", "How many of the next moments of each; 0 if it is left out, 100 at most.", "integer"}}},
	{method: "POST", path: "/api/v1/routines/{routine}/pause", about: "Pauses a routine: it starts no runs.", body: Nothing{}, answer: RoutineChange{}, do: change("routine.pause", "routine", (*Server).knowRoutine, changeRoutine(event.RoutinePause))},
	{method: "POST", path: "/api/v1/routines/{routine}/resume", about: "Resumes a paused routine.", body: Nothing{}, answer: RoutineChange{}, do: change("routine.resume", "routine", (*Server).knowRoutine, changeRoutine(event.RoutineResume))},
	{method: "POST", path: "/api/v1/routines/{routine}/run", about: "Starts a run of a routine now, which the daemon drives.", body: Nothing{}, answer: Started{}, do: change("routine.run", "routine", (*Server).knowRoutine, runRoutine)},
	{method: "GET", path: "/api/v1/loops", about: "The loops of registered programs, and those that have items, by name.", answer: Loops{}, do: (*Server).loops},
	{method: "GET", path: "/api/v1/loops/{loop}", about: "State of a loop.", answer: LoopStatus{}, do: (*Server).loop},
	{method: "GET", path: "/api/v1/loops/{loop}/items", about: "The items that the agents of a loop have.", answer: LoopItems{}, do: (*Server).loopItems, query: []param{
		{"all", "Also items without an agent.", "boolean"}}},
	{method: "POST", path: "/api/v1/loops/{loop}/pause", about: "Lets a loop, or one of its agents, take nothing for a while.", body: LoopPause{}, answer: LoopControl{}, do: change("loop.pause", "loop", (*Server).knowLoop, pauseLoop)},
	{method: "POST", path: "/api/v1/loops/{loop}/resume", about: "Ends pauses and a stop of a loop.", body: LoopChange{}, answer: LoopControl{}, do: change("loop.resume", "loop", (*Server).knowLoop, resumeLoop)},
	{method: "POST", path: "/api/v1/loops/{loop}/stop", about: "Lets a loop take nothing more, and end when the runs of its items have ended.", body: LoopChange{}, answer: LoopControl{}, do: change("loop.stop", "loop", (*Server).knowLoop, stopLoop)},
	{method: "GET", path: "/api/v1/stats", about: "The number of tasks in a period, with success rate, times and cost.", answer: Stats{}, do: (*Server).stats, query: []param{
		{"since", "The age at which the span begins, such as 7d; 24h if it is left out.", "string"}, {"by", "Figures for each workflow, agent, pattern or version.", "string"},
		{"daily", "Also the figures of each day, in the server's time zone.", "boolean"},
		{"forecasts", "Also how long runs were expected to take when they began, against how long they took.", "boolean"}}},
	{method: "GET", path: "/api/v1/limits", about: "The agents and quotas that runs share, and what waits for them.", answer: Limits{}, do: (*Server).limits},
	{method: "POST", path: "/api/v1/limits/{name}/reset", about: "Closes the circuit breaker of an agent or a quota, and ends a wait that a server asked for.", body: Nothing{}, answer: LimitChanged{}, do: change("limit.reset", "name", nil, changeLimit(func(name string) event.LimitChange { return event.LimitChange{Reset: name} }))},
	{method: "POST", path: "/api/v1/agents/{name}/stop", about: "Keeps new attempts of an agent from starting, in all runs of the store.", body: Nothing{}, answer: LimitChanged{}, do: change("agent.stop", "name", nil, changeLimit(func(name string) event.LimitChange { return event.LimitChange{Stop: name} }))},
	{method: "POST", path: "/api/v1/agents/{name}/start", about: "Lets the attempts of a stopped agent start again.", body: Nothing{}, answer: LimitChanged{}, do: change("agent.start", "name", nil, changeLimit(func(name string) event.LimitChange { return event.LimitChange{Start: name} }))},
	{method: "GET", path: "/api/v1/memory", about: "The memories that runs of the store use: that of the store, and those that programs keep in folders of their own.", answer: Memories{}, do: (*Server).listMemories},
	{method: "GET", path: "/api/v1/memory/entries", about: "The entries of the store's memory, the newest first.", answer: MemoryEntries{}, do: (*Server).memoryEntries, query: append([]param{
		{"limit", "How many; 100 if it is left out, 10000 at most.", "integer"}, {"offset", "How many to pass over.", "integer"},
		{"run", "Only entries that this run wrote or learned again.", "string"}, {"author", "Only entries of this author: agent:NAME, user:NAME or flowrun.", "string"}}, whichEntries...)},
	{method: "GET", path: "/api/v1/memory/search", about: "The entries that answer a query, best first, with the parts of their scores.", answer: MemoryFound{}, do: (*Server).searchMemory, query: append([]param{
		{"query", "The words.", "string"}, {"k", "How many at most; 10 if it is left out, 1000 at most.", "integer"}}, whichEntries...)},
	{method: "GET", path: "/api/v1/memory/entry", about: "An entry with its history.", answer: MemoryStory{}, do: (*Server).memoryEntry, query: []param{
		{"id", "The id of the entry.", "string"}, whichMemory}},
	{method: "POST", onDisk: true, path: "/api/v1/memory/pin", about: "Keeps entries in short-term memory at any age.", body: MemoryChange{}, answer: MemoryChanged{}, query: []param{whichMemory}, do: changeEntries("memory.pin", (*memory.Memory).Pin)},
	{method: "POST", onDisk: true, path: "/api/v1/memory/unpin", about: "Ends the pin of entries.", body: MemoryChange{}, answer: MemoryChanged{}, query: []param{whichMemory}, do: changeEntries("memory.unpin", (*memory.Memory).Unpin)},
	{method: "POST", onDisk: true, path: "/api/v1/memory/forget", about: "Hides entries permanently.", body: MemoryChange{}, answer: MemoryChanged{}, query: []param{whichMemory}, do: changeEntries("memory.forget", (*memory.Memory).Forget)},
	{method: "POST", onDisk: true, path: "/api/v1/memory/revert", about: "Removes entries as if they had never been written, and restores the entries that they superseded.", body: MemoryRevert{}, answer: MemoryChanged{}, query: []param{whichMemory}, do: changeMemory("memory.revert", func(c *MemoryRevert) ([]string, string) { return c.IDs, c.By }, revertEntries)},
	{method: "POST", onDisk: true, path: "/api/v1/memory/supersede", about: "Writes a new entry in place of others. The others are hidden, and never removed.", body: MemorySupersede{}, answer: MemoryChanged{}, query: []param{whichMemory}, do: changeMemory("memory.supersede", func(c *MemorySupersede) ([]string, string) { return c.IDs, c.By }, supersedeEntries)},
	{method: "POST", path: "/api/v1/login", about: "Gives a one-time link with which a browser logs in. It is open for 2 minutes.", body: Nothing{}, answer: Login{}, do: (*Server).login},
	{method: "GET", path: "/api/v1/heap", about: "A profile of the memory of the daemon, as go tool pprof reads it.", document: "application/octet-stream", stream: (*Server).heap},
	{method: "GET", path: "/api/v1/audit", about: "The changes over this API, the newest first.", answer: Audits{}, do: asking(event.StoreRequest{Audits: true})},
}

// whichMemory is the parameter of requests about the memory.
var whichMemory = param{"memory", "The id of the memory, as the list of memories has it; that of the store if it is left out.", "string"}

// whichEntries are the parameters of requests about many entries of the memory.
var whichEntries = []param{{"agent", "Only entries that this agent sees: its own and shared ones.", "string"}, {"type", "Only entries of this kind, such as insight.", "string"},
	{"tag", "Only entries with this tag.", "string"}, {"since", "Only entries of this age at most, such as 30d.", "string"}, {"all", "Also superseded and archived entries.", "boolean"}, whichMemory}

//go:embed openapi.json
var description []byte

func (s *Server) description(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(description)
	return err
}

// Server answers over HTTP for a daemon.
type Server struct {
	daemon *Daemon
	guard  guard
	views  views
	http   *http.Server
	at     string
	over   chan struct{}
	hooks  *hooks
	pages  Pages // nil: the server has none
	folds  folds
	looks  looks
	codes  codes
	memory openMemories
	causes sync.Map     // kinds of causes, by [begunRun]
	known  atomic.Int64 // how many of them
}

// ServerOptions say how the server answers.
type ServerOptions struct {
	// Token is what requests must carry; "": none.
	Token string
	// Hosts are names under which the server is known besides its address, as HOST:PORT.
	Hosts []string
	// Pages makes the pages for people; nil: there are none.
	Pages func(*Server) Pages
}

// Listen begins to answer on an address, until [Daemon.Close], and returns the address of the server.
func (d *Daemon) Listen(address string, o ServerOptions) (at string, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	s := &Server{daemon: d, guard: guard{token: o.Token, hosts: hostsOf(l.Addr(), o.Hosts)}, at: "http://" + l.Addr().String(), over: make(chan struct{}), hooks: newHooks()}
	if o.Pages != nil {
		s.pages = o.Pages(s)
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	go func() {
		defer close(s.over)
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			d.options.Say("the server has ended: " + err.Error())
		}
	}()
	d.server = s
	return s.at, nil
}

// Reader returns a server that answers [Server.Get] from a store that no daemon serves, and nobody over the network.
func Reader(s *standalone.Store) *Server {
	return &Server{daemon: New(Options{Store: s}), hooks: newHooks()}
}

// Close ends the server, if there is one. Streams end, and requests that are answered now have a second.
func (d *Daemon) Close() {
	s := d.server
	if s == nil {
		return
	}
	if s.pages != nil {
		s.pages.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.over
	if err := s.memory.close(); err != nil {
		d.options.Say("closing the memory: " + err.Error())
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	to, allowed := find(r)
	if to == nil && allowed == nil && s.pages != nil && isPage(r.URL.Path) {
		s.servePage(w, r)
		return
	}
	if no := s.guard.check(r, to != nil && to.open); no != nil {
		answerError(w, no)
		return
	}
	if to == nil {
		no := &refusal{http.StatusNotFound, "path", "there is nothing at this path"}
		if len(allowed) > 0 {
			h.Set("Allow", strings.Join(allowed, ", "))
			no = &refusal{http.StatusMethodNotAllowed, "method", "this path takes " + strings.Join(allowed, ", ")}
		}
		answerError(w, no)
		return
	}
	if no := s.onlyOnDisk(to); no != nil {
		answerError(w, no)
		return
	}
	if to.raw {
		r.Body = http.MaxBytesReader(w, r.Body, webhook.MaxBody)
	} else if to.body != nil {
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != "application/json" {
			answerError(w, &refusal{http.StatusUnsupportedMediaType, "content_type", "the body must be JSON:  Content-Type: application/json"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	} else if r.ContentLength != 0 {
		answerError(w, &refusal{http.StatusBadRequest, "body", "this request takes no body"})
		return
	}
	if to.stream != nil {
		if err := to.stream(s, w, r); err != nil {
			answerError(w, asRefusal(err))
		}
		return
	}
	var v any
	var text []byte
	var err error
	if to.encode != nil {
		text, err = to.encode(s, r)
	} else {
		v, err = to.do(s, r)
	}
	if err != nil {
		answerError(w, asRefusal(err))
		return
	}
	h.Set("Content-Type", "application/json")
	if to.encode != nil {
		_, _ = w.Write(append(text, '\n'))
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

// onlyOnDisk refuses a change of what a store on this machine has where a Temporal server keeps the runs.
func (s *Server) onlyOnDisk(to *route) *refusal {
	if !to.onDisk || s.daemon.store.Address() == "" {
		return nil
	}
	return &refusal{http.StatusConflict, "engine", "webhooks and the memory are for a store on this machine, and a Temporal server keeps these runs"}
}

// find returns the route of a request, with the values of its path; nil if there is none, with the methods that its path takes.
func find(r *http.Request) (to *route, allowed []string) {
	for i := range routes {
		if !match(routes[i].path, r) {
			continue
		}
		if routes[i].method == r.Method {
			return &routes[i], nil
		}
		allowed = append(allowed, routes[i].method)
	}
	return nil, allowed
}

func match(pattern string, r *http.Request) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(r.URL.Path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if name, is := strings.CutPrefix(want[i], "{"); is && have[i] != "" {
			r.SetPathValue(strings.TrimSuffix(name, "}"), have[i])
		} else if want[i] != have[i] {
			return false
		}
	}
	return true
}

func answerError(w http.ResponseWriter, no *refusal) {
	var e Error
	e.Error.Code, e.Error.Message = no.code, no.text
	if no.code == "token" {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(e)
}

// asRefusal is the answer for an error.
func asRefusal(err error) *refusal {
	var no *refusal
	var large *http.MaxBytesError
	var many *engine.Ambiguous
	var refused *shared.Refusal
	var again *retry.Refusal
	var secrets *runner.NoSecrets
	switch {
	case errors.As(err, &no):
		return no
	case errors.As(err, &large):
		return &refusal{http.StatusRequestEntityTooLarge, "size", fmt.Sprintf("the body has more than %d bytes", MaxBody)}
	case errors.Is(err, engine.ErrNoRun):
		return &refusal{http.StatusNotFound, "run", err.Error()}
	case errors.As(err, &many):
		return &refusal{http.StatusConflict, "run", many.Error()}
	case errors.As(err, &refused):
		return &refusal{http.StatusUnprocessableEntity, "refused", refused.Message}
	case errors.As(err, &again):
		return &refusal{http.StatusUnprocessableEntity, "refused", again.Message}
	case errors.As(err, &secrets):
		return &refusal{http.StatusConflict, "secrets", err.Error()}
	case errors.Is(err, engine.ErrEnded):
		return &refusal{http.StatusConflict, "ended", err.Error()}
	}
	return &refusal{http.StatusInternalServerError, "store", err.Error()}
}

func (r *refusal) Error() string { return r.text }

// readBody reads the body of a request. Members that it does not know are refused.
func readBody(r *http.Request, to any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one value")
		}
	}
	var large *http.MaxBytesError
	if err != nil && !errors.As(err, &large) {
		return &refusal{http.StatusBadRequest, "body", fmt.Sprintf("the body cannot be read: %v", err)}
	}
	return err
}

// asking answers with what the store says to a request that changes nothing.
func asking(q event.StoreRequest) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		v, err := s.daemon.store.Ask(r.Context(), q)
		list, _ := v.([]any)
		return List{append([]value.Value{}, list...)}, err
	}
}

// audit records a change before it is made.
func (s *Server) audit(r *http.Request, what, target string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	who := "token"
	if _, is := r.Context().Value(byPage{}).(string); is {
		who = "page"
	} else if s.guard.token == "" {
		who = "anybody"
	}
	_, err = s.daemon.store.Ask(r.Context(), event.StoreRequest{Audit: &event.AuditRequest{By: who, From: address(r), What: what, Target: target, Data: clip(string(data), 4<<10)}})
	return err
}

func clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

func (s *Server) ready(*http.Request) (any, error) {
	if !s.daemon.Ready() {
		return nil, &refusal{http.StatusServiceUnavailable, "ready", "the daemon does not drive runs now"}
	}
	return Done{true}, nil
}

func (s *Server) runs(r *http.Request) (any, error) {
	limit, err := readNumber(r, "limit", 100, 1, 10_000)
	if err != nil {
		return nil, err
	}
	workflow, status := r.URL.Query().Get("workflow"), r.URL.Query().Get("status")
	var since event.Time
	if text := r.URL.Query().Get("since"); text != "" {
		span, err := value.ParseDuration(text)
		if err != nil || span <= 0 {
			return nil, &refusal{http.StatusBadRequest, "query", "since is an age such as 24h or 7d"}
		}
		since = event.At(time.Now().Add(-time.Duration(span)))
	}
	cause := event.CauseKind(r.URL.Query().Get("cause"))
	if cause != "" && !slices.Contains(event.CauseKinds, cause) {
		return nil, &refusal{http.StatusBadRequest, "query", "cause is manual, call, event, routine, loop or retry"}
	}
	most := limit
	if workflow != "" || status != "" || cause != "" {
		most = 0
	}
	all, err := s.daemon.store.List(r.Context(), most)
	if err != nil {
		return nil, err
	}
	list := Runs{Runs: []Run{}}
	for i := range all {
		if x := &all[i]; len(list.Runs) < limit && (workflow == "" || x.Workflow == workflow) && (status == "" || string(x.Status) == status) && x.Created >= since &&
			(cause == "" || s.causeKind(r.Context(), x) == cause) {
			list.Runs = append(list.Runs, Run{Run: x.Run, Workflow: x.Workflow, Status: x.Status, Created: view.Moment(x.Created), Ended: view.Moment(x.Ended),
				Driven: x.Driver != 0, Parent: x.Parent, ParentNode: x.ParentNode, RetryOf: x.RetryOf})
		}
	}
	return list, nil
}

// begunRun is a run as it began: one that was removed may have been started anew with the same id.
type begunRun struct {
	run     string
	created event.Time
}

// maxCauses bounds what the server remembers of causes: some 100 bytes a run.
const maxCauses = 100_000

// causeKind returns what started a run, which never changes; "" if its journal cannot be read.
func (s *Server) causeKind(ctx context.Context, info *engine.Info) event.CauseKind {
	key := begunRun{info.Run, info.Created}
	if kind, known := s.causes.Load(key); known {
		return kind.(event.CauseKind)
	}
	kind, err := s.daemon.store.CauseKind(ctx, info.Run)
	if err != nil {
		return ""
	}
	if s.known.Add(1) > maxCauses {
		s.causes.Clear()
		s.known.Store(1)
	}
	s.causes.Store(key, kind)
	return kind
}

// info finds the run of a path.
func (s *Server) info(r *http.Request) (engine.Info, error) {
	run := r.PathValue("run")
	if engine.CheckID(run) != nil {
		return engine.Info{}, &refusal{http.StatusNotFound, "run", fmt.Sprintf("there is no run %.80q", run)}
	}
	return s.daemon.store.Get(r.Context(), run)
}

func (s *Server) run(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	return s.readRun(r.Context(), info)
}

func (s *Server) encodedRun(r *http.Request) ([]byte, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	return s.encodeRun(r.Context(), info)
}

func (s *Server) cancel(r *http.Request) (any, error) {
	var c Cancel
	info, err := s.info(r)
	if err == nil {
		err = readBody(r, &c)
	}
	if err == nil && c.Reason == "" {
		c.Reason = "over the API"
	}
	if err == nil {
		err = s.audit(r, "cancel", info.Run, c)
	}
	if err == nil {
		err = s.daemon.store.Cancel(r.Context(), info.Run, c.Reason)
	}
	return Done{err == nil}, err
}

func (s *Server) cancelNode(r *http.Request) (any, error) {
	var c CancelNode
	info, err := s.info(r)
	if err == nil {
		err = readBody(r, &c)
	}
	if err == nil && c.Node == "" {
		err = &refusal{http.StatusBadRequest, "body", "node is needed"}
	}
	if err == nil {
		err = s.audit(r, "cancel.node", info.Run+" "+c.Node, c)
	}
	if err != nil {
		return nil, err
	}
	path, err := s.daemon.store.CancelNode(r.Context(), info.Run, c.Node, event.NodeCancel{By: c.By, Reason: c.Reason})
	var no *runner.NodeProblem
	switch {
	case errors.As(err, &no) && no.Status != "":
		err = &refusal{http.StatusConflict, "ended", no.Message}
	case errors.As(err, &no) && no.Unknown == "" && no.Names != nil:
		err = &refusal{http.StatusConflict, "node", no.Message + ": " + strings.Join(no.Names, ", ")}
	case errors.As(err, &no):
		err = &refusal{http.StatusNotFound, "node", no.Message}
	}
	return NodeCancelled{path}, err
}

func (s *Server) emit(r *http.Request) (any, error) {
	var e Emit
	if err := readBody(r, &e); err != nil {
		return nil, err
	}
	q := &event.EmitRequest{Name: e.Event, Key: e.Key, Run: e.Run}
	if e.Data != nil {
		var err error
		if q.Data, err = value.Decode(e.Data); err != nil {
			return nil, &refusal{http.StatusBadRequest, "body", "data: " + err.Error()}
		}
	}
	if err := s.audit(r, "emit", e.Event, e); err != nil {
		return nil, err
	}
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Emit: q})
	if err != nil {
		return nil, err
	}
	o, _ := v.(map[string]any)
	id, _ := o["id"].(string)
	return Emitted{id, o["duplicate"] == true}, nil
}

func (s *Server) decide(r *http.Request) (any, error) {
	var d Decide
	info, err := s.info(r)
	if err == nil {
		err = readBody(r, &d)
	}
	if err != nil {
		return nil, err
	}
	if d.By == "" || d.Node == "" || d.Word == "" {
		return nil, &refusal{http.StatusBadRequest, "body", "node, word and by are needed"}
	}
	x := event.Decision{Word: event.Word(d.Word), By: d.By, Comment: d.Comment, Shown: d.Shown}
	if d.Output != nil {
		if x.Output, err = value.Decode(d.Output); err != nil {
			return nil, &refusal{http.StatusBadRequest, "body", "output: " + err.Error()}
		}
	}
	if err := s.audit(r, "decide", info.Run+" "+d.Node, d); err != nil {
		return nil, err
	}
	q := &event.DecideRequest{Run: info.Run, Node: d.Node, Decision: x}
	if err := s.readInputs(r.Context(), q, d.Inputs); err != nil {
		return nil, err
	}
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Decide: q})
	if err != nil {
		return nil, err
	}
	out, err := shared.ReadVerdict(v)
	if err != nil {
		return nil, err
	}
	if out.Outcome != shared.Recorded {
		return nil, &refusal{http.StatusConflict, string(out.Outcome), out.Message}
	}
	return Decided{string(out.Outcome), out.Message, out.Node}, nil
}

func (s *Server) programs(r *http.Request) (any, error) {
	list, err := s.daemon.store.Registered(r.Context())
	if list == nil {
		list = []runner.Registered{}
	}
	return Programs{list}, err
}
