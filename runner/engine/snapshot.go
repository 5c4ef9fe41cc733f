package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// Restorable is a machine that can be kept as bytes. Other machines are rebuilt from their journals.
type Restorable interface {
	Machine
	// AppendState appends the machine as bytes to b. It comes between two events. Above most bytes with those of b, the error is
	// [snapshot.ErrTooLong]; 0 means no bound.
	AppendState(b []byte, most int) ([]byte, error)
}

// ErrNotKept is the error of State for a machine that is not a Restorable.
var ErrNotKept = errors.New("the machine of this run cannot be kept as bytes")

// State returns the fold as bytes, which tell the run, the program and the place in the journal. It comes after Replay or Feed.
func (f *Fold) State() ([]byte, error) { return f.AppendState(nil, 0) }

// AppendState is State for bytes that are appended to b. Above most bytes with those of b, the error is [snapshot.ErrTooLong]; 0 means no bound.
func (f *Fold) AppendState(b []byte, most int) ([]byte, error) {
	k, ok := f.machine.(Restorable)
	if !ok {
		return nil, ErrNotKept
	}
	c := foldCoder{snapshot.NewWriter(foldFormat(f.header)), f}
	c.fold()
	own, err := c.Close()
	if err != nil {
		return nil, err
	}
	begin := len(b)
	b = append(binary.AppendUvarint(b, uint64(len(own))), own...)
	if b, err = k.AppendState(b, most); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b[begin:])
	return append(b, sum[:]...), nil
}

// RestoreFold makes the fold of which State returned the bytes. machine makes the machine of the bytes that its AppendState made. The fold
// goes on with the batch of the journal that comes after [Fold.Seq]: Replay finds out if the journal is another one. An error means that
// the bytes are damaged, or those of another run, program or release: the run is then rebuilt from its journal.
func RestoreFold(h journal.Header, state []byte, machine func(state []byte) (Machine, error)) (*Fold, error) {
	n := len(state) - sha256.Size
	if n < 0 {
		return nil, snapshot.ErrBroken
	}
	if sum := sha256.Sum256(state[:n]); !bytes.Equal(sum[:], state[n:]) {
		return nil, fmt.Errorf("%w: its checksum is another one", snapshot.ErrBroken)
	}
	own, at := binary.Uvarint(state[:n])
	if at <= 0 || own > uint64(n-at) {
		return nil, snapshot.ErrBroken
	}
	end := at + int(own)
	f := NewFold(h, nil)
	c := foldCoder{snapshot.NewReader(foldFormat(h), state[at:end]), f}
	c.fold()
	_, err := c.Close()
	if err == nil {
		f.machine, err = machine(state[end:n])
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// foldFormat returns how the state of a fold begins. The number rises when this file codes the same fields otherwise.
func foldFormat(h journal.Header) string {
	return fmt.Sprintf("fold 2 %s %s", foldLayout(), h.Encode())
}

var foldLayout = snapshot.LazyLayout(reflect.TypeFor[Fold]())

type foldCoder struct {
	*snapshot.Coder
	f *Fold
}

func (c *foldCoder) fold() {
	f, s := c.f, c.Coder
	c.place()
	c.digest(&f.digest)
	snapshot.Uint(s, &f.seq)
	snapshot.Time(s, &f.last)
	ticket := func(n *uint64) { snapshot.Uint(s, n) }
	text := func(t *string) { snapshot.Text(s, t) }
	snapshot.Map(s, &f.timers, ticket, snapshot.PlainOf[event.SetTimer](s))
	snapshot.Map(s, &f.flying, ticket, func(b *bool) { c.Bools(b) })
	snapshot.Map(s, &f.called, text, text)
	snapshot.Owned(s, &f.end, snapshot.PlainOf[event.End](s))
}

// place codes where in the journal the fold is.
func (c *foldCoder) place() {
	next, link := c.f.read.Next(), c.f.read.Link()
	if c.f.write != nil {
		next, link = c.f.write.Next(), c.f.write.Link()
	}
	chain := link[:]
	snapshot.Uint(c.Coder, &next)
	if snapshot.Bytes(c.Coder, &chain); copy(link[:], chain) != len(link) {
		c.Fail(snapshot.ErrBroken)
	}
	if c.Reading() {
		c.f.read = journal.NewReaderAt(c.f.header, next, link)
	}
}

// digest codes a hash that goes on.
func (c *foldCoder) digest(d *digest) {
	var state []byte
	if !c.Reading() {
		var err error
		if state, err = d.h.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			c.Fail(err)
		}
	}
	if snapshot.Bytes(c.Coder, &state); !c.Reading() || c.Err() != nil {
		return
	}
	if err := d.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		c.Fail(fmt.Errorf("%w: %w", snapshot.ErrBroken, err))
	}
}
