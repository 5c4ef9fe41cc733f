package schema

import "github.com/flowrun/flowrun/dsl/value"

// What the memory does where the file says nothing.
const (
	DefaultRecalled         = 8    // entries
	DefaultRecallBudget     = 1000 // tokens
	DefaultSearched         = 10   // entries, for a step that recalls
	DefaultShortTermTasks   = 20
	DefaultShortTermAge     = "168h"
	DefaultConsolidateEvery = 10
	DefaultWorkingRefresh   = "1h"
)

// EntryTypes are the types of entry that a step can write.
var EntryTypes = []string{"success", "failure", "insight", "note", "decision"}

// Embedders are the providers of vectors.
var Embedders = []string{"default", "openai", "ollama", "none"}

// memoryBlocks are what a program says of what its agents remember.
var memoryBlocks = map[string]*Block{
	"memory": {Doc: "What agents remember: with it, each task of an agent leaves a learning, and each is told what was learned that helps. It is kept in memory.db, in the folder of the runs.",
		Blocks: []string{"embedder", "short_term", "recall", "working"}, Attrs: attrs(
			Attr{Name: "store", Kind: Text, Default: "the folder of the runs", Doc: "Folder of memory.db, from the program's folder: such as one that several repositories share. A .gitignore in it keeps it out of git."},
			Attr{Name: "embedder", Kind: Word, Words: Embedders, Default: `"default"`, Doc: "Short for a block embedder that says the provider alone."},
			Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Names of groups of agents. What is written for a group is seen by the agents that name it."},
			Attr{Name: "consolidate_every", Kind: Value, Want: value.IntType, Min: 0, Max: MaxConsolidation, Default: "10", Doc: "After how many learnings of an agent they are consolidated: repeats become one entry that cites them. 0 leaves it to flowrun memory consolidate."},
			Attr{Name: "editor", Kind: Ref, RefKind: "agent", Default: "nobody", Doc: "The agent that words what was learned several times, after a run, in place of a template. It is sent the lessons and answers with an object of text and cites, the numbers of those that its text rests on. What does not serve is left out: it never decides what is grouped, kept or hidden."},
			Attr{Name: "promote", Kind: Word, Words: []string{"never", "succeeded"}, Default: `"never"`, Doc: "What becomes of what an agent says that is not trusted: it stays with its run, or becomes the agent's own once the step has succeeded and nothing can refuse its work any more: not a gate, not a round of a repeat, and no step that waits for it."})},
	"embedder": {Doc: "What makes vectors of texts, so that the memory can be searched by meaning.", Once: true, Attrs: attrs(
		Attr{Name: "provider", Kind: Word, Words: Embedders, Default: `"default"`, Doc: "default works offline; openai speaks to any endpoint of that form; ollama to a server on this machine; none searches by words alone."},
		Attr{Name: "model", Kind: Text, Default: "the provider's", Doc: "Model of openai or ollama. Another one has the memory embedded anew."},
		Attr{Name: "base_url", Kind: Text, Default: "the provider's", Doc: "Address of the endpoint."},
		Attr{Name: "key_env", Kind: Text, Default: `"OPENAI_API_KEY" for OpenAI itself, else none`, Doc: "Name of the environment variable that holds the key."})},
	"short_term": {Doc: "The newest tasks of an agent, which are recalled unasked; whichever bound gives fewer.", Once: true, Attrs: attrs(
		Attr{Name: "tasks", Kind: Value, Want: value.IntType, Min: 1, Max: MaxShortTerm, Default: "20", Doc: "How many."},
		Attr{Name: "max_age", Kind: Duration, Default: `"168h"`, Doc: "How old at most."})},
	"memory.recall": {Doc: "How much is recalled into a request, where the agent does not say.", Once: true, Attrs: attrs(
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecallBudget, Default: "1000", Doc: "How many tokens at most, estimated."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecalled, Default: "8", Doc: "How many entries at most."})},
	"working": {Doc: "What agents note in a run: working memory. Where it outgrows its share of a request, the newest notes stand there whole, and the weightiest sentences of the others. It is archived when the run ends.", Once: true, Attrs: attrs(
		Attr{Name: "refresh", Kind: Duration, Default: `"1h"`, Doc: "After how long it is archived and begun anew."})},
	"agent.memory": {Doc: "What the agent remembers. Without the block memory at the top, the agents with this block are those that do.", Once: true, Attrs: attrs(
		Attr{Name: "recall", Kind: Flag, Default: "true", Doc: "Whether the agent is told what was learned."},
		Attr{Name: "learn", Kind: Flag, Default: "true", Doc: "Whether its tasks leave learnings."},
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecallBudget, Default: "that of memory", Doc: "How many tokens are recalled at most, estimated."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecalled, Default: "that of memory", Doc: "How many entries are recalled at most."},
		Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Groups that it belongs to: it sees what is written for them."},
		Attr{Name: "trusted", Kind: Flag, Default: "false", Doc: "Whether what it says becomes its own at once: what it learned, and why it failed. Else its words stay with the run until they are promoted, and other runs learn the facts alone."})},
}
