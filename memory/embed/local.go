package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/memory/embed/uselite"
)

// Default gives the embedder in the binary, for English. It reads the first 128 tokens of a text, some 90 words. Its only
// errors are those of the context and of a damaged binary.
func Default() Embedder { return local{} }

type local struct{}

// chunk is how many texts a core takes at a time. Vectors do not depend on it.
const chunk = 16

func (local) Model() string { return uselite.Name }
func (local) Dim() int      { return uselite.Dim }

func (local) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	model, err := uselite.Load()
	if err != nil {
		return nil, err
	}
	return together(ctx, texts, model.Embed)
}

// together shares texts out among the cores.
func together(ctx context.Context, texts []string, embed func(...string) ([][]float32, error)) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var taken atomic.Int64
	var damage atomic.Pointer[error]
	work := func() {
		for ctx.Err() == nil && damage.Load() == nil {
			to := int(taken.Add(chunk))
			from := to - chunk
			if from >= len(texts) {
				return
			}
			to = min(to, len(texts))
			vectors, err := embed(texts[from:to]...)
			if err != nil {
				damage.Store(&err)
			}
			copy(out[from:to], vectors)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(texts)+chunk-1)/chunk) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := damage.Load(); err != nil {
		return nil, *err
	}
	return out, nil
}
