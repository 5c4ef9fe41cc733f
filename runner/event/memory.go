package event

import "github.com/flowrun/flowrun/dsl/value"

// MemoryUse is what an agent has of the memory.
type MemoryUse struct {
	Recall  bool     `json:"recall,omitempty"` // it is told what was learned, within
	Budget  int      `json:"budget,omitempty"` // tokens, and
	Most    int      `json:"most,omitempty"`   // entries
	Groups  []string `json:"groups,omitempty"` // that it belongs to
	Learn   bool     `json:"learn,omitempty"`  // its task leaves a learning
	Trusted bool     `json:"trusted,omitempty"`
	Promote bool     `json:"promote,omitempty"` // what it says that it learned becomes its own where the step succeeds
}

// Remember asks for an entry of the memory: a Text, or a Lesson with its Context and Observation. The attempt's key makes the
// entry's id, so that it is written once. The answer's output is an object of id (null where the memory could not be had)
// and known.
type Remember struct {
	Text        string   `json:"text,omitempty"`
	Lesson      string   `json:"lesson,omitempty"`
	Context     string   `json:"context,omitempty"`
	Observation string   `json:"observation,omitempty"`
	Type        string   `json:"type,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Importance  float64  `json:"importance,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Scope       string   `json:"scope,omitempty"` // "" is everybody's; "run" the run's own
}

// Recall asks for what the memory has on a query. The answer's output is an object of count, items and text.
type Recall struct {
	Query  string   `json:"query"`
	K      int      `json:"k"`
	Type   string   `json:"type,omitempty"`
	Tag    string   `json:"tag,omitempty"`
	Agent  string   `json:"agent,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Budget int      `json:"budget"` // of the text, in tokens
}

// Recalled is an entry that the memory gave to an attempt of an agent.
type Recalled struct {
	ID    string   `json:"id"`
	Type  string   `json:"type,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Score float64  `json:"score,omitempty"`
}

// Learned is what an agent says that it learned: a Lesson, or a Text.
type Learned struct {
	Text        string   `json:"text,omitempty"`
	Lesson      string   `json:"lesson,omitempty"`
	Context     string   `json:"context,omitempty"`
	Observation string   `json:"observation,omitempty"`
	Type        string   `json:"type,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Importance  float64  `json:"importance,omitempty"`
}

// RecalledObject is what was recalled as expressions see it.
func RecalledObject(list []Recalled) map[string]value.Value {
	ids, items := make([]any, len(list)), make([]any, len(list))
	for i, r := range list {
		tags := make([]any, len(r.Tags))
		for k, t := range r.Tags {
			tags[k] = t
		}
		ids[i], items[i] = r.ID, map[string]any{"id": r.ID, "type": r.Type, "tags": tags, "score": r.Score}
	}
	return map[string]value.Value{"count": float64(len(list)), "ids": ids, "items": items}
}
