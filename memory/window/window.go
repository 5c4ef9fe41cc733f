// Package window decides what of a long conversation is sent to a model, under a budget of tokens.
//
// It is given everything and gives back the parts to send; it stores nothing, asks no model, and reads no clock. It knows
// words and nothing of entries, stores or workflows, and must never import them: whoever calls it keeps the originals, under the
// ids that it is given.
//
// Enter at [Fit]. First the soul and the system prompt, verbatim, outside of all that follows. Then what is pinned, and the
// last messages, whole. When all of it together comes to more than [Trigger] of the budget, the messages before the last ones
// become a [Summary] that brings it down to [Target]. What always holds:
//
//   - The estimate of what is sent is never above the budget.
//   - Soul and system prompt are sent byte for byte, or Fit fails at once and says so.
//   - A tool's result is never sent without the call that it answers, nor cut in two with it.
//   - No character is cut. Equal arguments give equal results.
package window

import (
	"fmt"

	"github.com/flowrun/flowrun/memory/text"
)

// What is sent is summarized above Trigger of the budget, down to Target of it where the last messages leave room for that.
const (
	Trigger = 0.8
	Target  = 0.5
)

const (
	// DefaultKeep is how many of the last messages stay whole.
	DefaultKeep = 10
	// PerMessage is what a message or a summary costs beside its text, in tokens: its role and its borders.
	PerMessage = 4
	// leastSummary is the part of the budget that a summary may have where the last messages alone are above Target, and
	// leastTokens how much that is at least: its first line takes some 40 tokens.
	leastSummary = 0.1
	leastTokens  = 120
)

// Message is one message of a conversation.
type Message struct {
	// ID names the original, "M-3f2a"; it has no spaces and no brackets.
	ID   string
	Role string // user, assistant, tool
	Text string
	// Beside is how many tokens go with the text and are not part of it, such as reasoning that only the model can read.
	Beside int
	// Calls are the ids of the tool calls that it makes, and Answers is the one whose result it is.
	Calls   []string
	Answers string
}

// Content is everything that could be sent.
type Content struct {
	Soul, System string
	Pinned       []Message
	// Summary is the last one that was made; nil before the first. It stands for the messages up to Summary.To, whether or
	// not Messages still has them.
	Summary  *Summary
	Messages []Message // oldest first
}

// Options say how much may be sent. Budget is in tokens; 0 lets nothing through but nothing.
type Options struct {
	Budget int
	Keep   int              // how many of the last messages stay whole; 0 is DefaultKeep
	Tokens func(string) int // counts or estimates the tokens of a text; nil is [text.Tokens]
}

// Fitted is what is to be sent, in this order.
type Fitted struct {
	Soul, System string
	Pinned       []Message
	Summary      *Summary // nil where nothing is summarized
	Messages     []Message
	// Tokens is the estimate of all of it.
	Tokens int
	// New tells that Summary was made now: it is to be stored, and given next time.
	New bool
	// Cut are the ids of messages whose middle was left out, as each alone was above the budget; Left, those of messages
	// that are neither sent nor summarized, for want of any room.
	Cut, Left []string
}

// TooLargeError says that what must be sent whole does not fit into the budget.
type TooLargeError struct {
	What           string // "the soul", "the last 10 messages with the soul and all that is fixed"
	Tokens, Budget int
	// Last is how many last messages it is that do not fit; 0 where it is something else. Fewer may fit.
	Last int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: about %d tokens, and the budget is %d; it is sent whole or not at all: raise the budget or shorten it",
		e.What, e.Tokens, e.Budget)
}

func (o Options) keep() int {
	if o.Keep <= 0 {
		return DefaultKeep
	}
	return o.Keep
}

func (o Options) tokens(s string) int {
	switch {
	case s == "":
		return 0
	case o.Tokens == nil:
		return text.Tokens(s)
	}
	return o.Tokens(s)
}

// cost is what a message of this text costs.
func (o Options) cost(s string) int { return PerMessage + o.tokens(s) }

func (o Options) all(messages []Message) (sum int) {
	for _, m := range messages {
		sum += o.cost(m.Text) + m.Beside
	}
	return sum
}
