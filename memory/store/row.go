package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// MaxRecord is how large a record may be as JSON, in bytes.
const MaxRecord = 4 << 20

// sumSize is the size of a checksum: half a SHA-256.
const sumSize = 16

// storeID is in every checksum, so that rows of another store are not taken for ours.
type storeID [16]byte

func newID() (id storeID) {
	rand.Read(id[:])
	return id
}

// row is a line of one of the three tables.
type row struct {
	seq       uint64
	body, sum []byte
}

// sorts of rows, within the checksum: a name is never taken for a record.
const (
	ofRecord   = 'r'
	ofName     = 'n'
	ofIdentity = 'i'
)

func checksum(sort byte, id storeID, seq uint64, body []byte) [sumSize]byte {
	h := sha256.New()
	var head [1 + len(id) + 8]byte
	head[0] = sort
	copy(head[1:], id[:])
	binary.LittleEndian.PutUint64(head[1+len(id):], seq)
	h.Write(head[:])
	h.Write(body)
	return [sumSize]byte(h.Sum(nil))
}

func makeRow(sort byte, id storeID, seq uint64, body []byte) row {
	sum := checksum(sort, id, seq, body)
	return row{seq, body, sum[:]}
}

func (r row) verify(sort byte, id storeID) bool {
	sum := checksum(sort, id, r.seq, r.body)
	return bytes.Equal(sum[:], r.sum)
}

// identity is row 0.
type identity struct {
	Store   string `json:"store"`
	Version int    `json:"version"`
}

func identityRow(id storeID, version int) row {
	body, err := json.Marshal(identity{hex.EncodeToString(id[:]), version})
	if err != nil {
		panic(err)
	}
	return makeRow(ofIdentity, storeID{}, 0, body)
}

// readIdentity reads row 0, if that is what the row is.
func (r row) readIdentity() (id storeID, version int, ok bool) {
	var i identity
	if r.seq != 0 || !r.verify(ofIdentity, storeID{}) || json.Unmarshal(r.body, &i) != nil {
		return id, 0, false
	}
	n, err := hex.Decode(id[:], []byte(i.Store))
	return id, i.Version, err == nil && n == len(id)
}

// encode makes a record's row. What is read back from it is what everybody sees, so that a fresh open shows nothing else.
func encode(r *entry.Record, id storeID) (row, error) {
	r.At = r.At.UTC()
	if r.Entry != nil {
		e := *r.Entry
		e.CreatedAt = e.CreatedAt.UTC()
		r.Entry = &e
	}
	body, err := json.Marshal(r)
	if err != nil {
		return row{}, err
	}
	if len(body) > MaxRecord {
		return row{}, fmt.Errorf("%w: %d bytes of JSON, %d are allowed", ErrTooLarge, len(body), MaxRecord)
	}
	*r, err = decode(body)
	return makeRow(ofRecord, id, r.Seq, body), err
}

func decode(body []byte) (r entry.Record, err error) {
	err = json.Unmarshal(body, &r)
	return r, err
}

// nameOf is a record's line in the third table: what it does, and the ids of the entries that it does it to.
func nameOf(r *entry.Record) []byte {
	words := append([]string{string(r.Op)}, r.IDs...)
	if r.Op == entry.Put {
		words = append(words, r.Entry.ID)
	}
	return []byte(strings.Join(words, "\n")) // no id has a line break
}

func splitName(name []byte) (op string, ids []string) {
	words := strings.Split(string(name), "\n")
	return words[0], words[1:]
}
