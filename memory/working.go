package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// inWorking says whether an entry is part of a session's working memory now.
func inWorking(i *entry.Item, session string) bool {
	return i.Working && !i.Archived && !i.Forgotten && !i.Reverted && i.SupersededBy == "" && i.Session == session
}

// Working is the working memory of a session, in the order in which it was written.
func (m *Memory) Working(ctx context.Context, session string) ([]entry.Item, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("reading the working memory: %w", err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.working(session, func(*entry.Item) bool { return true }), nil
}

// ShortTerm is what the viewer has in short-term memory, in the order of time: learnings of the newest tasks that are young
// enough, whichever is fewer, and what is pinned. What was learned in one step of a run is one task. For a learning that was
// consolidated since, or superseded, stands what says it now: else the more often a thing went wrong, the sooner it would be forgotten.
func (m *Memory) ShortTerm(ctx context.Context, v Viewer) ([]entry.Item, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("reading the short-term memory: %w", err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := append(m.index.pinned(v), m.index.recent(v, m.o.ShortTerm, m.now(), func(*entry.Item) bool { return true })...)
	byTime(out)
	return slices.CompactFunc(out, func(a, b entry.Item) bool { return a.ID == b.ID }), nil
}

// working is what is wanted of a session's working memory, in the order in which it was written.
func (x *index) working(session string, want func(*entry.Item) bool) []entry.Item {
	return slices.DeleteFunc(inOrder(x.lists.working[session]), func(i entry.Item) bool { return !want(&i) })
}

func (x *index) pinned(v Viewer) []entry.Item {
	return slices.DeleteFunc(inOrder(x.lists.pinned), func(i entry.Item) bool { return !i.Visible() || i.Archived || !v.sees(i.Scope) })
}

// recent is what says now what the newest tasks taught, of those learnings that are wanted.
func (x *index) recent(v Viewer, s ShortTerm, now time.Time, wanted func(*entry.Item) bool) []entry.Item {
	oldest := now.Add(-s.Age)
	tasks, told := map[string]bool{}, map[string]bool{}
	var out []entry.Item
	for _, d := range slices.Backward(x.lists.learned) {
		i := &d.item
		if i.Last.Before(oldest) {
			break
		}
		if !v.sees(i.Scope) {
			continue
		}
		tasks[taskOf(i)] = true
		if len(tasks) > s.Tasks {
			break
		}
		if n := x.now(i); n != nil && !told[n.ID] && wanted(i) && v.sees(n.Scope) {
			told[n.ID] = true
			out = append(out, *n)
		}
	}
	byTime(out)
	return out
}

// now is what stands for an entry: itself, or at the end of what superseded it the entry that nothing did; nil where that is
// hidden.
func (x *index) now(i *entry.Item) *entry.Item {
	for range len(x.docs) {
		if i.SupersededBy == "" {
			break
		}
		d := x.byID[i.SupersededBy]
		if d == nil {
			return nil
		}
		i = &d.item
	}
	if !i.Visible() || i.Archived {
		return nil
	}
	return i
}

func taskOf(i *entry.Item) string {
	if i.By.Run == "" {
		return i.ID
	}
	return fmt.Sprintf("%q %q", i.By.Run, i.By.Step)
}

// byTime orders by when an entry was last seen, and equals by when they were written.
func byTime(items []entry.Item) {
	slices.SortStableFunc(items, func(a, b entry.Item) int {
		return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.Seq, b.Seq))
	})
}

// isTalk says whether an entry is a message of a conversation or a summary of one: a store or an import can have them, and they are no notes.
func isTalk(i *entry.Item) bool { return i.Type == entry.Message || i.Type == entry.Summary }
