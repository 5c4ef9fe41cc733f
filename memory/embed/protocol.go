package embed

import (
	"encoding/json"
	"errors"
	"fmt"
)

// protocol is how a kind of server is asked.
type protocol struct {
	name   string
	url    string // where the API begins by default
	model  string // by default
	keyEnv string // what holds the key for url
	path   string // below the URL
	// known is the length of the vectors of a model that is known to give no others unasked; 0 for all that are not known.
	known  func(model string) int
	ask    func(model string, texts []string) any
	answer func(body []byte, n int) ([][]float64, error)
}

var openai = protocol{
	name: "openai", url: "https://api.openai.com/v1", model: "text-embedding-3-small", keyEnv: "OPENAI_API_KEY", path: "/embeddings",
	known: func(model string) int {
		switch model {
		case "text-embedding-3-small", "text-embedding-ada-002":
			return 1536
		case "text-embedding-3-large":
			return 3072
		}
		return 0
	},
	ask: func(model string, texts []string) any {
		return struct {
			Model    string   `json:"model"`
			Input    []string `json:"input"`
			Encoding string   `json:"encoding_format"`
		}{model, texts, "float"}
	},
	answer: func(body []byte, n int) ([][]float64, error) {
		var a struct {
			Data []struct {
				Index     *int      `json:"index"` // where it is missing, the order is that of the texts
				Embedding []float64 `json:"embedding"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &a); err != nil {
			return nil, err
		}
		if len(a.Data) != n {
			return nil, fmt.Errorf("%d vectors for %d texts", len(a.Data), n)
		}
		out := make([][]float64, n)
		for i, d := range a.Data {
			if d.Index != nil {
				i = *d.Index
			}
			if i < 0 || i >= n || out[i] != nil {
				return nil, fmt.Errorf("two vectors for one text, or one for text %d of %d", i, n)
			}
			if out[i] = d.Embedding; out[i] == nil {
				return nil, errors.New("an answer without a vector")
			}
		}
		return out, nil
	},
}

var ollama = protocol{
	name: "ollama", url: "http://localhost:11434", model: "nomic-embed-text", path: "/api/embed",
	known: func(string) int { return 0 },
	ask: func(model string, texts []string) any {
		return struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}{model, texts}
	},
	answer: func(body []byte, n int) ([][]float64, error) {
		var a struct {
			Embeddings [][]float64 `json:"embeddings"`
		}
		if err := json.Unmarshal(body, &a); err != nil {
			return nil, err
		}
		if len(a.Embeddings) != n {
			return nil, fmt.Errorf("%d vectors for %d texts", len(a.Embeddings), n)
		}
		return a.Embeddings, nil
	},
}
