package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// These scripts take 200 MB and 90 MB.
const (
	takes = `x=$(head -c 200000000 /dev/zero | tr '\0' x); `
	less  = `x=$(head -c 90000000 /dev/zero | tr '\0' x); `
)

// A child that uses more memory than it may has failed for that: killed by whoever bounds it, or seen at its end. One that fails for
// itself has not.
func TestMemoryIsBounded(t *testing.T) {
	t.Logf("%v", groups().hands)
	x := New(Options{})
	defer x.Close()
	for _, c := range []struct {
		script string
		want   event.Reason
	}{
		{takes + "sleep 60", event.ReasonMemory},
		{less + "exit 3", event.ReasonMemory},
		{"(" + less + "sleep 60) & wait", event.ReasonMemory},
		{"exit 3", event.ReasonExit},
		{"kill -9 $$", event.ReasonSignal},
		{"true", ""},
	} {
		begun := time.Now()
		a := event.Attempt{Node: "a", Script: c.script, Timeout: time.Minute, Resources: &event.Resources{Memory: 64 << 20, CPUShares: 512}}
		f := x.Execute(context.Background(), a)
		have := event.Reason("")
		if f.Error != nil {
			have = f.Error.Reason
		}
		if have != c.want {
			t.Errorf("%s: ends with %q after %s: %+v, want %q", c.script, have, time.Since(begun), f.Error, c.want)
		}
		if c.want == event.ReasonMemory && (f.Error.Kind != event.Fatal || !strings.Contains(f.Error.Message, "64 MiB")) {
			t.Errorf("%s: %+v", c.script, f.Error)
		}
	}
}

// Shares are those of the kernel: 1.25 times the time for each step of nice.
func TestSharesAreNiceness(t *testing.T) {
	for shares, want := range map[int]int{0: 0, 1024: 0, 512: 3, 2: 19, 820: 1, 1280: -1, 262144: -20} {
		if have := niceness(shares); have != want {
			t.Errorf("%d shares are nice %d, want %d", shares, have, want)
		}
	}
	x := New(Options{})
	defer x.Close()
	if (&controlGroup{hands: groups().hands}).bounds(cpuController) {
		return // a control group shares processors, and nice stays as it is
	}
	f := x.Execute(context.Background(), event.Attempt{Node: "a", Script: `until [ "$(nice)" = 3 ]; do :; done; nice`, Timeout: time.Minute, Resources: &event.Resources{CPUShares: 512}})
	if strings.TrimSpace(f.Stdout) != "3" {
		t.Errorf("it runs with nice %q (%+v), want 3", f.Stdout, f.Error)
	}
}

// Where groups can be made is read from what the kernel says; nothing is written to find it.
func TestControlGroupsAreFound(t *testing.T) {
	mounts := "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n31 23 0:27 / /proc rw - proc proc rw\n"
	for self, want := range map[string][]string{
		"0::/user.slice/a.scope\n": {"/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup/user.slice"},
		"4:memory:/x\n0::/\n":      {"/sys/fs/cgroup"},
		"4:memory:/x\n":            nil,
	} {
		if have := groupFolders(mounts, self); !slices.Equal(have, want) {
			t.Errorf("%q: %q, want %q", self, have, want)
		}
	}
	dir := t.TempDir()
	if groupsIn(dir) != nil {
		t.Error("a folder that hands nothing down is taken")
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.subtree_control", "cpu io memory pids\n")
	if g := groupsIn(dir); g == nil || len(g.hands) != 2 || g.dir != dir {
		t.Errorf("found %+v", g)
	}
	g := &controlGroup{dir: dir, fd: -1}
	for text, want := range map[string]bool{"low 0\noom 1\noom_kill 0\n": false, "low 0\noom_kill 2\noom_group_kill 1\n": true, "": false} {
		if write("memory.events", text); g.killed() != want {
			t.Errorf("%q: killed is %v", text, !want)
		}
	}
	if weight(1024) != 100 || weight(2) != 1 || weight(262144) != 10_000 {
		t.Error("weights are wrong")
	}
	attr := &syscall.SysProcAttr{}
	if (&cage{group: g}).join(attr); !attr.UseCgroupFD {
		t.Error("the child does not join its group")
	}
}
