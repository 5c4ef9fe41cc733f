package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// Checkpoints write the log back into the database. SQLite would make them by itself after a
// commit, and would hide their errors: nobody would hear of a failed sync. So the committer makes
// them.

// pageSize is SQLite's default, which the store does not change.
const pageSize = 4096

// log counts the pages that this process has written to the log since it last wrote the log back.
type log struct {
	limit int
	pages int
}

// newLog begins with the possible size of the log's file: other processes may have left it long.
func newLog(dir string, d *disk) log {
	return log{limit: cmp.Or(d.checkpoint, checkpointPages), pages: int(logSize(dir) / pageSize)}
}

// logSize is the size of the log's file in bytes, 0 if there is none.
func logSize(dir string) int64 {
	info, err := os.Lstat(filepath.Join(dir, databaseFile+"-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// checkpoint writes the log back if it has grown long. Earlier commits are durable in any case;
// after an error the store may write nothing more. A disk that is too full for a checkpoint is not
// an error: the log keeps its content until a commit finds no room.
func (c *committer) checkpoint() error {
	err := c.conn.Raw(func(conn any) error {
		written, _, err := conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true)
		c.log.pages += written
		return err
	})
	if err != nil || c.log.pages < c.log.limit {
		return err
	}
	c.log.pages = 0
	_, err = c.exec("PRAGMA wal_checkpoint(PASSIVE)")
	if err == nil || isFull(err) {
		return nil
	}
	return fmt.Errorf("writing the log back: %w", err)
}

// settleLog writes back an old log before anything is added to it, unless other processes have the
// store open. After a failed sync the log may be whole in the computer's memory and have a hole on
// its disk; a power failure would then lose all writes behind the hole. After settleLog the database,
// written and synced anew, holds the whole log.
func (w *writer) settleLog(dir string) error {
	if logSize(dir) == 0 {
		return nil
	}
	if others, err := driversAlive(dir); err != nil || others {
		return err
	}
	ctx := context.Background()
	if _, err := w.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	_, err := w.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if isFull(err) {
		err = nil
	}
	_, back := w.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds()))
	return errors.Join(err, back)
}

// Stamp returns a text that changes when something is written to the store in dir, by whatever process. It reads no data, so that asking ten
// times a second costs next to nothing.
func Stamp(dir string) string {
	text := ""
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			text += fmt.Sprintf("%d %d;", info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}
