package command

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// A folder that this user may not enter is named as such; the program in it is not to blame.
func TestFolderThatMayNotBeEntered(t *testing.T) {
	dir := t.TempDir()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	x, got := newTest(t, Options{}), make(chan string)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, and nobody else gets its user
		const nobody = 65534
		if os.Geteuid() == 0 {
			if _, _, err := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), nobody, ^uintptr(0)); err != 0 {
				got <- "cannot become nobody: " + err.Error()
				return
			}
		}
		got <- brief(do(x, with(run("true"), func(a *event.Attempt) { a.Dir = dir })))
	}()
	if got, want := <-got, "error blocking/start: the folder "+dir+" cannot be entered: permission denied"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
