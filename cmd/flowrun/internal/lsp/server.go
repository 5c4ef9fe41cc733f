// Package lsp is a language server for workflow files: it talks to one editor over a pair of streams, in the Language Server Protocol 3.17.
//
// Findings are those of flowrun validate, given by the caller ([Config.Check]); answers about the text come from dsl/editor. This
// package keeps the open texts, finds the files of their program, and translates both into the protocol. Its messages are few, so
// their types and the framing of JSON-RPC are written here, without a library.
//
// Requests are answered in the order in which they come, each within milliseconds; so none has to be cancelled. One goroutine checks: an
// edit that comes during a check makes its result void, and the newest text is checked. What holds always: nothing but messages is
// written to the output; input is bounded; a request that panics gets an error, and the server continues; after [Serve] returns, no goroutine is left.
package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/editor"
)

// MaxOpen bounds the texts that are open at once.
const MaxOpen = 1000

// Config is what a server needs of the command line.
type Config struct {
	Release string
	// Check returns the findings of flowrun validate for a file or folder, where open texts replace files. Paths are absolute.
	Check func(path string, open map[string][]byte) diag.List
	// Last says in a few words how the last run of a workflow ended, or ""; nil: nothing is known of runs.
	Last func(path, workflow string) string
}

// document is an open text.
type document struct {
	uri     string
	path    string
	version int
	data    []byte
	doc     *editor.Doc // as it was read last; nil if the text has changed since
}

type server struct {
	Config
	*writer
	inBytes             bool // characters count in bytes
	initialized, closed bool // after initialize, after shutdown

	mu        sync.Mutex // guards what follows
	open      map[string]*document
	stale     map[string]bool      // folders whose findings are out of date
	alone     map[string]bool      // folders whose files are a program each
	found     map[string]diag.List // the findings of a file, of its newest text
	published map[string][]string  // files that have findings on the screen, by folder

	wake chan struct{}
	read map[string]*cached // of the files that are not open
}

// gcPercent lets the heap grow to five times what lives before a collection. Each edit checks a program anew and drops what the check before
// has made, so collections are a quarter of the time from an edit in 1,000 steps to its findings at the usual 100 percent.
const gcPercent = 400

// Serve answers a client until it says exit, or its input ends. The error is nil if the client has said shutdown before.
func Serve(in io.Reader, out io.Writer, c Config) error {
	s := &server{Config: c, writer: &writer{out: out}, open: map[string]*document{}, stale: map[string]bool{}, alone: map[string]bool{},
		found: map[string]diag.List{}, published: map[string][]string{}, wake: make(chan struct{}, 1), read: map[string]*cached{}}
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		s.checkUntil(done)
	}()
	err := s.serve(bufio.NewReaderSize(in, maxHeader))
	close(done)
	<-ended
	return err
}

// ErrNoShutdown is the error of a client that has gone without saying shutdown.
var ErrNoShutdown = errors.New("the editor ended the connection without the request shutdown")

func (s *server) serve(in *bufio.Reader) error {
	for {
		body, err := readMessage(in)
		switch {
		case errors.Is(err, io.EOF) && s.closed:
			return nil
		case errors.Is(err, io.EOF):
			return ErrNoShutdown
		case err != nil:
			return fmt.Errorf("reading from the editor: %w", err)
		}
		var m message
		if json.Unmarshal(body, &m) != nil {
			s.send(refusal{"2.0", json.RawMessage("null"), rpcError{errParse, "the message is not JSON"}})
			continue
		}
		if m.Method == "exit" {
			if s.closed {
				return nil
			}
			return ErrNoShutdown
		}
		s.handle(&m)
		if err := s.failed(); err != nil {
			return fmt.Errorf("writing to the editor: %w", err)
		}
	}
}

// handle carries out one message, and answers it if it is a request.
func (s *server) handle(m *message) {
	if m.Method == "" { // an answer to a request that was never sent, or nothing at all
		if len(m.ID) == 0 {
			s.send(refusal{"2.0", json.RawMessage("null"), rpcError{errInvalidRequest, "the message has no method"}})
		}
		return
	}
	result, err := s.dispatch(m)
	if len(m.ID) == 0 {
		return
	}
	var e *rpcError
	switch {
	case errors.As(err, &e):
		s.send(refusal{"2.0", m.ID, *e})
	case err != nil:
		s.send(refusal{"2.0", m.ID, rpcError{errInvalidParams, err.Error()}})
	default:
		s.send(response{"2.0", m.ID, result})
	}
}

