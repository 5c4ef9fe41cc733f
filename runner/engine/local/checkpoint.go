package local

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/memory/private/durable"
)

// newLog begins with the possible size of the log's file: other processes may have left it long.
func newLog(conn *sql.Conn, dir string, d *disk) durable.Log {
	return durable.Log{Conn: conn, Limit: cmp.Or(d.checkpoint, checkpointPages), Pages: int(logSize(dir) / durable.PageSize)}
}

// logSize is the size of the log's file in bytes, 0 if there is none.
func logSize(dir string) int64 {
	info, err := os.Lstat(filepath.Join(dir, databaseFile+"-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// settleLog writes back an old log before anything is added to it, unless other processes have the store open; see durable.Settle.
func (w *writer) settleLog(dir string) error {
	if logSize(dir) == 0 {
		return nil
	}
	if others, err := driversAlive(dir); err != nil || others {
		return err
	}
	return durable.Settle(w.Conn)
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
