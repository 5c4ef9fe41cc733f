package schema

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// Patterns are the kinds of block that stand where nodes stand, and that package core rewrites to nodes before the check.
var Patterns = []string{"feedback", "consensus", "compete"}

// feedbackExample has an author write until a critic accepts.
const feedbackExample = `agent "author" {
  type    = "exec"
  command = ["./author"]
}

agent "critic" {
  type    = "exec"
  command = ["./critic"]
  output  = object({ accepted = bool, words = string })
}

workflow "write" {
  input "topic" { type = string }

  feedback "draft" {
    producer       = agent.author
    reviewer       = agent.critic
    accept         = "review.output.accepted"
    max_iterations = 5
    task           = "Write about ${input.topic}."
    review_task    = "Is this text ready to be published?"
  }

  output "text" { value = step.draft.output }
  output "rounds" { value = step.draft.iterations }
}
`

// groupAttrs are the attributes of a pattern that are those of the group that it becomes.
var groupAttrs = attrs(commonAttrs, env, pass, dir, sh, hold, esc)

// groupBlocks are the blocks of a pattern that are those of the group that it becomes.
var groupBlocks = []string{"deadline", "degrade", "require", "retry", "budget", "classify"}

// patternBlocks are the patterns.
var patternBlocks = map[string]*Block{
	"feedback": {Label: "name", Doc: "One agent produces and another one reviews, round after round, until the review is accepted. It becomes a sequence NAME with a repeat, and in it the steps NAME_product and NAME_review; flowrun plan --lowered shows them. The output is the last product, and step.NAME.iterations counts the rounds. A round in which one of the two fails counts, and the next one begins. Without an accepted round it fails with the reason limit.",
		Blocks: groupBlocks, Example: feedbackExample,
		Attrs: attrs(
			Attr{Name: "producer", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Required: true, Doc: "Who makes the product: an agent, a pool or a member of one, as for agent of a step. From the second round on its feedback is the output of the review before."},
			Attr{Name: "reviewer", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Required: true, Doc: "Who reviews it. Its with is an object of product, the output of the producer; with, that of the pattern; and iteration."},
			Attr{Name: "accept", Kind: Condition, Required: true, Doc: "Ends the rounds where it holds. It reads product and review, the results of the two in this round, such as review.output.accepted."},
			Attr{Name: "max_iterations", Kind: Value, Want: value.IntType, Min: 1, Max: MaxIterations, Default: "3", Doc: "How many rounds there may be."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "What the producer is asked to do, in words."},
			Attr{Name: "review_task", Kind: Value, Want: value.StringType, Doc: "What the reviewer is asked to do, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Structured input for the producer; the reviewer is given it, too."},
			Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge each product. A product that does not pass is not reviewed: its round has failed."},
			Attr{Name: "value", Kind: Value, Want: value.AnyType, Default: "product.output", Doc: "The output, computed when a round was accepted; it reads product and review."},
			groupAttrs, span)},
	"consensus": {Label: "name", Doc: "Several agents are given the same task at once, and their votes are counted. It becomes a sequence NAME, and in it the parallel NAME_votes with a step NAME_AGENT for each participant, the step NAME_count, NAME_tie and NAME_decision where there is a tie breaker, and NAME_undecided, which fails it; flowrun plan --lowered shows them. The output is the object that the function vote gives: decision, share, tied, tally, votes, abstained and cast. A participant that fails or runs out of time abstains. Where nothing is decided it fails with the kind blocking and the reason undecided. Votes that are true or false decide whether true has enough, so they are undecided only without a quorum.",
		Blocks: groupBlocks, Example: consensusExample,
		Attrs: attrs(
			Attr{Name: "participants", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "Who votes, each agent once. A pool stands for all of its members."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "What the participants are asked, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the participants."},
			Attr{Name: "vote", Kind: Value, Want: value.AnyType, Default: "result.output, or its member vote where it is an object", Doc: "The vote in the result of a participant, such as result.output.approve: a string, a number or a bool, or with the method score an object of numbers. Null abstains."},
			Attr{Name: "method", Kind: Word, Words: []string{"majority", "unanimous", "weighted", "score"}, Default: `"majority"`, Doc: "What decides: more than half of the votes cast, or threshold of them; all of them; threshold of all weight; the highest sum."},
			Attr{Name: "threshold", Kind: Value, Want: value.NumberType, Doc: "The share that decides, above 0 and up to 1, such as 0.75."},
			Attr{Name: "quorum", Kind: Value, Want: value.NumberType, Default: "more than half of the participants", Doc: "How many participants must vote."},
			Attr{Name: "weights", Kind: Value, Want: value.AnyType, Doc: "An object with a number for each participant; of the method weighted their sum is 1."},
			Attr{Name: "tie_breaker", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Doc: "Who decides where the votes do not. Its with is an object of votes, tally, and with, that of the pattern."},
			time, groupGates, groupAttrs)},
	"compete": {Label: "name", Doc: "Several agents are given the same task at once, and one of them wins: the one with the highest score, or without a score the first that succeeds. It becomes a parallel NAME with a step NAME_AGENT for each agent; with for_each a sequence NAME with the parallel NAME_race. flowrun plan --lowered shows them. The output is that of the winner, and step.NAME.winner is the name of the agent. An agent whose time is up hands in what it has. Where nobody succeeds it fails with the kind recoverable and the reason join.",
		Blocks: groupBlocks, Example: competeExample,
		Attrs: attrs(
			Attr{Name: "agents", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "Who competes, each agent once. A pool stands for all of its members."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "What the agents are asked to do, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the agents."},
			Attr{Name: "score", Kind: Value, Want: value.NumberType, Doc: "The score of an agent's result, such as result.output.score. All agents are waited for. Null is out of the competition; of equal scores the first by name wins."},
			Attr{Name: "join", Kind: Join, Want: value.IntType, Words: join.Words, Min: join.Min, Max: join.Max, Default: `"first_success"; with score, all have ended and one has succeeded`, Doc: "When there is enough, as for a parallel."},
			time, groupGates, without(groupAttrs, "join"))},
}

