package schema

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// kvExample counts the builds of all runs, and lets one run at a time have a name for an hour.
const kvExample = `step "number" {
  kv { incr = "builds" }
}

step "claim" {
  kv {
    cas   = "deploying"
    value = run.id
    ttl   = "1h"
  }
}

step "deploy" {
  run  = ["echo", "build", tostring(step.number.output)]
  when = "step.claim.output.swapped"
}
`

// eventExample asks for a review and waits for the verdict on one change.
const eventExample = `input "change" { type = string }

step "ask" {
  emit {
    event = "review.requested"
    data  = { change = input.change }
  }
}

step "verdict" {
  wait {
    event   = "review.done"
    match   = "event.change == input.change"
    data    = object({ change = string, passed = bool })
    timeout = "2d"
  }
  depends_on = [step.ask]
}

step "merge" {
  run  = ["echo", "merge", input.change]
  when = "step.verdict.output.passed"
}
`

// syncExample has the runs of two teams wait for each other, and one of them publish.
const syncExample = `input "team" { type = string }
input "version" { type = string }

step "meet" {
  sync {
    point   = "release-${input.version}"
    as      = input.team
    needs   = ["api", "ui"]
    timeout = "1d"
  }
}

step "publish" {
  run  = ["echo", "publish", input.version]
  when = "step.meet.output.last"
}
`

// notifyExample tells people how many files a check has found.
const notifyExample = `channel "team" {
  type = "slack"
  url  = "https://hooks.slack.com/services/T0/B0/X0"
}

workflow "nightly" {
  step "check" {
    run   = ["./check"]
    parse = "lines"
  }

  step "tell" {
    notify {
      to    = [channel.team]
      title = "The check has found files"
      text  = join("\n", step.check.output)
      data  = { files = length(step.check.output) }
    }
    when = "length(step.check.output) > 0"
  }
}
`

// approveExample asks one of two people before a release, and for the day of the release.
const approveExample = `step "plan" {
  run = ["cat", "plan.md"]
}

step "ok" {
  approve {
    prompt    = "Release this?"
    show      = step.plan.output
    approvers = ["ann", "bob"]
    timeout   = "2d"
    input "day" {
      type = string
      enum = ["monday", "tuesday"]
    }
  }
}

step "ship" {
  run = ["echo", "ship on", step.ok.output.input.day]
}

sequence "letter" {
  step "write" { run = ["cat", "letter.txt"] }

  step "read" {
    approve {
      prompt = "Send this letter?"
      show   = step.write.output
      revise = step.write # with the comment in last.step.read.output.comment
    }
  }
}
`

// handoffExample hands a page over to the agent that tests it.
const handoffExample = `step "build" {
  run   = ["./build", "--json"]
  parse = "json"
}

step "over" {
  handoff {
    to            = "leo"
    ticket        = "AGT-275"
    summary       = "The endpoint for profiles is there."
    next          = "Make the page that shows a profile."
    files_changed = step.build.output.files
    acceptance    = ["The page shows the name", "A button edits the profile"]
    artifacts     = { pr = step.build.output.pr }
    priority      = 5
  }
}
`

// Action is one of the things that a step can do.
type Action struct {
	Name    string // of its attribute, or of its block in the step
	Example string // of the attribute, for messages; "" for a block
	Attrs   []Attr // of the step that say the action; the first has its name. None for a block
	Block   *Block
	// Takes are attributes of the step that go with this action. An attribute that no action takes goes with all of them.
	Takes []string
}

