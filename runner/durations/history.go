package durations

import (
	"encoding/binary"
	"slices"
)

// version is that of the bytes; those of another one count as none.
const version = 1

// History is what is kept of the runs of one workflow. The zero value is that of a workflow that never ran.
type History struct {
	nodes []record // by name
}

// record is what is kept of one node.
type record struct {
	name    string
	age     int // how many runs ended since it was last seen
	times   int // in the newest run that it was seen in; 0: once
	samples samples
}

// samples are the last MaxRuns at most, the oldest first.
type samples struct {
	n    int
	list [MaxRuns]uint16
}

func (s *samples) add(v uint16) {
	if s.n == MaxRuns {
		s.n = copy(s.list[:], s.list[1:])
	}
	s.list[s.n] = v
	s.n++
}

// Add takes a run in that has succeeded. What was not seen in the last [MaxRuns] is forgotten.
func (h *History) Add(took Expected) {
	names := make([]string, 0, len(took.US)+len(took.Times))
	for name := range took.US { // any order: they are sorted next
		names = append(names, name)
	}
	for name := range took.Times { // any order: they are sorted next
		if _, ok := took.US[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	before, after := h.nodes, make([]record, 0, max(len(h.nodes), len(names)))
	for len(before) > 0 || len(names) > 0 {
		switch {
		case len(names) == 0 || len(before) > 0 && before[0].name < names[0]: // not seen this time
			if r := before[0]; r.age+1 < MaxRuns {
				r.age++
				after = append(after, r)
			}
			before = before[1:]
			continue
		case len(before) > 0 && before[0].name == names[0]:
			after = append(after, before[0])
			before = before[1:]
		default:
			after = append(after, record{name: names[0]})
		}
		r := &after[len(after)-1]
		r.age, r.times = 0, took.Times[r.name]
		if us, ok := took.US[r.name]; ok {
			r.samples.add(short(us))
		}
		names = names[1:]
	}
	if len(after) > MaxNodes {
		after = nil
	}
	h.nodes = after
}

// Encode gives the bytes to keep: all of it for the next Add, and what is expected, which is quicker to read.
func (h *History) Encode() (whole, expected []byte) {
	whole, expected = []byte{version}, []byte{version}
	for i := range h.nodes {
		r := &h.nodes[i]
		list := r.samples.list[:r.samples.n]
		whole = appendName(whole, r.name)
		whole = binary.AppendUvarint(whole, uint64(r.age))
		whole = binary.AppendUvarint(whole, uint64(r.times))
		whole = append(whole, byte(len(list)))
		for _, s := range list {
			whole = binary.LittleEndian.AppendUint16(whole, s)
		}
		usual := uint64(0) // 0: not known; else the code and 1
		if len(list) > 0 {
			sorted := r.samples.list
			usual = uint64(median(sorted[:len(list)])) + 1
		}
		expected = appendName(expected, r.name)
		expected = binary.AppendUvarint(expected, usual)
		expected = binary.AppendUvarint(expected, uint64(r.times))
	}
	return whole, expected
}

// DecodeHistory reads what Encode gave as a whole. What cannot be read is an empty history.
func DecodeHistory(whole []byte) *History {
	h, r := &History{}, reader{b: string(whole)}
	for r.begin(); r.more(); {
		n := record{name: r.name(), age: r.number(), times: r.number()}
		for range min(r.number(), MaxRuns) {
			n.samples.add(r.sample())
		}
		if len(h.nodes) > 0 && h.nodes[len(h.nodes)-1].name >= n.name {
			r.bad = true
		}
		h.nodes = append(h.nodes, n)
	}
	if r.bad {
		return &History{}
	}
	return h
}

// DecodeExpected reads the other of the two. What cannot be read expects nothing.
func DecodeExpected(expected []byte) Expected {
	r := reader{b: string(expected)}
	e := Expected{US: make(map[string]int64, len(expected)/12), Times: map[string]int{}}
	for r.begin(); r.more(); {
		name := r.name()
		if usual := r.number(); usual > 0 {
			e.US[name] = long(uint16(usual - 1))
		}
		if times := r.number(); times > 0 {
			e.Times[name] = times
		}
	}
	if r.bad {
		return Expected{}
	}
	return e
}

func appendName(b []byte, name string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(name))), name...)
}

// reader takes bytes apart, and is bad once it could not. It is a string, so that names cost nothing.
type reader struct {
	b   string
	bad bool
}

func (r *reader) begin() {
	if r.bad = r.b == "" || r.b[0] != version; !r.bad {
		r.b = r.b[1:]
	}
}

func (r *reader) more() bool { return r.b != "" && !r.bad }

// number reads what AppendUvarint wrote, up to 32 bits.
func (r *reader) number() (v int) {
	for i := 0; i < len(r.b) && i < 5; i++ {
		c := r.b[i]
		if v |= int(c&0x7f) << (7 * i); c < 0x80 {
			r.b = r.b[i+1:]
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) name() string {
	n := r.number()
	if n > len(r.b) {
		r.bad = true
		return ""
	}
	name := r.b[:n]
	r.b = r.b[n:]
	return name
}

func (r *reader) sample() uint16 {
	if len(r.b) < 2 {
		r.bad = true
		return 0
	}
	s := uint16(r.b[0]) | uint16(r.b[1])<<8
	r.b = r.b[2:]
	return s
}
