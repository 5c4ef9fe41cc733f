package local

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// between stands between SQLite and the files of one folder. Each method is asked before the real thing is done; a result
// other than SQLITE_OK is what SQLite hears instead.
type between interface {
	opened(path string)
	write(path string, b []byte, at int64) int32
	truncate(path string, size int64) int32
	sync(path string) int32
	deleted(path string)
}

// faultyFS is the name under which SQLite knows the file system below: its own one for Unix, with its methods wrapped.
const faultyFS = "flowrun-faults"

var wrapped struct {
	once    sync.Once
	err     error
	real    uintptr // *Tsqlite3_vfs
	mu      sync.Mutex
	methods map[uintptr]*wrappedMethods // by the original's address
	files   map[uintptr]openFile        // by the address of SQLite's object
	folders map[string]between
}

type wrappedMethods struct {
	table uintptr // *Tsqlite3_io_methods
	real  *sqlite3.Tsqlite3_io_methods
}

type openFile struct {
	path string
	via  between
	real *sqlite3.Tsqlite3_io_methods
}

// standBetween puts b between SQLite and all files of a folder.
func standBetween(t testing.TB, folder string, b between) {
	t.Helper()
	wrapped.once.Do(registerFaultyFS)
	if wrapped.err != nil {
		t.Fatal(wrapped.err)
	}
	wrapped.mu.Lock()
	defer wrapped.mu.Unlock()
	wrapped.folders[folder] = b
}

func registerFaultyFS() {
	wrapped.methods, wrapped.files, wrapped.folders = map[uintptr]*wrappedMethods{}, map[uintptr]openFile{}, map[string]between{}
	tls := libc.NewTLS()
	name, err := libc.CString(faultyFS)
	if err != nil {
		wrapped.err = err
		return
	}
	wrapped.real = sqlite3.Xsqlite3_vfs_find(tls, 0)
	address := inC(tls, *at[sqlite3.Tsqlite3_vfs](wrapped.real))
	v := at[sqlite3.Tsqlite3_vfs](address)
	v.FzName, v.FpNext = name, 0
	set(&v.FxOpen, faultyOpen)
	set(&v.FxDelete, faultyDelete)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, address, 0); rc != sqlite3.SQLITE_OK {
		wrapped.err = fmt.Errorf("registering a file system: %d", rc)
	}
}

// inC copies a value into memory of C, where the translated code may point to it, and leaves it there.
func inC[T any](tls *libc.TLS, v T) uintptr {
	address := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(v)))
	*at[T](address) = v
	return address
}

// set and call turn functions of Go into what the translated C takes for pointers to functions, and back.
func set[F any](field *uintptr, f F) { *(*F)(unsafe.Pointer(field)) = f }

func call[F any](field uintptr) F { return *(*F)(unsafe.Pointer(&field)) }

// at is what lies at an address of C. The memory is not Go's, so that nothing moves or frees it behind our back.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

type (
	fnOpen     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	fnDelete   = func(tls *libc.TLS, vfs, name uintptr, dirSync int32) int32
	fnClose    = func(tls *libc.TLS, file uintptr) int32
	fnWrite    = func(tls *libc.TLS, file, buf uintptr, n int32, at int64) int32
	fnTruncate = func(tls *libc.TLS, file uintptr, size int64) int32
)

func faultyOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	real := at[sqlite3.Tsqlite3_vfs](wrapped.real)
	rc := call[fnOpen](real.FxOpen)(tls, wrapped.real, name, file, flags, out)
	methods := at[uintptr](file) // the first member of every file
	if rc != sqlite3.SQLITE_OK || name == 0 || *methods == 0 {
		return rc
	}
	path := libc.GoString(name)
	wrapped.mu.Lock()
	defer wrapped.mu.Unlock()
	via := wrapped.folders[filepath.Dir(path)]
	if via == nil {
		return rc
	}
	via.opened(path)
	w := wrapped.methods[*methods]
	if w == nil {
		w = wrapMethods(tls, *methods)
		wrapped.methods[*methods] = w
	}
	wrapped.files[file] = openFile{path, via, w.real}
	*methods = w.table
	return rc
}

func wrapMethods(tls *libc.TLS, methods uintptr) *wrappedMethods {
	w := &wrappedMethods{real: at[sqlite3.Tsqlite3_io_methods](methods)}
	w.table = inC(tls, *w.real)
	table := at[sqlite3.Tsqlite3_io_methods](w.table)
	set(&table.FxClose, faultyClose)
	set(&table.FxWrite, faultyWrite)
	set(&table.FxTruncate, faultyTruncate)
	set(&table.FxSync, faultySync)
	return w
}

func opened(file uintptr) openFile {
	wrapped.mu.Lock()
	defer wrapped.mu.Unlock()
	return wrapped.files[file]
}

func faultyClose(tls *libc.TLS, file uintptr) int32 {
	f := opened(file)
	wrapped.mu.Lock()
	delete(wrapped.files, file)
	wrapped.mu.Unlock()
	return call[fnClose](f.real.FxClose)(tls, file)
}

func faultyWrite(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	f := opened(file)
	if rc := f.via.write(f.path, unsafe.Slice(at[byte](buf), n), offset); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[fnWrite](f.real.FxWrite)(tls, file, buf, n, offset)
}

func faultyTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := opened(file)
	if rc := f.via.truncate(f.path, size); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return call[fnTruncate](f.real.FxTruncate)(tls, file, size)
}

func faultySync(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := opened(file)
	return f.via.sync(f.path) // what is durable is the other side's to know: the computer's own disk need not be waited for
}

func faultyDelete(tls *libc.TLS, _, name uintptr, dirSync int32) int32 {
	real := at[sqlite3.Tsqlite3_vfs](wrapped.real)
	rc := call[fnDelete](real.FxDelete)(tls, wrapped.real, name, dirSync)
	path := strings.Clone(libc.GoString(name))
	wrapped.mu.Lock()
	via := wrapped.folders[filepath.Dir(path)]
	wrapped.mu.Unlock()
	if rc == sqlite3.SQLITE_OK && via != nil {
		via.deleted(path)
	}
	return rc
}
