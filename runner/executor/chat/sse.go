package chat

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// MaxEvent is how many bytes an event of a stream may have.
const MaxEvent = 4 << 20

var errEventTooLarge = errors.New("an event of the stream is too large")

// streamEvent is one event of a stream of server-sent events.
type streamEvent struct {
	name string // "" where the server gives none
	data string // the lines of data, joined
}

// events reads server-sent events as the HTML standard has them: lines end in CR, LF or both; a line that begins with a colon is a
// comment; an empty line ends an event. At the end of the stream an event counts without its empty line, because some servers forget it.
type events struct {
	r       *bufio.Reader
	started bool
	lf      bool // a line feed now belongs to the carriage return before it
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 32<<10)} }

// next gives the next event with data.
func (s *events) next() (e streamEvent, err error) {
	var data []byte
	lines := 0
	for {
		line, err := s.line(MaxEvent - len(data))
		if err != nil && err != io.EOF {
			return streamEvent{}, err
		}
		if len(line) == 0 {
			if lines > 0 {
				e.data = string(data)
				return e, nil
			}
			if err != nil {
				return streamEvent{}, err
			}
			e.name = ""
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
				return streamEvent{}, errEventTooLarge
			}
		case "event":
			e.name = text
		}
	}
}

// line reads one line without its end. At the end of the stream it gives what there is, and io.EOF with nothing.
func (s *events) line(most int) (line []byte, err error) {
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
			return nil, errEventTooLarge
		}
		line = append(line, c)
	}
}
