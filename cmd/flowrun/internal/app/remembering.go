package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/recall"
)

// remembering is the memory of the runs that this process drives. It is opened when the first attempt has to do with it, by what
// their program says; most programs never do. It is safe for concurrent use.
type remembering struct {
	say     func(string)
	settled func(context.Context) // waits until what has ended is learned
	store   string                // folder of the runs

	mu      sync.Mutex
	says    ir.Memory
	program string // folder of the program
	known   bool   // what the program says
	tried   bool
	memory  *memory.Memory
	err     error
	owed    owed
	refresh time.Duration

	telling sync.Mutex
	told    []string // what did not go well, for a person
}

// settle takes what the program says, before the first attempt.
func (r *remembering) settle(p *ir.Program, dir string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program, r.known = dir, true; p.Memory != nil {
		r.says = *p.Memory
	}
}

// maxTold bounds how many warnings are kept for the end.
const maxTold = 8

func (r *remembering) warn(text string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if len(r.told) < maxTold && !slices.Contains(r.told, text) {
		r.told = append(r.told, text)
	}
}

// open gives the memory, and opens it the first time. That the run owes it something is durable before, so that what it taught is
// learned later where there is no memory now.
func (r *remembering) open(run string) (*memory.Memory, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.owed.begin(run); err != nil {
		r.warn("what a crash leaves unlearned of run " + run + " will not be made up for: " + err.Error())
	}
	if !r.tried {
		r.tried = true
		r.memory, r.err = r.make()
	}
	return r.memory, r.err
}

// make opens the memory as the program says.
func (r *remembering) make() (*memory.Memory, error) {
	if !r.known {
		return nil, errors.New("what its program says of it is not known here")
	}
	o, err := memoryOptions(&r.says)
	if err != nil {
		return nil, err
	}
	o.Warn = r.warn
	if r.refresh = r.says.WorkingRefresh; r.refresh == 0 {
		r.refresh, _ = time.ParseDuration(schema.DefaultWorkingRefresh)
	}
	return memory.Open(memoryDir(&r.says, r.store, r.program), o)
}

// folder is where the memory is.
func (r *remembering) folder() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return memoryDir(&r.says, r.store, r.program)
}

// memoryDir is the folder of memory.db: that of the runs, or the one that the program names.
func memoryDir(m *ir.Memory, store, program string) string {
	switch {
	case m == nil || m.Store == "":
		return store
	case filepath.IsAbs(m.Store):
		return m.Store
	}
	return filepath.Join(program, m.Store)
}

// memoryOptions are those of a program's memory.
func memoryOptions(m *ir.Memory) (memory.Options, error) {
	o := memory.Options{WordVectors: m.Embedder == nil || m.Embedder.Provider != "none", ConsolidateEvery: schema.DefaultConsolidateEvery, ShortTerm: memory.ShortTerm{Age: m.ShortTermAge}}
	if m.ConsolidateEvery != nil {
		o.ConsolidateEvery = *m.ConsolidateEvery
	}
	if m.ShortTermTasks != nil {
		o.ShortTerm.Tasks = *m.ShortTermTasks
	}
	var err error
	o.Embedder, err = embedder(m.Embedder)
	return o, err
}

// embedder is the one that a program names; nil for none, as none is needed to find words.
func embedder(e *ir.Embedder) (embed.Embedder, error) {
	if e == nil {
		return embed.Default(), nil
	}
	return embed.New(embed.Config{Name: e.Provider, Model: e.Model, URL: e.BaseURL, KeyEnv: e.KeyEnv})
}

// owes tells whether a run has begun to be remembered here.
func (r *remembering) owes(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.begun[run]
}

func (r *remembering) paid(run string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.paid(run)
}

func (r *remembering) left() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.left()
}

// forAttempts gives the memory to executors.
func (r *remembering) forAttempts(run string) (recall.Memory, error) {
	m, err := r.open(run)
	if err != nil {
		return nil, err
	}
	return attempts{m, r.refresh, r.settled}, nil
}

// close closes the memory, and says what did not go well.
func (r *remembering) close() {
	r.mu.Lock()
	m := r.memory
	r.memory, r.err, r.tried = nil, errors.New("the memory is closed"), true
	r.mu.Unlock()
	if m != nil {
		if err := m.Close(); err != nil {
			r.warn(err.Error())
		}
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	for _, text := range r.told {
		r.say("memory: " + text)
	}
}

// attempts is the memory as executors see it.
type attempts struct {
	*memory.Memory
	refresh time.Duration
	settled func(context.Context)
}

// maxSettle is how long an attempt waits for what had ended before it to be learned.
const maxSettle = 5 * time.Second

func (a attempts) settle(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, maxSettle)
	defer done()
	a.settled(ctx)
}

