package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

// aboutStore examines the store without creating one: its folder, its disk, its version, its runs,
// and the journals of the newest runs.
func (d *Doctor) aboutStore(path string) []ui.Finding {
	dir, err := d.StoreOf(path)
	if err != nil {
		return []ui.Finding{wrong("store", err.Error(), "Name another with --store, or remove the file in its place.")}
	}
	out := []ui.Finding{aboutDisk(dir)}
	if refused := listRefused(dir); len(refused) > 0 {
		return append(out, refused...)
	}
	s, err := standalone.Read(dir)
	var older *engine.OlderStore
	var newer *engine.NewerStore
	switch {
	case errors.Is(err, engine.ErrNoStore):
		return append(out, fine("runs", "none yet"))
	case errors.As(err, &older):
		return append(out, odd("version", older.Error(), "The next flowrun apply or resume migrates it, and keeps a copy."))
	case errors.As(err, &newer):
		return append(out, wrong("version", newer.Error(), "Use that release, or name another store with --store."))
	case errors.Is(err, engine.ErrForeign):
		return append(out, wrong("database", err.Error(), foreignStore))
	case err != nil:
		return append(out, wrong("runs", err.Error(), adviseStore(err)))
	}
	if p := aboutReaders(dir); p != nil {
		out = append(out, *p)
	}
	defer s.Close()
	infos, err := s.List(context.Background(), 0)
	if err != nil {
		return append(out, wrong("runs", err.Error(), adviseStore(err)))
	}
	flags := d.FlagsFor(dir)
	asked := map[string]bool{}
	stored, err := s.Ask(context.Background(), event.StoreRequest{Asks: true})
	asks, bad := ui.ReadAsks(stored)
	if err = errors.Join(err, bad); err != nil {
		return append(out, wrong("inbox", err.Error(), adviseStore(err)))
	}
	for i := range asks { // a run whose question is over continues with resume
		asked[asks[i].Run] = asked[asks[i].Run] || !asks[i].Over(time.Now())
	}
	out = append(append(out, aboutRuns(infos, asked, flags)...), aboutFutureRuns(infos)...)
	limits, err := s.Limits(context.Background())
	if err != nil {
		return append(out, wrong("limits", err.Error(), adviseStore(err)))
	}
	out = append(out, aboutLimits(limits, flags)...)
	h, err := s.Examine(context.Background(), d.Newest)
	if err != nil {
		return append(out, wrong("journals", err.Error(), adviseStore(err)))
	}
	return append(out, aboutHealth(&h, dir, flags)...)
}

// maxRefused bounds the number of printed reasons not to use a store.
const maxRefused = 20

// listRefused lists the reasons why commands refuse the store in dir, or a file in it. The database
// is not opened then.
func listRefused(dir string) (out []ui.Finding) {
	problems, err := private.Inspect(dir)
	if err != nil {
		return []ui.Finding{wrong("store", err.Error(), OtherStore)}
	}
	for i, p := range problems {
		if i == maxRefused {
			return append(out, odd("store", fmt.Sprintf("%d more like these", len(problems)-i), "Run doctor again when these are fixed."))
		}
		text := p.What
		switch {
		case p.All:
			text += ": no command uses the store"
		case p.Open:
			text += ": a command that needs it refuses it"
		}
		out = append(out, wrong("store", text, describeFix(&p)))
	}
	return out
}

// aboutReaders reports a store that others can read.
func aboutReaders(dir string) *ui.Finding {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o055 == 0 {
		return nil
	}
	f := odd("store", dir+" can be read by other users, with the output of all steps", "To keep them out: chmod -R go-rwx "+ui.Quote(dir))
	return &f
}

// aboutDisk checks whether the store, or its future folder, can be written, and how much room the disk
// has.
func aboutDisk(dir string) ui.Finding {
	at := dir
	for {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	const writable = 2 // W_OK of access(2)
	if err := syscall.Access(at, writable); err != nil {
		return wrong("store", fmt.Sprintf("%s cannot be written: %v", at, err),
			OtherStore)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(at, &fs); err != nil {
		return wrong("store", fmt.Sprintf("the free space of the disk of %s is not known: %v", at, err),
			"Name another store with --store or FLOWRUN_STORE.")
	}
	free := fs.Bavail * uint64(fs.Bsize)
	text := fmt.Sprintf("%s, %s free", dir, ui.Bytes(free))
	switch {
	case free < MinFree:
		return wrong("store", text,
			"Free some space: a run stops when its journal cannot be written. flowrun runs prune removes ended runs and their logs.")
	case at != dir:
		text += "; the first run creates it"
	}
	return fine("store", text)
}

// aboutRuns counts the runs, and names the runs without a driver. flags are the flags that a command
// on this store needs.
func aboutRuns(infos []engine.Info, asked map[string]bool, flags string) []ui.Finding {
	driven, left := 0, ""
	n, people := 0, 0
	for i := range infos {
		switch {
		case infos[i].Status.Terminal():
		case infos[i].Driver != 0:
			driven++
		case infos[i].Status == event.Waiting && asked[infos[i].Run]: // as runs list says it
			people++
		default:
			n, left = n+1, infos[i].Run
		}
	}
	out := []ui.Finding{fine("runs", fmt.Sprintf("%d in all, %d running now", len(infos), driven))}
	if people > 0 {
		out = append(out, odd("runs", fmt.Sprintf("%d waiting for people, and no process drives them", people), "To answer: flowrun inbox"+flags))
	}
	if n > 0 {
		out = append(out, odd("runs", fmt.Sprintf("%d interrupted: they have not ended, and no process drives them", n),
			"To continue one: flowrun resume "+left+flags+". To end it: flowrun cancel "+left+flags))
	}
	return out
}

// aboutFutureRuns reports a run that started in the future: the clock was set back since.
func aboutFutureRuns(infos []engine.Info) []ui.Finding {
	now := event.At(time.Now())
	for i := range infos {
		if by := infos[i].Created.Sub(now); by > MaxAhead {
			return []ui.Finding{wrong("clock",
				fmt.Sprintf("run %s started %s from now: the clock was set back", infos[i].Run, ui.Duration(by)),
				"Set the clock. Waits of continued runs count from the later time.")}
		}
	}
	return nil
}
