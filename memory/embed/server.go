package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// timeout is for one request, and maxBatch is how many texts go into one.
	timeout  = 30 * time.Second
	maxBatch = 64
	// maxText is how many bytes of a text are sent. OpenAI refuses texts of more than 8,191 tokens, and a token of prose or code has
	// more than three bytes.
	maxText = 24 << 10
	// maxRequest is how many bytes of texts go into one request, however few they are.
	maxRequest = 256 << 10
	// maxDim is the length of the longest vector that is believed.
	maxDim = 1 << 14
)

// server is an embedder behind HTTP.
type server struct {
	protocol
	post  poster
	model string
	dim   atomic.Int64 // 0 until it is known
	batch int          // maxBatch, but in tests
}

func newServer(c Config, p protocol) (Embedder, error) {
	keyEnv := c.KeyEnv
	if keyEnv == "" && c.URL == "" {
		keyEnv = p.keyEnv
	}
	base, err := url.Parse(cmp.Or(c.URL, p.url))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("embed: the URL of %s is not one of http or https", p.name)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("embed: the URL of %s has a user, a query or a fragment; a key comes from an environment variable", p.name)
	}
	s := &server{protocol: p, model: cmp.Or(c.Model, p.model), batch: maxBatch}
	s.dim.Store(int64(p.known(s.model)))
	s.post = poster{
		name: p.name, url: strings.TrimSuffix(base.String(), "/") + p.path, keyEnv: keyEnv, timeout: timeout,
		client: &http.Client{CheckRedirect: sameHost}, sleep: sleep,
	}
	return s, nil
}

// Model has the length of the vectors only where it was known from the start, as a name must not change.
func (s *server) Model() string {
	name := s.name + ":" + s.model
	if dim := s.known(s.model); dim > 0 {
		name += fmt.Sprint(":", dim)
	}
	return name
}

func (s *server) Dim() int { return int(s.dim.Load()) }

func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var batch []string
	var places []int // of the batch's texts
	size := 0
	flush := func() error {
		vectors, err := s.request(ctx, batch)
		for i, v := range vectors {
			out[places[i]] = v
		}
		batch, places, size = batch[:0], places[:0], 0
		return err
	}
	for i, text := range texts {
		text = cut(text)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if len(batch) > 0 && (len(batch) == s.batch || size+len(text) > maxRequest) {
			if err := flush(); err != nil {
				return out, err
			}
		}
		batch, places, size = append(batch, text), append(places, i), size+len(text)
	}
	if len(batch) == 0 {
		return out, ctx.Err()
	}
	return out, flush()
}

// cut shortens a text to what is sent of it, never inside a character.
func cut(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// request asks for one batch.
func (s *server) request(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(s.protocol.ask(s.model, texts))
	if err != nil {
		return nil, err
	}
	answer, err := s.post.do(ctx, body)
	if err != nil {
		return nil, err
	}
	vectors, err := s.answer(answer, len(texts))
	if err != nil {
		return nil, s.post.fail(0, false, fmt.Errorf("the answer cannot be used: %w", err))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if out[i], err = s.unit(v); err != nil {
			return nil, s.post.fail(0, false, fmt.Errorf("the answer cannot be used: %w", err))
		}
	}
	return out, nil
}

// unit checks a vector and makes it one of length 1. The first vector says how many numbers all have, where nobody did before.
func (s *server) unit(v []float64) ([]float32, error) {
	if len(v) == 0 || len(v) > maxDim {
		return nil, fmt.Errorf("a vector of %d numbers", len(v))
	}
	if s.dim.CompareAndSwap(0, int64(len(v))); len(v) != s.Dim() {
		return nil, fmt.Errorf("a vector of %d numbers where others have %d", len(v), s.Dim())
	}
	var sum float64
	for _, x := range v {
		sum += float64(x * x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, fmt.Errorf("a vector whose length is %v", length)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / length)
	}
	return out, nil
}
