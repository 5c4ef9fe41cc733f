package memory

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/store"
)

var (
	// ErrExists means that the id belongs to an entry with other content.
	ErrExists = entry.ErrExists
	// ErrNoEntry means that no entry that the caller may see has the id.
	ErrNoEntry = entry.ErrNoEntry
	// ErrNotAllowed means that the source of a change is not trusted with it.
	ErrNotAllowed = errors.New("not allowed")
	// ErrBad means that an entry or a question can't be taken as it is: the message says what is wrong with it.
	ErrBad = errors.New("not usable")
	// ErrReadOnly means that the memory was opened for reading alone, or lies where nobody may write.
	ErrReadOnly = store.ErrReadOnly
)

// LineError says which line of an import could not be taken. The lines before it are kept; it and those after it are not.
type LineError struct {
	Name string // of the file
	Line int    // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBad, fmt.Sprintf(format, args...))
}
