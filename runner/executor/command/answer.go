package command

import (
	"fmt"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// judge turns the end of a run step or a gate into an answer.
func judge(a *event.Attempt, ans *event.AttemptFinished, e ended, out *capture) {
	ans.Stdout = out.text()
	if err := e.err(a.Timeout); err != nil {
		executor.Fail(ans, err)
		return
	}
	if out.limit == limits.MaxOutput && out.cut() {
		executor.Fail(ans, executor.TooLarge("the standard output", out.total))
		return
	}
	ans.Outcome = event.OK
}

// err is the error that a child's end is by itself; nil for exit code 0.
func (e ended) err(timeout time.Duration) *event.Error {
	switch {
	case e.why == unwanted:
		return executor.WasCancelled()
	case e.why == timedOut:
		return e.with(&event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: fmt.Sprintf("timed out after %s", timeout)})
	case e.why == tooLarge:
		used := ""
		if e.peak > 0 {
			used = fmt.Sprintf(", and used %s", mebibytes(e.peak))
		}
		return e.with(&event.Error{Kind: event.Fatal, Reason: event.ReasonMemory, Message: fmt.Sprintf("its processes may use %s of memory together%s", mebibytes(e.most), used)})
	case e.status.Signaled():
		return e.with(&event.Error{Kind: event.Transient, Reason: event.ReasonSignal, Message: "ended by " + signalName(e.status.Signal())})
	}
	if err := executor.ExitError(e.status.ExitStatus()); err != nil {
		return e.with(err)
	}
	return nil
}

// with adds how the process ended.
func (e ended) with(err *event.Error) *event.Error {
	err.ExitCode = -1
	switch {
	case e.stuck:
	case e.status.Exited():
		err.ExitCode = e.status.ExitStatus()
	case e.status.Signaled():
		err.Signal = signalName(e.status.Signal())
	}
	return err
}

// signalName names a signal as kill -l does, the same on every system.
func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGILL:
		return "SIGILL"
	case syscall.SIGTRAP:
		return "SIGTRAP"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGFPE:
		return "SIGFPE"
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGUSR1:
		return "SIGUSR1"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGUSR2:
		return "SIGUSR2"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGALRM:
		return "SIGALRM"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGXCPU:
		return "SIGXCPU"
	case syscall.SIGXFSZ:
		return "SIGXFSZ"
	case syscall.SIGSYS:
		return "SIGSYS"
	}
	return fmt.Sprintf("signal %d", int(s))
}
