package executor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tasks is the nearest limit of processes and threads, if it is near: that of the user, or that of a group of processes such as a
// container.
func tasks() (limit, used int, by string) {
	free := scarceTasks
	nearer := func(l, u int, name string) {
		if l-u < free {
			free, limit, used, by = l-u, l, u, name
		}
	}
	for _, dir := range pidsGroups() {
		limit, isLimit := number(filepath.Join(dir, "pids.max"))
		used, known := number(filepath.Join(dir, "pids.current"))
		if isLimit && known {
			nearer(limit, used, "the limit of this container or service (pids.max)")
		}
	}
	const rlimitNproc = 6
	var l syscall.Rlimit
	if uid := os.Getuid(); uid != 0 && syscall.Getrlimit(rlimitNproc, &l) == nil && l.Cur < 4*scarceTasks {
		nearer(int(l.Cur), tasksOf(uid), byUser)
	}
	return limit, used, by
}

// pidsGroups are the folders of the control groups that count this process, from the innermost outwards.
func pidsGroups() (dirs []string) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || f[1] != "" && f[1] != "pids" {
			continue
		}
		root := "/sys/fs/cgroup"
		if f[1] == "pids" {
			root += "/pids"
		}
		for path := filepath.Clean("/" + f[2]); ; path = filepath.Dir(path) {
			dirs = append(dirs, root+path)
			if path == "/" {
				break
			}
		}
	}
	return dirs
}

func number(file string) (n int, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(string(bytes.TrimSpace(text))) // "max" is none
	return n, err == nil
}

// tasksOf counts the threads of a user's processes that can be seen.
func tasksOf(uid int) (n int) {
	pids, _ := readNames("/proc")
	for _, pid := range pids {
		var st syscall.Stat_t
		if pid[0] < '0' || pid[0] > '9' || syscall.Stat("/proc/"+pid, &st) != nil || int(st.Uid) != uid {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		const threads = 17 // behind the name
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) > threads {
			k, _ := strconv.Atoi(f[threads])
			n += k
		}
	}
	return n
}
