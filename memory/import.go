package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

const (
	// MaxLine is how long a line of an import may be, in bytes: what the longest text takes, and room for the rest.
	MaxLine = MaxText + 64<<10
	// importBatch is how many lines are kept by one transaction.
	importBatch = 256
)

// ImportOptions say what is told of an import.
type ImportOptions struct {
	Name string // of the file, for messages and for the entries' source
	By   entry.Source
	// Progress is told, now and then, how many entries are done and how many bytes of the file that is. Nil is allowed.
	Progress func(done int, bytes int64)
}

// Imported counts what an import did.
type Imported struct {
	Lines int // that hold an entry
	Added int
	Known int // were there already, with the same content
}

// Import keeps the entries of a file, a line of JSON each, under the ids that they have there. Every line is an entry of its
// own: repeats are not counted up, and nothing is consolidated. Empty lines are passed over.
//
// A line that can't be taken ends the import with a [*LineError]; the lines before it are kept. The lines that are kept when ctx
// ends stay. Importing a file again adds only what is new in it.
func (m *Memory) Import(ctx context.Context, r io.Reader, o ImportOptions) (Imported, error) {
	if m.o.ReadOnly {
		return Imported{}, ErrReadOnly
	}
	if o.By.Trust == entry.Untrusted && o.By.Author == "" {
		o.By.Trust = entry.ByPerson
	}
	o.By.Source = "import:" + o.Name
	if o.Progress == nil {
		o.Progress = func(int, int64) {}
	}
	i := importing{m: m, o: o, now: m.now(), in: bufio.NewReaderSize(r, 64<<10)}
	for {
		more, stop := i.read(ctx)
		if err := i.keep(ctx, more); err != nil {
			return i.done, err
		}
		if stop != nil {
			return i.done, stop
		}
		if !more {
			return i.done, nil
		}
	}
}

// importing is an import on its way.
type importing struct {
	m     *Memory
	o     ImportOptions
	now   time.Time
	in    *bufio.Reader
	line  int   // number of the line read last
	bytes int64 // read so far
	ended int64 // of them, those of batches that are done
	done  Imported

	batch []draft
	lines []int // of the batch
}

// read fills the batch. The error is of the line after the last one in it.
func (i *importing) read(ctx context.Context) (more bool, err error) {
	i.batch, i.lines = i.batch[:0], i.lines[:0]
	for len(i.batch) < importBatch {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		b, err := i.next()
		if len(b) > 0 {
			d, bad := i.parse(b)
			if bad != nil {
				return false, i.fail(i.line, bad)
			}
			i.batch, i.lines = append(i.batch, d), append(i.lines, i.line)
		}
		switch {
		case err == io.EOF:
			return false, nil
		case errors.Is(err, ErrBad):
			return false, i.fail(i.line, err)
		case err != nil:
			return false, fmt.Errorf("reading %s: %w", i.o.Name, err)
		}
	}
	return true, nil
}

// keep adds the batch, and embeds it.
func (i *importing) keep(ctx context.Context, more bool) error {
	if len(i.batch) == 0 {
		return nil
	}
	var failed error
	var added, known, at int
	err := i.m.update(ctx, func(s *entry.State) ([]entry.Record, error) {
		i.m.sync(s)
		failed, added, known = nil, 0, 0
		w := i.m.writer(s, i.now)
		for at = range i.batch {
			a, err := w.add(&i.batch[at])
			if err != nil {
				failed = i.fail(i.lines[at], err)
				break
			}
			if a.Known {
				known++
			} else {
				added++
			}
		}
		return w.records, nil
	})
	if err != nil {
		return fmt.Errorf("importing %s: %w", i.o.Name, err)
	}
	i.done.Lines += added + known
	i.done.Added += added
	i.done.Known += known
	if err := i.embed(ctx); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	return nil
}

// embed makes the vectors of what is missing. One that can't be made is told of and made later; only the end of ctx is an error.
func (i *importing) embed(ctx context.Context) error {
	m := i.m
	for all := max(1, m.Pending()); m.vectors.embedder != nil && !m.work.failing.Load(); {
		left := m.Pending() // the batch is as far as its vectors are
		i.o.Progress(max(0, i.done.Lines-left), i.bytes-(i.bytes-i.ended)*int64(left)/int64(all))
		more, err := m.embedSome(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !m.work.failing.Swap(true) {
			m.o.Warn(withoutVectors + err.Error())
		}
		if err != nil || !more {
			break
		}
	}
	i.ended = i.bytes
	i.o.Progress(i.done.Lines, i.bytes)
	return nil
}

func (i *importing) fail(line int, err error) error {
	return &LineError{Name: i.o.Name, Line: line, Err: err}
}
