package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory"
)

// wholeIDs gives the ids that words mean: each an id, or the beginning of one alone. A word that is none is left to the memory,
// which says so.
func wholeIDs(ctx context.Context, m *memory.Memory, words []string) ([]string, error) {
	ids := make([]string, len(words))
	for i, word := range words {
		if ids[i] = word; word == "" {
			continue
		}
		if _, _, err := m.Show(ctx, word); !errors.Is(err, memory.ErrNoEntry) {
			continue
		}
		begin, err := beginning(ctx, m, word)
		if err != nil {
			return nil, err
		}
		if len(begin) > 1 {
			return nil, &args.Error{Message: fmt.Sprintf("%q begins %s: %s", word, ui.Entries(len(begin)), first(begin, maxBegun)), Hint: "Give more of the id."}
		}
		if len(begin) == 1 {
			ids[i] = begin[0]
		}
	}
	return ids, nil
}

// wholeRun gives the run that wrote to the memory and whose id a word is, or the beginning of alone, or the latest run of all;
// else the word.
func (a *app) wholeRun(ctx context.Context, m *memory.Memory, word string) (string, error) {
	switch word {
	case "":
		return "", nil
	case "latest":
		s, info, err := a.lookup(word, nil)
		if err != nil {
			return "", err
		}
		return info.Run, s.Close()
	}
	items, err := m.List(ctx, memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	if err != nil {
		return "", err
	}
	var begin []string
	for i := range items {
		if run := items[i].By.Run; strings.HasPrefix(run, word) && !slices.Contains(begin, run) {
			begin = append(begin, run)
		}
	}
	switch {
	case slices.Contains(begin, word) || len(begin) == 0:
		return word, nil
	case len(begin) > 1:
		return "", &args.Error{Message: fmt.Sprintf("%q begins %s: %s", word, ui.Count(len(begin), "run"), first(begin, maxBegun)), Hint: "Give more of the id."}
	}
	return begin[0], nil
}

// maxBegun is how many ids are named where one was meant.
const maxBegun = 5

// beginning lists the ids that begin so, of entries that are not reverted.
func beginning(ctx context.Context, m *memory.Memory, word string) (ids []string, err error) {
	items, err := m.List(ctx, memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	for i := range items {
		if strings.HasPrefix(items[i].ID, word) {
			ids = append(ids, items[i].ID)
		}
	}
	return ids, err
}

// Bounds of completion: how many ids are offered, and how much of an entry is shown beside its id.
const (
	maxOffered      = 100
	completionCells = 50
)

// completeIDs completes the ids of entries.
func (a *app) completeIDs(_ *cobra.Command, _ []string, begun string) (offered []string, _ cobra.ShellCompDirective) {
	_ = a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error {
		items, err := m.List(ctx, memory.Filter{Viewer: memory.Viewer{All: true}})
		for i := range items {
			if strings.HasPrefix(items[i].ID, begun) && len(offered) < maxOffered {
				offered = append(offered, items[i].ID+"\t"+ui.InShort(&items[i], completionCells))
			}
		}
		return err
	})
	return offered, cobra.ShellCompDirectiveNoFileComp
}
