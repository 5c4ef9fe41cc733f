package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newRestoreCommand() *cobra.Command {
	var r args.Restore
	c := &cobra.Command{
		Use: "restore [BACKUP]", Short: "Restore the store from a backup", Args: between(0, 1, "[BACKUP]"),
		Long: `restore replaces the content of the store with a backup: the newest one, one by its name in the folder backups, or a folder. If the store is lost, restore creates it again. restore checks the backup first, and makes a backup of the current store before anything changes. Runs that had not ended can be resumed. Runs are restored only while no process drives a run.

  flowrun restore --only kv            state under keys alone; kv, memory and runs can be named
  flowrun restore 20260105T080000.000Z --only runs,memory`,
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				r.From = words[0]
			}
			if err := r.Check(); err != nil {
				return err
			}
			return a.runRestore(&r)
		},
	}
	c.Flags().StringSliceVar(&r.Only, "only", nil, "the `parts` to restore, of kv, memory and runs (default: all)")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// runRestore restores the parts, each of them whole.
func (a *app) runRestore(r *args.Restore) error {
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	from, err := findRestore(dir, r.From)
	if err != nil {
		return err
	}
	ctx, release := process.UntilSignalLooking()
	defer release()
	runs, err := standalone.Verify(ctx, from)
	if err != nil {
		return err
	}
	before, _, err := a.copyStore(ctx, dir, "", time.Now())
	var nothing *args.Error
	if err != nil && !errors.As(err, &nothing) && !errors.Is(err, engine.ErrNoStore) {
		a.err.Printf("flowrun: the current store was not backed up: %s\n", ui.CleanLines(err.Error()))
	}
	if r.Takes("kv") || r.Takes("runs") {
		if err := standalone.Restore(ctx, dir, from, standalone.Parts{KV: r.Takes("kv"), Runs: r.Takes("runs")}); err != nil {
			return err
		}
	}
	if r.Takes("memory") {
		err := memories.PutBack(ctx, dir, from)
		if errors.Is(err, memories.ErrNoStore) && len(r.Only) == 0 { // the backup has none
			err = nil
		}
		if err != nil {
			return err
		}
	}
	parts := r.Only
	if len(parts) == 0 {
		parts = args.RestoreParts
	}
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			From   string   `json:"from"`
			Before string   `json:"before"`
			Parts  []string `json:"parts"`
			Runs   int      `json:"runs"`
		}{from, before, parts, runs})
	}
	a.out.Printf("restored %s from %s\n", strings.Join(parts, ", "), ui.Clean(disk.Short(from)))
	if before != "" {
		a.err.Printf("The store as it was before: %s\n", ui.Clean(disk.Short(before)))
	}
	return nil
}

// findRestore is the folder of the backup that a person means.
func findRestore(dir, word string) (string, error) {
	have := backupsOf(dir)
	if word == "" {
		if len(have) == 0 {
			return "", &args.Error{Message: fmt.Sprintf("there is no backup in %s", dir), Hint: "Make one with flowrun backup, or name the folder of one."}
		}
		return filepath.Join(dir, backupsFolder, have[len(have)-1]), nil
	}
	for _, folder := range []string{filepath.Join(dir, backupsFolder, word), word} {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return filepath.Abs(folder)
		}
	}
	return "", unknown(word, have, "Name a backup, or a folder.", fmt.Sprintf("there is no backup %q in %s", word, dir))
}