var _ recall.Memory = attempts{}

// sees is what an agent in a run sees.
func sees(w recall.Who) memory.Viewer {
	v := memory.Viewer{Scopes: []entry.Scope{entry.OfRun(w.Run)}}
	if w.Agent != "" {
		v.Scopes = append(v.Scopes, entry.OfAgent(w.Agent))
	}
	for _, g := range w.Groups {
		v.Scopes = append(v.Scopes, entry.OfGroup(g))
	}
	return v
}

// source is who writes or uses, on behalf of a file: flowrun itself, or an agent in so far as the file trusts it.
func source(w recall.Who, what string) entry.Source {
	s := entry.Source{Run: w.Run, Step: w.Step, Source: what, Author: "flowrun", Trust: entry.ByRule}
	if w.Agent != "" {
		s.Author = "agent:" + w.Agent
	}
	return s
}

// Recall implements recall.Memory.
func (a attempts) Recall(ctx context.Context, q recall.Ask) (recall.Found, error) {
	a.settle(ctx)
	a.cleared(ctx, q.Run)
	got, err := a.Memory.Recall(ctx, memory.Ask{Task: q.Task, Viewer: sees(q.Who), Session: q.Run, Budget: q.Budget, Most: q.Most, Use: source(q.Who, "recall")})
	if err != nil {
		return recall.Found{}, err
	}
	out := recall.Found{Text: got.Text}
	for _, h := range got.Hits {
		out.Entries = append(out.Entries, event.Recalled{ID: h.ID, Type: string(h.Type), Tags: h.Tags, Score: rounded(h.Score)})
	}
	return out, nil
}

// cleared ends an interval of a run's working memory that has lasted long enough.
func (a attempts) cleared(ctx context.Context, run string) {
	notes, err := a.Working(ctx, run)
	if err != nil || len(notes) == 0 || time.Since(notes[0].CreatedAt) < a.refresh {
		return // whatever is wrong with the memory, recalling says so
	}
	_ = a.Archive(ctx, run, entry.Source{Run: run, Source: "working.refresh", Author: "flowrun", Trust: entry.ByRule})
}

// rounded leaves of a score what tells entries apart for a person.
func rounded(f float64) float64 { return float64(int(f*10_000+.5)) / 10_000 }

// Search implements recall.Memory.
func (a attempts) Search(ctx context.Context, q recall.Search) (recall.Result, error) {
	a.settle(ctx)
	hits, err := a.Memory.Search(ctx, memory.Query{Text: q.Query, K: q.K, Viewer: sees(q.Who), Agent: q.Agent, Type: entry.Type(q.Type), Tag: strings.ToLower(q.Tag)})
	if err != nil {
		return recall.Result{}, err
	}
	out := recall.Result{Text: memory.Fence(hits, q.Budget)}
	for _, h := range hits {
		tags := make([]any, len(h.Tags))
		for i, t := range h.Tags {
			tags[i] = t
		}
		out.Items = append(out.Items, map[string]any{"id": h.ID, "type": string(h.Type), "agent": h.Agent, "text": h.Text, "lesson": h.Lesson, "tags": tags,
			"created_at": event.At(h.CreatedAt).String(), "score": rounded(h.Score)})
	}
	return out, nil
}

// Remember implements recall.Memory. An id is made of the key: under one that is taken, whatever was written first stands.
func (a attempts) Remember(ctx context.Context, e recall.Entry) (id string, known bool, err error) {
	w := entry.Entry{ID: learn.ID("key", e.Key), Agent: e.Agent, Type: entry.Type(e.Type), Text: e.Text, Context: e.Context, Observation: e.Observation,
		Lesson: e.Lesson, Tags: e.Tags, Importance: e.Importance, Scope: entry.Scope(e.Scope), By: source(e.Who, "remember")}
	if e.Scope == "run" {
		w.Scope = entry.OfRun(e.Run)
	}
	if e.Note {
		w.ID, w.Working, w.Session, w.Scope = learn.ID("note", e.Key, e.Type, e.Text, e.Lesson), true, e.Run, entry.OfRun(e.Run)
		if w.By.Source, w.By.Trust = "note", entry.Untrusted; e.Trusted {
			w.By.Trust = entry.ByAgent
		}
	}
	added, err := a.Add(ctx, w)
	switch {
	case errors.Is(err, memory.ErrExists):
		return w.ID, true, nil
	case err != nil:
		return "", false, err
	}
	if added[0].Recalled {
		return "", false, fmt.Errorf("what was recalled is not remembered again")
	}
	return added[0].ID, added[0].Known || added[0].Repeat, nil
}

// saySo tells a person something on the way that does not change how it ends.
func (a *app) saySo(text string) { a.err.Printf("flowrun: %s\n", ui.CleanLines(text)) }
