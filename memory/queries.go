package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxQueryLine bounds a line of a file of queries, in bytes.
const MaxQueryLine = 1 << 20

// QueryLine is a line of a file of queries. Unknown members are ignored, so that people may keep notes beside a query.
type QueryLine struct {
	ID    string `json:"id"`
	Query string `json:"query"`
}

// ReadQueries reads a file of queries, a JSON object a line, and calls each with every line that is not blank as soon as it is read: its
// number from 1, and the query, or why it is not one. It returns the error of each, of the reader, or of ctx.
func ReadQueries(ctx context.Context, r io.Reader, each func(line int, q QueryLine, err error) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ctx.Err() == nil; n++ {
		line, err := readLine(lines, MaxQueryLine)
		switch {
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, errLong):
			return err
		case err == nil && len(bytes.TrimSpace(line)) == 0:
			continue
		}
		var q QueryLine
		if err == nil {
			q, err = readQuery(line)
		}
		if err := each(n, q, err); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func readQuery(line []byte) (q QueryLine, err error) {
	if !utf8.Valid(line) {
		return q, errors.New("it is not UTF-8")
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, fmt.Errorf(`no query such as {"id":"0","query":"…"}: %w`, err)
	}
	if strings.TrimSpace(q.Query) == "" {
		return q, errors.New(`it has no "query"`)
	}
	return q, nil
}

// errLong refuses a line that is too long; the next line can be read.
var errLong = errors.New("the line is too long")

var byteOrderMark = []byte("\ufeff")

// readLine reads a line of at most the given number of bytes, without its end and without a byte
// order mark before the first line. It reads a longer line to its end and keeps nothing.
func readLine(r *bufio.Reader, most int) (line []byte, err error) {
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
		}
		if len(line) > most+2 { // the line's end
			line, long = nil, true
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (len(line) > 0 || long):
		case err != nil:
			return nil, err
		}
		line = bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), byteOrderMark)
		if long || len(line) > most {
			return nil, fmt.Errorf("%w: %d bytes are the most", errLong, most)
		}
		return line, nil
	}
}
