package serve

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/standalone"
)

// The states of [DefinitionChanges].
const (
	FileSame    = "same"    // a run of the file as it is now would do the same
	FileChanged = "changed" // it would do something else
	FileGone    = "gone"
	FileBroken  = "broken"  // the file has errors now
	FileUnknown = "unknown" // the run does not know its file, or it cannot be read
)

// DefinitionChanges say how the file that a run began with differs today from the definition of the run.
type DefinitionChanges struct {
	Run      string        `json:"run"`
	Workflow string        `json:"workflow"`
	Path     string        `json:"path"`
	State    string        `json:"state"`
	Message  string        `json:"message,omitempty"` // the first error of a file that has errors
	Changes  ir.Difference `json:"changes"`           // what the workflow would do otherwise
	Files    []FileChange  `json:"files"`             // those whose text differs, by name
}

// FileChange is the difference of the text of a file, in the unified form.
type FileChange struct {
	Name string `json:"name"`
	Diff string `json:"diff"`
}

// CompareFile compares the definition of a run with the file that it began with, as the file is now.
func CompareFile(ctx context.Context, s *standalone.Store, run, release string) (DefinitionChanges, error) {
	pinned, err := s.Pinned(ctx, run)
	if err != nil {
		return DefinitionChanges{}, err
	}
	out := DefinitionChanges{Run: run, Workflow: pinned.Workflow.Name, State: FileUnknown, Changes: ir.Compare(nil, "", nil, ""), Files: []FileChange{}}
	source, err := s.SourceOf(ctx, run)
	if err != nil || source.Path == "" {
		return out, nil // a run that no command has started may have none
	}
	out.Path = source.Path
	info, err := os.Stat(source.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.State = FileGone
		return out, nil
	case err != nil, !info.IsDir() && !info.Mode().IsRegular(): // reading it might wait
		return out, nil
	}
	p, list := dsl.Load(disk.Open(source.Path, dsl.Options{Version: release}))
	was, now := byBase(source.Files), map[string]string{}
	for name, text := range p.Sources { // any order: it fills a map
		now[name] = string(text)
	}
	now = byBase(now)
	names := maps.Clone(was)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != now[name] {
			out.Files = append(out.Files, FileChange{name, string(diff.Diff("run/"+name, []byte(was[name]), "now/"+name, []byte(now[name])))})
		}
	}
	if list.HasErrors() {
		out.State = FileBroken
		for i := range list {
			out.Message = cmp.Or(out.Message, list[i].Summary)
		}
		return out, nil
	}
	out.Changes = ir.Compare(pinned.Program.Program, out.Workflow, p.IR, out.Workflow)
	if out.State = FileSame; !out.Changes.Same {
		out.State = FileChanged
	}
	return out, nil
}

// byBase gives files the last parts of their names, where those tell them apart: the names of sources depend on the folder from which they
// were read.
func byBase(files map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range files { // any order: it fills a map
		out[filepath.Base(name)] = text
	}
	if len(out) < len(files) {
		return files
	}
	return out
}

func (s *Server) changes(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	return CompareFile(r.Context(), s.daemon.store, info.Run, s.daemon.options.Release)
}
