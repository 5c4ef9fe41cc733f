// Package command carries out attempts that are processes of this machine: run steps, gates, and agents of the types
// exec, shell and null.
//
// It knows how to start a program in a process group of its own, how to end it, how to keep a bounded part of what it
// says, and the JSON lines that an agent speaks. It knows no machine, engine or journal: everything stands in the
// attempt. Enter at [New] and [Executor.Execute]; read supervise.go for the life of a child.
//
// What always holds, whatever a child does:
//
//   - Execute returns within the attempt's timeout + grace + about one second. Only a process that the kernel cannot
//     kill (stuck in a device) takes longer, and it is left behind after [killWait].
//   - The child is reaped, and nothing of its process group runs any more; members whose parent does not reap them stay
//     as zombies. A process that made itself a session of its own (setsid) leaves the group. On Linux it is found all the same,
//     see orphans_linux.go, and ended with the attempt, unless it has thrown its environment away too; on macOS it loses its
//     pipes and nothing waits for it.
//   - The child, its group and whoever left it die with the driver, even by SIGKILL: the guardian kills them, see guard.go. On
//     Linux the child itself needs no guardian: the kernel kills it when the thread that started it ends, and that thread is
//     held for as long as the child lives. What the guardian could not end, Clear ends before the run goes on.
//   - Memory does not grow with output: see [limits.MaxStream], [limits.MaxOutput], [protocol.MaxLine].
//
// An attempt costs one thread while it runs, and no goroutine: the calling one starts the child and polls its pipes
// and its end together, so that a step that says nothing wakes us once. A conversation ([Executor.Converse]) costs one goroutine more.
package command

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// DefaultGrace is the time between TERM and KILL.
const DefaultGrace = 5 * time.Second

// Options says where an Executor lives. The zero value works, and then keeps no logs.
type Options struct {
	// LogDir is the absolute folder where full texts go: one folder a run, files created when first needed, or when an attempt takes
	// longer (see [Executor.Settle]), readable by the owner alone. If it is empty, what goes beyond the bounds is lost.
	LogDir string
	// LogRel stands before the names in StdoutLog and StderrLog: LogDir as seen from the store.
	LogRel string
	// Environ is the driver's environment, as os.Environ gives it; nil means os.Environ().
	Environ []string
	// Grace is the time between TERM and KILL; 0 means DefaultGrace.
	Grace time.Duration
	// Live, if set, hears what an agent says while it works: kind is progress, heartbeat or log. It is called by the
	// attempt's own goroutine, several attempts at once, and must not block.
	Live func(a event.Attempt, kind, text string)
	// Session, if set, keeps in which session of its agent an attempt works, so that the attempt can go on there after a crash. It returns when
	// that is durable.
	Session func(ctx context.Context, a event.Attempt, session string) error
	// Began, if set, hears which process carries out an attempt. It must not block.
	Began func(a *event.Attempt, pid int)
	// Guardian is a command line that, with one more argument, calls [Guardian] with it: this very program, mostly. It is
	// started before the first child and ends with this process. If it is empty, or cannot be started, those whose driver is
	// killed live on, but for the child itself on Linux.
	Guardian []string
	// Room bounds how many attempts are under way at once; nil is: no bound.
	Room *executor.Room
	// Wait, if set, hears why an attempt waits for its start for so long.
	Wait func(why error)
	// Adopt makes this process the parent of all orphans below it, so that those who left an attempt's group are ended with it. It
	// stays so until the process ends. Linux alone.
	Adopt bool
}

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct {
	opt     Options
	env     environ
	logMax  int64
	session bool // whether children get a session of their own

	followed atomic.Pointer[map[string]bool] // runs, by id; see Follow

	mu     sync.Mutex
	drafts map[ticket][]string // files that are removed when the answer is durable; see Settle
	busy   map[*slot]bool
	idle   []*slot
	slots  int   // places that were given so far,
	places []int // and those of them that are free
	null   int   // the null device, open for reading; -1 before the first child
	guard  guard
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor. Close it when no attempt is under way any more.
func New(opt Options) *Executor {
	if opt.Environ == nil {
		opt.Environ = os.Environ()
	}
	if opt.Grace == 0 {
		opt.Grace = DefaultGrace
	}
	x := &Executor{opt: opt, env: newEnviron(opt.Environ), logMax: logMax, session: terminal(), null: -1}
	x.guard.token = newToken()
	return x
}

// terminal tells whether there is one that children could ask for a password. A process of a background group that
// does so is stopped, for ever if it has no timeout; in a session of its own it is told that there is no terminal. A session costs
// 3 % more CPU than a group (BenchmarkRatio), so it is made only where it helps.
func terminal() bool {
	fd, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	syscall.Close(fd)
	return true
}

// Close gives back what is kept between attempts: a few descriptors, and the guardian. Execute must not be called afterwards.
func (x *Executor) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.idle {
		s.close()
		x.places = append(x.places, s.place)
	}
	x.idle = nil
	if x.slots == len(x.places) {
		x.guard.stop()
	} // else an attempt is left behind, and the guardian ends it with this process
	if x.null >= 0 {
		syscall.Close(x.null)
		x.null = -1
	}
}

