// Package watch finds the files that patterns name, and says how they stand.
//
// It asks the file system each time: a look works on every system and file system, and finds what has changed while nobody looked. Enter at
// [Look].
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// MaxFiles is how many files the patterns of one look may name.
const MaxFiles = 10_000

// maxEntries bounds the entries of folders that one look reads.
const maxEntries = 200_000

// State is how a file stands: two states are equal where nobody has written to the file in between.
type State struct {
	Size     int64 `json:"size"`     // in bytes
	Modified int64 `json:"modified"` // in nanoseconds since 1970
}

// Look returns the regular files that patterns name, by their paths. A pattern has / between its parts; a part is as in [path.Match], or **
// for any number of folders. A relative pattern begins in dir, and so do the paths of its files. ** goes into no folder through a symbolic
// link, and not into a folder .flowrun. A folder that is not there has no files; the error is that of one that cannot be read.
func Look(dir string, patterns []string) (map[string]State, error) {
	l := &look{dir: dir, files: map[string]State{}}
	for _, pattern := range patterns {
		root := ""
		if rest, absolute := strings.CutPrefix(pattern, "/"); absolute {
			root, pattern = "/", rest
		}
		if err := l.find(root, strings.Split(path.Clean(pattern), "/")); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

type look struct {
	dir     string
	files   map[string]State
	entries int
}

// whole is the path of a file for the system.
func (l *look) whole(at string) string {
	if strings.HasPrefix(at, "/") {
		return filepath.FromSlash(at)
	}
	return filepath.Join(l.dir, filepath.FromSlash(at))
}

// find looks below a folder for the rest of a pattern.
func (l *look) find(at string, parts []string) error {
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		return l.enter(path.Join(at, part), rest)
	}
	if part == "**" && len(rest) == 0 {
		rest = []string{"*"}
	}
	entries, err := os.ReadDir(l.whole(at))
	if l.entries += len(entries); l.entries > maxEntries {
		return fmt.Errorf("the patterns lead through more than %d files and folders", maxEntries)
	}
	if part == "**" {
		if err := l.find(at, rest); err != nil {
			return err
		}
	}
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		if part == "**" {
			if e.IsDir() && e.Name() != ".flowrun" {
				err = l.find(name, parts)
			}
		} else if fits, _ := path.Match(part, e.Name()); fits {
			err = l.enter(name, rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter goes on with the rest of a pattern in a folder, or takes a file.
func (l *look) enter(at string, rest []string) error {
	if len(rest) > 0 {
		return l.find(at, rest)
	}
	info, err := os.Stat(l.whole(at))
	if missing(err) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	if l.files[at] = (State{info.Size(), info.ModTime().UnixNano()}); len(l.files) > MaxFiles {
		return fmt.Errorf("the patterns name more than %d files", MaxFiles)
	}
	return nil
}

// missing reports whether an error says that there is no such file or folder.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
