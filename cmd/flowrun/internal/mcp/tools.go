package mcp

// Right is what a client may do.
type Right string

// The rights, each with more power than the one before; they are given one by one.
const (
	Read   Right = "read"   // look at files, runs, the inbox, work and the memory
	Run    Right = "run"    // start, continue and cancel runs, hand in work, publish events, add to the memory
	Decide Right = "decide" // answer in the place of a person
)

// Rights are all rights.
var Rights = []Right{Read, Run, Decide}

// kind is how an argument of a tool becomes words of a command.
type kind string

const (
	word  kind = "word"  // a word at its place
	text  kind = "text"  // --NAME=VALUE
	count kind = "count" // --NAME=VALUE, a whole number
	yes   kind = "yes"   // --NAME, where it is true
	many  kind = "many"  // --NAME=VALUE for each member
	pairs kind = "pairs" // --NAME=KEY=VALUE for each member; a text goes with --NAME-raw, so that nothing in it is a file or an expression
	data  kind = "data"  // --NAME=JSON
)

// argument is an argument of a tool.
type argument struct {
	name     string
	kind     kind
	flag     string // "": its name, with - for _
	about    string
	required bool
	words    []string // the values that it can have; nil: any
}

// tool is a command of flowrun that a client can call.
type tool struct {
	name      string
	title     string
	about     string
	right     Right
	command   []string
	arguments []argument
	// destroys tells that the tool can end or change what others began.
	destroys bool
	// run tells that the tool drives a run: its lines are progress, and its result is the run as runs show prints it.
	run bool
	// follow is the command that waits until a run has ended, where the argument follow is true. Its lines are progress; nil: the tool takes no
	// such argument. Where it is that of the tool, what it prints is the result, too.
	follow []string
	// plain tells that the command prints text, and has no --json.
	plain bool
}

var (
	path    = argument{name: "path", kind: word, about: "A file NAME.flow.hcl, or a folder with one program.", required: true}
	theRun  = argument{name: "run", kind: word, about: "The id of a run, a unique beginning of it, or latest.", required: true}
	vars    = argument{name: "vars", kind: pairs, flag: "var", about: "Variables of the program, by name."}
	follow  = argument{name: "follow", kind: yes, about: "Wait until the run has ended. What happens meanwhile comes as progress."}
	claimed = argument{name: "id", kind: word, about: "The id of the work.", required: true}
	token   = argument{name: "token", kind: count, about: "The token that claim gave you.", required: true}
	inputs  = argument{name: "inputs", kind: pairs, flag: "input", about: "Inputs of the workflow, by name."}
)

