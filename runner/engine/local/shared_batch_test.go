package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// The rows of a batch are those that one request after another would read and write: random changes in random transactions are made to
// them and to a map, and each read gives the same.
func TestBatchRowsAreTheRows(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 14))
		want, rows := &shared.Map{}, batchRows{}
		key := func() string { return fmt.Sprintf("k%02d", r.IntN(30)) }
		space := func() string { return fmt.Sprintf("kv n%d-%d", seed, r.IntN(2)) }
		scanned := func(rows shared.Rows, space, from string) (text string) {
			if err := rows.Scan(space, from, func(k string, body []byte) bool {
				text += fmt.Sprintf("%s=%s ", k, body)
				return len(text) < 60
			}); err != nil {
				t.Fatal(err)
			}
			return text
		}
		for range 15 {
			var begins []*event.Attempt
			for range r.IntN(200) {
				begins = append(begins, &event.Attempt{Run: "r", Key: key(), Node: "s", Store: &event.StoreRequest{KV: &event.KVRequest{Namespace: space()[len("kv "):], Key: key()}}})
			}
			err := e.write(func(tx *transaction) error {
				rows.prepare(begins)
				if err := rows.begin(tx, true); err != nil {
					return err
				}
				for range r.IntN(150) {
					space, key := space(), key()
					switch r.IntN(10) {
					case 0:
						if err := rows.Delete(space, key); err != nil {
							return err
						}
						want.Delete(space, key)
					case 1:
						if got, is := scanned(&rows, space, key), scanned(want, space, key); got != is {
							t.Errorf("seed %d: the scan of %s from %s: %s, want %s", seed, space, key, got, is)
						}
					case 2:
						if r.IntN(20) == 0 {
							if err := rows.Clear(space); err != nil {
								return err
							}
							want.Clear(space)
						}
					case 3, 4, 5:
						body, found, err := rows.Get(space, key)
						is, there, _ := want.Get(space, key)
						if err != nil || found != there || !bytes.Equal(body, is) {
							t.Errorf("seed %d: %s %s: %s, %v, %v, want %s, %v", seed, space, key, body, found, err, is, there)
						}
					default:
						body := fmt.Append(nil, r.IntN(1000))
						if err := rows.Put(space, key, body); err != nil {
							return err
						}
						want.Put(space, key, body)
					}
				}
				return rows.flush()
			})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				space := fmt.Sprintf("kv n%d-%d", seed, n)
				if got, is := scanned(e.readRows(), space, ""), scanned(want, space, ""); got != is {
					t.Fatalf("seed %d: %s holds %s, want %s", seed, space, got, is)
				}
			}
		}
	}
}

// A transaction that answers many operations on keys of their own takes few statements: the operations share reads and writes.
func TestBatchTakesFewStatements(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	var attempts []*event.Attempt
	for i := range maxAnswered {
		attempts = append(attempts, &event.Attempt{Run: "r", Key: fmt.Sprint("id", i), Node: fmt.Sprintf("s[%d]", i),
			Store: &event.StoreRequest{KV: &event.KVRequest{Operation: "set", Namespace: "n", Key: fmt.Sprint("k", i), Value: 1.0}}})
	}
	statements := 0
	err := e.write(func(tx *transaction) error {
		var rows batchRows
		rows.prepare(attempts)
		if err := rows.begin(tx, true); err != nil {
			return err
		}
		for _, s := range rows.order {
			statements += len(s.rows) / maxPart // rounded down: 129 places are 64, 64 and 1
		}
		rows.in = counted{tx, &statements}
		for _, a := range attempts {
			if f, _, err := shared.AnswerAttempt(&rows, a, e.now()); err != nil || f.Outcome != event.OK {
				return fmt.Errorf("%v: %w", f.Error, err)
			}
		}
		return rows.flush()
	})
	if err != nil {
		t.Fatal(err)
	}
	if statements > maxAnswered/10 {
		t.Errorf("%d operations took %d statements", len(attempts), statements)
	}
	if body, found, err := e.readRows().Get("kv-count", "n"); string(body) != fmt.Sprint(maxAnswered, " 0") || !found || err != nil {
		t.Errorf("the namespace has %s keys (%v)", body, err)
	}
}

// A transaction answers as many operations on keys as a batch has events, and fewer attempts that may write to many runs.
func TestOneTransactionIsBounded(t *testing.T) {
	kv, emit := &event.StoreRequest{KV: &event.KVRequest{}}, &event.StoreRequest{Emit: &event.EmitRequest{}}
	for _, c := range []struct {
		queue []*event.StoreRequest
		want  []int
	}{
		{slices.Repeat([]*event.StoreRequest{kv}, maxAnswered+1), []int{maxAnswered, 1, 0}},
		{slices.Repeat([]*event.StoreRequest{emit}, maxTelling+2), []int{maxTelling, 2, 0}},
		{slices.Repeat([]*event.StoreRequest{kv, emit}, maxTelling+1), []int{2 * maxTelling, 2, 0}},
	} {
		s := storing{working: true}
		for i, r := range c.queue {
			s.queue = append(s.queue, &event.Attempt{Ticket: uint64(i), Store: r})
		}
		for i, want := range c.want {
			if batch, answers := s.takeQueued(); len(batch) != want || len(answers) != 0 {
				t.Errorf("part %d of %d attempts has %d, want %d", i+1, len(c.queue), len(batch), want)
			}
		}
	}
}

// counted counts statements.
type counted struct {
	*transaction
	n *int
}

func (c counted) readRow(query string, args []any, dest ...any) error {
	*c.n++
	return c.transaction.readRow(query, args, dest...)
}

func (c counted) exec(query string, args ...any) (int64, error) {
	*c.n++
	return c.transaction.exec(query, args...)
}

