package schema

import (
	"slices"

	"github.com/flowrun/flowrun/dsl/value"
)

// Patterns are the kinds of block that stand where nodes stand, and that package core rewrites to nodes before the check.
var Patterns = []string{"feedback"}

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
}

// IsPattern reports whether a kind of block is a pattern.
func IsPattern(kind string) bool { return slices.Contains(Patterns, kind) }