// dispatch finds the handler of a message. A panic is an error of the request.
func (s *server) dispatch(m *message) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &rpcError{errInternal, fmt.Sprintf("a bug in flowrun: %v", p)}
		}
	}()
	switch {
	case m.Method == "initialize" && !s.initialized:
		return s.initialize(m.Params)
	case m.Method == "initialize":
		return nil, &rpcError{errInvalidRequest, "initialize was sent twice"}
	case !s.initialized:
		return nil, &rpcError{errNotInitialized, "the first request must be initialize"}
	case s.closed:
		return nil, &rpcError{errInvalidRequest, "the server is shut down"}
	}
	handler := handlers[m.Method]
	if handler == nil {
		if strings.HasPrefix(m.Method, "$/") || len(m.ID) == 0 {
			return nil, &rpcError{errNoMethod, "not known: " + m.Method}
		}
		return nil, &rpcError{errNoMethod, fmt.Sprintf("the server has no method %.100q", m.Method)}
	}
	return handler(s, m.Params)
}

// handlers are the methods of the server.
var handlers map[string]func(s *server, params json.RawMessage) (any, error)

func init() { // because initialize lists what is there
	handlers = map[string]func(s *server, params json.RawMessage) (any, error){
		"initialized":                 func(*server, json.RawMessage) (any, error) { return nil, nil },
		"shutdown":                    func(s *server, _ json.RawMessage) (any, error) { s.closed = true; return nil, nil },
		"textDocument/didOpen":        (*server).didOpen,
		"textDocument/didChange":      (*server).didChange,
		"textDocument/didClose":       (*server).didClose,
		"textDocument/didSave":        (*server).didSave,
		"textDocument/formatting":     (*server).formatting,
		"textDocument/documentSymbol": (*server).symbols,
		"textDocument/completion":     (*server).completion,
		"textDocument/hover":          (*server).hover,
		"textDocument/definition":     (*server).definition,
		"textDocument/references":     (*server).references,
		"textDocument/prepareRename":  (*server).prepareRename,
		"textDocument/rename":         (*server).rename,
		"textDocument/codeAction":     (*server).codeAction,
		"textDocument/codeLens":       (*server).codeLens,
	}
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p struct {
		Capabilities struct {
			General struct {
				PositionEncodings []string `json:"positionEncodings"`
			} `json:"general"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("the parameters of initialize: %w", err)
	}
	encoding := "utf-16"
	if offered := p.Capabilities.General.PositionEncodings; slices.Contains(offered, "utf-8") {
		encoding, s.inBytes = "utf-8", true
	}
	s.initialized = true
	return object{
		"capabilities": object{
			"positionEncoding":           encoding,
			"textDocumentSync":           object{"openClose": true, "change": 1, "save": true}, // 1: whole texts
			"documentFormattingProvider": true,
			"documentSymbolProvider":     true,
			"completionProvider":         object{"triggerCharacters": []string{".", "\""}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             object{"prepareProvider": true},
			"codeActionProvider":         object{"codeActionKinds": []string{"quickfix"}},
			"codeLensProvider":           object{"resolveProvider": false},
		},
		"serverInfo": object{"name": "flowrun", "version": s.Release},
	}, nil
}

type object = map[string]any

// pathOf is the absolute path of a file: URI.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", fmt.Errorf("the server reads files alone, and %.200q is not the URI of a file", uri)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path)), nil
}

// uriOf is the file: URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

func (s *server) didOpen(params json.RawMessage) (any, error) {
	var p struct {
		Document textDocument `json:"textDocument"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	path, err := pathOf(p.Document.URI)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= MaxOpen && s.open[path] == nil {
		return nil, &rpcError{errFailed, fmt.Sprintf("at most %d texts can be open", MaxOpen)}
	}
	s.open[path] = &document{uri: p.Document.URI, path: path, version: p.Document.Version, data: []byte(p.Document.Text)}
	s.changed(path)
	return nil, nil
}

func (s *server) didChange(params json.RawMessage) (any, error) {
	var p struct {
		Document textDocument `json:"textDocument"`
		Changes  []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	path, err := pathOf(p.Document.URI)
	if err != nil || len(p.Changes) == 0 {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.open[path]
	if d == nil {
		return nil, fmt.Errorf("%s is not open", path)
	}
	d.version, d.data, d.doc = p.Document.Version, []byte(p.Changes[len(p.Changes)-1].Text), nil
	s.changed(path)
	return nil, nil
}

func (s *server) didClose(params json.RawMessage) (any, error) {
	path, err := only(params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, path)
	s.changed(path)
	return nil, nil
}

func (s *server) didSave(params json.RawMessage) (any, error) {
	path, err := only(params)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed(path)
	}
	return nil, err
}

// only reads parameters that name a document, and returns its path.
func only(params json.RawMessage) (string, error) {
	var p struct {
		Document textDocument `json:"textDocument"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", err
	}
	return pathOf(p.Document.URI)
}

// changed asks for a check of a file's folder. The caller holds the lock.
func (s *server) changed(path string) {
	delete(s.found, path)
	s.stale[filepath.Dir(path)] = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
