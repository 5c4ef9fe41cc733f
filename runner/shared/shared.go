// Package shared holds the rules of what the runs of a store share: state under keys (kv), rate limits ([Window]),
// spending ([Spending]), breakers ([Breaker]), sync points ([Sync]), the log of events ([Emit]), messages to people (notice.go), what
// waits for people (ask.go), queues of work (work.go), claims of items (claims.go), and what people want of loops (loops.go).
//
// Each thing is a reducer: state, request, time → state, answer, runs to wake. A reducer asks [Rows] for the rows that
// it needs and writes the rows that change, so that the cost of a request does not depend on how many rows there are.
// A host gives it the rows inside one transaction, stores what it wrote together, and sends the messages to the runs.
// The rules are written here once; hosts only store and wake.
//
// What always holds: a reducer writes nothing before it knows that the request is possible, so a request that ends
// with a [Refusal] or an error of Rows leaves nothing half done. Equal requests in equal order make equal rows, byte
// for byte. The same idempotency key again gives the recorded answer and changes nothing ([AnswerAttempt]). Everything
// is bounded by the constants of this package.
//
// Units of quotas and turns of agents are not here: package admission holds that reducer, and asks the rate limits and the
// breakers. The package has no clock,
// no I/O and no lock, and must never import a host or the machine. Enter at [Apply]. notes/rules.md says which test
// holds which rule.
package shared

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Rows is the state that a reducer reads and changes. A row has a space, a key and a body. The keys of a space are in
// the order of their bytes. Bodies must not be changed after Put or Get. Errors are those of the host; a reducer
// returns them as they are, and the host undoes what the reducer wrote.
type Rows interface {
	// Get returns the body of a row; found is false if there is none.
	Get(space, key string) (body []byte, found bool, err error)
	// Put writes a row in place of an earlier one.
	Put(space, key string, body []byte) error
	// Delete removes a row. It does nothing if there is none.
	Delete(space, key string) error
	// Scan calls each with the rows of a space in order, from key from on, until each returns false. each must not
	// change rows.
	Scan(space, from string, each func(key string, body []byte) bool) error
	// Clear removes all rows of a space.
	Clear(space string) error
}

// Bounds.
const (
	// MaxTTL is how long a value may live that expires.
	MaxTTL         = value.MaxDuration
	DefaultScanned = 1000
	// MaxExpired is how many expired keys one scan goes past, and how many one [Crowd.Sweep] removes.
	MaxExpired = 1000
	// MaxAnswer is the size of an answer as JSON, in bytes: as large as an output of a step may be.
	MaxAnswer = 1 << 20
)

// Refusal says why a request cannot be carried out. Nothing was changed, and the same request later may be possible.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return r.Message }

// Crowd says that more than [MaxExpired] expired keys stand between the keys that a scan reads. The host removes some of them by
// [Crowd.Sweep] in a transaction of its own, and carries out the request again.
type Crowd struct {
	Namespace string
	At        event.Time // the time of the request
}

func (c *Crowd) Error() string {
	return fmt.Sprintf("more than %d expired keys of namespace %q are to be removed first", MaxExpired, c.Namespace)
}

// Uncrowd carries out a request that do carries out, again and again while its error is a *Crowd. In between, sweep gets a function for a
// transaction of its own.
func Uncrowd(do func() error, sweep func(func(Rows) error) error) (err error) {
	for range limits.MaxKVKeys/MaxExpired + 1 { // more often only if the rows of expiries are damaged
		err = do()
		crowd, crowded := err.(*Crowd)
		if !crowded {
			return err
		}
		if err := sweep(crowd.Sweep); err != nil {
			return err
		}
	}
	return err
}

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Answer is the answer to a request.
type Answer struct {
	Output value.Value
	// Waits is why the attempt waits, in words; "" means that it does not. The attempt is told of the moment to ask again.
	Waits string
	// Expired tells that the attempt has waited as long as it may.
	Expired bool
	// Posts are messages to runs that follow from the request.
	Posts []Post
}

// Post is a message to a run. The host puts it into the inbox of the run in the transaction of the request. A post to a run that has
// ended does nothing.
type Post struct {
	Run string
	event.External
}

