// Package inflate expands what flate has compressed, without memory of its own for each text. A reader takes 45 KB, which is ten times most payloads: to
// make it anew took as long as the expansion.
//
// Enter at [All].
package inflate

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

var readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// All returns the text of b, of which there are at most so many bytes.
func All(b []byte, most int64) ([]byte, error) {
	r := readers.Get().(io.ReadCloser)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.Grow(min(4*len(b), 1<<20) + bytes.MinRead) // texts shrink to a fourth
	n, err := text.ReadFrom(io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("a payload has more than %d bytes", most)
	}
	return text.Bytes(), err
}
