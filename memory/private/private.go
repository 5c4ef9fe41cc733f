// Package private opens the files of a store the way files of a stranger are opened: a store may have come with a repository, or
// lie where somebody else put it.
//
// It knows files, their owners and modes, and git's index, and nothing of what a store holds. It must never import anything else of
// flowrun. The schema of a store's databases is compared in package schema below. The package lies below memory because the
// stores of runs and of the memory both need it, and runner may import from memory, but memory not from runner.
//
// What always holds:
//
//   - A folder that [Check] accepts belongs to this user (or root), nobody else may write to it, and what lies in it at the top
//     is a regular file with one name, or a folder. So nobody else can change that afterwards, and SQLite may open its files by name.
//   - [Open] follows no link, waits for no fifo, and gives regular files with one name only.
//   - Nothing here writes, but for [Mkdir] and [MakeFolder].
//
// Enter at [Check]; [Inspect] lists everything for doctor; git.go tells what git tracks.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Problem is one reason not to use a store, or a file in it, and what to type.
type Problem struct {
	What string // a sentence without its full stop
	Fix  string // what to do, with commands of the system
	// OtherStore says that another store helps, too: the command line adds how to name it.
	OtherStore OtherStore
	All        bool // no command uses the store: [Check] refuses it
	Open       bool // [Open] refuses the file
}

// OtherStore says when another store helps.
type OtherStore uint8

// The cases. The zero value is that it does not help.
const (
	IfForeign   OtherStore = iota + 1 // if the store is not the user's; Fix is for a user whose store it is
	OrOtherUser                       // in place of Fix
)

// Refused says that a folder is not used as a store.
type Refused struct {
	Dir      string
	Problems []Problem // at least one
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("the store %s is refused: %s", r.Dir, r.Problems[0].What)
	if more := len(r.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text + "\n" + r.Problems[0].Fix
}

// Check refuses a store's folder with a *Refused. A folder that is not there is in order. dir itself may be a link: its name came
// from the user. It costs one system call for each file at the top of the folder, and a look into git's index.
func Check(dir string) error {
	problems, err := inspect(dir, false)
	if err == nil && len(problems) > 0 {
		err = &Refused{dir, problems}
	}
	return err
}

// Inspect lists what is wrong with a store's folder and with all that lies in it, at any depth.
func Inspect(dir string) ([]Problem, error) { return inspect(dir, true) }

func inspect(dir string, deep bool) (problems []Problem, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if tracked := Tracked(dir); tracked != "" {
		problems = append(problems, Problem{All: true, What: "git tracks " + tracked + " in it, so it came with the repository, or goes with it to others",
			Fix: fmt.Sprintf("git rm -r --cached %s, and commit that.", quote(dir)), OtherStore: IfForeign})
	}
	if p := problem(dir, info, true); p != nil {
		p.All = true
		return append(problems, *p), nil // one line mends the rest, too
	}
	return within(dir, true, deep, problems)
}

// within inspects what lies in a folder; top is that of the store.
func within(dir string, top, deep bool, problems []Problem) ([]Problem, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return problems, nil // opening what is needed tells
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return problems, err
		}
		if p := problem(path, info, false); p != nil {
			p.All = top
			problems = append(problems, *p)
		} else if deep && info.IsDir() {
			if problems, err = within(path, false, deep, problems); err != nil {
				return problems, err
			}
		}
		if strings.HasSuffix(path, "-journal") && info.Mode().IsRegular() && namesAnother(path) {
			problems = append(problems, Problem{All: top, What: path + " is a journal of SQLite that names another file, which SQLite would remove", Fix: mend(path, nil)})
		}
	}
	return problems, err
}

// problem tells what is wrong with a file or folder; top is that of the store.
func problem(path string, info fs.FileInfo, top bool) *Problem {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return &Problem{What: path + " is a symbolic link, and no link in a store is followed", Fix: mend(path, errLink), Open: true}
	case !mode.IsRegular() && !mode.IsDir():
		return &Problem{What: path + " is neither a file nor a folder", Fix: mend(path, errNotRegular), Open: true}
	case !isOurs(info):
		return &Problem{What: fmt.Sprintf("%s belongs to %s", path, owner(info)), Fix: "Run flowrun as that user", OtherStore: OrOtherUser}
	case mode.IsRegular() && names(info) > 1:
		return &Problem{What: path + " has another name, perhaps outside of the store (a hard link)", Fix: mend(path, errLinks), Open: true}
	case mode.Perm()&0o022 != 0 && top:
		return &Problem{What: path + " can be written by others", Fix: "Look whether it is as you left it. Then keep others out: chmod -R go-w " + quote(path)}
	case mode.Perm()&0o022 != 0:
		return &Problem{What: path + " can be written by others", Fix: "Look whether it is as you left it. Then keep others out: chmod go-w " + quote(path)}
	}
	return nil
}

