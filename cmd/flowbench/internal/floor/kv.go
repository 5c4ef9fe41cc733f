package floor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// operations does what the kv steps of a run in a store of flowrun's did, with nothing around it: for each of n operations a row of the state
// that runs share, a row that records its answer, so that the same operation again has no second effect, and the bytes of its event, which a
// row of the journal holds for each transaction. Rows, bytes, settings and the operations of a transaction are those of the run: a floor of
// other transactions would measure how many syncs a disk does, and not what the operations cost. It is the least in one respect: flowrun needs
// a transaction for the answers and one for their events where many steps run at once, and the floor has one for both. It is not the least in
// another: where many steps run at once, flowrun records the answers of a transaction in one row, and the floor in a row each.
func operations(n int, like string) (r Report, err error) {
	as, err := measureRun(like)
	if err != nil {
		return r, fmt.Errorf("the rows of the run in %s: %w", like, err)
	}
	r.Group = max(1, (as.events+as.batches/2)/as.batches)
	r.RowBytes = as.stateBytes + len(answerSpace) + len(answerKey(0)) + as.valueBytes + as.eventBytes
	c, closeAll, err := openOwn()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	w, err := newOperationWriter(c, as)
	if err != nil {
		return r, err
	}
	began := time.Now()
	for first := 0; first < n; first += r.Group {
		if err := w.write(first, min(r.Group, n-first)); err != nil {
			return r, err
		}
	}
	r.Wall = time.Since(began)
	return r, nil
}

// The names of the recorded answers of a run, as long as flowrun's. Their rows are gone when the run has ended.
const answerSpace = "answers 123456789012"

func answerKey(i int) string { return fmt.Sprintf("s[%d] %032x", i, i) }

// measured is what the journal and the state of a run have: sizes in bytes are those of one row or event, on average.
type measured struct {
	events, batches, keys              int
	stateBytes, valueBytes, eventBytes int
}

func measureRun(store string) (m measured, err error) {
	db, err := openTheirs(store)
	if err != nil {
		return m, err
	}
	defer db.Close()
	err = db.QueryRow("SELECT sum(count), count(*), sum(length(body)) / sum(count) FROM batches WHERE first > 1").Scan(&m.events, &m.batches, &m.eventBytes)
	if err == nil {
		err = db.QueryRow("SELECT count(*), avg(length(space) + length(key) + length(body)), avg(length(body)) FROM shared WHERE space LIKE 'kv %'").
			Scan(&m.keys, (*rounded)(&m.stateBytes), (*rounded)(&m.valueBytes))
	}
	return m, err
}

// rounded takes an average.
type rounded int

// Scan implements sql.Scanner.
func (r *rounded) Scan(v any) error {
	f, is := v.(float64)
	if !is {
		return fmt.Errorf("%v is not an average", v)
	}
	*r = rounded(f + 0.5)
	return nil
}

type operationWriter struct {
	as                         measured
	begin, put, append, commit *sql.Stmt
	value, events              []byte
}

func newOperationWriter(c *sql.Conn, as measured) (*operationWriter, error) {
	for _, table := range []string{
		"CREATE TABLE shared (space TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (space, key)) STRICT, WITHOUT ROWID",
		"CREATE TABLE batches (run INTEGER NOT NULL, first INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (run, first)) STRICT, WITHOUT ROWID",
	} {
		if _, err := c.ExecContext(context.Background(), table); err != nil {
			return nil, err
		}
	}
	w := &operationWriter{as: as, value: make([]byte, as.valueBytes)}
	for query, to := range map[string]**sql.Stmt{
		"BEGIN IMMEDIATE": &w.begin,
		"INSERT INTO shared VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body": &w.put,
		"INSERT INTO batches VALUES (1, ?, ?)":                                               &w.append,
		"COMMIT":                                                                             &w.commit,
	} { // any order
		var err error
		if *to, err = c.PrepareContext(context.Background(), query); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// write is one transaction.
func (w *operationWriter) write(first, n int) error {
	if _, err := w.begin.Exec(); err != nil {
		return err
	}
	for i := first; i < first+n; i++ {
		if _, err := w.put.Exec("kv default", fmt.Sprintf("k/%d", i%w.as.keys), w.value); err != nil {
			return err
		}
	}
	for i := first; i < first+n; i++ {
		if _, err := w.put.Exec(answerSpace, answerKey(i), w.value); err != nil {
			return err
		}
	}
	if need := n * w.as.eventBytes; len(w.events) != need {
		w.events = make([]byte, need)
	}
	if _, err := w.append.Exec(first, w.events); err != nil {
		return err
	}
	_, err := w.commit.Exec()
	return err
}
