package http

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// errTooLarge says that a body goes beyond its bound.
var errTooLarge = errors.New("the body is larger than its limit")

// zipSlack is how much longer than its content a packed body may be. What cannot be packed grows by less than a thousandth;
// more is there only to keep us busy.
const zipSlack = 64 << 10

// content is the body of an answer, unpacked where we offered that, and bounded on both sides of the unpacking: reading beyond
// the bound fails with errTooLarge. Secrets are masked: whoever reads may cut.
func (res *response) content(limit int64) (io.Reader, error) {
	r, err := res.unpacked(limit)
	if err != nil {
		return nil, err
	}
	return wiredBody(res.ctx, res.mask.Reader(r)), nil
}

func (res *response) unpacked(limit int64) (io.Reader, error) {
	packed := res.to.zipped && strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip")
	if !packed || res.to.method == "HEAD" {
		return &bounded{r: res.Body, left: limit}, nil
	}
	res.Header.Del("Content-Encoding") // these two speak of what went over the wire
	res.Header.Del("Content-Length")
	unzip, err := gzip.NewReader(&bounded{r: res.Body, left: limit + zipSlack})
	if err == io.EOF { // nothing at all: 204, 304
		return strings.NewReader(""), nil
	}
	if err != nil {
		return nil, err
	}
	return &bounded{r: unzip, left: limit}, nil
}

// bounded reads up to a number of bytes, and fails where there are more.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		return int(b.left), errTooLarge
	}
	b.left -= int64(n)
	return n, err
}