// Open is os.OpenFile for a private file: it follows no link, waits for nothing, and gives a regular file that has no other name.
// Folders are opened for reading only.
func Open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, refuse("open", path, errLink)
	}
	if errors.Is(err, syscall.ENXIO) { // a fifo that nobody reads, or a socket
		return nil, refuse("open", path, errNotRegular)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir() && flag == os.O_RDONLY:
	case !info.Mode().IsRegular():
		err = refuse("open", path, errNotRegular)
	case names(info) > 1:
		err = refuse("open", path, errLinks)
	case flag&os.O_TRUNC != 0:
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Why Open refuses a file.
var (
	errLink       = errors.New("it is a symbolic link, and no link in a store is followed")
	errLinks      = errors.New("it has another name, perhaps outside of the store (a hard link)")
	errNotRegular = errors.New("it is not a regular file")
	errOutside    = errors.New("it is not the name of a file in the store")
)

// refuse says why a file is not used, and what to type.
func refuse(op, path string, why error) error {
	return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("%w\n%s", why, mend(path, why))}
}

// mend says what to type about a file that is refused.
func mend(path string, why error) string {
	say := "Remove it: rm "
	switch why {
	case errLink:
		say = "Put the file itself in its place, or remove the link: rm "
	case errLinks:
		say = "Copy it to a separate file, or remove it: rm "
	}
	return say + quote(path)
}

// OpenBelow opens a file by its name below a store's folder. The name may come from the store itself.
func OpenBelow(dir, name string, flag int) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errOutside}
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, name[:i]))
		if err == nil && !info.IsDir() {
			err = refuse("open", filepath.Join(dir, name[:i]), errLink)
		}
		if err != nil {
			return nil, err
		}
	}
	return Open(filepath.Join(dir, name), flag)
}

// ReadFile reads a private file, of a longer one its first most bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// MakeFolder makes a store's folder, with those above it. One that is there and holds at most a .gitignore is taken over: nobody else
// may write to either then.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Mkdir(dir)
	}
	if err != nil || !info.IsDir() || !isOurs(info) || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	entries, err := os.ReadDir(dir)
	ignores := len(entries) == 1 && entries[0].Name() == gitignore && entries[0].Type().IsRegular()
	if err != nil || len(entries) > 0 && !ignores {
		return err
	}
	if err := os.Chmod(dir, info.Mode().Perm()&^0o022); err != nil || !ignores {
		return err
	}
	return keepOthersOut(filepath.Join(dir, gitignore))
}

// gitignore is the one file of a store that git may track. A clone has it, with the modes of the umask.
const gitignore = ".gitignore"

// keepOthersOut lets nobody else write to a private file.
func keepOthersOut(path string) error {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	return f.Chmod(info.Mode().Perm() &^ 0o022)
}

// Mkdir makes a folder that only its owner may enter, whatever the umask; one that is there is fine if it is not a link.
func Mkdir(path string) error {
	err := os.Mkdir(path, 0o700)
	if err == nil {
		return os.Chmod(path, 0o700)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = refuse("mkdir", path, errNotFolder)
	}
	return err
}

var errNotFolder = errors.New("it is not a folder")

// isOurs reports whether a file belongs to this user or to root, who may do everything anyway.
func isOurs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Uid == 0 || int(s.Uid) == os.Geteuid()
}

func owner(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("user %d, and you are user %d", s.Uid, os.Geteuid())
	}
	return "somebody else"
}

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(s.Nlink)
}

// journalMagic ends a journal of SQLite that names a super-journal: a file that SQLite reads, and removes, when it rolls back. No
// journal of ours names one. https://www.sqlite.org/fileformat2.html#the_rollback_journal, and writeSuperJournal in SQLite's pager.c.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// namesAnother also says false of a journal that another process removes or shortens meanwhile: SQLite does that to its own journals.
func namesAnother(path string) bool {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return true
	}
	if info.Size() < 16 {
		return false
	}
	var end [8]byte
	_, err = f.ReadAt(end[:], info.Size()-int64(len(end)))
	if err != nil {
		return !errors.Is(err, io.EOF)
	}
	return string(end[:]) == journalMagic
}

// quote writes a path for a shell.
func quote(path string) string {
	plain := strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%") == ""
	if plain && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
