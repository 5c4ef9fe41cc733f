package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/learning"
)

// MemoryEntries are entries of the memory, the newest first.
type MemoryEntries struct {
	Entries []entry.Document `json:"entries"`
	Total   int              `json:"total"` // how many match, on whatever page
}

// MemoryFound is the answer to a query.
type MemoryFound struct {
	Query   string      `json:"query"`
	Results []MemoryHit `json:"results"`
}

// MemoryHit is an entry that was found, and why: its score is the sum of its parts.
type MemoryHit struct {
	entry.Document
	Score float64            `json:"score"`
	Parts map[string]float64 `json:"parts"` // those that are not 0
}

// MemoryStory is an entry with the records that made it so.
type MemoryStory struct {
	Entry   entry.Document `json:"entry"`
	History []entry.Record `json:"history"`
}

// MemoryChange changes entries.
type MemoryChange struct {
	IDs    []string `json:"ids"`
	By     string   `json:"by"` // the person; the entries' history names them
	Reason string   `json:"reason,omitempty"`
}

// MemoryRevert removes entries as if they had never been written. At least one member selects; several narrow it down.
type MemoryRevert struct {
	IDs    []string `json:"ids,omitempty"`
	Run    string   `json:"run,omitempty"`
	Author string   `json:"author,omitempty"` // agent:NAME, user:NAME or flowrun
	By     string   `json:"by"`
	Reason string   `json:"reason,omitempty"`
}

// MemorySupersede writes an entry in place of others. What it leaves out is as in the first of them.
type MemorySupersede struct {
	IDs         []string `json:"ids"`
	Text        string   `json:"text,omitempty"`
	Lesson      string   `json:"lesson,omitempty"`
	Observation string   `json:"observation,omitempty"`
	Context     string   `json:"context,omitempty"`
	By          string   `json:"by"`
}

// MemoryChanged are the entries that a change was about; of a supersede the new one.
type MemoryChanged struct {
	IDs []string `json:"ids"`
}

// Memories are the memories that runs of the store use: that of the store first, and those that programs keep in folders of their own.
type Memories struct {
	Memories []Memory `json:"memories"`
}

// Memory is a folder with a memory.
type Memory struct {
	ID        string   `json:"id"` // names it in requests; "" is that of the store
	Dir       string   `json:"dir"`
	Workflows []string `json:"workflows"` // whose newest runs use it, by name
	Exists    bool     `json:"exists"`    // somebody has written to it

	says ir.Memory
}

// maxLooked is how many of the newest runs are looked at for memories of programs.
const maxLooked = 1000

// readMemories lists the memories of the store and of the programs of its runs.
func (s *Server) readMemories(ctx context.Context) ([]Memory, error) {
	runs, err := s.daemon.store.List(ctx, maxLooked)
	if err != nil {
		return nil, err
	}
	list, seen := []Memory{{Dir: s.StoreDir(), Workflows: []string{}}}, map[string]bool{}
	for i := range runs {
		info := &runs[i]
		if key := info.Definition + " " + info.Workflow; info.Parent != "" || seen[key] {
			continue
		} else {
			seen[key] = true
		}
		first, err := s.daemon.store.Started(ctx, info.Run)
		if err != nil {
			continue // the list of runs says what is wrong with it
		}
		p, err := s.daemon.store.Pinned(ctx, info.Run)
		if err != nil {
			continue
		}
		dir := learning.Dir(p.Program.Memory, s.StoreDir(), first.Dir)
		at := slices.IndexFunc(list, func(m Memory) bool { return m.Dir == dir })
		if at < 0 {
			sum := sha256.Sum256([]byte(dir))
			at, list = len(list), append(list, Memory{ID: hex.EncodeToString(sum[:4]), Dir: dir, says: *p.Program.Memory})
		}
		if m := &list[at]; !slices.Contains(m.Workflows, info.Workflow) {
			m.Workflows = append(m.Workflows, info.Workflow)
		}
	}
	for i := range list {
		list[i].Exists = memories.Exists(list[i].Dir)
		slices.Sort(list[i].Workflows)
	}
	return list, nil
}

func (s *Server) listMemories(r *http.Request) (any, error) {
	list, err := s.readMemories(r.Context())
	return Memories{list}, err
}

// memoryFor is how long a memory stays open that nobody asks.
const memoryFor = time.Minute

// openMemories are the memories that requests use, by their folders.
type openMemories struct {
	mu    sync.Mutex
	byDir map[string]*openMemory
}

// of returns a memory, which may be closed.
func (o *openMemories) of(dir string) *openMemory {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byDir == nil {
		o.byDir = map[string]*openMemory{}
	}
	if o.byDir[dir] == nil {
		o.byDir[dir] = &openMemory{}
	}
	return o.byDir[dir]
}

func (o *openMemories) close() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.byDir { // any order: each on its own
		err = errors.Join(err, m.close())
	}
	return err
}

