package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How much of a long file is read by one request, in bytes, and by the first, which may ask for nothing but the length.
const (
	pieceBytes = 4 << 20
	firstBytes = 64 << 10
)

// Hash returns the SHA-256 of a file and its length in bytes, as PutFile needs them.
func Hash(f io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// PutFile keeps a file that is too long for the memory, and returns once the file is durable. sum and size are those of [Hash]. The server refuses a file
// that has changed since.
func (b *Bucket) PutFile(ctx context.Context, name string, f io.ReaderAt, sum string, size int64) error {
	_, _, err := b.do(ctx, request{method: http.MethodPut, name: name, body: f, most: size, hash: sum})
	return err
}

// File is a file of a bucket that is read in pieces. It is for one goroutine.
type File struct {
	*io.SectionReader
	Written time.Time // zero: the server did not say

	bucket *Bucket
	name   string
	piece  []byte
	from   int64 // where the piece begins
}

// OpenFile opens a file of any length but 0. The error wraps fs.ErrNotExist if there is none.
func (b *Bucket) OpenFile(name string) (*File, error) {
	f := &File{bucket: b, name: name}
	head, err := f.load(0, firstBytes)
	if err != nil {
		return nil, err
	}
	size := int64(len(f.piece))
	if _, total, parted := strings.Cut(head.Get("Content-Range"), "/"); parted {
		if size, err = strconv.ParseInt(total, 10, 64); err != nil {
			return nil, fmt.Errorf("%s does not say how long the file %s is: %q", b, name, head.Get("Content-Range"))
		}
	}
	f.Written, _ = http.ParseTime(head.Get("Last-Modified"))
	f.SectionReader = io.NewSectionReader(pieces{f}, 0, size)
	return f, nil
}

// Close has nothing to do.
func (f *File) Close() error { return nil }

func (f *File) load(from, most int64) (head http.Header, err error) {
	f.piece, head, err = f.bucket.do(context.Background(), request{method: http.MethodGet, name: f.name, most: most, parted: true, from: from})
	f.from = from
	return head, err
}

// pieces reads a file at a place.
type pieces struct{ *File }

func (p pieces) ReadAt(into []byte, at int64) (n int, err error) {
	for n < len(into) {
		if here := at - p.from; here < 0 || here >= int64(len(p.piece)) {
			if _, err := p.load(at, pieceBytes); err != nil {
				return n, err
			}
			if len(p.piece) == 0 {
				return n, io.ErrUnexpectedEOF
			}
		}
		copied := copy(into[n:], p.piece[at-p.from:])
		n, at = n+copied, at+int64(copied)
	}
	return n, nil
}
