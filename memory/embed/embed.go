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
	"fmt"
	"strings"
)

// Embedder makes vectors of texts.
type Embedder interface {
	// Model names what makes the vectors, with all that changes them: "use-lite-en-1", "openai:text-embedding-3-small:1536".
	Model() string
	// Dim is the length of a vector; 0 while it is unknown, which is before a server's first answer.
	Dim() int
	// Embed gives each text its vector, in order; nil for a text that has none, such as an empty one. Beside an error, the
	// vectors that a server gave before it are there, and the others are nil.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Names are the embedders that New knows.
var Names = []string{"default", "openai", "ollama", "none"}

// Config says which embedder to use. All but Name concerns servers alone.
type Config struct {
	// Name is one of Names; "" is "default".
	Name string
	// URL is where the API begins: "http://localhost:8080/v1". By default that of OpenAI, or of an Ollama on this machine. It has no
	// user, query or fragment.
	URL string
	// Model is the server's name for the model: by default "text-embedding-3-small", or "nomic-embed-text" with Ollama.
	Model string
	// KeyEnv names the environment variable that holds the key. By default no key is sent, but to OpenAI itself that of
	// OPENAI_API_KEY.
	KeyEnv string
}

// New gives the embedder of a Config; nil for "none". It asks no server and reads no key.
func New(c Config) (Embedder, error) {
	switch c.Name {
	case "", "default":
		return Default(), nil
	case "openai":
		return newServer(c, openai)
	case "ollama":
		return newServer(c, ollama)
	case "none":
		return nil, nil
	}
	return nil, fmt.Errorf("embed: there is no embedder %q, but %s", c.Name, strings.Join(Names, ", "))
}
