package app

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
)

func (a *app) newBackupCommand() *cobra.Command {
	var r args.Backup
	c := &cobra.Command{
		Use: "backup", Short: "Copy the store, while it is in use, and check the copy", Args: between(0, 0, ""),
		Long: `backup writes a copy of the store: runs, state under keys, queues, logs and memory, as they are at one moment. Runs continue meanwhile. The copy is verified: each journal is read from its first event to its last. The copy is a store in the folder backups of the store, named by the time in UTC:  flowrun --store .flowrun/backups/NAME runs list  looks into it.

  flowrun backup --keep 7d      removes backups that are older than 7 days, once the new one is checked
  flowrun restore               restores the newest backup`,
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			return a.runBackup(&r)
		},
	}
	c.Flags().StringVar(&r.To, "to", "", "the `folder` of the copy, which must not exist (default: one in the store)")
	c.Flags().StringVar(&r.Keep, "keep", "", "remove backups in the store that are older than this `age`: 7d, 12h")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// runBackup copies the store, and removes old copies.
func (a *app) runBackup(r *args.Backup) error {
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	ctx, release := process.UntilSignalLooking()
	defer release()
	now := time.Now()
	to, runs, err := a.copyStore(ctx, dir, r.To, now)
	if err != nil {
		return err
	}
	removed := []string{}
	if r.Age > 0 {
		for _, old := range backupsOf(dir) {
			if at, is := backupTime(old); is && now.Sub(at) > r.Age && old != filepath.Base(to) {
				if err := os.RemoveAll(filepath.Join(dir, backupsFolder, old)); err != nil {
					return err
				}
				removed = append(removed, old)
			}
		}
	}
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Backup  string   `json:"backup"`
			Runs    int      `json:"runs"`
			Removed []string `json:"removed"`
		}{to, runs, removed})
	}
	a.out.Printf("%s\n", ui.Clean(disk.Short(to)))
	a.err.Printf("The backup is complete: %s.\n", ui.Count(runs, "run"))
	for _, old := range removed {
		a.err.Printf("Removed %s.\n", ui.Clean(old))
	}
	return nil
}