// openMemory is one memory, which is open while requests use it and for a while after them.
type openMemory struct {
	mu     sync.Mutex
	memory *memory.Memory // nil: closed
	users  int
	idle   *time.Timer
}

// use calls do with the memory of a folder, as  flowrun memory  opens it. Without a memory do gets nil. says has its settings.
func (o *openMemory) use(dir string, says *ir.Memory, warn func(string), do func(*memory.Memory) error) error {
	if !memories.Exists(dir) {
		return do(nil)
	}
	o.mu.Lock()
	if o.memory == nil {
		options, err := learning.Options(says)
		if err == nil {
			options.Warn = warn
			o.memory, err = memory.Open(dir, options)
		}
		if err != nil {
			o.mu.Unlock()
			return err
		}
	}
	if o.idle != nil {
		o.idle.Stop()
	}
	o.users++
	m := o.memory
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.users--; o.users == 0 {
			o.idle = time.AfterFunc(memoryFor, func() { _ = o.close() })
		}
	}()
	return do(m)
}

// close closes the memory unless a request uses it. The next request opens it again.
func (o *openMemory) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.memory == nil || o.users > 0 {
		return nil
	}
	if o.idle != nil {
		o.idle.Stop()
	}
	m := o.memory
	o.memory = nil
	return m.Close()
}

// onMemory calls do with the memory that a request names, and says what it refuses. Without a memory do gets nil.
func (s *Server) onMemory(r *http.Request, do func(*memory.Memory) error) error {
	m := Memory{Dir: s.StoreDir()}
	if id := r.URL.Query().Get("memory"); id != "" {
		list, err := s.readMemories(r.Context())
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(m Memory) bool { return m.ID == id })
		if at < 0 {
			return &refusal{http.StatusNotFound, "memory", fmt.Sprintf("there is no memory %.80q", id)}
		}
		m = list[at]
	}
	err := s.memory.of(m.Dir).use(m.Dir, &m.says, s.daemon.options.Say, do)
	switch {
	case errors.Is(err, memory.ErrNoEntry):
		return &refusal{http.StatusNotFound, "entry", err.Error()}
	case errors.Is(err, memory.ErrExists), errors.Is(err, memory.ErrBad), errors.Is(err, memory.ErrNotAllowed):
		return &refusal{http.StatusUnprocessableEntity, "refused", strings.Replace(err.Error(), memory.ErrBad.Error()+": ", "", 1)}
	}
	return err
}

// errNoMemory refuses a change of a memory that does not exist.
var errNoMemory = &refusal{http.StatusNotFound, "memory", "this store has no memory yet"}

// memoryFilter reads which entries a request is about.
func memoryFilter(r *http.Request) (f memory.Filter, err error) {
	q := r.URL.Query()
	f = memory.Filter{Viewer: memory.Viewer{All: true}, Type: entry.Type(q.Get("type")), Tag: strings.ToLower(q.Get("tag")), Run: q.Get("run"), Author: q.Get("author")}
	if agent := q.Get("agent"); agent != "" {
		f.Viewer = memory.Viewer{Scopes: []entry.Scope{entry.OfAgent(agent)}}
	}
	if text := q.Get("since"); text != "" {
		d, no := value.ParseDuration(text)
		if no != nil || d <= 0 {
			return f, &refusal{http.StatusBadRequest, "query", "since is an age such as 24h or 7d"}
		}
		f.Since = time.Now().Add(-time.Duration(d))
	}
	f.Everything, err = readFlag(r, "all")
	return f, err
}

