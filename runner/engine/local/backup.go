package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
)

// logsDir is the folder of the logs of attempts, which a backup has, too.
const logsDir = "logs"

// Backup writes a copy of the store into the folder to, which must not exist: the database as it was at one moment, whatever other
// processes write meanwhile, the artifacts and the log files. The copy is a store itself. Who calls it checks the copy, and removes a folder in which a
// backup failed.
func (e *Engine) Backup(ctx context.Context, to string) error {
	if err := private.Mkdir(to); err != nil {
		return err
	}
	if err := prepareFolder(to, e.options.disk); err != nil {
		return err
	}
	id, err := readIdentity(e.dir)
	if err != nil {
		return err
	}
	if err := copyDatabase(ctx, e.dir, filepath.Join(to, databaseFile), e.options.disk); err != nil {
		return fmt.Errorf("copying the database: %w", err)
	}
	if err := copyLogs(filepath.Join(e.dir, logsDir), filepath.Join(to, logsDir)); err != nil {
		return fmt.Errorf("copying the logs: %w", err)
	}
	if err := e.artifacts.Copy(artifact.New(to, artifactDisk{e.options.disk, &e.options})); err != nil {
		return fmt.Errorf("copying the artifacts: %w", err)
	}
	return e.options.disk.writeIdentity(to, id)
}

// copyDatabase writes the database of a store as it is at one moment into a new file.
func copyDatabase(ctx context.Context, dir, to string, d *disk) error {
	db, err := sql.Open("sqlite", strings.TrimSuffix(dataSource(dir, d, reading), "&_pragma=query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return err
	}
	f, err := private.Open(to, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// copyLogs copies the log files that are not there yet.
func copyLogs(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return private.Mkdir(target)
		case !d.Type().IsRegular():
			return nil
		}
		in, err := private.Open(path, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) { // its run was removed meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := private.Open(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Chmod(0o600), out.Close())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Parts says what of a store is restored.
type Parts struct {
	KV   bool // state under keys
	Runs bool // all else of the database, and the logs
}

// Restore gives a store the content of a backup of it, in one transaction; a store that is lost is made anew. Runs are restored only while
// no process drives any. The error wraps engine.ErrOwned if one does.
func Restore(ctx context.Context, dir, from string, p Parts) error {
	copied, err := Open(from, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	if err := copied.Close(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return restoreLost(ctx, dir, from)
	}
	e, err := Open(dir, Options{}) // brings it forward to the version of this release
	if err != nil {
		return err
	}
	defer e.Close()
	if err := isOfStore(from, dir); err != nil {
		return err
	}
	if p.Runs { // before the journals that name them
		if err := copied.artifacts.Copy(e.artifacts); err != nil {
			return err
		}
	}
	if err := restoreRows(ctx, dir, from, p); err != nil {
		return err
	}
	if !p.Runs {
		return nil
	}
	return copyLogs(filepath.Join(from, logsDir), filepath.Join(dir, logsDir))
}

// isOfStore returns an error if a backup is one of another store.
func isOfStore(from, dir string) error {
	theirs, err := readIdentity(from)
	ours, wrong := readIdentity(dir)
	if err = errors.Join(err, wrong); err == nil && theirs != ours {
		err = fmt.Errorf("%s is a backup of another store: its id is %s, and that of %s is %s", from, theirs, dir, ours)
	}
	return err
}

// restoreLost makes a store of a backup where there is none.
func restoreLost(ctx context.Context, dir, from string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	if err := prepareFolder(dir, realDisk); err != nil {
		return err
	}
	id, err := readIdentity(from)
	if err != nil {
		return err
	}
	if have, err := readIdentity(dir); err != nil || have != "" && have != id {
		return errors.Join(err, isOfStore(from, dir))
	}
	if err := removeMarks(dir); err != nil {
		return err
	}
	fresh := filepath.Join(dir, databaseFile+".restored")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a restore that was cut off
		return err
	}
	if err := copyDatabase(ctx, from, fresh, realDisk); err != nil {
		return err
	}
	if err := copyLogs(filepath.Join(from, logsDir), filepath.Join(dir, logsDir)); err != nil {
		return err
	}
	if err := artifact.New(from, nil).Copy(artifact.New(dir, artifactDisk{realDisk, &Options{}})); err != nil {
		return err
	}
	for _, log := range []string{"-wal", "-shm"} { // a log of the lost database would be taken for that of this one
		if err := os.Remove(filepath.Join(dir, databaseFile+log)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(fresh, filepath.Join(dir, databaseFile)); err != nil {
		return err
	}
	return realDisk.writeIdentity(dir, id)
}

// ofKV selects the rows of the state under keys.
const ofKV = "(space = 'kv-count' OR space LIKE 'kv %' OR space LIKE 'kv-expiry %')"

// kept are the tables that say who the store is and who has driven it: a number of a process is never given twice.
var kept = []string{"store", "drivers"}

// restoreRows replaces rows of the store by those of a backup, in one transaction.
func restoreRows(ctx context.Context, dir, from string, p Parts) (err error) {
	// Tables are replaced one by one, so what refers to what is checked at the end.
	db, err := sql.Open("sqlite", strings.Replace(dataSource(dir, realDisk, writing), "foreign_keys(1)", "foreign_keys(0)", 1))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	if _, err := db.ExecContext(ctx, "ATTACH ? AS backup", filepath.Join(from, databaseFile)); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil) // from here on nobody else writes
	if err != nil {
		return explainBusy(err)
	}
	defer tx.Rollback()
	do := func(statement string) {
		if err == nil {
			_, err = tx.ExecContext(ctx, statement)
		}
	}
	if p.KV {
		do("DELETE FROM main.shared WHERE " + ofKV)
		do("INSERT INTO main.shared SELECT * FROM backup.shared WHERE " + ofKV)
	}
	if p.Runs && err == nil {
		alive, err := driversAlive(dir)
		if err == nil && alive {
			err = fmt.Errorf("%w: a process drives runs of this store, and runs are restored while none does", engine.ErrOwned)
		}
		if err != nil {
			return err
		}
		do("DELETE FROM main.shared WHERE NOT " + ofKV)
		do("INSERT INTO main.shared SELECT * FROM backup.shared WHERE NOT " + ofKV)
		tables, err := tablesOf(ctx, tx)
		if err != nil {
			return err
		}
		for _, table := range tables {
			do(fmt.Sprintf("DELETE FROM main.%q", table))
			do(fmt.Sprintf("INSERT INTO main.%q SELECT * FROM backup.%q", table, table))
		}
		if err := removeMarks(dir); err != nil { // they are ahead of the journals of the backup
			return err
		}
	}
	if err != nil {
		return err
	}
	var table string
	if err := tx.QueryRowContext(ctx, "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1").Scan(&table); !errors.Is(err, sql.ErrNoRows) {
		return errors.Join(fmt.Errorf("the backup has rows of %q that refer to others which it does not have", table), err)
	}
	return tx.Commit()
}

// tablesOf lists the tables that a restore of runs replaces whole.
func tablesOf(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'shared' ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if !slices.Contains(kept, name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}

// removeMarks removes what the folder says of the ends of journals, and the snapshots.
func removeMarks(dir string) error {
	marks, err := os.ReadDir(filepath.Join(dir, marksDir))
	for _, m := range marks {
		err = errors.Join(err, os.Remove(filepath.Join(dir, marksDir, m.Name())))
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dir, snapshotsDir)))
}
