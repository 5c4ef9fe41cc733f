package local

import (
	"errors"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// faultyDisk is the disk under one store, with what has been synced kept apart from what has only been written. It sees the
// writes, truncations and syncs of SQLite and of our own files alike, and breaks them on demand.
//
// The model of the disk: a sync makes durable what was written to that file before, and nothing else does. Of the rest any
// set of sectors may be on the disk when the power goes. After a sync that failed, what it should have written counts as
// written and is on the disk in part at best; the next sync says yes. A new file's name is durable once the folder is synced,
// which SQLite does with the first sync of its log.
type faultyDisk struct {
	dir    string
	mu     sync.Mutex
	random *rand.Rand
	shadow map[string]*shadow

	ops, syncs int // so far
	// failSync is the number of the sync that fails, cutAt that of the operation before which the power goes; 0: none.
	failSync, cutAt int
	failed          string // the file whose sync failed
	onFailure       func()
	cached          map[string][]byte  // the files as the kernel shows them after the failure
	held            map[string]*shadow // and as the disk has them
	// half lets a random half of what was not synced reach the disk; else nothing of it does.
	half bool
	// room is how many more bytes files may grow by; negative: any number.
	room    int64
	refused int // writes for which there was no room
	image   map[string][]byte
}

const sectorSize = 512

// shadow is one file as the disk has it.
type shadow struct {
	durable []byte
	named   bool // its name is durable
	pending []pending
	size    int64 // with what is pending
}

// pending is a write or, with nil bytes, a truncation that was not synced yet.
type pending struct {
	at    int64
	bytes []byte
}

func newFaultyDisk(t testing.TB, dir string, seed int64) *faultyDisk {
	d := &faultyDisk{dir: dir, random: rand.New(rand.NewSource(seed)), shadow: map[string]*shadow{}, room: -1}
	standBetween(t, dir, d)
	return d
}

// option is what a store is opened with to lie on this disk.
func (d *faultyDisk) option() *disk {
	return &disk{files: faultyFiles{d}, sqlite: faultyFS, checkpoint: 20}
}

var errPower = errors.New("the power is gone")

// look finds a file's shadow, or makes it from what the file holds. It is called with the lock held.
func (d *faultyDisk) look(path string) *shadow {
	s := d.shadow[path]
	if s == nil {
		b, err := os.ReadFile(path)
		s = &shadow{durable: b, named: err == nil && len(b) > 0, size: int64(len(b))}
		d.shadow[path] = s
	}
	return s
}

// step counts an operation, and cuts the power where it is due.
func (d *faultyDisk) step() error {
	if d.ops++; d.cutAt > 0 && d.ops >= d.cutAt && d.image == nil {
		d.image = d.remains()
	}
	if d.image != nil {
		return errPower
	}
	return nil
}

// remains is what the disk holds without power.
func (d *faultyDisk) remains() map[string][]byte {
	image := map[string][]byte{}
	for path, s := range d.shadow {
		if strings.HasSuffix(path, "-shm") || !s.named && (!d.half || d.random.Intn(2) == 0) {
			continue
		}
		image[path] = d.settle(s)
	}
	return image
}

// settle is a file after what was not synced has been lost, or half of it.
func (d *faultyDisk) settle(s *shadow) []byte {
	b := append([]byte(nil), s.durable...)
	if !d.half {
		return b
	}
	for _, p := range s.pending {
		if p.bytes == nil {
			if d.random.Intn(2) == 0 {
				b = resize(b, p.at)
			}
			continue
		}
		for from := int64(0); from < int64(len(p.bytes)); {
			to := min((p.at+from)/sectorSize*sectorSize+sectorSize-p.at, int64(len(p.bytes)))
			if d.random.Intn(2) == 0 {
				b = put(b, p.at+from, p.bytes[from:to])
			}
			from = to
		}
	}
	return b
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

func put(b []byte, at int64, what []byte) []byte {
	if end := at + int64(len(what)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[at:], what)
	return b
}

func (d *faultyDisk) doWrite(path string, b []byte, at int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	s := d.look(path)
	if more := at + int64(len(b)) - s.size; more > 0 {
		if d.room >= 0 && more > d.room {
			d.refused++
			return syscall.ENOSPC
		}
		if d.room >= 0 {
			d.room -= more
		}
		s.size += more
	}
	s.pending = append(s.pending, pending{at, append([]byte{}, b...)})
	return nil
}

func (d *faultyDisk) doTruncate(path string, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	s := d.look(path)
	d.free(s.size - size)
	s.size = size
	s.pending = append(s.pending, pending{at: size})
	return nil
}

// free gives room back.
func (d *faultyDisk) free(n int64) {
	if d.room >= 0 {
		d.room += n
	}
}

func (d *faultyDisk) doSync(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	d.syncs++
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if d.syncs == d.failSync {
			return d.fail(path)
		}
		return d.syncNames(path)
	}
	s := d.look(path)
	if d.syncs == d.failSync {
		s.durable, s.pending = d.settle(s), nil
		return d.fail(path)
	}
	for _, p := range s.pending {
		if p.bytes == nil {
			s.durable = resize(s.durable, p.at)
		} else {
			s.durable = put(s.durable, p.at, p.bytes)
		}
	}
	s.pending = nil
	if strings.HasSuffix(path, "-wal") && !s.named {
		return d.syncNames(filepath.Dir(path))
	}
	return nil
}

// fail is the failure of a sync. What the kernel shows of the files is kept.
func (d *faultyDisk) fail(path string) error {
	d.failed, d.cached, d.held = path, map[string][]byte{}, map[string]*shadow{}
	for at, s := range d.shadow {
		copied := *s
		copied.durable, copied.pending = slices.Clone(s.durable), slices.Clone(s.pending)
		d.held[at] = &copied
		d.cached[at], _ = os.ReadFile(at)
	}
	if d.onFailure != nil {
		d.onFailure()
	}
	return syscall.EIO
}

func (d *faultyDisk) hasFailed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed != ""
}

