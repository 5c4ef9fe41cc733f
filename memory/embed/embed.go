// Package embed turns texts into vectors whose cosine is high for texts that mean the same. The default needs no network and no
// key: its weights are part of the binary. Others ask a server: any with OpenAI's API, or Ollama.
//
// Enter at [Default] or [New]. The package knows models and HTTP; it must not know what a memory is, nor import anything of
// flowrun but its own parts. What always holds:
//
//   - An Embedder is safe for use by many goroutines, and equal texts have equal vectors as far as the model has it so.
//   - Vectors are unit vectors of Dim numbers. They are compared only where Model is the same.
//   - Nothing is loaded, and no server is asked, before the first Embed.
//   - A key comes from an environment variable and goes to the server alone: not to another host, a log, or an error.
package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/memory/embed/uselite"
)

// Embedder makes vectors of texts.
type Embedder interface {
	// Model names what makes the vectors, with all that changes them: "use-lite-en-1", "openai:text-embedding-3-small:1536".
	Model() string
	// Dim is the length of a vector; 0 while it is unknown, which is before a server's first answer.
	Dim() int
	// Embed gives each text its vector, in order; nil for a text that has none, such as an empty one.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

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
	out := make([][]float32, len(texts))
	var taken atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			to := int(taken.Add(chunk))
			from := to - chunk
			if from >= len(texts) {
				return
			}
			to = min(to, len(texts))
			copy(out[from:to], model.Embed(texts[from:to]...))
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
	return out, nil
}
