package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxChildren is how many children of one run are driven at once; more wait for their turn, in the order in which they were
// asked for. It bounds memory and open files, not attempts: each child has a bound of its own for these.
const MaxChildren = 256

// children are the child runs that a drive drives on behalf of its own run: a goroutine each, whose ends come through a channel.
type children struct {
	byRun map[string]*callee // touched by the drive's goroutine only
	place chan struct{}
	ends  chan childEnd
}

// callee is one of them, until its end has been taken.
type callee struct {
	ask      event.StartChild
	unwanted chan struct{} // closed with the first wish

	mu     sync.Mutex
	giveUp func() // ends what the child waits for before it is made
	wish   engine.Wish
	made   bool // it is in the store, so that wishes go to its inbox
}

// childEnd is how a child ended, or why it cannot be driven.
type childEnd struct {
	event.ChildFinished
	err error
}

func newChildren() children {
	return children{byRun: map[string]*callee{}, place: make(chan struct{}, MaxChildren), ends: make(chan childEnd)}
}

// startChild makes a child and drives it to its end, in the background.
func (d *drive) startChild(ask event.StartChild, wish engine.Wish) {
	if d.children.byRun[ask.Run] != nil {
		return
	}
	k := &callee{ask: ask, unwanted: make(chan struct{}), wish: wish}
	if wish.Cancels > 0 {
		close(k.unwanted)
	}
	d.children.byRun[ask.Run] = k
	d.live.running.Add(1)
	go func() {
		defer d.live.running.Done()
		end, err := d.raise(k)
		select {
		case d.children.ends <- childEnd{end, err}:
		case <-d.live.closed:
		}
	}()
}

// raise is the life of a child.
func (d *drive) raise(k *callee) (event.ChildFinished, error) {
	if no := engine.TooDeep(d.start.First, k.ask); no != nil {
		return *no, nil
	}
	ctx := d.live.ctx
	select {
	case d.children.place <- struct{}{}:
		defer func() { <-d.children.place }()
	case <-k.unwanted: // ending a run takes no place
	case <-ctx.Done():
		return event.ChildFinished{}, context.Cause(ctx)
	}
	made, err := d.engine.make(ctx, engine.Child(d.start, k.ask), k)
	var round *circle
	if errors.As(err, &round) {
		return round.refusal(k.ask), nil
	}
	if err == nil && !made || errors.Is(err, engine.ErrSuperseded) {
		return engine.Unmade(k.ask), nil
	}
	if err == nil {
		err = k.begun(d.engine)
	}
	if err != nil {
		return event.ChildFinished{}, fmt.Errorf("starting run %s for %q: %w", k.ask.Run, k.ask.Node, err)
	}
	end, err := d.engine.driveChild(ctx, k.ask.Run)
	if err != nil {
		return event.ChildFinished{}, fmt.Errorf("driving run %s for %q: %w", k.ask.Run, k.ask.Node, err)
	}
	return engine.Finished(k.ask, end), nil
}

// errUnwanted ends the wait of a child for its group.
var errUnwanted = errors.New("nobody wants the child any more")

// make sees to it that a child is in the store. It reports false where it is not, and nobody wants it any more.
func (e *Engine) make(ctx context.Context, s engine.Start, k *callee) (bool, error) {
	_, err := e.Get(ctx, s.Header.Run)
	if !errors.Is(err, engine.ErrNoRun) {
		return err == nil, err
	}
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	k.onUnwanted(func() { stop(errUnwanted) })
	_, err = e.Start(waiting, s)
	if errors.Is(err, errUnwanted) {
		return false, nil
	}
	return err == nil, err
}

// onUnwanted calls f at the first wish: now, if it has come.
func (k *callee) onUnwanted(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.giveUp = f; k.wish.Cancels > 0 {
		f()
	}
}

// begun hands on what has been wished so far; what comes later goes to the inbox at once.
func (k *callee) begun(e *Engine) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made = true
	return e.cancelUpTo(k.ask.Run, k.wish)
}

// wish notes what is wished of children that live, before any of it is carried out: a place that one of them leaves must not
// go to another that nobody wants.
func (d *drive) wish(wishes map[string]engine.Wish) {
	for run, w := range wishes {
		if k := d.children.byRun[run]; k != nil {
			k.want(w)
		}
	}
}

func (k *callee) want(w engine.Wish) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := k.wish.Cancels == 0
	if w.Cancels <= k.wish.Cancels {
		return
	}
	k.wish = w
	if first {
		close(k.unwanted)
		if k.giveUp != nil {
			k.giveUp()
		}
	}
}

// cancelChild hands on what was wished of a child to its inbox, if it has one; else begun does.
func (d *drive) cancelChild(run string) {
	k := d.children.byRun[run]
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.made {
		return
	}
	wish := k.wish
	d.live.running.Add(1)
	go func() {
		defer d.live.running.Done()
		if err := d.engine.cancelUpTo(run, wish); err != nil {
			d.stop(err) // the store takes nothing any more, and this drive may write nothing by itself for long
		}
	}()
}

// driveChild drives a child to its end. While another process drives it, or has just taken it, it waits.
func (e *Engine) driveChild(ctx context.Context, run string) (event.End, error) {
	for {
		end, err := e.Drive(ctx, run, nil)
		if !errors.Is(err, engine.ErrOwned) && !errors.Is(err, engine.ErrFenced) {
			return end, err
		}
		if err := pause(ctx); err != nil {
			return event.End{}, err
		}
	}
}

// childEnded takes a child's end in. An error is that of the parent's drive, too: it cannot go on without the child.
func (d *drive) childEnded(end childEnd) error {
	if end.err != nil {
		return end.err
	}
	delete(d.children.byRun, end.Run)
	d.queue = append(d.queue, event.Event{ChildFinished: &end.ChildFinished})
	return nil
}

// cancelUpTo asks for a run's cancel until it has been asked as often as is wished.
func (e *Engine) cancelUpTo(run string, wish engine.Wish) error {
	if wish.Cancels == 0 {
		return nil
	}
	cancel := event.External{Kind: event.ExternalCancel, Reason: wish.Reason}
	return e.signal(run, cancel, func(before int) int { return wish.Cancels - before })
}
