// Package revision reads the files of a git revision as a file system, without a checkout.
//
// git lists the files once, and gives a file when the file is opened. So a large repository, or one whose old files are still on a server,
// costs what is read. Files are as git has them: no attribute of an archive or of a checkout changes them.
//
// The package knows no program and no screen. What always holds: a name or a revision is never taken for a flag of git. Enter at [Open].
package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// timeout bounds one call of git, which may take a file from a server.
	timeout = time.Minute
	// maxFile bounds a file in bytes. It is above each bound of what a program reads.
	maxFile = 64 << 20
	// maxLinks bounds how many links one after the other lead to a file.
	maxLinks = 8
)

// Files are the files of a revision. They implement [fs.FS] and [fs.ReadDirFS], and are not safe for concurrent use.
type Files struct {
	root    string // of the repository
	entries map[string]*entry
}

// entry is a file or a folder; a submodule is an empty folder.
type entry struct {
	name    string // the last part of its path
	mode    fs.FileMode
	object  string        // of a file or a link
	entries []fs.DirEntry // of a folder
	data    []byte        // nil: not read yet
}

// Unknown is the error of a revision that the repository does not have.
type Unknown struct{ Revision, Message string }

func (e *Unknown) Error() string { return e.Message }

// Open lists the files of a revision of the repository in a folder.
func Open(root, revision string) (*Files, error) {
	tree, err := git(root, "rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return nil, &Unknown{revision, err.Error()}
		}
		return nil, err
	}
	list, err := git(root, "ls-tree", "-r", "-z", "--full-tree", strings.TrimSpace(string(tree)))
	if err != nil {
		return nil, err
	}
	f := &Files{root, map[string]*entry{".": {name: ".", mode: fs.ModeDir}}}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about) // mode, type, object
		if len(words) != 3 || !fs.ValidPath(name) {
			continue // an empty tree
		}
		mode := fs.FileMode(0)
		switch words[0] {
		case "120000":
			mode = fs.ModeSymlink
		case "160000":
			mode = fs.ModeDir
		}
		f.add(name, &entry{name: path.Base(name), mode: mode, object: words[2]})
	}
	return f, nil
}

// add adds an entry, and the folders above it. git lists names in the order of their bytes, so entries come sorted, but for a folder a beside a
// file a.b.
func (f *Files) add(name string, e *entry) {
	f.entries[name] = e
	dir := path.Dir(name)
	above := f.entries[dir]
	if above == nil {
		above = &entry{name: path.Base(dir), mode: fs.ModeDir}
		f.add(dir, above)
	}
	above.entries = append(above.entries, e)
}

// git returns what git prints. The error has the words of git.
func git(root string, words ...string) ([]byte, error) {
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, "git", words...)
	c.Dir, c.Env = root, append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, fmt.Errorf("git %s: %w", words[0], err)
	}
	return out.Bytes(), nil
}

// Open implements [fs.FS].
func (f *Files) Open(name string) (fs.File, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{entry: e, Reader: bytes.NewReader(e.data)}, nil
}

// find returns the file or folder that a path leads to. A link leads to another one of the revision, but is not followed in the middle of a path.
func (f *Files) find(name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	for range maxLinks {
		e := f.entries[name] // nil for a link that leads out of the repository
		if e == nil || e.mode.IsDir() {
			break
		}
		if err := f.read(e); err != nil || e.mode.IsRegular() {
			return e, err
		}
		if path.IsAbs(string(e.data)) {
			return nil, fs.ErrNotExist
		}
		name = path.Join(path.Dir(name), string(e.data))
	}
	if e := f.entries[name]; e != nil && e.mode.IsDir() {
		return e, nil
	}
	return nil, fs.ErrNotExist
}

// read takes the content of a file from git.
func (f *Files) read(e *entry) (err error) {
	if e.data != nil {
		return nil
	}
	size, err := git(f.root, "cat-file", "-s", e.object)
	if err != nil {
		return err
	}
	var bytes int64
	if _, err := fmt.Sscan(string(size), &bytes); err != nil || bytes > maxFile {
		return fmt.Errorf("a file with %d bytes exceeds %d", bytes, maxFile)
	}
	e.data, err = git(f.root, "cat-file", "blob", e.object)
	if e.data == nil && err == nil {
		e.data = []byte{}
	}
	return err
}

// ReadDir implements [fs.ReadDirFS].
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	list := slices.Clone(e.entries)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// file is an open file or folder.
type file struct {
	*entry
	io.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *file) Close() error               { return nil }

// An entry is what [fs.FileInfo] and [fs.DirEntry] say of it. A revision has no times of files.
func (e *entry) Name() string               { return e.name }
func (e *entry) Size() int64                { return int64(len(e.data)) }
func (e *entry) Mode() fs.FileMode          { return e.mode }
func (e *entry) Type() fs.FileMode          { return e.mode.Type() }
func (e *entry) ModTime() time.Time         { return time.Time{} }
func (e *entry) IsDir() bool                { return e.mode.IsDir() }
func (e *entry) Sys() any                   { return nil }
func (e *entry) Info() (fs.FileInfo, error) { return e, nil }
