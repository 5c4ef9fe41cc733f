package schema

import "github.com/flowrun/flowrun/dsl/value"

// partBlocks are the blocks that say something of the node or workflow that they stand in.
var partBlocks = map[string]*Block{
	"wait": {Doc: "Pauses without holding a process or a slot.", Once: true,
		Attrs: attrs(Attr{Name: "duration", Kind: Duration, Doc: "How long."},
			Attr{Name: "at", Kind: Value, Want: value.StringType, Doc: "Until when, as in RFC 3339; a moment that has passed is not waited for."}, later("wait.event", "wait.match", "wait.timeout"))},
	"retry": {Doc: "When a failed attempt is made again.", Once: true, Attrs: attrs(
		Attr{Name: "max_attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxAttempts, Default: "1", Doc: "How many attempts at most, the first included."},
		Attr{Name: "base_delay", Kind: Duration, Default: `"1s"`, Doc: "Wait before the second attempt."},
		Attr{Name: "max_delay", Kind: Duration, Default: `"1m"`, Doc: "Longest wait."},
		Attr{Name: "multiplier", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxMultiplier, Default: "2", Doc: "How much longer each wait is than the one before."},
		Attr{Name: "jitter", Kind: Word, Words: []string{"none", "full", "equal"}, Default: `"full"`, Doc: "How waits are spread at random."},
		Attr{Name: "when", Kind: Condition, Default: "all but blocking and fatal errors", Doc: "Which errors are worth another attempt."})},
	"repeat": {Doc: "Makes the node again until a condition holds.", Once: true, Attrs: attrs(
		Attr{Name: "until", Kind: Condition, Doc: "Ends the repeat where it holds after an iteration; it reads result, iteration and, of a group, its nodes."},
		Attr{Name: "max", Kind: Value, Want: value.IntType, Min: 1, Max: MaxIterations, Required: true, Doc: "How many iterations at most; without until, how many."},
		Attr{Name: "delay", Kind: Duration, Default: "none", Doc: "Wait between two iterations."})},
	"deadline": {Doc: "When a node must have ended, with queueing, attempts, waits and gates.", Once: true, Attrs: attrs(
		Attr{Name: "after", Kind: Duration, Required: true, Doc: "How long after the node could start."},
		Attr{Name: "progress", Kind: Value, Want: value.List(value.NumberType), Default: "none", Doc: "Percentages of that time at which the run says that the node still runs."})},
	"compensate": {Doc: "Undoes what a step did, where the run fails or is cancelled after the step has started.", Once: true, Attrs: attrs(
		Attr{Name: "run", Kind: Command, Required: true, Doc: "A program with its arguments, or a script; it is run once."},
		dir, env, pass, sh,
		Attr{Name: "timeout", Kind: Duration, Doc: "Longest time for it."})},
	"finally": {Doc: "Nodes that run at the end of a run, whatever happened, one after the other.", Once: true, Blocks: innerNodes, Attrs: attrs(
		Attr{Name: "timeout", Kind: Duration, Default: `"5m"`, Doc: "Longest time for all of it."})},
	"concurrency": {Doc: "Lets one run at a time be active of those whose group is the same text. A run keeps its turn while it calls others; those of them that are of its group share it, and take turns. A call that could never have its turn for that fails.", Once: true, Attrs: attrs(
		Attr{Name: "group", Kind: Value, Want: value.StringType, Required: true, Doc: "A text over var, local and input."},
		Attr{Name: "when_busy", Kind: Word, Words: []string{"queue", "skip", "cancel_previous"}, Default: `"queue"`, Doc: "What another run of the group does: waits, does not run, or cancels the one before."})},
	"require": {Doc: "What must hold before the start; else the node, or the run, fails.", Attrs: attrs(cond, say)},
	"degrade": {Doc: "An output in place of that of a node that failed, which is tolerated then.", Once: true, Attrs: attrs(
		Attr{Name: "output", Kind: Value, Want: value.AnyType, Required: true, Doc: "What the output is then; it can read error."})},
	"http": {Doc: "One HTTP request. The output is an object of status, headers and body; a body of JSON is decoded.", Once: true, Attrs: attrs(
		Attr{Name: "url", Kind: Value, Want: value.StringType, Required: true, Doc: "An address that begins with http:// or https://, without a user name or a password: those go into headers."},
		Attr{Name: "method", Kind: Value, Want: value.StringType, Default: `"GET", or "POST" where there is a body`, Doc: "The method of the request."},
		Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "An object of header fields; one that is null is left out."},
		Attr{Name: "query", Kind: Value, Want: value.AnyType, Doc: "An object of what is added to the address behind a question mark; what is null is left out."},
		Attr{Name: "body", Kind: Value, Want: value.AnyType, Doc: "What is sent: a text as it is, anything else as JSON."},
		Attr{Name: "expect", Kind: Value, Want: value.List(value.IntType), Default: "200 to 299", Doc: "Status codes that are no failure. With 101 the connection is closed, and the body is empty."},
		Attr{Name: "follow", Kind: Value, Want: value.IntType, Min: 0, Max: MaxRedirects, Default: "0", Doc: "How many redirects are followed. Another origin gets neither a body nor headers of the file: the step fails where it would be sent a body or a secret."},
		Attr{Name: "max_bytes", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBody, Default: "1048576", Doc: "How large the body of the answer may be."})},
	"fail": {Doc: "Fails on purpose.", Once: true, Attrs: attrs(
		Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Why."},
		Attr{Name: "kind", Kind: Word, Words: []string{"transient", "rate_limited", "recoverable", "blocking", "fatal"}, Default: `"blocking"`, Doc: "Kind of the error."})},
	"end": {Doc: "Ends the run on purpose: what still runs is cancelled, and finally runs.", Once: true, Attrs: attrs(
		Attr{Name: "status", Kind: Word, Words: []string{"succeeded", "failed", "cancelled"}, Default: `"succeeded"`, Doc: "How the run ends, unless a node had failed before."},
		Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Why."})},
}
