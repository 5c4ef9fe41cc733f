// Package journal is the journal's form, the same in every host: a header, then batches of events, chained by hashes.
//
// A batch is what one commit made durable: the JSON of its events, a line each, the number of the first, how many they
// are, the digest of the commands that the run had caused when it ended, and a link of a SHA-256 chain
// that starts at the header and takes in every event by itself. A changed, missing, swapped or foreign byte anywhere
// breaks the chain at that batch; a machine that reacts otherwise than it did then breaks the digest.
//
// The package turns events into bytes and back and checks the chain. It stores nothing and knows no machine. Enter at
// [NewWriter] and [NewReader].
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// Format is the version of the bytes. Any other one is refused: 1 was that of the time before the first release, whose digests covered
// what was shown, too.
const Format = 2

// Bounds of a batch. A batch that is full is committed and the next begins.
const (
	MaxBatchEvents = 1024
	MaxBatchBytes  = 4 << 20
)

// Header stands before the first event of a run and never changes.
type Header struct {
	Format     int        `json:"format"`
	Behaviour  int        `json:"behaviour"` // ir.Behaviour of the release that started the run
	Run        string     `json:"run"`
	Definition string     `json:"definition"` // ir.Program.Hash
	Workflow   string     `json:"workflow"`
	Created    event.Time `json:"created"`
	Release    string     `json:"release,omitempty"` // for people
}

// Encode gives the header's bytes, which the chain starts with.
func (h Header) Encode() []byte {
	b, err := json.Marshal(h)
	if err != nil {
		panic("journal: " + err.Error()) // plain data
	}
	return b
}

// DecodeHeader reads a header and refuses a format that this release does not know.
func DecodeHeader(b []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("reading a journal's header: %w", err)
	}
	switch {
	case h.Format < Format:
		return h, fmt.Errorf("the journal of run %s has format %d, from before the first release; this release reads format %d only: start a new run", h.Run, h.Format, Format)
	case h.Format > Format:
		return h, fmt.Errorf("the journal of run %s has format %d; this release reads format %d: use a newer flowrun", h.Run, h.Format, Format)
	}
	return h, nil
}

// Link is one link of the chain.
type Link [sha256.Size]byte

func (l Link) String() string { return hex.EncodeToString(l[:8]) }

// First is the link before the first event.
func (h Header) First() Link { return sha256.Sum256(h.Encode()) }

// Next is the link after one event's bytes: the SHA-256 of the link before, the size of the bytes, and the bytes.
func (l Link) Next(record []byte) Link {
	var small [512]byte // most events fit, and need no memory of their own
	b := append(small[:0], l[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(record)))
	return sha256.Sum256(append(b, record...))
}

// seal takes a batch's digest into the chain, so that it cannot change unseen either.
func (l Link) seal(digest uint64) Link {
	return l.Next(binary.LittleEndian.AppendUint64(nil, digest))
}

// Batch is what one commit holds of one run.
type Batch struct {
	First  uint64 // the number of the first event
	Count  int
	Digest uint64 // of all reactions of the run so far
	Link   Link   // after the last event and the digest
	Body   []byte // the events, a line of JSON each
	// From reads the artifacts of the run. The host that gives a batch sets From; it is not a part of what is stored.
	From event.Artifacts
}

// Last is the number of the batch's last event.
func (b Batch) Last() uint64 { return b.First + uint64(b.Count) - 1 }

// Writer makes batches. Add events, then Cut.
type Writer struct {
	next  uint64
	link  Link
	batch Batch
}

// NewWriter starts behind an event: next is the number that the next one gets, link the chain so far.
func NewWriter(next uint64, link Link) *Writer {
	return &Writer{next: next, link: link, batch: Batch{First: next}}
}

// Next is the number of the event that would come next; Link is the chain so far.
func (w *Writer) Next() uint64 { return w.next }

// Link is the chain's link after what was added and cut.
func (w *Writer) Link() Link { return w.link }

// Add appends an event; its Seq must be the next number.
func (w *Writer) Add(ev event.Event) error {
	if ev.Seq != w.next {
		return fmt.Errorf("journal: event %d where %d is next", ev.Seq, w.next)
	}
	start := len(w.batch.Body)
	var err error
	if w.batch.Body, err = appendEvent(w.batch.Body, ev); err != nil {
		return fmt.Errorf("journal: event %d: %w", ev.Seq, err)
	}
	w.link = w.link.Next(w.batch.Body[start:])
	w.next++
	w.batch.Count++
	return nil
}

// Full tells that the batch should be cut before another event is added.
func (w *Writer) Full() bool {
	return w.batch.Count >= MaxBatchEvents || len(w.batch.Body) >= MaxBatchBytes
}

// Cut returns the batch with the digest given and begins the next.
func (w *Writer) Cut(digest uint64) Batch {
	w.link = w.link.seal(digest)
	b := w.batch
	b.Digest, b.Link = digest, w.link
	w.batch = Batch{First: w.next, Body: make([]byte, 0, len(b.Body)+len(b.Body)/8)} // most are about as large as the one before
	return b
}

// ErrBroken is wrapped by every error about bytes that are not what was written.
var ErrBroken = errors.New("the journal is damaged")

// Reader checks and decodes the batches of one run, in order.
type Reader struct {
	run  string
	next uint64
	link Link
}

// NewReader reads from the first event on.
func NewReader(h Header) *Reader { return &Reader{run: h.Run, next: 1, link: h.First()} }

// NewReaderAt reads from an event on: next is its number, link the chain so far.
func NewReaderAt(h Header, next uint64, link Link) *Reader {
	return &Reader{run: h.Run, next: next, link: link}
}

// Next is the number of the event that would come next; Link is the chain so far.
func (r *Reader) Next() uint64 { return r.next }

// Link is the chain's link after what was read.
func (r *Reader) Link() Link { return r.link }

// Read checks one batch against the chain and returns its events. The error wraps ErrBroken and names the position.
func (r *Reader) Read(b Batch) ([]event.Event, error) {
	broken := func(format string, args ...any) error {
		return fmt.Errorf("%w: run %s, batch of events %d to %d: %s", ErrBroken, r.run, b.First, b.Last(), fmt.Sprintf(format, args...))
	}
	if b.First != r.next {
		return nil, broken("event %d was expected", r.next)
	}
	if b.Count < 1 || b.Count > len(b.Body) {
		return nil, broken("it says that it holds %d events", b.Count)
	}
	events := make([]event.Event, 0, b.Count)
	link, rest := r.link, b.Body
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			return nil, broken("its last line has no end")
		}
		link = link.Next(rest[:end])
		want := b.First + uint64(len(events))
		events = append(events, event.Event{})
		ev := &events[len(events)-1]
		if err := decodeEvent(rest[:end], ev); err != nil {
			return nil, broken("event %d: %v", want, err)
		}
		if ev.Seq != want {
			return nil, broken("event %d is where event %d should be", ev.Seq, want)
		}
		ev.Bind(b.From)
		rest = rest[end:]
	}
	if len(events) != b.Count {
		return nil, broken("it holds %d events and says %d", len(events), b.Count)
	}
	if link = link.seal(b.Digest); link != b.Link {
		return nil, broken("the hash chain gives %s, stored is %s", link, b.Link)
	}
	r.next, r.link = r.next+uint64(b.Count), link
	return events, nil
}
