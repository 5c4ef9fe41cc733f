// Package memory is what agents remember: entries that are added, superseded, forgotten and reverted, searched by words and
// meaning, and recalled into a request under a budget. It knows nothing of workflows, runs no model of its own accord, and
// must never import runner, dsl or cmd.
//
// Enter at [Open]; [Memory.Add], [Memory.Import], [Memory.Search] and [Memory.Recall] are most of it. What lies below:
//
//	memory/entry       entries, records and what a list of records amounts to
//	memory/store       the records on disk, the only truth
//	memory/cache       vectors by the hash of their text, which may be deleted at any time
//	memory/embed       texts to vectors
//	memory/text        words, terms, sentences, and what a text costs in tokens
//	memory/vector      how near vectors are to another
//	memory/rank        the order of what was found
//	memory/learn       repeats, groups and patterns of learnings
//	memory/window      what of a conversation is sent, under a budget
//
// What always holds:
//
//   - A write that returned without an error is on disk.
//   - Who sees what is checked here, in each read, by the [Viewer]. What a viewer does not see moves no score of what it does see,
//     but for one thing: the direction that is taken out of all word vectors is fitted to the texts of all agents.
//   - What an untrusted author writes stays in the scope of its run, and touches nothing outside of it, until a rule or a
//     person promotes it.
//   - Equal stores answer equal questions with equal bytes, whatever lies in the caches.
//   - No error of the memory needs to stop a caller's work: each can be told, by its type, and passed over.
//
// A Memory may be used by several goroutines, and a folder by several processes.
package memory
