package command

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// logMax is where a log file ends, with a line that says so: a program that floods must not fill the disk.
const logMax = 1 << 30

// logFile holds the whole text of one stream. There is a file only once open was called.
type logFile struct {
	dir, prefix string // Options.LogDir, LogRel
	of          *event.Attempt
	stream      string
	left        int64 // bytes until logMax

	opened bool
	f      *os.File
	rel    string
	err    error
}

// logFile is the log of one stream of an attempt, see [LogName].
func (x *Executor) logFile(a *event.Attempt, stream string) logFile {
	return logFile{dir: x.opt.LogDir, prefix: x.opt.LogRel, of: a, stream: stream, left: x.logMax}
}

// open makes the file. That it cannot be made is not a failure of the attempt: the mark in the text says it.
func (l *logFile) open() {
	l.opened = true
	if l.dir == "" {
		return
	}
	name := LogName(l.of, l.stream)
	file := filepath.Join(l.dir, name)
	if l.err = makeLogDir(l.dir, filepath.Dir(file)); l.err != nil {
		return
	}
	setAside(file)
	if l.f, l.err = private.Open(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC); l.err == nil {
		l.rel = path.Join(l.prefix, name)
	}
}

// Earlier gives the name of a log file whose attempt has begun again with the same ticket, after its driver had gone: the n-th, from
// 1 to MaxEarlier.
func Earlier(name string, n int) string { return fmt.Sprintf("%s.%d", name, n) }

// MaxEarlier bounds how many of them are kept of one attempt; beyond it the last one is replaced.
const MaxEarlier = 20

// setAside keeps what an attempt wrote that was interrupted, where it runs again.
func setAside(file string) {
	if _, err := os.Lstat(file); err != nil {
		return
	}
	n := 1
	for n < MaxEarlier {
		if _, err := os.Lstat(Earlier(file, n)); err != nil {
			break
		}
		n++
	}
	_ = os.Rename(file, Earlier(file, n)) // if that fails, it is overwritten
}

// begin makes the file, unless it is there, with what was said before.
func (l *logFile) begin(said []byte) {
	if !l.opened {
		l.open()
		l.write(said)
	}
}

// makeLogDir makes the folder of the logs and that of a run in it, neither of which may be a link.
func makeLogDir(logs, run string) error {
	for _, folder := range []string{logs, run} {
		if err := private.Mkdir(folder); err != nil {
			return err
		}
	}
	return nil
}

func (l *logFile) write(p []byte) {
	if l.f == nil || len(p) == 0 {
		return
	}
	fits := p[:min(int64(len(p)), l.left)]
	l.left -= int64(len(fits))
	_, err := l.f.Write(fits)
	if err == nil && len(fits) < len(p) {
		_, err = l.f.WriteString("\n[flowrun: the log ends here: it has reached its limit]\n")
		l.close()
	}
	if err != nil {
		l.err = err
		l.close()
	}
}

// where completes the mark that stands for what was left out.
func (l *logFile) where() string {
	switch {
	case l.err != nil:
		return executor.Clip(fmt.Sprintf("the log is not whole: %v", l.err), markMax*3/4)
	case l.rel == "":
		return "no log is kept"
	}
	return "the whole text is in the log"
}

func (l *logFile) close() {
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

// safe makes a name of any text that is one file's name: no separators, no leading dot.
func safe(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 64)]
}
