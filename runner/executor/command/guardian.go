package command

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	// guardianWait is how long a guardian goes on looking for the children of a dead driver: one that forks as fast as it is killed
	// is left to the next who resumes the run.
	guardianWait = 10 * time.Second
	// guardianRounds is how many looks in a row must find nobody: a process may start another and end while the first look
	// is taken.
	guardianRounds = 3
)

// Guardian is the life of a guardian; see [Options.Guardian]. It waits for its driver's end, kills what the driver's attempts
// have left running, and returns. Its standard input is a pipe that only the driver holds, descriptor 3 the table of groups;
// token is what the driver put into its children's environment.
//
// On Linux that is every process that carries the token or is in an attempt's group, whatever group or session it made itself;
// on macOS, which shows nobody another's environment, the groups.
func Guardian(token string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	memory, err := syscall.Mmap(3, 0, maxGuarded*4, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		memory = nil
	}
	var b [1]byte
	for {
		if n, err := os.Stdin.Read(b[:]); n == 0 && err != nil {
			break
		}
	}
	quiet := 0
	for due := time.Now().Add(guardianWait); quiet < guardianRounds && time.Now().Before(due); time.Sleep(time.Millisecond) {
		quiet++
		if killGroups(memory)+killMarked(childVar+"="+token+"-") > 0 {
			quiet = 0
		}
	}
}

// killGroups kills the groups in a table, and tells how many there still are.
func killGroups(memory []byte) (n int) {
	for at := 0; at < len(memory); at += 4 {
		group := (*atomic.Int32)(unsafe.Pointer(&memory[at])).Load()
		if group > 1 && syscall.Kill(-int(group), syscall.SIGKILL) == nil && groupRuns(int(group)) {
			n++
		}
	}
	return n
}
