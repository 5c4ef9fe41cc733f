package schema

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/limits"
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
var groupBlocks = []string{"adapt", "deadline", "degrade", "require", "retry", "budget", "classify"}

// roundBlocks are those of a pattern, which can be repeated and undone as a whole.
var roundBlocks = append([]string{"repeat", "compensate"}, groupBlocks...)

// patternBlocks are the patterns.
var patternBlocks = map[string]*Block{
	"feedback": {Label: "name", Doc: "A producer and a reviewer take turns until the review is accepted. flowrun turns the block into a sequence NAME with a repeat of the steps NAME_product and NAME_review; flowrun plan --lowered shows them. The output is the last product, and step.NAME.iterations counts the rounds. With a repeat or a compensate of its own, the rounds are in a sequence NAME_rounds inside: iterations counts the repeats, and compensate undoes all rounds at once. If the producer or the reviewer fails, the round counts, and the next one begins. If no round is accepted, the node fails with the reason limit.",
		Blocks: roundBlocks, Example: feedbackExample,
		Attrs: attrs(
			Attr{Name: "producer", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Required: true, Doc: "The producer: an agent, a pool or a member of a pool, as for agent of a step. From the second round on, its feedback is the output of the last review."},
			Attr{Name: "reviewer", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Required: true, Doc: "The reviewer. Its with is an object of product (the output of the producer), with (of the pattern) and iteration."},
			Attr{Name: "accept", Kind: Condition, Required: true, Doc: "Accepts a round if it is true. It reads product and review, the results of the round, such as review.output.accepted."},
			Attr{Name: "max_iterations", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxIterations, Default: "3", Doc: "How many rounds there may be."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "Task of the producer, in words."},
			Attr{Name: "review_task", Kind: Value, Want: value.StringType, Doc: "Task of the reviewer, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "null", Doc: "Structured input for the producer. The reviewer gets it, too."},
			Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge each product. A product that does not pass is not reviewed, and its round fails."},
			Attr{Name: "value", Kind: Value, Want: value.AnyType, Default: "product.output", Doc: "The output, computed when a round is accepted. It reads product and review."},
			groupAttrs, span)},
	"consensus": {Label: "name", Doc: "Several agents get the same task at once, and flowrun counts their votes. The block becomes a sequence NAME with a parallel NAME_votes, which has a step NAME_AGENT for each participant, a step NAME_count, the steps NAME_tie and NAME_decision if there is a tie breaker, and NAME_undecided, which fails the node; flowrun plan --lowered shows them. The output is the result of the function vote: an object of decision, share, tied, tally, votes, abstained and cast. A participant that fails or runs out of time abstains. Without a decision, the node fails with the kind blocking and the reason undecided. With votes of true or false, the decision is true if enough votes are true, and false otherwise, so these votes are undecided only without a quorum.",
		Blocks: roundBlocks, Example: consensusExample,
		Attrs: attrs(
			Attr{Name: "participants", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "The agents that vote, each once. A pool means all its members."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "Task of the participants, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the participants."},
			Attr{Name: "vote", Kind: Value, Want: value.AnyType, Default: "result.output, or its member vote if it is an object", Doc: "The vote in the result of a participant, such as result.output.approve: a string, a number or a bool, or with the method score an object of numbers. Null abstains."},
			Attr{Name: "method", Kind: Word, Words: []string{"majority", "unanimous", "weighted", "score"}, Default: `"majority"`, Doc: "How votes decide. majority: more than half of the votes cast, or threshold of them. unanimous: all votes cast. weighted: threshold of the total weight. score: the highest sum."},
			Attr{Name: "threshold", Kind: Value, Want: value.NumberType, Doc: "Share of votes needed for a decision, above 0 and up to 1, such as 0.75."},
			Attr{Name: "quorum", Kind: Value, Want: value.NumberType, Default: "more than half of the participants", Doc: "How many participants must vote."},
			Attr{Name: "weights", Kind: Value, Want: value.AnyType, Doc: "Object with a number for each participant. For the method weighted, the sum is 1."},
			Attr{Name: "tie_breaker", Kind: Ref, RefKind: "agent", Pools: true, Choice: true, Doc: "Agent that decides if the votes do not. Its with is an object of votes, tally and with (of the pattern). With the method score, it gives scores, and its highest score decides, or it names an option."},
			time, groupGates, groupAttrs)},
	"compete": {Label: "name", Doc: "Several agents get the same task at once, and one wins: the agent with the highest score, or, without a score, the first that succeeds. flowrun turns the block into a parallel NAME with a step NAME_AGENT for each agent; with for_each, into a sequence NAME with the parallel NAME_race. flowrun plan --lowered shows them. The output is the output of the winner, and step.NAME.winner is the name of its agent. At its timeout, an agent hands in its work so far. If all agents fail, the node fails with the kind recoverable and the reason join.",
		Blocks: roundBlocks, Example: competeExample,
		Attrs: attrs(
			Attr{Name: "agents", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "The agents that compete, each once. A pool means all its members."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "Task of the agents, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the agents."},
			Attr{Name: "score", Kind: Value, Want: value.NumberType, Doc: "Score of an agent's result, such as result.output.score. With a score, all agents finish before one wins. A score of null cannot win; of equal scores, the first agent by name wins."},
			Attr{Name: "join", Kind: Join, Want: value.IntType, Words: join.Words, Min: join.Min, Max: join.Max, Default: `"first_success"; with score, all have finished and at least one succeeded`, Doc: "When the competition is over, as for a parallel."},
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
var groupGates = Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge the result, in order. A gate with on_fail = \"retry\" repeats the whole node, up to max_attempts of its retry, 3 by default."}

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
