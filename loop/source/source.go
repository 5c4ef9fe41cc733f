// Package source asks the places that hold the items of a loop: lists in files, programs, services, and issues behind the API of GitHub.
//
// It carries out attempts of kind source. Each has a verb: list gives the open items; look says whether an item is still open; take marks it
// as taken by an agent; report writes down how the work on it ended; create adds an item.
//
// What always holds: take and report ask the store for the claim of the item first, and write nothing if the token of the request is not
// the newest; they look at the item before they write, and write nothing if it was closed meanwhile; a verb that is carried out a second
// time, because its answer got lost, changes nothing more.
//
// Programs and requests are carried out by the executors of those kinds, so that their bounds, timeouts and masks hold. The package knows no
// machine and no engine. Enter at [New]; file.go, lines.go and github.go are the places.
package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

const (
	// Timeout bounds an attempt that has no timeout of its own.
	Timeout = time.Minute
	// MaxList bounds the items of a list as JSON, in bytes: an answer has at most limits.MaxOutput. The rest is counted.
	MaxList = limits.MaxOutput - 64<<10
	// MaxItemBody bounds the body of an item in a list, in bytes. The rest of it is left out.
	MaxItemBody = 16 << 10
)

// Ask carries out a request of the store; see engine.Sharer.
type Ask func(ctx context.Context, r event.StoreRequest) (value.Value, error)

// Executor asks sources. It is safe for concurrent use.
type Executor struct {
	next executor.Executor // for programs and requests
	ask  Ask
	now  func() time.Time
	// after is time.After, but for tests.
	after func(time.Duration) <-chan time.Time

	mu     sync.Mutex
	issues map[string]*issues // by what was asked
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor that has programs and requests carried out by another one.
func New(next executor.Executor, ask Ask) *Executor {
	return &Executor{next: next, ask: ask, now: time.Now, after: time.After, issues: map[string]*issues{}}
}

// place is where items are.
type place interface {
	list(ctx context.Context) ([]event.Item, error)
	// look gives how an item stands. The error is nil for an item that is gone.
	look(ctx context.Context, it *event.Item) (standing, error)
	take(ctx context.Context, it *event.Item) (warning string, err error)
	report(ctx context.Context, it *event.Item, o *event.ItemOutcome) (warning string, err error)
	create(ctx context.Context, it *event.Item) (id string, duplicate bool, err error)
}

// standing is how an item stands in its source.
type standing struct {
	closed bool
	// dropped, of a closed item: nobody did it. It was cancelled, or is not there any more.
	dropped bool
	why     string // why nobody may work on it, in words; "": it is open
}

// question is an attempt with its request.
type question struct {
	*event.SourceRequest
	x *Executor
	a *event.Attempt
}

// failure is an error with what the machine wants to know of it.
type failure struct{ err event.Error }

func (f *failure) Error() string { return f.err.Message }

func fail(kind event.ErrorKind, reason event.Reason, format string, args ...any) error {
	return &failure{event.Error{Kind: kind, Reason: reason, ExitCode: -1, Message: fmt.Sprintf(format, args...)}}
}

// Execute asks a source.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if a.IsWatch() {
		return x.watch(ctx, &a)
	}
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	limit := a.Timeout
	if limit == 0 {
		limit = Timeout
	}
	within, done := context.WithTimeout(ctx, limit)
	defer done()
	err := x.answer(within, &a, &ans)
	var f *failure
	switch {
	case err == nil:
		ans.Outcome = event.OK
	case ctx.Err() != nil:
		executor.Fail(&ans, executor.WasCancelled())
	case within.Err() != nil:
		executor.Fail(&ans, TimedOut(a.Source.Source, limit))
	case errors.As(err, &f):
		e := f.err
		executor.Fail(&ans, &e)
	default:
		executor.Fail(&ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonUnexplained, ExitCode: -1, Message: err.Error()})
	}
	return ans
}

// TimedOut is the error of a request to a source that did not answer in time.
func TimedOut(source string, limit time.Duration) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1, Message: fmt.Sprintf("source %s exceeded its timeout of %s", source, limit)}
}

