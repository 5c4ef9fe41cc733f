package doctor

import (
	"fmt"
	"path/filepath"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
)

// Bounds on the parts of a store that doctor reads and prints.
const (
	NewestRuns = 100      // number of runs with a journal that is read without --all
	MaxTold    = 5        // broken runs that are named, and dead drivers
	MaxLog     = 64 << 20 // in bytes; a longer log is odd, because it is written back at a quarter of this size
)

const beginAnew = "Copy the folder first. Then restore a backup of the store, or move the folder away and start with a new one."

// aboutHealth returns the findings about the files of a store, with the advice on how to fix them.
func aboutHealth(h *engine.Health, dir, flags string) []ui.Finding {
	out := []ui.Finding{fine("version", fmt.Sprintf("the store has version %d, the version of this release", h.Version))}
	if h.Database != "" {
		out = append(out, wrong("database", "its pages are inconsistent: "+h.Database, beginAnew))
	}
	out = append(append(out, aboutJournals(h, flags)...), aboutSnapshots(h)...)
	if n := len(h.Dead); n > 0 {
		text := fmt.Sprintf("%s died and left a lock that no process holds: %s", ui.Count(n, "driver"), nameLocks(h.Dead))
		out = append(out, odd("drivers", text, "Nothing is lost: flowrun resume continues the runs, and removes the locks."))
	}
	if h.Log > MaxLog {
		out = append(out, odd("log", fmt.Sprintf("%s wait in %s to be written back", ui.Bytes(uint64(h.Log)), filepath.Join(dir, "flowrun.db-wal")),
			"It cannot shrink while a command reads: end such commands, and the next flowrun that writes shortens it."))
	}
	if h.Reserve.Made {
		return append(out, fine("reserve", ui.Bytes(h.Reserve.Size)+" kept free for the last events if the disk is full"))
	}
	return append(out, fine("reserve", "none yet: it is created when a run takes longer than a second and "+ui.Bytes(h.Reserve.NeedsFree)+" are free"))
}

// aboutJournals returns the findings from reading the journals.
func aboutJournals(h *engine.Health, flags string) []ui.Finding {
	if h.Runs == 0 {
		return nil
	}
	whole := fmt.Sprintf("%d of %s read, %d intact", h.Checked, ui.Count(h.Runs, "run"), h.Checked-len(h.Broken))
	if h.Checked < h.Runs {
		whole += " (--all reads them all)"
	}
	if len(h.Broken) == 0 {
		return []ui.Finding{fine("journals", whole)}
	}
	out := []ui.Finding{odd("journals", whole, "")}
	for i, b := range h.Broken {
		if i == MaxTold {
			return append(out, odd("journals", fmt.Sprintf("%d more are damaged", len(h.Broken)-i), "Run doctor again when these are fixed."))
		}
		out = append(out, wrong("journals", b.Err.Error(),
			"Other runs can continue. To see the readable part of this run: flowrun events "+b.Run+flags+". To restore it, restore a backup of the store."))
	}
	return out
}

// aboutSnapshots returns the findings from comparing snapshots with their journals.
func aboutSnapshots(h *engine.Health) []ui.Finding {
	if h.Snapshots == 0 {
		return nil
	}
	out := []ui.Finding{fine("snapshots", fmt.Sprintf("%d compared, %d match their journals", h.Snapshots, h.Snapshots-len(h.Odd)))}
	for _, b := range h.Odd[:min(len(h.Odd), MaxTold)] {
		out = append(out, odd("snapshots", fmt.Sprintf("the snapshot of run %s is not usable: %v", b.Run, b.Err),
			"Nothing is lost: the journal is complete. Remove the file snapshots/"+b.Run+" of the store."))
	}
	return out
}

func nameLocks(epochs []int64) string {
	var names []string
	for _, e := range epochs {
		names = append(names, fmt.Sprintf("drivers/%d.lock", e))
	}
	return ui.First(names, 3)
}
