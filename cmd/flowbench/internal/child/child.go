// Package child starts a process and tells what it cost: its wall time, its CPU time and that of all its children, and the
// greatest resident size of any of them. It knows nothing of flowrun.
//
// The figures are those of wait4(2), so the process that measures adds nothing to them but its own size, which a child has
// for the moment between fork and exec: it must stay small.
//
// Enter at [Run], or at [Start] for a process that is looked at while it lives.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Cost is what a process cost.
type Cost struct {
	Wall, CPU time.Duration
	RSS       int64 // bytes
}

// Process is one that runs, with its standard error in the file "stderr" of its folder.
type Process struct {
	*exec.Cmd
	Out   bytes.Buffer  // standard output, once it has ended
	Over  chan struct{} // closed when it has ended
	began time.Time
	ended time.Duration
	err   error
}

// Start starts argv in dir.
func Start(dir string, argv ...string) (*Process, error) {
	p := &Process{Cmd: exec.Command(argv[0], argv[1:]...), Over: make(chan struct{})}
	errs, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	p.Dir, p.Stderr, p.Stdout = dir, errs, &p.Out
	p.began = time.Now()
	if err := p.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.Cmd.Wait()
		p.ended = time.Since(p.began)
		close(p.Over)
	}()
	return p, nil
}

// Wait waits for its end. An exit code other than 0, or a signal, is an error with the end of what it said.
func (p *Process) Wait() (Cost, error) {
	<-p.Over
	err := p.err
	c := Cost{Wall: p.ended, CPU: p.ProcessState.UserTime() + p.ProcessState.SystemTime()}
	if r, ok := p.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.RSS = int64(r.Maxrss) * rssUnit()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(p.Args, " "), err, tail(p.Said()))
	}
	return c, err
}

// Said is its standard error so far.
func (p *Process) Said() []byte {
	b, err := os.ReadFile(filepath.Join(p.Dir, "stderr"))
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// Kill ends it with a signal and waits. What it cost is told as of any other.
func (p *Process) Kill(sig os.Signal) (Cost, error) {
	if err := p.Process.Signal(sig); err != nil {
		return Cost{}, err
	}
	c, err := p.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	return c, err
}

// Run runs argv in dir to its end, and returns its standard output too.
func Run(dir string, argv ...string) (Cost, []byte, error) {
	p, err := Start(dir, argv...)
	if err != nil {
		return Cost{}, nil, err
	}
	c, err := p.Wait()
	return c, p.Out.Bytes(), err
}

// rssUnit is that of rusage's maximum: bytes on macOS, KiB elsewhere.
func rssUnit() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1024
}

const tailBytes = 2000

func tail(b []byte) []byte { return b[max(0, len(b)-tailBytes):] }
