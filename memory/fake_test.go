package memory_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"sync/atomic"

	"github.com/flowrun/flowrun/memory/text"
)

// fake is an embedder that costs nothing: each term has a place and a sign. It fails while it is told to.
type fake struct {
	model string
	fails atomic.Bool
	asked atomic.Int64  // texts
	gate  chan struct{} // who embeds takes one out, where it is not nil
	// oneByOne lets a single text through without: a query.
	oneByOne bool
	unsure   bool // its dimension is unknown before the first answer
}

const fakeDim = 48

var errFake = errors.New("the provider is out")

func (f *fake) Model() string { return f.model }

func (f *fake) Dim() int {
	if f.unsure && f.asked.Load() == 0 {
		return 0
	}
	return fakeDim
}

func (f *fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if f.gate != nil && !(f.oneByOne && len(texts) == 1) {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.fails.Load() {
		return nil, errFake
	}
	f.asked.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = fakeVector(t)
	}
	return out, nil
}

func fakeVector(s string) []float32 {
	v := make([]float32, fakeDim)
	for _, w := range text.Terms(s) {
		h := fnv.New64a()
		h.Write([]byte(w))
		x := h.Sum64()
		v[x%fakeDim] += float32(x>>63)*2 - 1
		v[x>>8%fakeDim] += 0.5
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return nil
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}
