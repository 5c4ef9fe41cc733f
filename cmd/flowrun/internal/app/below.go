package app

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dsl"
)

// below is a folder that confines paths: a link that leads out of the folder is not followed.
type below string

// Open implements fs.FS.
func (b below) Open(name string) (fs.File, error) {
	r, err := os.OpenRoot(string(b))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Open(name)
}

// Stat implements fs.StatFS, so that Stat opens nothing: opening a pipe would wait for its other
// end.
func (b below) Stat(name string) (fs.FileInfo, error) {
	r, err := os.OpenRoot(string(b))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Stat(name)
}

// within lets a program read files of the repository around its folder, or of the folder if there
// is no repository.
func within(dir string, opts dsl.Options) dsl.Options {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return opts
	}
	root := repository(whole)
	if root == "" {
		root = whole
	}
	if at, err := filepath.Rel(root, whole); err == nil {
		opts.Root, opts.Dir = below(root), filepath.ToSlash(at)
	}
	return opts
}
