package command

import (
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// The figure that counts is CPU, ours and the children's: wall time depends on who else is at work. Compare with
//
//	go test -run '^$' -bench 'Floor|Executor|Ratio' -count 5 ./runner/executor/command

const benchParallel = 8

func cpuTime(who int) int64 {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func cpu() int64 { return cpuTime(syscall.RUSAGE_SELF) + cpuTime(syscall.RUSAGE_CHILDREN) }

// parallel does one thing n times, by benchParallel goroutines.
func parallel(n int, do func()) {
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	for range benchParallel {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				do()
			}
		})
	}
	wg.Wait()
}

func floor(b *testing.B) func() {
	return func() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Error(err)
		}
	}
}

func ours(b *testing.B, a event.Attempt) func() {
	opt := guarded()
	opt.Environ = os.Environ()
	x := newTest(b, opt)
	a.Dir, a.Base = b.TempDir(), map[string]string{}
	for _, name := range []string{"PATH", "HOME", "USER", "SHELL", "LANG", "TZ", "TMPDIR", "TERM"} {
		a.Base[name] = os.Getenv(name)
	}
	return func() {
		if f := do(x, a); f.Outcome != event.OK {
			b.Error(brief(f))
		}
	}
}

func measure(b *testing.B, do func()) {
	b.ReportAllocs()
	before := cpu()
	parallel(b.N, do)
	b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
}

func BenchmarkFloorExec(b *testing.B)    { measure(b, floor(b)) }
func BenchmarkExecutor(b *testing.B)     { measure(b, ours(b, run("true"))) }
func BenchmarkExecutorSays(b *testing.B) { measure(b, ours(b, run("echo", "hello"))) }

// BenchmarkRatio takes turns between the two, 100 processes each, so that a busy machine burdens both alike.
func BenchmarkRatio(b *testing.B) {
	f, o := floor(b), ours(b, run("true"))
	var cf, co int64
	for range b.N {
		t0 := cpu()
		parallel(100, f)
		t1 := cpu()
		parallel(100, o)
		cf, co = cf+t1-t0, co+cpu()-t1
	}
	b.ReportMetric(float64(co)/float64(cf), "cpu-ratio")
}