// Apply carries out a request, with now as the time of the host. by is the attempt that asks, and zero for a person. The error is a
// *Refusal, a *Crowd or an error of rows.
func Apply(rows Rows, r *event.StoreRequest, by Waiter, now event.Time) (Answer, error) {
	switch {
	case r.KV != nil:
		v, err := applyKV(rows, r.KV, now)
		return Answer{Output: v}, err
	case r.Emit != nil:
		return applyEmit(rows, r.Emit, by, now)
	case r.Sync != nil:
		return applySync(rows, r.Sync, by, now)
	case r.Decide != nil:
		return decide(rows, r.Decide, now)
	case r.Asks:
		v, err := listAsks(rows)
		return Answer{Output: v}, err
	case r.Fate != nil:
		v, err := fateOf(rows, r.Fate)
		return Answer{Output: v}, err
	case r.Refused:
		v, err := listRefused(rows)
		return Answer{Output: v}, err
	case r.Notice != nil:
		v, err := applyNotice(rows, r.Notice, now)
		return Answer{Output: v}, err
	case r.Breakers != nil:
		v, err := takeUntold(rows, r.Breakers)
		return Answer{Output: v}, err
	case r.Baseline != nil:
		v, err := applyBaseline(rows, r.Baseline, now)
		return Answer{Output: v}, err
	case r.Dead != nil:
		return applyDead(rows, r.Dead, now)
	case r.Claim != nil:
		return applyClaim(rows, r.Claim, by, now)
	case r.Dispatch != nil:
		return applyWork(rows, r.Dispatch, by, now)
	case r.Loop != nil:
		return applyLoop(rows, r.Loop, by, now)
	case r.Claims:
		v, err := listClaims(rows, now)
		return Answer{Output: v}, err
	case r.Routine != nil:
		v, err := applyRoutines(rows, r.Routine, now)
		return Answer{Output: v}, err
	case r.Register != nil:
		return register(rows, r.Register, now)
	case r.Programs:
		v, err := listPrograms(rows)
		return Answer{Output: v}, err
	case r.Definition != "":
		v, err := definitionOf(rows, r.Definition)
		return Answer{Output: v}, err
	case r.Due != nil:
		v, err := listDue(rows, r.Due)
		return Answer{Output: v}, err
	case r.Started != nil:
		return Answer{}, noteStarted(rows, r.Started, now)
	case r.Delivery != nil:
		return applyDelivery(rows, r.Delivery, now)
	case r.Files != nil:
		return applyFiles(rows, r.Files, now)
	case r.Outside:
		v, err := listOutside(rows)
		return Answer{Output: v}, err
	case r.RefusedEvents:
		v, err := listRefusedEvents(rows)
		return Answer{Output: v}, err
	case r.Hand != "":
		return Answer{}, rows.Put(handedSpace, r.Hand, nil)
	case r.TakeHanded:
		v, err := takeHanded(rows)
		return Answer{Output: v}, err
	case r.Audit != nil:
		return Answer{}, recordAudit(rows, r.Audit, now)
	case r.Audits:
		v, err := listAudits(rows)
		return Answer{Output: v}, err
	case r.Points:
		v, err := listPoints(rows)
		return Answer{Output: v}, err
	case r.Namespaces:
		v, err := listNamespaces(rows, now)
		return Answer{Output: v}, err
	case r.Events:
		v, err := listEvents(rows, now)
		return Answer{Output: v}, err
	}
	return Answer{}, refuse("the request asks for nothing that this release knows")
}

// Changes reports whether a request may change rows. The others need neither a transaction nor a recorded answer:
// nobody saw the answer of an attempt that was lost, and a later answer is as good.
func Changes(r *event.StoreRequest) bool {
	return !r.Points && !r.Events && !r.Namespaces && (r.Files == nil || r.Files.Spec != "") && !r.Outside && !r.RefusedEvents && !r.Asks && !r.Refused && !r.Claims && !r.Programs && r.Definition == "" && r.Due == nil && !r.Audits && r.Fate == nil &&
		(r.Routine == nil || r.Routine.Operation != event.RoutineList && r.Routine.Operation != event.RoutineNext && r.Routine.Operation != event.RoutineStarts) &&
		(r.Dispatch == nil || r.Dispatch.Operation != event.DispatchList && r.Dispatch.Operation != event.DispatchShow) &&
		(r.Loop == nil || r.Loop.Operation != event.LoopRead && r.Loop.Operation != event.LoopList) &&
		(r.Dead == nil || r.Dead.Close || r.Dead.Redeliver || r.Dead.RedrivenBy+r.Dead.FailedAgain != "") && (r.KV == nil || !readsOnly(r.KV.Operation))
}

// answers is the space of the recorded answers of a run.
func answers(run string) string { return "answers " + run }

// HasAnswers reports whether answers of attempts of a run are recorded.
func HasAnswers(rows Rows, run string) (has bool, err error) {
	err = rows.Scan(answers(run), "", func(string, []byte) bool {
		has = true
		return false
	})
	return has, err
}

// Place names a row.
type Place struct{ Space, Key string }

// AnswerPlace returns where the answer of an attempt is recorded.
func AnswerPlace(a *event.Attempt) Place { return Place{answers(a.Run), answerKey(a)} }

// AppendBegins appends the rows that [AnswerAttempt] reads first, without the recorded answer. A host that answers many attempts can read them
// together.
func AppendBegins(places []Place, a *event.Attempt) []Place {
	if r := a.Store.KV; r != nil {
		places = append(places, Place{kvSpace(r.Namespace), r.Key}, Place{countSpace, r.Namespace})
	}
	return places
}

