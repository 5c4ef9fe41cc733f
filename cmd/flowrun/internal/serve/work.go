package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/loop/schedule"
	"github.com/flowrun/flowrun/loop/worktree"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
	"github.com/flowrun/flowrun/runner/standalone"
)

// Work describes work that is handed in for loops.
type Work struct {
	Title        string   `json:"title"`
	Body         string   `json:"body,omitempty"`
	To           string   `json:"to,omitempty"` // the agent that is to do it; "": any
	Labels       []string `json:"labels,omitempty"`
	Needs        []string `json:"needs,omitempty"` // the ids of work that must be done before
	Capabilities []string `json:"capabilities,omitempty"`
	Priority     int      `json:"priority,omitempty"`
	ID           string   `json:"id,omitempty"`  // "": the store gives one
	Key          string   `json:"key,omitempty"` // of two pieces of work with the same key, the second one is not added
	By           string   `json:"by,omitempty"`  // who hands it in
}

// Added is work that was handed in.
type Added struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// WorkItem is work in a queue. The store's answer may have more members.
type WorkItem struct {
	ID           string         `json:"id"`
	Title        string         `json:"title"`
	State        string         `json:"state"`
	Body         string         `json:"body,omitempty"`
	Labels       []string       `json:"labels,omitempty"`
	Needs        []string       `json:"needs,omitempty"`
	Capabilities []string       `json:"capabilities,omitempty"`
	Priority     int            `json:"priority,omitempty"`
	Assignee     string         `json:"assignee,omitempty"`
	Agents       []string       `json:"agents,omitempty"` // the members of the pool that may take it
	By           string         `json:"by,omitempty"`
	CreatedAt    string         `json:"created_at,omitempty"`
	Closed       bool           `json:"closed,omitempty"`
	Claim        *Claim         `json:"claim,omitempty"`
	Handoff      map[string]any `json:"handoff,omitempty"`
}

