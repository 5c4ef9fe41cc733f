package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// What runs share are rows of the table shared. Package shared holds the rules. The host answers such
// an attempt itself: the effect and the recorded answer are one transaction, and only the process that
// drives the run can write it. So an attempt has its effect once, whatever process dies when.

// maxAnswered is how many attempts one transaction answers at most: as many as the batch of their ends holds. Each transaction costs two
// syncs, its own and that of the batch. With 256, a fan-out of 20,000 takes 0.64 s in place of 0.59 on an idle processor and a disk that syncs
// in 4 ms, and 4.2 s in place of 3.0 on a busy processor (flowbench -rows kv).
const maxAnswered = journal.MaxBatchEvents

// maxTelling is how many of these are not operations on keys: such an attempt may write a message to each of many runs.
const maxTelling = 256

// maxJoined is how many attempts are answered by the transaction of the batch that starts them. More are answered beside
// the next batch.
const maxJoined = 16

// joined are attempts that are answered by the transaction of the batch that starts them: one commit in place of two. Where
// the transaction leaves them out, answers stays empty, and they are answered after it like any other.
type joined struct {
	store    *storing
	attempts []*event.Attempt
	answers  []*event.AttemptFinished
	posts    []shared.Post
}

// joinBatch gives the attempts that the transaction of a batch answers. It is called before the batch is durable.
func (s *storing) joinBatch(commands []event.Command) joined {
	j := joined{store: s}
	if !slices.ContainsFunc(commands, changesShared) {
		return j
	}
	commands = engine.Once(commands)
	unwanted := engine.Unwanted(commands)
	for i := range commands {
		if a := commands[i].Start; changesShared(commands[i]) && !unwanted[a.Ticket] {
			j.attempts = append(j.attempts, a)
		}
	}
	if len(j.attempts) > maxJoined || s.isWorking() {
		return joined{}
	}
	return j
}

func changesShared(c event.Command) bool {
	return c.Start != nil && c.Start.Kind == event.StoreAttempt && shared.Changes(c.Start.Store)
}

// answer carries the attempts out. It may be called a second time, after its first writes have been undone. On a full disk
// it leaves them out: the reserve is for the journal.
func (j *joined) answer(tx *transaction) (err error) {
	j.answers, j.posts = nil, nil
	if len(j.attempts) > 0 && !j.store.engine.commits.isFull() {
		var rows batchRows
		rows.prepare(j.attempts)
		j.answers, j.posts, err = j.store.answerIn(tx, &rows, j.attempts)
	}
	return err
}

// take gives the answer of an attempt, or nil.
func (j *joined) take(a *event.Attempt) *event.AttemptFinished {
	for i, f := range j.answers {
		if j.attempts[i].Ticket == a.Ticket {
			return f
		}
	}
	return nil
}

// storing answers the attempts of one run that ask for what runs share. One goroutine works while
// something is queued, so that a wide for_each shares transactions and needs no goroutine for each.
type storing struct {
	engine *Engine
	run    *claimed
	live   *attempts
	fail   func(error) // ends the drive

	mu        sync.Mutex
	queue     []*event.Attempt
	cancelled map[uint64]bool // of the queued attempts, by ticket
	working   bool

	rows batchRows // of answerQueue

	// The first transaction of the drive that answers attempts finds out whether answers were recorded before. Only transactions touch these.
	looked   bool
	answered bool
	packs    packs
}

// answerAttempt queues an attempt for its answer.
func (s *storing) answerAttempt(a *event.Attempt) {
	s.live.cancel[a.Ticket] = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, a)
	if !s.working {
		s.working = true
		s.live.running.Add(1)
		go s.answerQueue()
	}
}

func (s *storing) isWorking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.working
}

func (s *storing) cancelQueued(ticket uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled == nil {
		s.cancelled = map[uint64]bool{}
	}
	s.cancelled[ticket] = true
}

// takeQueued returns the next attempts. Cancelled attempts are answered at once.
func (s *storing) takeQueued() (batch []*event.Attempt, answers []*event.AttemptFinished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for telling := 0; n < min(len(s.queue), maxAnswered) && telling < maxTelling; n++ {
		if s.queue[n].Store.KV == nil {
			telling++
		}
	}
	for _, a := range s.queue[:n] {
		if !s.cancelled[a.Ticket] {
			batch = append(batch, a)
			continue
		}
		f := unadmitted(event.Failed, event.ReasonCancelled, "cancelled before it started")
		f.Ticket, f.Node, f.Attempt, f.StartedAt = a.Ticket, a.Node, a.Attempt, s.engine.now()
		answers = append(answers, &f)
	}
	if s.queue = s.queue[n:]; n == 0 {
		s.queue, s.cancelled, s.working, s.rows = nil, nil, false, batchRows{}
	}
	return batch, answers
}

