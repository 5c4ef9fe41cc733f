// Package artifact keeps the long parts of answers in files, so that a journal holds references and no long texts.
//
// # The design
//
// An answer has a part that is longer than limits.MaxInline: standard output, standard error, output or partial output. The host
// then writes all long parts of the answer to one file, and puts a reference (event.Artifact: hash and size) in their place. The
// answer has passed the executor by then, so it is masked. The file is written and synced before the answer can be journaled: an
// answer that the journal has always has its file.
//
// A file has the SHA-256 of its content as its name and lies in a folder of its run: artifacts/RUN/HASH. A folder for each run makes
// removal simple: nobody counts references. A retry writes what it reuses into files of the new run, many results to a file.
//
//   - Write: a new file, sync, rename, sync of the folder. A crash leaves a file that no journal names. Clean removes such files once
//     the run has ended, and Remove removes all files of a removed run.
//   - Read: on demand. A reader of a journal binds each reference to the folder of the run (event.Event.Bind). Fold gives the machine
//     whole answers, one at a time. The machine keeps the references, and reads a part again when an expression needs it. The hash is
//     checked at each read.
//   - Fail: if a file cannot be written, the parts stay in the answer, and the store says what is wrong with the disk. If a file is
//     missing or damaged, the run stops with its journal intact. The examination of a store finds such files.
//   - Old journals have no references and are read as before. A journal with references needs a release that knows them.
//
// The same holds for the outputs of a called run and for the data of an event that a run waits for. The inputs of a called run stay inline.
package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/event"
)

// Dir is the folder of the artifacts in a store. It has a folder for each run.
const Dir = "artifacts"

// MaxContent bounds a file that is read, in bytes: two streams and two values of 1 MiB, of which JSON escapes each byte.
const MaxContent = 64 << 20

// prefix begins the names of files that are being written.
const prefix = "new-"

// Disk are the operations that write.
type Disk interface {
	Open(path string, flag int) (File, error)
	Rename(from, to string) error
	Remove(path string) error
}

// File is an open file.
type File interface {
	io.WriteCloser
	Sync() error
}

// Store is the artifacts of a store. It is safe for concurrent use.
type Store struct {
	dir  string
	disk Disk
	last atomic.Int64 // number of a file that is being written
}

// New returns the artifacts of the store in a folder. Nothing is made before the first artifact is written. A nil disk reads only.
func New(store string, d Disk) *Store { return &Store{dir: filepath.Join(store, Dir), disk: d} }

// Run returns the artifacts of a run. The id must be one of a run.
func (s *Store) Run(id string) *Run { return &Run{store: s, dir: filepath.Join(s.dir, id)} }

// Run is the artifacts of one run.
type Run struct {
	store *Store
	dir   string
}

var _ event.Artifacts = (*Run)(nil)

// TakeReused replaces the long parts of what a run reuses by references, once they are durable. If they cannot be written, all parts
// stay where they are.
func (r *Run) TakeReused(s *event.RunStarted) error {
	whole := *s
	for _, p := range s.TakeReused() {
		a, err := r.Put(p)
		if err != nil {
			*s = whole
			return err
		}
		s.Results = append(s.Results, a)
	}
	return nil
}

// Put writes parts to a file, and returns a reference when the file is durable; see event.Shorten.
func (r *Run) Put(p *event.Parts) (*event.Artifact, error) {
	content, a, err := p.Encode()
	if err != nil {
		return nil, err
	}
	if len(content) > MaxContent {
		return nil, fmt.Errorf("an artifact of %d bytes is too large", len(content))
	}
	a.From = r
	return a, r.write(a.Hash, content)
}

func (r *Run) write(name string, content []byte) error {
	if err := r.makeFolder(); err != nil {
		return err
	}
	d := r.store.disk
	fresh := filepath.Join(r.dir, fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), r.store.last.Add(1)))
	f, err := d.Open(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(fresh, filepath.Join(r.dir, name))
	}
	if err != nil {
		_ = d.Remove(fresh) // else Clean does
		return err
	}
	return r.store.sync(r.dir)
}

// makeFolder makes the folder of the run, durably.
func (r *Run) makeFolder() error {
	if _, err := os.Lstat(r.dir); err == nil {
		return nil
	}
	if err := private.Mkdir(r.store.dir); err != nil {
		return err
	}
	if err := private.Mkdir(r.dir); err != nil {
		return err
	}
	return errors.Join(r.store.sync(r.store.dir), r.store.sync(filepath.Dir(r.store.dir)))
}

func (s *Store) sync(dir string) error {
	f, err := s.disk.Open(dir, os.O_RDONLY)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Load implements event.Artifacts.
func (r *Run) Load(a *event.Artifact) (*event.Parts, error) {
	content, err := r.read(a)
	if err != nil {
		return nil, err
	}
	return a.Decode(content)
}

// Check returns an error if an artifact is missing or damaged.
func (r *Run) Check(a *event.Artifact) error {
	content, err := r.read(a)
	if err != nil {
		return err
	}
	return a.Check(content)
}

func (r *Run) read(a *event.Artifact) ([]byte, error) {
	if !isHash(a.Hash) {
		return nil, fmt.Errorf("%.80q is not the hash of an artifact", a.Hash)
	}
	content, err := private.ReadFile(filepath.Join(r.dir, a.Hash), MaxContent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the artifact %.12s is missing", a.Hash)
	}
	return content, err
}

// isHash reports whether a text can be the name of an artifact. A journal of a stranger must not name other files.
func isHash(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// Size is the size of all artifacts of the run in bytes.
func (r *Run) Size() (bytes int64, err error) {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, file := range files {
		if info, err := file.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}

// Remove removes all artifacts of the run.
func (r *Run) Remove() error { return os.RemoveAll(r.dir) }

// RemoveOld removes all artifacts of the run if the last one was written longer ago than age.
func (r *Run) RemoveOld(age time.Duration) error {
	info, err := os.Lstat(r.dir)
	if err != nil || time.Since(info.ModTime()) < age {
		return nil
	}
	return r.Remove()
}

// Clean removes the files that the journal of the run does not name; named has their hashes. The run must have ended.
func (r *Run) Clean(named map[string]bool) error {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if !named[file.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(r.dir, file.Name())))
		}
	}
	return err
}

// Runs lists the ids of the runs that have artifacts.
func (s *Store) Runs() (ids []string, err error) {
	folders, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, folder := range folders {
		ids = append(ids, folder.Name())
	}
	return ids, err
}

// Copy copies all artifacts of a store to another store. Files of the same content stay as they are, and damaged files are replaced.
func (s *Store) Copy(to *Store) error {
	ids, err := s.Runs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.Run(id).copy(to.Run(id)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) copy(to *Run) error {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) { // the run was removed meanwhile
		return nil
	}
	for _, file := range files {
		a := &event.Artifact{Hash: file.Name()}
		if err != nil || !isHash(a.Hash) || to.Check(a) == nil {
			continue
		}
		var content []byte
		if content, err = private.ReadFile(filepath.Join(r.dir, a.Hash), MaxContent); errors.Is(err, fs.ErrNotExist) {
			err = nil
			continue
		}
		if err == nil {
			err = to.write(a.Hash, content)
		}
	}
	return err
}
