package local

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/shared"
)

// Attempts that need shared capacity of a store are admitted before they start. Package admission
// holds the rules. The table admissions holds the requests, so that all processes see one line.
// Each operation is one transaction: it reads the requests for the named resources, applies the
// operation, and writes the changes. An attempt without needs asks only if its agent starts nothing now: see halts. The end of an attempt
// gives back what it held in the transaction that makes the end durable.
//
// A request lives as long as the process that drives its run. When that process has died, a process
// that waits in the line of the same store ends the run's remaining processes and removes the
// request. If another process took the run over, that process ends the remaining processes and then
// removes the run's requests.

// pollEvery is how soon an attempt that waits for its first answer sees its grant.
const pollEvery = 20 * time.Millisecond

// admitting is an executor for the attempts of one run that asks for admission first.
type admitting struct {
	engine *Engine
	run    *claimed
	next   executor.Executor

	mu      sync.Mutex
	refused map[uint64]string        // keys of the attempts that were refused and may stand in the line, or that hold what they have, by ticket
	ended   map[uint64]admission.End // of attempts whose ends are not durable yet, by ticket
	asked   bool                     // the run may have rows in the table
}

// Execute implements executor.Executor.
func (x *admitting) Execute(ctx context.Context, a event.Attempt) (f event.AttemptFinished) {
	switch halted, err := x.isHalted(&a); {
	case err != nil:
		return unadmitted(event.Lost, event.ReasonLost, fmt.Sprintf("asking whether the agent was stopped: %v", err))
	case a.Admission != nil && a.Agent != nil, halted, a.Admission == nil && x.standsInLine(a.Key):
		a.Admission = admission.NeedAgent(&a) // of the bounds and of whoever stops the agent while the attempt waits
	case a.Admission == nil:
		f := x.next.Execute(ctx, a)
		if admission.NamesMoment(&a, &f) {
			x.noteEnd(&a, &f, f.StartedAt)
		}
		return f
	}
	verdict, granted, obstacle, err := x.requestAdmission(ctx, &a)
	switch {
	case err != nil:
		return unadmitted(event.Lost, event.ReasonLost, fmt.Sprintf("asking for admission: %v", err))
	case verdict == admission.Refused:
		return obstacle.Refusal(x.engine.now())
	case verdict == admission.Removed:
		x.removeRequests(a.Key)
		return unadmitted(event.Failed, event.ReasonCancelled, "cancelled before it started")
	}
	if a.Kind == event.HoldAttempt {
		if verdict, _, _, _ = x.noteRefused(ctx, &a, admission.Answer{}); verdict == admission.Removed {
			x.removeRequests(a.Key)
			return unadmitted(event.Failed, event.ReasonCancelled, "cancelled before it started")
		}
		return event.AttemptFinished{Outcome: event.OK, StartedAt: granted}
	}
	f.Outcome = event.Lost // if the executor panics
	defer func() { x.noteEnd(&a, &f, granted) }()
	f = x.next.Execute(ctx, a)
	if f.StartedAt == 0 {
		f.StartedAt = granted
	}
	return f
}

// mustAsk reports whether an attempt waits for admission before it starts, or may have to.
func (x *admitting) mustAsk(a *event.Attempt) bool {
	halted, err := x.isHalted(a)
	return a.Admission != nil || halted || err != nil || x.standsInLine(a.Key)
}

// passesOn reports whether the executor neither changes an attempt nor masks its answer.
func (x *admitting) passesOn(a *event.Attempt) bool {
	p, can := x.next.(executor.Passer)
	return can && p.PassesOn(a)
}

// standsInLine reports whether an earlier attempt with the key was refused: the request stands in the line, or was granted since.
func (x *admitting) standsInLine(key string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, refused := range x.refused { // any order: one at most has the key
		if refused == key {
			return true
		}
	}
	return false
}

// isHalted reports whether the agent of an attempt starts nothing now.
func (x *admitting) isHalted(a *event.Attempt) (bool, error) {
	if a.Agent == nil {
		return false, nil
	}
	return x.engine.halts.isHalted(x.engine, a.Agent.Name)
}

