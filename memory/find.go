package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// AmbiguousID is the error of a word that begins several ids.
type AmbiguousID struct {
	Word string
	IDs  []string // in the order in which the entries were written
}

func (e *AmbiguousID) Error() string { return fmt.Sprintf("%q begins %d ids", e.Word, len(e.IDs)) }

// FindIDs returns the ids that words mean: each word is an id, or the beginning of the id of only one entry that is not reverted. Any other
// word stays as it is, so that its use is [ErrNoEntry]. The error is *AmbiguousID if several ids begin with a word. It is for people: it
// knows no viewer.
func (m *Memory) FindIDs(ctx context.Context, words []string) ([]string, error) {
	if err := m.refresh(ctx); err != nil {
		return nil, fmt.Errorf("looking into the memory: %w", err)
	}
	ids := slices.Clone(words)
	var ambiguous error
	m.store.View(func(s *entry.State) {
		for i, word := range words {
			if _, ok := s.Get(word); ok || word == "" || ambiguous != nil {
				continue
			}
			var begin []string
			s.Each(func(i *entry.Item) bool {
				if !i.Reverted && strings.HasPrefix(i.ID, word) {
					begin = append(begin, i.ID)
				}
				return true
			})
			switch len(begin) {
			case 0:
			case 1:
				ids[i] = begin[0]
			default:
				ambiguous = &AmbiguousID{word, begin}
			}
		}
	})
	return ids, ambiguous
}
