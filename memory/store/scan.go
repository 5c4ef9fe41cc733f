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
	at, ok = columns(cell[n+k:], int(size)) // before anything is gathered: noise would take long
	if !ok {
		return r, false
	}
	payload, ok := m.payload(cell[n+k:], int(size))
	if !ok {
		return r, false
	}
	end := len(payload) - sumSize
	return row{seq, payload[at:end], payload[end:]}, true
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

// columns reads the beginning of a row of so many bytes, and tells where the body begins: behind it comes the checksum. A row has
// three columns, the first of which stands elsewhere: it is the row's number.
func columns(b []byte, size int) (body int, ok bool) {
	header, n := varint(b)
	if n == 0 || n >= len(b) || b[n] != 0 { // NULL
		return 0, false
	}
	bodyType, k := varint(b[n+1:])
	sum, l := varint(b[n+1+k:])
	ok = k > 0 && l > 0 && header == uint64(n+1+k+l) && bodyType >= 12 && bodyType%2 == 0 && sum == sumType &&
		header+(bodyType-12)/2+sumSize == uint64(size)
	return int(header), ok
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
