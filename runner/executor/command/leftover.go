package command

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// leftoverWait is how long Clear waits for the end of what it killed.
const leftoverWait = 5 * time.Second

// Clear ends what attempts of a run have left behind whose driver is gone: processes, and files that were to be outputs.
// It is called when the run is ours and before anything of it starts again. It returns how many processes there were.
//
// Processes are found by the run's id in their environment; what carries this Executor's own mark stays, and so does whoever
// is above this process: somebody may resume a run from a shell that one of its steps started. On macOS, which shows nobody
// another's environment, none are found.
func (x *Executor) Clear(run string) (ended int) {
	var killed []int
	for due := time.Now().Add(leftoverWait); time.Now().Before(due); time.Sleep(time.Millisecond) {
		pids := leftovers(run, x.guard.token)
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if killed = append(killed, pids...); len(pids) == 0 && !slices.ContainsFunc(killed, dies) {
			break
		}
		ended = max(ended, len(pids))
	}
	x.clearOutputs(run)
	return ended
}

// clearOutputs removes the files $FLOWRUN_OUTPUT of a run.
func (x *Executor) clearOutputs(run string) {
	if x.opt.LogDir == "" {
		return
	}
	files, _ := filepath.Glob(filepath.Join(x.opt.LogDir, safe(run), outputPrefix+"*"))
	for _, name := range files {
		os.Remove(name)
	}
}
