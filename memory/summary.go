package memory

import (
	"context"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/memory/window"
)

// keepSummary writes a summary in place of the one before and of the messages that it stands for, in one transaction. If
// somebody else was faster, theirs stays.
func (m *Memory) keepSummary(ctx context.Context, c Conversation, before string, over []window.Message, s *window.Summary) error {
	now := m.now()
	e := entry.Entry{Scope: c.Scope, Agent: agentOf(c.By), Type: entry.Summary, Text: s.Text(),
		Auto: true, Session: c.Session, Working: true, CreatedAt: now, By: c.By}
	e.By.Source = bySummary
	var gone []string
	for _, msg := range over {
		gone = append(gone, msg.ID)
	}
	e.DerivedFrom = slices.Clone(gone)
	if before != "" {
		e.DerivedFrom = append(e.DerivedFrom, before)
	}
	return m.update(ctx, func(st *entry.State) ([]entry.Record, error) {
		for _, id := range e.DerivedFrom {
			if i, ok := st.Get(id); !ok || i.Forgotten || i.Reverted || i.SupersededBy != "" || i.Archived && !summarized(st, id) {
				return nil, nil
			}
		}
		faster, nth := false, 0
		st.Each(func(i *entry.Item) bool {
			if i.Type == entry.Summary && i.Session == c.Session {
				nth++
				faster = faster || i.Scope == c.Scope && inWorking(i, c.Session) && i.ID != before
			}
			return true
		})
		if faster {
			return nil, nil
		}
		e.ID = learn.ID("summary", c.Session, strconv.Itoa(nth)) // one that was taken back keeps its id
		out := []entry.Record{{At: now, Op: entry.Put, Entry: &e, By: e.By}}
		if len(gone) > 0 {
			out = append(out, entry.Record{At: now, Op: entry.Archive, IDs: gone, By: e.By})
		}
		if before != "" {
			out = append(out, entry.Record{At: now, Op: entry.Supersede, IDs: []string{before}, Other: e.ID, By: e.By})
		}
		return out, nil
	})
}

// summarized tells that a summary took a message out of working memory, not the end of its session. When the summary is reverted,
// the message counts again.
func summarized(s *entry.State, id string) (by bool) {
	for _, r := range s.History(id) {
		if r.Op == entry.Archive {
			by = r.By.Source == bySummary
		}
	}
	return by
}

// bySummary is the source of a summary, and of what it does to the messages that it stands for.
const bySummary = "summary"
