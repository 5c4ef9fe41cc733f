// Package pack keeps the weights of an embedder shorter in the binary than they are in memory: a tenth of what 8-bit weights
// take can be saved by Huffman codes alone, as small ones are more frequent, and no more by looking for repeats (as flate and
// Zstandard do), as there are none.
//
// Enter at [Unpack]. The package knows nothing of what it packs, and must not import anything else of flowrun. The codes are
// those of Zstandard, by huff0 of github.com/klauspost/compress, which unpacks them several times as fast as flate.
package pack

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/huff0"
)

const (
	// block is how many bytes share one table of codes.
	block = 128 << 10
	// head is the length of the total size before the blocks, and of the size before each.
	head = 4
	// most bounds what is unpacked, so that damage does not take all memory.
	most = 64 << 20
)

// ErrDamaged says that bytes are not what [Pack] made.
var ErrDamaged = errors.New("pack: the packed bytes are damaged")

// Pack shortens bytes: their number, then each block as its packed size and codes, or as it is where that is shorter.
func Pack(b []byte) ([]byte, error) {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	for len(b) > 0 {
		next := b[:min(block, len(b))]
		b = b[len(next):]
		codes, _, err := huff0.Compress4X(next, &huff0.Scratch{})
		switch {
		case errors.Is(err, huff0.ErrIncompressible), errors.Is(err, huff0.ErrUseRLE):
			codes = next
		case err != nil:
			return nil, err
		}
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(codes))), codes...)
	}
	return out, nil
}

// Unpack gives back what was packed, or [ErrDamaged]. Not all damage is seen: there is no sum over the bytes.
func Unpack(packed []byte) ([]byte, error) {
	size, packed, ok := number(packed)
	if !ok || size > most {
		return nil, ErrDamaged
	}
	out, scratch := make([]byte, 0, size), &huff0.Scratch{}
	for len(out) < size {
		n, rest, ok := number(packed)
		if !ok || n > len(rest) {
			return nil, ErrDamaged
		}
		end := min(len(out)+block, size)
		if err := unpack(out[len(out):len(out):end], rest[:n], scratch); err != nil {
			return nil, ErrDamaged
		}
		out, packed = out[:end], rest[n:]
	}
	if len(packed) > 0 {
		return nil, ErrDamaged
	}
	return out, nil
}

// unpack fills a block of cap(out) bytes.
func unpack(out, codes []byte, scratch *huff0.Scratch) error {
	if len(codes) == cap(out) {
		copy(out[:cap(out)], codes)
		return nil
	}
	scratch, codes, err := huff0.ReadTable(codes, scratch)
	if err != nil {
		return err
	}
	got, err := scratch.Decoder().Decompress4X(out, codes)
	if err == nil && len(got) != cap(out) {
		err = ErrDamaged
	}
	return err
}

// number takes a number of [head] bytes off the front.
func number(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < head {
		return 0, nil, false
	}
	return int(binary.LittleEndian.Uint32(b)), b[head:], true
}
