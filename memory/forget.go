package memory

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/memory/entry"
)

// Forget hides entries permanently; their texts are no longer told. The patterns and summaries that quote them are reverted, and
// their texts forgotten as well. reason is for people.
func (m *Memory) Forget(ctx context.Context, ids []string, src entry.Source, reason string) error {
	if len(ids) == 0 {
		return nil
	}
	return m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		if err := allMay(s, ids, src); err != nil {
			return nil, err
		}
		var out []entry.Record
		quoting, standing := madeOf(s, ids, src)
		if len(standing) > 0 {
			out = append(out, entry.Record{At: m.now(), Op: entry.Revert, IDs: standing, By: src, Reason: reason})
		}
		return append(out, entry.Record{At: m.now(), Op: entry.Forget, IDs: slices.Concat(ids, quoting), By: src, Reason: reason}), nil
	})
}

// madeOf are the patterns and summaries that were made of entries, or of what was made of them, and that src may change;
// standing are those of them that were not reverted. Where src may not, somebody else made it of what it has no say in.
func madeOf(s *entry.State, ids []string, src entry.Source) (all, standing []string) {
	of := map[string]bool{}
	for _, id := range ids {
		of[id] = true
	}
	s.Each(func(i *entry.Item) bool { // each is put after its sources
		if i.Forgotten || of[i.ID] || !made(i) || mayChange(src, i) != nil || !slices.ContainsFunc(i.DerivedFrom, func(id string) bool { return of[id] }) {
			return true
		}
		of[i.ID] = true
		if all = append(all, i.ID); !i.Reverted {
			standing = append(standing, i.ID)
		}
		return true
	})
	return all, standing
}