// Execute carries out one attempt and returns when all of it is over. A child that misbehaves is an answer, never an
// error of ours. An attempt whose context is done before it started starts nothing.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	if !x.opt.Room.Enter(ctx, x.opt.Wait) {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	defer x.opt.Room.Leave()
	if a.Agent != nil {
		return x.inSession(ctx, a, ans)
	}
	return x.process(ctx, a, ans, nil)
}

// process carries out an attempt that needs a child. speak is nil, or speaks with the child.
func (x *Executor) process(ctx context.Context, attempt event.Attempt, ans event.AttemptFinished, speak executor.Speak) event.AttemptFinished {
	a := &attempt
	prog, err := x.program(ctx, a)
	if err != nil {
		executor.Fail(&ans, err)
		return ans
	}
	prog.mark = x.guard.mark()
	prog.env = set(prog.env, childVar, prog.mark)
	file := ""
	if a.OutputFile {
		makeErr := executor.UntilPlenty(ctx, x.opt.Wait, func() (err error) {
			file, err = x.makeOutput(a)
			return err
		})
		if makeErr != nil {
			executor.Fail(&ans, unready(ctx, notReady(prog, makeErr)))
			return ans
		}
		defer os.Remove(file)
		prog.env = set(prog.env, "FLOWRUN_OUTPUT", file)
	}
	out := x.newCapture(a, "stdout")
	errs := x.newCapture(a, "stderr")
	defer out.close()
	defer errs.close()
	out.without(executor.Mask(ctx))
	errs.without(executor.Mask(ctx))
	var said *protocol.Lines
	if speak != nil {
		prog.stdin, prog.talk = nil, newTalk(speak, &ans)
		out.also = prog.talk.hear
	} else {
		said = x.listen(ctx, a, &out)
	}
	endWire := wire(ctx, prog, &out, &errs)
	if x.opt.Began != nil {
		prog.began = func(pid int) { x.opt.Began(a, pid) }
	}
	e, startErr := x.supervise(ctx, prog, a.Timeout, &out, &errs)
	if startErr != nil {
		executor.Fail(&ans, unready(ctx, startFailed(prog, startErr)))
		return ans
	}
	out.end()
	errs.end()
	endWire()
	executor.NotePeak(ctx, e.grew)
	ans.StartedAt = event.At(e.started)
	ans.Stderr, ans.StderrLog = errs.text(), errs.logName()
	if !e.stuck && e.status.Exited() {
		code := e.status.ExitStatus()
		ans.ExitCode = &code
	}
	switch {
	case speak != nil:
		if ans.Stdout == "" {
			ans.Stdout = out.text()
		}
		judgeConversation(a, &ans, e, prog.talk)
	case a.Agent != nil:
		judgeAgent(a, &ans, e, &out, said)
	default:
		judge(a, &ans, e, &out)
		if file != "" && ans.Outcome == event.OK {
			x.takeOutput(ctx, &ans, file)
		}
		if file != "" && e.why == timedOut {
			written := event.AttemptFinished{Outcome: event.OK}
			if x.takeOutput(ctx, &written, file); written.Outcome == event.OK {
				ans.Partial = written.Output
			}
		}
	}
	if ans.Outcome == event.Failed && ans.Warning == "" {
		ans.Warning = x.env.missed(a)
	}
	ans.StdoutLog = out.logName()
	x.keepDrafts(a, &out, &errs)
	return ans
}
