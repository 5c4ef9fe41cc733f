package dsl

import (
	"io/fs"

	"github.com/flowrun/flowrun/dsl/diag"
)

// File is one file of a program, as it lies on the disk.
type File struct {
	Name string // as diagnostics call it
	Data []byte // at most one byte more than the limit of a file
}

// Files reads the files that [Load] would read, and the tests in a folder, and leaves them as they are. A file that cannot be read is a
// finding.
func Files(fsys fs.FS, path string, opts Options) ([]File, diag.List) {
	texts, list := files(fsys, path, opts)
	for _, name := range testsIn(fsys, path) {
		data, err := readFile(fsys, name, opts)
		if err != nil {
			list = append(list, unreadable(opts.show(name), err))
			continue
		}
		texts = append(texts, text{opts.show(name), data})
	}
	out := make([]File, len(texts))
	for i, t := range texts {
		out[i] = File{t.name, t.data}
	}
	return out, list
}
