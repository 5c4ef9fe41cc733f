// Package boot keeps the garbage collector out of the start of a process: a command that takes milliseconds would spend a quarter of
// its CPU time on one collection of what packages build when they are initialized.
//
// The import of the package is its whole use. Go initializes packages in the order of their paths as soon as their imports are
// initialized (the Go specification, "Program initialization"), so this one, which imports little, precedes the expensive ones.
package boot

import (
	"os"
	"runtime/debug"
	"time"
)

const (
	// startPercent lets the heap grow to 32 MiB before the first collection: the smallest heap is 4 MiB at 100 percent.
	startPercent = 800
	// startTime is how long that holds. A command that takes longer collects as any Go program does.
	startTime = 100 * time.Millisecond
)

func init() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" { // the user decides
		return
	}
	usual := debug.SetGCPercent(startPercent)
	time.AfterFunc(startTime, func() {
		if percent := debug.SetGCPercent(usual); percent != startPercent { // the command has chosen another one
			debug.SetGCPercent(percent)
		}
	})
}
