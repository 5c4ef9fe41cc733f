package store

import (
	"encoding/binary"
	"iter"
)

// The layout of SQLite's files, as https://www.sqlite.org/fileformat2.html gives it, so far as our rows need it.
const (
	tableLeaf   = 0x0d // first byte of a page that holds rows
	leafHeader  = 8
	mostInPage  = pageSize - 35                 // the largest row that needs no overflow pages
	leastInPage = (pageSize-12)*32/255 - 23     // what is kept of a larger one, at least
	sumType     = 12 + 2*sumSize                // the type of a column of sumSize bytes
	mostRow     = MaxRecord + sumSize + 3*9 + 9 // with its header
)

// image is a database as its pages: those to search for rows, and those that rows may go on in.
type image struct {
	leaves [][]byte
	byNo   func(no uint32) []byte // nil if there is none
}

// rows finds all that looks like a row of the three tables, on pages that may hold anything. Only its checksum tells whether it is
// one. What it gives may point into the pages.
func (m image) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, page := range m.leaves {
			if len(page) < pageSize || page[0] != tableLeaf {
				continue
			}
			cells := min(int(binary.BigEndian.Uint16(page[3:])), (pageSize-leafHeader)/2)
			for i := range cells {
				at := int(binary.BigEndian.Uint16(page[leafHeader+2*i:]))
				if r, ok := m.row(page, at); ok && !yield(r) {
					return
				}
			}
		}
	}
}

// row reads the cell at an offset of a page.
func (m image) row(page []byte, at int) (r row, ok bool) {
	if at >= pageSize {
		return r, false
	}
	cell := page[at:pageSize]
	size, n := varint(cell)
	seq, k := varint(cell[n:])
	if n == 0 || k == 0 || size > mostRow {
		return r, false
	}
	payload, ok := m.payload(cell[n+k:], int(size))
	if !ok {
		return r, false
	}
	r, ok = columns(payload)
	r.seq = seq
	return r, ok
}

// payload gathers the bytes of a row, which go on in overflow pages where they are too many for one.
func (m image) payload(cell []byte, size int) ([]byte, bool) {
	local := size
	if size > mostInPage {
		if local = leastInPage + (size-leastInPage)%(pageSize-4); local > mostInPage {
			local = leastInPage
		}
	}
	if local > len(cell) || size > local && local+4 > len(cell) {
		return nil, false
	}
	if size == local {
		return cell[:size], true
	}
	out := append(make([]byte, 0, size), cell[:local]...)
	for next := binary.BigEndian.Uint32(cell[local:]); len(out) < size; {
		page := m.byNo(next)
		if page == nil {
			return nil, false
		}
		next = binary.BigEndian.Uint32(page)
		out = append(out, page[4:min(pageSize, 4+size-len(out))]...)
	}
	return out, true
}

// columns takes a row of three columns apart: the number, which stands elsewhere, the body and the checksum.
func columns(payload []byte) (r row, ok bool) {
	header, n := varint(payload)
	if n == 0 || header > uint64(len(payload)) {
		return r, false
	}
	types, rest := payload[n:max(n, int(header))], payload[header:]
	if len(types) == 0 || types[0] != 0 { // NULL: the number is the row's
		return r, false
	}
	body, n := varint(types[1:])
	sum, k := varint(types[1+n:])
	if n == 0 || k == 0 || body < 12 || body%2 != 0 || sum != sumType || (body-12)/2+sumSize != uint64(len(rest)) {
		return r, false
	}
	size := len(rest) - sumSize
	return row{body: rest[:size], sum: rest[size:]}, true
}

// varint reads a number of SQLite's, and gives its length, which is 0 where it is cut off.
func varint(b []byte) (v uint64, n int) {
	for n = range min(len(b), 9) {
		if n == 8 {
			return v<<8 | uint64(b[8]), 9
		}
		if v = v<<7 | uint64(b[n]&0x7f); b[n] < 0x80 {
			return v, n + 1
		}
	}
	return 0, 0
}