// noteEnd remembers what is given back and reported when the end of an attempt is durable.
func (x *admitting) noteEnd(a *event.Attempt, f *event.AttemptFinished, granted event.Time) {
	end, warning := admission.NewEnd(a, f, granted, x.engine.now(), x.judge)
	if f.Warning == "" {
		f.Warning = warning
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended == nil {
		x.ended = map[uint64]admission.End{}
	}
	x.ended[a.Ticket] = end
}

func (x *admitting) judge(run string, condition *event.Late) (bool, error) {
	judge, can := x.next.(executor.Judge)
	if !can {
		return false, fmt.Errorf("conditions cannot be evaluated here")
	}
	return judge.Holds(run, condition)
}

// takeEnds returns what the ends of attempts among events give back.
func (x *admitting) takeEnds(events []event.Event) (ends []admission.End) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := 0; i < len(events) && len(x.ended) > 0; i++ {
		if f := events[i].AttemptFinished; f != nil {
			if end, known := x.ended[f.Ticket]; known {
				ends = append(ends, end)
				delete(x.ended, f.Ticket)
			}
		}
	}
	return ends
}

func unadmitted(o event.Outcome, reason event.Reason, message string) event.AttemptFinished {
	return event.AttemptFinished{Outcome: o, Error: &event.Error{Kind: event.Transient, Reason: reason, Message: message, ExitCode: -1}}
}

// requestAdmission asks for the admission of an attempt and waits for the grant, for admission.Patience at most. The verdict is Removed if ctx is done
// before the attempt may start. A grant has a moment, and a refusal an obstacle.
func (x *admitting) requestAdmission(ctx context.Context, a *event.Attempt) (admission.Verdict, event.Time, admission.Obstacle, error) {
	x.mu.Lock()
	x.asked = true
	for ticket, key := range x.refused { // any order: one at most has the key
		if key == a.Key {
			delete(x.refused, ticket)
		}
	}
	x.mu.Unlock()
	told := x.engine.line.enter(a.Key)
	defer x.engine.line.leave(a.Key)
	r := admission.Request{Key: a.Key, Run: x.run.id, Node: a.Node, Ticket: a.Ticket, Driver: x.run.epoch, Priority: a.Admission.Priority,
		Needs: a.Admission.Needs}
	answer, err := x.runOperation(admission.Operation{Ask: &r})
	if err != nil || answer.Verdict == admission.Granted || answer.Verdict == admission.Removed {
		return answer.Verdict, answer.At, answer.Obstacle, err
	}
	x.engine.inLine.Store(true)
	x.engine.line.look(r.Needs, x.engine.now().Add(lookAgain))
	if answer.Verdict == admission.Refused {
		return x.noteRefused(ctx, a, answer)
	}
	x.engine.sweepLine()
	patience, stop := x.engine.options.Clock.After(admission.Patience)
	defer stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return admission.Removed, 0, answer.Obstacle, nil
		case at := <-told:
			return admission.Granted, at, answer.Obstacle, nil
		case <-poll.C:
			if at, err := x.engine.grantOf(a.Key, x.run.epoch); at != 0 || err != nil {
				return admission.Granted, at, answer.Obstacle, err
			}
		case <-patience:
			answer, err := x.runOperation(admission.Operation{Refuse: a.Key})
			if err != nil || answer.Verdict != admission.Refused {
				return answer.Verdict, answer.At, answer.Obstacle, err
			}
			return x.noteRefused(ctx, a, answer)
		}
	}
}

// recallRequests loads the requests of a parked run: those that were refused, and those that hold what they have.
func (x *admitting) recallRequests() error {
	rows, err := x.engine.read.Query("SELECT ticket, key FROM admissions WHERE run = ?", x.run.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	for rows.Next() {
		var ticket uint64
		var key string
		if err := rows.Scan(&ticket, &key); err != nil {
			return err
		}
		x.refused[ticket], x.asked = key, true
	}
	return rows.Err()
}

// noteRefused remembers an attempt that was refused. A cancel that comes at the same moment finds the attempt in x.refused, or is found here.
func (x *admitting) noteRefused(ctx context.Context, a *event.Attempt, answer admission.Answer) (admission.Verdict, event.Time, admission.Obstacle, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return admission.Removed, 0, answer.Obstacle, nil
	}
	x.refused[a.Ticket] = a.Key
	return answer.Verdict, 0, answer.Obstacle, nil
}

