package disk

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
)

// Blanked gives the files of a folder, with blanks for what matches in those of the language. Lengths and lines stay as they are.
type Blanked struct {
	fs.FS
	What *regexp.Regexp
	Most int64 // the limit of a file, in bytes: one byte more is read
}

// Open implements fs.FS.
func (b Blanked) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || filepath.Ext(name) != ".hcl" {
		return f, err
	}
	return &blankedFile{File: f, of: b}, nil
}

type blankedFile struct {
	fs.File
	of   Blanked
	text *bytes.Reader
}

func (f *blankedFile) Read(p []byte) (int, error) {
	if f.text == nil {
		text, err := io.ReadAll(io.LimitReader(f.File, f.of.Most+1))
		if err != nil {
			return 0, err
		}
		f.text = bytes.NewReader(f.of.What.ReplaceAllFunc(text, func(line []byte) []byte { return bytes.Repeat([]byte{' '}, len(line)) }))
	}
	return f.text.Read(p)
}
