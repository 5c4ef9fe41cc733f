package local

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/shared"
)

// A row of a table costs more than the recorded answer in it. So the answers of a transaction that answers many operations on keys are one row,
// a pack, in the same space, and other answers are rows of their own. Packs are read where an answer may be in one: by a drive that did not
// write them, and for another attempt of a step.

// minPack is how many answers make a pack at least.
const minPack = 16

// packPrefix is how the key of a pack begins. The key of an answer begins with the path of a node, and no path begins so.
const packPrefix = "!"

// packs are the packs of one run. Transactions of its drive touch them, and no others.
type packs struct {
	next    uint64            // the number of the next pack
	unread  uint64            // the first pack whose answers are not in answers
	answers map[string][]byte // by the keys of their rows
}

func packKey(number uint64) string { return fmt.Sprintf("%s%016x", packPrefix, number) }

// read reads the packs that were written since the last call.
func (p *packs) read(rows shared.Rows, space string) (err error) {
	broken := rows.Scan(space, packKey(p.unread), func(key string, body []byte) bool {
		digits, is := strings.CutPrefix(key, packPrefix)
		if !is {
			return false
		}
		number := uint64(0)
		if number, err = strconv.ParseUint(digits, 16, 64); err == nil {
			err = p.unpack(string(body))
		}
		p.unread, p.next = number+1, max(p.next, number+1)
		return err == nil
	})
	if broken != nil {
		return broken
	}
	if err != nil {
		return &shared.Refusal{Message: "the recorded answers are damaged: " + err.Error()}
	}
	return nil
}

func (p *packs) unpack(body string) error {
	if p.answers == nil {
		p.answers = map[string][]byte{}
	}
	for rest := body; rest != ""; {
		var parts [2]string
		for i := range parts {
			n, size := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
			if size <= 0 || n > uint64(len(rest)-size) {
				return fmt.Errorf("a pack of %d bytes is cut off", len(body))
			}
			parts[i], rest = rest[size:size+int(n)], rest[size+int(n):]
		}
		p.answers[parts[0]] = []byte(parts[1])
	}
	return nil
}

// fill gives rows that were not found the answers of the packs.
func (p *packs) fill(s *batchSpace) {
	for _, keys := range [][]string{s.begins, s.answers} {
		for _, key := range keys {
			if r := s.rows[key]; r.packs && !r.found {
				r.body, r.found = p.answers[key]
			}
		}
	}
}

// pack takes answers out of the changed rows of a space, and returns the row of their pack; ok is false if they are too few.
func (p *packs) pack(s *batchSpace) (key string, body []byte, ok bool) {
	small := func(key string) bool {
		r := s.rows[key]
		return r.packs && len(r.body) <= limits.MaxInline
	}
	n, size := 0, 0
	for _, key := range s.changed {
		if small(key) {
			n, size = n+1, size+len(key)+len(s.rows[key].body)+2*binary.MaxVarintLen16
		}
	}
	if n < minPack {
		return "", nil, false
	}
	body = make([]byte, 0, size)
	rest := s.changed[:0]
	for _, key := range s.changed {
		if !small(key) {
			rest = append(rest, key)
			continue
		}
		r := s.rows[key]
		body = append(binary.AppendUvarint(body, uint64(len(key))), key...)
		body = append(binary.AppendUvarint(body, uint64(len(r.body))), r.body...)
		r.changed = false
	}
	s.changed = rest
	key = packKey(p.next)
	p.next++
	return key, body, true
}
