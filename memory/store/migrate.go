package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flowrun/flowrun/memory/private/durable"
)

// applicationID marks the file as flowrun's memory ("flmm").
const applicationID = 0x666c6d6d

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations in order; after the nth the schema's version is n. They are only added to, and keep the three tables' rows, which
// a rebuild looks for.
var migrations = durable.Migrations(migrationFiles)

// schemaSum is the [durable.SchemaSum] of the migrations, so that no command makes them to compare. TestSchemaSum tells the right one.
const schemaSum = "860f8ddd34ff2c4870942d0c0e89b16d6e3a4e7d963003262a283756d9ddb9ce"

// migrate takes a database from a version to the latest in one transaction, or leaves it as it is. Row 0 tells the version with
// a checksum, so that damage is not taken for another release.
func (d *database) migrate(id storeID, have int) error {
	tx, err := d.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, m := range migrations[have:] {
		if _, err := tx.Exec(m); err != nil {
			return err
		}
	}
	r := identityRow(id, len(migrations))
	for _, table := range []string{"records", "copies"} {
		if _, err := tx.Exec("REPLACE INTO "+table+" (seq, body, sum) VALUES (0, ?, ?)", r.body, r.sum); err != nil {
			return err
		}
	}
	for pragma, value := range map[string]int{"application_id": applicationID, "user_version": len(migrations)} {
		if _, err := tx.Exec(fmt.Sprintf("PRAGMA %s = %d", pragma, value)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// forward brings an older database forward, and leaves it as it was beside the new one.
func (s *Store) forward(id storeID, have int) error {
	path := fmt.Sprintf("%s.v%d", s.path(databaseFile), have)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := createEmpty(path); err != nil {
		return err
	}
	if err := s.db.exec("VACUUM INTO ?", path); err != nil {
		return fmt.Errorf("copying the memory before bringing it forward: %w", err)
	}
	if err := sort(s.db.migrate(id, have)); err != nil { // the copy has read every page: what goes wrong now is not a damage
		return fmt.Errorf("bringing the memory forward to version %d: %v", len(migrations), err)
	}
	return nil
}