// takeOver fills this disk's folder with what the kernel shows of another's, and knows of each file what the other's disk held
// when its sync failed.
func (d *faultyDisk) takeOver(t testing.TB, old *faultyDisk) {
	restore(t, old.dir, d.dir, old.cached)
	for path, s := range old.held {
		copied := *s
		copied.durable, copied.pending = slices.Clone(s.durable), slices.Clone(s.pending)
		d.shadow[filepath.Join(d.dir, strings.TrimPrefix(path, old.dir))] = &copied
	}
}

func (d *faultyDisk) syncNames(folder string) error {
	for path, s := range d.shadow {
		s.named = s.named || filepath.Dir(path) == folder
	}
	return nil
}

func (d *faultyDisk) gone(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.shadow[path]; s != nil {
		d.free(s.size)
		delete(d.shadow, path)
	}
}

// restore writes an image into a new folder.
func restore(t testing.TB, from, to string, image map[string][]byte) {
	t.Helper()
	for path, b := range image {
		rel, err := filepath.Rel(from, path)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(to, rel)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// As SQLite's files.

func (d *faultyDisk) opened(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(path)
}

func (d *faultyDisk) write(path string, b []byte, at int64) int32 {
	err := d.doWrite(path, b, at)
	if errors.Is(err, syscall.ENOSPC) {
		return sqlite3.SQLITE_FULL
	}
	return code(err, sqlite3.SQLITE_IOERR_WRITE)
}

func (d *faultyDisk) truncate(path string, size int64) int32 {
	return code(d.doTruncate(path, size), sqlite3.SQLITE_IOERR_TRUNCATE)
}

func (d *faultyDisk) sync(path string) int32 { return code(d.doSync(path), sqlite3.SQLITE_IOERR_FSYNC) }

func (d *faultyDisk) deleted(path string) { d.gone(path) }

func code(err error, of int32) int32 {
	if err != nil {
		return of
	}
	return sqlite3.SQLITE_OK
}

// As our own files.

type faultyFiles struct{ d *faultyDisk }

func (f faultyFiles) open(path string, flag int) (file, error) {
	real, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := real.Stat(); err == nil && !info.IsDir() {
		f.d.opened(path)
	}
	return &faultyFile{real, path, f.d, 0}, nil
}

func (f faultyFiles) remove(path string) error {
	err := os.Remove(path)
	if err == nil {
		f.d.gone(path)
	}
	return err
}

func (f faultyFiles) room(string) (uint64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.room < 0 {
		return 1 << 40, nil
	}
	return uint64(f.d.room), nil
}

// rename is durable with the next sync of the folder; before it the disk knows the old name. Both were synced by then.
func (f faultyFiles) rename(from, to string) error {
	err := os.Rename(from, to)
	if err == nil {
		f.d.mu.Lock()
		defer f.d.mu.Unlock()
		f.d.shadow[to] = f.d.look(from)
		f.d.shadow[to].named = false
		delete(f.d.shadow, from)
	}
	return err
}

type faultyFile struct {
	real *os.File
	path string
	d    *faultyDisk
	at   int64
}

func (f *faultyFile) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

func (f *faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.d.doWrite(f.path, b, at); err != nil {
		return 0, &fs.PathError{Op: "write", Path: f.path, Err: err}
	}
	return f.real.WriteAt(b, at)
}

func (f *faultyFile) Sync() error {
	if err := f.d.doSync(f.path); err != nil {
		return &fs.PathError{Op: "sync", Path: f.path, Err: err}
	}
	return nil
}

func (f *faultyFile) Chmod(m fs.FileMode) error { return f.real.Chmod(m) }
func (f *faultyFile) Close() error              { return f.real.Close() }
