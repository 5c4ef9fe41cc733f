package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/text"
)

// wide is an embedder whose vectors are as long as those of the default one, and cost little.
type wide struct{}

func (wide) Model() string { return "wide" }
func (wide) Dim() int      { return 512 }

func (wide) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		v, sum := make([]float32, 512), 0.0
		for _, w := range text.Terms(s) {
			h := fnv.New64a()
			h.Write([]byte(w))
			r := rand.New(rand.NewPCG(h.Sum64(), 1))
			for range 8 {
				v[r.IntN(len(v))] += float32(r.NormFloat64())
			}
		}
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for k := range v {
			v[k] = float32(float64(v[k]) / math.Sqrt(sum))
		}
		out[i] = v
	}
	return out, nil
}

func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestManyLearningsInOneGo imports learnings of one agent and consolidates them once, which is all that it takes.
func TestManyLearningsInOneGo(t *testing.T) {
	steady(t)
	ctx := context.Background()
	sizes := []int{250, 1000}
	if *alikeLarge {
		sizes = append(sizes, 2000, 4000)
	}
	for _, n := range sizes {
		var all bytes.Buffer
		left, twins := n, 0
		for _, s := range madeUp(n) {
			if len(s.entries) > left {
				break
			}
			left -= len(s.entries)
			twins += min(len(s.entries)-1, 1)
			for _, e := range s.entries {
				b, err := json.Marshal(map[string]any{"id": e.ID, "agent": "sam", "type": e.Type, "context": e.Context, "observation": e.Observation, "lesson": e.Lesson, "tags": e.Tags})
				if err != nil {
					t.Fatal(err)
				}
				all.Write(append(b, '\n'))
			}
		}
		dir := t.TempDir()
		o := memory.Options{Embedder: wide{}, WordVectors: true}
		m := open(t, dir, o)
		if _, err := m.Import(ctx, &all, memory.ImportOptions{Name: "many.jsonl", By: rule}); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = open(t, dir, o)
		if err := m.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		before := cpu()
		made, err := m.Consolidate(ctx, "sam")
		took := cpu() - before
		if err != nil || len(made) < n/20 {
			t.Fatalf("of %d learnings with %d subjects of several it made %d patterns, %v", n, twins, len(made), err)
		}
		before = cpu()
		again, err := m.Consolidate(ctx, "sam")
		if err != nil || len(again) > 0 {
			t.Errorf("consolidated again, %d learnings make %d patterns, %v", n, len(again), err)
		}
		t.Logf("%d learnings, %d subjects of several: %d patterns in %v of CPU, and none in %v", n-left, twins, len(made), took.Round(time.Millisecond), (cpu() - before).Round(time.Millisecond))
	}
}
