// Package backlog reads lists of work that people keep in files, and changes the mark of one item.
//
// [Read] takes Markdown as people write it (task lists, headings and tables that give a status, emoji, inline metadata) and
// JSONL (an object on each line). The block structure of Markdown is goldmark's; inside of an item goldmark finds code, links,
// comments and struck text, and this package finds the metadata. Text in code, comments, block quotes and front matter is never
// an item and never metadata.
//
// The package is pure: it gets bytes and a date, and returns items and edits. An [Edit] replaces the bytes of one mark, or inserts
// a line; whoever holds the file applies it. Every edit is checked before it is returned: the changed text is read again, and
// all other items must be what they were.
//
// Everything is bounded: a file has at most [MaxFile] bytes, a title at most [MaxTitle]; a line that opens more than 100
// containers is read as an empty line. Enter at [Read].
package backlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Status says how far an item has come.
type Status string

// The statuses. Todo is the only one whose items wait to be taken.
const (
	Todo      Status = "todo"
	Doing     Status = "doing"
	Blocked   Status = "blocked"
	Deferred  Status = "deferred"
	Question  Status = "question" // nobody can start before a question is answered, or the status could not be read
	Done      Status = "done"
	Cancelled Status = "cancelled"
)

// Statuses lists all statuses.
var Statuses = []Status{Todo, Doing, Blocked, Deferred, Question, Done, Cancelled}

// Closed reports whether work on an item with this status is over.
func (s Status) Closed() bool { return s == Done || s == Cancelled }

// Bounds of what is read.
const (
	MaxFile  = 64 << 20 // bytes of a file
	MaxTitle = 4096     // bytes of a title; the rest of a longer text is left out
	MaxBody  = 64 << 10 // bytes of the text below an item
)

// ErrTooLarge says that a file has more than MaxFile bytes.
var ErrTooLarge = errors.New("the file is larger than 64 MiB")

// Item is one piece of work. "" stands for "the file does not say".
type Item struct {
	// Line counts from 1.
	Line int
	// Title is one line without mark, metadata and markup; code keeps its backquotes.
	Title   string
	Status  Status
	Section string // the text of the nearest heading
	Parent  string // the id of the item that this one is nested in
	// ID is what the file calls the item, without # or ^ or brackets. Otherwise it is a hash of path, headings, parents and title:
	// it stays when the status, the place in the list or other items change.
	ID    string
	Owner string // without @
	// Priority: 3 is the highest of P0 to P3 (P0 = critical = 3, P1 = high = 2, P2 = medium = 1, P3 = 0, low = -1, lowest = -2).
	// A higher number goes first; nil stands for none and counts as 0.
	Priority *int
	Due      string   // YYYY-MM-DD
	Needs    []string // the ids of the items that come first, or texts that no item of the file has as its id or title
	Tags     []string
	Body     string // the source text below the item's own
	// Explicit says that ID stands in the file.
	Explicit bool
}

// MarshalJSON writes the fields that `backlog list` promises; what the file does not say is null or an empty list.
func (i *Item) MarshalJSON() ([]byte, error) {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	list := func(l []string) []string { return append([]string{}, l...) }
	return json.Marshal(struct {
		Line      int      `json:"line"`
		Title     string   `json:"title"`
		Status    Status   `json:"status"`
		Section   *string  `json:"section"`
		Parent    *string  `json:"parent"`
		ID        string   `json:"id"`
		Owner     *string  `json:"owner"`
		Priority  *int     `json:"priority"`
		Due       *string  `json:"due"`
		DependsOn []string `json:"depends_on"`
		Tags      []string `json:"tags"`
	}{i.Line, i.Title, i.Status, text(i.Section), text(i.Parent), i.ID, text(i.Owner), i.Priority, text(i.Due), list(i.Needs), list(i.Tags)})
}

// Options say what the bytes of a file do not.
type Options struct {
	// Path selects the format by its ending (.jsonl and .ndjson are JSONL, all else is Markdown) and is part of the computed ids.
	Path string
	// Today gives dates without a year ("due Jan 5") the year that makes them the nearest. Zero: such dates are not read.
	Today time.Time
}

// Document is a file that was read.
type Document struct {
	Items  []Item
	source []byte
	opts   Options
	marks  []mark // of each item
	lists  []list // where a new item can stand
	jsonl  bool
	legend map[string]Status // of boxes, as [~], and emoji
}

// mark is where a file says the status of an item.
type mark struct {
	kind       markKind
	start, end int
	column     int    // for cells: the number of the table
	field      string // of a JSON object
}

type markKind int

const (
	noMark      markKind = iota // the text has no place for a mark
	boxMark                     // one character, or none, between brackets
	emojiMark                   // an emoji before or behind the title
	wordMark                    // DONE, TODO, ...
	bulletMark                  // nothing yet: a box would be inserted here
	cellMark                    // the cell of a table
	fieldMark                   // the value of the field of a JSON object
	absentField                 // a JSON object without such a field: it would be inserted here
)

// Read reads a file. The error is ErrTooLarge, or says which line of JSONL is not an object.
func Read(source []byte, o Options) (*Document, error) {
	if len(source) > MaxFile {
		return nil, ErrTooLarge
	}
	bare := bytes.TrimPrefix(source, []byte("\ufeff"))
	d := &Document{source: bare, opts: o}
	var err error
	switch strings.ToLower(path.Ext(o.Path)) {
	case ".jsonl", ".ndjson":
		d.jsonl = true
		err = d.readJSONL()
	default:
		err = d.readMarkdown()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.Path, err)
	}
	if shift := len(source) - len(bare); shift > 0 {
		d.source = source
		for i := range d.marks {
			d.marks[i].start += shift
			d.marks[i].end += shift
		}
		for i := range d.lists {
			d.lists[i].end += shift
		}
	}
	return d, nil
}

// Source returns the bytes that were read. They must not be changed.
func (d *Document) Source() []byte { return d.source }
