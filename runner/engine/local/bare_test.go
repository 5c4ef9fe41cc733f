package local

import (
	"context"
	"database/sql"
	"fmt"
)

// openBare opens a database with the store's settings and one table.
func openBare(dir string) (*writer, *sql.DB, error) {
	db, err := sql.Open("sqlite", dataSource(dir, realDisk, writing))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.ExecContext(context.Background(), fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", checkpointPages)); err != nil {
		return nil, nil, err
	}
	_, err = c.ExecContext(context.Background(), "CREATE TABLE ev (run INTEGER, seq INTEGER, data BLOB, PRIMARY KEY (run, seq)) WITHOUT ROWID")
	return &writer{c, db}, db, err
}
