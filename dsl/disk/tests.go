package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dsl"
)

// NoTests is the error of a path that holds no tests. File tells that the path is a file.
type NoTests struct {
	Path string
	File bool
}

func (e *NoTests) Error() string {
	if e.File {
		return e.Path + " is no test file"
	}
	return "there is no test file in " + e.Path
}

// Tests lists the test files that paths mean: a file, those of a folder, or with DIR/... those of DIR and of every folder below DIR, but for
// hidden folders and those of installed packages. The error is a *NoTests for a path without any.
func Tests(paths []string) (out []string, err error) {
	for _, path := range paths {
		dir, all := strings.CutSuffix(path, "...")
		if all = all && (dir == "" || strings.HasSuffix(dir, "/")); all {
			path = filepath.Clean(dir)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if !dsl.IsTest(path) {
				return nil, &NoTests{path, true}
			}
			out = append(out, path)
			continue
		}
		root, before := filepath.Clean(path)+"/", len(out) // with its slash, a link to a folder is that folder
		err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(d.Name(), ".")
			switch {
			case err != nil:
				return err
			case p == root:
			case d.IsDir() && (!all || hidden || d.Name() == packages):
				return fs.SkipDir
			case !d.IsDir() && !hidden && dsl.IsTest(p):
				out = append(out, filepath.Clean(p))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, &NoTests{path, false}
		}
	}
	return out, nil
}
