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

// runLimit is the same limit for a process that drives a run. A run of 10,000 steps has up to 30 MiB
// of live heap; its process takes 80 MiB of memory, including 30 MiB for the binary.
const runLimit = 40 << 20

// runPlenty is the live heap up to which the heap of a run may grow to three times the live heap
// beyond runLimit, too: a run of 50,000 null attempts then takes 130 MiB instead of 105, and a
// tenth less CPU. A run of 100,000 stays within 512 MiB.
const runPlenty = 100 << 20

// CollectSeldom sets the collector for a short-lived process, which usually ends before it needs
// one. The heap may grow to three times the live heap, up to the soft limit. If most of that limit
// is live, the collector would run all the time; then the heap may grow by a quarter instead, and
// by half when more than the limit is live.
func CollectSeldom(getenv func(string) string) {
	setCollector(getenv, collector{limit: softLimit, percent: 50})
}

// CollectTests sets the collector for a process that runs tests of workflows: much is made, and
// little stays. The heap may grow to nine times a small live heap, up to the soft limit; 1,000 tests
// then take a quarter less CPU than with Go's default.
func CollectTests(getenv func(string) string) {
	setCollector(getenv, collector{limit: softLimit, small: softLimit / 8, percent: 50})
}

// runSmall is the live heap up to which the heap of a run may grow to nine times the live heap, within runLimit. The first
// collections of a wide run find little garbage: without them a run of 20,000 kv steps takes 0.95 of the CPU time and 10 MiB more, and a run
// of 10,000 processes 4 MiB more.
const runSmall = 8 << 20

// CollectWithin sets the collector for a process that drives a run, with the limit runLimit. When
// the limit does not leave as much free as is live, the heap doubles. When more
// than runLimit is live, the heap grows as before up to runPlenty, and beyond runPlenty with Go's default.
func CollectWithin(getenv func(string) string) {
	setCollector(getenv, collector{limit: runLimit, small: runSmall, plenty: runPlenty, percent: 100})
}

// collector sets the growth of the heap. While the live heap is below small, the heap may grow to
// nine times the live heap, and otherwise to three times, within a soft limit. Go counts what is
// around the heap as a part of that limit. Where the limit does not leave room for tight percent of
// the live heap, the limit is dropped and the heap grows by tight percent: within the limit the
// collector would run all the time. If more than the limit is live, the heap may grow to three times
// the live heap up to plenty, and by a percentage above plenty.
type collector struct {
	limit, small, plenty int64
	percent              int
}

// tight is how much the heap grows, in percent, while the live heap nearly fills the limit. With 25, a run of 20,000 kv steps took 1.24 times the
// CPU time and 13 MiB less; a run of 10,000 processes took as much time and 3 MiB less.
const tight = 100

// setCollector sets the collector, unless the environment has GOGC or GOMEMLIMIT.
func setCollector(getenv func(string) string, c collector) {
	if getenv("GOGC") == "" && getenv("GOMEMLIMIT") == "" {
		first := c.rule(0, 0)
		c.set(first)
		c.watch(first)
	}
}

// rule holds the settings of the Go runtime's collector.
type rule struct {
	percent int
	limit   int64
}

// rule is what holds for so many live bytes, with so many bytes around the heap.
func (c collector) rule(live, around int64) rule {
	switch {
	case live < c.small:
		return rule{800, c.limit}
	case live+live*tight/100 < c.limit-around:
		return rule{200, c.limit}
	case live < c.limit:
		return rule{tight, math.MaxInt64}
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
		now := c.rule(heap())
		if now != last {
			c.set(now)
		}
		c.watch(now)
	})
}

// heap gives the live bytes and the bytes around the heap, as the limit of the Go runtime counts them.
func heap() (live, around int64) {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(s)
	v := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return v(0), v(1) - v(2) - v(3) - v(4)
}
