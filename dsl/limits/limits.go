// Package limits has the limits of what a file may say and of what a run may do. The language tells them to whoever writes a
// file, and the runner holds runs to them: both read them here. It has constants alone.
package limits

// The limits of numbers and names in a file.
const (
	MaxConcurrency  = 10_000    // attempts at once inside of a node
	MaxAttempts     = 1000      // of a node
	MaxMultiplier   = 100       // of the wait before the next attempt
	MaxIterations   = 10_000    // of a repeat
	MaxPriority     = 1000      // and -MaxPriority below zero
	MaxRedirects    = 20        // of an http step
	MaxBody         = MaxValue  // bytes of the body of an http step
	MaxKVKey        = 256       // bytes of a key of kv
	MaxKVValue      = 64 << 10  // bytes of a value of kv, as JSON
	MaxKVKeys       = 1_000_000 // keys of a namespace of kv
	MaxKVScanned    = 10_000    // keys that a scan of kv returns
	MaxNamespace    = 64        // bytes of the name of a namespace
	MaxEventName    = 128       // bytes of the name of an event
	MaxSyncName     = 256       // bytes of the names of sync points and parties
	MaxParties      = 256       // of a sync point
	MaxVotes        = 1000      // of an approval
	MaxHandoff      = 64 << 10  // bytes of a piece of work, as JSON
	MaxWorkTitle    = 500       // bytes of the title of a piece of work
	MaxRecalled     = 50        // entries that are recalled at once
	MaxRecallBudget = 100_000   // tokens of what is recalled
	MaxTags         = 32        // of an entry of the memory
	MaxRemembered   = 64 << 10  // bytes of an entry of the memory
	MaxNotes        = 100       // remember lines of an attempt
	MaxLearned      = 16        // learnings beside a result
	MaxGroupName    = 1 << 10   // bytes of the name of a concurrency group
)

// The limits of a run.
const (
	MaxCallDepth   = 32         // runs above a called run
	MaxLiveCalls   = 256        // called runs of one run that are driven at once
	MaxInstances   = 200_000    // of a for_each
	MaxOutput      = 1 << 20    // bytes of a program's or agent's output, and of what a program writes to $FLOWRUN_OUTPUT
	MaxStream      = 64 << 10   // bytes of .stdout and .stderr in the journal: all of it, or the head, a mark and the tail; the log file has all
	MaxInline      = 4 << 10    // bytes of a stream or an output in the journal; a longer one lies in an artifact beside it
	MaxValue       = 1 << 20    // bytes of a value as JSON that an attempt is given: with, task, inputs, bodies
	MaxScriptValue = 100 << 10  // bytes of a value in a script
	MaxHeader      = 64 << 10   // bytes of the headers of an answer over HTTP
	MaxAgentAnswer = 64 << 20   // bytes of all that an agent over HTTP says in one answer
	MaxChatTokens  = 10_000_000 // tokens of an answer of a model
	MaxTemperature = 2          // of a model
	MaxTurns       = 1000       // answers of a model in one attempt that may use tools
	DefaultTurns   = 20
	MinContext     = 1000 // tokens of a conversation that is kept under a bound
	MaxServers     = 16   // whose tools a model may use
	MaxServerTools = 128  // of all of them
	MaxRetryAfter  = 3600 // seconds that an attempt waits because the other side asks for it
)
