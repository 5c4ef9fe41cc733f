package ir

import "time"

// Memory is how the memory is kept. Zero values mean the defaults.
type Memory struct {
	// Store is the folder of memory.db, from the program's folder; "" is the folder of the runs.
	Store string `json:"store,omitempty"`
	// Embedder, if given, makes the vectors.
	Embedder *Embedder `json:"embedder,omitempty"`
	// ShortTermTasks and ShortTermAge bound short-term memory; nil and 0 mean 20 tasks and 7 days.
	ShortTermTasks *int          `json:"short_term_tasks,omitempty"`
	ShortTermAge   time.Duration `json:"short_term_age,omitempty"`
	// ConsolidateEvery is after how many learnings of an agent they are consolidated; nil means 10, 0 never.
	ConsolidateEvery *int `json:"consolidate_every,omitempty"`
	// Editor is the agent that words patterns, "" for none.
	Editor string `json:"editor,omitempty"`
	// WorkingRefresh is after how long the working memory of a run is archived; 0 means 1h.
	WorkingRefresh time.Duration `json:"working_refresh,omitempty"`
}

// Embedder makes vectors of texts.
type Embedder struct {
	Provider string `json:"provider,omitempty"` // "default", "openai", "ollama" or "none"; "" means "default"
	Model    string `json:"model,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
	KeyEnv   string `json:"key_env,omitempty"` // the variable of the environment that holds the key
}

// AgentMemory is what an agent has of the memory, with all that the block at the top says laid under it.
type AgentMemory struct {
	Recall  bool     `json:"recall,omitempty"` // it is told what was learned, within
	Budget  int      `json:"budget,omitempty"` // tokens, and
	Most    int      `json:"most,omitempty"`   // entries
	Groups  []string `json:"groups,omitempty"` // that it belongs to
	Learn   bool     `json:"learn,omitempty"`  // its tasks leave learnings
	Trusted bool     `json:"trusted,omitempty"`
	// Promote tells that what it says that it learned becomes its own where its step succeeds.
	Promote bool `json:"promote,omitempty"`
}

// Remember writes an entry: Text, or Lesson with Context and Observation. Scope is spelled as the memory spells it, with "run"
// for the run's own; "" is everybody's.
type Remember struct {
	Text        *Expr  `json:"text,omitempty"`
	Lesson      *Expr  `json:"lesson,omitempty"`
	Context     *Expr  `json:"context,omitempty"`
	Observation *Expr  `json:"observation,omitempty"`
	Type        string `json:"type,omitempty"`
	Tags        *Expr  `json:"tags,omitempty"`       // a list of texts
	Importance  *Expr  `json:"importance,omitempty"` // 0 to 1; nil means 0.5
	Agent       string `json:"agent,omitempty"`
	Scope       string `json:"scope,omitempty"`
}

// Recall searches the memory. What is everybody's and the run's own is searched, and what belongs to Agent and Groups.
type Recall struct {
	Query  Expr     `json:"query"`
	K      *Expr    `json:"k,omitempty"` // nil means 10
	Type   string   `json:"type,omitempty"`
	Tag    *Expr    `json:"tag,omitempty"`
	Agent  string   `json:"agent,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Budget *Expr    `json:"budget,omitempty"` // of the output's text, in tokens; nil means 1000
}
