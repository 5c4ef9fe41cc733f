package schema

import (
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

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
var replies = Attr{Name: "replies", Kind: Replies, Required: true, Doc: "Replies, one for each request in order. The last reply is repeated.", Members: attrs(
	Attr{Name: "output", Kind: Value, Want: value.AnyType, Doc: "Output of an agent or a step, or body of the response to an http step."},
	Attr{Name: "stdout", Kind: Value, Want: value.StringType, Doc: "Standard output of a program."},
	Attr{Name: "stderr", Kind: Value, Want: value.StringType, Doc: "Standard error of a program."},
	Attr{Name: "exit_code", Kind: Value, Want: value.IntType, Min: 0, Max: 255, Default: "0", Doc: "Exit code of a program."},
	Attr{Name: "error", Kind: Value, Want: ReplyError, Doc: "The failure: an object of kind, message, status and retry_after, all optional."},
	Attr{Name: "status", Kind: Value, Want: value.IntType, Min: 100, Max: 599, Default: "200", Doc: "Status of the response to an http step."},
	Attr{Name: "partial", Kind: Value, Want: value.AnyType, Doc: "Partial output of an agent until its timeout, with hang or a failure."},
	Attr{Name: "usage", Kind: Value, Want: ReplyUsage, Doc: "Usage that an agent reports: an object of input_tokens, output_tokens, tokens and cost_usd, all optional."},
	Attr{Name: "takes", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "Duration of the attempt, in virtual time."},
	Attr{Name: "hang", Kind: Flag, Default: "false", Doc: "The attempt never answers, until a timeout, a heartbeat or a cancel ends it."},
	Attr{Name: "lost", Kind: Flag, Default: "false", Doc: "The attempt stops answering and is lost."},
	Attr{Name: "measured", Kind: Value, Want: value.List(value.NumberType), Doc: "Measurements of a benchmark, one for each sample."})}

// expects are the conditions of a test.
var expects = Attr{Name: "expect", Kind: Conditions, Doc: "Conditions in literal strings. All must be true."}

// DecisionWords are what people can answer.
var DecisionWords = []string{"approve", "reject", "revise", "done", "fail", "retry", "skip", "abort", "override", "ack", "continue", "stop"}

// testBlocks are the blocks of a test file.
var testBlocks = map[string]*Block{
	"flowtest": {Doc: "The top of a test file, NAME.flowtest.hcl, in the folder of the program.", Blocks: []string{"test"}},
	"test": {Label: "name", AnyLabel: true, Doc: "Runs a workflow in virtual time, with stubs for everything that it would start.",
		Blocks: []string{"agent", "step", "gate", "channel", "source", "at", "cancel", "crash", "vanish", "down", "start", "retry", "decide", "emit", "dispatch", "close", "check_in", "redrive", "metrics"},
		Attrs: attrs(
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Default: "the only one, or the default", Doc: "Workflow to run."},
			Attr{Name: "loop", Kind: Ref, RefKind: "loop", Default: "the only one, if the test names no workflow and the program has no default workflow, or if the test has items, dispatch or close", Doc: "The loop to run, instead of a workflow. item:WORKFLOW[ID]/NODE is a node in the run of one item, item:WORKFLOW/NODE of all items, and NAME a node with a unique name."},
			Attr{Name: "loops", Kind: Refs, RefKind: "loop", Default: "one loop", Doc: "Several loops that run at once, over one store: they share the lists that they read, work that is handed in, agents, quotas and the state of the program. A condition reads loops.NAME instead of loop, and agents.NAME is the sum over all loops. The test needs run_for. In blocks crash, vanish, down and cancel, of = \"NAME\" names a loop."},
			Attr{Name: "inputs", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "Object with the inputs of the run."},
			Attr{Name: "vars", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "Object with the variables of the program."},
			expects,
			Attr{Name: "run_for", Kind: Duration, Default: "until everything has ended; a loop ends when it has nothing to do after the last block of the test, and after 30 days at most", Doc: "Maximum virtual time. The conditions are evaluated then."},
			Attr{Name: "start_at", Kind: Text, Default: `"2026-01-05T08:00:00Z"`, Doc: "When the run starts, as in RFC 3339."},
			Attr{Name: "crash_everywhere", Kind: Flag, Default: "false", Doc: "Repeats the test with a crash of flowrun at each point of its runs. All repetitions must end with the same statuses, outputs and attempts, and the same values of kv that do not expire."},
			Attr{Name: "kv", Kind: Value, Want: value.AnyType, Default: "an empty store", Doc: "State of the store when the run starts: an object of values by NAMESPACE/KEY. A key without a namespace belongs to default."},
			Attr{Name: "items", Kind: Value, Want: value.AnyType, Default: "nothing in any source", Doc: "Items of the sources of the loops: an object of lists by source name, or a list for the first source that is not dispatch. An item is an object of id and, all optional, title, body, labels, priority, needs, capabilities, assignee, url, created_at, data, closed and after. after is the time from the start at which the item appears, such as \"2h\"; items of dispatch are handed in then. A roadmap, or a backlog from file, can have the text of a file instead of a list:  items = { roadmap = file(\"ROADMAP.md\") }. The test changes a copy, which loop.texts shows. Sources of several loops that have equal blocks read the same list, under one name; of others the second has the name SOURCE-2."})},
	"test.agent":   {Label: "name", Doc: "Replies for an agent.", Attrs: attrs(replies)},
	"test.step":    {Label: "path", AnyLabel: true, Doc: "Replies for a step: its path such as review/check or each[1], or its name if it is unique. It takes precedence over the stub of the step's agent. STEP/compensate is its compensation.", Attrs: attrs(replies)},
	"test.gate":    {Label: "name", AnyLabel: true, Doc: "Replies for a gate with run. STEP/GATE is the gate of one step.", Attrs: attrs(replies)},
	"test.channel": {Label: "name", Doc: "Replies for a channel, one for each try to send. Without a stub, each message succeeds at once. A test never sends a message.", Attrs: attrs(replies)},
	"test.source":  {Label: "name", AnyLabel: true, Doc: "Replies for a source of the loop, one for each request for its list. output is the new list of the source: items as in the attribute items, without closed items and with added items. A reply without output and without a failure lists the current items of the source. Anything else in output is a malformed answer. error, status and exit_code make the request fail; a reply that hangs fails after a minute.", Attrs: attrs(replies)},
	"test.start": {Label: "name", Doc: "Starts a run. All runs of a test share one store; a test with these blocks starts no other run. LABEL/PATH is the path of a node of the run.", Attrs: attrs(
		Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Default: "that of the test", Doc: "Workflow to run."},
		Attr{Name: "inputs", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "Object with the inputs of the run."},
		after)},
	"test.retry": {Label: "name", Doc: "Retries a finished run in a new run that reuses its valid results.", Attrs: attrs(
		Attr{Name: "of", Kind: Text, Default: "the only run", Doc: "Name of the run to retry: the label of a block start or retry above."},
		Attr{Name: "from", Kind: Text, Default: "the failed steps", Doc: "Name or path of another node to run again, with all its dependents."},
		Attr{Name: "set", Kind: Value, Want: value.AnyType, Default: "none", Doc: "Object of outputs by names or paths of steps. These steps succeed with the given outputs, as with flowrun retry --set, and their dependents run again."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Person who sets the steps."},
		after)},
	"test.redrive": {Label: "name", Doc: "Redrives the dead letters of a run, as flowrun dlq redrive does: sends its unsent messages, and retries a failed run in a run of this name.", Attrs: attrs(
		Attr{Name: "of", Kind: Text, Default: "the only run", Doc: "Name of the run: the label of a block start, retry or redrive above."},
		after)},
	"test.emit": {Label: "name", AnyLabel: true, Doc: "Publishes an event of this name, as flowrun emit does. For webhook.NAME it sends a signed delivery, and flowrun checks the signature as the daemon does.", Attrs: attrs(after,
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Data of the event; for a webhook, an object of body and, optionally, headers."},
		Attr{Name: "key", Kind: Text, Default: "none", Doc: "Key of the event: a second event with the same name and key is not published. For a webhook, the id of the delivery, by default a new one for each block."},
		Attr{Name: "forge", Kind: Flag, Default: "false", Doc: "For a webhook: signs the delivery with a wrong key. The delivery is refused, and listed in refused_events."},
		Attr{Name: "run", Kind: Text, Default: "all runs that wait for the name", Doc: "Name of the only run that receives the event: the label of a block start or retry."})},
	"test.decide": {Label: "path", AnyLabel: true, Doc: "A person decides for a waiting node: its path such as review/ok or each[1], or its name if it is unique.", Attrs: attrs(
		Attr{Name: "decision", Kind: Word, Words: DecisionWords, Required: true, Doc: "The decision."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "The person who decides."},
		Attr{Name: "comment", Kind: Text, Default: "none", Doc: "Comment of the person."},
		Attr{Name: "input", Kind: Value, Want: value.AnyType, Default: "the defaults", Doc: "Object with the inputs of an approval."},
		Attr{Name: "output", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Output of a finished task, or of an overridden node."},
		Attr{Name: "shown", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxIterations, Default: "the value shown at that time", Doc: "Which version of the question the person saw, counted from 1. A decision for an outdated version is refused."},
		Attr{Name: "after", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "Time after the node begins to wait for people."})},
	"test.dispatch": {Label: "id", AnyLabel: true, Doc: "Hands in work for a loop, as flowrun dispatch add does.", Attrs: attrs(
		Attr{Name: "title", Kind: Text, Default: "the id", Doc: "The work, in one line."},
		Attr{Name: "body", Kind: Text, Default: "none", Doc: "Description of the work."},
		Attr{Name: "labels", Kind: Strings, Default: "none", Doc: "Its labels."},
		Attr{Name: "priority", Kind: Value, Want: value.IntType, Min: -limits.MaxPriority, Max: limits.MaxPriority, Default: "0", Doc: "Priority of the work. Higher is first."},
		Attr{Name: "needs", Kind: Strings, Default: "none", Doc: "Ids of work that must be done first."},
		Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "Capabilities that an agent needs for the work."},
		Attr{Name: "assignee", Kind: Text, Default: "any agent", Doc: "Agent that must do the work."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Person who hands in the work."},
		after)},
	"test.close": {Label: "id", AnyLabel: true, Doc: "Ends the item with this id from outside: its source closes it; dispatched work is cancelled, as with flowrun dispatch cancel.", Attrs: attrs(after)},
	"test.check_in": {Label: "point", AnyLabel: true, Doc: "A party checks in at a sync point, as with flowrun sync check-in.", Attrs: attrs(after,
		Attr{Name: "as", Kind: Text, Required: true, Doc: "The party that checks in."},
		Attr{Name: "reason", Kind: Text, Default: "none: it is ready", Doc: "Why the party is not ready."})},
	"test.metrics": {Doc: "Sets the metrics of the machine for rules of adapt. They are null before the first such block.", Attrs: attrs(ofRun("all runs that read them", "Name of the only run that gets the metrics."), after,
		Attr{Name: "cpu", Kind: Value, Want: value.NumberType, Min: 0, Max: 100, Default: "as it was", Doc: "CPU load, in percent."},
		Attr{Name: "memory", Kind: Value, Want: value.NumberType, Min: 0, Max: 100, Default: "as it was", Doc: "Memory in use, in percent."})},
	"at": {Label: "moment", AnyLabel: true, Doc: "Evaluates conditions at a time after the start, such as \"10m\".", Attrs: attrs(required(expects))},
	"cancel": {Doc: "Cancels the run, or one node of it, as flowrun cancel does.", Attrs: attrs(ofRun("the only run", "Name of the run to cancel."), after,
		Attr{Name: "node", Kind: Text, Default: "the whole run", Doc: "Path of the only node to cancel, such as each[1], or its name if it is unique. The rest of the run continues."},
		Attr{Name: "by", Kind: Text, Default: `"test"`, Doc: "Person who cancels the node."},
		Attr{Name: "reason", Kind: Text, Default: "none", Doc: "Reason of the person."})},
	"crash":  {Doc: "Kills the flowrun process of the runs. Another process takes over at once.", Attrs: attrs(ofAll, after)},
	"vanish": {Doc: "Freezes the flowrun process for some time, and then continues it.", Attrs: attrs(ofAll, after, lasting)},
	"down":   {Doc: "Kills the flowrun process, and leaves the runs without one for some time.", Attrs: attrs(ofAll, after, lasting)},
}

// When something happens in a test, and for how long.
var (
	after   = Attr{Name: "after", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "Time after the start."}
	ofAll   = ofRun("one process for all runs", "Name of a run with its own flowrun process. The other runs have another process, and continue.")
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
