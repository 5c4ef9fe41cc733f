package local

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"sync"

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

// stamper asks one connection how often others have committed.
type stamper struct {
	mu   sync.Mutex
	conn *sql.Conn
}

// Stamp implements engine.Keeper. It changes once readers see a commit; the times of the files change before that, by as long as the disk needs to
// sync the log, and two commits can leave the same time.
func (e *Engine) Stamp() string {
	if e.commits == nil {
		return "" // it may have one connection alone
	}
	e.stamps.mu.Lock()
	defer e.stamps.mu.Unlock()
	var version int64
	err := error(nil)
	if e.stamps.conn == nil {
		e.stamps.conn, err = e.read.Conn(context.Background())
	}
	if err == nil {
		err = e.stamps.conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&version)
	}
	if err != nil {
		return err.Error() // whoever reads meets the error, too
	}
	return strconv.FormatInt(version, 10)
}

func (s *stamper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
	}
}
