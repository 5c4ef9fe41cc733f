package uselite

import (
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/embed/pack"
	"github.com/flowrun/flowrun/memory/embed/wordlist"
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

// vocabulary is the list of pieces.
type vocabulary struct {
	*wordlist.List
	score []float32 // by piece; the higher, the more common
}

// readVocabulary reads the pieces: their number, their f32 scores, their u8 lengths, the length of all, and their letters. Where
// they can't be read, r.Err is set.
func readVocabulary(r *pack.Reader) vocabulary {
	n := r.U32()
	v := vocabulary{score: r.Floats(n)}
	lengths := r.Bytes(n)
	if v.List = wordlist.New(lengths, string(r.Bytes(r.U32()))); v.List == nil && r.Err == nil {
		r.Err = errFormat
	}
	return v
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
	for _, c := range text { // a byte that is not a UTF-8 becomes U+FFFD
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
	text := string(s.text)
	for i := range len(text) {
		here := s.best[i]
		if i > 0 && here.length == 0 {
			continue
		}
		known := false
		hash := wordlist.Start
		for j := i; j < min(i+v.Longest(), len(text)); j++ {
			hash = hash.With(text[j])
			if piece := v.Find(hash, text[i:j+1]); piece >= reserved {
				known = true
				s.best[j+1].offer(end{here.score + v.score[piece], int32(piece), int32(j + 1 - i)})
			}
		}
		if !known {
			_, size := utf8.DecodeRuneInString(text[i:])
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
