package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
)

// maxFile is how many bytes a file can have that is read or written for an agent.
const maxFile = limits.MaxOutput

// fileRequest is what an agent asks for.
type fileRequest struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`  // counts from 1; 0: the first
	Limit   int    `json:"limit"` // of lines; 0: all
	Content string `json:"content"`
}

// open finds a file that an agent names, below the folder of the attempt. A link that leads out of the folder is refused by the root.
func (s *session) open(params json.RawMessage, least ir.FileAccess) (*os.Root, string, *fileRequest, error) {
	access := s.attempt.Agent.ACP.Files
	if access != ir.FilesWrite && access != least {
		return nil, "", nil, &wireError{Code: methodNotFound, Message: "flowrun does not offer it"}
	}
	q := &fileRequest{}
	if err := json.Unmarshal(params, q); err != nil {
		return nil, "", nil, &wireError{Code: invalidParams, Message: err.Error()}
	}
	rel, err := filepath.Rel(s.dir, q.Path)
	if !filepath.IsAbs(q.Path) || err != nil || !filepath.IsLocal(rel) {
		return nil, "", nil, &wireError{Code: invalidParams, Message: fmt.Sprintf("%.200q is not a path below %s", q.Path, s.dir)}
	}
	root, err := os.OpenRoot(s.dir)
	return root, rel, q, err
}

// readFile reads lines of a text file.
func (s *session) readFile(params json.RawMessage) (any, error) {
	root, name, q, err := s.open(params, ir.FilesRead)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%s is not text", name)
	}
	s.report("progress", "reads "+name)
	return map[string]any{"content": lines(string(text), q.Line, q.Limit)}, nil
}

// lines cuts a text to some of its lines.
func lines(text string, first, limit int) string {
	if first <= 1 && limit <= 0 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	all = all[min(max(first-1, 0), len(all)):]
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return strings.Join(all, "")
}

// writeFile writes a text file, and the folders above it.
func (s *session) writeFile(params json.RawMessage) (any, error) {
	root, name, q, err := s.open(params, ir.FilesWrite)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if len(q.Content) > maxFile {
		return nil, fmt.Errorf("the content has more than %d bytes", maxFile)
	}
	if folder := filepath.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o777); err != nil {
			return nil, err
		}
	}
	if err := root.WriteFile(name, []byte(q.Content), 0o666); err != nil {
		return nil, err
	}
	s.report("progress", "writes "+name)
	return map[string]any{}, nil
}
