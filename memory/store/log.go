package store

import (
	"bytes"
	"encoding/binary"
)

const (
	logHeader   = 32
	frameHeader = 24
)

// frame is a page in the log.
type frame struct {
	no   uint32
	page []byte
}

// readLog splits a log into the frames of transactions that were committed, in order, and all others: cut off by a death, or left
// over from before the log was begun anew. It trusts no checksum, for behind a frame that was damaged SQLite sees none. A
// transaction ends with a frame that tells the size of the database; the two numbers that a log draws when it begins stand in
// every frame of it.
func readLog(log []byte) (committed, rest []frame) {
	if len(log) < logHeader {
		return nil, nil
	}
	frames := (len(log) - logHeader) / (frameHeader + pageSize)
	at := func(i int) []byte { return log[logHeader+i*(frameHeader+pageSize):][:frameHeader+pageSize] }
	draw, end := log[16:24], 0
	if frames > 0 && !drawn(draw, at, frames) {
		draw = at(0)[8:16] // the header is damaged
	}
	for i := range frames {
		if f := at(i); bytes.Equal(f[8:16], draw) && binary.BigEndian.Uint32(f[4:]) != 0 {
			end = i + 1
		}
	}
	for i := range frames {
		f := at(i)
		it := frame{binary.BigEndian.Uint32(f), f[frameHeader:]}
		if i < end && bytes.Equal(f[8:16], draw) {
			committed = append(committed, it)
		} else {
			rest = append(rest, it)
		}
	}
	return committed, rest
}

// drawn tells whether any frame carries the numbers.
func drawn(draw []byte, at func(int) []byte, frames int) bool {
	for i := range frames {
		if bytes.Equal(at(i)[8:16], draw) {
			return true
		}
	}
	return false
}

// images are a database with its log: what was committed, and what may lie around besides.
func images(database, log []byte) (present, remains image) {
	committed, rest := readLog(log)
	in := func(frames ...[]frame) image {
		latest := map[uint32][]byte{}
		var m image
		for _, list := range frames {
			for _, f := range list {
				latest[f.no] = f.page
				m.leaves = append(m.leaves, f.page)
			}
		}
		m.byNo = func(no uint32) []byte {
			if page := latest[no]; page != nil {
				return page
			}
			if from := (int64(no) - 1) * pageSize; no > 0 && from+pageSize <= int64(len(database)) {
				return database[from : from+pageSize]
			}
			return nil
		}
		return m
	}
	present, remains = in(committed), in(committed, rest)
	for from := 0; from+pageSize <= len(database); from += pageSize {
		present.leaves = append(present.leaves, database[from:from+pageSize])
	}
	return present, remains
}
