package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// Size of a terminal that does not tell its own.
const (
	DefaultColumns = 80
	DefaultRows    = 24
)

// Term is one output stream with what it can do. It is safe for concurrent use; a Write is never torn.
type Term struct {
	mu    sync.Mutex
	w     io.Writer
	fd    int // -1 where there is no file
	Live  bool
	Color bool
	UTC   bool // times are in UTC, not in the local time zone
	gone  bool
	err   error
	// size is replaced by tests.
	size func() (columns, rows int)
}

// NewTerm looks at a stream. color is auto, always or never; with auto these decide, the first that applies: NO_COLOR
// not empty, CLICOLOR_FORCE not empty and not 0, the stream being a terminal with TERM other than dumb. Live, which is
// whether lines can be repainted, needs such a terminal in any case, and a TERM.
func NewTerm(w io.Writer, color string, getenv func(string) string) *Term {
	t := &Term{w: w, fd: -1}
	t.size = t.askSize
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		t.fd = int(f.Fd())
		t.Live = getenv("TERM") != "dumb" && getenv("TERM") != ""
	}
	switch force := getenv("CLICOLOR_FORCE"); {
	case color == "always":
		t.Color = true
	case color == "never", getenv("NO_COLOR") != "":
	case force != "" && force != "0":
		t.Color = true
	default:
		t.Color = t.Live
	}
	return t
}

// IsTerminal reports whether the stream is a terminal.
func (t *Term) IsTerminal() bool { return t.fd >= 0 }

// Write writes all of p or nothing more. It is the way out for all that flowrun says: whatever names and messages stand in p, no
// character gets out that acts on a terminal or hides text, but for the sequences of our own where the stream takes those. Once the reader has gone away it reports success and drops what comes, so that
// a run goes on when its screen is closed; Err tells of any other error.
func (t *Term) Write(p []byte) (int, error) {
	t.put(guard(p, t.Live || t.Color))
	return len(p), nil
}

// Raw writes what is not flowrun's own words: what a program has printed, or the text of a file. It goes out as it is, but for a
// terminal.
func (t *Term) Raw(p []byte) {
	if t.fd >= 0 || t.Live {
		p = guard(p, false)
	}
	t.put(p)
}

// put writes, and drops what comes once the reader has gone away.
func (t *Term) put(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || t.err != nil {
		return
	}
	if _, err := t.w.Write(p); err != nil {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			t.gone = true
		} else {
			t.err = err
		}
	}
}

// Err is the first error of writing that was not a reader going away, such as a full disk.
func (t *Term) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Printf writes formatted text.
func (t *Term) Printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// Size is the terminal's size as it is now.
func (t *Term) Size() (columns, rows int) { return t.size() }

func (t *Term) askSize() (int, int) {
	if t.fd >= 0 {
		if ws, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ); err == nil && ws.Col > 0 && ws.Row > 0 {
			return int(ws.Col), int(ws.Row)
		}
	}
	return DefaultColumns, DefaultRows
}

// Styles. A text is readable without them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// Style wraps text in an escape sequence where the stream takes colour.
func (t *Term) Style(style, text string) string {
	if !t.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// indent puts blanks before each line of a text that is not empty.
func indent(text, prefix string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = prefix + l
		}
	}
	return strings.Join(lines, "\n")
}
