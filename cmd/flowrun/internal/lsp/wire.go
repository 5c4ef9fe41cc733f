package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/syntax"
)

// The bounds of what a client sends.
const (
	MaxMessage = 2*syntax.MaxFileBytes + 1<<20 // bytes of a message: a text as JSON, and what is around it
	maxHeader  = 4096                          // bytes of the header of a message
)

// message is a request, a notification or a response of JSON-RPC 2.0.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// response answers a request. Result is null where there is no answer.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// refusal answers a request that cannot be carried out.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   rpcError        `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// Codes of errors, from JSON-RPC and the protocol of language servers.
const (
	errParse          = -32700
	errInvalidRequest = -32600
	errNoMethod       = -32601
	errInvalidParams  = -32602
	errInternal       = -32603
	errNotInitialized = -32002
	errFailed         = -32803
)

// errFrame is an input whose next message cannot be found.
var errFrame = errors.New("the input is not a message of the protocol")

// readMessage reads the body of one message. The error is io.EOF at the end of the input.
func readMessage(r *bufio.Reader) ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := readLine(r)
		if err != nil {
			if read > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if read += len(line) + 2; read > maxHeader {
			return nil, fmt.Errorf("%w: its header is longer than %d bytes", errFrame, maxHeader)
		}
		if line == "" {
			break
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%w: a line of its header has no colon", errFrame)
		}
		if textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(key)) == "Content-Length" {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return nil, fmt.Errorf("%w: Content-Length is not a number", errFrame)
			}
		}
	}
	switch {
	case length < 0:
		return nil, fmt.Errorf("%w: Content-Length is missing", errFrame)
	case length > MaxMessage:
		return nil, fmt.Errorf("%w: it has more than %d bytes", errFrame, MaxMessage)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(length))) // it grows with what comes, not with what is announced
	if err == nil && len(body) < length {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// readLine reads a line of a header, without its end.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n') // at most the buffer of r
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("%w: a line of its header is too long", errFrame)
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// writer writes messages, each whole.
type writer struct {
	mu  sync.Mutex
	out io.Writer
	err error // of the first write that failed
}

func (w *writer) send(m any) {
	body, err := json.Marshal(m)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if err == nil {
		_, err = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	w.err = err
}

func (w *writer) notify(method string, params any) {
	w.send(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

func (w *writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
