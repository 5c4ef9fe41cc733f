package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

type controller string

const (
	memoryController controller = "memory"
	cpuController    controller = "cpu"
)

// controlGroups is where this process can make control groups: its own group, or the one around, if that hands the controllers of memory
// or processors to the groups below, and this process may write there. Nothing is changed to make it so.
type controlGroups struct {
	dir   string // "": nowhere
	hands []controller
	made  atomic.Uint64
}

var groups = sync.OnceValue(func() *controlGroups {
	mounts, _ := os.ReadFile(filepath.Join(procDir, "self/mountinfo"))
	self, _ := os.ReadFile(filepath.Join(procDir, "self/cgroup"))
	for _, dir := range groupFolders(string(mounts), string(self)) {
		if g := groupsIn(dir); g != nil && g.try() {
			return g
		}
	}
	return &controlGroups{}
})

// groupFolders lists the folders of this process's own group of version 2, and of the one around it.
func groupFolders(mounts, self string) (list []string) {
	own := ""
	for _, line := range strings.Split(self, "\n") {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			own = path
		}
	}
	for _, line := range strings.Split(mounts, "\n") {
		f := strings.Fields(line)
		at := slices.Index(f, "-")
		if own == "" || at < 6 || at+1 >= len(f) || f[at+1] != "cgroup2" {
			continue
		}
		root, mount := f[3], f[4]
		below, inside := strings.CutPrefix(own, strings.TrimSuffix(root, "/"))
		if !inside {
			continue
		}
		list = append(list, filepath.Join(mount, below))
		if up := filepath.Dir(filepath.Join("/", below)); below != "" && below != "/" {
			list = append(list, filepath.Join(mount, up))
		}
	}
	return list
}

// groupsIn looks which controllers a folder hands down; nil if neither of the two.
func groupsIn(dir string) *controlGroups {
	b, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	g := &controlGroups{dir: dir}
	for _, c := range []controller{memoryController, cpuController} {
		if slices.Contains(strings.Fields(string(b)), string(c)) {
			g.hands = append(g.hands, c)
		}
	}
	if g.hands == nil {
		return nil
	}
	return g
}

// try starts a program in a group, because a folder that can be written may still take no processes. It first removes the groups that
// processes which are gone have left.
func (s *controlGroups) try() bool {
	left, _ := filepath.Glob(filepath.Join(s.dir, "flowrun-*-*"))
	for _, dir := range left {
		pid := strings.Split(filepath.Base(dir), "-")[1]
		if _, err := os.Stat(filepath.Join(procDir, pid)); err != nil {
			_ = os.Remove(dir)
		}
	}
	g := s.make(&event.Resources{CPUShares: usualShares, Memory: 1 << 30})
	if g == nil {
		return false
	}
	defer g.remove()
	attr := &syscall.SysProcAttr{}
	g.join(attr)
	orphans.birth()
	pid, err := forkExec("/bin/sh", []string{"sh", "-c", ":"}, &syscall.ProcAttr{Dir: "/", Sys: attr})
	orphans.born(pid)
	if err != nil {
		return false
	}
	defer orphans.over(pid)
	status := reap(pid, nil)
	return status.Exited() && status.ExitStatus() == 0
}

// controlGroup is that of one attempt. A nil one bounds nothing.
type controlGroup struct {
	dir   string
	fd    int
	hands []controller
}

// newControlGroup makes the group of an attempt; nil if there can be none.
func newControlGroup(r *event.Resources) *controlGroup {
	if s := groups(); s.dir != "" {
		return s.make(r)
	}
	return nil
}

func (s *controlGroups) make(r *event.Resources) *controlGroup {
	g := &controlGroup{dir: filepath.Join(s.dir, fmt.Sprintf("flowrun-%d-%d", os.Getpid(), s.made.Add(1))), fd: -1}
	if os.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	if r.Memory > 0 && slices.Contains(s.hands, memoryController) {
		if g.write("memory.max", strconv.FormatInt(r.Memory, 10)) != nil {
			g.remove()
			return nil
		}
		_ = g.write("memory.swap.max", "0") // a machine without swap has no such file
		_ = g.write("memory.oom.group", "1")
		g.hands = append(g.hands, memoryController)
	}
	if r.CPUShares > 0 && slices.Contains(s.hands, cpuController) && g.write("cpu.weight", strconv.Itoa(weight(r.CPUShares))) == nil {
		g.hands = append(g.hands, cpuController)
	}
	var err error
	if g.fd, err = syscall.Open(g.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err != nil || g.hands == nil {
		g.remove()
		return nil
	}
	return g
}

// weight is the cpu.weight of a share: 1024 is 100, the weight of a group that has none of its own.
func weight(shares int) int { return max(1, min(10_000, shares*100/usualShares)) }

func (g *controlGroup) write(file, text string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (g *controlGroup) join(attr *syscall.SysProcAttr) { attr.UseCgroupFD, attr.CgroupFD = true, g.fd }

// bounds reports whether the group bounds memory or processors.
func (g *controlGroup) bounds(c controller) bool { return g != nil && slices.Contains(g.hands, c) }

// killed reports whether the kernel has killed processes of the group for their memory.
func (g *controlGroup) killed() bool {
	if g == nil {
		return false
	}
	b, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	for _, line := range strings.Split(string(b), "\n") {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// remove ends what still runs in the group, and the group.
func (g *controlGroup) remove() {
	if g == nil {
		return
	}
	if g.fd >= 0 {
		syscall.Close(g.fd)
	}
	_ = g.write("cgroup.kill", "1")
	for due := time.Now().Add(lastWait); os.Remove(g.dir) != nil && time.Now().Before(due); {
		time.Sleep(time.Millisecond)
	}
}

func confinement() (text string, whole bool) {
	s := groups()
	parts := []string{"memory by looking at processes every " + lookEvery.String() + ", with RLIMIT_DATA behind it", "cpu_shares by nice"}
	for i, c := range []controller{memoryController, cpuController} {
		if slices.Contains(s.hands, c) {
			parts[i] = []string{"memory", "cpu_shares"}[i] + " by cgroup v2 in " + s.dir
		}
	}
	return strings.Join(parts, "; "), true
}
