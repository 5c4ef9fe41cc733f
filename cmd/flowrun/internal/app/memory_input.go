package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// stdinName is the name of standard input on the command line.
const stdinName = "-"

// input opens a file to be read, or standard input for "-". It returns the size in bytes if the
// size is known. A read that blocks is abandoned when ctx ends.
func (a *app) input(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	if name == stdinName {
		return untilDone(ctx, a.Stdin), 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: name a file of JSON lines", name)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return untilDone(ctx, f), 0, nil
	}
	return f, info.Size(), nil
}

// untilDone reads until ctx ends, even if the reader blocks: Ctrl-C must not wait for a newline.
func untilDone(ctx context.Context, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { out.CloseWithError(ctx.Err()) })
	return out
}

// nameOf returns the name of an input in messages.
func nameOf(name string) string {
	if name == stdinName {
		return "standard input"
	}
	return name
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