// Actions are all that a step can do, in the order in which messages and documentation name them.
var Actions = []Action{
	{Name: "run", Example: `run = ["PROGRAM"]`, Takes: words("quota parse shell env pass_env stdin dir gates output timeout on_lost on_timeout"), Attrs: attrs(
		Attr{Name: "run", Kind: Command, Doc: "A program with its arguments, without a shell; or a shell script in a string."})},
	{Name: "agent", Example: `agent = agent.NAME`, Takes: words("quota capabilities task with feedback env pass_env dir gates output timeout on_lost on_timeout fallback"), Attrs: attrs(
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Doc: "The agent that does the task: agent.NAME; pool.NAME, which chooses a member by its strategy; or pool.NAME[EXPRESSION], the member with the name that the expression returns. CONDITION ? A : B chooses between two of these."},
		Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "Capabilities that the agent must have. Only an agent that has all of them gets the task."},
		Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "The task, in words."},
		Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the agent, or an object with the inputs of the called workflow."},
		Attr{Name: "feedback", Kind: Value, Want: value.AnyType, Default: "none", Doc: "Feedback on earlier work for the agent, such as last.step.REVIEW.output in a repeat: text as it is, null as nothing, any other value as JSON. Feedback of a gate of the step replaces it."})},
	{Name: "value", Example: `value = …`, Takes: words("gates output"), Attrs: attrs(
		Attr{Name: "value", Kind: Value, Want: value.AnyType, Doc: "Computes the output, without any side effect."})},
	{Name: "call", Example: `call = workflow.NAME`, Takes: words("quota with gates output timeout"), Attrs: attrs(
		Attr{Name: "call", Kind: Ref, RefKind: "workflow", Doc: "Workflow to run, as a separate run. Its outputs are the output of the step."})},
	{Name: "http", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "One HTTP request. The output is an object of status, headers and body; a body of JSON is decoded.", Once: true, Attrs: attrs(
		Attr{Name: "url", Kind: Value, Want: value.StringType, Required: true, Doc: "An address that begins with http:// or https://, without a user name or a password: those go into headers."},
		Attr{Name: "method", Kind: Value, Want: value.StringType, Default: `"GET", or "POST" where there is a body`, Doc: "The method of the request."},
		Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "Object of header fields. A field that is null is left out."},
		Attr{Name: "query", Kind: Value, Want: value.AnyType, Doc: "Object of query parameters for the address. A parameter that is null is left out."},
		Attr{Name: "body", Kind: Value, Want: value.AnyType, Doc: "Body of the request: text as it is, any other value as JSON."},
		Attr{Name: "expect", Kind: Value, Want: value.List(value.IntType), Default: "200 to 299", Doc: "Status codes that are not failures. With 101 the connection is closed, and the body is empty."},
		Attr{Name: "follow", Kind: Value, Want: value.IntType, Min: 0, Max: limits.MaxRedirects, True: limits.MaxRedirects, Default: "0", Doc: "How many redirects are followed; true means 20, false means 0. A request to another origin has no body and no headers of the file: the step fails if a redirect there would send a body or a secret."},
		Attr{Name: "max_bytes", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxBody, Default: "1048576", Doc: "How large the body of the answer may be."})}},
	{Name: "remember", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "Writes an entry to the memory, once, even if the attempt is repeated. The output is an object with its id and whether it was known.", Once: true, Attrs: attrs(
		Attr{Name: "text", Kind: Value, Want: value.StringType, Doc: "Text to remember. Either text or lesson is required."},
		Attr{Name: "lesson", Kind: Value, Want: value.StringType, Doc: "The lesson."},
		Attr{Name: "context", Kind: Value, Want: value.StringType, Doc: "When the lesson applies."},
		Attr{Name: "observation", Kind: Value, Want: value.StringType, Doc: "What happened."},
		Attr{Name: "type", Kind: Word, Words: EntryTypes, Default: `"insight" with a lesson, else "note"`, Doc: "Kind of the entry."},
		Attr{Name: "tags", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Words for searching the entry."},
		Attr{Name: "importance", Kind: Value, Want: value.NumberType, Min: 0, Max: 1, Default: "0.5", Doc: "From 0 to 1."},
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Default: "none", Doc: "Agent with this experience."},
		Attr{Name: "scope", Kind: Text, Default: `"agent:NAME" with an agent, else "shared"`, Doc: "Visibility: \"shared\", \"run\", \"agent:NAME\" or \"group:NAME\"."})}},
	{Name: "recall", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "Searches the memory by meaning and words. The output is an object of count, items and text.", Once: true, Attrs: attrs(
		Attr{Name: "query", Kind: Value, Want: value.StringType, Required: true, Doc: "Search text."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecalled, Default: "10", Doc: "Maximum number of entries."},
		Attr{Name: "type", Kind: Word, Words: append(append([]string{}, EntryTypes...), "pattern"), Default: "any", Doc: "Only entries of this type."},
		Attr{Name: "tag", Kind: Value, Want: value.StringType, Default: "any", Doc: "Only entries with this tag."},
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Default: "any", Doc: "Only entries about this agent's experience, including entries that only this agent can see."},
		Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Groups whose entries are searched, in addition to shared entries and entries of the run."},
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxRecallBudget, Default: "1000", Doc: "Maximum number of tokens of the output's text, estimated."})}},
	{Name: "kv", Takes: words("gates output"), Block: &Block{Doc: "Reads or changes one key of the state that all runs of a store share, or lists keys. Each operation is atomic, and a change is made exactly once, even if flowrun is killed. The step holds no slot.", Once: true, Example: kvExample, Attrs: attrs(
		Attr{Name: "get", Kind: Value, Want: value.StringType, Doc: "The key to read. The output is its value, or null."},
		Attr{Name: "set", Kind: Value, Want: value.StringType, Doc: "The key to write value to. The output is the value."},
		Attr{Name: "incr", Kind: Value, Want: value.StringType, Doc: "The key of a number to increase by the attribute by. A key without a value counts as 0. The output is the new number."},
		Attr{Name: "cas", Kind: Value, Want: value.StringType, Doc: "The key to write value to if its current value equals old. The output is an object of swapped and value (the value afterwards)."},
		Attr{Name: "delete", Kind: Value, Want: value.StringType, Doc: "The key to remove. The output is true if the key had a value."},
		Attr{Name: "scan", Kind: Value, Want: value.StringType, Doc: "The prefix of the keys to read; \"\" means all. The output is a map of values by key."},
		Attr{Name: "value", Kind: Value, Want: value.AnyType, Doc: "The value that set and cas write."},
		Attr{Name: "by", Kind: Value, Want: value.NumberType, Default: "1", Doc: "What incr adds; it can be negative."},
		Attr{Name: "old", Kind: Value, Want: value.AnyType, Default: "null: the key has no value", Doc: "What cas expects."},
		Attr{Name: "ttl", Kind: Duration, Default: "it does not expire", Doc: "Lifetime of the value that set, cas or incr writes. Without ttl, incr keeps the expiry of the key."},
		Attr{Name: "limit", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxKVScanned, Default: "1000", Doc: "How many keys scan returns, sorted by key."},
		Attr{Name: "namespace", Kind: Value, Want: value.StringType, Default: `"default"`, Doc: "Namespace of the key: a literal, or an expression that reads only variables. Keys of different namespaces are different keys."})}},
	{Name: "emit", Takes: words("gates output"), Block: &Block{Doc: "Publishes an event, exactly once, even if flowrun is killed. Each live run whose workflow waits for the name receives it. The event is durable before the step succeeds. The output is an object of id and duplicate. The step holds no slot.", Once: true, Example: eventExample, Attrs: attrs(
		Attr{Name: "event", Kind: Text, Required: true, Doc: "The name of the event: small letters, digits, dots, dashes and underscores. Names that begin with flowrun. are flowrun's own."},
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "The data of the event."},
		Attr{Name: "key", Kind: Value, Want: value.StringType, Default: "none", Doc: "If an event with the same name and key was published in the last 7 days, the step publishes nothing: duplicate is true, and id is the id of the first event."},
		Attr{Name: "run", Kind: Value, Want: value.StringType, Default: "all runs that wait for the name", Doc: "Id of the only run that receives the event."})}},
	{Name: "sync", Takes: words("gates output"), Block: &Block{Doc: "Checks in at a sync point as a party, and waits until each party in needs has checked in and is ready. All runs of a store share the points. The output is an object of checked_in, the names of the parties, and last, which is true for exactly one of the waiting steps. The step holds no slot while it waits. A point is kept for 30 days after the last check-in, and as long as a step waits there.", Once: true, Example: syncExample, Attrs: attrs(
		Attr{Name: "point", Kind: Value, Want: value.StringType, Required: true, Doc: "Name of the point. Once all parties have met at a point, it stays open, so each meeting needs a separate name, such as \"release-${input.version}\"."},
		Attr{Name: "as", Kind: Value, Want: value.StringType, Required: true, Doc: "The party that checks in. A later check-in of the party replaces this one."},
		Attr{Name: "needs", Kind: Value, Want: value.List(value.StringType), Required: true, Doc: "The parties that must be ready; the same list in each step with this point."},
		Attr{Name: "ready", Kind: Value, Want: value.BoolType, Default: "true", Doc: "Whether the party is ready. A party that is not ready keeps the others waiting until its next check-in."},
		Attr{Name: "reason", Kind: Value, Want: value.StringType, Default: "none", Doc: "Why the party is not ready. All steps that wait for the party show it."},
		Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "Maximum wait. After it, the step fails with the kind transient and the reason timeout, and is not retried."})}},
	{Name: "notify", Takes: words("gates output"), Block: &Block{Doc: "Sends a message to channels. The output is an object of sent, suppressed and failed, lists of the names of channels; a suppressed channel got an equal message a short while ago. The step fails only if the message reached no channel. It holds no slot.", Once: true, Example: notifyExample, Attrs: attrs(
		Attr{Name: "to", Kind: Refs, RefKind: "channel", Required: true, Doc: "The channels, each once."},
		Attr{Name: "text", Kind: Value, Want: value.StringType, Required: true, Doc: "Text of the message."},
		Attr{Name: "title", Kind: Value, Want: value.StringType, Default: "the names of the workflow and the step", Doc: "Title, in one line."},
		Attr{Name: "level", Kind: Value, Want: value.StringType, Default: `"info"`, Doc: "Urgency, in your own word, such as \"critical\"."},
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Data for a receiver that is a program."})}},
	{Name: "handoff", Takes: words("gates output"), Block: &Block{Doc: "Hands work over to another agent, exactly once, even if flowrun is killed, and does not wait for it. One transaction of the store adds the work with its document and the message. A loop with a source \"dispatch\" gives the work to that agent, whose request then has the document as handoff;  flowrun dispatch  lists and shows it. The output is an object with the id of the work. The step holds no slot.", Once: true, Example: handoffExample, Attrs: attrs(
		Attr{Name: "to", Kind: Value, RefKind: "agent", Pools: true, Want: value.StringType, Required: true, Doc: "The agent that continues: agent.NAME, pool.NAME for any member of a pool, pool.NAME[EXPRESSION] for the member with this name, or the name of an agent as text."},
		Attr{Name: "summary", Kind: Value, Want: value.StringType, Required: true, Doc: "The work done so far."},
		Attr{Name: "next", Kind: Value, Want: value.StringType, Required: true, Doc: "The work to do. Its first line is the title."},
		Attr{Name: "ticket", Kind: Value, Want: value.StringType, Default: "none", Doc: "Ticket of the work, as your project names it."},
		Attr{Name: "files_changed", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Files that were changed."},
		Attr{Name: "decisions", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Decisions made."},
		Attr{Name: "open_questions", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Open questions."},
		Attr{Name: "acceptance", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Criteria for accepting the work."},
		Attr{Name: "blockers", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Obstacles."},
		Attr{Name: "artifacts", Kind: Value, Want: value.Map(value.StringType), Default: "none", Doc: "Where to find the results, an object of texts such as { pr = \"https://…\" }."},
		Attr{Name: "priority", Kind: Value, Want: value.IntType, Min: -limits.MaxPriority, Max: limits.MaxPriority, Default: "0", Doc: "Work with a higher priority is done first."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message, with the id of the work and the document in data. The run ends only after the message was sent. A run that is killed leaves an unsent message as a dead letter."})}},
	{Name: "wait", Takes: words("gates"), Block: &Block{Doc: "Pauses without holding a process or a slot, for a time or until an event comes. The gates of the step judge the data of the event; after a gate with on_fail = \"retry\" the step waits again, with a new timeout.", Once: true, Example: eventExample,
		Attrs: attrs(Attr{Name: "duration", Kind: Duration, Doc: "Duration of the wait."},
			Attr{Name: "at", Kind: Value, Want: value.StringType, Doc: "Time to wait for, in RFC 3339. A time in the past does not wait."},
			Attr{Name: "event", Kind: Text, Doc: "Name of the event to wait for. The step takes the oldest event with this name since the run began that an earlier iteration of the step has not taken; the output is its data. Other steps that wait for the name receive the event, too."},
			Attr{Name: "match", Kind: Condition, Default: "every event of the name", Doc: "Takes only events for which this condition is true; event is the data."},
			Attr{Name: "data", Kind: Type, Default: "any", Doc: "Type of the data. An event with data of another type is ignored, with a warning."},
			Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "Maximum wait for an event. After it, the step fails with the kind transient and the reason timeout, and is not retried; the escalation of the step can have it wait again."})}},
	{Name: "approve", Takes: words("gates"), Block: &Block{Doc: "Waits for a decision by people, without holding a process or a slot. flowrun inbox lists the waiting steps, and flowrun decide answers. An approval makes the step succeed; the output is an object of decision (approved, or revised), by (names), comment, at and input. A rejection makes the step fail with the kind blocking and the reason rejected, without a retry; the escalation of the step, if it has one, is next. The gates of the step judge an approval, but not a revision. After a gate with on_fail = \"retry\" the question is asked again, with the gate's message, up to max_attempts of retry, 3 by default.", Once: true, Example: approveExample, Blocks: []string{"input"},
		Attrs: attrs(
			Attr{Name: "prompt", Kind: Value, Want: value.StringType, Required: true, Doc: "The question, in words."},
			Attr{Name: "show", Kind: Value, Want: value.AnyType, Default: "nothing", Doc: "The value to decide about. A decision is valid only for the prompt and the value that were shown."},
			Attr{Name: "approvers", Kind: Value, Want: value.List(value.StringType), Default: "anyone", Doc: "Names of the people who may decide. A person has one vote, and can change it while the step waits."},
			Attr{Name: "quorum", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxVotes, Default: "1", Doc: "How many people must approve."},
			Attr{Name: "rejections", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxVotes, Default: "1", Doc: "How many people must reject. The step is also rejected when too few approvers remain for the quorum."},
			Attr{Name: "revise", Kind: Ref, RefKind: "step", Default: "none", Doc: "A node before this step in the same sequence. With it people can also ask for a revision, with a comment: all nodes from that one to this step run again, and their agents get the comment as feedback. References from outside read the last round."},
			Attr{Name: "max_revisions", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxIterations - 1, Default: "5", Doc: "How many revisions people can ask for. After that they can only approve or reject."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when the step begins to wait, with the question, the value shown, and the command that answers."},
			Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "Maximum wait."},
			Attr{Name: "default", Kind: Word, Words: []string{"reject", "approve"}, Default: `"reject"`, Doc: "Decision at the timeout. With approve, each input needs a default, and by is empty."})}},
	{Name: "fail", Block: &Block{Doc: "Fails on purpose.", Once: true, Attrs: attrs(
		Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Why."},
		Attr{Name: "kind", Kind: Word, Words: []string{"transient", "rate_limited", "recoverable", "blocking", "fatal"}, Default: `"blocking"`, Doc: "Kind of the error."},
		Attr{Name: "reason", Kind: Word, Words: []string{"fail", "undecided"}, Default: `"fail"`, Doc: "Reason of the error: undecided means that a vote had no result."},
		Attr{Name: "group", Kind: Flag, Default: "false", Doc: "Whether the enclosing group (or the run, if there is no group) fails with this error at once and cancels its other nodes."})}},
	{Name: "end", Block: &Block{Doc: "Ends the run on purpose: running nodes are cancelled, and finally runs.", Once: true, Attrs: attrs(
		Attr{Name: "status", Kind: Word, Words: []string{"succeeded", "failed", "cancelled"}, Default: `"succeeded"`, Doc: "Status of the run, unless a node failed earlier."},
		Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Why."})}},
}

// ActionsWith lists the actions that an attribute of a step goes with; nil where it goes with all.
func ActionsWith(attr string) []string { return actionsWith[attr] }

var actionsWith = func() map[string][]string {
	with := map[string][]string{}
	for _, a := range Actions {
		for _, attr := range a.Takes {
			with[attr] = append(with[attr], a.Name)
		}
	}
	return with
}()

func words(list string) []string { return strings.Fields(list) }

// actionAttrs are the attributes of a step that say what the step does.
func actionAttrs() (out []Attr) {
	for _, a := range Actions {
		out = append(out, a.Attrs...)
	}
	return out
}

// actionBlocks are the blocks that say what a step does.
func actionBlocks() map[string]*Block {
	out := map[string]*Block{}
	for _, a := range Actions {
		if a.Block != nil {
			out[a.Name] = a.Block
		}
	}
	return out
}

// actionNames lists the names of actions; of blocks alone, if so asked.
func actionNames(blocks bool) (out []string) {
	for _, a := range Actions {
		if !blocks || a.Block != nil {
			out = append(out, a.Name)
		}
	}
	return out
}

// OneAction is the sentence about what a step needs, for messages.
func OneAction() string {
	var examples []string
	for _, a := range Actions {
		if a.Example != "" {
			examples = append(examples, a.Example)
		}
	}
	return "A step has exactly one action:  " + strings.Join(examples, ",  ") + ",  or a block " + Either(actionNames(true)) + "."
}

// Either writes names as a choice: a, b or c.
func Either(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
