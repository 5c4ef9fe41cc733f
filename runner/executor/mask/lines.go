package mask

import "sort"

// What may stand between two characters of base64 or hex: the end of a line, as it is or as JSON and shells escape it.
const (
	opening = "\n\r\\"   // what it begins with
	closing = "\n\r\\nr" // what it ends with
	// maxBreak is how long it may be, in bytes: \\r\\n, which is JSON in JSON, has 6.
	maxBreak = 6
)

// wrapped finds texts that are broken into lines anywhere. A backslash and an n or r within what looks like the beginning of one are
// always a break: a text that begins with these letters is not found behind both. It reads a stream as if there were no breaks, and knows where they were.
type wrapped struct {
	state   int32
	breaks  []int // the places of bytes that were passed over, since the state is not 0
	running int   // how many of them stand before the byte at hand
	escape  bool  // the byte before is a backslash of a break
}

// read takes the byte at a place. It reports whether that was none of a text, but of a break.
func (w *wrapped) read(a *automaton, b byte, at int) bool {
	if w.state != 0 && w.running < maxBreak && (b == '\n' || b == '\r' || b == '\\' || w.escape && (b == 'n' || b == 'r')) {
		w.escape = b == '\\'
		w.running++
		w.breaks = append(w.breaks, at)
		return true
	}
	w.escape, w.running = false, 0
	if w.state = a.next(w.state, b); w.state == 0 {
		w.breaks = w.breaks[:0]
	}
	return false
}

// start is where the last n bytes of a text began, if so many bytes have been read.
func (w *wrapped) start(n, read int) int {
	first := read - len(w.breaks) - n // as if there were no breaks
	return first + sort.Search(len(w.breaks), func(k int) bool { return w.breaks[k]-k > first })
}

// move forgets n bytes of the stream, and the breaks among them.
func (w *wrapped) move(n int) {
	k := sort.SearchInts(w.breaks, n)
	w.breaks = append(w.breaks[:0], w.breaks[k:]...)
	for i := range w.breaks {
		w.breaks[i] -= n
	}
}
