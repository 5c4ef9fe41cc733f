package command

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/executor"
)

const (
	// holdWait is how long a descendant may hold a pipe after the child's own end: it may be a pipeline's last stage
	// that is writing its last lines. Then the group is killed.
	holdWait = 900 * time.Millisecond
	// lastWait is how long the pipes are read after the group was killed: the killed close theirs at once, so what
	// holds on longer has left the group.
	lastWait = 50 * time.Millisecond
	// killWait is how long a killed child may take to end before it is left behind. Only a process in an
	// uninterruptible sleep takes that long.
	killWait = 5 * time.Second
)

// reason is why we ended a child; empty if it ended by itself.
type reason string

const (
	timedOut reason = "timeout"
	unwanted reason = "cancelled"
	silent   reason = "silent"
	finished reason = "finished" // all was said to it, and it did not end
	tooLarge reason = "memory"
)

// ended is all that is known of a child after its end.
type ended struct {
	started time.Time
	status  syscall.WaitStatus
	why     reason
	stuck   bool  // it was killed and did not end
	peak    int64 // bytes of memory, where why is tooLarge; 0: nobody knows
	grew    int64 // bytes of memory that the child, or one that it waited for, had at most, or this process before; 0: nobody knows
	most    int64 // bytes of memory that it may use; 0: any number
}

// supervise starts a program, takes what it says, ends it when its time is over or ctx is done, and cleans up behind
// it. The error says that it did not start.
func (x *Executor) supervise(ctx context.Context, p *program, timeout time.Duration, out, errs *capture) (ended, error) {
	// The kernel kills the child when the thread that started it ends. Holding the thread keeps it from being given
	// to somebody who ends it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := &child{out: out, err: errs, cage: newCage(p.bounds), talk: p.talk}
	defer c.cage.close()
	var e ended
	err := executor.UntilPlenty(ctx, x.opt.Wait, func() error {
		e.started = time.Now() // before the fork: a short program has ended when it returns
		return x.begin(c, p)
	})
	if err != nil {
		return ended{}, err
	}
	defer x.release(c.slot)
	c.cage.hold(c.pid)
	if p.began != nil {
		p.began(c.pid)
	}
	x.engage(c.slot)
	defer x.disengage(c.slot)
	orphans.enter()
	defer orphans.leave()
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, c.wake)()
	}
	if c.talk != nil {
		c.talk.begin(ctx, c.wake)
	}
	due := c.watch(ctx, &e, spans{timeout, p.beat, x.opt.Grace})
	c.finish(ctx, &e, due)
	if c.talk != nil {
		c.talk.hangUp()
	}
	if c.group != nil {
		c.group.Store(0)
	}
	orphans.end(p.mark)
	c.cage.judge(&e)
	return e, nil
}

// begin starts a program in a slot. What fails for want of descriptors gives its own back.
func (x *Executor) begin(c *child, p *program) (err error) {
	if c.slot, err = x.slot(); err != nil {
		return noSlot{err}
	}
	c.pending = p.stdin
	if err = c.start(p, x.null, x.session); executor.Scarce(err) {
		x.discard(c.slot)
	} else if err != nil {
		x.release(c.slot)
	}
	return err
}

// limits are how long a child may work, how long it may be silent (0: as long as it likes), and the time between TERM and KILL.
type spans struct{ timeout, beat, grace time.Duration }

