package bench

// row is a line of the table: what is measured, and how.
type row struct {
	name, what string
	run        func(*lab) ([]figure, error)
}

// rows are all of them, in the order in which they are measured.
var rows = []row{
	{"version", "flowrun version: CPU", startVersion},
	{"validate", "flowrun validate of 10 steps: CPU and wall", startValidate},
	{"wide", "1,000 process steps at once, 8 in parallel, beside a bare os/exec loop: CPU", processWide},
	{"chain", "500 process steps one after the other, beside a bare os/exec loop: wall", processChain},
	{"growth", "10,000 process steps: CPU a step beside that of 1,000, and memory", processGrowth},
	{"null", "null attempts, fan-out and chain, beside the same SQLite with rows as large: rate and CPU", nullAttempts},
	{"kv", "kv steps that write, fan-out and chain, beside the same SQLite with rows as large: rate and CPU", kvSteps},
	{"each", "for_each of 100,000 null attempts beside 10,000: CPU a step and memory", eachNull},
	{"values", "100,000 value steps beside 10,000, as for_each and as blocks: CPU a step and memory", values},
	{"resume", "resume of a run of which 10,000 steps have finished: wall to its end", resumeSteps},
	{"open", "resume of a run with 1,000,000 events: wall to its end, and memory", resumeEvents},
	{"import", "memory import of entries of 45 tokens, with the default embedder and without: entries a CPU second", memoryImport},
	{"search", "memory search at 10,000 entries, 1,000 queries in one process and one as a command, beside a flat scan: wall", memorySearch},
	{"recall", "attempts of an agent that is told what was learned, and learns, beside one that does not, and an entry added by a command: CPU", memoryRecall},
	{"soak", "100,000 process steps in one process, 100 runs one after the other: growth of memory, descriptors, goroutines", soak},
}