// watch asks a source for its items again and again, until something has changed. A look that the source refuses for a while is not repeated
// before that while is over.
func (x *Executor) watch(ctx context.Context, a *event.Attempt) event.AttemptFinished {
	ans, w := executor.Answer(*a), a.Source.Watch
	ans.StartedAt = event.At(time.Now())
	began := ans.StartedAt
	for looks, waited, refused := 0, time.Duration(0), time.Duration(0); ; looks++ {
		pause := w.Pause(looks, waited)
		if pause == 0 {
			if ans.Outcome != event.Failed {
				ans.Outcome, ans.Output = event.OK, event.Unchanged()
			}
			return ans
		}
		pause = max(pause, refused)
		waited += pause
		select {
		case <-ctx.Done():
			ans.Output = nil
			executor.Fail(&ans, executor.WasCancelled())
			return ans
		case <-x.after(pause):
		}
		look, q := *a, *a.Source
		q.Watch, look.Source = nil, &q
		look.Key = fmt.Sprintf("%s-%d", a.Key, x.now().UnixMicro()) // the next driver of the run watches with the same key of the attempt
		ans = x.Execute(ctx, look)
		ans.StartedAt = began
		if ctx.Err() != nil || w.Changed(&ans) {
			return ans
		}
		if refused = 0; ans.Error != nil {
			refused = time.Duration(ans.Error.RetryAfter * float64(time.Second))
		}
	}
}

// answer carries out the verb.
func (x *Executor) answer(ctx context.Context, a *event.Attempt, ans *event.AttemptFinished) error {
	if a.Source == nil {
		return fail(event.Fatal, event.ReasonStart, "the attempt has no question to a source")
	}
	q := &question{a.Source, x, a}
	p, err := q.place()
	if err != nil {
		return err
	}
	if q.Verb == event.SourceList {
		items, err := p.list(ctx)
		if err == nil {
			list := listed(items, q.Source)
			if r, is := p.(*roadmap); is && r.passed != "" {
				list["tickets"] = r.passed
			}
			list["mark"] = event.ListMark(list)
			ans.Output = list
		}
		return err
	}
	if q.Item == nil {
		return fail(event.Fatal, event.ReasonStart, "the question %s needs an item", q.Verb)
	}
	if q.Verb == event.SourceCreate {
		id, duplicate, err := p.create(ctx, q.Item)
		ans.Output = map[string]any{"id": id, "duplicate": duplicate}
		return err
	}
	if q.Verb == event.SourceTake || q.Verb == event.SourceReport {
		if why, err := q.lost(ctx); err != nil || why != "" {
			ans.Output = map[string]any{"ok": false, "closed": false, "why": why}
			return err
		}
	}
	var s standing
	if _, own := p.(*lines); !own || q.Verb == event.SourceLook { // a program looks for itself before it writes
		if s, err = p.look(ctx, q.Item); err != nil {
			return err
		}
	}
	if q.Verb != event.SourceLook && s.why == "" {
		switch {
		case q.Verb == event.SourceTake:
			ans.Warning, err = p.take(ctx, q.Item)
		case q.Outcome == nil || !slices.Contains(event.ItemStatuses, q.Outcome.Status):
			err = fail(event.Fatal, event.ReasonStart, "the report has no outcome")
		default:
			ans.Warning, err = p.report(ctx, q.Item, q.Outcome)
			s.closed = q.Outcome.Status == event.ItemClosed
		}
	}
	var no *refusal
	if errors.As(err, &no) {
		s, err = no.standing, nil
	}
	if err != nil {
		return err
	}
	o := map[string]any{"ok": s.why == "", "closed": s.closed, "why": s.why}
	if q.Verb == event.SourceReport && s.why == "" && s.closed && q.isGone(ctx) {
		o["gone"] = true
	}
	ans.Output = o
	return nil
}

// isGone reports whether the source calls the item closed after the report. If somebody opens it again, it is to be done again. A source that
// lists what it has whatever is reported does not have each item done again and again.
func (q *question) isGone(ctx context.Context) bool {
	r, a := *q.SourceRequest, *q.a
	r.Verb, r.Outcome = event.SourceLook, nil
	a.Key += "-after" // it is another question
	p, err := (&question{&r, q.x, &a}).place()
	if err != nil {
		return false
	}
	s, err := p.look(ctx, q.Item)
	return err == nil && s.closed
}

