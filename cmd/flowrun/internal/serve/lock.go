package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
)

// lockName is the file in the store whose lock the daemon holds. It says who that is.
const lockName = "serve.lock"

// Serving is the error of a store that another daemon serves.
type Serving struct {
	PID int
	At  string // the address of its server; "" if it has none
}

func (s *Serving) Error() string {
	text := fmt.Sprintf("process %d serves this store already", s.PID)
	if s.At != "" {
		text += ", at " + s.At
	}
	return text
}

// Held is the lock of a daemon.
type Held struct{ file *os.File }

// Lock takes the lock of the store in dir. The error is *Serving where another process has it.
func Lock(dir string) (*Held, error) {
	f, err := private.Open(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		other := readLock(f)
		f.Close()
		return nil, &other
	}
	h := &Held{f}
	if err == nil {
		err = h.Note("")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return h, nil
}

// Note writes down who serves, and where.
func (h *Held) Note(address string) error {
	if err := h.file.Truncate(0); err != nil {
		return err
	}
	_, err := h.file.WriteAt([]byte(fmt.Sprintf("%d %s\n", os.Getpid(), address)), 0)
	return err
}

// Release gives the lock back.
func (h *Held) Release() error { return h.file.Close() }

func readLock(f *os.File) (s Serving) {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, 1<<10))
	words := strings.Fields(string(text))
	if len(words) > 0 {
		s.PID, _ = strconv.Atoi(words[0])
	}
	if len(words) > 1 {
		s.At = words[1]
	}
	return s
}

// Served says who serves the store in dir; nil if nobody does.
func Served(dir string) (*Serving, error) {
	f, err := private.Open(filepath.Join(dir, lockName), os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		s := readLock(f)
		return &s, nil
	}
	return nil, err
}
