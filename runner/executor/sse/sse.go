// Package sse reads streams of server-sent events, as models and agents answer with them. It knows nothing of what they say. Enter at [NewReader].
//
// An event has at most [MaxEvent] bytes, and a reader takes no more memory than that.
package sse

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// MaxEvent is how many bytes an event of a stream may have.
const MaxEvent = 4 << 20

// ErrTooLarge is the error of an event of more than MaxEvent bytes.
var ErrTooLarge = errors.New("an event of the stream is too large")

// Event is one event of a stream of server-sent events.
type Event struct {
	Name string // "" where the server gives none
	Data string // the lines of data, joined
}

// Reader reads server-sent events as the HTML standard has them: lines end in CR, LF or both; a line that begins with a colon is a
// comment; an empty line ends an event. At the end of the stream an event counts without its empty line, because some servers forget it.
type Reader struct {
	r       *bufio.Reader
	started bool
	lf      bool // a line feed now belongs to the carriage return before it
}

// NewReader reads a body.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 32<<10)} }

// Next gives the next event with data. At the end of the stream the error is io.EOF.
func (s *Reader) Next() (e Event, err error) {
	var data []byte
	lines := 0
	for {
		line, err := s.line(MaxEvent - len(data))
		if err != nil && err != io.EOF {
			return Event{}, err
		}
		if len(line) == 0 {
			if lines > 0 {
				e.Data = string(data)
				return e, nil
			}
			if err != nil {
				return Event{}, err
			}
			e.Name = ""
			continue
		}
		field, text, _ := strings.Cut(string(line), ":")
		text = strings.TrimPrefix(text, " ")
		switch field {
		case "data":
			if lines > 0 {
				data = append(data, '\n')
			}
			lines++
			data = append(data, text...)
			if len(data) > MaxEvent {
				return Event{}, ErrTooLarge
			}
		case "event":
			e.Name = text
		}
	}
}

// line reads one line without its end. At the end of the stream it gives what there is, and io.EOF with nothing.
func (s *Reader) line(most int) (line []byte, err error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if err == io.EOF && len(line) > 0 {
				return line, nil
			}
			return nil, err
		}
		follows := s.lf
		s.lf = false
		switch {
		case c == '\n' && follows:
			continue
		case c == '\n' || c == '\r':
			s.lf = c == '\r'
			if !s.started {
				s.started = true
				line = []byte(strings.TrimPrefix(string(line), "\uFEFF"))
			}
			return line, nil
		case len(line) > most+len("data: "):
			return nil, ErrTooLarge
		}
		line = append(line, c)
	}
}
