package mask

import "io"

// Writer masks a stream and hands it on. It is not safe for concurrent use.
type Writer struct {
	m      *Masker
	next   func([]byte)
	strict bool // see Masker.Message

	find []finder // of each layer
	held []byte   // what came and was not handed on
	runs []run    // what is secret of that and of the piece at hand: in order, and no two touch
	open bool     // what was handed on last was a Mark, and stands for what comes next too if that is secret
	out  []byte
}

// finder is how far a layer has come.
type finder struct {
	state int32   // of what stands in one piece
	lines wrapped // of what may be broken into lines
}

// read takes the byte at a place, and gives where the longest text begins that ends with it; behind it if none does.
func (f *finder) read(l *layer, b byte, at int, strict bool) int {
	start := at + 1
	f.state = l.plain.next(f.state, b)
	if n := l.plain.found(f.state, strict); n > 0 {
		start -= n
	}
	if !f.lines.read(&l.wrapped, b, at) && f.lines.state != 0 {
		if n := l.wrapped.found(f.lines.state, strict); n > 0 {
			start = min(start, f.lines.start(n, at+1))
		}
	}
	return start
}

// begun is where the longest text begins that may go on behind what was read.
func (f *finder) begun(l *layer, read int) int {
	at := read - int(l.plain.depth[f.state])
	if f.lines.state != 0 {
		at = min(at, f.lines.start(int(l.wrapped.depth[f.lines.state]), read))
	}
	return at
}

// idle tells that nothing has begun.
func (w *Writer) idle() bool {
	for k := range w.find {
		if w.find[k].state != 0 || w.find[k].lines.state != 0 {
			return false
		}
	}
	return true
}

// run is a part of what is held and the piece at hand.
type run struct{ start, end int }

// Writer makes a Writer that hands on to next, which must not keep what it gets. A nil Masker's hands on what it gets.
func (m *Masker) Writer(next func([]byte)) *Writer {
	w := &Writer{m: m, next: next}
	if m != nil {
		w.find = make([]finder, len(m.layers))
	}
	return w
}

// Write takes a piece of the stream. What may be the beginning of a secret is held back.
func (w *Writer) Write(p []byte) {
	if w.m == nil {
		w.next(p)
		return
	}
	from, text := len(w.held), p
	if from > 0 {
		w.held = append(w.held, p...)
		text = w.held
	}
	idle := w.idle()
	for i := from; i < len(text); i++ {
		if idle {
			if i = w.m.skip(text, i); i == len(text) {
				break
			}
		}
		start := i + 1
		idle = true
		for k := range w.find {
			f := &w.find[k]
			start = min(start, f.read(w.m.layers[k], text[i], i, w.strict))
			idle = idle && f.state == 0 && f.lines.state == 0
		}
		if start <= i {
			w.cover(start, i+1)
		}
	}
	begun := len(text)
	for k := range w.find {
		begun = min(begun, w.find[k].begun(w.m.layers[k], len(text)))
	}
	w.hand(text, begun)
}

// End hands on what was held back. The Writer is then as new.
func (w *Writer) End() {
	w.hand(w.held, len(w.held))
	clear(w.find)
	w.open = false
}

// cover notes a secret, whose end is behind those of all before. Its beginning may have been handed on, as a Mark.
func (w *Writer) cover(start, end int) {
	start = max(start, 0)
	for last := len(w.runs) - 1; last >= 0 && w.runs[last].end >= start; last-- {
		start = min(start, w.runs[last].start)
		w.runs = w.runs[:last]
	}
	w.runs = append(w.runs, run{start, end})
}

// hand hands on the first n bytes of a text, and holds back the others.
func (w *Writer) hand(text []byte, n int) {
	switch {
	case n == 0:
	case len(w.runs) == 0:
		w.next(text[:n])
		w.open = false
	default:
		w.replace(text, n)
	}
	for k := range w.find {
		w.find[k].lines.move(n)
	}
	w.held = append(w.held[:0], text[n:]...)
}

// replace hands on the first n bytes of a text, with a Mark for each run, and moves what is left of the runs.
func (w *Writer) replace(text []byte, n int) {
	w.out = w.out[:0]
	at, done := 0, 0
	for _, r := range w.runs {
		if r.start >= n {
			break
		}
		if r.start > at {
			w.out = append(w.out, text[at:r.start]...)
			w.open = false
		}
		if !w.open {
			w.out = append(w.out, Mark...)
			w.open = true
		}
		if at = min(r.end, n); r.end > n {
			break
		}
		done++
	}
	if at < n {
		w.out = append(w.out, text[at:n]...)
		w.open = false
	}
	left := w.runs[:0]
	for _, r := range w.runs[done:] {
		left = append(left, run{max(r.start-n, 0), r.end - n})
	}
	w.runs = left
	if len(w.out) > 0 {
		w.next(w.out)
	}
}

// Reader makes a reader of r's text without secrets. Where r fails, what was held back is dropped: it may be half a secret. A nil
// Masker's is r.
func (m *Masker) Reader(r io.Reader) io.Reader {
	if m == nil {
		return r
	}
	x := &reader{from: r, piece: make([]byte, pieceSize)}
	x.w = m.Writer(func(p []byte) { x.ready = append(x.ready, p...) })
	return x
}

// pieceSize is how much a reader takes at a time, in bytes.
const pieceSize = 16 << 10

type reader struct {
	from  io.Reader
	w     *Writer
	piece []byte
	ready []byte
	err   error
}

func (x *reader) Read(p []byte) (int, error) {
	for len(x.ready) == 0 && x.err == nil {
		n, err := x.from.Read(x.piece)
		x.w.Write(x.piece[:n])
		if x.err = err; err == io.EOF {
			x.w.End()
		}
	}
	n := copy(p, x.ready)
	if x.ready = x.ready[n:]; len(x.ready) == 0 {
		x.ready = x.ready[:0]
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, x.err
}
