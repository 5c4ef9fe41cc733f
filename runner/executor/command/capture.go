package command

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

const (
	markMax = 512
	headMax = (limits.MaxStream - markMax) / 2
	tailMax = headMax
)

// capture keeps a bounded part of a stream. Its memory is at most limit, or limits.MaxStream once that is exceeded.
type capture struct {
	limit int          // up to here the whole is kept; limits.MaxStream or more
	also  func([]byte) // hears everything too, if set
	mask  *mask.Writer // stands before all of this, if set
	log   logFile
	by    *Executor // knows who reads along; nil: nobody

	drafts bool // the attempt is old enough: what is said goes to the log at once, see draftAfter
	needed bool // the log holds what the journal will not, or somebody reads it

	total int64
	buf   []byte // all of it; or the head, once there is a tail
	tail  []byte // a ring of tailMax bytes
	at    int    // where the ring's oldest byte is
}

func (x *Executor) newCapture(a *event.Attempt, stream string) capture {
	return capture{limit: limits.MaxStream, log: x.logFile(a, stream), by: x}
}

// without makes the capture keep nothing of secrets, and hand on nothing of them.
func (c *capture) without(m *mask.Masker) {
	if m != nil {
		c.mask = m.Writer(c.write)
	}
}

// hear takes a piece of the stream as it comes from the child.
func (c *capture) hear(p []byte) {
	if c.mask != nil {
		c.mask.Write(p)
		return
	}
	c.write(p)
}

// end takes what was held back, once the child says no more.
func (c *capture) end() {
	if c.mask != nil {
		c.mask.End()
	}
}

// write takes a piece of the stream. It copies what it keeps.
func (c *capture) write(p []byte) {
	if c.also != nil {
		c.also(p)
	}
	c.total += int64(len(p))
	switch {
	case c.total > limits.MaxStream || c.followed():
		c.keep()
	case c.drafts:
		c.log.begin(c.buf)
	}
	c.log.write(p)
	switch {
	case c.cut():
		c.push(p)
	case c.total <= int64(c.limit):
		c.buf = append(c.buf, p...)
	default:
		all := append(c.buf, p...)
		c.buf = append([]byte(nil), all[:headMax]...)
		c.tail = make([]byte, tailMax)
		c.push(all[headMax:])
	}
}

// keep begins a log that the answer names. If it was not begun before, nothing has been cut yet.
func (c *capture) keep() {
	c.needed = true
	c.log.begin(c.buf)
}

// push writes to the ring. The first push is longer than the ring, so the ring is always full.
func (c *capture) push(p []byte) {
	if len(p) > tailMax {
		p = p[len(p)-tailMax:]
	}
	n := copy(c.tail[c.at:], p)
	n += copy(c.tail, p[n:])
	c.at = (c.at + n) % tailMax
}

// cut tells whether the stream went beyond the limit.
func (c *capture) cut() bool { return c.tail != nil }

// text is what is kept, as valid UTF-8: wrong bytes become U+FFFD. It has at most limits.MaxStream bytes, where that is the limit
// or the limit was exceeded.
func (c *capture) text() string {
	if c.cut() {
		return c.join(c.buf, append(append([]byte(nil), c.tail[c.at:]...), c.tail[:c.at]...))
	}
	if c.limit > limits.MaxStream {
		return executor.Valid(c.buf)
	}
	return c.inline()
}

// inline is text within limits.MaxStream, whatever the limit was.
func (c *capture) inline() string {
	if c.cut() {
		return c.text()
	}
	text := executor.Valid(c.buf)
	if len(text) <= limits.MaxStream {
		return text
	}
	c.keep() // U+FFFD is longer than the byte that it stands for
	return c.join(c.buf, c.buf)
}

// join puts a mark between the start of head and the end of tail. It cuts no character in two.
func (c *capture) join(head, tail []byte) string {
	head, tail = executor.FirstOf(head, headMax), executor.LastOf(tail, tailMax)
	left := c.total - int64(len(head)) - int64(len(tail))
	return fmt.Sprintf("%s\n[flowrun: %d bytes left out; %s]\n%s", executor.Valid(head), left, c.log.where(), executor.Valid(tail))
}

// logName is the name of the log file as the journal has it; empty if there is none, or the journal has all of it.
func (c *capture) logName() string {
	if !c.needed {
		return ""
	}
	return c.log.rel
}

func (c *capture) close() { c.log.close() }
