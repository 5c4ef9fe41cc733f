package command

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// escapeWait is how long an attempt's end waits for those who left its group and were killed.
	escapeWait = time.Second
	// reapEvery is how often the dead among adopted processes are reaped while attempts run: a long step may leave thousands.
	reapEvery = time.Second
)

// orphans are the processes that this one adopts: descendants whose parents have died. There is one list, for adoption is a
// matter of the whole process.
//
// The kernel gives orphans to the first thread, whose children it lists in a file. What stands there and was not
// started here has escaped its parents: if it carries the mark of an attempt that has ended, it is killed. An attempt pays
// one read of that file, 1 µs, and only where somebody stands in it more.
//
// Nobody's status is stolen: reaped is only what package command did not start and what is in another group than this process,
// in which os/exec leaves the children that it starts.
var orphans orphanage

type orphanage struct {
	// births is held for reading while a child is made, until it stands in ours, and for writing while strangers are reaped.
	births sync.RWMutex

	mu   sync.Mutex
	ours map[int]bool // started by this package, and not reaped yet

	list     atomic.Int32 // descriptor of the file; 0 where nothing is adopted
	attempts atomic.Int64 // under way
	ticking  atomic.Bool
}

// adopt makes this process the parent of its descendants' orphans, if it can see which they are.
func (o *orphanage) adopt() {
	const prSetChildSubreaper = 36
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list.Load() > 0 {
		return
	}
	name := fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 || fd == 0 {
		syscall.Close(fd)
		return
	}
	o.list.Store(int32(fd))
}

// birth begins the making of a child, born ends it: pid is 0 where it failed.
func (o *orphanage) birth() { o.births.RLock() }

func (o *orphanage) born(pid int) {
	o.mu.Lock()
	if o.ours == nil {
		o.ours = map[int]bool{}
	}
	if pid > 0 {
		o.ours[pid] = true
	}
	o.mu.Unlock()
	o.births.RUnlock()
}

// over tells that a child was reaped.
func (o *orphanage) over(pid int) {
	o.mu.Lock()
	delete(o.ours, pid)
	o.mu.Unlock()
}

// strangers are our children that were not started here.
func (o *orphanage) strangers() (pids []int) {
	var page [4 << 10]byte
	n, err := syscall.Pread(int(o.list.Load()), page[:], 0)
	if n <= 0 || err != nil {
		return nil
	}
	text := string(page[:n])
	if n == len(page) { // the last number may be cut; whoever is beyond is seen when others are gone
		text = text[:strings.LastIndexByte(text, ' ')+1]
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, word := range strings.Fields(text) {
		if pid, err := strconv.Atoi(word); err == nil && !o.ours[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end kills those who carry an attempt's mark and have outlived it, and waits until they are gone.
func (o *orphanage) end(mark string) {
	if o.list.Load() == 0 {
		return
	}
	start := childVar + "=" + mark + "\x00"
	known := map[int]bool{}
	for due := time.Now().Add(escapeWait); ; time.Sleep(time.Millisecond) {
		found := false
		for _, pid := range o.reap() {
			if !known[pid] {
				known[pid] = holds(environOf(pid), start)
			}
			found = found || known[pid]
		}
		if !found || time.Now().After(due) {
			return
		}
		killMarked(start)
	}
}

// reap collects the strangers that are dead and returns the others.
func (o *orphanage) reap() (alive []int) {
	if o.list.Load() == 0 || len(o.strangers()) == 0 {
		return nil
	}
	o.births.Lock()
	defer o.births.Unlock()
	for _, pid := range o.strangers() {
		if g, err := syscall.Getpgid(pid); err != nil || g == syscall.Getpgrp() {
			continue
		}
		if got, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); got != pid {
			alive = append(alive, pid)
		}
	}
	return alive
}

// enter and leave count attempts under way.
func (o *orphanage) enter() {
	o.attempts.Add(1)
	if o.list.Load() > 0 && !o.ticking.Load() && o.ticking.CompareAndSwap(false, true) {
		time.AfterFunc(reapEvery, o.tick)
	}
}

func (o *orphanage) leave() { o.attempts.Add(-1) }

func (o *orphanage) tick() {
	o.reap()
	o.ticking.Store(false)
	if o.attempts.Load() > 0 && o.ticking.CompareAndSwap(false, true) {
		time.AfterFunc(reapEvery, o.tick)
	}
}
