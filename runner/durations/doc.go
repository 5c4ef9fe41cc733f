// Package durations knows how long the nodes of a workflow take: it watches runs, keeps what the last of them took, and
// says what to expect of the next.
//
// A [Tally] is a fold over one run, like every view: it learns from the events and transitions that a host shows it. A
// [History] is what is kept of the runs of one workflow: of each node, by its declared name, the duration of an execution
// in each of the last [MaxRuns] runs in which it succeeded, and how often it was executed in the newest. What is expected is the
// median. An execution is one instance in one iteration; its duration is that of its attempts and gates, without the
// waiting for slots and between attempts, or for a wait and a call from its start to its end.
//
// All of it has a bound: so many nodes, so many samples of each in a run, so many runs. Durations are kept in 16 bits,
// which is to less than a percent.
//
// The package is pure, and knows no store: hosts keep the bytes. What it says may be wrong, and nothing but the order of
// starts and a forecast depends on it; so bytes that cannot be read count as none. Enter at [Tally.Add] and [History.Add].
package durations

import (
	"math"
	"slices"
)

// Bounds of what is kept.
const (
	// MaxRuns is how many runs of a workflow are kept.
	MaxRuns = 20
	// MaxNodes is how many nodes a workflow may have of which something is kept. Of one with more, nothing is.
	MaxNodes = 20_000
	// MaxSamples is how many durations of one node are kept in one run: of more executions every second, fourth, and so on.
	MaxSamples = 64
)

// Expected is what to expect of a run, by the declared names of nodes: US is the duration of one execution in microseconds,
// Times how often a node is executed in all, where that is not once.
type Expected struct {
	US    map[string]int64
	Times map[string]int
}

// median sorts list; of an even number it is the upper one.
func median[T int64 | uint16](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}

// short is a duration in the 16 upper bits of a float: 8 bits of it count, and the order is that of the numbers.
func short(us int64) uint16 {
	bits := math.Float32bits(float32(max(us, 0)))
	return uint16(min((uint64(bits)+1<<15)>>16, 0x7f7f)) // the largest that is a number
}

func long(s uint16) int64 {
	const most = math.MaxInt32 * 1e6 // more than half a century
	f := math.Float32frombits(uint32(s) << 16)
	if !(f < most) {
		return most
	}
	return int64(max(f, 0))
}
