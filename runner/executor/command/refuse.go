package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// How many bytes of a name, and of a path, a message shows.
const (
	nameMax = 200
	pathMax = 1 << 10
)

// name is what messages call the program.
func (p *program) name() string {
	if p.argv[0] == "" || strings.IndexByte(p.argv[0], 0) >= 0 {
		return executor.Clip(fmt.Sprintf("%q", p.argv[0]), nameMax)
	}
	return executor.Clip(p.argv[0], nameMax)
}

// flaw says what about a program no system can start; empty if nothing. It knows what the system's own error does not: where.
func (p *program) flaw(env map[string]string) string {
	if p.argv[0] == "" {
		return "the command is empty"
	}
	if strings.IndexByte(p.dir, 0) >= 0 {
		return "the name of its folder holds a NUL byte"
	}
	for _, name := range names(env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Sprintf("%s is not a name of an environment variable: it may not be empty, nor hold = or a NUL byte",
				executor.Clip(fmt.Sprintf("%q", name), nameMax))
		}
	}
	for i := range len(p.argv) + len(p.env) {
		if strings.IndexByte(p.string(i), 0) >= 0 {
			return p.what(i) + " holds a NUL byte"
		}
	}
	return ""
}

// string is one of those that a program is started with: the arguments, then the environment.
func (p *program) string(i int) string {
	if i < len(p.argv) {
		return p.argv[i]
	}
	return p.env[i-len(p.argv)]
}

// what says in words what string(i) is.
func (p *program) what(i int) string {
	switch {
	case i >= len(p.argv):
		name, _, _ := strings.Cut(p.string(i), "=")
		return "the environment variable " + executor.Clip(name, nameMax)
	case p.script && i == len(p.argv)-2:
		return "the script"
	case i == 0:
		return "the command's name"
	}
	return fmt.Sprintf("argument %d", i)
}

// tooMuch says what the system found too large. Linux takes 128 KiB in one string, and a quarter of the stack's limit in
// all; macOS takes 1 MiB in all.
func (p *program) tooMuch() string {
	total, largest := 0, 0
	for i := range len(p.argv) + len(p.env) {
		total += len(p.string(i)) + 1
		if len(p.string(i)) > len(p.string(largest)) {
			largest = i
		}
	}
	return fmt.Sprintf("its arguments and environment have %d bytes, more than the system takes; "+
		"the largest is %s with %d. Hand large texts over in a file",
		total, p.what(largest), len(p.string(largest)))
}

// notReady says why we could not even try.
func notReady(p *program, err error) *event.Error {
	return &event.Error{Kind: event.Transient, Reason: event.ReasonStart, ExitCode: -1, Message: fmt.Sprintf("%s cannot start: %v", p.name(), err)}
}

// unready prefers, for an attempt that could not start, that nobody wants it any more: it may have waited for its start.
func unready(ctx context.Context, why *event.Error) *event.Error {
	if ctx.Err() != nil {
		return executor.WasCancelled()
	}
	return why
}

// startFailed says why a program did not start. The system says "no such file" of a missing folder, a missing program and a
// missing interpreter alike; this looks which.
func startFailed(p *program, err error) *event.Error {
	if none := (noSlot{}); errors.As(err, &none) {
		return notReady(p, err)
	}
	e := &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1}
	if e.Message = badFolder(p.dir); e.Message != "" {
		return e
	}
	st, statErr := os.Stat(p.seen())
	switch path := executor.Clip(p.path, pathMax); {
	case errors.Is(err, syscall.E2BIG):
		e.Message = fmt.Sprintf("%s cannot start: %s", p.name(), p.tooMuch())
		return e
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		e.Message = fmt.Sprintf("%s cannot start: the interpreter that its first line names, or the loader that it was built for, is not there", p.name())
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Message = fmt.Sprintf("command not found: there is no file %s", path)
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		e.Message = fmt.Sprintf("command not found: %s: %v", path, err)
	case errors.Is(err, syscall.EACCES) && statErr == nil && st.IsDir():
		e.Message = fmt.Sprintf("%s is a folder, not a program", path)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		e.Message = fmt.Sprintf("%s is not executable by this user: chmod +x?", path)
	case errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.EINVAL):
		e.Message = fmt.Sprintf("%s is not a program: it is built for another system, or is a script without a #! line", path)
	default: // too many processes, open files; no memory: may be better later
		return notReady(p, err)
	}
	e.Reason = event.ReasonNotFound
	return e
}

// badFolder says why a child cannot work in a folder; empty if it can.
func badFolder(dir string) string {
	if dir == "" {
		return ""
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		return fmt.Sprintf("%s is not a folder", executor.Clip(dir, pathMax))
	}
	if err == nil {
		_, err = os.Stat(dir + "/.") // takes the right that entering takes
	}
	var reason *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("the folder %s is not there", executor.Clip(dir, pathMax))
	case errors.As(err, &reason):
		return fmt.Sprintf("the folder %s cannot be entered: %v", executor.Clip(dir, pathMax), reason.Err)
	}
	return ""
}

// seen is the program's file as we see it: a relative one starts in the child's folder.
func (p *program) seen() string {
	if !strings.HasPrefix(p.path, "/") && p.dir != "" {
		return p.dir + "/" + p.path
	}
	return p.path
}
