package local

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
)

// applicationID marks the file as flowrun's ("flow").
const applicationID = 0x666c6f77

//go:embed migrations/*.sql
var migrationFiles embed.FS

// firstVersion is the schema's version after the first migration. Stores from before the first release have a lower one.
const firstVersion = 14

// migrations in order; each raises the schema's version by 1. From the first release on they are only added to.
var migrations = durable.Migrations(migrationFiles)

// latestVersion is the schema's version after all migrations.
func latestVersion() int { return firstVersion - 1 + len(migrations) }

// appliedMigrations returns the number of migrations that a schema of this version has. 0: the database is new.
func appliedMigrations(version int) int { return max(version-firstVersion+1, 0) }

// schemaSum is the [durable.SchemaSum] of the migrations, so that no command makes them to compare. TestSchemaSum tells the right one; with a
// wrong one each command takes 2 ms longer.
const schemaSum = "8a2af31c44f2d4a187de2538a981d117f1fbc58ba3a4d9aff381d9400c5def77"

// writer is the one connection that writes, and the pool of one that it came from.
type writer struct {
	*sql.Conn
	pool *sql.DB
}

// Close gives both up.
func (w *writer) Close() error { return errors.Join(w.Conn.Close(), w.pool.Close()) }

// openWriter makes the store where there is none, brings an older one forward, and returns its one writing connection.
func openWriter(dir string, d *disk) (*writer, error) {
	if err := prepareFolder(dir, d); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, setupLock), durable.BusyTimeout)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	identity, err := readIdentity(dir)
	if err != nil {
		return nil, err
	}
	if identity == "" { // SQLite would make the file readable for others
		if err := d.createFile(filepath.Join(dir, databaseFile), ""); err != nil {
			return nil, err
		}
	} else if _, err := os.Lstat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrReplaced, databaseFile)
	}
	db, err := sql.Open("sqlite", dataSource(dir, d, writing))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{Conn: c, pool: db}
	if err := w.settleLog(dir); err != nil {
		w.Close()
		return nil, fmt.Errorf("writing the log back that was left behind: %w", err)
	}
	if err := setUp(dir, d, identity, c); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func setUp(dir string, d *disk, identity string, c *sql.Conn) error {
	ctx := context.Background()
	if err := durable.CheckPragmas(c, map[string]string{"journal_mode": "wal", "synchronous": strconv.Itoa(d.synchronous()), "foreign_keys": "1"}); err != nil {
		return err
	}
	have, err := schemaVersion(c.QueryRowContext(ctx, "PRAGMA user_version"))
	switch {
	case err != nil:
		return err
	case have > latestVersion():
		return &engine.NewerStore{Dir: dir, Have: have, Known: latestVersion()}
	case have > 0 && have < firstVersion:
		return engine.ErrUnreleased
	case have < 0:
		return fmt.Errorf("%w: %s says that its version is %d", ErrReplaced, databaseFile, have)
	case have == 0 && identity != "":
		return fmt.Errorf("%w: %s is empty", ErrReplaced, databaseFile)
	case have > 0 && !isOurs(c):
		return fmt.Errorf("%w: %s belongs to another program", ErrReplaced, databaseFile)
	}
	if err := checkSchema(dir, c, have); err != nil {
		return err
	}
	if have > 0 && have < latestVersion() && identity != "" { // without one its making was cut off: nothing is in it
		if err := keepCopy(dir, d, have, c); err != nil {
			return fmt.Errorf("copying the store before bringing it forward: %w", err)
		}
	}
	if err := migrateSchema(c, have); err != nil {
		return fmt.Errorf("bringing the store forward to version %d: %w", latestVersion(), err)
	}
	if identity != "" {
		return checkIdentity(identity, c.QueryRowContext(ctx, "SELECT id FROM store"))
	}
	var id string
	if err := c.QueryRowContext(ctx, "SELECT id FROM store").Scan(&id); err != nil {
		return err
	}
	return d.writeIdentity(dir, id)
}

func isOurs(c *sql.Conn) bool {
	var id int
	err := c.QueryRowContext(context.Background(), "PRAGMA application_id").Scan(&id)
	return err == nil && id == applicationID
}

func schemaVersion(row *sql.Row) (n int, err error) {
	if err = row.Scan(&n); err != nil {
		err = fmt.Errorf("reading the store's version: %w", err)
	}
	return n, err
}

// migrateSchema takes the schema from a version to the latest in one transaction, or leaves it as it is.
func migrateSchema(c *sql.Conn, have int) error {
	if have == latestVersion() {
		return nil
	}
	tx, err := c.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statements := append([]string{}, migrations[appliedMigrations(have):]...)
	if have == 0 {
		statements = append(statements, fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("INSERT INTO store (one, id) VALUES (1, '%s')", engine.NewID()))
	}
	for _, s := range append(statements, fmt.Sprintf("PRAGMA user_version = %d", latestVersion())) {
		if _, err := tx.Exec(s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// keepCopy leaves the database as it was beside the one that is about to change.
func keepCopy(dir string, d *disk, version int, c *sql.Conn) error {
	path := filepath.Join(dir, fmt.Sprintf("%s.v%d", databaseFile, version))
	if err := d.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.createFile(path, ""); err != nil {
		return err
	}
	_, err := c.ExecContext(context.Background(), "VACUUM INTO ?", path)
	return err
}
