// Package durable holds what the store of runs and the memory share to keep a SQLite database: how a connection is told to sync each
// commit, when the log is written back, which errors say that the disk is full, whose lock a process waits for, and whether the schema
// is the one that the migrations make.
//
// It knows no tables. Each store says what its errors are called and what is damage. The database may be a stranger's: [CheckSchema] reads
// nothing of it but SQLite's list of objects, so no trigger fires and no view is expanded. Enter at [Source].
package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"syscall"
	"time"

	"modernc.org/sqlite" // also the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// PageSize is SQLite's default, which the stores do not change.
	PageSize = 4096
	// BusyTimeout is how long a transaction waits for that of another process, and an open for the lock of another open.
	BusyTimeout = 30 * time.Second
)

// The log of an older SQLite, from 3.7.0 to 3.51.2, can be damaged by two connections that begin it anew at once. flowrun does not compile
// with one.
const _ = uint(sqlite3.SQLITE_VERSION_NUMBER - 3_051_003)

// Guarded are the settings of a connection to a database that may be damaged or a stranger's.
const Guarded = "&_pragma=cell_size_check(1)&_defensive=1"

// Logged are the settings of a connection that writes to a log, which [Log] alone writes back. With Synced each commit is synced, too.
const (
	Logged = "&_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)"
	Synced = Logged + "&_pragma=synchronous(2)"
)

// Source names the database at a path with everything that a connection must be told: a pragma by statement would hold for one connection
// of a pool only. more are further settings, each after an "&". fileSystem is the name of SQLite's file system; "" is the default.
func Source(path, more, fileSystem string) string {
	s := fmt.Sprintf("file:%s?mode=rw&_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)%s",
		(&url.URL{Path: path}).EscapedPath(), BusyTimeout.Milliseconds(), more)
	if fileSystem != "" {
		s += "&vfs=" + fileSystem
	}
	return s
}

// CheckPragmas makes sure that a connection has its settings: one that ignored them would lose commits in silence.
func CheckPragmas(c *sql.Conn, want map[string]string) error {
	for pragma, want := range want { // any order: all must hold
		var have string
		if err := c.QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&have); err != nil {
			return err
		}
		if have != want {
			return fmt.Errorf("the database's %s is %s and must be %s", pragma, have, want)
		}
	}
	return nil
}

// Migrations reads the files migrations/*.sql in the order of their names. The nth name begins with the number n in three digits.
func Migrations(files fs.FS) []string {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	list := make([]string, len(names))
	for i, name := range names {
		if want := fmt.Sprintf("migrations/%03d_", i+1); name[:len(want)] != want {
			panic("durable: " + name + " is out of order")
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		list[i] = string(b)
	}
	return list
}

// IsFull reports whether an error means that the disk has no room. SQLite has another error if the file that its processes share cannot
// grow.
func IsFull(err error) bool {
	code := 0
	if s := (*sqlite.Error)(nil); errors.As(err, &s) {
		code = s.Code()
	}
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
