package schema

import (
	"strings"

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
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Doc: "Who is given the task: agent.NAME; pool.NAME, of whose members its strategy chooses one; or pool.NAME[EXPRESSION], the member whose name the expression gives. CONDITION ? A : B chooses between two of these."},
		Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "What the agent must be able to do: the task is given to an agent that has all of these among its capabilities, and to nobody else."},
		Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "What the agent is asked to do, in words."},
		Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the agent, or an object of the inputs of the workflow that is called."},
		Attr{Name: "feedback", Kind: Value, Want: value.AnyType, Default: "none", Doc: "What the agent is told of earlier work, such as last.step.REVIEW.output in a repeat: a text as it is, null as nothing, anything else as JSON. What a gate of the step says takes its place."})},
	{Name: "value", Example: `value = …`, Takes: words("gates output"), Attrs: attrs(
		Attr{Name: "value", Kind: Value, Want: value.AnyType, Doc: "Computes the output and touches nothing."})},
	{Name: "call", Example: `call = workflow.NAME`, Takes: words("quota with gates output timeout"), Attrs: attrs(
		Attr{Name: "call", Kind: Ref, RefKind: "workflow", Doc: "The workflow that is run as a run of its own; its outputs are the output."})},
	{Name: "http", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "One HTTP request. The output is an object of status, headers and body; a body of JSON is decoded.", Once: true, Attrs: attrs(
		Attr{Name: "url", Kind: Value, Want: value.StringType, Required: true, Doc: "An address that begins with http:// or https://, without a user name or a password: those go into headers."},
		Attr{Name: "method", Kind: Value, Want: value.StringType, Default: `"GET", or "POST" where there is a body`, Doc: "The method of the request."},
		Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "An object of header fields; one that is null is left out."},
		Attr{Name: "query", Kind: Value, Want: value.AnyType, Doc: "An object of what is added to the address behind a question mark; what is null is left out."},
		Attr{Name: "body", Kind: Value, Want: value.AnyType, Doc: "What is sent: a text as it is, anything else as JSON."},
		Attr{Name: "expect", Kind: Value, Want: value.List(value.IntType), Default: "200 to 299", Doc: "Status codes that are not failures. With 101 the connection is closed, and the body is empty."},
		Attr{Name: "follow", Kind: Value, Want: value.IntType, Min: 0, Max: MaxRedirects, Default: "0", Doc: "How many redirects are followed. Another origin gets neither a body nor headers of the file: the step fails where it would be sent a body or a secret."},
		Attr{Name: "max_bytes", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBody, Default: "1048576", Doc: "How large the body of the answer may be."})}},
	{Name: "remember", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "Writes an entry to the memory, once however often the attempt is made. The output is an object of its id and whether it was known.", Once: true, Attrs: attrs(
		Attr{Name: "text", Kind: Value, Want: value.StringType, Doc: "What to remember. It has this, or a lesson."},
		Attr{Name: "lesson", Kind: Value, Want: value.StringType, Doc: "What was learned."},
		Attr{Name: "context", Kind: Value, Want: value.StringType, Doc: "When the lesson applies."},
		Attr{Name: "observation", Kind: Value, Want: value.StringType, Doc: "What was seen."},
		Attr{Name: "type", Kind: Word, Words: EntryTypes, Default: `"insight" with a lesson, else "note"`, Doc: "What sort of entry it is."},
		Attr{Name: "tags", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Words to find it by."},
		Attr{Name: "importance", Kind: Value, Want: value.NumberType, Min: 0, Max: 1, Default: "0.5", Doc: "From 0 to 1."},
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Default: "nobody", Doc: "Whose experience it is."},
		Attr{Name: "scope", Kind: Text, Default: `"agent:NAME" with an agent, else "shared"`, Doc: "Who sees it: \"shared\", \"run\", \"agent:NAME\" or \"group:NAME\"."})}},
	{Name: "recall", Takes: words("quota gates output timeout on_lost"), Block: &Block{Doc: "Searches the memory by meaning and words. The output is an object of count, items and text.", Once: true, Attrs: attrs(
		Attr{Name: "query", Kind: Value, Want: value.StringType, Required: true, Doc: "What is looked for, in words."},
		Attr{Name: "k", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecalled, Default: "10", Doc: "How many entries at most."},
		Attr{Name: "type", Kind: Word, Words: append(append([]string{}, EntryTypes...), "pattern"), Default: "any", Doc: "Only entries of this type."},
		Attr{Name: "tag", Kind: Value, Want: value.StringType, Default: "any", Doc: "Only entries with this tag."},
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Default: "any", Doc: "Only what is this agent's experience; what it alone sees, too."},
		Attr{Name: "groups", Kind: Strings, Default: "none", Doc: "Groups whose entries are searched, too, beside those of all and of the run."},
		Attr{Name: "budget", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRecallBudget, Default: "1000", Doc: "How many tokens the text of the output has at most, estimated."})}},
	{Name: "kv", Takes: words("gates output"), Block: &Block{Doc: "Reads or changes one key of the state that all runs of a store share, or lists keys. Each operation is atomic, and a change is made once, also if flowrun is killed. It holds no slot.", Once: true, Example: kvExample, Attrs: attrs(
		Attr{Name: "get", Kind: Value, Want: value.StringType, Doc: "The key to read. The output is its value, or null."},
		Attr{Name: "set", Kind: Value, Want: value.StringType, Doc: "The key to write value to. The output is the value."},
		Attr{Name: "incr", Kind: Value, Want: value.StringType, Doc: "The key whose number grows by by; a key without a value counts as 0. The output is the new number."},
		Attr{Name: "cas", Kind: Value, Want: value.StringType, Doc: "The key to write value to if its value is old. The output is an object of swapped and value, the value after that."},
		Attr{Name: "delete", Kind: Value, Want: value.StringType, Doc: "The key to remove. The output is whether it had a value."},
		Attr{Name: "scan", Kind: Value, Want: value.StringType, Doc: "The prefix of the keys to read; \"\" means all. The output is a map of values by key."},
		Attr{Name: "value", Kind: Value, Want: value.AnyType, Doc: "What set and cas write."},
		Attr{Name: "by", Kind: Value, Want: value.NumberType, Default: "1", Doc: "What incr adds; it can be negative."},
		Attr{Name: "old", Kind: Value, Want: value.AnyType, Default: "null: the key has no value", Doc: "What cas expects."},
		Attr{Name: "ttl", Kind: Duration, Default: "it does not expire", Doc: "How long the value lives that set, cas or incr writes. Without it incr leaves the expiry as it is."},
		Attr{Name: "limit", Kind: Value, Want: value.IntType, Min: 1, Max: MaxKVScanned, Default: "1000", Doc: "How many keys scan reads, in the order of the keys."},
		Attr{Name: "namespace", Kind: Value, Want: value.StringType, Default: `"default"`, Doc: "Where the key is: a text, or one that only variables decide. Keys of other namespaces are other keys."})}},
	{Name: "emit", Takes: words("gates output"), Block: &Block{Doc: "Publishes an event, once, also if flowrun is killed. Each live run whose workflow waits for the name gets it. The event is durable before the step succeeds. The output is an object of id and duplicate. It holds no slot.", Once: true, Example: eventExample, Attrs: attrs(
		Attr{Name: "event", Kind: Text, Required: true, Doc: "The name of the event: small letters, digits, dots, dashes and underscores. Names that begin with flowrun. are flowrun's own."},
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "What the event says."},
		Attr{Name: "key", Kind: Value, Want: value.StringType, Default: "none", Doc: "Of two emissions with the same name and key within 7 days, the second one publishes nothing: duplicate is true, and id is that of the first event."},
		Attr{Name: "run", Kind: Value, Want: value.StringType, Default: "all runs that wait for the name", Doc: "The id of the one run that gets the event."})}},
	{Name: "sync", Takes: words("gates output"), Block: &Block{Doc: "Checks in at a sync point as a party, and waits until each party in needs has checked in and is ready. All runs of a store share the points. The output is an object of checked_in, the names of the parties, and last, which is true for one of those that waited. It holds no slot while it waits. A point is kept for 30 days after the last check-in, and as long as somebody waits there.", Once: true, Example: syncExample, Attrs: attrs(
		Attr{Name: "point", Kind: Value, Want: value.StringType, Required: true, Doc: "The name of the point. A point at which the parties have met stays met, so each meeting needs a name of its own, such as \"release-${input.version}\"."},
		Attr{Name: "as", Kind: Value, Want: value.StringType, Required: true, Doc: "The party that checks in. Its next check-in takes the place of this one."},
		Attr{Name: "needs", Kind: Value, Want: value.List(value.StringType), Required: true, Doc: "The parties that must be ready; the same list in each step with this point."},
		Attr{Name: "ready", Kind: Value, Want: value.BoolType, Default: "true", Doc: "Whether the party is ready. One that is not keeps the others waiting until its next check-in."},
		Attr{Name: "reason", Kind: Value, Want: value.StringType, Default: "none", Doc: "Why the party is not ready. All steps that wait for the party show it."},
		Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "How long the step waits at most. Then it fails, transient, with the reason timeout, and is not tried again."})}},
	{Name: "notify", Takes: words("gates output"), Block: &Block{Doc: "Sends a message to channels. The output is an object of sent, suppressed and failed, lists of the names of channels; suppressed are those that got an equal message a short while ago. The step fails only if the message reached no channel. It holds no slot.", Once: true, Example: notifyExample, Attrs: attrs(
		Attr{Name: "to", Kind: Refs, RefKind: "channel", Required: true, Doc: "The channels, each once."},
		Attr{Name: "text", Kind: Value, Want: value.StringType, Required: true, Doc: "What is said."},
		Attr{Name: "title", Kind: Value, Want: value.StringType, Default: "the names of the workflow and the step", Doc: "What it is about, in a line."},
		Attr{Name: "level", Kind: Value, Want: value.StringType, Default: `"info"`, Doc: "How urgent it is, in a word of your own such as \"critical\"."},
		Attr{Name: "data", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Facts for a receiver that is a program."})}},
	{Name: "handoff", Takes: words("gates output"), Block: &Block{Doc: "Hands work over to another agent, once, also if flowrun is killed, and does not wait for it. One transaction of the store adds the work for the agent, with the document, and keeps the message. A loop with a source \"dispatch\" gives the work to that agent, whose request then has the document as handoff;  flowrun dispatch  lists and shows it. The output is an object of id, the id of the work. It holds no slot.", Once: true, Example: handoffExample, Attrs: attrs(
		Attr{Name: "to", Kind: Value, Want: value.StringType, Required: true, Doc: "The name of the agent that goes on."},
		Attr{Name: "summary", Kind: Value, Want: value.StringType, Required: true, Doc: "What was done."},
		Attr{Name: "next", Kind: Value, Want: value.StringType, Required: true, Doc: "What is to be done. Its first line is the title of the work."},
		Attr{Name: "ticket", Kind: Value, Want: value.StringType, Default: "none", Doc: "What the work is about, as the people of the project call it."},
		Attr{Name: "files_changed", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "Files that were changed."},
		Attr{Name: "decisions", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "What was decided."},
		Attr{Name: "open_questions", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "What is not decided yet."},
		Attr{Name: "acceptance", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "How to see that the work is done."},
		Attr{Name: "blockers", Kind: Value, Want: value.List(value.StringType), Default: "none", Doc: "What is in the way."},
		Attr{Name: "artifacts", Kind: Value, Want: value.Map(value.StringType), Default: "none", Doc: "Where to find what was made: texts by names, such as { pr = \"https://…\" }."},
		Attr{Name: "priority", Kind: Value, Want: value.IntType, Min: -MaxPriority, Max: MaxPriority, Default: "0", Doc: "The work with the highest priority is first."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message, with the id and the document in data. The run ends only when the message was answered. A run that is ended at once leaves a message that was not sent as a dead letter."})}},
	{Name: "wait", Block: &Block{Doc: "Pauses without holding a process or a slot, for a time or until an event comes.", Once: true, Example: eventExample,
		Attrs: attrs(Attr{Name: "duration", Kind: Duration, Doc: "How long."},
			Attr{Name: "at", Kind: Value, Want: value.StringType, Doc: "Until when, as in RFC 3339; a moment that has passed is not waited for."},
			Attr{Name: "event", Kind: Text, Doc: "The name of the event that is waited for. The step takes the oldest event of the name since the run began that the step has not taken in an earlier iteration, and its output is the data. Other steps that wait for the name get the event, too."},
			Attr{Name: "match", Kind: Condition, Default: "every event of the name", Doc: "Takes only events for which this holds; event is the data."},
			Attr{Name: "data", Kind: Type, Default: "any", Doc: "The type of the data. An event whose data is not of the type is left out, with a warning."},
			Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "How long the step waits for an event at most. Then it fails, transient, with the reason timeout, and is not tried again."})}},
	{Name: "approve", Block: &Block{Doc: "Waits for the decision of people, without holding a process or a slot. flowrun inbox lists what waits, and flowrun decide answers. Approved, the step succeeds; the output is an object of decision (approved, or revised), by (who decided so), comment, at and input. Rejected, the step fails with the kind blocking and the reason rejected, and is not tried again.", Once: true, Example: approveExample, Blocks: []string{"input"},
		Attrs: attrs(
			Attr{Name: "prompt", Kind: Value, Want: value.StringType, Required: true, Doc: "What the people are asked, in words."},
			Attr{Name: "show", Kind: Value, Want: value.AnyType, Default: "nothing", Doc: "What the people decide about. A decision counts for the prompt and the value that were shown, and for no others."},
			Attr{Name: "approvers", Kind: Value, Want: value.List(value.StringType), Default: "everybody", Doc: "The names of those who may decide. A person has one vote, and can change it while the step waits."},
			Attr{Name: "quorum", Kind: Value, Want: value.IntType, Min: 1, Max: MaxVotes, Default: "1", Doc: "How many people must approve."},
			Attr{Name: "rejections", Kind: Value, Want: value.IntType, Min: 1, Max: MaxVotes, Default: "1", Doc: "How many people must reject. The step is also rejected when too few approvers are left."},
			Attr{Name: "revise", Kind: Ref, RefKind: "step", Default: "none", Doc: "A node before this step in the same sequence. With it people can also ask for a revision, with a comment: all nodes from that one to this step are made again, and a step with an agent there gets the comment as feedback. References from outside read the last round."},
			Attr{Name: "max_revisions", Kind: Value, Want: value.IntType, Min: 1, Max: MaxIterations - 1, Default: "5", Doc: "How many revisions people can ask for. After them they approve or reject."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message when the step begins to wait, with what is asked and shown, and the command that answers."},
			Attr{Name: "timeout", Kind: Duration, Default: "none", Doc: "How long the step waits at most."},
			Attr{Name: "default", Kind: Word, Words: []string{"reject", "approve"}, Default: `"reject"`, Doc: "The decision when the time is over. With approve each input needs a default, and by is empty."})}},
	{Name: "fail", Block: &Block{Doc: "Fails on purpose.", Once: true, Attrs: attrs(
		Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Why."},
		Attr{Name: "kind", Kind: Word, Words: []string{"transient", "rate_limited", "recoverable", "blocking", "fatal"}, Default: `"blocking"`, Doc: "Kind of the error."},
		Attr{Name: "reason", Kind: Word, Words: []string{"fail", "undecided"}, Default: `"fail"`, Doc: "Reason of the error: undecided says that a vote decided nothing."},
		Attr{Name: "group", Kind: Flag, Default: "false", Doc: "Whether the group around the step, or the run where there is none, fails with this error at once, and what else is in it is cancelled."})}},
	{Name: "end", Block: &Block{Doc: "Ends the run on purpose: what still runs is cancelled, and finally runs.", Once: true, Attrs: attrs(
		Attr{Name: "status", Kind: Word, Words: []string{"succeeded", "failed", "cancelled"}, Default: `"succeeded"`, Doc: "How the run ends, unless a node had failed before."},
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