// withdrawRequest takes a refused attempt out of the line, or gives its grant back. It returns when that is done, because the next
// command may ask for the same attempt again.
func (x *admitting) withdrawRequest(ticket uint64) {
	x.mu.Lock()
	key, refused := x.refused[ticket]
	delete(x.refused, ticket)
	x.mu.Unlock()
	if refused { // before the next command: the same attempt may ask again
		x.removeRequests(key)
	}
}

// withdrawUnstarted gives back the grant of an attempt that is cancelled before it starts: the machine has asked for it because an
// earlier attempt with the key was granted.
func (x *admitting) withdrawUnstarted(a *event.Attempt) {
	x.mu.Lock()
	refused := uint64(0)
	for ticket, key := range x.refused { // any order: one at most has the key
		if key == a.Key {
			refused = ticket
		}
	}
	x.mu.Unlock()
	x.withdrawRequest(refused)
}

// removeRequests removes requests. An error is an error of the store, which ends the drive by itself.
func (x *admitting) removeRequests(keys ...string) {
	_, _ = x.runOperation(admission.Operation{Remove: keys})
}

// runOperation carries out one operation for the run in its own transaction, and tells the grants to those who wait in this process. The
// verdict is Removed, and nothing changes, if another process has taken the run over: the requests are of its attempts then.
func (x *admitting) runOperation(op admission.Operation) (answer admission.Answer, err error) {
	e := x.engine
	err = e.writeUrgent(func(tx *transaction) error {
		answer = admission.Answer{Verdict: admission.Removed}
		taken, err := tx.isTaken(x.run)
		if err == nil && !taken {
			answer, err = e.applyOperation(tx, op)
		}
		return err
	})
	if err == nil && op.Ask != nil && answer.Verdict != admission.Removed {
		e.line.declared(op.Ask.Needs)
	}
	e.tellGranted(answer)
	return answer, err
}

// isTaken reports whether another process has taken a run over that this process has driven.
func (tx *transaction) isTaken(run *claimed) (bool, error) {
	var owner int64
	err := tx.readRow("SELECT coalesce(max(owner), 0) FROM runs WHERE key = ?", []any{run.key}, &owner)
	return owner != run.epoch && owner != 0, err
}

// leaveLine removes all requests of the run after its attempts have ended.
func (x *admitting) leaveLine() {
	x.mu.Lock()
	asked := x.asked
	x.mu.Unlock()
	if asked {
		_ = x.engine.leaveLine(x.run, false)
	}
}

// leaveLine removes all requests of a run that this process drives. lost says that their attempts were lost with an earlier driver. The
// caller ends the remaining processes of earlier drivers first.
func (e *Engine) leaveLine(run *claimed, lost bool) error {
	var rows int
	if err := e.read.QueryRow("SELECT count(*) FROM admissions WHERE run = ?", run.id).Scan(&rows); err != nil || rows == 0 {
		return err
	}
	var answer admission.Answer
	err := e.writeUrgent(func(tx *transaction) error {
		if taken, err := tx.isTaken(run); err != nil || taken {
			return err // the other process does this
		}
		return e.removeRequestsOf(tx, run.id, lost, &answer)
	})
	e.tellGranted(answer)
	return err
}

// removeRequestsOf removes all requests of a run that has lost its driver, or stops. lost says that its attempts were lost.
func (e *Engine) removeRequestsOf(tx *transaction, run string, lost bool, answer *admission.Answer) error {
	keys, err := readTexts(tx.reading("SELECT key FROM admissions WHERE run = ?", run))
	if err != nil || len(keys) == 0 {
		return err
	}
	var op admission.Operation
	for _, key := range keys {
		op.End = append(op.End, admission.End{Key: key, Lost: lost})
	}
	*answer, err = e.applyOperation(tx, op)
	return err
}

