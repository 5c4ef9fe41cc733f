package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/window"
)

// Conversation names the messages of a session, and what they are fitted into.
type Conversation struct {
	Session string
	Scope   entry.Scope // of its messages: who sees them
	By      entry.Source
	// Soul and System are sent as they are, before all else. They are never stored, and never summarized.
	Soul, System string
	Budget       int // tokens, as [text.Tokens] estimates them
	Keep         int // how many of the last messages stay whole; 0: [window.DefaultKeep]
	// Recall is how many tokens of what is left go to what the memory has on Task, and Task is the last message of the user
	// where it is "". With a Recall of 0 nothing is recalled.
	Recall int
	Task   string
	Viewer Viewer
}

// Context is what a model is to be sent of a conversation.
type Context struct {
	window.Fitted
	Recalled Recalled // counted in Tokens
}

// leastRecall is the room under which it is not worth recalling anything, in tokens.
const leastRecall = 64

// Context fits a conversation into its budget: see package window. Where the last messages do not fit, fewer stay whole, and one
// at least. What is summarized leaves working memory: the summary takes its place, and the originals are found by their ids and when
// everything is asked for. Where the soul, the system prompt or what is pinned does not fit, the error is a
// [*window.TooLargeError].
//
// The new summary is durable when Context returns; after a crash before that the summary is computed again, with the same result.
func (m *Memory) Context(ctx context.Context, c Conversation) (Context, error) {
	if err := m.refresh(ctx); err != nil {
		return Context{}, fmt.Errorf("reading the conversation: %w", err)
	}
	content, before := m.conversation(c)
	f, err := window.FitLast(content, window.Options{Budget: c.Budget, Keep: c.Keep})
	if err != nil {
		return Context{}, err
	}
	if f.New && !m.o.ReadOnly {
		if err := m.keepSummary(ctx, c, before, content.Messages[:len(content.Messages)-len(f.Messages)], f.Summary); err != nil {
			return Context{}, fmt.Errorf("keeping the summary: %w", err)
		}
	}
	out := Context{Fitted: f}
	room := min(c.Recall, c.Budget-f.Tokens-window.PerMessage)
	task := cmp.Or(c.Task, lastOf(content.Messages))
	if room < leastRecall || task == "" {
		return out, nil
	}
	if out.Recalled, err = m.Recall(ctx, Ask{Task: task, Viewer: c.Viewer, Session: c.Session, Budget: room, Use: c.By}); err != nil {
		return Context{}, err
	}
	if out.Recalled.Text != "" {
		out.Tokens += window.PerMessage + text.Tokens(out.Recalled.Text)
	}
	return out, nil
}

// conversation is what there is of a session: its pinned messages, its last summary with that one's id, and the messages since.
func (m *Memory) conversation(c Conversation) (content window.Content, summary string) {
	content.Soul, content.System = c.Soul, c.System
	m.store.View(func(s *entry.State) {
		s.Each(func(i *entry.Item) bool {
			if i.Session != c.Session || i.Scope != c.Scope || i.Forgotten || i.Reverted || !i.Working {
				return true
			}
			msg := window.Message{ID: i.ID, Role: i.Role, Text: i.Text, Calls: i.Calls, Answers: i.Answers}
			switch {
			case i.Type == entry.Message && i.Archived && !summarized(s, i.ID):
			case i.Type == entry.Message && i.Pinned:
				content.Pinned = append(content.Pinned, msg)
			case i.Type == entry.Message:
				content.Messages = append(content.Messages, msg)
			case i.Type == entry.Summary && inWorking(i, c.Session):
				if read, ok := window.ParseSummary(i.Text); ok {
					content.Summary, summary = read, i.ID
				}
			}
			return true
		})
	})
	if last := content.Summary; last != nil {
		content.Messages = content.Messages[1+slices.IndexFunc(content.Messages, func(m window.Message) bool { return m.ID == last.To }):]
	}
	return content, summary
}

// lastOf is what the user said last.
func lastOf(messages []window.Message) string {
	for _, msg := range slices.Backward(messages) {
		if msg.Role == "user" {
			return msg.Text
		}
	}
	return ""
}
