package command

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// defaultPath is searched where the child has no PATH, as execvp does.
const defaultPath = "/usr/bin:/bin"

// program is what a child is started from.
type program struct {
	path  string
	argv  []string
	env   []string
	dir   string
	stdin []byte // nil: the null device

	script bool             // the last argument but one is a script
	mark   string           // the value of childVar
	beat   time.Duration    // the longest silence; 0: any
	began  func(pid int)    // hears which process it is; may be nil
	bounds *event.Resources // of its processes; nil: none
	talk   *talk            // speaks with it while it runs; nil: nobody does
}

// program works out what an attempt runs. The error is one of the attempt: a command that is nowhere.
func (x *Executor) program(ctx context.Context, a *event.Attempt) (*program, *event.Error) {
	p := &program{argv: a.Argv, dir: a.Dir, env: x.env.of(a, executor.Withheld(ctx)), bounds: a.Resources}
	if len(a.Argv) == 0 {
		p.path, p.argv = shell(a.Shell, a.Script)
		p.script = true
	}
	if a.Agent != nil {
		p.stdin, p.beat = protocol.Request(a), a.Agent.Heartbeat
		if a.Agent.Type == string(ir.AgentShell) {
			if err := p.task(a); err != nil {
				return nil, err
			}
		}
	} else if a.Stdin != nil {
		p.stdin = []byte(*a.Stdin)
	}
	for i, v := range a.Values {
		p.env = set(p.env, fmt.Sprintf("FLOWRUN_V%d", i), v)
	}
	if flaw := p.flaw(a.Env); flaw != "" {
		return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1, Message: p.name() + " cannot start: " + flaw}
	}
	if p.path != "" {
		return p, nil
	}
	path := lookup(p.env, "PATH")
	if path == "" {
		path = defaultPath
	}
	found, ok := find(p.argv[0], path)
	if !ok {
		return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonNotFound, ExitCode: -1, Message: fmt.Sprintf(
			"command not found: %s is not on the PATH", p.name())}
	}
	p.path = found
	return p, nil
}

// taskMax is how long a task can be to stand in the environment: Linux takes 128 KiB in one string.
const taskMax = 100 << 10

// task gives the script of an agent its task as $FLOWRUN_TASK. A longer one stands in the request on its standard input alone.
func (p *program) task(a *event.Attempt) *event.Error {
	if len(a.Agent.Task) <= taskMax {
		p.env = append(p.env, "FLOWRUN_TASK="+a.Agent.Task)
		return nil
	}
	if !strings.Contains(a.Script, "FLOWRUN_TASK") {
		return nil
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonStart, ExitCode: -1, Message: fmt.Sprintf(
		"the task has %d bytes, and $FLOWRUN_TASK can hold %d: the script finds it on its standard input, in the member task of the request, or by itself with input = \"text\"",
		len(a.Agent.Task), taskMax)}
}

// shell gives the program and the arguments that run a script. $0 in it is "step", with which the shell's own messages begin: a
// message that begins with flowrun's name looks like one of flowrun. A script needs no PATH for sh itself;
// bash has no place that all systems agree on, so it is looked up.
func shell(name, script string) (path string, argv []string) {
	if name == "bash" {
		return "", []string{"bash", "-eo", "pipefail", "-c", script, "step"}
	}
	return "/bin/sh", []string{"sh", "-e", "-c", script, "step"}
}

// find looks a command up in a PATH. A name with a slash is taken as it is (a relative one starts in the child's
// folder). Folders of PATH that are not absolute are passed over: what they hold depends on where one stands.
// Nothing is remembered between attempts, for a step may install what the next one runs; a look-up costs about 1 µs a folder.
func find(name, path string) (string, bool) {
	if strings.Contains(name, "/") {
		return name, true
	}
	for name != "" && path != "" {
		var dir string
		dir, path, _ = strings.Cut(path, ":")
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		if full := dir + "/" + name; executable(full) {
			return full, true
		}
	}
	return "", false
}

// executable tells whether path is a file that may be executed by somebody; whether by us, exec tells.
func executable(path string) bool {
	var st syscall.Stat_t
	return syscall.Stat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Mode&0o111 != 0
}

// forkExec starts a program. Where a descriptor that the child is given is the last that there may be, the child fails to move
// another beyond it: the system says EBADF there, and means that there are too few.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	if pid, err = syscall.ForkExec(path, argv, attr); err == syscall.EBADF {
		err = syscall.EMFILE
	}
	return pid, err
}

// start makes the pipes and the process, and fills the poll table.
func (c *child) start(p *program, null int, session bool) (err error) {
	for i := range c.fds {
		c.fds[i] = pollFd{fd: -1}
	}
	var inR = null
	defer func() {
		if inR != null {
			syscall.Close(inR)
		}
	}()
	if p.stdin != nil || p.talk != nil {
		var w int
		if inR, w, err = pipe(); err != nil {
			inR = null
			return err
		}
		syscall.SetNonblock(w, true)
		c.fds[fdIn] = pollFd{fd: int32(w), events: pollOut}
		if p.talk != nil {
			c.fds[fdIn].events = 0
		} else {
			c.feed()
		} // what fits, which is mostly all, is there before the child is
	}
	outR, outW, err := pipe()
	if err != nil {
		c.drop(fdIn)
		return err
	}
	errR, errW, err := pipe()
	if err != nil {
		c.drop(fdIn)
		syscall.Close(outR)
		syscall.Close(outW)
		return err
	}
	pidfd := -1
	orphans.birth()
	pid, err := forkExec(p.path, p.argv, &syscall.ProcAttr{
		Dir: p.dir, Env: p.env, Files: []uintptr{uintptr(inR), uintptr(outW), uintptr(errW)}, Sys: c.cage.join(attributes(&pidfd, session)),
	})
	orphans.born(pid)
	if err != nil {
		for _, fd := range []int{outR, outW, errR, errW} {
			syscall.Close(fd)
		}
		c.drop(fdIn)
		return err
	}
	c.pid, c.outW, c.errW = pid, outW, errW
	if c.group != nil {
		c.group.Store(int32(pid))
	}
	c.fds[fdWake] = pollFd{fd: int32(c.wakeR), events: pollIn}
	c.fds[fdOut] = pollFd{fd: int32(outR), events: pollIn}
	c.fds[fdErr] = pollFd{fd: int32(errR), events: pollIn}
	if noPidfd && pidfd >= 0 {
		syscall.Close(pidfd)
		pidfd = -1
	}
	if pidfd >= 0 {
		c.fds[fdExit] = pollFd{fd: int32(pidfd), events: pollIn}
	} else {
		c.over = watchExit(pid, c.slot)
	}
	return nil
}