func (s *Server) memoryEntries(r *http.Request) (any, error) {
	f, err := memoryFilter(r)
	if err != nil {
		return nil, err
	}
	limit, err := readNumber(r, "limit", 100, 1, 10_000)
	if err != nil {
		return nil, err
	}
	offset, err := readNumber(r, "offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	out := MemoryEntries{Entries: []entry.Document{}}
	err = s.onMemory(r, func(m *memory.Memory) error {
		if m == nil {
			return nil
		}
		items, err := m.List(r.Context(), f)
		slices.Reverse(items)
		out.Total = len(items)
		for _, i := range items[min(offset, len(items)):min(offset+limit, len(items))] {
			out.Entries = append(out.Entries, i.Document())
		}
		return err
	})
	return out, err
}

func (s *Server) searchMemory(r *http.Request) (any, error) {
	f, err := memoryFilter(r)
	if err != nil {
		return nil, err
	}
	k, err := readNumber(r, "k", 10, 1, 1000)
	if err != nil {
		return nil, err
	}
	if f.Run+f.Author != "" {
		return nil, &refusal{http.StatusBadRequest, "query", "a search has no run and no author"}
	}
	out := MemoryFound{Query: r.URL.Query().Get("query"), Results: []MemoryHit{}}
	err = s.onMemory(r, func(m *memory.Memory) error {
		if m == nil {
			return nil
		}
		hits, err := m.Search(r.Context(), memory.Query{Text: out.Query, K: k, Viewer: f.Viewer, Type: f.Type, Tag: f.Tag, Since: f.Since, Everything: f.Everything})
		for i := range hits {
			hit := MemoryHit{Document: hits[i].Document(), Score: rounded(hits[i].Score)}
			if hit.Parts, err = partsOf(&hits[i]); err != nil {
				return err
			}
			out.Results = append(out.Results, hit)
		}
		return err
	})
	return out, err
}

// rounded leaves six digits after the point, as the command line does: more would tell of the processor.
func rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// partsOf are the parts of a score that are not 0, by their names.
func partsOf(h *memory.Hit) (map[string]float64, error) {
	body, err := json.Marshal(h.Parts)
	if err != nil {
		return nil, fmt.Errorf("reading the parts of a score: %w", err)
	}
	parts := map[string]float64{}
	err = json.Unmarshal(body, &parts)
	for name, v := range parts { // any order: each for itself
		parts[name] = rounded(v)
	}
	maps.DeleteFunc(parts, func(_ string, v float64) bool { return v == 0 })
	return parts, err
}

func (s *Server) memoryEntry(r *http.Request) (any, error) {
	out := MemoryStory{}
	err := s.onMemory(r, func(m *memory.Memory) error {
		if m == nil {
			return errNoMemory
		}
		item, history, err := m.Show(r.Context(), r.URL.Query().Get("id"))
		out = MemoryStory{item.Document(), append([]entry.Record{}, history...)}
		return err
	})
	return out, err
}

// person is the source of a change that a person makes over the API. The error says that the request names nobody.
func person(by string) (entry.Source, error) {
	if by = strings.TrimSpace(by); by == "" {
		return entry.Source{}, &refusal{http.StatusBadRequest, "body", "by is needed: the history of the entries names the person"}
	}
	return entry.Source{Source: "api", Author: "user:" + strings.TrimPrefix(by, "user:"), Trust: entry.ByPerson}, nil
}

// changeMemory carries out a change of entries. what names it in the audit. B is the body, from which read takes the entries and the person.
func changeMemory[B any](what string, read func(*B) (ids []string, by string), do func(context.Context, *memory.Memory, *B, entry.Source) ([]string, error)) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		body := new(B)
		if err := readBody(r, body); err != nil {
			return nil, err
		}
		ids, by := read(body)
		src, err := person(by)
		if err != nil {
			return nil, err
		}
		var out MemoryChanged
		err = s.onMemory(r, func(m *memory.Memory) error {
			if m == nil {
				return errNoMemory
			}
			for _, id := range ids {
				if _, _, err := m.Show(r.Context(), id); err != nil {
					return err
				}
			}
			if err := s.audit(r, what, clip(strings.Join(ids, " "), 1<<10), body); err != nil {
				return err
			}
			out.IDs, err = do(r.Context(), m, body, src)
			out.IDs = append([]string{}, out.IDs...)
			return err
		})
		return out, err
	}
}

// changeEntries is changeMemory for a change of the entries that the body names.
func changeEntries(what string, do func(*memory.Memory, context.Context, []string, entry.Source, string) error) func(*Server, *http.Request) (any, error) {
	return changeMemory(what, func(c *MemoryChange) ([]string, string) { return c.IDs, c.By },
		func(ctx context.Context, m *memory.Memory, c *MemoryChange, src entry.Source) ([]string, error) {
			if len(c.IDs) == 0 {
				return nil, &refusal{http.StatusBadRequest, "body", "ids is empty"}
			}
			return c.IDs, do(m, ctx, c.IDs, src, c.Reason)
		})
}

func revertEntries(ctx context.Context, m *memory.Memory, c *MemoryRevert, src entry.Source) ([]string, error) {
	if len(c.IDs) == 0 && c.Run+c.Author == "" {
		return nil, &refusal{http.StatusBadRequest, "body", "ids, run or author is needed"}
	}
	return m.Revert(ctx, memory.Selector{IDs: c.IDs, Run: c.Run, Author: c.Author}, src, c.Reason)
}

func supersedeEntries(ctx context.Context, m *memory.Memory, c *MemorySupersede, src entry.Source) ([]string, error) {
	if len(c.IDs) == 0 {
		return nil, &refusal{http.StatusBadRequest, "body", "ids is empty"}
	}
	was, _, err := m.Show(ctx, c.IDs[0])
	if err != nil {
		return nil, err
	}
	by := entry.Entry{Agent: was.Agent, Scope: was.Scope, Type: cmp.Or(was.Type, entry.Note), Tags: was.Tags, Importance: was.Importance,
		Text: c.Text, Lesson: c.Lesson, Observation: c.Observation, Context: c.Context, By: src}
	id, err := m.Supersede(ctx, c.IDs, by, src)
	return []string{id}, err
}