// watch takes what the child says until it ends. A child that must go gets TERM, and KILL after the grace; the time
// returned is then the end of the grace or past it.
func (c *child) watch(ctx context.Context, e *ended, l spans) time.Time {
	const (
		running = iota
		leaving // its standard input has ended, or speak is asked to come to its end
		terminating
		killed
	)
	state, due, told := running, time.Time{}, false
	if l.timeout > 0 {
		due = e.started.Add(l.timeout)
	}
	term := func(grace time.Duration) {
		state, due, l.beat = terminating, time.Now().Add(grace), 0
		c.signal(syscall.SIGTERM)
		c.signal(syscall.SIGCONT) // a stopped process hears TERM only when it goes on
	}
	end := func(why reason) {
		e.why = why
		c.cage.rest()
		if c.talk != nil && why != finished {
			c.talk.part(why)
			state, due, l.beat = leaving, time.Now().Add(l.grace/2), 0
			return
		}
		term(l.grace)
	}
	c.heard = e.started
	for !c.round(until(sooner(sooner(c.next(due, l.beat), c.nextDraft(e.started)), c.cage.next()))) {
		c.saveDrafts(e.started)
		switch {
		case state == leaving && e.why != "" && !told && c.spoken():
			told, due = true, sooner(due, time.Now().Add(lastWordWait))
		case state == running && ctx.Err() == nil && c.spoken():
			state, due, l.beat = leaving, time.Now().Add(min(leaveWait, l.grace)), 0
		case state == leaving && e.why == "" && ctx.Err() != nil:
			end(finished) // all was said: its answer stands
		case state != running:
		case ctx.Err() != nil:
			end(unwanted)
		case l.beat > 0 && time.Since(c.heard) >= l.beat:
			end(silent)
		case c.cage.exceeded():
			e.why = tooLarge
			state, due, l.beat = killed, time.Now().Add(killWait), 0
			c.signal(syscall.SIGKILL)
		}
		if due.IsZero() || time.Now().Before(due) {
			continue
		}
		switch state {
		case running:
			end(timedOut)
		case leaving:
			if e.why == "" {
				e.why = finished
			}
			term(l.grace / 2)
		case terminating:
			state, due = killed, time.Now().Add(killWait)
			c.signal(syscall.SIGKILL)
		case killed:
			e.stuck = true
			return due
		}
	}
	if state == killed {
		return time.Time{}
	}
	return due
}

// next is when to look again: when the child's time is over, or before that when it would have been silent for too long.
func (c *child) next(due time.Time, beat time.Duration) time.Time {
	if beat == 0 {
		return due
	}
	return sooner(due, c.heard.Add(beat))
}

// sooner is the earlier of two times, of which a zero one means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// finish is called after the child's end, or when it will not end. It takes the rest from the pipes, kills what is left
// of the group, and reaps. A child that ended by itself is reaped last: until then nobody else can have its group's number.
func (c *child) finish(ctx context.Context, e *ended, due time.Time) {
	c.drop(fdExit)
	c.drop(fdIn)
	syscall.Close(c.outW)
	syscall.Close(c.errW)
	switch {
	case e.stuck:
		go c.reap()
	case e.why != "":
		e.status, e.grew = c.reap()
		c.leave(due)
		if !c.members() {
			c.drain(context.Background(), lastWait)
			c.shut()
			return
		}
	default:
		c.drain(ctx, holdWait)
	}
	c.signal(syscall.SIGKILL)
	c.drain(context.Background(), lastWait)
	c.shut()
	if e.why == "" {
		e.status, e.grew = c.reap()
	}
	if !e.stuck {
		c.sweep()
	}
}

func (c *child) reap() (syscall.WaitStatus, int64) {
	defer orphans.over(c.pid)
	var used syscall.Rusage
	status := reap(c.pid, &used)
	return status, used.Maxrss * maxrssUnit
}

// leave gives the other members of a group that was sent TERM the rest of the grace: a shell dies of it at once, while
// the agent that it started is still putting its things away.
func (c *child) leave(due time.Time) {
	const beat = 2 * time.Millisecond
	for c.living() && time.Now().Before(due) {
		c.round(min(beat, until(due)))
	}
}

// drain reads until both pipes have ended, or the time is over, or ctx is done.
func (c *child) drain(ctx context.Context, hold time.Duration) {
	if c.quiet() {
		return
	}
	due := time.Now().Add(hold)
	for {
		c.round(until(due))
		if c.quiet() || !time.Now().Before(due) || ctx.Err() != nil {
			return
		}
	}
}

func (c *child) quiet() bool { return c.fds[fdOut].fd < 0 && c.fds[fdErr].fd < 0 }

// sweep waits until the killed members of the group are gone.
func (c *child) sweep() {
	for due := time.Now().Add(lastWait); c.living() && time.Now().Before(due); {
		time.Sleep(time.Millisecond)
	}
}

// members tells whether anybody is in the child's group, dead or alive, once the child is reaped; while there is, the number
// of the group stays taken. Where orphans come to us (we are a container's first process, or a subreaper), nobody else
// reaps those of the group.
func (c *child) members() bool {
	for {
		if pid, _ := syscall.Wait4(-c.pid, nil, syscall.WNOHANG, nil); pid <= 0 {
			return syscall.Kill(-c.pid, 0) == nil
		}
	}
}

func until(due time.Time) time.Duration {
	if due.IsZero() {
		return -1
	}
	return max(0, time.Until(due))
}
