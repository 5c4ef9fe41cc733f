// Package logs reads and removes the log files of attempts: the full texts of what attempts wrote, below the folder of a store, or in a bucket.
//
// An executor writes the files while an attempt runs, one for each stream. An attempt whose driver went away begins again with the same
// ticket and has new files; the names of the earlier ones get a number. The package knows these names, the times of the files and how
// to follow a file that grows. It knows no host, no journal and no screen.
//
// What always holds: a missing file is an empty file, and nothing is read through a link that leads out of the store. Enter at [Folder];
// [Tail] follows the attempts of a run.
package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/view"
)

// Dir is the folder of the logs, below the store. It has a folder for each run.
const Dir = "logs"

const (
	// maxEnd bounds the last part of a file that ReadEnds reads, in bytes.
	maxEnd = 16 << 10
	// slack bounds how much older than an event a file may seem although it was written after the event.
	slack = 20 * time.Millisecond
)

var streams = [2]string{"stdout", "stderr"}

// Folder is the folder of a store.
type Folder string

// Open opens a log by its name, relative to the store.
func (f Folder) Open(log string) (*os.File, error) {
	if f == "" {
		return nil, fs.ErrNotExist
	}
	return private.OpenBelow(string(f), log, os.O_RDONLY)
}

// nameOf is the name of the newest log of a stream of an attempt, relative to the store.
func nameOf(a *event.Attempt, stream string) string {
	return path.Join(Dir, command.LogName(a, stream))
}

// find returns the log of a stream of one try of an attempt, or "": the file with the latest write after the try began, and not
// after it was over, if it is over.
func (f Folder) find(a *event.Attempt, stream string, began, over event.Time) string {
	name := nameOf(a, stream)
	for n := 0; n <= command.MaxEarlier; n++ {
		log := name
		if n > 0 {
			log = command.Earlier(name, n)
		}
		info, err := os.Lstat(filepath.Join(string(f), log))
		if err != nil && n > 0 {
			break
		}
		if err != nil {
			continue
		}
		if at := event.At(info.ModTime()); at.Add(slack) >= began && (over == 0 || at <= over.Add(slack)) {
			return log
		}
	}
	return ""
}

// ReadEnds reads the last part of what an attempt wrote so far, and when it wrote last, into b.
func (f Folder) ReadEnds(b *view.Begun) {
	if f == "" {
		return
	}
	a := event.Attempt{Run: b.Run, Ticket: b.Ticket, Name: b.Name, Attempt: b.Attempt}
	texts, names := [2]*string{&b.Stdout, &b.Stderr}, [2]*string{&b.StdoutLog, &b.StderrLog}
	for n, stream := range streams {
		log := f.find(&a, stream, b.StartedAt, b.Over)
		if log == "" {
			continue
		}
		if text, at, err := f.readEnd(log); err == nil && text != "" {
			*texts[n], *names[n], b.Heard = text, log, max(b.Heard, at)
		}
	}
}

// readEnd reads the last whole lines of a log, and the time of its last write.
func (f Folder) readEnd(log string) (string, event.Time, error) {
	file, err := f.Open(log)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	from := max(0, info.Size()-maxEnd)
	text, err := io.ReadAll(io.NewSectionReader(file, from, maxEnd))
	if cut := bytes.IndexByte(text, '\n'); from > 0 && cut >= 0 {
		text = text[cut+1:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), min(event.At(info.ModTime()), event.At(time.Now())), err
}

// Size is the size of all logs of a run in bytes. The id must be one of a run.
func (f Folder) Size(run string) (bytes int64, err error) {
	files, err := os.ReadDir(filepath.Join(string(f), Dir, run))
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

// Remove removes all logs of a run. The id must be one of a run.
func (f Folder) Remove(run string) error {
	if err := os.RemoveAll(filepath.Join(string(f), Dir, run)); err != nil {
		return fmt.Errorf("removing the logs of run %s: %w", run, err)
	}
	return nil
}
