package args

import (
	"slices"
	"strings"
	"time"
)

// MaxHits is how many results a search gives at the most.
const MaxHits = 1000

// MemoryTypes are the kinds of entries that a person may write or ask for.
var MemoryTypes = []string{"success", "failure", "insight", "pattern", "note", "decision", "message", "summary"}

// Embedder says who makes vectors of texts.
type Embedder struct {
	Name   string // default | openai | ollama | none; "": what the program says, or default
	Model  string // of a provider; "" is its usual one
	URL    string // of a provider; "" is its usual one
	KeyEnv string // the variable that holds the key of a provider
}

// Check refuses names, and words for a provider where there is none.
func (e *Embedder) Check() error {
	if e.Name != "" {
		if err := OneOf("--embedder", e.Name, "default", "openai", "ollama", "none"); err != nil {
			return err
		}
	}
	if e.Name != "openai" && e.Name != "ollama" && e.Model+e.URL+e.KeyEnv != "" {
		return Errorf("--embedder-model, --embedder-url and --embedder-key-env are for --embedder openai and ollama")
	}
	return nil
}

// Which says which entries of the memory a command is about.
type Which struct {
	Agent string // as this agent sees the memory: its own and what is shared; "": all of it
	Type  string
	Tag   string
	Since string // an age or a date
	From  time.Time
	All   bool // also what is superseded, archived or forgotten
}

// Check refuses words, and reads the date.
func (w *Which) Check(now time.Time) (err error) {
	if w.Type != "" {
		if err := OneOf("--type", w.Type, MemoryTypes...); err != nil {
			return err
		}
	}
	if w.Since != "" {
		w.From, err = readMoment("--since", w.Since, now)
	}
	w.Tag = strings.ToLower(w.Tag)
	return err
}

// MemoryList is what memory list and export take.
type MemoryList struct {
	Which
	Run, Author string // who wrote it
	Limit       int    // at most so many; 0: all
	JSON        bool
}

// Check refuses numbers and words.
func (l *MemoryList) Check(now time.Time) error {
	if l.Limit < 0 {
		return Errorf("--limit %d is below 0", l.Limit)
	}
	return l.Which.Check(now)
}

// MemorySearch is what memory search takes.
type MemorySearch struct {
	Which
	Embedder
	Words   []string // the query
	Queries string   // a file of queries, or - for standard input
	K       int
	Explain bool
	Wait    bool // for the vectors of all entries
	JSON    bool
}

// Query is the one query of the command line.
func (s *MemorySearch) Query() string { return strings.Join(s.Words, " ") }

// Check refuses numbers and words.
func (s *MemorySearch) Check(now time.Time) error {
	asked := strings.TrimSpace(s.Query()) != ""
	switch {
	case asked && s.Queries != "":
		return Errorf("a query and --queries cannot be combined")
	case !asked && s.Queries == "":
		return &Error{"an argument is missing: the query", `Write it after the command: flowrun memory search "flaky test of the parser". Many at once: --queries FILE.`}
	case s.K < 1 || s.K > MaxHits:
		return Errorf("-k %d is not within 1 and %d", s.K, MaxHits)
	}
	if err := s.Embedder.Check(); err != nil {
		return err
	}
	return s.Which.Check(now)
}

// MemoryEntry is an entry as flags describe it.
type MemoryEntry struct {
	Embedder
	ID, Agent, Type, Text, Context, Observation, Lesson, Session string
	Tags                                                         []string
	Importance                                                   float64
	JSON                                                         bool
}

// Check refuses an entry that says nothing, and words and numbers.
func (e *MemoryEntry) Check() error {
	if strings.TrimSpace(e.Text+e.Context+e.Observation+e.Lesson) == "" {
		return &Error{"an argument is missing: the text of the entry", `Write it after the command, or give --lesson, --observation and --context.`}
	}
	if e.Type != "" {
		if err := OneOf("--type", e.Type, MemoryTypes...); err != nil {
			return err
		}
	}
	if !(e.Importance >= 0 && e.Importance <= 1) {
		return Errorf("--importance %g is not within 0 and 1", e.Importance)
	}
	return e.Embedder.Check()
}

// Described tells whether flags other than the text say what the entry is.
func (e *MemoryEntry) Described() bool { return e.Context+e.Observation+e.Lesson != "" }

// MemoryChange is what the commands take that change entries by their ids.
type MemoryChange struct {
	IDs    []string
	Reason string
	To     string // a scope, for promote
	JSON   bool
}

// Check refuses texts and scopes.
func (c *MemoryChange) Check() error {
	kind, name, named := strings.Cut(c.To, ":")
	if c.To != "" && c.To != "shared" && !(named && name != "" && slices.Contains([]string{"agent", "run", "group"}, kind)) {
		return Errorf("--to %q is not a scope: shared, agent:NAME, group:NAME or run:ID", c.To)
	}
	return IsText("--reason", c.Reason)
}

// MemoryRevert is what memory revert takes.
type MemoryRevert struct {
	MemoryChange
	Run, Author  string
	Since, Until string // ages or dates
	From, To     time.Time
}

// Check refuses a revert of nothing in particular.
func (r *MemoryRevert) Check(now time.Time) (err error) {
	if len(r.IDs) == 0 && r.Run+r.Author+r.Since+r.Until == "" {
		return &Error{"an argument is missing: the entries to revert", "Name entries, or say --run, --author, --since or --until; several together narrow it down."}
	}
	if r.Since != "" {
		if r.From, err = readMoment("--since", r.Since, now); err != nil {
			return err
		}
	}
	if r.Until != "" {
		if r.To, err = readMoment("--until", r.Until, now); err != nil {
			return err
		}
	}
	return IsText("--reason", r.Reason)
}

// readMoment reads a day (2026-11-02), a time as RFC 3339 has it, or an age (30d, 12h) counted back from now.
func readMoment(flag, text string, now time.Time) (time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	if age, ok := readAge(text); ok {
		return now.Add(-age).UTC(), nil
	}
	return time.Time{}, Errorf("%s %q is neither an age such as 30d or 12h nor a date such as 2026-11-02", flag, text)
}
