// Package policy holds the numbers of resilience: when to try again, how often, and after how long.
//
// Numbers in, numbers out: no clock, no randomness of its own, no other package of flowrun. Equal arguments give equal results,
// so that a replay waits as long as the run did. Enter at [Backoff.Delay].
package policy

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/dsl/limits"
)

// The built-in retry policy, used where neither step nor agent nor workflow says more.
const (
	DefaultMaxAttempts = 1
	DefaultRejections  = 3 // instead, where a gate rejects with feedback
	DefaultBaseDelay   = time.Second
	DefaultMaxDelay    = time.Minute
	DefaultMultiplier  = 2.0
	DefaultJitter      = Full
	// MaxRetryAfter bounds a delay that the other side asks for.
	MaxRetryAfter = limits.MaxRetryAfter * time.Second
	// PoolTurn is how long a task waits for one member of a pool, the first time, before it asks the others again.
	PoolTurn = time.Minute
)

// Jitter says how a delay is spread.
type Jitter string

// The kinds of jitter. The zero value means None.
const (
	None  Jitter = "none"  // the computed delay
	Full  Jitter = "full"  // anything between 0 and it
	Equal Jitter = "equal" // anything between half of it and it
)

// Backoff is an exponential delay with a cap.
type Backoff struct {
	Base, Max  time.Duration
	Multiplier float64
	Jitter     Jitter
}

// Delay returns how long to wait before attempt n (n counts from 1; attempt 1 waits 0).
// The result lies in [0, b.Max]; with jitter it is drawn from seed, so equal arguments give equal delays.
// The kinds of jitter are those of the AWS Architecture Blog, "Exponential Backoff And Jitter" (2015).
func (b Backoff) Delay(n int, seed uint64) time.Duration {
	if n <= 1 {
		return 0
	}
	d := b.Max
	if f := float64(float64(b.Base) * libm.Pow(b.Multiplier, float64(n-2))); f < float64(b.Max) {
		d = time.Duration(f)
	}
	switch b.Jitter {
	case Full:
		return time.Duration(float64(d) * fraction(seed))
	case Equal:
		return d/2 + time.Duration(float64(d-d/2)*fraction(seed))
	case None:
	}
	return d
}

// Seed derives the randomness of one decision from what names it, so that a replay draws the same.
func Seed(run, node string, attempt int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(run))
	h.Write([]byte{0})
	h.Write([]byte(node))
	h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(attempt)))
	return h.Sum64()
}

// fraction maps a seed to [0, 1) by the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func fraction(seed uint64) float64 {
	z := seed + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64(float64((z^z>>31)>>11) / (1 << 53))
}
