package share

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/shared"
)

// Bounds of the rows.
const (
	// MaxState is how many bytes the rows may have, compressed, so that an execution can hand them to the next one.
	MaxState = 1_500_000
	// MaxLarge is the same where payloads lie beside the server. Each continuation writes them once.
	MaxLarge = 32 << 20
	// weighEvery is by how many bytes the rows grow before they are weighed again: to compress a megabyte takes 10 ms.
	weighEvery = 256 << 10
)

// rows are the rows of what runs share, with their size.
type rows struct {
	shared.Map
	size    int // of keys and bodies, in bytes
	weighed int // size at the last weighing
	full    bool
	large   bool
	starts  bool // a row has changed that says when runs start by themselves
	loops   bool // the same, of loops
}

// Put implements shared.Rows.
func (r *rows) Put(space, key string, body []byte) error {
	before, found, _ := r.Map.Get(space, key)
	if r.size += len(body) - len(before); !found {
		r.size += len(key)
	}
	r.starts, r.loops = r.starts || shared.TellsStart(space), r.loops || shared.TellsLoop(space, false)
	return r.Map.Put(space, key, body)
}

// Delete implements shared.Rows.
func (r *rows) Delete(space, key string) error {
	if before, found, _ := r.Map.Get(space, key); found {
		r.size -= len(key) + len(before)
	}
	r.starts, r.loops = r.starts || shared.TellsStart(space), r.loops || shared.TellsLoop(space, true)
	return r.Map.Delete(space, key)
}

// Clear implements shared.Rows.
func (r *rows) Clear(space string) error {
	_ = r.Map.Scan(space, "", func(key string, body []byte) bool {
		r.size -= len(key) + len(body)
		return true
	})
	return r.Map.Clear(space)
}

// most is how many bytes the rows may have, compressed.
func (r *rows) most() int {
	if r.large {
		return MaxLarge
	}
	return MaxState
}

// weigh looks whether the rows have grown too large to be handed on.
func (r *rows) weigh() {
	switch {
	case r.size <= r.most():
		r.full, r.weighed = false, r.size
	case r.weighed <= r.most() || r.size <= r.weighed-weighEvery || r.size >= r.weighed+weighEvery:
		packed, err := r.pack()
		r.weighed, r.full = r.size, err != nil || len(packed) > r.most()
	}
}

// pack returns the rows as bytes.
func (r *rows) pack() ([]byte, error) {
	b := make([]byte, 0, r.size+r.size/8)
	for _, space := range r.Spaces() {
		b = appendText(append(b, 's'), space)
		_ = r.Map.Scan(space, "", func(key string, body []byte) bool {
			b = appendText(appendText(append(b, 'r'), key), string(body))
			return true
		})
	}
	return wire.Compress(nil, b)
}

// unpack reads what pack returned.
func (r *rows) unpack(packed []byte) error {
	if len(packed) == 0 {
		return nil
	}
	b, err := wire.Expand(packed)
	space := ""
	for err == nil && len(b) > 0 {
		what := b[0]
		var key, body string
		switch b = b[1:]; what {
		case 's':
			space, b, err = takeText(b)
		case 'r':
			if key, b, err = takeText(b); err == nil {
				body, b, err = takeText(b)
			}
			if err == nil {
				err = r.Put(space, key, []byte(body))
			}
		default:
			err = errDamaged
		}
	}
	if err != nil {
		return fmt.Errorf("shared state: %w", err)
	}
	r.weigh()
	return nil
}

var errDamaged = errors.New("its rows are damaged")

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func takeText(b []byte) (text string, rest []byte, err error) {
	n, width := binary.Uvarint(b)
	if width <= 0 || n > uint64(len(b)-width) {
		return "", nil, errDamaged
	}
	end := width + int(n)
	return string(b[width:end]), b[end:], nil
}
