package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/flowrun/flowrun/memory/private"

	"modernc.org/sqlite" // also the driver "sqlite"
)

const (
	// pageSize is SQLite's default, which the store does not change: pages are found without SQLite by it.
	pageSize = 4096
	// checkpointPages is how long the log grows before it is written back: 4 MiB, which is as much as an open has to read again.
	checkpointPages = 1000
)

// database is an open one: a single connection, as all that is read lies in memory.
type database struct {
	*sql.Conn
	pool  *sql.DB
	info  os.FileInfo // of the file, to notice that it was replaced
	pages int         // written to the log since it was last written back
	wrote bool
}

// dataSource names a database with everything that a connection must be told.
func dataSource(path, pragmas, fileSystem string) string {
	s := fmt.Sprintf("file:%s?mode=rw&_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)%s",
		(&url.URL{Path: path}).EscapedPath(), busyTimeout.Milliseconds(), pragmas)
	if fileSystem != "" {
		s += "&vfs=" + fileSystem
	}
	return s
}

// openToLook opens the database such that SQLite writes neither to it nor back from its log.
func (s *Store) openToLook() (*database, error) {
	source := dataSource(s.path(databaseFile), "&_pragma=query_only(1)&_pragma=cell_size_check(1)&_defensive=1", s.options.sqlite)
	return connect(strings.Replace(source, "mode=rw", "mode=ro", 1))
}

func (s *Store) openDatabase() (*database, error) {
	info, err := os.Lstat(s.path(databaseFile))
	if err != nil {
		return nil, err
	}
	if s.options.Look {
		d, err := s.openToLook()
		if err == nil {
			d.info = info
		}
		return d, err
	}
	const pragmas = "&_pragma=journal_mode(WAL)&_pragma=synchronous(2)&_pragma=wal_autocheckpoint(0)&_pragma=cell_size_check(1)&_defensive=1"
	d, err := connect(dataSource(s.path(databaseFile), pragmas, s.options.sqlite))
	if err != nil {
		return nil, err
	}
	d.info = info
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} { // a connection that ignored them would lose commits
		var have string
		if err := d.ask("PRAGMA "+pragma, &have); err != nil || have != want {
			return nil, errors.Join(err, fmt.Errorf("the memory's %s is %q and must be %s", pragma, have, want), d.Close())
		}
	}
	return d, nil
}

func connect(source string) (*database, error) {
	pool, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c, err := pool.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &database{Conn: c, pool: pool}, nil
}

// Close gives up the connection and its pool. SQLite leaves a file alone that is no longer where it was opened.
func (d *database) Close() error { return errors.Join(d.Conn.Close(), d.pool.Close()) }

func (d *database) exec(statement string, args ...any) error {
	_, err := d.ExecContext(context.Background(), statement, args...)
	return err
}

func (d *database) ask(query string, into ...any) error {
	return d.QueryRowContext(context.Background(), query).Scan(into...)
}

// checkpoint writes the log back once it is long. SQLite would do it by itself, and keep to itself what goes wrong there. What was
// committed is durable in any case; an error means that nothing more may be written. A full disk is not an error: the log keeps all.
func (d *database) checkpoint() error {
	err := d.Raw(func(conn any) error {
		written, _, err := conn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true)
		d.pages += written
		return err
	})
	if err != nil || d.pages < checkpointPages {
		return err
	}
	d.pages = 0
	return d.writeBack("PASSIVE")
}

func (d *database) writeBack(how string) error {
	if err := d.exec("PRAGMA wal_checkpoint(" + how + ")"); err != nil && !isFull(err) {
		return fmt.Errorf("writing the memory's log back: %w", err)
	}
	return nil
}

// settle writes the whole log back and empties it, unless others are at it. It is done after an open too: a log whose sync failed
// may be whole in the computer's memory and have a hole on its disk, and what is written behind the hole would be lost with it.
func (d *database) settle() error {
	if err := d.exec("PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	err := d.writeBack("TRUNCATE")
	return errors.Join(err, d.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds())))
}

// createEmpty makes a private file of no bytes; SQLite would make it readable for others.
func createEmpty(path string) error {
	f, err := private.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}
