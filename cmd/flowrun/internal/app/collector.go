package app

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit is how much memory a check may take before the collector works harder, so that any file of 1 MiB is checked
// within 256 MiB of the process. Of 100,000 steps 310 MiB are live: they are checked within 512 MiB.
const softLimit = 208 << 20

// runLimit is the same for a process that drives a run. It is for the common run, so that one of 10,000 steps, of which 24 MiB are
// live, takes less than 64 MiB of the system, the 16 MiB of the binary included.
const runLimit = 40 << 20

// runPlenty is how much may be live in a run for its heap to grow to three times as much beyond runLimit, too: a run of 50,000 null
// attempts takes 130 MiB then instead of 105, and a tenth less CPU. One of 100,000 blocks stays within 512 MiB.
const runPlenty = 100 << 20

// collectSeldom sets the collector for a short-lived process, which most often ends before it needs one: it lets the heap
// grow to three times what is live, up to the soft limit. Where most of that is live, so that the collector would run all
// the time, it is told to let the heap grow by half instead.
func (a *app) collectSeldom() {
	a.setCollector(collector{limit: softLimit, enough: softLimit / 5 * 4, percent: 50})
}

// collectWithin sets the collector for a process that drives a run: the same up to runLimit. While three quarters of that are
// live, it is left to grow as before up to runPlenty, and beyond as Go does by itself.
func (a *app) collectWithin() {
	a.setCollector(collector{limit: runLimit, enough: runLimit / 4 * 3, plenty: runPlenty, percent: 100})
}

// collector lets the heap grow to three times what is live, within a soft limit while less than enough is live; while more than
// plenty is, by percent.
type collector struct {
	limit, enough, plenty int64
	percent               int
}

// setCollector sets the collector. GOGC and GOMEMLIMIT in the environment have the last word.
func (a *app) setCollector(c collector) {
	if a.getenv("GOGC") == "" && a.getenv("GOMEMLIMIT") == "" {
		c.set(c.rule(0))
		c.watch(c.rule(0))
	}
}

// rule is what the runtime is told.
type rule struct {
	percent int
	limit   int64
}

func (c collector) rule(live int64) rule {
	switch {
	case live < c.enough:
		return rule{200, c.limit}
	case live < c.plenty:
		return rule{200, math.MaxInt64}
	}
	return rule{c.percent, math.MaxInt64}
}

func (c collector) set(r rule) {
	debug.SetGCPercent(r.percent)
	debug.SetMemoryLimit(r.limit)
}

// sentinel is garbage as soon as it is made, so its finalizer runs once after the next collection.
type sentinel struct{ _ [64]byte }

func (c collector) watch(last rule) {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		now := c.rule(int64(live[0].Value.Uint64()))
		if now != last {
			c.set(now)
		}
		c.watch(now)
	})
}
