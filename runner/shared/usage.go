package shared

import (
	"encoding/json"

	"github.com/flowrun/flowrun/runner/event"
)

// usageSpace holds, by the name of an agent, the most that an attempt of it has used.
const usageSpace = "usage"

// UsageTally watches one run for what attempts of its agents use. The zero value is ready. It is not safe for concurrent use.
type UsageTally struct {
	live map[uint64]string // by ticket: the agent
	most map[string]event.Bounds
}

// Add takes a batch in: its events, and what the machine made of them.
func (t *UsageTally) Add(events []event.Event, r *event.Reaction) {
	for i := range events {
		f := events[i].AttemptFinished
		if f == nil || t.live[f.Ticket] == "" {
			continue
		}
		if u := f.Usage; u != nil {
			if t.most == nil {
				t.most = map[string]event.Bounds{}
			}
			name := t.live[f.Ticket]
			m := t.most[name]
			t.most[name] = event.Bounds{Attempts: m.Attempts + 1, Tokens: max(m.Tokens, float64(u.InputTokens+u.OutputTokens+u.OtherTokens)),
				CostUSD: max(m.CostUSD, u.CostUSD)}
		}
		delete(t.live, f.Ticket)
	}
	for i := range r.Commands {
		if a := r.Commands[i].Start; a != nil && a.Agent != nil {
			if t.live == nil {
				t.live = map[uint64]string{}
			}
			t.live[a.Ticket] = a.Agent.Name
		}
	}
}

// Most returns, by agent, the most that an attempt has used, and in Attempts how many attempts said what they used. It is nil if none
// did.
func (t *UsageTally) Most() map[string]event.Bounds { return t.most }

// LearnUsage adds what one run has used to what is known of its agents. Agents with one name in different files count as one.
func LearnUsage(rows Rows, most map[string]event.Bounds) error {
	for name, m := range most { // any order: each agent for itself
		body, _, err := rows.Get(usageSpace, name)
		if err != nil {
			return err
		}
		var b event.Bounds
		_ = json.Unmarshal(body, &b) // what cannot be read is not known
		b = event.Bounds{Attempts: b.Attempts + m.Attempts, Tokens: max(b.Tokens, m.Tokens), CostUSD: max(b.CostUSD, m.CostUSD)}
		if body, err = json.Marshal(b); err != nil {
			return err
		}
		if err := rows.Put(usageSpace, name, body); err != nil {
			return err
		}
	}
	return nil
}

// KnownUsage returns what is known of all agents.
func KnownUsage(rows Rows) (map[string]event.Bounds, error) {
	most := map[string]event.Bounds{}
	err := rows.Scan(usageSpace, "", func(name string, body []byte) bool {
		var b event.Bounds
		if json.Unmarshal(body, &b) == nil {
			most[name] = b
		}
		return true
	})
	return most, err
}
