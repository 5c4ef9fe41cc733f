package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// MaxFiles bounds the files of one program.
const MaxFiles = 10000

// text is a file that was read.
type text struct {
	name string
	data []byte
}

// files reads the file, or those of the folder.
func files(fsys fs.FS, name string, opts Options) (out []text, list diag.List) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, diag.List{unreadable(opts.show(name), err)}
	}
	paths := []string{name}
	if info.IsDir() {
		if paths, list = inFolder(fsys, name, opts.show(name)); list != nil {
			return nil, list
		}
	}
	for _, p := range paths {
		data, err := readFile(fsys, p, opts)
		if err != nil {
			list = append(list, unreadable(opts.show(p), err))
			continue
		}
		out = append(out, text{opts.show(p), data})
	}
	return out, list
}

// Codes of findings about files as a whole.
const (
	CodeUnreadable = "F0050" // a file or folder cannot be read, so nothing is known of what it says
	CodeNoFiles    = "F0051" // a folder has no files of a program
	CodeYAML       = "F0009" // a file looks like YAML
	CodeTwice      = "F0201" // a name is declared twice, maybe in two files of a folder
)

// inFolder lists the files of a program: *.flow.hcl if there are any, else *.hcl; never tests and hidden files.
func inFolder(fsys fs.FS, dir, shown string) ([]string, diag.List) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, diag.List{unreadable(shown, err)}
	}
	var flow, all []string
	for _, e := range entries {
		n := e.Name()
		if e.IsDir() || strings.HasPrefix(n, ".") || !strings.HasSuffix(n, ".hcl") || strings.HasSuffix(n, ".flowtest.hcl") {
			continue
		}
		all = append(all, path.Join(dir, n))
		if strings.HasSuffix(n, ".flow.hcl") {
			flow = append(flow, path.Join(dir, n))
		}
	}
	if len(flow) > 0 {
		all = flow
	}
	sort.Strings(all)
	switch {
	case len(all) == 0:
		return nil, diag.List{noFiles(shown, "A program is a file, or the *.flow.hcl (or *.hcl) files of a folder; subfolders are separate programs.")}
	case len(all) > MaxFiles:
		return nil, diag.List{{Code: "F0053", Subject: diag.Range{File: shown}, Summary: fmt.Sprintf("%d files in one program", len(all)),
			Detail: fmt.Sprintf("A program may have at most %d files. Divide it into folders.", MaxFiles)}}
	}
	return all, nil
}

// noFiles says that a folder has no program.
func noFiles(shown, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: CodeNoFiles, Subject: diag.Range{File: shown}, Summary: fmt.Sprintf("No workflow files in %s", shown), Detail: why}
}

// passedOver says that no file of a folder is ours, by the judgement of [Own].
func passedOver(shown string, files []text) diag.Diagnostic {
	what, word := files[0].name, "has"
	if n := len(files) - 1; n > 0 {
		what, word = fmt.Sprintf("%s and %d more %s", what, n, map[bool]string{true: "file", false: "files"}[n == 1]), "have"
	}
	return noFiles(shown, fmt.Sprintf("%s %s no block that only flowrun has, such as workflow, so flowrun leaves %s to other tools. "+
		"A file that is named, such as %s, is checked whatever it has.", what, word, map[bool]string{true: "it", false: "them"}[len(files) == 1], files[0].name))
}

var errNotFile = errors.New("it is neither a file nor a folder")

// readFile reads a regular file, and no more of it than the first byte beyond the bound: syntax says that it is too large.
func readFile(fsys fs.FS, name string, opts Options) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errNotFile
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := int64(opts.Limits.FileBytes())
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), most)) + bytes.MinRead) // so that it never grows again
	_, err = b.ReadFrom(io.LimitReader(f, most+1))
	return b.Bytes(), err
}

func unreadable(name string, err error) diag.Diagnostic {
	d := diag.Diagnostic{Code: CodeUnreadable, Subject: diag.Range{File: name}, Summary: fmt.Sprintf("Cannot read %s", name)}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	d.Detail = fmt.Sprintf("The system says: %v.", err)
	if errors.Is(err, fs.ErrNotExist) {
		d.Detail = "The file or folder does not exist."
	}
	return d
}

// noWorkflow says that a program declares nothing to run.
func noWorkflow(parsed []*syntax.File, path string) diag.Diagnostic {
	at := diag.Range{File: path}
	if len(parsed) > 0 {
		at = diag.Range{File: parsed[0].Name, Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Line: 1, Column: 1}}
	}
	summary := "Nothing in this program"
	for _, f := range parsed {
		if len(f.Body.Blocks) > 0 {
			summary = "No workflow found"
		}
	}
	return diag.Diagnostic{Code: "F0052", Subject: at, Summary: summary,
		Detail: "A program declares at least one:  workflow \"NAME\" { step \"NAME\" { run = [\"PROGRAM\"] } }, each block on lines of its own."}
}
