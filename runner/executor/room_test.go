package executor

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRoomByLimits(t *testing.T) {
	for _, tc := range []struct {
		s    Supply
		n    int
		want string // what the error says; "" is: none
	}{
		{Supply{}, 0, ""},
		{Supply{Descriptors: 1 << 19, DescriptorsUsed: 5}, 0, ""},
		{Supply{Descriptors: 18, DescriptorsUsed: 5}, 0, "this process may have 18, and a run takes at least 47\nAllow more with:  ulimit -n"},
		{Supply{Descriptors: 28, DescriptorsUsed: 25}, 0, "may have 28, and a run takes at least 67"},
		{Supply{Descriptors: 46, DescriptorsUsed: 5}, 0, "at least 47"},
		{Supply{Descriptors: 47, DescriptorsUsed: 5}, 1, ""},
		{Supply{Descriptors: 1024, DescriptorsUsed: 10}, 82, ""},
		{Supply{Tasks: 12, TasksUsed: 5, TasksBy: byUser}, 0, "(ulimit -u) allows 12 processes and threads, of which 5 are in use, and a run takes at least 24 more\nAllow more with:  ulimit -u"},
		{Supply{Tasks: 12, TasksUsed: 5, TasksBy: "pids.max"}, 0, "pids.max allows 12 processes and threads, of which 5 are in use, and a run takes at least 24 more\nAllow more with:  docker run --pids-limit"},
		{Supply{Tasks: 29, TasksUsed: 5, TasksBy: byUser}, 1, ""},
		{Supply{Tasks: 100, TasksUsed: 5, TasksBy: byUser, Descriptors: 64, DescriptorsUsed: 5}, 2, ""},
		{Supply{Tasks: 100, TasksUsed: 110, TasksBy: byUser}, 0, "100 processes"},
	} {
		n, err := tc.s.attempts(2)
		if n != tc.n || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: room for %d, %v", tc.s, n, err)
		}
	}
}

// Attempts beyond the room wait for it, and somebody is told if that takes long.
func TestRoomIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, told := newRoom(2, Supply{Descriptors: 70}), atomic.Int32{}
		var within, most atomic.Int32
		var all sync.WaitGroup
		for range 7 {
			all.Go(func() {
				if !r.Enter(t.Context(), func(err error) {
					if told.Add(1); !strings.HasPrefix(err.Error(), "2 at once fit into the 70 file descriptors") {
						t.Error(err)
					}
				}) {
					t.Error("no room")
				}
				most.Store(max(most.Load(), within.Add(1)))
				time.Sleep(2 * time.Second)
				within.Add(-1)
				r.Leave()
			})
		}
		all.Wait()
		if most.Load() != 2 || told.Load() != 3 {
			t.Errorf("%d at once, %d told", most.Load(), told.Load())
		}
		r.turns <- struct{}{}
		r.turns <- struct{}{}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("unwanted")) })
		if r.Enter(ctx, nil) {
			t.Error("there was room for three")
		}
	})
	if !(*Room)(nil).Enter(t.Context(), nil) {
		t.Error("a nil Room has an end")
	}
}

// The threads that are made stay, and serve whoever blocks one.
func TestMakeThreads(t *testing.T) {
	before := threads(t)
	makeThreads(20)
	made := threads(t)
	var all sync.WaitGroup
	for range 15 {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			time.Sleep(10 * time.Millisecond)
		})
	}
	all.Wait()
	if after := threads(t); made < before+10 || after > made+1 {
		t.Errorf("%d threads, then %d, then %d", before, made, after)
	}
}

func threads(t *testing.T) int {
	names, err := readNames("/proc/self/task")
	if err != nil {
		t.Skip("SKIPPED: no /proc here")
	}
	return len(names)
}