// grantOf returns when the request of a driver was granted; 0: it was not.
func (e *Engine) grantOf(key string, epoch int64) (at event.Time, err error) {
	err = e.read.QueryRow("SELECT coalesce(max(granted), 0) FROM admissions WHERE key = ? AND epoch = ?", key, epoch).Scan(&at)
	return at, err
}

// tellGranted tells the grants of a durable operation to those who wait in this process, and notes when lines go on.
func (e *Engine) tellGranted(answer admission.Answer) {
	for _, r := range answer.Granted {
		if r.Refused {
			e.pokeRun(r.Run)
		} else {
			e.line.tell(r.Key, r.At)
		}
	}
	for _, w := range answer.Waits {
		e.line.look(w.Request.Needs, w.At)
	}
	e.pokeAll(answer.Posts)
}

// applyOperation carries out one operation in a transaction: it loads the state, applies the operation, and
// stores the changes. A request that was refused and is granted now gets its grant through the
// inbox of its run.
func (e *Engine) applyOperation(tx *transaction, op admission.Operation) (answer admission.Answer, err error) {
	if op.Ask != nil {
		op.Ask.Asked = e.now()
		if err := tx.enterLine(op.Ask); err != nil {
			return answer, err
		}
		for _, n := range e.line.undeclared(op.Ask.Needs) {
			if _, err := shared.Declare(sharedRows{tx}, n); err != nil {
				return answer, err
			}
		}
	}
	state, err := tx.loadLine(keysOf(op), nil, admission.Horizon)
	if err == nil {
		answer, err = e.applyLoaded(tx, op, state)
	}
	if op.Ask != nil || op.Refuse != "" {
		err = e.grantFurther(tx, &answer, err, keysOf(op), nil)
	} else if answer.Short {
		var resources []string
		for _, r := range state.Requests() {
			for i := range r.Needs {
				resources = append(resources, admission.Resource(&r.Needs[i]))
			}
		}
		slices.Sort(resources)
		err = e.grantFurther(tx, &answer, err, nil, slices.Compact(resources))
	}
	return answer, err
}

// grantFurther completes an operation while more of a line must be known, with four times as much of it each time.
func (e *Engine) grantFurther(tx *transaction, answer *admission.Answer, err error, keys, resources []string) error {
	for horizon := 4 * admission.Horizon; err == nil && answer.Short; horizon *= 4 {
		var state *admission.State
		if state, err = tx.loadLine(keys, resources, horizon); err != nil {
			return err
		}
		var more admission.Answer
		more, err = e.applyLoaded(tx, admission.Operation{Remove: []string{}}, state)
		answer.Granted, answer.Waits, answer.Changes, answer.Short = append(answer.Granted, more.Granted...), more.Waits, append(answer.Changes, more.Changes...), more.Short
		answer.Posts = append(answer.Posts, more.Posts...)
		for _, r := range more.Granted {
			if len(keys) > 0 && r.Key == keys[0] && !r.Refused {
				answer.Verdict, answer.At = admission.Granted, r.At
			}
		}
	}
	return err
}

// keysOf returns the keys of the requests that an operation names.
func keysOf(op admission.Operation) []string {
	switch {
	case op.Ask != nil:
		return []string{op.Ask.Key}
	case op.Refuse != "":
		return []string{op.Refuse}
	}
	keys := slices.Clone(op.Remove)
	for _, end := range op.End {
		keys = append(keys, end.Key)
	}
	return keys
}

