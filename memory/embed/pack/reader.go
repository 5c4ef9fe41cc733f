package pack

import (
	"encoding/binary"
	"math"
)

// Reader reads packed bytes in their order. After the first thing that is not there it gives zeros, and Err is set. Numbers are
// little-endian.
type Reader struct {
	From *Packed
	At   int // where it reads next
	Err  error
}

// Bytes gives the next n bytes, which must not be written to.
func (r *Reader) Bytes(n int) []byte {
	at := r.Skip(n)
	if r.Err != nil {
		return nil
	}
	var b []byte
	b, r.Err = r.From.Bytes(at, at+n)
	return b
}

// Skip passes over n bytes without unpacking them, and gives the place of the first.
func (r *Reader) Skip(n int) (at int) {
	if r.Err == nil && (n < 0 || n > r.From.Len()-r.At) {
		r.Err = ErrDamaged
	}
	if r.Err != nil {
		return 0
	}
	at = r.At
	r.At += n
	return at
}

// U8 reads a number of one byte.
func (r *Reader) U8() int {
	if b := r.Bytes(1); b != nil {
		return int(b[0])
	}
	return 0
}

// U32 reads a number of four bytes.
func (r *Reader) U32() int {
	if b := r.Bytes(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// Floats reads n floats of four bytes; nil where they are not there.
func (r *Reader) Floats(n int) []float32 {
	b := r.Bytes(4 * n)
	if r.Err != nil {
		return nil
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
