package command

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

const (
	// maxUnread is how many bytes a program can have said that nobody has read, and how many can wait for it on its standard input.
	maxUnread = 8 * limits.MaxOutput
	// leaveWait is how long a program may take to end once its standard input has ended, before it is sent TERM.
	leaveWait = time.Second
	// lastWordWait is how long a program that is being ended may take to read the last words that speak has for it, before TERM.
	lastWordWait = 500 * time.Millisecond
)

// errUnread ends a conversation whose program says more than its reader takes.
var errUnread = errors.New("the program printed more than could be read")

// Converse carries out an attempt whose program is spoken to while it runs. speak is called in a goroutine of its own once the program has
// started; when it returns, the standard input of the program ends, and a program that does not end by itself within a second is sent TERM.
// An attempt that is cancelled or takes too long ends the context of speak first, and the program gets half of the grace to answer to what
// speak says then. Converse takes no room (see [executor.Room]): its caller holds it.
func (x *Executor) Converse(ctx context.Context, a event.Attempt, speak executor.Speak) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	return x.process(ctx, a, ans, speak)
}

// judgeConversation turns the end of a program that was spoken to into an answer. What we did to it counts first; then what was said.
func judgeConversation(a *event.Attempt, ans *event.AttemptFinished, e ended, t *talk) {
	failure := t.failure
	switch why := e.why; {
	case why != "" && why != finished:
		executor.Fail(ans, e.silence(a))
		return
	case failure == nil:
		ans.Outcome = event.OK
		return
	case (t.hungUp || t.cutOff) && why == "":
		// The program ended in the middle of the conversation: how it ended says more than that a message is missing.
		if exit := e.err(a.Timeout); exit != nil {
			exit.Message += "; " + failure.Message
			failure = exit
		}
	}
	if why := e.why; why == "" {
		failure = e.with(failure)
	} else {
		failure.ExitCode = -1
	}
	executor.Fail(ans, failure)
}

// silence is the error of a program that was ended, an agent's silence included.
func (e ended) silence(a *event.Attempt) *event.Error {
	if e.why == silent {
		return e.with(executor.FellSilent(a.Agent.Heartbeat))
	}
	return e.err(a.Timeout)
}

// talk is a conversation with a program: what it said and nobody has read, and what waits for its standard input.
type talk struct {
	speak executor.Speak
	ans   *event.AttemptFinished
	wake  func()       // the poll of the program's supervisor
	sent  func([]byte) // hears what is written to the program; nil: nobody does

	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed once speak has returned
	failure *event.Error  // what speak returned

	mu     sync.Mutex
	moved  sync.Cond // something below has changed
	said   []byte
	hungUp bool // the program says no more, and speak has not returned before
	unread bool // it said too much
	deaf   bool // it reads no more
	cutOff bool // speak had more to say to it then
	heard  bool // speak reads no more
	todo   []byte
	shut   bool // nothing more is written to the program
	over   bool // speak has returned
}

func newTalk(speak executor.Speak, ans *event.AttemptFinished) *talk {
	t := &talk{speak: speak, ans: ans, ended: make(chan struct{})}
	t.moved.L = &t.mu
	return t
}

// begin starts the conversation. wake ends the poll of whoever supervises the program.
func (t *talk) begin(ctx context.Context, wake func()) {
	t.wake = wake
	ctx, t.cancel = context.WithCancelCause(ctx)
	go func() {
		failure := t.speak(ctx, t, t.ans)
		t.mu.Lock()
		t.failure, t.over, t.shut, t.heard = failure, true, true, true
		t.said = nil
		t.mu.Unlock()
		close(t.ended)
		wake()
	}()
}

// isOver reports whether nothing more will be said to the program.
func (t *talk) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// part asks speak to come to its end.
func (t *talk) part(why reason) {
	cause := executor.Cancelled
	switch why {
	case timedOut:
		cause = context.DeadlineExceeded
	case silent:
		cause = errSilent
	}
	t.cancel(cause)
}

var errSilent = errors.New("silent")

// hangUp tells speak that the program has ended, and waits until speak has returned.
func (t *talk) hangUp() {
	t.mu.Lock()
	t.hungUp = !t.over
	t.shut = true
	t.moved.Broadcast()
	t.mu.Unlock()
	<-t.ended
	t.cancel(nil)
}

// hear takes a piece of what the program says.
func (t *talk) hear(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.heard || t.unread:
		return
	case len(t.said)+len(p) > maxUnread:
		t.unread = true
	default:
		t.said = append(t.said, p...)
	}
	t.moved.Broadcast()
}

// Read gives what the program has said. It returns io.EOF once the program has ended.
func (t *talk) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.said) == 0 && !t.hungUp && !t.unread && !t.heard {
		t.moved.Wait()
	}
	switch {
	case t.heard:
		return 0, io.ErrClosedPipe
	case len(t.said) > 0:
		n := copy(p, t.said)
		t.said = t.said[n:]
		return n, nil
	case t.unread:
		return 0, errUnread
	}
	return 0, io.EOF
}

// Write gives the program something to read. It waits while much is left that the program has not read.
func (t *talk) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.todo) > 0 && len(t.todo)+len(p) > maxUnread && !t.shut {
		t.moved.Wait()
	}
	if t.shut {
		t.cutOff = t.deaf
		return 0, io.ErrClosedPipe
	}
	t.todo = append(t.todo, p...)
	if t.sent != nil {
		t.sent(p)
	}
	t.wake()
	return len(p), nil
}

// Close ends the standard input of the program, and reading.
func (t *talk) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut, t.heard = true, true
	t.moved.Broadcast()
	t.wake()
	return nil
}

// take gives what is to be written now, and whether nothing will follow.
func (t *talk) take() (p []byte, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, t.todo = t.todo, nil
	t.moved.Broadcast()
	return p, t.shut
}

// refuse tells that the program reads no more.
func (t *talk) refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut, t.deaf, t.todo = true, true, nil
	t.moved.Broadcast()
}

// pull takes what speak has written since the last round.
func (c *child) pull() {
	if c.fds[fdIn].fd < 0 {
		return
	}
	more, last := c.talk.take()
	c.pending = append(c.pending, more...)
	c.last = last
	if len(c.pending) > 0 {
		c.fds[fdIn].events = pollOut
	} else if last {
		c.drop(fdIn)
	}
}

// spoken reports whether nothing more is to be said to the program. Its standard input ends then, behind the last words.
func (c *child) spoken() bool {
	if c.talk == nil || !c.talk.isOver() {
		return false
	}
	if c.pull(); c.fds[fdIn].fd >= 0 && len(c.pending) > 0 {
		c.feed()
	}
	return true
}
