package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	memories "github.com/flowrun/flowrun/memory/store"
)

// mostLost bounds the number of lost entries, and of damaged files, that doctor names; memory
// doctor names all.
const mostLost = 20

const (
	rebuildMemory   = "Fix it with: flowrun memory doctor --rebuild"
	beginAnewMemory = "Copy the folder first. Then restore a backup of memory.db, or move the files memory.* away and start with a new one."
)

// adviseMemory returns advice about a memory that does not open. A memory that this user may not read
// may be undamaged.
func adviseMemory(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "The user who runs flowrun must be able to read its folder and the files memory.*."
	}
	return beginAnewMemory
}

// aboutMemory examines the memory without creating one.
func (d *Doctor) aboutMemory(path string) []ui.Finding {
	dir, err := d.StoreOf(path)
	if err != nil {
		return nil // aboutStore tells
	}
	if !memories.Exists(dir) {
		return []ui.Finding{fine("memory", "none yet")}
	}
	if len(listRefused(dir)) > 0 {
		return nil // aboutStore tells
	}
	return d.aboutMemoryIn(dir, mostLost)
}

// aboutMemoryIn examines the memory of a folder, and names at most the given number of lost
// entries.
func (d *Doctor) aboutMemoryIn(dir string, most int) []ui.Finding {
	var heard []ui.Finding
	s, err := memories.Open(dir, memories.Options{Look: true, Warn: func(text string) {
		heard = append(heard, odd("memory", text, ""))
	}})
	if err == nil {
		defer s.Close()
		var r memories.Report
		if r, err = s.Check(context.Background()); err == nil {
			return append(heard, describeMemory(&r, d.FlagsFor(dir), most)...)
		}
	}
	if newer := (*memories.NewerStore)(nil); errors.As(err, &newer) {
		return append(heard, wrong("memory", newer.Error(), "Use that release, or name another store with --store."))
	}
	if errors.Is(err, memories.ErrForeign) {
		return append(heard, wrong("memory", err.Error(), foreignStore))
	}
	return append(heard, wrong("memory", err.Error(), adviseMemory(err)))
}

// describeMemory returns the findings about a memory. flags are the flags that a command on this store
// needs.
func describeMemory(r *memories.Report, flags string, most int) []ui.Finding {
	out := []ui.Finding{fine("memory", fmt.Sprintf("%s, %s, %s", ui.Entries(r.Entries), ui.Count(r.Records, "record"), ui.Bytes(uint64(r.Bytes))))}
	for _, p := range r.Problems {
		out = append(out, wrong("memory", p, rebuildMemory+flags))
	}
	if lost := listLost(r); len(lost) > 0 {
		fix := "Import them again, or restore them from a backup of the store."
		if len(lost) > most {
			fix += " All of them: flowrun memory doctor" + flags
		}
		out = append(out, odd("memory", "earlier damage destroyed "+ui.First(lost, most), fix))
	}
	if len(r.Damaged) > 0 {
		out = append(out, odd("memory", "rebuilds kept the damaged "+ui.First(r.Damaged, most), "Remove the files that you do not need any more."))
	}
	return out
}

// listLost lists the records that damage destroyed: by id, or by number if not all ids are left.
func listLost(r *memories.Report) (lost []string) {
	for _, l := range r.Losses {
		switch span := int(l.Seq - l.From + 1); {
		case len(l.IDs) == 0:
			lost = append(lost, fmt.Sprintf("what the records %d to %d said", l.From, l.Seq))
		case len(l.IDs) < span:
			lost = append(lost, fmt.Sprintf("more of the records %d to %d than have names left", l.From, l.Seq))
		}
	}
	for _, l := range r.Losses {
		lost = append(lost, l.IDs...)
	}
	return lost
}
