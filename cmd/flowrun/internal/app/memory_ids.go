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
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/runner/standalone"
)

// findIDs returns the ids that words mean: each word is an id, or the beginning of only one id.
// The memory refuses any other word.
func findIDs(ctx context.Context, m *memory.Memory, words []string) ([]string, error) {
	ids, err := m.FindIDs(ctx, words)
	var many *memory.AmbiguousID
	if errors.As(err, &many) {
		return nil, ambiguous(many.Word, ui.Entries(len(many.IDs)), many.IDs)
	}
	return ids, err
}

// ambiguous refuses a word that begins several ids.
func ambiguous(word, many string, ids []string) error {
	return &args.Error{Message: fmt.Sprintf("%q begins %s: %s", word, many, ui.First(ids, maxBegun)), Hint: "Give more of the id."}
}

// refuseEmpty refuses flags with an empty value, which usually is a variable of a script that is not
// set. An empty value would select everything, and it would be bad to revert everything by
// accident.
func refuseEmpty(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := c.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return &args.Error{Message: "--" + name + " is empty", Hint: "Leave the flag out."}
		}
	}
	return nil
}

// findMemoryRun returns the run with the id word, or the only run with an id that begins with word.
// Otherwise word means the same run as in runs show: the latest run, or an error if there is none.
// The runs are those that the memory names and those in the journal, whether or not they wrote
// entries.
func (a *app) findMemoryRun(ctx context.Context, m *memory.Memory, word string) (string, error) {
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
	begin := slices.DeleteFunc(append(wrote.Runs, a.journaledRuns(ctx)...), func(run string) bool { return !strings.HasPrefix(run, word) })
	slices.Sort(begin)
	switch begin = slices.Compact(begin); {
	case slices.Contains(begin, word):
		return word, nil
	case len(begin) > 1:
		return "", ambiguous(word, ui.Count(len(begin), "run"), begin)
	case len(begin) == 1:
		return begin[0], nil
	}
	s, info, err := a.openRun(word, nil)
	if err != nil {
		return "", err
	}
	return info.Run, s.Close()
}

// journaledRuns returns the runs of the journal. It returns none if there is no journal or if the journal
// cannot be read: the memory's own runs are enough then.
func (a *app) journaledRuns(ctx context.Context) (ids []string) {
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

// checkAuthor refuses a word that is not an author, such as a name without its kind: a user who
// types helper for agent:helper would believe that the helper wrote nothing.
func checkAuthor(ctx context.Context, m *memory.Memory, word string) error {
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
	return &args.Error{Message: fmt.Sprintf("--author %q is not the name of an author", word), Hint: otherwise}
}

// maxBegun bounds the number of ids that are listed for an ambiguous word.
const maxBegun = 5

// Bounds of completion: the number of ids, and the length of an entry's text beside its id.
const (
	maxOffered      = 100
	completionCells = 50
)

// completeIDs completes the ids of entries.
func (a *app) completeIDs(_ *cobra.Command, _ []string, begun string) (offered []string, _ cobra.ShellCompDirective) {
	if a.engine() != "" { // a worker has the memory, and a shell does not wait for it
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
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

func originFlags(c *cobra.Command, r *args.MemoryList) {
	c.Flags().StringVar(&r.Run, "run", "", "only entries of this `run`: its id, the beginning of one, or latest")
	c.Flags().StringVar(&r.Author, "author", "", "only entries of this `author`: agent:NAME, user:NAME or flowrun")
}

// memoryFilter returns the filter of a list command.
func (a *app) memoryFilter(ctx context.Context, m *memory.Memory, r *args.MemoryList) (memory.Filter, error) {
	run, err := a.findMemoryRun(ctx, m, r.Run)
	if err == nil {
		err = checkAuthor(ctx, m, r.Author)
	}
	return memory.Filter{Viewer: viewer(r.Agent), Type: entry.Type(r.Type), Tag: r.Tag, Since: r.From, Everything: r.All, Run: run, Author: r.Author}, err
}
