package command

import (
	"fmt"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// The processes of an attempt are bounded in one of two ways.
//
// A control group (cgroup v2) bounds them in the kernel, where this process can make groups: see cgroup_linux.go. The kernel kills all of
// the group when the group needs more memory than it may have, and counts that, so an attempt that the kernel has ended is known.
//
// Elsewhere the processes are looked at: every lookEvery the memory of the processes in the attempt's group is added up, each page that
// several of them share in parts, and if it is more than the bound, the group is killed. So it is known, too. Behind that stands
// RLIMIT_DATA, at reserve above the bound, for a process that grows faster than anybody looks: its allocation then fails, and what it
// makes of that is its own failure. RLIMIT_DATA counts what a process may write to. RLIMIT_AS counts all addresses, and programs of Go,
// Node and Java reserve gigabytes of these that they never use: under a bound that fits their work they would not even start. Both are
// limits of one process, so neither can be the bound itself. A failure is taken for one of memory only where somebody saw the memory:
// the group, a look, or the kernel's record of the child's peak, if that is above both the bound and this process's own peak, which a
// child inherits.
//
// On macOS the memory of processes is not bounded. Processors are shared by cpu.weight or by nice.

const (
	// lookEvery is how often the memory of processes is added up. A look at a machine with 300 processes takes 0.2 ms.
	lookEvery = 50 * time.Millisecond
	// minReserve is how far above a bound RLIMIT_DATA lies at least.
	minReserve = 1 << 30
	// usualShares are those of a program that has no share of its own.
	usualShares = 1024
)

// cage bounds the processes of one attempt. A nil cage bounds nothing.
type cage struct {
	bounds event.Resources
	group  *controlGroup // nil: there is none
	pid    int           // 0 before the start
	look   time.Time     // the next look at the memory; zero: none follows
	peak   int64         // that a look has seen
}

func newCage(bounds *event.Resources) *cage {
	if bounds == nil {
		return nil
	}
	c := &cage{bounds: *bounds}
	c.group = newControlGroup(bounds)
	return c
}

// join lets a child begin in its control group.
func (c *cage) join(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	if c != nil && c.group != nil {
		c.group.join(attr)
	}
	return attr
}

// hold bounds a child that has started outside of a control group. A child that starts others before that is bounded by looks alone.
func (c *cage) hold(pid int) {
	if c == nil {
		return
	}
	c.pid = pid
	if c.group.bounds(memoryController) || c.bounds.Memory == 0 || !looksAtMemory {
		c.look = time.Time{}
	} else {
		limitData(pid, c.bounds.Memory+max(c.bounds.Memory, minReserve))
		c.look = time.Now().Add(lookEvery)
	}
	if n := niceness(c.bounds.CPUShares); n != 0 && !c.group.bounds(cpuController) {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, pid, n) // less than 0 needs a privilege
	}
}

// niceness is the nice value that gives a share: the kernel gives a process 1.25 times the time of one whose value is one higher.
func niceness(shares int) int {
	const half = 1.118033988749895 // the root of 1.25: half a step
	n := 0
	for more := float64(shares); shares > 0 && more > float64(usualShares*half) && n > -20; n-- {
		more = float64(more / 1.25)
	}
	for less := float64(shares); shares > 0 && less < float64(usualShares/half) && n < 19; n++ {
		less = float64(less * 1.25)
	}
	return n
}

// next is when to look at the memory; zero for never.
func (c *cage) next() time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.look
}

// rest ends the looks: the child is ending.
func (c *cage) rest() {
	if c != nil {
		c.look = time.Time{}
	}
}

// exceeded looks at the memory, if it is time to. It reports true once.
func (c *cage) exceeded() bool {
	if c == nil || c.look.IsZero() || time.Now().Before(c.look) {
		return false
	}
	c.look = time.Now().Add(lookEvery)
	if c.peak = groupMemory(c.pid, c.bounds.Memory); c.peak <= c.bounds.Memory {
		return false
	}
	c.rest()
	return true
}

// judge notes what is known of the memory of a child that has ended.
func (c *cage) judge(e *ended) {
	if c == nil || c.bounds.Memory == 0 {
		return
	}
	e.most = c.bounds.Memory
	switch {
	case e.why == tooLarge:
		e.peak = c.peak
	case e.why != "" || e.status.Exited() && e.status.ExitStatus() == 0:
	case c.group.killed():
		e.why = tooLarge
	case c.group == nil && e.grew > e.most && e.grew > ownPeak():
		e.why, e.peak = tooLarge, e.grew
	}
}

func (c *cage) close() {
	if c != nil {
		c.group.remove()
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.4g MiB", float64(float64(n)/(1<<20))) }

// Confinement says how the processes of agents with resources are bounded on this machine. whole is false where some of it is not.
func Confinement() (text string, whole bool) { return confinement() }
