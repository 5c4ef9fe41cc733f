package dsl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/expr"
)

// Bounds of file("PATH").
const (
	// MaxText bounds one file: what an expression can make.
	MaxText = expr.MaxStringBytes
	// MaxTexts bounds all of them, because they are stored with every run.
	MaxTexts = 16 << 20
)

// texts reads what file("PATH") stands for: below the root, from the folder of the program.
type texts struct {
	root fs.FS
	dir  string
	read int
}

// reader is what the checker reads files with.
func (o Options) reader(fsys fs.FS, name string) func(string) (string, error) {
	t := &texts{root: o.Root, dir: o.Dir}
	if t.root == nil {
		t.root, t.dir = fsys, "."
		if info, err := fs.Stat(fsys, name); err == nil && !info.IsDir() {
			t.dir = path.Dir(name)
		} else {
			t.dir = name
		}
	}
	return t.file
}

// file reads one file. An error is a sentence without its full stop.
func (t *texts) file(name string) (string, error) {
	if path.IsAbs(name) || strings.ContainsAny(name, "\\\x00") {
		return "", errors.New("the path is written from the program's folder, with slashes: \"prompts/review.md\"")
	}
	at := path.Join(t.dir, name)
	if name == "" || !fs.ValidPath(at) {
		return "", errors.New("it lies outside of the repository; what a program reads lies inside, so that who has one has the other")
	}
	info, err := fs.Stat(t.root, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no such file; the path is taken from the program's folder")
	case err != nil:
		return "", fmt.Errorf("the system says: %w", cause(err))
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case info.Size() > MaxText:
		return "", fmt.Errorf("it has %d bytes, and a text may have at most %d", info.Size(), MaxText)
	}
	f, err := t.root.Open(at)
	if err != nil {
		return "", fmt.Errorf("the system says: %w", cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	switch t.read += len(data); {
	case err != nil:
		return "", fmt.Errorf("the system says: %w", cause(err))
	case len(data) > MaxText:
		return "", fmt.Errorf("it has more than %d bytes", MaxText)
	case t.read > MaxTexts:
		return "", fmt.Errorf("with it, the files of the program have more than %d bytes", MaxTexts)
	case !utf8.Valid(data):
		return "", errors.New("it is not text in UTF-8")
	}
	return string(data), nil
}

// cause is an error of the file system without the path, which the message has.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
