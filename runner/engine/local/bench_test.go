package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

// The figures are events per second, CPU microseconds an event, and for the engine's two the share of the same SQLite's
// rate, which is measured beside each round, so that a noisy machine hits both alike:
//
//	go test -run - -bench . -benchtime 5x ./runner/engine/local

const chainLength, fanWidth, fanGroup = 1000, 20_000, 1000

func BenchmarkChain(b *testing.B) { benchRun(b, enginetest.Chain(chainLength), chainLength, 1) }
func BenchmarkFanout(b *testing.B) {
	benchRun(b, enginetest.Fan(fanWidth, fanGroup), fanWidth, fanGroup)
}

func BenchmarkBareSQLite(b *testing.B) {
	for _, group := range []int{1, fanGroup} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			events := 1000 * min(group, 20)
			var m meter
			for range b.N {
				bare(b, &m, events, group)
			}
			m.report(b)
		})
	}
}

func benchRun(b *testing.B, p enginetest.Program, events, group int) {
	e, err := Open(b.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	var ours, theirs meter
	for range b.N {
		run, err := e.Start(context.Background(), p.Start())
		if err != nil {
			b.Fatal(err)
		}
		ours.round(events, func() {
			if _, err := e.Drive(context.Background(), run, nil); err != nil {
				b.Fatal(err)
			}
		})
		bare(b, &theirs, events, group)
	}
	ours.report(b)
	b.ReportMetric(theirs.wall.Seconds()/ours.wall.Seconds(), "share-of-SQLite")
}

// BenchmarkOneStep is what a short command pays: a store is opened, a run started, driven and the store closed.
func BenchmarkOneStep(b *testing.B) {
	dir := b.TempDir() + "/.flowrun"
	var m meter
	for range b.N {
		m.round(1, func() {
			e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Drive(context.Background(), begin(b, e, enginetest.Chain(1)), nil); err != nil {
				b.Fatal(err)
			}
			e.Close()
		})
	}
	m.report(b)
}

// BenchmarkReplay drives runs that have ended: reading, checking the chain, stepping the machine, comparing digests.
func BenchmarkReplay(b *testing.B) {
	for name, p := range map[string]enginetest.Program{"chain": enginetest.Chain(fanWidth / 10), "fanout": enginetest.Fan(fanWidth, fanGroup)} {
		b.Run(name, func(b *testing.B) {
			e, err := Open(b.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			run := begin(b, e, p)
			drive := func() {
				if _, err := e.Drive(context.Background(), run, nil); err != nil {
					b.Fatal(err)
				}
			}
			drive()
			b.ResetTimer()
			var m meter
			for range b.N {
				m.round(len(p.Tasks), drive)
			}
			m.report(b)
		})
	}
}

// bare writes events of 200 bytes, group of them a transaction, a row each, with the settings of the store.
func bare(b *testing.B, m *meter, events, group int) {
	dir := b.TempDir()
	if err := realDisk.createFile(filepath.Join(dir, databaseFile), ""); err != nil {
		b.Fatal(err)
	}
	w, _, err := openBare(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	ctx := context.Background()
	insert, err := w.PrepareContext(ctx, "INSERT INTO ev VALUES (?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, 200)
	m.round(events, func() {
		for i := 0; i < events; i += group {
			if group > 1 {
				w.ExecContext(ctx, "BEGIN IMMEDIATE")
			}
			for j := range group {
				if _, err := insert.Exec(7, i+j, payload); err != nil {
					b.Fatal(err)
				}
			}
			if group > 1 {
				w.ExecContext(ctx, "COMMIT")
			}
		}
	})
	insert.Close()
	os.RemoveAll(dir)
}

type meter struct {
	events    int
	wall, cpu time.Duration
}

func (m *meter) round(events int, f func()) {
	wall, cpu := time.Now(), cpuTime()
	f()
	m.events += events
	m.wall += time.Since(wall)
	m.cpu += cpuTime() - cpu
}

func (m *meter) report(b *testing.B) {
	b.ReportMetric(float64(m.events)/m.wall.Seconds(), "events/s")
	b.ReportMetric(float64(m.cpu.Microseconds())/float64(m.events), "cpu-us/event")
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkFreeAgent is what an attempt of an agent without bounds pays to learn that the agent may start it.
func BenchmarkFreeAgent(b *testing.B) {
	e, err := Open(b.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		if halted, err := e.halts.isHalted(e, "coder"); halted || err != nil {
			b.Fatal(halted, err)
		}
	}
}
