package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// looksAtMemory says that the memory of processes can be seen.
const looksAtMemory = true

// maxrssUnit is the unit of Rusage.Maxrss in bytes.
const maxrssUnit = 1 << 10

// limitData bounds what one process, and those that it starts, may write to. What fails changes nothing: looks are the bound.
func limitData(pid int, most int64) {
	limit := syscall.Rlimit{Cur: uint64(most), Max: uint64(most)}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_DATA, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
}

// groupMemory adds up the memory of the processes in a group, in bytes. Where that is more than enough, it counts each page that several
// processes share in parts.
func groupMemory(group int, enough int64) (sum int64) {
	var members []int
	pids, _ := processes()
	for _, pid := range pids {
		if g, err := syscall.Getpgid(pid); err != nil || g != group {
			continue
		}
		members = append(members, pid)
		if pages, ok := word(pid, "statm", 1); ok {
			sum += pages * int64(os.Getpagesize())
		}
	}
	if sum <= enough || len(members) < 2 {
		return sum
	}
	sum = 0
	for _, pid := range members {
		if part, ok := sharedPart(pid); ok {
			sum += part
		} else if pages, ok := word(pid, "statm", 1); ok {
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// word reads a number of a file of a process: the nth word.
func word(pid int, file string, n int) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), file))
	words := strings.Fields(string(b))
	if err != nil || len(words) <= n {
		return 0, false
	}
	v, err := strconv.ParseInt(words[n], 10, 64)
	return v, err == nil
}

// sharedPart is the memory of a process with its part of what it shares with others.
func sharedPart(pid int) (int64, bool) {
	b, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "smaps_rollup"))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				kib, err := strconv.ParseInt(string(f[0]), 10, 64)
				return kib << 10, err == nil
			}
		}
	}
	return 0, false
}

// ownPeak is the most memory that this process has had, in bytes.
func ownPeak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 1<<63 - 1
	}
	return u.Maxrss * maxrssUnit
}
