package private

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Tracked gives a file below a store's folder that git tracks, or "". What cannot be read tracks nothing.
//
// It reads git's index itself, up to where the store's files would stand: the entries are sorted, so for .flowrun at the root of a
// repository that is its beginning, however large it is. A .gitignore of the store may be tracked: it says nothing of where the rest
// comes from.
func Tracked(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return ""
	}
	root, git := repository(dir)
	if root == "" {
		return ""
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return ""
	}
	prefix := filepath.ToSlash(rel)
	if prefix == "." {
		prefix = ""
	}
	if name := trackedIn(filepath.Join(git, "index"), prefix); name != "" {
		return name
	}
	shared, _ := filepath.Glob(filepath.Join(git, "sharedindex.*")) // of a split index
	for _, path := range shared {
		if name := trackedIn(path, prefix); name != "" {
			return name
		}
	}
	return ""
}

// repository finds the nearest work tree upwards, and its git folder, which a .git file may name.
func repository(dir string) (root, git string) {
	for {
		at := filepath.Join(dir, ".git")
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return dir, at
		} else if err == nil && info.Mode().IsRegular() {
			b, err := os.ReadFile(at)
			to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
			if err != nil || !ok {
				return "", ""
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			return dir, to
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}

// maxName bounds the names in an index.
const maxName = 16 << 10

var errIndex = errors.New("the index cannot be read")

// trackedIn looks through one index. prefix is the store's folder below the root, "" for the root itself.
func trackedIn(path, prefix string) (found string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // git's own file: it may be a link
	if err != nil {
		return ""
	}
	defer f.Close()
	eachEntry(bufio.NewReaderSize(f, maxName), func(name string) bool {
		below := name
		if prefix != "" {
			var in bool
			if below, in = strings.CutPrefix(name, prefix); in && below != "" && below[0] != '/' {
				in = false
			}
			if !in {
				return name <= prefix+"/" // else it has passed the store
			}
			below = strings.TrimPrefix(below, "/")
		}
		if below == gitignore {
			return true
		}
		if prefix != "" || ofStore(below) {
			found = name
		}
		return found == ""
	})
	return found
}

// ofStore reports whether a name at the root of a repository is one by which a store is known.
func ofStore(name string) bool {
	return name == "store" || strings.HasSuffix(name, ".db") && !strings.Contains(name, "/")
}

// eachEntry gives the names in an index of version 2, 3 or 4, until each says false:
// https://git-scm.com/docs/index-format.
func eachEntry(r *bufio.Reader, each func(name string) bool) error {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:4]) != "DIRC" {
		return errIndex
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 {
		return errIndex
	}
	fixed, err := fixedSize(r, version)
	if err != nil {
		return err
	}
	entry, name := make([]byte, fixed), ""
	for range count {
		if _, err := io.ReadFull(r, entry); err != nil {
			return errIndex
		}
		size := fixed
		if flags := binary.BigEndian.Uint16(entry[fixed-2:]); flags&0x4000 != 0 { // extended
			if _, err := r.Discard(2); err != nil {
				return errIndex
			}
			size += 2
		}
		keep := 0
		if version == 4 { // all but so many bytes of the name before
			strip, err := offset(r)
			if err != nil || strip > len(name) {
				return errIndex
			}
			keep = len(name) - strip
		}
		rest, err := r.ReadSlice(0)
		if err != nil {
			return errIndex
		}
		name = name[:keep] + string(rest[:len(rest)-1])
		if size += len(rest) - 1; version < 4 { // NULs up to a multiple of eight, one of which was read
			if _, err := r.Discard(8 - size%8 - 1); err != nil {
				return errIndex
			}
		}
		if !each(name) {
			return nil
		}
	}
	return nil
}

// fixedSize is how long an entry is before its name: times, device, inode, mode, owner, size, hash and flags. Which hash a repository
// has stands in its settings; here the length of the first name tells, which is the low part of the flags.
func fixedSize(r *bufio.Reader, version uint32) (int, error) {
	for _, size := range []int{62, 74} { // SHA-1, SHA-256
		b, _ := r.Peek(size)
		if len(b) < size {
			break
		}
		flags, at := int(binary.BigEndian.Uint16(b[size-2:])), size
		if flags&0x4000 != 0 {
			at += 2
		}
		if version == 4 {
			at++
		}
		length := flags & 0xfff
		if b, _ = r.Peek(at + length + 1); len(b) > at+length && bytes.IndexByte(b[at:], 0) == length {
			return size, nil
		}
	}
	return 0, errIndex
}

// offset reads a number as git's packs and indexes write it.
func offset(r *bufio.Reader) (int, error) {
	b, err := r.ReadByte()
	n := int(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if b, err = r.ReadByte(); n > maxName {
			return 0, errIndex
		}
		n = (n+1)<<7 | int(b&0x7f)
	}
	return n, err
}
