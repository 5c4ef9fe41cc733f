package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// Log counts the pages that a connection has written to the log since the log was last written back. SQLite would write the log back by
// itself after a commit, and would hide its errors: nobody would hear of a failed sync.
type Log struct {
	Conn  *sql.Conn
	Limit int // pages from which the log is written back
	Pages int // written since; at first, those that other processes may have left
}

// Checkpoint writes the log back if it has grown long. It is called after each commit. What was committed is durable in any case; after an
// error nothing more may be written. A disk that is too full is not an error: the log keeps its content until a commit finds no room.
func (l *Log) Checkpoint() error {
	err := l.Conn.Raw(func(conn any) error {
		written, _, err := conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true)
		l.Pages += written
		return err
	})
	if err != nil || l.Pages < l.Limit {
		return err
	}
	l.Pages = 0
	return writeBack(l.Conn, "PASSIVE")
}

// Settle writes the whole log back and empties it, unless other processes are at it. After a failed sync the log may be whole in the
// computer's memory and have a hole on its disk; a power failure would then lose all writes behind the hole. After Settle the database,
// written and synced anew, holds the whole log.
func Settle(c *sql.Conn) error {
	if err := setBusyTimeout(c, 0); err != nil {
		return err
	}
	err := writeBack(c, "TRUNCATE")
	return errors.Join(err, setBusyTimeout(c, BusyTimeout.Milliseconds()))
}

func setBusyTimeout(c *sql.Conn, ms int64) error {
	_, err := c.ExecContext(context.Background(), fmt.Sprintf("PRAGMA busy_timeout = %d", ms))
	return err
}

func writeBack(c *sql.Conn, how string) error {
	_, err := c.ExecContext(context.Background(), "PRAGMA wal_checkpoint("+how+")")
	if err == nil || IsFull(err) {
		return nil
	}
	return fmt.Errorf("writing the log back: %w", err)
}
