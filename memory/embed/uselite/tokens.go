package uselite

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxText is how many bytes of a text are looked at, and maxRunes how many of its characters in their normal form. Both are
	// far beyond what MaxTokens pieces of ordinary text cover.
	maxText  = 64 << 10
	maxRunes = 4096
	// reserved is how many pieces at the head of the list stand for no text; the first of them is any unknown text.
	reserved = 6
	// space is how a space is spelt in pieces, and stands before the text.
	space = '▁'
)

// vocabulary is the list of pieces as a tree: one node a byte.
type vocabulary struct {
	score []float32 // by piece; the higher, the more common
	nodes []branch  // the first is the root
	first [256]int32
}

// branch is the node for one byte. Zero stands for none, as the root is nobody's child.
type branch struct {
	child, next int32 // the first child; the next child of the same parent
	piece       int32 // the piece that ends here
	char        byte
}

func newVocabulary(r *reader) vocabulary {
	n := r.u32()
	v := vocabulary{nodes: make([]branch, 1, 1<<15)}
	for id := int32(0); id < int32(n) && r.err == nil; id++ {
		piece := r.take(r.u8())
		v.score = append(v.score, r.f32())
		if id >= reserved && piece != "" {
			v.insert(piece, id)
		}
	}
	return v
}

func (v *vocabulary) insert(piece string, id int32) {
	at := int32(0)
	for i := range len(piece) {
		next := v.step(at, piece[i])
		if next == 0 {
			next = int32(len(v.nodes))
			v.nodes = append(v.nodes, branch{char: piece[i], next: v.nodes[at].child})
			v.nodes[at].child = next
			if at == 0 {
				v.first[piece[i]] = next
			}
		}
		at = next
	}
	v.nodes[at].piece = id
}

// step gives the node for a byte after the node at, 0 for none.
func (v *vocabulary) step(at int32, c byte) int32 {
	if at == 0 {
		return v.first[c]
	}
	for n := v.nodes[at].child; n != 0; n = v.nodes[n].next {
		if v.nodes[n].char == c {
			return n
		}
	}
	return 0
}

// split is room to split one text: what is known of the best way to each place in it.
type split struct {
	text []byte
	best []end
}

// end is how the best way to a place ends.
type end struct {
	score  float32
	piece  int32
	length int32 // of the piece, in bytes; 0 where no way leads
}

// Tokens gives the pieces of a text: of all ways to split it, the one whose pieces' scores have the highest sum, and a later
// split where two are equal. A run of characters without a piece is one piece, 0, at no cost. An empty text has none.
func (m *Model) Tokens(text string) []int32 {
	s, _ := m.splits.Get().(*split)
	if s == nil {
		s = &split{}
	}
	defer m.splits.Put(s)
	if !s.read(text) {
		return nil
	}
	m.vocabulary.search(s)
	return s.pieces()
}

// read takes a text in its normal form, with its spaces as pieces spell them.
func (s *split) read(text string) bool {
	text = norm.NFKC.String(text[:min(len(text), maxText)])
	if text == "" {
		return false
	}
	s.text = utf8.AppendRune(s.text[:0], space)
	runes := 0
	for _, c := range text { // a byte that is no UTF-8 becomes U+FFFD
		if c == ' ' {
			c = space
		}
		s.text = utf8.AppendRune(s.text, c)
		if runes++; runes == maxRunes {
			break
		}
	}
	n := len(s.text) + 1
	if cap(s.best) < n {
		s.best = make([]end, n)
	}
	s.best = s.best[:n]
	clear(s.best)
	return true
}

// search finds the best way to each place.
func (v *vocabulary) search(s *split) {
	for i := range s.text {
		here := s.best[i]
		if i > 0 && here.length == 0 {
			continue
		}
		known := false
		at := int32(0)
		for j := i; j < len(s.text); j++ {
			if at = v.step(at, s.text[j]); at == 0 {
				break
			}
			if piece := v.nodes[at].piece; piece != 0 {
				known = true
				s.best[j+1].offer(end{here.score + v.score[piece], piece, int32(j + 1 - i)})
			}
		}
		if !known {
			_, size := utf8.DecodeRune(s.text[i:])
			s.best[i+size].offer(end{here.score, 0, int32(size)})
		}
	}
}

func (e *end) offer(by end) {
	if e.length == 0 || by.score >= e.score {
		*e = by
	}
}

// pieces walks the best way back from the end. Every place with a way to it has one onward, so the end has one.
func (s *split) pieces() []int32 {
	n := 0
	s.walk(func(int32) { n++ })
	out := make([]int32, n)
	s.walk(func(piece int32) {
		n--
		out[n] = piece
	})
	return out
}

func (s *split) walk(f func(piece int32)) {
	last := int32(-1)
	for at := len(s.text); at > 0; at -= int(s.best[at].length) {
		if piece := s.best[at].piece; piece != 0 || last != 0 {
			f(piece)
			last = piece
		}
	}
}
