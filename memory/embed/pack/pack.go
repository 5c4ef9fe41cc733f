// Package pack keeps the weights of an embedder shorter in the binary than they are in memory: a tenth of what 8-bit weights
// take can be saved by Huffman codes alone, as small ones are more frequent, and no more by looking for repeats (as flate and
// Zstandard do), as there are none. The codes stand in blocks, each unpacked when something of it is first asked for: a short
// text needs few rows of a large table.
//
// Enter at [Open] and [Packed.Bytes], or with a [Reader] at the start. The package knows nothing of what it packs, and must not
// import anything else of flowrun. The codes are those of Zstandard, by huff0 of github.com/klauspost/compress, which unpacks
// them several times as fast as flate.
package pack

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/huff0"
)

const (
	// block is how many bytes share one table of codes, and are unpacked together. In ones of 128 KiB the weights are 0.3 % shorter,
	// and the rows of a short text cost four times as much.
	block = 16 << 10
	// head is the length of the total size, and of the packed size of each block, all of which stand before the blocks.
	head = 4
	// most bounds what is unpacked, so that damage does not take all memory.
	most = 64 << 20
)

// ErrDamaged says that bytes are not what [Pack] made, or that there are none where some were asked for.
var ErrDamaged = errors.New("pack: the packed bytes are damaged")

// Pack shortens bytes: their number, the packed size of each block, then each block's codes, or the block as it is where that is
// shorter.
func Pack(b []byte) ([]byte, error) {
	sizes, all := binary.LittleEndian.AppendUint32(nil, uint32(len(b))), []byte(nil)
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
		sizes, all = binary.LittleEndian.AppendUint32(sizes, uint32(len(codes))), append(all, codes...)
	}
	return append(sizes, all...), nil
}

// Packed are bytes that are unpacked where they are asked for. It is safe for use by many goroutines.
type Packed struct {
	bytes  []byte // those of a block mean nothing before it is unpacked
	blocks []codes
}

// codes are those of a block, until they are unpacked.
type codes struct {
	packed []byte
	once   sync.Once
	err    error
}

// Open takes what [Pack] made, which it keeps and does not write to, and room to unpack it to: of exactly its size, or nil for room
// of its own. It unpacks nothing yet, so the only damage that it sees is that of the sizes.
//
// Room that is a variable of a package is not a part of the heap, so that having it does not bring a collection about: a millisecond of
// a short command.
func Open(packed, room []byte) (*Packed, error) {
	if len(packed) < head {
		return nil, ErrDamaged
	}
	size := int(binary.LittleEndian.Uint32(packed))
	n := (size + block - 1) / block
	if size < 0 || size > most || len(packed) < head*(1+n) {
		return nil, ErrDamaged
	}
	if room == nil {
		room = make([]byte, size)
	}
	if len(room) != size {
		return nil, ErrDamaged
	}
	p := &Packed{bytes: room, blocks: make([]codes, n)}
	sizes, rest := packed[head:], packed[head*(1+n):]
	for i := range p.blocks {
		size := int(binary.LittleEndian.Uint32(sizes[head*i:]))
		if size < 0 || size > len(rest) {
			return nil, ErrDamaged
		}
		p.blocks[i].packed, rest = rest[:size], rest[size:]
	}
	if len(rest) > 0 {
		return nil, ErrDamaged
	}
	return p, nil
}

// Len is how many bytes were packed.
func (p *Packed) Len() int { return len(p.bytes) }

// Bytes gives the bytes from one place up to another as they were before they were packed. They must not be written to. The error
// is [ErrDamaged], also where there are no such places. Not all damage is seen: there is no sum over the bytes.
func (p *Packed) Bytes(from, to int) ([]byte, error) {
	if from < 0 || from > to || to > len(p.bytes) {
		return nil, ErrDamaged
	}
	for i := from / block; i*block < to && from < to; i++ {
		c := &p.blocks[i]
		c.once.Do(func() {
			end := min((i+1)*block, len(p.bytes))
			c.err = unpack(p.bytes[i*block:i*block:end], c.packed)
			c.packed = nil
		})
		if c.err != nil {
			return nil, c.err
		}
	}
	return p.bytes[from:to:to], nil
}

// scratch is room to unpack one block at a time, guarded by mu. It is not a part of [Packed]: the linker keeps the methods of whatever a
// value in an interface leads to, and those of this pack as well.
var (
	mu      sync.Mutex
	scratch *huff0.Scratch
)

// unpack fills a block of cap(out) bytes.
func unpack(out, packed []byte) error {
	if len(packed) == cap(out) {
		copy(out[:cap(out)], packed)
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	table, rest, err := huff0.ReadTable(packed, scratch)
	if err != nil {
		return ErrDamaged
	}
	scratch = table
	got, err := table.Decoder().Decompress4X(out, rest)
	if err != nil || len(got) != cap(out) {
		return ErrDamaged
	}
	return nil
}
