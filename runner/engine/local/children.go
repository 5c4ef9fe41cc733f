package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxChildren is how many children of one run are driven at once; more wait in the order of their commands. It
// limits memory and open files, not attempts: each child has its own limit for these.
const MaxChildren = limits.MaxLiveCalls

// children are the child runs that a drive drives on behalf of its own run: a goroutine each. Their ends come through a channel.
type children struct {
	byRun map[string]*childRun // touched by the drive's goroutine only
	ends  chan childEnd
}

// childRun is one of them, until its end has been taken.
type childRun struct {
	ask event.StartChild

	mu   sync.Mutex
	wish engine.Wish
	made bool // it is in the store, so that wishes go to its inbox
}

// childEnd is how a child ended, or why it cannot be driven. A parked child is not the drive's any more: see park.go.
type childEnd struct {
	event.ChildFinished
	err error // wraps engine.ErrParked if the child is parked
}

func newChildren() children {
	return children{byRun: map[string]*childRun{}, ends: make(chan childEnd)}
}

// startChild makes a child and drives it to its end, in the background.
func (d *drive) startChild(ask event.StartChild, wish engine.Wish) {
	k := &childRun{ask: ask, wish: wish}
	d.children.byRun[ask.Run] = k
	d.live.running.Add(1)
	go func() {
		defer d.live.running.Done()
		end, err := d.driveChild(k)
		select {
		case d.children.ends <- childEnd{end, err}:
		case <-d.live.closed:
		}
	}()
}

// driveChild makes a child and drives it to its end.
func (d *drive) driveChild(k *childRun) (event.ChildFinished, error) {
	ctx := d.live.ctx
	made, err := d.makeChild(ctx, k)
	if no := (*engine.Deadlock)(nil); errors.As(err, &no) {
		return no.AnswerCaller(k.ask), nil
	}
	if err == nil && !made {
		return engine.Unmade(k.ask), nil
	}
	if err == nil {
		err = k.passWish(d.engine)
	}
	if err != nil {
		return event.ChildFinished{}, fmt.Errorf("starting run %s for %q: %w", k.ask.Run, k.ask.Node, err)
	}
	end, err := d.engine.driveUnowned(ctx, k.ask.Run, d.parks)
	if errors.Is(err, engine.ErrParked) {
		return event.ChildFinished{Run: k.ask.Run}, err
	}
	if err != nil {
		return event.ChildFinished{}, fmt.Errorf("driving run %s for %q: %w", k.ask.Run, k.ask.Node, err)
	}
	f := engine.Finished(k.ask, end)
	_ = event.Shorten(&f, d.live.files.Put) // if it fails, the end is whole, and the commit meets the same disk
	return f, nil
}

// makeChild makes sure that a child is in the store. It reports false if the child is not there and is not wanted any more.
func (d *drive) makeChild(ctx context.Context, k *childRun) (bool, error) {
	parent := d.session.Start()
	s := engine.Child(*parent, k.ask)
	_, err := d.engine.Get(ctx, s.Header.Run)
	if !errors.Is(err, engine.ErrNoRun) {
		return err == nil, err
	}
	if s.Definition == nil {
		if s.Definition, err = d.engine.definition(ctx, parent.Header); err != nil {
			return false, err
		}
	}
	if k.isUnwanted() {
		return false, nil
	}
	_, err = d.engine.Start(ctx, s)
	return err == nil, err
}

// passWish puts the wishes so far into the child's inbox. A later wish goes there at once.
func (k *childRun) passWish(e *Engine) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made = true
	return e.cancelUpTo(k.ask.Run, k.wish)
}

func (k *childRun) isUnwanted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.wish.Cancels > 0
}

// cancelChild puts the wish for a child into its inbox, if the child is made; else passWish does.
func (d *drive) cancelChild(run string, wish engine.Wish) {
	if k := d.children.byRun[run]; k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.wish = wish; !k.made {
			return
		}
	}
	d.live.running.Add(1)
	go func() {
		defer d.live.running.Done()
		err := d.engine.cancelUpTo(run, wish)
		if err != nil && !errors.Is(err, engine.ErrNoRun) { // a child that was never made is asked for again, or not wanted
			d.stop(err) // the store takes nothing any more, and this drive may write nothing by itself for long
		}
	}()
}

// driveUnowned drives a child to its end, or until it is parked. While another process drives the child, or has just taken it over,
// driveUnowned waits.
func (e *Engine) driveUnowned(ctx context.Context, run string, parks bool) (event.End, error) {
	for {
		end, err := e.driveRun(ctx, run, nil, parks)
		if !errors.Is(err, engine.ErrOwned) && !errors.Is(err, engine.ErrFenced) {
			return end, err
		}
		if err := waitForLook(ctx); err != nil {
			return event.End{}, err
		}
	}
}

// childEnded takes a child's end in. An error is that of the parent's drive, too: it cannot go on without the child.
func (d *drive) childEnded(end childEnd) error {
	if errors.Is(end.err, engine.ErrParked) {
		delete(d.children.byRun, end.Run)
		d.session.ChildLeft(end.Run)
		d.poke() // it may have been woken and handed back already
		return nil
	}
	if end.err != nil {
		return end.err
	}
	delete(d.children.byRun, end.Run)
	d.session.ChildEnded(end.ChildFinished)
	return nil
}

// cancelUpTo asks for a run's cancel until it has been asked as often as is wished.
func (e *Engine) cancelUpTo(run string, wish engine.Wish) error {
	if wish.Cancels == 0 {
		return nil
	}
	cancel := event.External{Kind: event.ExternalCancel, Reason: wish.Reason}
	return e.signalRun(run, cancel, func(before int) int { return wish.Cancels - before })
}
