package entry

import "time"

// Op is what a record does.
type Op string

// Ops. All but Put are about the entries of IDs.
const (
	Put         Op = "put"         // Entry is new
	Supersede   Op = "supersede"   // the entry Other stands for them: hidden unless asked for, never removed
	Forget      Op = "forget"      // hidden permanently; only their ids and that they were forgotten are still told
	Revert      Op = "revert"      // as if they had never been written; what they superseded is back
	Pin         Op = "pin"         // always in short-term memory
	Unpin       Op = "unpin"       // no longer
	Promote     Op = "promote"     // seen in Scope from now on
	Repeat      Op = "repeat"      // seen once more, word for word
	Uncount     Op = "uncount"     // the repeat of record number Other (in digits) does not count any more
	Link        Op = "link"        // near repeats of Other
	Use         Op = "use"         // recalled into a request
	Archive     Op = "archive"     // working memory that is over
	Consolidate Op = "consolidate" // an agent's learnings up to here were consolidated; Other is the agent
	Reword      Op = "reword"      // the one entry of IDs reads as Other says from now on; without Other, as it was put
	Lost        Op = "lost"        // damage took the records of all numbers since the record before, up to its own; IDs are what they were about, as far as known
)

// Record is one line of the memory's history.
type Record struct {
	// Seq is given by the store: from 1, without gaps but those that a Lost record stands for.
	Seq   uint64    `json:"seq"`
	At    time.Time `json:"at"`
	Op    Op        `json:"op"`
	Entry *Entry    `json:"entry,omitempty"`
	IDs   []string  `json:"ids,omitempty"`
	Other string    `json:"other,omitempty"`
	Scope Scope     `json:"scope,omitempty"`
	By    Source    `json:"by,omitzero"`
	// Reason is for people.
	Reason string `json:"reason,omitempty"`
}

// Item is an entry as its records leave it.
type Item struct {
	Entry
	Seq   uint64 // of the record that put it: the order within a session
	Count int    // how often it was seen, from 1
	Last  time.Time
	Uses  int
	// SupersededBy is the entry that stands for it, "" while it stands for itself.
	SupersededBy string
	Pinned       bool
	Forgotten    bool // its texts are gone from the state
	Reverted     bool // as if it had never been written; its id may be put again
	Archived     bool
	Repeats      []string // ids of near repeats, sorted
}