func (s *storing) answerQueue() {
	defer s.live.running.Done()
	for s.live.ctx.Err() == nil {
		batch, answers := s.takeQueued()
		if len(batch)+len(answers) == 0 {
			return
		}
		more, posts, err := s.answerBatch(batch)
		if err != nil {
			s.fail(s.engine.explainError(err)) // the next driver asks again with the same keys
			return
		}
		s.engine.pokeAll(posts)
		answers = append(answers, more...)
		for _, f := range answers {
			_ = event.Shorten(f, s.live.files.Put) // if it fails, the answer is whole, and the commit meets the same disk
		}
		select {
		case s.live.together <- answers:
		case <-s.live.closed:
			return
		}
	}
}

// answerBatch carries attempts out. Those that only read need no transaction.
func (s *storing) answerBatch(batch []*event.Attempt) (answers []*event.AttemptFinished, posts []shared.Post, err error) {
	var changing []*event.Attempt
	for _, a := range batch {
		if shared.Changes(a.Store) {
			changing = append(changing, a)
			continue
		}
		var f event.AttemptFinished
		err := shared.Uncrowd(func() (err error) {
			f, _, err = shared.AnswerAttempt(s.engine.readRows(), a, s.engine.now())
			return err
		}, s.engine.sweepShared)
		if err != nil {
			return nil, nil, err
		}
		answers = append(answers, &f)
	}
	if len(changing) == 0 {
		return answers, nil, nil
	}
	var changed []*event.AttemptFinished
	s.rows.prepare(changing)
	again := false
	err = s.engine.write(func(tx *transaction) error {
		if s.live.ctx.Err() != nil { // the next drive may have found that no answers are recorded
			return refused{context.Cause(s.live.ctx)}
		}
		if again { // what the rows hold was undone
			s.rows.prepare(changing)
		}
		again = true
		var owner, ended int64
		if err := tx.readRow("SELECT coalesce(owner, 0), ended FROM runs WHERE key = ?", []any{s.run.key}, &owner, &ended); err != nil {
			return err
		}
		if owner != s.run.epoch || ended != 0 {
			return refused{fmt.Errorf("%w: run %s", engine.ErrFenced, s.run.id)}
		}
		changed, posts, err = s.answerIn(tx, &s.rows, changing)
		return err
	})
	return append(answers, changed...), posts, err
}

// answerIn carries out attempts that change rows, and returns their answers in the same order and the messages that follow. The rows are
// prepared for the attempts, and the run is ours in the transaction.
func (s *storing) answerIn(tx *transaction, rows *batchRows, attempts []*event.Attempt) (answers []*event.AttemptFinished, posts []shared.Post, err error) {
	if !s.looked {
		if s.answered, err = shared.HasAnswers(sharedRows{tx}, s.run.id); err != nil {
			return nil, nil, err
		}
		s.looked = true
	}
	rows.packs = &s.packs
	if err := rows.begin(tx, s.answered); err != nil {
		return nil, nil, err
	}
	all := make([]event.AttemptFinished, len(attempts))
	answers = make([]*event.AttemptFinished, len(attempts))
	for i, a := range attempts {
		var more []shared.Post
		if all[i], more, err = shared.AnswerAt(rows, a, rows.answers[i], s.engine.now()); err == nil {
			err = s.engine.postAll(tx, more)
		}
		if err != nil {
			return nil, nil, err
		}
		answers[i], posts = &all[i], append(posts, more...)
	}
	return answers, posts, rows.flush()
}

// postAll puts messages into the inboxes of runs, and wakes those that are parked.
func (e *Engine) postAll(tx *transaction, posts []shared.Post) error {
	var packed []byte
	for i := range posts {
		p := &posts[i]
		if i == 0 || p.Kind != event.ExternalEvent || posts[i-1].Kind != event.ExternalEvent { // an event is the same for all runs
			var err error
			if packed, err = engine.PackExternal(p.External, []event.ExternalKind{p.Kind}); err != nil {
				return err
			}
		}
		if err := e.post(tx, p, packed); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) post(tx *transaction, p *shared.Post, packed []byte) error {
	var key, ended, waiting, rests int64
	err := tx.readRow("SELECT key, ended, (SELECT count(*) FROM inbox WHERE run = runs.key), (SELECT count(*) FROM shared WHERE space = ? AND key = runs.id) FROM runs WHERE id = ?",
		[]any{shared.RestSpace, p.Run}, &key, &ended, &waiting, &rests)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && ended != 0:
		return nil
	case err != nil:
		return err
	}
	if rests > 0 {
		if err := shared.Stir(sharedRows{tx}, p.Run); err != nil {
			return err
		}
	}
	if begins := engine.InPlaceOf(p.External); begins != "" {
		if _, err := tx.exec("DELETE FROM inbox WHERE run = ? AND substr(CAST(body AS TEXT), 1, ?) = ?", key, len(begins), begins); err != nil {
			return err
		}
	}
	if p.Kind == event.ExternalEvent && waiting >= engine.MaxInbox {
		gone, err := tx.exec("DELETE FROM inbox WHERE id = (SELECT min(id) FROM inbox WHERE run = ? AND substr(CAST(body AS TEXT), 1, 15) = ?)", key, eventBody)
		if err == nil && gone > 0 {
			packed, err = engine.PackExternal(engine.Dropping(p.External), []event.ExternalKind{p.Kind})
		}
		if err != nil {
			return err
		}
	}
	if _, err := tx.exec("INSERT INTO inbox (run, body, created) VALUES (?, ?, ?)", key, packed, int64(e.now())); err != nil {
		return err
	}
	return tx.wakeByMessage(key)
}

