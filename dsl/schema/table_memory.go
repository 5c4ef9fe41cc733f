package schema

import (
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// What the memory does where the file says nothing.
const (
	DefaultRecalled         = 8    // entries
	DefaultRecallBudget     = 1000 // tokens
	DefaultConsolidateEvery = 10
	DefaultWorkingRefresh   = "1h"
)

// EntryTypes are the types of entry that a step can write.
var EntryTypes = []string{"success", "failure", "insight", "note", "decision"}

// Embedders are the providers of vectors.
var Embedders = []string{"default", "openai", "ollama", "none"}

// memoryBlocks are what a program says of what its agents remember.
var memoryBlocks = map[string]*Block{
	"memory": {Doc: "Memory of agents: each task of an agent leaves a learning, and each new task gets the relevant learnings. They are kept in memory.db, in the folder of the runs.",
		Blocks: []string{"embedder", "short_term", "recall", "working"}, Attrs: attrs(
			Attr{Name: "store", Kind: Text, Default: "the folder of the runs", Doc: "Folder of memory.db, relative to the program's folder. Several repositories can share one folder, and so do all environments of the program; without store, each environment has its own memory. flowrun adds a .gitignore."},
			Attr{Name: "embedder", Kind: Word, Words: Embedders, Default: `"default"`, Doc: "Short form of an embedder block with only a provider."},
			Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Names of groups of agents. Agents that name a group see its entries."},
			Attr{Name: "consolidate_every", Kind: Value, Want: value.IntType, Min: 0, Max: MaxConsolidation, Default: "10", Doc: "After how many learnings of an agent flowrun consolidates them: repeated learnings become one entry that cites them. 0 leaves this to flowrun memory consolidate."},
			Attr{Name: "editor", Kind: Ref, RefKind: "agent", Default: "none", Doc: "Agent that writes the text of a pattern after a run, instead of a template. It gets the lessons and answers with an object of text and cites, the numbers of the lessons that support the text. flowrun ignores an unusable answer; the agent never decides which lessons are grouped, kept or hidden."},
			Attr{Name: "promote", Kind: Word, Words: []string{"never", "succeeded"}, Default: `"never"`, Doc: "What happens to the text of an agent that is not trusted. never: they stay with their run. succeeded: they become the agent's own once the step has succeeded and no gate, round of a repeat or dependent step can still reject its work."})},
	"embedder": {Doc: "Model that turns texts into vectors, for search by meaning.", Once: true, Attrs: attrs(
		Attr{Name: "provider", Kind: Word, Words: Embedders, Default: `"default"`, Doc: "default works offline; openai uses any endpoint with that API; ollama uses a server on this machine; none searches by words only."},
		Attr{Name: "model", Kind: Text, Default: "the provider's", Doc: "Model of openai or ollama. After a change of the model, flowrun embeds all entries again."},
		Attr{Name: "base_url", Kind: Text, Default: "the provider's", Doc: "Address of the endpoint."},
		Attr{Name: "key_env", Kind: Text, Default: `"OPENAI_API_KEY" for OpenAI itself, else none`, Doc: "Name of the environment variable that holds the key."})},
	"short_term": {Doc: "The newest tasks of an agent, which are always recalled. The stricter limit applies.", Once: true, Attrs: attrs(
		Attr{Name: "tasks", Kind: Value, Want: value.IntType, Min: 1, Max: MaxShortTerm, Default: "20", Doc: "Maximum number of tasks."},
		Attr{Name: "max_age", Kind: Duration, Default: `"168h"`, Doc: "Maximum age."})},
	"memory.recall": {Doc: "Default amount of memory in a request, unless the agent has its own.", Once: true, Attrs: attrs(
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecallBudget, Default: "1000", Doc: "Maximum number of tokens, estimated."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecalled, Default: "8", Doc: "Maximum number of entries."})},
	"working": {Doc: "Working memory: notes of agents during a run. If they exceed their share of a request, the request has the newest notes in full, and the most important sentences of the others. They are archived when the run ends.", Once: true, Attrs: attrs(
		Attr{Name: "refresh", Kind: Duration, Default: `"1h"`, Doc: "Time after which the notes are archived and new ones begin."})},
	"agent.memory": {Doc: "Memory of this agent. Without a memory block at the top of the file, only agents with this block have a memory.", Once: true, Attrs: attrs(
		Attr{Name: "recall", Kind: Flag, Default: "true", Doc: "Whether the agent gets earlier learnings."},
		Attr{Name: "learn", Kind: Flag, Default: "true", Doc: "Whether its tasks leave learnings."},
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecallBudget, Default: "the value in memory", Doc: "Maximum number of recalled tokens, estimated."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecalled, Default: "the value in memory", Doc: "Maximum number of recalled entries."},
		Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Groups of the agent: it sees their entries."},
		Attr{Name: "trusted", Kind: Flag, Default: "false", Doc: "Whether flowrun keeps the agent's own words (what it learned, and why it failed) at once. Otherwise they stay with the run until they are promoted, and other runs learn only the facts."})},
}
