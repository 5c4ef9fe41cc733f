package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are the ids of all that can be seen; an error tells that /proc is not there.
func processes() (pids []int, err error) {
	dir, err := os.Open(procDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// execWait is how long environOf waits for a process that becomes another program. It takes less than a millisecond of processor time,
// and may have to wait for the disk.
const execWait = time.Second

// environOf is the environment that a process was started with; nothing for one that is dead, or another user's. A process that becomes
// another program (execve) shows none for a moment, and environOf waits for it.
func environOf(pid int) []byte {
	read := func() ([]byte, error) { return os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "environ")) }
	env, err := read()
	for since := time.Now(); err == nil && len(env) == 0 && time.Since(since) < execWait; time.Sleep(50 * time.Microsecond) {
		before := environEnd(pid)
		env, err = read()
		if after := environEnd(pid); after == noMemory || after == before && after != noEnviron {
			break
		}
	}
	return env
}

// What environEnd says of a process that has no memory, such as one that is dead, and of one that becomes another program.
const (
	noMemory  = ""
	noEnviron = "0"
)

// vsize is the place of the size of a process's memory in [statOf]: the state is field 3.
const vsize = 23 - 3

// environEnd is where the environment of a process ends in its memory, which is another place in each program that the process
// becomes. A process that was started with an empty environment has such a place, too. See proc_pid_stat(5), vsize and env_end.
func environEnd(pid int) string {
	f := statOf(pid)
	const envEnd = 51 - 3
	if len(f) <= envEnd || f[vsize] == "0" {
		return noMemory
	}
	return f[envEnd]
}

// statOf is what stands in /proc/PID/stat from the state on.
func statOf(pid int) []string {
	stat, _ := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// holds tells whether an environment has a variable that begins so: NAME=START, or NAME=VALUE and a NUL for all of it.
func holds(env []byte, start string) bool {
	return bytes.HasPrefix(env, []byte(start)) || bytes.Contains(env, []byte("\x00"+start))
}

// killMarked kills all processes with such a variable, and tells how many there were.
func killMarked(start string) (n int) {
	pids, _ := processes()
	for _, pid := range pids {
		if holds(environOf(pid), start) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// groupRuns tells whether a group has a member that is not dead.
func groupRuns(group int) bool {
	pids, _ := processes()
	return slices.ContainsFunc(pids, func(pid int) bool { return memberOf(group, pid) == alive })
}

// parentOf is the parent of a process, 0 if that is not known.
func parentOf(pid int) int {
	f := statOf(pid)
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// leftovers are the processes of a run's attempts, but for those that carry our own token and those above us.
func leftovers(run, token string) (left []int) {
	above := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !above[pid]; pid = parentOf(pid) {
		above[pid] = true
	}
	pids, _ := processes()
	for _, pid := range pids {
		env := environOf(pid)
		if holds(env, "FLOWRUN_RUN="+run+"\x00") && holds(env, childVar+"=") && !holds(env, childVar+"="+token+"-") && !above[pid] {
			left = append(left, pid)
		}
	}
	return left
}

// dies reports whether a killed process is still ending: its memory and environment are gone, and its files and locks may still be open.
func dies(pid int) bool {
	f := statOf(pid)
	return len(f) > vsize && f[vsize] == "0" && f[0] != "Z" && f[0] != "X"
}
