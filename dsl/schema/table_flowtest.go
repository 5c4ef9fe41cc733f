package schema

import "github.com/flowrun/flowrun/dsl/value"

// ErrorKinds are the kinds of error that a file can write.
var ErrorKinds = []string{"transient", "rate_limited", "recoverable", "blocking", "fatal"}

// ReplyError is the type of the error of a reply.
var ReplyError = value.Object(map[string]value.Type{
	"kind":        {Kind: value.StringT, Enum: ErrorKinds, Optional: true},
	"message":     {Kind: value.StringT, Optional: true},
	"status":      {Kind: value.NumberT, Int: true, Optional: true},
	"retry_after": {Kind: value.NumberT, Optional: true},
})

// ReplyUsage is the type of the usage of a reply.
var ReplyUsage = value.Object(map[string]value.Type{
	"input_tokens":  {Kind: value.NumberT, Int: true, Optional: true},
	"output_tokens": {Kind: value.NumberT, Int: true, Optional: true},
	"tokens":        {Kind: value.NumberT, Int: true, Optional: true},
	"cost_usd":      {Kind: value.NumberT, Optional: true},
})

// replies are the answers of a stub.
var replies = Attr{Name: "replies", Kind: Replies, Required: true, Doc: "What is answered, in the order in which it is asked; the last reply stays.", Members: attrs(
	Attr{Name: "output", Kind: Value, Want: value.AnyType, Doc: "The output of an agent or a step, or the body of an answer to an http step."},
	Attr{Name: "stdout", Kind: Value, Want: value.StringType, Doc: "What a program writes to standard output."},
	Attr{Name: "stderr", Kind: Value, Want: value.StringType, Doc: "What a program writes to standard error."},
	Attr{Name: "exit_code", Kind: Value, Want: value.IntType, Min: 0, Max: 255, Default: "0", Doc: "Exit code of a program."},
	Attr{Name: "error", Kind: Value, Want: ReplyError, Doc: "How it fails: an object of kind, message, status and retry_after, each of which can be left out."},
	Attr{Name: "status", Kind: Value, Want: value.IntType, Min: 100, Max: 599, Default: "200", Doc: "Status of the answer to an http step."},
	Attr{Name: "partial", Kind: Value, Want: value.AnyType, Doc: "What an agent has given until its time is up, beside hang or a failure."},
	Attr{Name: "usage", Kind: Value, Want: ReplyUsage, Doc: "What an agent says that it used: an object of input_tokens, output_tokens, tokens and cost_usd, each of which can be left out."},
	Attr{Name: "takes", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "How long it takes, in virtual time."},
	Attr{Name: "hang", Kind: Flag, Default: "false", Doc: "It never answers: a timeout, a heartbeat or a cancel ends it."},
	Attr{Name: "lost", Kind: Flag, Default: "false", Doc: "It falls silent, so the attempt is lost."},
	Attr{Name: "measured", Kind: Value, Want: value.List(value.NumberType), Doc: "The figures of a benchmark, one for each sample."})}

// expects are the conditions of a test.
var expects = Attr{Name: "expect", Kind: Conditions, Doc: "Conditions in literal strings, each of which must hold."}

// DecisionWords are what people can answer.
var DecisionWords = []string{"approve", "reject", "revise", "done", "fail", "retry", "skip", "abort", "override", "ack", "continue", "stop"}