// answerKey is the key of an attempt's recorded answer. Idempotency keys have no order, and the instances of a for_each
// ask in the order of their paths: behind the path, the answers of one transaction lie in few pages of a database.
func answerKey(a *event.Attempt) string { return a.Node + " " + a.Key }

// AnswerAttempt carries out the request of an attempt and returns the attempt's end, and the messages that follow. The answer of a
// request that changes rows is recorded under the attempt's idempotency key; the same key again gives that answer. A refusal is an
// answer, too, and is not recorded, nor is the end of an attempt that waits. The error is a *Crowd or an error of rows.
func AnswerAttempt(rows Rows, a *event.Attempt, now event.Time) (f event.AttemptFinished, posts []Post, err error) {
	return AnswerAt(rows, a, AnswerPlace(a), now)
}

// AnswerAt is AnswerAttempt for a host that has the [AnswerPlace] of the attempt.
func AnswerAt(rows Rows, a *event.Attempt, at Place, now event.Time) (f event.AttemptFinished, posts []Post, err error) {
	f = event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK, StartedAt: now}
	records := Changes(a.Store)
	if records {
		body, found, err := rows.Get(at.Space, at.Key)
		if err != nil {
			return f, nil, err
		}
		if found {
			if f.Output, err = value.Decode(body); err != nil {
				err = refuse("the recorded answer is damaged: %v", err)
			}
			f, err = endRefused(f, err)
			return f, nil, err
		}
	}
	answer, err := Apply(rows, a.Store, Waiter{Key: a.Key, Run: a.Run, Node: a.Node, Ticket: a.Ticket}, now)
	switch {
	case err != nil:
		f, err = endRefused(f, err)
		return f, nil, err
	case answer.Expired:
		f.Outcome = event.Failed
		f.Error = &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: answer.Waits, ExitCode: -1}
	case answer.Waits != "":
		f.Outcome, f.Resource = event.Refused, a.Store.Sync.Point
		f.Error = &event.Error{Kind: event.Transient, Reason: event.ReasonSync, Message: answer.Waits, ExitCode: -1}
	default:
		f.Output = answer.Output
		if records {
			err = rows.Put(at.Space, at.Key, value.Append(nil, answer.Output))
		}
	}
	return f, answer.Posts, err
}

// endRefused makes a refusal the end of an attempt, and returns other errors.
func endRefused(f event.AttemptFinished, err error) (event.AttemptFinished, error) {
	r, refused := err.(*Refusal)
	if refused {
		f.Outcome, f.Output = event.Failed, nil
		f.Error = &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: r.Message, ExitCode: -1}
		err = nil
	}
	return f, err
}

// runHas is the space of what is kept elsewhere for a run: the names of events that it gets, and the sync points at which its
// attempts wait, by their keys.
func runHas(run string) string { return "run-has " + run }

// Prefixes of the keys in there.
const (
	hasEvent = "event "
	hasSync  = "sync "
	hasLoop  = "loop " // a loop whose wakes it gets
	hasLast  = "last " // an attempt that was answered, and does what must happen once
	// hasNotice is a message that the run owes: what it is about is in the store.
	hasNotice = "notice "
)

// Forget removes what is kept for a run that has ended: the recorded answers, its events, and its attempts at sync points. A message that
// the run owes becomes a dead letter. No attempt of the run is carried out any more.
func Forget(rows Rows, run string, now event.Time) error {
	if err := removeAll(rows, asksSpace, run); err != nil {
		return err
	}
	if err := rows.Delete(RestSpace, run); err != nil {
		return err
	}
	var names, keys, loops, lasts []string
	var owed [][]byte
	err := rows.Scan(runHas(run), "", func(key string, body []byte) bool {
		if strings.HasPrefix(key, hasNotice) {
			owed = append(owed, bytes.Clone(body))
		}
		if name, is := strings.CutPrefix(key, hasEvent); is {
			names = append(names, name)
		} else if key, is := strings.CutPrefix(key, hasSync); is {
			keys = append(keys, key)
		} else if loop, is := strings.CutPrefix(key, hasLoop); is {
			loops = append(loops, loop)
		} else if strings.HasPrefix(key, hasLast) {
			lasts = append(lasts, key)
		}
		return true
	})
	for _, body := range owed {
		if err == nil {
			err = unsentNotice(rows, body, now)
		}
	}
	if err == nil {
		err = rows.Clear(answers(run))
	}
	for _, name := range names {
		if err == nil {
			err = Unsubscribe(rows, name, run)
		}
	}
	for _, key := range keys {
		if err == nil {
			err = Withdraw(rows, run, key)
		}
	}
	for _, loop := range loops {
		if err == nil {
			err = rows.Delete(listenerSpace, loop+" "+run)
		}
		if err == nil {
			err = rows.Delete(runHas(run), hasLoop+loop)
		}
	}
	for _, key := range lasts {
		if err == nil {
			err = rows.Delete(runHas(run), key)
		}
	}
	return err
}
