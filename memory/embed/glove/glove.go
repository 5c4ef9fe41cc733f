// Package glove turns a text into the mean of its words' vectors: 100 numbers, made in some microseconds. It knows 30,000 English
// words, so it finds other words for the same thing, but no order and no negation.
//
// The mean is the SIF embedding of Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings" (2017): a
// word counts the less the more common it is, and the direction that all texts of a store share is taken out. So a vector
// depends on the store it lies in. Keep the means, [Words.Fit] a direction, and take it out with [Without]; vectors of two
// directions must not be compared.
//
// Enter at [Load]. The package imports how words are told apart (memory/text), how they are found in a list
// (memory/embed/wordlist) and how the vectors are packed (memory/embed/pack), and must not import anything else of flowrun.
// Nothing is read before the first Load and no vector before a text has such a word, vectors stay small integers, and equal texts
// have equal means. The word list is described in WEIGHTS.md beside this file.
package glove

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/memory/embed/pack"
	"github.com/flowrun/flowrun/memory/embed/wordlist"
	"github.com/flowrun/flowrun/memory/text"
)

const (
	// Dim is the length of a vector.
	Dim = 100
	// Name is the name of the model. Vectors of models with different names must not be compared.
	Name = "glove-sif-en-1"
	// rarity is the paper's a: a word whose share of all text is this large counts half.
	rarity = 1e-3
)

//go:embed glove-en-100d.int8.packed
var packed []byte // never written to

// room is where they are unpacked to.
var room [3_364_634]byte

var errFormat = errors.New("glove: the word vectors are damaged")

// Words is the list of words with their vectors, the most common first. It is safe for use by many goroutines.
type Words struct {
	list  *wordlist.List
	file  *pack.Packed
	at    int       // where the vectors begin in the file
	scale []float32 // by rank: what one of a vector's integers stands for
	// shares is the sum that a word's rank is divided by to give its share of all text, by Zipf's law.
	shares float64
	common []float32 // the direction of English text
}

// Load reads the words, once, at its first call (about a millisecond). An error means a damaged binary.
var Load = sync.OnceValues(func() (*Words, error) { return read(packed, room[:]) })

// read makes the list of a packed file. The file: "FRGLV2\n\0", u32 words, u32 numbers a word, f32 numbers of the direction of
// English text, the words' u8 lengths, the length of all, their letters, their f32 scales, and their int8 numbers; the most common
// word first. Numbers are little-endian.
func read(packed, room []byte) (*Words, error) {
	file, err := pack.Open(packed, room)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	r := &pack.Reader{From: file}
	magic, n, dim := string(r.Bytes(8)), r.U32(), r.U32()
	if magic != "FRGLV2\n\x00" || dim != Dim {
		return nil, errFormat
	}
	w := &Words{file: file, shares: libm.Log(float64(n)) + 0.5772, common: r.Floats(Dim)}
	lengths := r.Bytes(n)
	w.list = wordlist.New(lengths, string(r.Bytes(r.U32())))
	w.scale = r.Floats(n)
	if w.at = r.Skip(n * Dim); r.Err != nil || w.list == nil || r.At != file.Len() {
		return nil, errFormat
	}
	return w, nil
}

// find gives the rank of a word, or of its stem.
func (w *Words) find(word string) (rank int, ok bool) {
	if rank = w.list.Find(wordlist.HashOf(word), word); rank < 0 {
		word = text.Stem(word)
		rank = w.list.Find(wordlist.HashOf(word), word)
	}
	return rank, rank >= 0
}

// share is the part of all text that the word of a rank makes up.
func (w *Words) share(rank int) float64 { return 1 / (float64(rank+1) * w.shares) }

// Mean is the weighted mean of the vectors of a text's words; nil for a text without a known word. An error means a damaged binary.
func (w *Words) Mean(s string) ([]float32, error) {
	var v []float32
	var sum float64
	for _, word := range text.Words(s) {
		i, ok := w.find(word)
		if !ok {
			continue
		}
		if v == nil {
			v = make([]float32, Dim)
		}
		weight := rarity / (rarity + w.share(i))
		sum += weight
		if err := w.addTo(v, i, weight); err != nil {
			return nil, err
		}
	}
	for j := range v {
		v[j] /= float32(sum)
	}
	return v, nil
}

// addTo adds the vector of a rank.
func (w *Words) addTo(v []float32, rank int, weight float64) error {
	q, err := w.file.Bytes(w.at+rank*Dim, w.at+(rank+1)*Dim)
	if err != nil {
		return fmt.Errorf("%w: %w", errFormat, err)
	}
	f := float32(float32(weight) * w.scale[rank])
	q = q[:len(v)]
	for j := range v {
		v[j] += float32(f * float32(int8(q[j])))
	}
	return nil
}
