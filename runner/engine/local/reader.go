package local

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared bounds how many statements a reader keeps prepared. The package has about 50.
const maxPrepared = 256

// reader reads the database, and prepares each statement once: to prepare one takes as long as a short one runs. It is safe for
// concurrent use.
type reader struct {
	*sql.DB

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

func newReader(db *sql.DB) *reader { return &reader{DB: db, prepared: map[string]*sql.Stmt{}} }

// statement returns a prepared statement; nil if it cannot be prepared, or if there are too many.
func (r *reader) statement(ctx context.Context, query string) *sql.Stmt {
	r.mu.RLock()
	s, known := r.prepared[query]
	r.mu.RUnlock()
	if known {
		return s
	}
	s, err := r.PrepareContext(ctx, query) // it may wait for a connection, so without the lock
	if err != nil {
		return nil // the query meets the error, too, and tells it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, known := r.prepared[query]; known || len(r.prepared) == maxPrepared {
		s.Close() // no error is possible: nobody has used it
		return first
	}
	r.prepared[query] = s
	return s
}

// QueryContext is that of sql.DB.
func (r *reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := r.statement(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

// Query is QueryContext without an end of its own.
func (r *reader) Query(query string, args ...any) (*sql.Rows, error) {
	return r.QueryContext(context.Background(), query, args...)
}

// QueryRowContext is that of sql.DB.
func (r *reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := r.statement(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}

// QueryRow is QueryRowContext without an end of its own.
func (r *reader) QueryRow(query string, args ...any) *sql.Row {
	return r.QueryRowContext(context.Background(), query, args...)
}
