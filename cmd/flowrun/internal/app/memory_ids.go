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
	"github.com/flowrun/flowrun/runner/standalone"
)

// wholeIDs returns the ids that words mean: each word is an id, or the beginning of only one id.
// The memory refuses any other word.
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
			return nil, &args.Error{Message: fmt.Sprintf("%q begins %s: %s", word, ui.Entries(len(begin)), ui.First(begin, maxBegun)), Hint: "Give more of the id."}
		}
		if len(begin) == 1 {
			ids[i] = begin[0]
		}
	}
	return ids, nil
}

// notEmpty refuses flags with an empty value, which usually is a variable of a script that is not
// set. An empty value would select everything, and it would be bad to revert everything by
// accident.
func notEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return &args.Error{Message: "--" + name + " is empty", Hint: "Leave it out where it does not matter."}
		}
	}
	return nil
}

// wholeRun returns the run with the id word, or the only run with an id that begins with word.
// Otherwise word means the same run as in runs show: the latest run, or an error if there is none.
// The runs are those that the memory names and those in the journal, whether or not they wrote
// entries.
func (a *app) wholeRun(ctx context.Context, m *memory.Memory, word string) (string, error) {
	if word == "" {
		return "", nil
	}
	wrote, err := m.Writers(ctx)
	if err != nil {
		return "", err
	}
	if slices.Contains(wrote.Runs, word) {
		return word, nil
	}
	begin := slices.DeleteFunc(append(wrote.Runs, a.ran(ctx)...), func(run string) bool { return !strings.HasPrefix(run, word) })
	slices.Sort(begin)
	switch begin = slices.Compact(begin); {
	case slices.Contains(begin, word):
		return word, nil
	case len(begin) > 1:
		return "", &args.Error{Message: fmt.Sprintf("%q begins %s: %s", word, ui.Count(len(begin), "run"), ui.First(begin, maxBegun)), Hint: "Give more of the id."}
	case len(begin) == 1:
		return begin[0], nil
	}
	s, info, err := a.openRun(word, nil)
	if err != nil {
		return "", err
	}
	return info.Run, s.Close()
}

// ran returns the runs of the journal. It returns none if there is no journal or if the journal
// cannot be read: the memory's own runs are enough then.
func (a *app) ran(ctx context.Context) (ids []string) {
	dir, err := a.storeDir(a.memoryFile)
	if err != nil {
		return nil
	}
	s, err := standalone.Read(dir)
	if err != nil {
		return nil
	}
	defer s.Close()
	infos, _ := s.List(ctx, 0)
	for i := range infos {
		ids = append(ids, infos[i].Run)
	}
	return ids
}

// knownAuthor refuses a word that is not an author, such as a name without its kind: a user who
// types helper for agent:helper would believe that the helper wrote nothing.
func knownAuthor(ctx context.Context, m *memory.Memory, word string) error {
	kind, name, _ := strings.Cut(word, ":")
	if word == "" || word == "flowrun" || name != "" && (kind == "agent" || kind == "user") {
		return nil
	}
	wrote, err := m.Writers(ctx)
	if err != nil || slices.Contains(wrote.Authors, word) {
		return err
	}
	otherwise := "Write agent:NAME, user:NAME or flowrun."
	for _, author := range wrote.Authors {
		if strings.HasSuffix(author, ":"+word) {
			otherwise = fmt.Sprintf("Did you mean %q?", author)
			break
		}
	}
	return &args.Error{Message: fmt.Sprintf("--author %q is no author's name", word), Hint: otherwise}
}

// maxBegun bounds the number of ids that are listed for an ambiguous word.
const maxBegun = 5

// beginning lists the ids with this prefix of the entries that are not reverted.
func beginning(ctx context.Context, m *memory.Memory, word string) (ids []string, err error) {
	items, err := m.List(ctx, memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	for i := range items {
		if strings.HasPrefix(items[i].ID, word) {
			ids = append(ids, items[i].ID)
		}
	}
	return ids, err
}

// Bounds of completion: the number of ids, and the length of an entry's text beside its id.
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
