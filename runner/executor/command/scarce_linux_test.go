package command

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// A child that is given the last descriptor that there may be cannot move the pipe of its start beyond it. That is a want of
// descriptors, whatever the system calls it: it happened to attempts of which others ended while they started.
func TestTheLastDescriptor(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	const last = 63
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if err := syscall.Dup2(int(null.Fd()), last); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(last)
	syscall.CloseOnExec(last)
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: last + 1, Max: before.Max})
	pid, err := forkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Files: []uintptr{null.Fd(), null.Fd(), last}})
	if err == nil {
		reap(pid, nil)
	}
	if !executor.Scarce(err) {
		t.Errorf("it is said to be %v", err)
	}
}

// However few descriptors there are, an attempt works or waits: it never fails for want of them.
func TestFewDescriptors(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	worked, waited := 0, 0
	const limits = 16
	for more := range limits {
		limit, wait := len(names)+more, 50*time.Millisecond
		if more == limits-1 { // enough descriptors: the attempt need not be called off
			wait = time.Minute
		}
		for holes := range 2 {
			switch f := fewDescriptors(t, limit, holes, before.Max, wait); {
			case f.Outcome == event.OK:
				worked++
			case f.Error.Reason == event.ReasonCancelled:
				waited++
			default:
				t.Errorf("limit %d, %d holes: %s", limit, holes, brief(f))
			}
		}
	}
	if worked == 0 || waited == 0 {
		t.Errorf("%d worked, %d waited: no limit was between", worked, waited)
	}
}

// fewDescriptors carries out an attempt under a limit, after low numbers have become free, and cancels it after wait.
func fewDescriptors(t *testing.T, limit, holes int, most uint64, wait time.Duration) event.AttemptFinished {
	var low []int
	for range holes {
		fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		low = append(low, fd)
	}
	x := New(Options{Environ: testEnviron})
	defer x.Close()
	if s, err := x.slot(); err == nil {
		x.release(s)
	}
	for _, fd := range low {
		syscall.Close(fd)
	}
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(limit), Max: most})
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return x.Execute(ctx, script("echo hi"))
}
