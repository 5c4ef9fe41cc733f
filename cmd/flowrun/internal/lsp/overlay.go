package lsp

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Overlay is a file system in which open texts replace the files below a folder, or join them. Dir is the folder's absolute path; the
// texts have absolute paths.
func Overlay(below fs.FS, dir string, open map[string][]byte) fs.FS {
	o := overlay{FS: below, texts: map[string][]byte{}}
	for file, data := range open {
		if name, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(name) {
			o.texts[filepath.ToSlash(name)] = data
		}
	}
	return o
}

type overlay struct {
	fs.FS
	texts map[string][]byte
}

func (o overlay) Open(name string) (fs.File, error) {
	if data, ok := o.texts[name]; ok {
		return &openText{Reader: bytes.NewReader(data), textInfo: textInfo{path.Base(name), len(data)}}, nil
	}
	return o.FS.Open(name)
}

func (o overlay) Stat(name string) (fs.FileInfo, error) {
	if data, ok := o.texts[name]; ok {
		return textInfo{path.Base(name), len(data)}, nil
	}
	return fs.Stat(o.FS, name)
}

func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	for file, data := range o.texts { // any order: sorted below
		if path.Dir(file) == name && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(file) }) {
			entries, err = append(entries, fs.FileInfoToDirEntry(textInfo{path.Base(file), len(data)})), nil
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// openText is an open text as a file.
type openText struct {
	*bytes.Reader
	textInfo
}

func (f *openText) Stat() (fs.FileInfo, error) { return f.textInfo, nil }
func (f *openText) Close() error               { return nil }
func (f *openText) Size() int64                { return f.textInfo.Size() }

type textInfo struct {
	name string
	size int
}

func (i textInfo) Name() string       { return i.name }
func (i textInfo) Size() int64        { return int64(i.size) }
func (i textInfo) Mode() fs.FileMode  { return 0o444 }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) IsDir() bool        { return false }
func (i textInfo) Sys() any           { return nil }