// lost says why a request does not have the claim of its item; "": it has it.
func (q *question) lost(ctx context.Context) (why string, err error) {
	v, err := q.x.ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimLook, Item: q.Key(q.Item.ID), Token: q.Token}})
	if err != nil {
		return "", fail(event.Blocking, event.ReasonStore, "%s", err)
	}
	c, err := event.ClaimOf(v)
	if err != nil {
		return "", err
	}
	return c.Why, nil
}

// claimed reports whether an agent of the store has or had the item.
func (q *question) claimed(ctx context.Context, id string) bool {
	v, err := q.x.ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimLook, Item: q.Key(id)}})
	if err != nil {
		return false
	}
	c, err := event.ClaimOf(v)
	return err == nil && c.Token > 0
}

// place is where the items of a source are.
func (q *question) place() (place, error) {
	switch q.Kind {
	case ir.SourceFile:
		return q.file()
	case ir.SourceExec, ir.SourceHTTP:
		return &lines{q}, nil
	case ir.SourceGitHub:
		return q.github()
	case ir.SourceDispatch, ir.SourceImprovement:
	}
	return nil, fail(event.Fatal, event.ReasonStart, "sources of kind %q cannot be asked", q.Kind)
}

// listed is the answer to list: as many items as fit, and how many are left out. Closed items that no item needs are left out.
func listed(items []event.Item, source string) map[string]any {
	needed := map[string]bool{}
	for i := range items {
		if !items[i].Closed {
			for _, n := range items[i].Needs {
				needed[n] = true
			}
		}
	}
	list, size, left := []any{}, 0, 0
	for i := range items {
		it := &items[i]
		if it.Closed && !needed[it.ID] {
			continue
		}
		it.Source = source
		if len(it.Body) > MaxItemBody {
			it.Body = strings.ToValidUTF8(it.Body[:MaxItemBody], "")
		}
		o := it.Object()
		if size += len(value.Append(nil, o)) + 1; size > MaxList {
			left++
			continue
		}
		list = append(list, o)
	}
	return map[string]any{"items": list, "left": float64(left)}
}

// text gives an attribute that is a text; "" if it is not there.
func (q *question) text(name string) (string, error) {
	switch v := q.Config[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", q.wrong(name, "a text")
}

// texts gives an attribute that is a list of texts.
func (q *question) texts(name string) (out []string, err error) {
	switch v := q.Config[name].(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		for _, one := range v {
			s, is := one.(string)
			if !is {
				return nil, q.wrong(name, "a list of texts")
			}
			out = append(out, s)
		}
		return out, nil
	}
	return nil, q.wrong(name, "a list of texts")
}

func (q *question) wrong(name, want string) error {
	return fail(event.Fatal, event.ReasonStart, "the attribute %s of source %s is not %s", name, q.Source, want)
}

// part is an attempt of another kind for this one.
func (q *question) part(kind event.AttemptKind) event.Attempt {
	a := q.a
	limit := a.Timeout
	if limit == 0 {
		limit = Timeout
	}
	return event.Attempt{Ticket: a.Ticket, Node: a.Node, Name: a.Name, Attempt: a.Attempt, Kind: kind, Key: a.Key, Run: a.Run, Workflow: a.Workflow,
		Timeout: limit, Dir: a.Dir, Env: a.Env, Base: a.Base, PassEnv: a.PassEnv}
}

// carryOut has a part carried out. The error is a failure.
func (q *question) carryOut(ctx context.Context, a event.Attempt) (event.AttemptFinished, error) {
	ans := q.x.next.Execute(ctx, a)
	if ans.Outcome == event.OK {
		return ans, nil
	}
	e := event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, ExitCode: -1, Message: "its outcome is unknown"}
	if ans.Error != nil {
		e = *ans.Error
	}
	if text := strings.TrimSpace(ans.Stderr); text != "" {
		e.Message += ": " + executor.Clip(text, executor.MaxMessage/2)
	}
	return ans, &failure{e}
}
