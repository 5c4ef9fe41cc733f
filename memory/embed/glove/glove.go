// Package glove turns a text into the mean of its words' vectors: 100 numbers, made in some microseconds. It knows 30,000 English
// words, so it finds other words for the same thing, but no order and no negation.
//
// The mean is the SIF embedding of Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings" (2017): a
// word counts the less the more common it is, and the direction that all texts of a store share is taken out. So a vector
// depends on the store it lies in. Keep the means, [Words.Fit] a direction, and take it out with [Without]; vectors of two
// directions must not be compared.
//
// Enter at [Load]. The package imports how words are told apart (memory/text) and how the list is packed (memory/embed/pack), and
// must not import anything else of flowrun. Nothing is read before the first Load, vectors stay small integers, and equal texts
// have equal means. The word list is described in WEIGHTS.md beside this file.
package glove

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/flowrun/flowrun/memory/embed/pack"
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
var packed string

var errFormat = errors.New("glove: the word vectors are damaged")

// Words is the list of words with their vectors, the most common first. It is safe for use by many goroutines.
type Words struct {
	rank map[string]uint16
	rows []row
	// shares is the sum that a word's rank is divided by to give its share of all text, by Zipf's law.
	shares float64
	common func() []float32
}

// row is a word's vector: integers, and what one of them stands for.
type row struct {
	q     string // Dim integers of 8 bits
	scale float32
}

// Load reads the words, once, at its first call (some milliseconds). An error means a damaged binary.
var Load = sync.OnceValues(unpack)

func unpack() (*Words, error) {
	file, err := pack.Unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return read(file)
}

// read makes the list of a file. The file: "FRGLV1\n\0", u32 words, u32 numbers a word, then for each word {u8 length, word, f32
// scale, int8 numbers}, the most common word first. Numbers are little-endian.
func read(b string) (*Words, error) {
	if len(b) < 16 || b[:8] != "FRGLV1\n\x00" || u32(b[12:]) != Dim || u32(b[8:]) > 1<<16 {
		return nil, errFormat
	}
	n := int(u32(b[8:]))
	w := &Words{rank: make(map[string]uint16, n), rows: make([]row, n), shares: math.Log(float64(n)) + 0.5772}
	b = b[16:]
	for i := range n {
		if len(b) == 0 || len(b) < 5+int(b[0])+Dim {
			return nil, errFormat
		}
		long := int(b[0])
		w.rank[b[1:1+long]] = uint16(i)
		w.rows[i] = row{b[5+long : 5+long+Dim], math.Float32frombits(u32(b[1+long:]))}
		b = b[5+long+Dim:]
	}
	w.common = sync.OnceValue(w.commonDirection)
	return w, nil
}

func u32(b string) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// find gives the rank of a word, or of its stem.
func (w *Words) find(word string) (int, bool) {
	i, ok := w.rank[word]
	if !ok {
		i, ok = w.rank[text.Stem(word)]
	}
	return int(i), ok
}

// share is the part of all text that the word of a rank makes up.
func (w *Words) share(rank int) float64 { return 1 / (float64(rank+1) * w.shares) }

// Mean is the weighted mean of the vectors of a text's words; nil for a text without a known word.
func (w *Words) Mean(s string) []float32 {
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
		w.rows[i].addTo(v, weight)
	}
	for j := range v {
		v[j] /= float32(sum)
	}
	return v
}

func (r row) addTo(v []float32, weight float64) {
	f := float32(weight) * r.scale
	q := r.q[:len(v)]
	for j := range v {
		v[j] += float32(f * float32(int8(q[j])))
	}
}
