// Package glove turns a text into the mean of its words' vectors: 100 numbers, made in some microseconds. It knows 30,000 English
// words, so it finds other words for the same thing, but no order and no negation.
//
// The mean is the SIF embedding of Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings" (2017): a
// word counts the less the more common it is, and the direction that all texts of a store share is taken out. So a vector
// depends on the store it lies in. Keep the means, [Words.Fit] a direction, and take it out with [Without]; vectors of two
// directions must not be compared.
//
// Enter at [Load]. The package imports how words are told apart (memory/text), and must not import anything else of flowrun.
// Nothing is read before the first Load, vectors stay small integers where the binary has them, and equal texts have equal
// means. The word list is described in WEIGHTS.md beside this file.
package glove

import (
	_ "embed"
	"errors"
	"math"
	"sync"

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

//go:embed glove-en-100d.int8.bin
var file string

var errFormat = errors.New("glove: the word vectors are damaged")

// Words is the list of words with their vectors, the most common first. It is safe for use by many goroutines.
type Words struct {
	file  string
	words []uint32 // by rank: where its record begins in the file
	// places finds words by their hash: a rank and one, or 0. More than half of it stays empty, so that little is looked at. A map
	// of the words takes several times as long to make.
	places []uint16
	// shares is the sum that a word's rank is divided by to give its share of all text, by Zipf's law.
	shares float64
	common func() []float32
}

// Load reads the words, once, at its first call (about a millisecond). An error means a damaged binary.
var Load = sync.OnceValues(func() (*Words, error) { return read(file) })

const (
	// head is what stands before the words.
	head = 16
	// maxWords is how many words there may be: what fits into places.
	maxWords = 1<<15 - 1
)

// read makes the list of a file. The file: "FRGLV1\n\0", u32 words, u32 numbers a word, then for each word {u8 length, word, f32
// scale, int8 numbers}, the most common word first. Numbers are little-endian.
func read(file string) (*Words, error) {
	if len(file) < head || file[:8] != "FRGLV1\n\x00" || u32(file[12:]) != Dim || u32(file[8:]) > maxWords {
		return nil, errFormat
	}
	n := int(u32(file[8:]))
	w := &Words{file: file, words: make([]uint32, n), places: make([]uint16, 2*(maxWords+1)), shares: math.Log(float64(n)) + 0.5772}
	at := head
	for i := range n {
		if at >= len(file) || len(file) < at+5+int(file[at])+Dim {
			return nil, errFormat
		}
		w.words[i] = uint32(at)
		_, place := w.look(w.word(i))
		w.places[place] = uint16(i + 1)
		at += 5 + int(file[at]) + Dim
	}
	w.common = sync.OnceValue(w.commonDirection)
	return w, nil
}

func u32(b string) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// word is the word of a rank.
func (w *Words) word(rank int) string {
	at := int(w.words[rank])
	return w.file[at+1 : at+1+int(w.file[at])]
}

// row is the vector of a rank: integers of 8 bits, and what one of them stands for.
func (w *Words) row(rank int) (q string, scale float32) {
	at := int(w.words[rank])
	at += 1 + int(w.file[at])
	return w.file[at+4 : at+4+Dim], math.Float32frombits(u32(w.file[at:]))
}

// look gives the rank of a word and one, and where it stands in places, or where it would: 0.
func (w *Words) look(word string) (found, place int) {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(word) {
		hash = (hash ^ uint32(word[i])) * 16777619
	}
	place = int(hash^hash>>16) & (len(w.places) - 1)
	for w.places[place] != 0 {
		if found = int(w.places[place]); w.word(found-1) == word {
			return found, place
		}
		place = (place + 1) & (len(w.places) - 1)
	}
	return 0, place
}

// find gives the rank of a word, or of its stem.
func (w *Words) find(word string) (rank int, ok bool) {
	i, _ := w.look(word)
	if i == 0 {
		i, _ = w.look(text.Stem(word))
	}
	return i - 1, i > 0
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
		w.addTo(v, i, weight)
	}
	for j := range v {
		v[j] /= float32(sum)
	}
	return v
}

// addTo adds the vector of a rank.
func (w *Words) addTo(v []float32, rank int, weight float64) {
	q, scale := w.row(rank)
	f := float32(weight) * scale
	q = q[:len(v)]
	for j := range v {
		v[j] += float32(f * float32(int8(q[j])))
	}
}