// testBlocks are the blocks of a test file.
var testBlocks = map[string]*Block{
	"flowtest": {Doc: "The top of a test file, NAME.flowtest.hcl, which stands beside a program.", Blocks: []string{"test"}},
	"test": {Label: "name", AnyLabel: true, Doc: "Runs a workflow in virtual time with stubs in place of all that it would start.",
		Blocks: []string{"agent", "step", "gate", "channel", "at", "cancel", "crash", "vanish", "down", "start", "retry", "decide", "emit", "dispatch", "close", "check_in", "redrive", "metrics"},
		Attrs: attrs(
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Default: "the only one, or the default", Doc: "The workflow that is run."},
			Attr{Name: "loop", Kind: Ref, RefKind: "loop", Default: "the only one, where the test names no workflow and the program has no default workflow, or where the test has items, dispatch or close", Doc: "The loop that runs in place of a workflow. The nodes of the runs that do its items are item:WORKFLOW[ID]/NODE, those of all items item:WORKFLOW/NODE, or NAME where one node has it."},
			Attr{Name: "inputs", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "An object of the inputs of the run."},
			Attr{Name: "vars", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "An object of the variables of the program."},
			expects,
			Attr{Name: "run_for", Kind: Duration, Default: "until all has ended; a loop ends when there is nothing to do behind the last block of the test, and after 30 days at most", Doc: "How much virtual time passes at most. The conditions are asked then."},
			Attr{Name: "start_at", Kind: Text, Default: `"2026-01-05T08:00:00Z"`, Doc: "When the run starts, as in RFC 3339."},
			Attr{Name: "crash_everywhere", Kind: Flag, Default: "false", Doc: "Runs the test again with a crash of the driver at each point of its runs. All must end alike: runs and nodes with their statuses, outputs and attempts, and the values of kv that do not expire."},
			Attr{Name: "kv", Kind: Value, Want: value.AnyType, Default: "an empty store", Doc: "What the store holds when the run starts: an object of values by NAMESPACE/KEY; a key without a namespace is of default."},
			Attr{Name: "items", Kind: Value, Want: value.AnyType, Default: "nothing in any source", Doc: "What the sources of the loop hold: an object of lists by the names of sources, or a list for the first source that is not dispatch. An item is an object of id, and of title, body, labels, priority, needs, capabilities, assignee, url, created_at, data and closed, each of which can be left out, and of after: when the source has the item, such as \"2h\" after the start. Items of dispatch are handed in then. In place of the list, a roadmap and a backlog from file can be given the text of a file:  items = { roadmap = file(\"ROADMAP.md\") }. The test changes a copy of it, which loop.texts shows."})},
	"test.agent":   {Label: "name", Doc: "Answers in place of an agent.", Attrs: attrs(replies)},
	"test.step":    {Label: "path", AnyLabel: true, Doc: "Answers in place of a step: its path such as review/check or each[1], or its name where no other node has it. It goes before the stub of the step's agent. STEP/compensate is its compensation.", Attrs: attrs(replies)},
	"test.gate":    {Label: "name", AnyLabel: true, Doc: "Answers in place of a gate with run; STEP/GATE is that of one step.", Attrs: attrs(replies)},
	"test.channel": {Label: "name", Doc: "Answers in place of what a channel sends to, each try of a message by itself. Without it each message is taken down at once. No message of a test leaves flowrun.", Attrs: attrs(replies)},
	"test.start": {Label: "name", Doc: "Starts a run. The runs of a test share one store, and a test with these blocks has no other run. LABEL/PATH is the path of a node of the run.", Attrs: attrs(
		Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Default: "that of the test", Doc: "The workflow that is run."},
		Attr{Name: "inputs", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "An object of the inputs of the run."},
		after)},
	"test.retry": {Label: "name", Doc: "Starts a run that repeats a run that has ended, and reuses what is still good of it.", Attrs: attrs(
		Attr{Name: "of", Kind: Text, Default: "the only run", Doc: "Name of the run that is repeated: that of a block start or retry above."},
		Attr{Name: "from", Kind: Text, Default: "what did not end well", Doc: "Name or path of a node that runs again besides, with all that depends on it."},
		Attr{Name: "set", Kind: Value, Want: value.AnyType, Default: "none", Doc: "An object of outputs by the names or paths of steps: these steps count as succeeded with them, as with flowrun retry --set, and all that depends on them runs again."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Who sets the steps."},
		after)},
	"test.redrive": {Label: "name", Doc: "Tries again what was given up of a run, as flowrun dlq redrive does: messages that could not be sent are sent, and a run that failed is repeated by a run of this name.", Attrs: attrs(
		Attr{Name: "of", Kind: Text, Default: "the only run", Doc: "Name of the run: that of a block start, retry or redrive above."},
		after)},
	"test.emit": {Label: "name", AnyLabel: true, Doc: "Publishes an event of the name, as flowrun emit does. A webhook of the program gets a signed delivery: its signature is checked as the daemon checks it.", Attrs: attrs(after,
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "What the event says; for a webhook, an object of body, and of headers, which can be left out."},
		Attr{Name: "key", Kind: Text, Default: "none", Doc: "Of two events with the same name and key, the second one is not published; for a webhook, the id of the delivery, and another one for each block by default."},
		Attr{Name: "forge", Kind: Flag, Default: "false", Doc: "Of a webhook: somebody who does not have the key has signed the delivery. It is refused, and refused_events has it."},
		Attr{Name: "run", Kind: Text, Default: "all runs that wait for the name", Doc: "Name of the one run that gets the event: that of a block start or retry."})},
	"test.decide": {Label: "path", AnyLabel: true, Doc: "A person answers a node that waits for people: its path such as review/ok or each[1], or its name where no other node has it.", Attrs: attrs(
		Attr{Name: "decision", Kind: Word, Words: DecisionWords, Required: true, Doc: "What is decided."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Who decides."},
		Attr{Name: "comment", Kind: Text, Default: "none", Doc: "What the person says besides."},
		Attr{Name: "input", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "An object of the inputs of an approval."},
		Attr{Name: "output", Kind: Value, Want: value.AnyType, Default: "null", Doc: "The output of a task that is done, or of a node that is overridden."},
		Attr{Name: "shown", Kind: Value, Want: value.IntType, Min: 1, Max: MaxIterations, Default: "what is shown then", Doc: "The person looked at this showing of the node, counted from 1. A decision for what is not shown any more is refused."},
		Attr{Name: "after", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "When it happens, after the node first waits for people."})},
	"test.dispatch": {Label: "id", AnyLabel: true, Doc: "Somebody hands in work for a loop, as flowrun dispatch add does.", Attrs: attrs(
		Attr{Name: "title", Kind: Text, Default: "the id", Doc: "What is to be done, in a line."},
		Attr{Name: "body", Kind: Text, Default: "none", Doc: "More about it."},
		Attr{Name: "labels", Kind: Strings, Default: "none", Doc: "Its labels."},
		Attr{Name: "priority", Kind: Value, Want: value.IntType, Min: -MaxPriority, Max: MaxPriority, Default: "0", Doc: "The highest is first."},
		Attr{Name: "needs", Kind: Strings, Default: "none", Doc: "Ids of the work that must be done before."},
		Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "What an agent must be able to do that takes it."},
		Attr{Name: "assignee", Kind: Text, Default: "any agent", Doc: "The agent that is to do it."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Who hands it in."},
		after)},
	"test.close": {Label: "id", AnyLabel: true, Doc: "Somebody else ends the item of this id: a source closes it, and work that was handed in is cancelled as flowrun dispatch cancel does.", Attrs: attrs(after)},
	"test.check_in": {Label: "point", AnyLabel: true, Doc: "A party checks in at a sync point, as with flowrun sync check-in.", Attrs: attrs(after,
		Attr{Name: "as", Kind: Text, Required: true, Doc: "The party that checks in."},
		Attr{Name: "reason", Kind: Text, Default: "none: it is ready", Doc: "Why the party is not ready."})},
	"test.metrics": {Doc: "Sets figures of the machine for rules of adapt. Before the first such block they are null.", Attrs: attrs(ofRun("all runs that read them", "Name of the one run that gets the figures."), after,
		Attr{Name: "cpu", Kind: Value, Want: value.NumberType, Min: 0, Max: 100, Default: "as it was", Doc: "How busy the processors are, in percent."},
		Attr{Name: "memory", Kind: Value, Want: value.NumberType, Min: 0, Max: 100, Default: "as it was", Doc: "How much of the memory is in use, in percent."})},
	"at":     {Label: "moment", AnyLabel: true, Doc: "Asks conditions at a moment, such as \"10m\" after the start.", Attrs: attrs(required(expects))},
	"cancel": {Doc: "Cancels the run.", Attrs: attrs(ofRun("the only run", "Name of the run that is cancelled."), after)},
	"crash":  {Doc: "Lets the driver of the runs die. Another one takes the runs over at once.", Attrs: attrs(ofAll, after)},
	"vanish": {Doc: "Lets the driver stand still for some time, and go on.", Attrs: attrs(ofAll, after, lasting)},
	"down":   {Doc: "Lets the driver die, and leaves the runs without one for some time.", Attrs: attrs(ofAll, after, lasting)},
}

// When something happens in a test, and for how long.
var (
	after   = Attr{Name: "after", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "When it happens, after the start."}
	ofAll   = ofRun("one driver of all runs", "Name of the run whose own driver it is. The other runs have another one, and go on.")
	lasting = Attr{Name: "for", Kind: Duration, Required: true, Doc: "How long it lasts."}
)

// ofRun makes the attribute that names a run of a test.
func ofRun(byDefault, doc string) Attr {
	return Attr{Name: "of", Kind: Text, Default: byDefault, Doc: doc}
}

func required(a Attr) Attr {
	a.Required = true
	return a
}

// ReplyMember returns the member of a reply with a name, or nil.
func ReplyMember(name string) *Attr {
	for i := range replies.Members {
		if replies.Members[i].Name == name {
			return &replies.Members[i]
		}
	}
	return nil
}
