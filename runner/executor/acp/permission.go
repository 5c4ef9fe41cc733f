package acp

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/executor"
)

// tool is one use of a tool, as far as the agent has told of it.
type tool struct {
	ID        string     `json:"toolCallId"`
	Title     string     `json:"title"`
	Kind      string     `json:"kind"`
	Status    string     `json:"status"`
	Locations []location `json:"locations"`

	diffs []string // files that it changes
}

type location struct {
	Path string `json:"path"`
}

// line tells of the use in a line.
func (t *tool) line() string {
	parts := []string{t.Title}
	if t.Title == "" {
		parts[0] = t.Kind
	}
	if t.Status != "" {
		parts = append(parts, "("+strings.ReplaceAll(t.Status, "_", " ")+")")
	}
	return strings.Join(parts, " ")
}

// know adds what an agent tells of the use of a tool to what is known of it.
func (s *session) know(t *tool, content json.RawMessage) *tool {
	known := s.tools[t.ID]
	if known == nil {
		if len(s.tools) >= maxTools {
			return nil
		}
		known = &tool{ID: t.ID}
		s.tools[t.ID] = known
	}
	for _, f := range []struct {
		to  *string
		now string
	}{{&known.Title, t.Title}, {&known.Kind, t.Kind}, {&known.Status, t.Status}} {
		if f.now != "" {
			*f.to = executor.Clip(f.now, 500)
		}
	}
	if t.Locations != nil {
		known.Locations = t.Locations
	}
	var list []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	if json.Unmarshal(content, &list) == nil {
		for _, c := range list {
			if c.Type == "diff" && !slices.Contains(known.diffs, c.Path) {
				known.diffs = append(known.diffs, c.Path)
			}
		}
	}
	return known
}

// permit answers whether the agent may use a tool.
func (s *session) permit(params json.RawMessage) (any, error) {
	var q struct {
		ToolCall json.RawMessage `json:"toolCall"`
		Options  []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	var t update
	if json.Unmarshal(params, &q) != nil || json.Unmarshal(q.ToolCall, &t) != nil {
		return nil, &wireError{Code: invalidParams, Message: "the question cannot be read"}
	}
	if s.ctx.Err() != nil {
		return outcome("", true), nil
	}
	known := s.know(&t.tool, t.Content)
	allowed := known != nil && s.allows(known)
	wanted, said := []string{"reject_once", "reject_always"}, "denied: "
	if allowed {
		wanted, said = []string{"allow_once", "allow_always"}, "allowed: "
	}
	if known != nil {
		s.report("progress", said+known.line())
	}
	for _, kind := range wanted {
		for _, o := range q.Options {
			if o.Kind == kind {
				return outcome(o.ID, false), nil
			}
		}
	}
	return outcome("", true), nil // no way to say it
}

func outcome(option string, cancelled bool) any {
	if cancelled {
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// allows asks the rules of the file. The first that matches decides.
func (s *session) allows(t *tool) bool {
	kind := t.Kind
	if !slices.Contains(ir.ToolKinds, kind) {
		kind = "other"
	}
	for _, p := range s.attempt.Agent.ACP.Permissions {
		if (p.Kinds == nil || slices.Contains(p.Kinds, kind)) && (p.Paths == nil || s.matches(p.Paths, t)) {
			return p.Allow
		}
	}
	return false
}

// matches reports whether a tool names files, and each matches one of some patterns.
func (s *session) matches(patterns []string, t *tool) bool {
	var files []string
	for _, l := range t.Locations {
		files = append(files, l.Path)
	}
	files = append(files, t.diffs...)
	for _, f := range files {
		rel, ok := s.inside(f)
		if !ok || !slices.ContainsFunc(patterns, func(p string) bool { return matchPath(p, rel) }) {
			return false
		}
	}
	return len(files) > 0
}

// inside is a path relative to the folder of the attempt; ok is false outside of it. A file behind a link is where the link leads.
func (s *session) inside(file string) (rel string, ok bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.dir, file)
	}
	dir := resolved(s.dir)
	rel, err := filepath.Rel(dir, resolved(filepath.Clean(file)))
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// resolved follows the links of a path, of which the end need not exist.
func resolved(file string) string {
	for at, rest := file, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return file
		}
		at, rest = parent, filepath.Join(filepath.Base(at), rest)
	}
}

// matchPath matches a path, part by part; ** stands for any number of parts.
func matchPath(pattern, file string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(file, "/"))
}

func matchParts(pattern, file []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			if len(pattern) == 1 {
				return true
			}
			for i := range file {
				if matchParts(pattern[1:], file[i:]) {
					return true
				}
			}
			return false
		}
		if len(file) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], file[0]); err != nil || !ok {
			return false
		}
		pattern, file = pattern[1:], file[1:]
	}
	return len(file) == 0
}
