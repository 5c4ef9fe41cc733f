package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// procDir is where the kernel shows processes. It is a variable for the tests' sake.
var procDir = "/proc"

// living tells whether a member of the child's group, once the child is reaped, still runs. The kernel goes on counting a
// dead member until its parent reaps it, and a container's first process may take seconds to do so. It looks twice before it
// says no, for a member may start another and end while we look.
func (c *child) living() bool {
	for range 2 {
		if !c.members() {
			return false
		}
		if c.running() {
			return true
		}
	}
	c.members() // reaps what died meanwhile and is ours
	return false
}

// running looks for a member that is not dead, first at the one it found before. Where it sees no member at all, /proc is
// not mounted or shows other processes: then the kernel's count stands. A process outside the group costs one system call.
func (c *child) running() bool {
	if c.seen != 0 && memberOf(c.pid, c.seen) == alive {
		return true
	}
	pids, _ := processes()
	none := true
	for _, pid := range pids {
		switch memberOf(c.pid, pid) {
		case alive:
			c.seen = pid
			return true
		case dead:
			none = false
		}
	}
	return none
}

// member is what a process is to a group.
type member int

const (
	stranger member = iota
	dead
	alive
)

func memberOf(group, pid int) member {
	if g, err := syscall.Getpgid(pid); err != nil || g != group {
		return stranger
	}
	stat, _ := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	return parseStat(string(stat), group)
}

// parseStat reads the state, the group and the number of threads from /proc/PID/stat; see proc_pid_stat(5). A process
// whose first thread has ended while others work is shown as a zombie too.
func parseStat(stat string, group int) member {
	const state, pgrp, threads = 0, 2, 17                          // places behind the name,
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // which may hold blanks and brackets
	switch {
	case len(f) <= threads || f[pgrp] != strconv.Itoa(group):
		return stranger
	case strings.Contains("ZX", f[state]) && (f[threads] == "1" || f[threads] == "0"):
		return dead
	}
	return alive
}
