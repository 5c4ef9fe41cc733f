package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/runner/event"
)

// tries is how often a file is read again because somebody changed it meanwhile.
const tries = 20

// file is a list of work in a Markdown or JSONL file. With tickets it is a roadmap: each item that nobody has begun becomes a ticket of the
// store, once, and the tickets are the items.
type file struct {
	*question
	path    string
	name    string // as the configuration has it: a part of the ids
	section string // where created items stand
	tickets bool
}

func (q *question) file() (place, error) {
	name, err := q.text("path")
	if err != nil {
		return nil, err
	}
	section, err := q.text("section")
	switch {
	case err != nil:
		return nil, err
	case name == "":
		return nil, q.wrong("path", "given")
	}
	tickets, _ := q.Config["tickets"].(bool)
	f := &file{question: q, path: name, name: filepath.ToSlash(filepath.Clean(name)), section: section, tickets: tickets}
	if !filepath.IsAbs(name) {
		f.path = filepath.Join(q.a.Dir, name)
	}
	if tickets {
		return &roadmap{file: f}, nil
	}
	return f, nil
}

func (f *file) read() ([]byte, fs.FileInfo, error) {
	h, err := os.Open(f.path)
	if err != nil {
		return nil, nil, f.unreadable(err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, nil, f.unreadable(err)
	}
	source, err := io.ReadAll(io.LimitReader(h, backlog.MaxFile+1))
	if err != nil {
		return nil, nil, f.unreadable(err)
	}
	return source, info, nil
}

func (f *file) unreadable(err error) error {
	return fail(event.Blocking, event.ReasonNotFound, "the list of work %s cannot be read: %v", f.name, err)
}

func (f *file) parse(source []byte) (*backlog.Document, error) {
	d, err := backlog.Read(source, backlog.Options{Path: f.name, Today: f.x.now()})
	if err != nil {
		return nil, fail(event.Blocking, event.ReasonBadOutput, "%v", err)
	}
	return d, nil
}

// document reads the file as it is now.
func (f *file) document() (*backlog.Document, error) {
	source, _, err := f.read()
	if err != nil {
		return nil, err
	}
	return f.parse(source)
}

// list gives the items that are todo, those that an agent of this store has taken, and what they need. Somebody else does an item that is
// doing in the file and was never claimed here.
func (f *file) list(ctx context.Context) ([]event.Item, error) {
	d, err := f.document()
	if err != nil {
		return nil, err
	}
	return d.Work(f.Source, func(id string) bool { return f.claimed(ctx, id) }), nil
}

func (f *file) look(_ context.Context, it *event.Item) (standing, error) {
	d, err := f.document()
	if err != nil {
		return standing{}, err
	}
	i := d.Find(it.ID)
	switch {
	case i < 0:
		return standing{closed: true, dropped: true, why: "the file does not have the item any more"}, nil
	case d.Items[i].Status.Closed():
		return standing{closed: true, dropped: d.Items[i].Status == backlog.Cancelled, why: fmt.Sprintf("the file says that it is %s", d.Items[i].Status)}, nil
	}
	return standing{}, nil
}

func (f *file) take(_ context.Context, it *event.Item) (string, error) {
	return f.mark(it.ID, backlog.Doing)
}

func (f *file) report(_ context.Context, it *event.Item, o *event.ItemOutcome) (string, error) {
	if o.Status == event.ItemClosed {
		return f.mark(it.ID, backlog.Done)
	}
	return f.mark(it.ID, backlog.Todo)
}

// mark changes the mark of an item. An item without a mark stays as it is, with a warning.
func (f *file) mark(id string, s backlog.Status) (warning string, err error) {
	err = f.change(func(d *backlog.Document) (backlog.Edit, error) {
		i := d.Find(id)
		if i < 0 {
			return backlog.Edit{}, nil
		}
		return d.Mark(i, s)
	})
	if errors.Is(err, backlog.ErrNoMark) {
		return fmt.Sprintf("%s keeps its mark in %s: %v", id, f.name, err), nil
	}
	return "", err
}

func (f *file) create(ctx context.Context, it *event.Item) (id string, duplicate bool, err error) {
	err = f.change(func(d *backlog.Document) (backlog.Edit, error) {
		for i := range d.Items {
			if it.ID != "" && d.Items[i].ID == it.ID || it.ID == "" && d.Items[i].Title == it.Title {
				id, duplicate = d.Items[i].ID, true
				return backlog.Edit{}, nil
			}
		}
		e, err := d.Append(backlog.New{ID: it.ID, Title: it.Title, Section: f.section, Tags: it.Labels})
		if err != nil {
			return e, fail(event.Fatal, event.ReasonFail, "the item cannot be added to %s: %v", f.name, err)
		}
		after, err := f.parse(e.Apply(d.Source()))
		if err != nil {
			return e, err
		}
		for i := range after.Items {
			if d.Find(after.Items[i].ID) < 0 {
				id = after.Items[i].ID
			}
		}
		return e, nil
	})
	return id, duplicate, err
}

// change edits the file: under a lock that other processes of flowrun take, too, and only if the file is the one that was read. An edit that
// keeps the size is written in its place, any other as a new file that takes the place of the old one.
func (f *file) change(edit func(*backlog.Document) (backlog.Edit, error)) error {
	for range tries {
		done, err := f.tryChange(edit)
		if done || err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return fail(event.Transient, event.ReasonUnexplained, "%s changed each time before it could be edited", f.name)
}

func (f *file) tryChange(edit func(*backlog.Document) (backlog.Edit, error)) (done bool, err error) {
	h, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return false, f.unreadable(err)
	}
	defer h.Close() // and so the lock ends
	for {
		if err = syscall.Flock(int(h.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return false, f.unreadable(err)
	}
	locked, err := h.Stat()
	if err != nil {
		return false, f.unreadable(err)
	}
	source, read, err := f.read()
	if err != nil {
		return false, err
	}
	if !os.SameFile(locked, read) { // it was replaced while the lock was waited for
		return false, nil
	}
	d, err := f.parse(source)
	if err != nil {
		return false, err
	}
	e, err := edit(d)
	if err != nil || e == (backlog.Edit{}) {
		return true, err
	}
	if beforeWrite != nil {
		beforeWrite(f.path)
	}
	if now, err := os.Stat(f.path); err != nil || !sameBytes(read, now) {
		return false, nil
	}
	if len(e.Text) == e.End-e.Start {
		_, err = h.WriteAt([]byte(e.Text), int64(e.Start))
		return true, errors.Join(err, h.Sync())
	}
	return true, replaceFile(f.path, e.Apply(source), read.Mode().Perm())
}

// beforeWrite, set by tests, runs between the reading and the writing of a file.
var beforeWrite func(path string)

func sameBytes(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// replaceFile writes a new file in the place of another. A link stays a link.
func replaceFile(path string, text []byte, mode fs.FileMode) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	h, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = h.Write(text)
	err = errors.Join(err, h.Chmod(mode), h.Sync(), h.Close())
	if err == nil {
		err = os.Rename(h.Name(), path)
	}
	if err != nil {
		_ = os.Remove(h.Name())
	}
	return err
}
