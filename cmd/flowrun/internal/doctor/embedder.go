package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/learning"
)

// embedderWait bounds the time that doctor waits for an embedder on the network.
const embedderWait = 5 * time.Second

const byWordsMeanwhile = "Until then the memory is searched by words, and runs continue."

// aboutEmbedder asks the embedder of a program's memory for a vector, if the embedder is on a
// server.
func (d *Doctor) aboutEmbedder(p *ir.Program) []ui.Finding {
	if p.Memory == nil || p.Memory.Embedder == nil {
		return nil
	}
	e := p.Memory.Embedder
	if e.Provider != "openai" && e.Provider != "ollama" {
		return nil
	}
	key := e.KeyEnv
	if key == "" && e.Provider == "openai" && e.BaseURL == "" {
		key = "OPENAI_API_KEY"
	}
	if key != "" && d.Getenv(key) == "" {
		return []ui.Finding{odd("embedder", fmt.Sprintf("%s has no key: %s is not set", e.Provider, key), "Set it, or name another variable with key_env. "+byWordsMeanwhile)}
	}
	x, err := learning.NewEmbedder(e)
	if err == nil {
		ctx, done := context.WithTimeout(context.Background(), embedderWait)
		defer done()
		_, err = x.Embed(ctx, []string{"flowrun doctor"})
	}
	if err != nil {
		return []ui.Finding{odd("embedder", e.Provider+" gives no vectors: "+err.Error(), "Check the server, its address and its model. "+byWordsMeanwhile)}
	}
	return []ui.Finding{fine("embedder", x.Model())}
}
