package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// environOf is the environment that a process was started with; nothing for one that is dead, or another user's.
func environOf(pid int) []byte {
	env, _ := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "environ"))
	return env
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
	stat, _ := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
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