// applyLoaded is applyOperation with the state that tx has loaded.
func (e *Engine) applyLoaded(tx *transaction, op admission.Operation, state *admission.State) (answer admission.Answer, err error) {
	before := map[string]*admission.Request{}
	for _, key := range keysOf(op) {
		if r := state.Find(key); r != nil {
			copied := *r
			before[key] = &copied
		}
	}
	if answer, err = state.Apply(op, e.now()); err == nil {
		err = e.postAll(tx, answer.Posts)
	}
	if err != nil {
		return answer, err
	}
	if op.Ask != nil && before[op.Ask.Key].Refused && answer.Verdict != admission.Refused {
		r := state.Find(op.Ask.Key)
		_, err = tx.exec("UPDATE admissions SET refused = 0, granted = ? WHERE id = ?", int64(r.At), r.Order)
	}
	if answer.Verdict == admission.Refused {
		r := state.Find(keysOf(op)[0])
		if was := before[r.Key]; was.Granted { // the reservation is gone, unless it was granted anew
			if err = tx.leaveResources(was); err == nil {
				was.Granted = false
				err = tx.enterResources(was)
			}
		}
		if err == nil {
			_, err = tx.exec("UPDATE admissions SET refused = 1, granted = 0 WHERE id = ?", r.Order)
		}
	}
	if answer.Verdict == admission.Removed {
		for _, r := range before { // any order: they are removed
			if err == nil {
				err = tx.leaveResources(r)
			}
			if err == nil {
				_, err = tx.exec("DELETE FROM admissions WHERE id = ?", r.Order)
			}
		}
	}
	for _, r := range answer.Granted {
		if err == nil {
			err = tx.leaveResources(&admission.Request{Order: r.Order, Priority: r.Priority, Needs: r.Needs})
		}
		if err == nil {
			err = tx.enterResources(r)
		}
		if err == nil {
			_, err = tx.exec("UPDATE admissions SET granted = ? WHERE id = ?", int64(r.At), r.Order)
		}
		if err == nil && r.Refused {
			err = e.tellGrant(tx, r)
		}
	}
	return answer, err
}

// enterLine stores a request that is new, and gives one that is known its new driver and ticket.
func (tx *transaction) enterLine(r *admission.Request) error {
	needs, err := json.Marshal(r.Needs)
	if err != nil {
		return err
	}
	known := *r
	err = tx.readRow(`INSERT INTO admissions (key, run, node, ticket, epoch, priority, asked, needs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET ticket = excluded.ticket, epoch = excluded.epoch RETURNING id, priority, granted != 0`,
		[]any{r.Key, r.Run, r.Node, int64(r.Ticket), r.Driver, r.Priority, int64(r.Asked), needs}, &r.Order, &known.Priority, &known.Granted)
	if known.Order = r.Order; err != nil {
		return err
	}
	return tx.enterResources(&known)
}

// enterResources puts a request into the lines of its resources, or among those that have them.
func (tx *transaction) enterResources(r *admission.Request) error {
	for i := range r.Needs {
		if _, err := tx.exec("INSERT INTO admission_needs (resource, granted, rank, request) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			admission.Resource(&r.Needs[i]), r.Granted, -r.Priority, r.Order); err != nil {
			return err
		}
	}
	return nil
}

// leaveResources undoes enterResources.
func (tx *transaction) leaveResources(r *admission.Request) error {
	for i := range r.Needs {
		if _, err := tx.exec("DELETE FROM admission_needs WHERE resource = ? AND granted = ? AND rank = ? AND request = ?",
			admission.Resource(&r.Needs[i]), r.Granted, -r.Priority, r.Order); err != nil {
			return err
		}
	}
	return nil
}

