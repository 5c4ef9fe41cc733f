package app

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit is how much memory a check may take before the collector works harder: 100,000 steps, of which 310 MiB are
// live, are checked within 512 MiB of the process.
const softLimit = 464 << 20

// collectSeldom sets the collector for a short-lived process, which most often ends before it needs one: it lets the heap
// grow to three times what is live, up to the soft limit. Where most of that is live, so that the collector would run all
// the time, it is told to let the heap grow by half instead. GOGC and GOMEMLIMIT in the environment have the last word.
func (a *app) collectSeldom() {
	if a.getenv("GOGC") != "" || a.getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(softLimit)
	watchHeap()
}

// sentinel is garbage as soon as it is made, so its finalizer runs once after the next collection.
type sentinel struct{ _ [64]byte }

func watchHeap() {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Uint64() < softLimit/5*4 {
			watchHeap()
			return
		}
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
