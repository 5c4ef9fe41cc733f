package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/scripts"
)

// Bounds of the files that are hashed when a run starts. Other files that steps run are not compared later.
const (
	MaxScripts    = 100
	MaxScriptSize = 1 << 20 // in bytes
)

// Script is a file that a step of a run runs, compared with the file as it was when the run began.
type Script struct {
	Path    string `json:"path"`    // relative to the directory of the run
	Changed bool   `json:"changed"` // also if the file does not exist now
}

// hostStart starts a run, and keeps the hashes of the files that its steps run beside its source.
func (s *Service) hostStart(ctx context.Context, start engine.Start) (string, error) {
	if p, err := s.programs.Load(start.Header.Definition, start.Definition); err == nil && start.First.Dir != "" {
		if w := p.Workflow(start.First.Workflow); w != nil {
			if hashes := hashScripts(start.First.Dir, scripts.Of(p.Program, w)); len(hashes) > 0 {
				var b Source
				_ = json.Unmarshal(start.Source, &b) // a run without a source has an empty one
				b.Scripts = hashes
				start.Source = b.Encode()
			}
		}
	}
	return s.host.Start(ctx, start)
}

// hashScripts returns the hashes of files by their paths. Files that do not exist, and files beyond the bounds, are left out.
func hashScripts(dir string, uses []scripts.Use) map[string]string {
	hashes := map[string]string{}
	for _, u := range uses {
		if len(hashes) == MaxScripts {
			break
		}
		if hash := hashScript(filepath.Join(dir, filepath.FromSlash(u.Path))); hash != "" {
			hashes[u.Path] = hash
		}
	}
	return hashes
}

// hashScript returns the SHA-256 of a regular file of at most MaxScriptSize bytes; "" for others.
func hashScript(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxScriptSize {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, MaxScriptSize)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Scripts compares the files that the steps of a run run with what they were when the run began, in the order of the workflow.
func (s *Service) Scripts(ctx context.Context, run string) (list []Script, err error) {
	first, p, err := s.Beginning(ctx, run)
	if err != nil {
		return nil, err
	}
	b, err := s.SourceOf(ctx, run)
	w := p.Workflow(first.Workflow)
	if err != nil || w == nil || len(b.Scripts) == 0 {
		return nil, err
	}
	seen := map[string]bool{}
	for _, u := range scripts.Of(p.Program, w) {
		if was := b.Scripts[u.Path]; was != "" && !seen[u.Path] {
			seen[u.Path] = true
			list = append(list, Script{u.Path, hashScript(filepath.Join(first.Dir, filepath.FromSlash(u.Path))) != was})
		}
	}
	return list, nil
}
