package memory

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Export writes entries as lines that [Memory.Import] takes. Forgotten ones have nothing to write.
func (m *Memory) Export(ctx context.Context, w io.Writer, f Filter) error {
	items, err := m.List(ctx, f)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for i := range items {
		if items[i].Forgotten {
			continue
		}
		if err := lines.Encode(lineOf(&items[i])); err != nil {
			return err
		}
	}
	return out.Flush()
}

func lineOf(i *entry.Item) Line {
	l := Line{
		ID: i.ID, Text: i.Text, CreatedAt: i.CreatedAt.Format(time.RFC3339Nano), Importance: &i.Importance, Agent: i.Agent,
		Type: i.Type, Tags: i.Tags, Session: i.Session, Context: i.Context, Observation: i.Observation, Lesson: i.Lesson,
	}
	implied := entry.Shared
	if i.Agent != "" {
		implied = entry.OfAgent(i.Agent)
	}
	if i.Scope != implied {
		l.Scope = &i.Scope
	}
	return l
}