// eventBody is how the body of an event begins in the inbox.
const eventBody = `{"kind":"event"`

// pokeAll lets the drives of this process look for their messages.
func (e *Engine) pokeAll(posts []shared.Post) {
	for i := range posts {
		e.pokeRun(posts[i].Run)
	}
}

// sweepShared removes rows by do in a transaction. The error is engine.ErrReadOnly in a store that was opened for reading.
func (e *Engine) sweepShared(do func(shared.Rows) error) error {
	return e.write(func(tx *transaction) error { return do(sharedRows{tx}) })
}

// Ask implements engine.Sharer.
func (e *Engine) Ask(_ context.Context, r event.StoreRequest) (v value.Value, err error) {
	if !shared.Changes(&r) {
		err = shared.Uncrowd(func() error {
			a, err := shared.Apply(e.readRows(), &r, shared.Waiter{}, e.now())
			v = a.Output
			return err
		}, e.sweepShared)
		return v, e.explainError(err)
	}
	var a shared.Answer
	err = e.write(func(tx *transaction) (err error) {
		if a, err = shared.Apply(sharedRows{tx}, &r, shared.Waiter{}, e.now()); err == nil {
			err = e.postAll(tx, a.Posts)
		}
		if no := (*shared.Refusal)(nil); errors.As(err, &no) {
			err = refused{no}
		}
		return err
	})
	if err == nil {
		e.pokeAll(a.Posts)
	}
	return a.Output, e.explainError(err)
}

// sharedRows are the rows of what runs share. Without a transaction they can only be read.
type sharedRows struct{ in queries }

// queries reads and writes the database.
type queries interface {
	readRow(query string, args []any, dest ...any) error
	reading(query string, args ...any) (*sql.Rows, error)
	exec(query string, args ...any) (int64, error)
}

func (e *Engine) readRows() sharedRows { return sharedRows{readOnly{e.read}} }

// readOnly is queries of a connection that only reads.
type readOnly struct{ db *reader }

func (r readOnly) readRow(query string, args []any, dest ...any) error {
	return r.db.QueryRow(query, args...).Scan(dest...)
}
func (r readOnly) reading(query string, args ...any) (*sql.Rows, error) {
	return r.db.Query(query, args...)
}
func (r readOnly) exec(string, ...any) (int64, error) { return 0, engine.ErrReadOnly }

// Get implements shared.Rows.
func (r sharedRows) Get(space, key string) (body []byte, found bool, err error) {
	err = r.in.readRow("SELECT body FROM shared WHERE space = ? AND key = ?", []any{space, key}, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// Put implements shared.Rows.
func (r sharedRows) Put(space, key string, body []byte) error {
	if body == nil {
		body = []byte{} // not NULL
	}
	_, err := r.in.exec("INSERT INTO shared (space, key, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body", space, key, body)
	return err
}

// Delete implements shared.Rows.
func (r sharedRows) Delete(space, key string) error {
	_, err := r.in.exec("DELETE FROM shared WHERE space = ? AND key = ?", space, key)
	return err
}

// Clear implements shared.Rows.
func (r sharedRows) Clear(space string) error {
	_, err := r.in.exec("DELETE FROM shared WHERE space = ?", space)
	return err
}

// Scan implements shared.Rows.
func (r sharedRows) Scan(space, from string, each func(key string, body []byte) bool) error {
	rows, err := r.in.reading("SELECT key, body FROM shared WHERE space = ? AND key >= ? ORDER BY key", space, from)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var body []byte
		if err := rows.Scan(&key, &body); err != nil {
			return err
		}
		if !each(key, body) {
			return nil
		}
	}
	return rows.Err()
}
