package store

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkOpen opens a store of 10,000 records of 400 bytes: -bench Open -benchtime 10x.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir, Options{})
	list := entries(1, 9100, 1<<30)
	for len(list) > 0 {
		n := min(500, len(list))
		appendAll(b, s, list[:n]...)
		list = list[n:]
	}
	n := s.State().Last()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var last *Store
	for b.Loop() {
		last = open(b, dir, Options{ReadOnly: true})
		b.StopTimer()
		last.Close()
		b.StartTimer()
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(n), "records")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n)/float64(b.N), "bytes/record")
	runtime.KeepAlive(last)
}

// BenchmarkAppend appends one record at a time, and many.
func BenchmarkAppend(b *testing.B) {
	for name, n := range map[string]int{"1": 1, "500": 500} {
		b.Run(name, func(b *testing.B) {
			s := open(b, b.TempDir(), Options{})
			list := entries(1, 30000, 1<<30)
			at := 0
			begin := time.Now()
			for b.Loop() {
				if at+n > len(list) {
					b.Skip("more than there are")
				}
				appendAll(b, s, list[at:at+n]...)
				at += n
			}
			b.ReportMetric(float64(time.Since(begin).Microseconds())/float64(at), "µs/record")
		})
	}
}

func BenchmarkRefresh(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	for b.Loop() {
		if _, err := s.Refresh(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
