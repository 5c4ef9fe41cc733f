package store

import (
	"errors"
	"flag"
	"math/rand"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/flowrun/flowrun/memory/entry"
)

var faults = flag.Int("faults", 40, "how often a write or a sync of SQLite's fails, each in a store of its own")

// faultyFS is the name under which SQLite knows its own file system, with writes and syncs that fail on demand.
const faultyFS = "flowrun-memory-faults"

// disk decides about each operation of every file of faultyFS; a result other than SQLITE_OK is what SQLite hears instead.
var disk struct {
	once    sync.Once
	mu      sync.Mutex
	real    uintptr                            // *Tsqlite3_vfs
	methods map[uintptr]methods                // by the address of SQLite's table: one for databases, one for other files
	files   map[uintptr]openFile               // by the address of SQLite's object
	fault   func(op, path string) (code int32) // nil: all goes well
}

type methods struct {
	table uintptr // ours
	real  *sqlite3.Tsqlite3_io_methods
}

type openFile struct {
	path string
	real *sqlite3.Tsqlite3_io_methods
}

func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func set[F any](field *uintptr, f F) { *(*F)(unsafe.Pointer(field)) = f }

func call[F any](field uintptr) F { return *(*F)(unsafe.Pointer(&field)) }

func inC[T any](tls *libc.TLS, v T) uintptr {
	address := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(v)))
	*at[T](address) = v
	return address
}

type (
	fnOpen  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	fnWrite = func(tls *libc.TLS, file, buf uintptr, n int32, at int64) int32
	fnSync  = func(tls *libc.TLS, file uintptr, flags int32) int32
	fnMap   = func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32
)

func failWith(t *testing.T, fault func(op, path string) int32) {
	t.Helper()
	disk.once.Do(func() {
		disk.files, disk.methods = map[uintptr]openFile{}, map[uintptr]methods{}
		tls := libc.NewTLS()
		name, err := libc.CString(faultyFS)
		if err != nil {
			t.Fatal(err)
		}
		disk.real = sqlite3.Xsqlite3_vfs_find(tls, 0)
		address := inC(tls, *at[sqlite3.Tsqlite3_vfs](disk.real))
		v := at[sqlite3.Tsqlite3_vfs](address)
		v.FzName, v.FpNext = name, 0
		set(&v.FxOpen, faultyOpen)
		if rc := sqlite3.Xsqlite3_vfs_register(tls, address, 0); rc != sqlite3.SQLITE_OK {
			t.Fatal("registering a file system:", rc)
		}
	})
	disk.mu.Lock()
	defer disk.mu.Unlock()
	disk.fault = fault
}

func faultyOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := call[fnOpen](at[sqlite3.Tsqlite3_vfs](disk.real).FxOpen)(tls, disk.real, name, file, flags, out)
	table := at[uintptr](file) // the first member of every file
	if rc != sqlite3.SQLITE_OK || name == 0 || *table == 0 {
		return rc
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	m, known := disk.methods[*table]
	if !known {
		m.real = at[sqlite3.Tsqlite3_io_methods](*table)
		m.table = inC(tls, *m.real)
		set(&at[sqlite3.Tsqlite3_io_methods](m.table).FxWrite, faultyWrite)
		set(&at[sqlite3.Tsqlite3_io_methods](m.table).FxSync, faultySync)
		set(&at[sqlite3.Tsqlite3_io_methods](m.table).FxShmMap, faultyMap)
		disk.methods[*table] = m
	}
	disk.files[file] = openFile{libc.GoString(name), m.real}
	*table = m.table
	return rc
}

func decide(op string, file uintptr) (*sqlite3.Tsqlite3_io_methods, int32) {
	disk.mu.Lock()
	defer disk.mu.Unlock()
	f := disk.files[file]
	if disk.fault == nil {
		return f.real, sqlite3.SQLITE_OK
	}
	return f.real, disk.fault(op, f.path)
}

