package command

import (
	"syscall"

	"github.com/flowrun/flowrun/runner/event"
)

// looksAtMemory is false: nobody is shown the memory of processes here, and no limit of it holds.
const looksAtMemory = false

// maxrssUnit is the unit of Rusage.Maxrss in bytes.
const maxrssUnit = 1

type controller string

const (
	memoryController controller = "memory"
	cpuController    controller = "cpu"
)

// controlGroup is nil on this system.
type controlGroup struct{}

func newControlGroup(*event.Resources) *controlGroup { return nil }
func (g *controlGroup) join(*syscall.SysProcAttr)    {}
func (g *controlGroup) bounds(controller) bool       { return false }
func (g *controlGroup) killed() bool                 { return false }
func (g *controlGroup) remove()                      {}
func limitData(int, int64)                           {}
func groupMemory(int, int64) int64                   { return 0 }
func ownPeak() int64                                 { return 1<<63 - 1 }
func confinement() (text string, whole bool) {
	return "cpu_shares by nice; memory is not bounded on macOS", false
}