// tools are all tools, in the order in which a client sees them.
var tools = []tool{
	{name: "validate", title: "Check files", right: Read, command: []string{"validate"},
		about:     "Check workflow files without running anything. The findings name the place, what is wrong, and what to write.",
		arguments: []argument{path}},
	{name: "explain", title: "Explain a word", right: Read, command: []string{"explain"}, plain: true,
		about:     "The reference of the language: a block (step), an attribute (step.when), a function (substr), a code (F0302), a word of another tool (matrix), or a topic: conditions, types, names, limits, exit-codes.",
		arguments: []argument{{name: "word", kind: word, about: "What to explain.", required: true}}},
	{name: "format", title: "Format files", right: Run, command: []string{"fmt"}, plain: true,
		about:     "Format workflow files. The meaning of a program never changes.",
		arguments: []argument{path}},
	{name: "plan", title: "Show what a run would do", right: Read, command: []string{"plan"},
		about:     "The nodes of a workflow in their order, the attempts and the cost at most, and how long a run would take. Nothing runs.",
		arguments: []argument{path, {name: "workflow", kind: word, about: "The workflow; needed if the program has several and none is the default."}, vars, inputs}},
	{name: "graph", title: "Draw a workflow", right: Read, command: []string{"graph"}, plain: true,
		about:     "A workflow, or a run with its states, as a diagram in the language of mermaid or dot.",
		arguments: []argument{{name: "path", kind: word, about: "A file, a folder, or a run.", required: true}, {name: "format", kind: text, about: "The language.", words: []string{"mermaid", "dot"}, required: true}}},
	{name: "test", title: "Run the tests of workflows", right: Run, command: []string{"test", "--format=junit"}, plain: true,
		about:     "Run the tests *.flowtest.hcl of a program in virtual time, without starting anything real. The result is a report in JUnit's XML.",
		arguments: []argument{path, {name: "only", kind: text, flag: "run", about: "Run only the tests whose names match this regular expression."}}},
	{name: "apply", title: "Run a workflow", right: Run, command: []string{"apply", "--no-wait"}, run: true, destroys: true,
		about:     "Run a workflow durably, and return when it has ended or waits for a person. With detach it returns at once, and the daemon of the store runs it.",
		arguments: []argument{path, {name: "workflow", kind: word, about: "The workflow; needed if the program has several and none is the default."}, vars, inputs, {name: "detach", kind: yes, about: "Hand the run to the daemon of the store, and do not wait."}}},
	{name: "resume", title: "Continue a run", right: Run, command: []string{"resume", "--no-wait"}, run: true, destroys: true,
		about:     "Continue a run whose process has died, or that waited for a person who has decided.",
		arguments: []argument{theRun}},
	{name: "retry", title: "Run what failed again", right: Run, command: []string{"retry", "--no-wait"}, run: true, destroys: true,
		about:     "Begin a new run that reuses the results of a run that has ended, and runs the rest.",
		arguments: []argument{theRun, {name: "from", kind: many, about: "Also run these steps again, and all that depend on them."}, {name: "only", kind: many, about: "Run only these steps."}}},
	{name: "cancel", title: "Cancel a run or a node", right: Run, command: []string{"cancel"}, destroys: true,
		about:     "Cancel a run, or one node of it.",
		arguments: []argument{theRun, {name: "node", kind: word, about: "The path of a node; without it the whole run."}, {name: "reason", kind: text, about: "Why, for people.", required: true}}},
	{name: "runs", title: "List runs", right: Read, command: []string{"runs", "list"},
		about: "The newest runs of the store, with their status.",
		arguments: []argument{{name: "status", kind: many, about: "Only runs with one of these: running, waiting, succeeded, failed, cancelled, interrupted."},
			{name: "workflow", kind: text, about: "Only runs of this workflow."}, {name: "since", kind: text, about: "Only runs that began since an age (24h, 7d) or a date."}, {name: "limit", kind: count, about: "So many at most."}}},
	{name: "run", title: "Show a run", right: Read, command: []string{"runs", "show"}, follow: []string{"runs", "watch"},
		about:     "A run: why each node ran or did not, attempts, gates, outputs, errors. With a step, that step alone.",
		arguments: []argument{theRun, {name: "step", kind: word, about: "The path of a node."}, follow}},
	{name: "logs", title: "Read logs", right: Read, command: []string{"logs"}, follow: []string{"logs"}, plain: true,
		about:     "What the attempts of a run wrote.",
		arguments: []argument{theRun, {name: "step", kind: word, about: "The path of a node."}, {name: "failed", kind: yes, about: "Only of attempts that failed."}, follow}},
	{name: "stats", title: "Figures of runs", right: Read, command: []string{"stats"},
		about:     "How many runs succeeded, how long they took, and what they cost.",
		arguments: []argument{{name: "since", kind: text, about: "From an age (24h, 7d) or a date on."}, {name: "by", kind: text, about: "A line for each group.", words: []string{"workflow", "agent", "pattern", "version"}}}},
	{name: "inbox", title: "List the questions for people", right: Read, command: []string{"inbox"},
		about: "The nodes of all runs that wait for a decision of a person, with the question, the value to decide about, and the words."},
	{name: "decide", title: "Answer in the place of a person", right: Decide, command: []string{"decide"}, destroys: true,
		about: "Record the decision of a person about a node that waits. Use it only for a person who told you the decision.",
		arguments: []argument{theRun, {name: "node", kind: word, about: "The path of the node.", required: true}, {name: "decision", kind: word, about: "One of the words that the inbox names, such as approve or reject.", required: true},
			{name: "as", kind: text, about: "The name of the person.", required: true}, {name: "comment", kind: text, about: "What the person says besides."}, {name: "shown", kind: text, about: "The hash that the inbox shows."},
			{name: "inputs", kind: pairs, flag: "input", about: "Inputs of the approval, by name."}, {name: "output", kind: data, about: "The output of a task that is done."}}},
	{name: "dispatch", title: "Hand in work", right: Run, command: []string{"dispatch", "add"},
		about: "Hand in a piece of work, for a loop and its agents.",
		arguments: []argument{{name: "title", kind: word, about: "What to do, in a line.", required: true}, {name: "body", kind: text, about: "A description of the work."}, {name: "to", kind: text, about: "The agent for the work."},
			{name: "label", kind: many, about: "Labels."}, {name: "needs", kind: many, about: "Ids of work that must be done first."}, {name: "priority", kind: count, about: "The work with the highest number is first."},
			{name: "key", kind: text, about: "Work with the same key is added only once."}}},
	{name: "work", title: "List work", right: Read, command: []string{"dispatch", "list"},
		about:     "The open work in its order, and who has it.",
		arguments: []argument{{name: "all", kind: yes, about: "Also closed and cancelled work."}}},
	{name: "claim", title: "Take work", right: Run, command: []string{"dispatch", "claim"},
		about: "Take a piece of work that was handed in, so that no other agent does it: the one with this id, or the one that is next for you. The result has the work, the token of the claim, and the end of its lease; if the id is null, there is no work for you. Renew the claim before its end with renew_claim, and end it with close_work, give_back or hand_over.",
		arguments: []argument{{name: "id", kind: word, about: "The id of the work; without it the next one."}, {name: "as", kind: text, about: "Your name.", required: true},
			{name: "lease", kind: text, about: "The lease of the claim, such as 30m; 10m by default, at most 24h. Renew the claim before the lease ends."}, {name: "capabilities", kind: many, flag: "capability", about: "Your capabilities, for work that requires them."}}},
	{name: "renew_claim", title: "Keep claimed work", right: Run, command: []string{"dispatch", "renew"},
		about:     "Renew a claim while you work: its lease starts again. If this is refused, stop the work, because another agent can have it.",
		arguments: []argument{claimed, token, {name: "lease", kind: text, about: "The new lease of the claim, such as 30m."}}},
	{name: "close_work", title: "Close work that is done", right: Run, command: []string{"dispatch", "close"},
		about:     "Say that claimed work is done.",
		arguments: []argument{claimed, token}},
	{name: "give_back", title: "Give claimed work back", right: Run, command: []string{"dispatch", "release"},
		about:     "Give claimed work back, so that other agents can take it at once. Work that failed twice becomes a dead letter: no agent gets it until a person redrives it.",
		arguments: []argument{claimed, token, {name: "reason", kind: text, about: "Why, for people."}, {name: "failed", kind: yes, about: "You have tried the work, and it failed."}}},
	{name: "hand_over", title: "Hand claimed work over", right: Run, command: []string{"dispatch", "hand-over"},
		about: "Close claimed work, and hand in its continuation for another agent, with what was done and what is to be done.",
		arguments: []argument{claimed, token, {name: "to", kind: text, about: "The agent that continues.", required: true}, {name: "summary", kind: text, about: "A summary of the work so far.", required: true},
			{name: "next", kind: text, about: "The next work; its first line is the title.", required: true}, {name: "files_changed", kind: many, flag: "file", about: "Files that were changed."},
			{name: "decisions", kind: many, flag: "decision", about: "Decisions that were made."}, {name: "open_questions", kind: many, flag: "question", about: "Questions that are open."},
			{name: "acceptance", kind: many, about: "The criteria for done work."}, {name: "blockers", kind: many, flag: "blocker", about: "Obstacles to the work."},
			{name: "as", kind: text, about: "Your name."}}},
	{name: "loops", title: "Show loops", right: Read, command: []string{"loop", "status"},
		about:     "What each agent of a loop works on, what is next and why, and what is not and why.",
		arguments: []argument{{name: "name", kind: word, about: "The name of one loop."}}},
	{name: "items", title: "List items of loops", right: Read, command: []string{"loop", "items"},
		about:     "The items that agents of loops hold: claims, leases and runs.",
		arguments: []argument{{name: "name", kind: word, about: "The name of one loop."}, {name: "all", kind: yes, about: "Also items without an agent."}}},
	{name: "emit", title: "Publish an event", right: Run, command: []string{"emit"},
		about:     "Publish an event. Steps that wait for it continue, and workflows that subscribe to it start.",
		arguments: []argument{{name: "name", kind: word, about: "The name of the event.", required: true}, {name: "data", kind: data, about: "The data of the event."}, {name: "key", kind: text, about: "An event with the same name and key is published only once."}}},
	{name: "check_in", title: "Check in at a sync point", right: Run, command: []string{"sync", "check-in"},
		about:     "Say at a sync point that a party is ready, or what blocks it.",
		arguments: []argument{{name: "point", kind: word, about: "The name of the point.", required: true}, {name: "as", kind: text, about: "The party.", required: true}, {name: "blocked", kind: text, about: "The party is not ready, for this reason."}}},
	{name: "memory_search", title: "Search the memory", right: Read, command: []string{"memory", "search"},
		about:     "What agents and people have learned in earlier work, the best match first.",
		arguments: []argument{{name: "query", kind: word, about: "What to look for, in words.", required: true}, {name: "results", kind: count, about: "So many at most."}, {name: "agent", kind: text, about: "Only entries that this agent sees."}}},
	{name: "memory_add", title: "Add to the memory", right: Run, command: []string{"memory", "add"},
		about: "Keep a lesson for later work.",
		arguments: []argument{{name: "lesson", kind: text, about: "The lesson, in a sentence.", required: true}, {name: "context", kind: text, about: "In what context it was learned."}, {name: "observation", kind: text, about: "The observation behind the lesson."},
			{name: "type", kind: text, about: "Its kind.", words: []string{"success", "failure", "insight"}}, {name: "tag", kind: many, about: "Tags."}, {name: "agent", kind: text, about: "The only agent that sees it."}}},
}