// An operation whose answer is recorded has no second effect: neither in the drive that recorded it, where another attempt of the step asks,
// nor in the next drive, where the first attempt asks again.
func TestRecordedAnswersAreRead(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	a := event.Attempt{Run: "r", Key: "k", Node: "s", Attempt: 1, Store: &event.StoreRequest{KV: &event.KVRequest{Operation: "incr", Namespace: "n", Key: "k", By: 1}}}
	again := a
	again.Attempt = 2
	first, next := &storing{engine: e, run: &claimed{id: "r"}}, &storing{engine: e, run: &claimed{id: "r"}}
	for i, c := range []struct {
		drive *storing
		a     *event.Attempt
	}{{first, &a}, {first, &again}, {next, &a}} {
		err := e.write(func(tx *transaction) error {
			var rows batchRows
			rows.prepare([]*event.Attempt{c.a})
			answers, _, err := c.drive.answerIn(tx, &rows, []*event.Attempt{c.a})
			if err == nil && answers[0].Output != 1.0 {
				t.Errorf("request %d: the answer is %v", i, answers[0].Output)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if v, err := e.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: "get", Namespace: "n", Key: "k"}}); err != nil || v != 1.0 {
		t.Errorf("the number is %v (%v)", v, err)
	}
}

// The answers of a transaction with many operations are one row, and are read from there: by another attempt of a step, by the next drive, and
// by a drive after one that wrote more of them. A long answer is a row of its own.
func TestPackedAnswersAreRead(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	request := func(i, attempt int) *event.Attempt {
		a := &event.Attempt{Run: "r", Key: fmt.Sprint("k", i), Node: fmt.Sprintf("s[%d]", i), Attempt: attempt,
			Store: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "n", Key: "k", By: 1}}}
		if i == 5 {
			a.Store.KV = &event.KVRequest{Operation: ir.KVCAS, Namespace: "n", Key: "long", Value: strings.Repeat("x", limits.MaxInline)}
		}
		return a
	}
	want := map[int]value.Value{}
	answer := func(drive *storing, attempt int, undone bool, numbers ...int) {
		t.Helper()
		var attempts []*event.Attempt
		for _, i := range numbers {
			attempts = append(attempts, request(i, attempt))
		}
		err := e.write(func(tx *transaction) error {
			var rows batchRows
			rows.prepare(attempts)
			answers, _, err := drive.answerIn(tx, &rows, attempts)
			if undone && err == nil {
				return &shared.Refusal{Message: "undone"}
			}
			for at, i := range numbers {
				if err != nil {
					break
				}
				if is, known := want[i]; known && !value.Equal(answers[at].Output, is) {
					t.Errorf("attempt %d of %d: the answer is %v, want %v", attempt, i, answers[at].Output, is)
				}
				want[i] = answers[at].Output
			}
			return err
		})
		if err != nil && !undone {
			t.Fatal(err)
		}
	}
	from := func(first, end int) (list []int) {
		for i := first; i < end; i++ {
			list = append(list, i)
		}
		return list
	}
	drive := func() *storing { return &storing{engine: e, run: &claimed{id: "r"}} }
	first, second, third := drive(), drive(), drive()
	answer(first, 1, false, from(0, 40)...)
	answer(first, 2, false, 3, 4, 5)
	answer(first, 1, true, from(40, 80)...)
	answer(first, 1, false, from(40, 80)...)
	answer(first, 2, false, 0, 79, 41)
	answer(second, 1, false, append(from(80, 100), from(0, 80)...)...)
	answer(third, 1, false, 99, 0, 41, 5)
	answer(third, 1, false, from(0, 100)...)
	if got := want[99]; len(want) != 100 || !value.Equal(got, 99.0) { // all but the long one count
		t.Errorf("%d operations, and the last one is answered %v", len(want), got)
	}
	var rows int
	if err := e.read.QueryRow("SELECT count(*) FROM shared WHERE space = 'answers r'").Scan(&rows); err != nil || rows != 4 {
		t.Errorf("the answers are %d rows, want three packs and the long one (%v)", rows, err)
	}
	if err := e.write(func(tx *transaction) error { return shared.Forget(sharedRows{tx}, "r", e.now()) }); err != nil {
		t.Fatal(err)
	}
	if has, err := shared.HasAnswers(e.readRows(), "r"); err != nil || has {
		t.Errorf("the run has ended, and has answers: %v, %v", has, err)
	}
}

// A pack that is cut off ends the drive: an operation whose answer cannot be read must not be done again.
func TestDamagedPackIsRefused(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	a := &event.Attempt{Run: "r", Key: "k", Node: "s", Attempt: 1, Store: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "n", Key: "k", By: 1}}}
	for _, row := range []struct{ key, body string }{{packKey(0), "\x03s k\x05"}, {packPrefix + "z", ""}} {
		err := e.write(func(tx *transaction) error {
			return errors.Join(sharedRows{tx}.Clear("answers r"), sharedRows{tx}.Put("answers r", row.key, []byte(row.body)))
		})
		if err != nil {
			t.Fatal(err)
		}
		err = e.write(func(tx *transaction) error {
			var rows batchRows
			rows.prepare([]*event.Attempt{a})
			_, _, err := (&storing{engine: e, run: &claimed{id: "r"}}).answerIn(tx, &rows, []*event.Attempt{a})
			return err
		})
		if no := (*shared.Refusal)(nil); !errors.As(err, &no) {
			t.Errorf("%q: %v", row.key, err)
		}
	}
	if v, err := e.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "n", Key: "k"}}); err != nil || v != nil {
		t.Errorf("the number is %v (%v)", v, err)
	}
}
