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

// runLimit is the same for a process that drives a run. It is for the common run, so that one of 10,000 steps, of which 24 MiB are
// live, takes less than 64 MiB of the system, the 16 MiB of the binary included.
const runLimit = 40 << 20

// collectSeldom sets the collector for a short-lived process, which most often ends before it needs one: it lets the heap
// grow to three times what is live, up to the soft limit. Where most of that is live, so that the collector would run all
// the time, it is told to let the heap grow by half instead.
func (a *app) collectSeldom() { a.collect(collector{softLimit, softLimit / 5 * 4, 50}) }

// collectWithin sets the collector for a process that drives a run: the same up to runLimit. While three quarters of that are
// live, it collects as Go does by itself.
func (a *app) collectWithin() { a.collect(collector{runLimit, runLimit / 4 * 3, 100}) }

// collector lets the heap grow to three times what is live within a soft limit; while more than enough is live, by percent.
type collector struct {
	limit, enough int64
	percent       int
}

// collect sets the collector. GOGC and GOMEMLIMIT in the environment have the last word.
func (a *app) collect(c collector) {
	if a.getenv("GOGC") == "" && a.getenv("GOMEMLIMIT") == "" {
		c.set(true)
		c.watch(true)
	}
}

func (c collector) set(within bool) {
	if within {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(c.limit)
	} else {
		debug.SetGCPercent(c.percent)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// sentinel is garbage as soon as it is made, so its finalizer runs once after the next collection.
type sentinel struct{ _ [64]byte }

func (c collector) watch(within bool) {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		now := int64(live[0].Value.Uint64()) < c.enough
		if now != within {
			c.set(now)
		}
		c.watch(now)
	})
}
