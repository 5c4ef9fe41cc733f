package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	memories "github.com/flowrun/flowrun/memory/store"
)

// mostLost is how many lost entries doctor names, and damaged files.
const mostLost = 20

const (
	rebuildMemory   = "Mend it: flowrun memory doctor --rebuild"
	beginAnewMemory = "Copy the folder first. Then bring back a copy of memory.db from before, or move the files memory.* away to begin anew."
)

func (a *app) memoryDoctor() *cobra.Command {
	asJSON, rebuild := false, false
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether the memory is whole",
		Long: `doctor reads the whole memory and tells what is damaged, what was lost to earlier damage, by id, and what mends it. flowrun doctor does
the same beside all else. With --rebuild it first makes the file anew of all that can be read of it, and keeps the old one beside it. The
exit code is 1 if something is wrong.`,
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			dir, _, err := a.memoryPlace()
			if err != nil {
				return err
			}
			if !memories.Exists(dir) {
				return noMemory(dir)
			}
			if rebuild {
				if err := rebuilt(dir); err != nil {
					return err
				}
			}
			return a.judged(a.aboutMemoryIn(dir), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&rebuild, "rebuild", false, "first make the file anew of all that can be read of it")
	return c
}

// rebuilt makes the database anew.
func rebuilt(dir string) error {
	s, err := memories.Open(dir, memories.Options{})
	if err != nil {
		return err
	}
	return errors.Join(s.Rebuild(context.Background()), s.Close())
}

// aboutMemory looks at the memory without making one.
func (a *app) aboutMemory(path string) []ui.Finding {
	dir, err := a.storeDir(path)
	if err != nil {
		return nil // aboutStore tells
	}
	if !memories.Exists(dir) {
		return []ui.Finding{fine("memory", "none yet")}
	}
	return a.aboutMemoryIn(dir)
}

// aboutMemoryIn looks at the memory of a folder.
func (a *app) aboutMemoryIn(dir string) []ui.Finding {
	var heard []ui.Finding
	s, err := memories.Open(dir, memories.Options{ReadOnly: true, Warn: func(text string) {
		heard = append(heard, odd("memory", text, "Nothing has to be done: it was mended."))
	}})
	if err == nil {
		defer s.Close()
		var r memories.Report
		if r, err = s.Check(context.Background()); err == nil {
			return append(heard, ofMemory(&r, a.flagsFor(dir))...)
		}
	}
	if newer := (*memories.NewerStore)(nil); errors.As(err, &newer) {
		return append(heard, wrong("memory", newer.Error(), "Use that release, or name another store with --store."))
	}
	return append(heard, wrong("memory", err.Error(), beginAnewMemory))
}

// ofMemory says what was found in the memory. flags are those that a command on this store needs.
func ofMemory(r *memories.Report, flags string) []ui.Finding {
	out := []ui.Finding{fine("memory", fmt.Sprintf("%s, %s, %s", ui.Entries(r.Entries), ui.Count(r.Records, "record"), ui.Bytes(uint64(r.Bytes))))}
	for _, p := range r.Problems {
		out = append(out, wrong("memory", p, rebuildMemory+flags))
	}
	var ids []string
	for _, l := range r.Losses {
		if len(l.IDs) == 0 {
			ids = append(ids, fmt.Sprintf("what the records %d to %d said", l.From, l.Seq))
		}
		ids = append(ids, l.IDs...)
	}
	if len(ids) > 0 {
		out = append(out, odd("memory", "earlier damage took "+first(ids, mostLost), "Import them again from where they came from, or bring them back from a copy of the store."))
	}
	if len(r.Damaged) > 0 {
		out = append(out, odd("memory", "rebuilds have kept the damaged "+first(r.Damaged, mostLost), "Remove what nobody wants to look into any more."))
	}
	return out
}

// first names the first few of many.
func first(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
