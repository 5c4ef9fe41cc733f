package memory

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/window"
)

// Say adds messages to a conversation's working memory, and returns their ids. They are durable then, and there after a crash.
// A message with an id that the conversation has already is the same message, said again, and is passed over.
func (m *Memory) Say(ctx context.Context, c Conversation, messages ...window.Message) ([]string, error) {
	ids := make([]string, len(messages))
	now := m.now()
	err := m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		said := 0
		s.Each(func(i *entry.Item) bool {
			if i.Session == c.Session && i.Type == entry.Message {
				said++
			}
			return true
		})
		var out []entry.Record
		for n, msg := range messages {
			e := entry.Entry{ID: msg.ID, Scope: c.Scope, Agent: agentOf(c.By), Type: entry.Message, Text: strings.ToValidUTF8(msg.Text, "\uFFFD"),
				Role: msg.Role, Calls: msg.Calls, Answers: msg.Answers, Session: c.Session, Working: true, CreatedAt: now, By: c.By}
			for taken := e.ID == ""; taken; said++ { // where damage took some, the count alone is not a free name
				e.ID = learn.ID("message", c.Session, strconv.Itoa(said))
				_, taken = s.Get(e.ID)
			}
			ids[n] = e.ID
			if err := checkMessage(&e, c); err != nil {
				return nil, err
			}
			if old, ok := s.Get(e.ID); ok {
				if old.Session != c.Session || old.Type != entry.Message || !old.Forgotten && old.Text != e.Text {
					return nil, fmt.Errorf("%w: %q", ErrExists, e.ID)
				}
				continue
			}
			out = append(out, entry.Record{At: now, Op: entry.Put, Entry: &e, By: c.By})
		}
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("keeping what was said: %w", err)
	}
	return ids, nil
}

// checkMessage refuses a message that could not be found again, or that its author may not write there.
func checkMessage(e *entry.Entry, c Conversation) error {
	if err := checkID(e.ID); err != nil {
		return err
	}
	if strings.ContainsAny(e.ID, " []") {
		return bad("message id %q has spaces or brackets", e.ID)
	}
	if len(e.Text) > MaxText {
		return bad("the message has %d bytes, %d is the most", len(e.Text), MaxText)
	}
	if c.Session == "" {
		return bad("the conversation has no session")
	}
	if err := place(e); err != nil {
		return err
	}
	if e.Scope != c.Scope {
		return fmt.Errorf("%w: %s writes to %s alone, not to %s", ErrNotAllowed, author(c.By), name(e.Scope), name(c.Scope))
	}
	return nil
}

func agentOf(by entry.Source) string {
	agent, _ := strings.CutPrefix(by.Author, "agent:")
	if agent == by.Author {
		return ""
	}
	return agent
}

// isTalk says whether an entry is part of a conversation, which [Memory.Context] sends as what it is.
func isTalk(i *entry.Item) bool { return i.Type == entry.Message || i.Type == entry.Summary }