// loadLine reads the requests that an operation can affect: the requests that it names, those of the resources that it names, and all
// that share a resource with them, directly or not. It reads only the first waiting
// requests of each resource, up to horizon, the granted ones where units are counted, and the reservations where there is a rate limit or spending.
func (tx *transaction) loadLine(keys, resources []string, horizon int) (*admission.State, error) {
	var requests []*admission.Request
	known := map[string]*admission.Request{}
	read := func(query string, args ...any) (err error) {
		requests, _, err = readRequests(requests, known, tx.reading, query, args...)
		return err
	}
	edges := map[string]*admission.Request{}
	const of = "JOIN admission_needs n ON n.request = a.id WHERE n.resource = ? AND n.granted = "
	waiting, holding, reserved := map[string]bool{}, map[string]bool{}, map[string]bool{}
	readWaiting := func(resource string) (err error) {
		if waiting[resource] {
			return nil
		}
		waiting[resource] = true
		var found []string
		requests, found, err = readRequests(requests, known, tx.reading, of+fmt.Sprintf("0 ORDER BY n.rank, n.request LIMIT %d", horizon), resource)
		if len(found) == horizon {
			edges[resource] = known[found[horizon-1]]
		}
		return err
	}
	for _, key := range keys {
		if err := read("WHERE a.key = ?", key); err != nil {
			return nil, err
		}
	}
	for _, resource := range resources {
		if err := readWaiting(resource); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(requests); i++ {
		for j := range requests[i].Needs {
			n := &requests[i].Needs[j]
			resource := admission.Resource(n)
			if err := readWaiting(resource); err != nil {
				return nil, err
			}
			var err error
			switch {
			case n.Units > 0 && !holding[resource]:
				holding[resource] = true
				err = read(of+"1", resource)
			case (n.Pace != nil || n.Spending != nil) && !holding[resource] && !reserved[resource]:
				reserved[resource] = true
				err = read(of+"1 AND a.refused = 1", resource)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	state := admission.Load(requests, sharedRows{tx})
	for _, r := range requests {
		for i := range r.Needs {
			if last := edges[admission.Resource(&r.Needs[i])]; last != nil {
				state.Truncate(&r.Needs[i], last)
			}
		}
	}
	return state, nil
}

// readRequests adds the requests of a query that are not known, and lists the keys of all that it finds.
func readRequests(requests []*admission.Request, known map[string]*admission.Request, q query, where string, args ...any) (_ []*admission.Request, found []string, err error) {
	rows, err := q("SELECT a.id, a.key, a.run, a.node, a.ticket, a.epoch, a.priority, a.asked, a.needs, a.granted, a.refused FROM admissions a "+where, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var last []event.Need // of decoded; requests share them, because those of a line mostly have the same
	var decoded []byte
	for rows.Next() {
		var r admission.Request
		var needs []byte
		if err := rows.Scan(&r.Order, &r.Key, &r.Run, &r.Node, &r.Ticket, &r.Driver, &r.Priority, &r.Asked, &needs, &r.At, &r.Refused); err != nil {
			return nil, nil, err
		}
		found = append(found, r.Key)
		if known[r.Key] != nil {
			continue
		}
		if r.Needs = last; !bytes.Equal(needs, decoded) {
			r.Needs = nil
			if err := json.Unmarshal(needs, &r.Needs); err != nil {
				return nil, nil, fmt.Errorf("the needs of request %s: %w", r.Key, err)
			}
			last, decoded = r.Needs, needs
		}
		r.Granted = r.At != 0
		known[r.Key] = &r
		requests = append(requests, &r)
	}
	return requests, found, rows.Err()
}

// Limits implements engine.Sharer.
func (e *Engine) Limits(ctx context.Context) ([]event.Limit, error) {
	requests, _, err := readRequests(nil, map[string]*admission.Request{}, e.reading(ctx), "")
	if err != nil {
		return nil, e.explainError(err)
	}
	alive := e.newLivenessCheck()
	requests = slices.DeleteFunc(requests, func(r *admission.Request) bool { // nobody has removed it yet
		lives, err := alive(r.Driver)
		return err == nil && !lives
	})
	list, err := admission.Load(requests, e.readRows()).List(e.now())
	return list, e.explainError(err)
}

// ChangeLimit implements engine.Sharer.
func (e *Engine) ChangeLimit(_ context.Context, c event.LimitChange) (changed bool, err error) {
	var done shared.LimitChanged
	err = e.write(func(tx *transaction) (err error) {
		if done, err = shared.ChangeLimit(sharedRows{tx}, c, e.now()); err == nil {
			err = e.postAll(tx, done.Posts)
		}
		return err
	})
	e.halts.forget()
	if err == nil {
		e.pokeAll(done.Posts)
	}
	if err == nil && len(done.Resources) > 0 {
		err = e.lookAtLines(done.Resources)
	}
	return done.Changed, e.explainError(err)
}

// tellGrant puts a grant into the inbox of the run, whatever stands in there already.
func (e *Engine) tellGrant(tx *transaction, r *admission.Request) error {
	packed, err := engine.PackExternal(event.External{Kind: event.ExternalGranted, Node: r.Node, Data: float64(r.Ticket)}, []event.ExternalKind{event.ExternalGranted})
	if err != nil {
		return err
	}
	var key int64
	err = tx.readRow("SELECT key FROM runs WHERE id = ? AND ended = 0", []any{r.Run}, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = tx.exec("INSERT INTO inbox (run, body, created) VALUES (?, ?, ?)", key, packed, int64(e.now()))
	}
	if err == nil {
		err = tx.wakeByMessage(key)
	}
	return err
}

// sweepLine removes the requests of dead drivers. It first ends their remaining processes: an agent
// that still works for a dead driver is not free.
func (e *Engine) sweepLine() {
	epochs, err := e.lineDrivers()
	if err != nil {
		return // asked again soon
	}
	alive := e.newLivenessCheck()
	for _, epoch := range epochs {
		if lives, err := alive(epoch); err != nil || lives {
			continue
		}
		_ = e.removeDead(epoch, alive)
	}
}

// lineEpochs finds the epochs of all requests, and does not go through the requests.
const lineEpochs = `WITH RECURSIVE known (epoch) AS (SELECT min(epoch) FROM admissions UNION ALL
	SELECT (SELECT min(a.epoch) FROM admissions a WHERE a.epoch > known.epoch) FROM known WHERE known.epoch IS NOT NULL)
	SELECT epoch FROM known WHERE epoch IS NOT NULL`

func (e *Engine) lineDrivers() (epochs []int64, err error) {
	rows, err := e.read.Query(lineEpochs)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var epoch int64
		if err := rows.Scan(&epoch); err != nil {
			return nil, err
		}
		epochs = append(epochs, epoch)
	}
	return epochs, rows.Err()
}

// removeDead removes the requests of a dead driver, but for those of runs that a living process drives now. No process can take such a
// run meanwhile: the transaction has the database's lock.
func (e *Engine) removeDead(epoch int64, alive func(int64) (bool, error)) error {
	var answers []admission.Answer
	err := e.writeUrgent(func(tx *transaction) error {
		answers = nil
		runs, err := readTexts(tx.reading("SELECT DISTINCT run FROM admissions WHERE epoch = ?", epoch))
		for i := 0; i < len(runs) && err == nil; i++ {
			var owner int64
			if err = tx.readRow("SELECT coalesce(max(owner), 0) FROM runs WHERE id = ?", []any{runs[i]}, &owner); err != nil {
				break
			}
			lives := false
			if lives, err = alive(owner); err != nil || lives {
				continue
			}
			var answer admission.Answer
			err = e.removeLost(tx, runs[i], &answer)
			answers = append(answers, answer)
		}
		return err
	})
	for _, answer := range answers {
		e.tellGranted(answer)
	}
	return err
}

// removeLost ends the remaining processes of a run whose driver is dead, and removes its requests.
func (e *Engine) removeLost(tx *transaction, run string, answer *admission.Answer) error {
	if e.options.Leftover != nil {
		e.options.Leftover(run)
	}
	return e.removeRequestsOf(tx, run, true, answer)
}

// lineWaits reports whether a request of an epoch waits for its grant.
const lineWaits = "SELECT EXISTS (SELECT 1 FROM admissions WHERE epoch = ? AND granted = 0)"

// watchLine notices the death of drivers while runs of this process wait for grants. The lookout calls it every lookEvery.
func (e *Engine) watchLine() {
	if !e.inLine.Swap(false) { // before the look, so that no request falls between the two
		return
	}
	var waits bool
	err := e.read.QueryRow(lineWaits, e.driverEpoch()).Scan(&waits)
	if err != nil || waits {
		e.inLine.Store(true)
		e.sweepLine()
	}
}
