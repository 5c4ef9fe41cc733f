package command

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/runner/executor"
)

// maxGuarded is how many attempts at once have their group in the table that the guardian reads. Those beyond it are found by
// what stands in their environment alone.
const maxGuarded = 4096

// guard is the guardian as the driver sees it: a process of its own that reads a pipe which nobody writes to. When the driver
// dies, however it dies, the pipe ends, and the guardian kills what the driver's attempts have left running.
//
// An attempt costs it two stores to memory: the groups that are alive stand in a page that both map.
type guard struct {
	token  string // stands in the environment of all children; see childVar
	serial atomic.Uint64

	tried  bool
	pid    int // 0: there is none
	life   int // our end of the pipe
	memory []byte
}

// childVar names the variable that says whose child a process is: TOKEN-SERIAL, the driver's random token and the number of the
// attempt under it. It is how those are found who left their group.
const childVar = "FLOWRUN_CHILD"

func newToken() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// mark is the value of childVar for one more attempt.
func (g *guard) mark() string { return g.token + "-" + strconv.FormatUint(g.serial.Add(1), 10) }

// start makes the guardian by running command, with the token as its last argument. That there can be none is not a reason not
// to work; the error is only for want of descriptors or processes, which passes.
func (g *guard) start(command []string) error {
	if g.tried || len(command) == 0 {
		return nil
	}
	err := g.fork(command)
	g.tried = !executor.Scarce(err)
	if g.tried {
		return nil
	}
	return err
}

func (g *guard) fork(command []string) error {
	const size = maxGuarded * 4
	table, err := os.CreateTemp("", "flowrun-*")
	if err != nil {
		return err
	}
	defer table.Close()
	os.Remove(table.Name())
	if err := table.Truncate(size); err != nil {
		return err
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	r, w, err := pipe()
	if err != nil {
		return err
	}
	defer syscall.Close(r)
	memory, err := syscall.Mmap(int(table.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		syscall.Close(w)
		return err
	}
	argv := append(append([]string{os.Args[0]}, command[1:]...), g.token)
	orphans.birth()
	pid, err := forkExec(command[0], argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1"}, // it needs no more threads
		Files: []uintptr{uintptr(r), null.Fd(), null.Fd(), table.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true}, // what ends the driver's group or terminal leaves it
	})
	orphans.born(pid)
	if err != nil {
		syscall.Close(w)
		syscall.Munmap(memory)
		return err
	}
	g.pid, g.life, g.memory = pid, w, memory
	return nil
}

// group is the place of a slot's child in the table; nil if it has none.
func (g *guard) group(slot int) *atomic.Int32 {
	if g.memory == nil || slot >= maxGuarded {
		return nil
	}
	return (*atomic.Int32)(unsafe.Pointer(&g.memory[slot*4]))
}

// stop ends the guardian: nothing is left for it to do. The table stays mapped, for slots point into it.
func (g *guard) stop() {
	if g.pid == 0 {
		return
	}
	syscall.Kill(g.pid, syscall.SIGKILL)
	reap(g.pid, nil)
	orphans.over(g.pid)
	syscall.Close(g.life)
	g.pid = 0
}
