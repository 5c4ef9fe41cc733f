package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/executor"
)

// maxMessage is how long a message of an agent can be, in bytes.
const maxMessage = 4 * limits.MaxOutput

// message is one of JSON-RPC 2.0, in either direction.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

// wireError is why a request failed.
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *wireError) Error() string {
	text := fmt.Sprintf("error %d: %s", e.Code, e.Message)
	var data struct {
		Details string `json:"details"`
	}
	if json.Unmarshal(e.Data, &data) == nil && data.Details != "" {
		text += ": " + data.Details
	}
	return text
}

// Codes of JSON-RPC, and of the protocol.
const (
	methodNotFound = -32601
	invalidParams  = -32602
	internalError  = -32603
	authRequired   = -32000
)

// wire is a connection with an agent: a message a line.
type wire struct {
	p  io.ReadWriteCloser
	mu sync.Mutex // of writing

	ready [][]byte
	lines executor.Splitter
	piece []byte
	odd   string // the last line that was not a message
}

func newWire(p io.ReadWriteCloser) *wire {
	return &wire{p: p, piece: make([]byte, 64<<10), lines: executor.Splitter{Max: maxMessage}}
}

// send writes a message.
func (w *wire) send(m *message) error {
	m.Version = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.p.Write(append(text, '\n'))
	return err
}

// next reads a message. Lines that are not JSON objects are left out. It is called by one goroutine.
func (w *wire) next() (*message, error) {
	for {
		for len(w.ready) > 0 {
			line := w.ready[0]
			w.ready = w.ready[1:]
			m := &message{}
			if err := json.Unmarshal(line, m); err == nil {
				return m, nil
			}
			w.odd = string(line[:min(len(line), 200)])
		}
		n, err := w.p.Read(w.piece)
		w.lines.Take(w.piece[:n], func(line []byte) {
			if line != nil {
				w.ready = append(w.ready, bytes.Clone(line))
			}
		})
		if err != nil && len(w.ready) == 0 {
			return nil, err
		}
	}
}