// Claim says who has an item.
type Claim struct {
	Item     string `json:"item"`
	State    string `json:"state"`
	Token    uint64 `json:"token"`
	Loop     string `json:"loop,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Run      string `json:"run,omitempty"`
	Title    string `json:"title,omitempty"`
	Failures int    `json:"failures"`
	Lost     int    `json:"lost"`
	Until    string `json:"until,omitempty"`
	Since    string `json:"since,omitempty"`
	Parked   string `json:"parked,omitempty"`
}

// WorkList is a queue of work, the first to do first. Left is how many were left out.
type WorkList struct {
	Items []WorkItem `json:"items"`
	Left  int        `json:"left"`
}

// Cancelled says whether work was taken back, and how it stood before.
type Cancelled struct {
	Cancelled bool   `json:"cancelled"`
	State     string `json:"state"`
}

// Nothing is the body of a request that has nothing to say.
type Nothing struct{}

// Routine is a registered routine. A member that does not apply is null.
type Routine struct {
	Name     string   `json:"name"`
	Workflow string   `json:"workflow"`
	Program  string   `json:"program"`
	Cron     *string  `json:"cron"`
	Every    *string  `json:"every"`
	Timezone string   `json:"timezone"`
	Paused   bool     `json:"paused"`
	Next     *string  `json:"next"`
	Moments  []string `json:"moments"` // the next ones, as many as somebody asked for
	Waiting  int      `json:"waiting"`
	Started  int      `json:"started"`
	Missed   int      `json:"missed"`
	Last     any      `json:"last"`
}

// Routines are the registered routines, in the order of their names.
type Routines struct {
	Routines []Routine `json:"routines"`
}

// RoutineChange says whether a routine was changed.
type RoutineChange struct {
	Changed bool `json:"changed"`
}

// Started is a run that was started.
type Started struct {
	Run string `json:"run"`
}

// Loops are the loops of the store by name.
type Loops struct {
	Loops []LoopStatus `json:"loops"`
}

// LoopStatus is how a loop stands.
type LoopStatus struct {
	Loop      string         `json:"loop"`
	Program   string         `json:"program,omitempty"` // that is registered with it
	Run       string         `json:"run,omitempty"`
	Status    string         `json:"status"` // running, interrupted, or how its newest run ended; none
	Driver    int            `json:"driver,omitempty"`
	Started   string         `json:"started,omitempty"`
	Control   value.Value    `json:"control"`
	Items     []value.Value  `json:"items"`
	Queue     int            `json:"queue"`
	Worktrees []LoopWorktree `json:"worktrees,omitempty"`
	Targets   []LoopTarget   `json:"targets,omitempty"` // the figures of the last 24 hours of a loop that has a target
	Ladder    *LoopLadder    `json:"ladder,omitempty"`  // only where one loop was asked for whose run has not ended
}

// LoopLadder is what the agents of a loop have and would take next, by what its sources have listed last.
type LoopLadder struct {
	At       string       `json:"at"`                 // the moment of the last event of the loop's run
	Draining string       `json:"draining,omitempty"` // why the loop takes nothing more
	Agents   []LoopAgent  `json:"agents"`
	Choices  []LoopChoice `json:"choices"` // what the agents with a free place take now
	Later    []LoopChoice `json:"later"`   // what each agent without a free place would take if a place became free
	Items    []LoopLeft   `json:"items"`   // that nobody takes now
	Sources  []LoopBarred `json:"sources"` // of which nothing is taken now
}

// LoopAgent is how an agent of a loop stands.
type LoopAgent struct {
	Agent string   `json:"agent"`
	Free  int      `json:"free"`          // how many items it can take now
	Why   string   `json:"why,omitempty"` // why it takes nothing now
	Items []string `json:"items"`         // that it has
}

// LoopChoice is an item that an agent takes.
type LoopChoice struct {
	Agent  string `json:"agent"`
	Source string `json:"source"`
	ID     string `json:"id"`
	Title  string `json:"title"`
}

// LoopLeft is an item that no agent takes, and why.
type LoopLeft struct {
	Source string   `json:"source"`
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Why    []string `json:"why"`
}

// LoopBarred is a source of which nothing is taken, and why.
type LoopBarred struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// ReadBoard gives what the agents of a loop take now, and the items that nobody takes. The board then has the items as taken.
func ReadBoard(b *loop.Board) (choices []LoopChoice, left []LoopLeft) {
	next, rest := b.Ladder()
	left = []LoopLeft{}
	for _, x := range rest {
		it := &b.Sources[x.Source].Items[x.Item]
		left = append(left, LoopLeft{b.Sources[x.Source].Name, it.ID, it.Title, x.Why})
	}
	return loopChoices(b, next), left
}

func loopChoices(b *loop.Board, list []loop.Choice) []LoopChoice {
	out := []LoopChoice{}
	for _, c := range list {
		it := &b.Sources[c.Source].Items[c.Item]
		out = append(out, LoopChoice{b.Agents[c.Agent].Name, b.Sources[c.Source].Name, it.ID, it.Title})
	}
	return out
}

// ladder gives how a loop stood at a moment. claims are those of the loop.
func ladder(st *machine.Standing, at event.Time, claims []event.Claim) *LoopLadder {
	b := st.Board
	l := &LoopLadder{At: at.String(), Draining: st.Draining, Agents: []LoopAgent{}, Later: []LoopChoice{}, Sources: []LoopBarred{}}
	for i := range b.Agents {
		a := &b.Agents[i]
		if st.Draining != "" {
			a.Free = 0
		}
		agent := LoopAgent{Agent: a.Name, Free: a.Free, Why: a.Barred, Items: []string{}}
		for c := range claims {
			if x := &claims[c]; hasItem(x) && x.Agent == a.Name {
				agent.Items = append(agent.Items, x.Item)
			}
		}
		l.Agents = append(l.Agents, agent)
	}
	if st.Draining == "" {
		l.Later = loopChoices(b, b.Later())
	}
	l.Choices, l.Items = ReadBoard(b)
	for i := range b.Sources {
		if s := &b.Sources[i]; s.Barred != "" {
			l.Sources = append(l.Sources, LoopBarred{s.Name, s.Barred})
		}
	}
	return l
}

// LoopWorktree is the git worktree of an item's run.
type LoopWorktree struct {
	Item   string  `json:"item"`
	Run    string  `json:"run"`
	Branch string  `json:"branch"`
	Root   string  `json:"root"`
	Kept   *string `json:"kept"` // why it stays though the run has ended; null: the run has not ended
}

// Words is the worktree as people read it.
func (w *LoopWorktree) Words() string {
	if w.Kept == nil {
		return fmt.Sprintf("%s  worktree %s, branch %s, for run %s", w.Item, w.Root, w.Branch, w.Run)
	}
	return fmt.Sprintf("%s  worktree %s stays, with branch %s: %s", w.Item, w.Root, w.Branch, *w.Kept)
}

// Worktrees lists the git worktrees of the runs of a loop; of all loops for "". store is the folder of the store.
func Worktrees(store, loop string) (out []LoopWorktree) {
	for _, s := range worktree.List(store) {
		if loop != "" && s.Loop != loop {
			continue
		}
		w := LoopWorktree{Item: s.Item, Run: s.Run, Branch: s.Branch, Root: s.Root}
		if s.Kept != "" {
			w.Kept = &s.Kept
		}
		out = append(out, w)
	}
	return out
}

// LookAgain says of worktrees that stay why they do so now, because their branches may be merged meanwhile. Git is asked about
// [worktree.MaxAgain] of them; for the others, and where git fails, the words of the last attempt to remove them stay.
func LookAgain(ctx context.Context, store string, trees []LoopWorktree) {
	states, asked := map[string]*worktree.State{}, 0
	for _, s := range worktree.List(store) {
		states[s.Run] = &s
	}
	for i := range trees {
		s := states[trees[i].Run]
		if s == nil || s.Kept == "" || asked == worktree.MaxAgain {
			continue
		}
		asked++
		if why, err := s.Stays(ctx); err == nil {
			trees[i].Kept = new(cmp.Or(why, "its branch is merged; the loop removes both when it takes its next item"))
		}
	}
}

// LoopTarget is a figure of a loop, and its target. A member that does not apply is null.
type LoopTarget struct {
	Name   string   `json:"name"`
	Is     *float64 `json:"is"` // mean_time in seconds, throughput in items an hour, the others from 0 to 1
	Wanted *float64 `json:"wanted"`
	Least  bool     `json:"least"`  // wanted is the least that is enough; else the most
	Missed bool     `json:"missed"` // the loop has said so
	Words  string   `json:"words"`  // all of that as people read it
}

// LoopItems are items that a loop has.
type LoopItems struct {
	Items []Claim `json:"items"`
}

// LoopPause pauses a loop, or one of its agents.
type LoopPause struct {
	Agent string `json:"agent,omitempty"` // "": all of them
	For   string `json:"for,omitempty"`   // such as 5m; "": until somebody resumes
	By    string `json:"by,omitempty"`
}

// LoopChange resumes or stops a loop. An agent is for resume alone.
type LoopChange struct {
	Agent string `json:"agent,omitempty"`
	By    string `json:"by,omitempty"`
}

// LoopControl is how people want a loop to behave.
type LoopControl struct {
	Loop    string             `json:"loop"`
	Stopped bool               `json:"stopped"`
	Paused  map[string]*string `json:"paused"` // until when, by agent, "" for all; null: until somebody resumes
	By      *string            `json:"by"`
}

// QueueOf is the queue of an id: the store gives the ids of tickets.
func QueueOf(id string) event.Queue {
	if strings.HasPrefix(id, "tk-") {
		return event.QueueTicket
	}
	return event.QueueDispatch
}

// raw is an answer of the store as it is.
func raw(v value.Value) json.RawMessage { return value.Append(nil, v) }

// readFlag reads a query of true or false.
func readFlag(r *http.Request, name string) (bool, error) {
	switch text := r.URL.Query().Get(name); text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, &refusal{http.StatusBadRequest, "query", name + " is true or false"}
}

// readNumber reads a whole number of a query; without one it is usual.
func readNumber(r *http.Request, name string, usual, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, &refusal{http.StatusBadRequest, "query", fmt.Sprintf("%s is a whole number from %d to %d", name, least, most)}
	}
	return n, nil
}

// byAPI is who changes something where the request does not say it.
const byAPI = "api"

// change reads the body of a request, looks whether there is what it wants to change, records it, and carries it out. name is the value of
// the path that says what is changed; "": there is none. know may be nil.
func change[B any](what, name string, know func(*Server, context.Context, string) error, do func(*Server, *http.Request, string, *B) (any, error)) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		body, target := new(B), r.PathValue(name)
		if err := readBody(r, body); err != nil {
			return nil, err
		}
		if know != nil {
			if err := know(s, r.Context(), target); err != nil {
				return nil, err
			}
		}
		if err := s.audit(r, what, target, body); err != nil {
			return nil, err
		}
		return do(s, r, target, body)
	}
}

func (s *Server) listWork(r *http.Request) (any, error) {
	all, err := readFlag(r, "all")
	if err != nil {
		return nil, err
	}
	tickets, err := readFlag(r, "tickets")
	if err != nil {
		return nil, err
	}
	q := &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: all}
	if tickets {
		q.Queue = event.QueueTicket
	}
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Dispatch: q})
	return raw(v), err
}

func (s *Server) showWork(r *http.Request) (any, error) {
	v, err := s.findWork(r.Context(), r.PathValue("id"))
	return raw(v), err
}

// findWork shows work; its error says where there is none.
func (s *Server) findWork(ctx context.Context, id string) (value.Value, error) {
	v, err := s.daemon.store.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchShow, Queue: QueueOf(id), ID: id}})
	var no *shared.Refusal
	if errors.As(err, &no) {
		err = &refusal{http.StatusNotFound, "work", no.Message}
	}
	return v, err
}

func (s *Server) knowWork(ctx context.Context, id string) error {
	_, err := s.findWork(ctx, id)
	return err
}

func addWork(s *Server, r *http.Request, _ string, w *Work) (any, error) {
	if w.By == "" {
		w.By = byAPI
	}
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Key: w.Key, By: w.By,
		Item: &event.Item{ID: w.ID, Title: w.Title, Body: w.Body, Labels: w.Labels, Needs: w.Needs, Capabilities: w.Capabilities, Priority: w.Priority, Assignee: w.To}}})
	return raw(v), err
}

func cancelWork(s *Server, r *http.Request, id string, _ *Nothing) (any, error) {
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchCancel, Queue: QueueOf(id), ID: id}})
	return raw(v), err
}

// ScheduleOf is when a registered routine is due.
func ScheduleOf(r *runner.Routine) (schedule.Schedule, *ir.Routine, error) {
	var spec ir.Routine
	if err := json.Unmarshal([]byte(r.Spec), &spec); err != nil {
		return schedule.Schedule{}, nil, fmt.Errorf("reading routine %s: %w", r.Name, err)
	}
	s, err := schedule.Of(spec.Cron, spec.Every, spec.Timezone)
	return s, &spec, err
}

// Moments are the next times of a schedule, at most so many, in RFC 3339 with the offset of its zone.
func Moments(s schedule.Schedule, after time.Time, most int) []string {
	moments := []string{}
	for len(moments) < most {
		next, ok := s.Next(after)
		if !ok {
			break
		}
		moments, after = append(moments, next.Format(time.RFC3339Nano)), next
	}
	return moments
}

// DescribeRoutine describes a registered routine, with its next moments, as many as are wanted.
func DescribeRoutine(r *runner.Routine, moments int) (Routine, error) {
	s, spec, err := ScheduleOf(r)
	if err != nil {
		return Routine{}, err
	}
	l := Routine{Name: r.Name, Workflow: r.Workflow, Program: r.Program, Timezone: s.Zone().String(), Paused: r.Paused, Moments: Moments(s, time.Now(), moments),
		Waiting: r.Waiting, Started: r.Started, Missed: r.Missed, Last: r.Last}
	if spec.Cron != "" {
		l.Cron = &spec.Cron
	}
	if spec.Every != 0 {
		text := spec.Every.String()
		l.Every = &text
	}
	if at, err := time.Parse(time.RFC3339, r.Next); err == nil {
		text := at.In(s.Zone()).Format(time.RFC3339Nano)
		l.Next = &text
	}
	if r.Last == nil {
		l.Last = nil
	}
	return l, nil
}

// maxMoments bounds the next times of a routine in a list.
const maxMoments = 100

func (s *Server) routines(r *http.Request) (any, error) {
	moments, err := readNumber(r, "next", 0, 0, maxMoments)
	if err != nil {
		return nil, err
	}
	list, err := s.daemon.store.Routines(r.Context())
	out := Routines{Routines: []Routine{}}
	for i := range list {
		d, no := DescribeRoutine(&list[i], moments)
		if no != nil {
			return nil, no
		}
		out.Routines = append(out.Routines, d)
	}
	return out, err
}

// knowRoutine refuses the name of a routine that is not registered.
func (s *Server) knowRoutine(ctx context.Context, name string) error {
	list, err := s.daemon.store.Routines(ctx)
	if err == nil && !slices.ContainsFunc(list, func(r runner.Routine) bool { return r.Name == name }) {
		return &refusal{http.StatusNotFound, "routine", fmt.Sprintf("there is no routine %.80q in this store", name)}
	}
	return err
}

// changeRoutine pauses a routine, or lets it go on.
func changeRoutine(operation event.RoutineOperation) func(*Server, *http.Request, string, *Nothing) (any, error) {
	return func(s *Server, r *http.Request, name string, _ *Nothing) (any, error) {
		v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Routine: &event.RoutineRequest{Operation: operation, Name: name}})
		o, _ := v.(map[string]any)
		return RoutineChange{o["changed"] == true}, err
	}
}

// runRoutine starts a run of a routine, which the daemon drives.
func runRoutine(s *Server, r *http.Request, name string, _ *Nothing) (any, error) {
	run, err := s.daemon.store.RunRoutine(r.Context(), name)
	if err != nil {
		return nil, err
	}
	s.daemon.drive(run)
	return Started{run}, nil
}

// knowLoop refuses the name of a loop that nobody knows.
func (s *Server) knowLoop(ctx context.Context, name string) error {
	list, err := s.daemon.store.Loops(ctx)
	if err == nil && !slices.ContainsFunc(list, func(l runner.Loop) bool { return l.Name == name }) {
		return &refusal{http.StatusNotFound, "loop", fmt.Sprintf("there is no loop %.80q in this store", name)}
	}
	return err
}

func (s *Server) loops(r *http.Request) (any, error) {
	list, err := ReadLoops(r.Context(), s.daemon.store)
	s.looks.again(r.Context(), s.daemon.store.Dir(), list)
	return Loops{list}, err
}

func (s *Server) loop(r *http.Request) (any, error) {
	name := r.PathValue("loop")
	if err := s.knowLoop(r.Context(), name); err != nil {
		return nil, err
	}
	l, err := ReadLoop(r.Context(), s.daemon.store, name)
	one := []LoopStatus{l}
	s.looks.again(r.Context(), s.daemon.store.Dir(), one)
	return one[0], err
}

func (s *Server) loopItems(r *http.Request) (any, error) {
	all, err := readFlag(r, "all")
	if err != nil {
		return nil, err
	}
	name := r.PathValue("loop")
	if err := s.knowLoop(r.Context(), name); err != nil {
		return nil, err
	}
	claims, err := claimsOf(r.Context(), s.daemon.store, name)
	items := []value.Value{}
	for i := range claims {
		if c := &claims[i]; all || hasItem(c) {
			items = append(items, c.Object())
		}
	}
	return List{items}, err
}

// changeLoop asks for another behaviour of a loop. A loop that runs hears of it at once.
func (s *Server) changeLoop(r *http.Request, q event.LoopRequest) (any, error) {
	if q.By == "" {
		q.By = byAPI
	}
	v, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Loop: &q})
	return raw(v), err
}

func pauseLoop(s *Server, r *http.Request, name string, p *LoopPause) (any, error) {
	q := event.LoopRequest{Operation: event.LoopPause, Loop: name, Agent: p.Agent, By: p.By}
	if p.For != "" {
		var err error
		if q.For, err = value.ParseDuration(p.For); err != nil || q.For <= 0 {
			return nil, &refusal{http.StatusBadRequest, "body", "for is a time such as 5m"}
		}
	}
	return s.changeLoop(r, q)
}

func resumeLoop(s *Server, r *http.Request, name string, c *LoopChange) (any, error) {
	return s.changeLoop(r, event.LoopRequest{Operation: event.LoopResume, Loop: name, Agent: c.Agent, By: c.By})
}

func stopLoop(s *Server, r *http.Request, name string, c *LoopChange) (any, error) {
	if c.Agent != "" {
		return nil, &refusal{http.StatusBadRequest, "body", "a stop is for the whole loop; pause an agent instead"}
	}
	return s.changeLoop(r, event.LoopRequest{Operation: event.LoopStop, Loop: name, By: c.By})
}

// hasItem reports whether somebody has the item of a claim.
func hasItem(c *event.Claim) bool { return c.State == event.ClaimHeld || c.State == event.ClaimParked }

// claimsOf lists the claims of the items of a loop; of all loops for "".
func claimsOf(ctx context.Context, s *standalone.Store, loop string) (out []event.Claim, err error) {
	v, err := s.Ask(ctx, event.StoreRequest{Claims: true})
	list, _ := v.([]any)
	for _, row := range list {
		c, no := event.ClaimOf(row)
		if no != nil {
			return nil, no
		}
		if loop == "" || c.Loop == loop {
			out = append(out, c)
		}
	}
	return out, err
}

// ReadLoops reads how all loops of a store stand.
func ReadLoops(ctx context.Context, s *standalone.Store) ([]LoopStatus, error) {
	list, err := s.Loops(ctx)
	out := make([]LoopStatus, len(list))
	for i := range list {
		if err == nil {
			out[i], err = readLoop(ctx, s, &list[i], false)
		}
	}
	return out, err
}

// ReadLoop reads how a loop stands, with its ladder. A loop that the store does not know has the status none.
func ReadLoop(ctx context.Context, s *standalone.Store, name string) (LoopStatus, error) {
	list, err := s.Loops(ctx)
	if err != nil {
		return LoopStatus{}, err
	}
	if at := slices.IndexFunc(list, func(l runner.Loop) bool { return l.Name == name }); at >= 0 {
		return readLoop(ctx, s, &list[at], true)
	}
	return readLoop(ctx, s, &runner.Loop{LoopKnown: event.LoopKnown{Name: name}}, true)
}

func readLoop(ctx context.Context, s *standalone.Store, known *runner.Loop, whole bool) (l LoopStatus, err error) {
	l = LoopStatus{Loop: known.Name, Program: known.Program, Status: "none", Items: []value.Value{}}
	if l.Control, err = s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: l.Loop}}); err != nil {
		return l, err
	}
	work, err := s.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}})
	if err != nil {
		return l, err
	}
	o, _ := work.(map[string]any)
	items, _ := o["items"].([]any)
	for _, i := range items {
		if row, _ := i.(map[string]any); row["closed"] != true && row["state"] == string(event.ClaimOpen) {
			l.Queue++
		}
	}
	l.Worktrees = Worktrees(s.Dir(), l.Loop)
	claims, err := claimsOf(ctx, s, l.Loop)
	if err != nil {
		return l, err
	}
	for i := range claims {
		if hasItem(&claims[i]) {
			l.Items = append(l.Items, claims[i].Object())
		}
	}
	if info := known.Run; info != nil {
		l.Run, l.Driver, l.Started, l.Status = info.Run, info.Driver, info.Created.String(), string(info.Status)
		switch {
		case info.Driver != 0:
			l.Status = "running"
		case info.Interrupted():
			l.Status = "interrupted"
		}
		look, err := s.LookAtLoop(ctx, known, event.At(time.Now()), whole)
		if err != nil {
			return l, err
		}
		if look.Standing != nil {
			l.Ladder = ladder(look.Standing, look.At, claims)
		}
		for _, f := range look.Figures {
			l.Targets = append(l.Targets, LoopTarget{f.Name, f.Is, f.Wanted, f.Least, f.Missed, f.Words()})
		}
	}
	return l, nil
}