func faultyWrite(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	real, rc := decide("write", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[fnWrite](real.FxWrite)(tls, file, buf, n, offset)
}

func faultySync(tls *libc.TLS, file uintptr, flags int32) int32 {
	real, rc := decide("sync", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[fnSync](real.FxSync)(tls, file, flags)
}

func faultyMap(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
	real, rc := decide("map", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[fnMap](real.FxShmMap)(tls, file, region, size, extend, out)
}

// TestAFaultOfTheDisk lets one write or sync fail, or all writes from then on for want of room, while a store is written to.
func TestAFaultOfTheDisk(t *testing.T) {
	steady(t)
	random := rand.New(rand.NewSource(5))
	count := map[string]int{}
	for i := range *faults {
		kind := []string{"full", "write", "sync"}[i%3]
		due, happened := random.Intn(400), 0
		failWith(t, func(op, path string) int32 {
			if due--; due >= 0 || kind == "sync" && op != "sync" || kind != "sync" && op != "write" || kind != "full" && happened > 0 {
				return sqlite3.SQLITE_OK
			}
			happened++
			return map[string]int32{"full": sqlite3.SQLITE_FULL, "write": sqlite3.SQLITE_IOERR_WRITE, "sync": sqlite3.SQLITE_IOERR_FSYNC}[kind]
		})
		dir := t.TempDir()
		acknowledged := writeUntilItFails(t, dir, kind, &happened)
		failWith(t, nil)
		if happened > 0 {
			count[kind]++
		}
		s := open(t, dir, Options{Warn: func(text string) { t.Errorf("case %d, %s: %s", i, kind, text) }})
		for _, id := range acknowledged {
			if _, found := s.State().Get(id); !found {
				t.Errorf("case %d, %s: %s was acknowledged and is lost", i, kind, id)
			}
		}
		goesOn(t, s)
	}
	if count["full"] == 0 || count["write"] == 0 || count["sync"] == 0 {
		t.Errorf("faults that happened: %v", count)
	}
	t.Logf("%v faults that happened, 0 acknowledged entries lost", count)
}

// writeUntilItFails gives what was acknowledged. A store that was full goes on where there is room again; after any other error
// it takes nothing more.
func writeUntilItFails(t *testing.T, dir, kind string, happened *int) (acknowledged []string) {
	s, err := Open(dir, Options{sqlite: faultyFS})
	if err != nil {
		return nil // the fault was early
	}
	defer s.Close()
	store := func(list []entry.Record) error {
		stored, err := s.Append(ctx, list...)
		for _, r := range stored {
			if r.Op == entry.Put {
				acknowledged = append(acknowledged, r.Entry.ID)
			}
		}
		return err
	}
	for from := 1; from < 600; from += 20 {
		err := store(records(from, 20))
		if err == nil {
			continue
		}
		if *happened == 0 {
			t.Errorf("%s: an error without a fault: %v", kind, err)
		}
		before := s.State().Last()
		if kind == "full" {
			if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "full") {
				t.Errorf("a full disk is said to be: %v", err)
			}
			failWith(t, nil)
			err = store(records(from, 20))
		} else if err = store(records(from, 20)); err == nil {
			t.Errorf("%s: after an error it takes records", kind)
		} else {
			err = nil
		}
		if err != nil || kind != "full" && s.State().Last() != before {
			t.Errorf("%s: %v", kind, err)
		}
		break
	}
	return acknowledged
}

// TestARebuildWithoutRoom shows what is left where the disk is too full for a fresh database, and takes nothing.
func TestARebuildWithoutRoom(t *testing.T) {
	images, was := stores(t)
	dir := images["closed"].write(t)
	overwrite(t, dir+"/"+databaseFile, 5*pageSize, make([]byte, pageSize))
	failWith(t, func(op, path string) int32 {
		if op == "write" {
			return sqlite3.SQLITE_FULL
		}
		return sqlite3.SQLITE_OK
	})
	defer failWith(t, nil)
	told := ""
	s := open(t, dir, Options{sqlite: faultyFS, Warn: func(text string) { told = text }})
	if !reflect.DeepEqual(s.State(), was) || !strings.Contains(told, "could not be rebuilt") {
		t.Errorf("%d records, %q", s.State().Last(), told)
	}
	if _, err := s.Append(ctx, put("new")); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) == 0 {
		t.Errorf("%+v %v", r, err)
	}
	s.Close()
	failWith(t, nil)
	again := open(t, dir, Options{})
	if !reflect.DeepEqual(again.State(), was) {
		t.Error("with room again it is another one")
	}
	goesOn(t, again)
}

// TestReadWithoutRoom opens a store on a disk that has not even room for the file that SQLite's processes share.
func TestReadWithoutRoom(t *testing.T) {
	images, was := stores(t)
	for name, image := range images { // any order: each is one test
		t.Run(name, func(t *testing.T) {
			dir := image.write(t)
			full := true
			failWith(t, func(op, path string) int32 {
				if full {
					return map[string]int32{"write": sqlite3.SQLITE_FULL, "map": sqlite3.SQLITE_IOERR_SHMSIZE}[op]
				}
				return sqlite3.SQLITE_OK
			})
			defer failWith(t, nil)
			told := ""
			s := open(t, dir, Options{sqlite: faultyFS, Warn: func(text string) { told = text }})
			if !reflect.DeepEqual(s.State(), was) || !strings.Contains(told, "room") {
				t.Errorf("%d records, %q", s.State().Last(), told)
			}
			if changed, err := s.Refresh(ctx); changed || err != nil {
				t.Error(changed, err)
			}
			if _, err := s.Append(ctx, put("new")); !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			full = false
			goesOn(t, s)
		})
	}
}
