package process

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit is how much memory a check may take before the collector works harder, so that any file of 1 MiB is checked
// within 256 MiB of the process. Of 100,000 steps 310 MiB are live: they are checked within 512 MiB.
const softLimit = 208 << 20

// runLimit is the same limit for a process that drives a run. A run of 10,000 steps has 24 MiB of
// live heap; with this limit its process takes less than 64 MiB of memory, including 16 MiB for the
// binary.
const runLimit = 40 << 20

// runPlenty is the live heap up to which the heap of a run may grow to three times the live heap
// beyond runLimit, too: a run of 50,000 null attempts then takes 130 MiB instead of 105, and a
// tenth less CPU. A run of 100,000 stays within 512 MiB.
const runPlenty = 100 << 20

// CollectSeldom sets the collector for a short-lived process, which usually ends before it needs
// one. The heap may grow to three times the live heap, up to the soft limit. If most of that limit
// is live, the collector would run all the time; then the heap may grow by half instead.
func CollectSeldom(getenv func(string) string) {
	setCollector(getenv, collector{limit: softLimit, enough: softLimit / 5 * 4, percent: 50})
}

// CollectTests sets the collector for a process that runs tests of workflows: much is made, and
// little stays. The heap may grow to nine times a small live heap, up to the soft limit; 1,000 tests
// then take a quarter less CPU than with Go's default.
func CollectTests(getenv func(string) string) {
	setCollector(getenv, collector{limit: softLimit, small: softLimit / 8, enough: softLimit / 5 * 4, percent: 50})
}

// CollectWithin sets the collector for a process that drives a run, with the limit runLimit. When
// three quarters of runLimit are live, the limit is dropped: the heap grows as before up to
// runPlenty, and beyond runPlenty with Go's default.
func CollectWithin(getenv func(string) string) {
	setCollector(getenv, collector{limit: runLimit, enough: runLimit / 4 * 3, plenty: runPlenty, percent: 100})
}

// collector sets the growth of the heap. While the live heap is below small, the heap may grow to
// nine times the live heap, and below enough to three times, within a soft limit. Between enough and
// plenty the limit is dropped. Above plenty the heap grows by a percentage.
type collector struct {
	limit, small, enough, plenty int64
	percent                      int
}

// setCollector sets the collector, unless the environment has GOGC or GOMEMLIMIT.
func setCollector(getenv func(string) string, c collector) {
	if getenv("GOGC") == "" && getenv("GOMEMLIMIT") == "" {
		c.set(c.rule(0))
		c.watch(c.rule(0))
	}
}

// rule holds the settings of the Go runtime's collector.
type rule struct {
	percent int
	limit   int64
}

func (c collector) rule(live int64) rule {
	switch {
	case live < c.small:
		return rule{800, c.limit}
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

// sentinel is garbage from its creation on, so its finalizer runs once after the next collection.
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
