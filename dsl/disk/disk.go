// Package disk finds programs on the disk: the file or folder that a person names, the programs below a folder, and the repository around
// them.
//
// Package dsl reads programs from a file system, whatever it is; this package gives it the disk, and confines what a program may read
// to the repository around it. It knows no command and no run. Enter at [Open] and [Programs].
package disk

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dsl"
)

// Open returns the place that the program at a path is read from: a file system, the program's name in it, and o with the files that the
// program may read. The name of a file in messages begins with the path.
func Open(path string, o dsl.Options) (fsys fs.FS, name string, _ dsl.Options) {
	dir, name := filepath.Clean(path), "."
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		dir, name = filepath.Dir(path), filepath.Base(path)
	}
	o.Name = func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	return os.DirFS(dir), filepath.ToSlash(name), within(dir, o)
}

// within lets a program read files of the repository around its folder, or of the folder if there
// is not a repository.
func within(dir string, o dsl.Options) dsl.Options {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return o
	}
	root := Repository(whole)
	if root == "" {
		root = whole
	}
	if at, err := filepath.Rel(root, whole); err == nil {
		o.Root, o.Dir = below(root), filepath.ToSlash(at)
	}
	return o
}

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

// Folder returns the absolute folder of a file, or a folder itself.
func Folder(path string) (string, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return dir, nil
}

// Repository returns the nearest folder upwards that holds a .git (a folder, or the file of a work
// tree), or "".
func Repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Short writes a path relative to the current folder if the path lies below it.
func Short(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
