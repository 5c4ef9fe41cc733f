package durable

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func connect(t *testing.T, source string) *sql.Conn {
	t.Helper()
	pool, err := sql.Open("sqlite", source)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		pool.Close()
	})
	return c
}

// The log is written back when it is long, and Settle empties it. Whoever cannot write it back hears of that.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Source(path, Synced+Guarded, ""))
	wal := map[string]string{"journal_mode": "wal", "synchronous": "2"}
	if err := CheckPragmas(c, wal); err != nil {
		t.Error(err)
	}
	if err := CheckPragmas(c, map[string]string{"synchronous": "1"}); err == nil {
		t.Error("a wrong setting is not noticed")
	}
	written := func() int64 { // of the database itself, in bytes
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for _, limit := range []int{1000, 1} {
		before, l := written(), Log{Conn: c, Limit: limit}
		if _, err := c.ExecContext(context.Background(), "CREATE TABLE t"+strings.Repeat("x", limit)+" (a)"); err != nil {
			t.Fatal(err)
		}
		if err := l.Checkpoint(); err != nil || (written() > before) != (limit == 1) {
			t.Errorf("from %d pages on: %d bytes before, %d after, %v", limit, before, written(), err)
		}
	}
	for _, statement := range []string{"BEGIN", "CREATE TABLE u (a)"} { // in a transaction the log cannot be written back
		if _, err := c.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Log{Conn: c}).Checkpoint(); err == nil {
		t.Error("nobody hears that the log could not be written back")
	}
	if _, err := c.ExecContext(context.Background(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := Settle(c); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the log is not empty: %v, %v", info, err)
	}
}

// A lock that another holds is waited for as long as the caller says, and no longer than the context lives.
func TestLock(t *testing.T) {
	open := func() *os.File {
		f, err := os.OpenFile(filepath.Join(t.TempDir(), "..", "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	held, other := open(), open()
	if err := Lock(context.Background(), held, syscall.LOCK_EX, 0); err != nil {
		t.Fatal(err)
	}
	if err := Lock(context.Background(), other, syscall.LOCK_SH, 2*LockBeat); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("the lock of another is taken: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Lock(ctx, other, syscall.LOCK_SH, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait goes on without its caller: %v", err)
	}
	released := make(chan error, 1)
	time.AfterFunc(2*LockBeat, func() { released <- Flock(held, syscall.LOCK_UN) })
	if err := Lock(context.Background(), other, syscall.LOCK_SH, time.Minute); err != nil {
		t.Errorf("a lock that was let go is not taken: %v", err)
	}
	if err := <-released; err != nil {
		t.Errorf("the lock cannot be released: %v", err)
	}
}