// without is a list of attributes without one of them.
func without(list []Attr, name string) (out []Attr) {
	for _, a := range list {
		if a.Name != name {
			out = append(out, a)
		}
	}
	return out
}

// competeExample has three agents look for the shortest proof in half an hour.
const competeExample = `agent "ann" {
  type    = "exec"
  command = ["./solve", "--as", "ann"]
  output  = object({ proof = string, score = number })
}

agent "bo" {
  type    = "exec"
  command = ["./solve", "--as", "bo"]
  output  = object({ proof = string, score = number })
}

pool "solvers" { members = [agent.ann, agent.bo] }

workflow "solve" {
  input "theorem" { type = string }

  compete "race" {
    agents  = [pool.solvers]
    task    = "Prove ${input.theorem}, and give your proof a score."
    score   = result.output.score
    timeout = "30m"
  }

  output "proof" { value = step.race.output.proof }
  output "winner" { value = step.race.winner }
}
`

// groupGates are the gates of a pattern that judge its result.
var groupGates = Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge the result when it is there, in order. One with on_fail = \"retry\" makes all of it again, up to max_attempts of its own retry, 3 by default."}

// consensusExample has three agents decide on a change.
const consensusExample = `agent "backend" {
  type    = "exec"
  command = ["./review", "--as", "backend"]
  output  = object({ approve = bool })
}

agent "security" {
  type    = "exec"
  command = ["./review", "--as", "security"]
  output  = object({ approve = bool })
}

agent "operations" {
  type    = "exec"
  command = ["./review", "--as", "operations"]
  output  = object({ approve = bool })
}

workflow "change" {
  input "change" { type = string }

  consensus "merge" {
    participants = [agent.backend, agent.security, agent.operations]
    task         = "May this change be merged? ${input.change}"
    vote         = result.output.approve
    method       = "weighted"
    weights      = { backend = 0.4, security = 0.4, operations = 0.2 }
    threshold    = 0.6
    timeout      = "10m"
  }

  output "merge" { value = step.merge.output.decision }
}
`

// IsPattern reports whether a kind of block is a pattern.
func IsPattern(kind string) bool { return slices.Contains(Patterns, kind) }
