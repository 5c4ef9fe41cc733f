// Package uselite turns English text into meaning: 512 numbers whose cosine is high for texts that say the same in other
// words. It runs the Universal Sentence Encoder Lite, a transformer of two layers whose weights (7.2 MB of int8, packed to 6.6) are
// part of the binary; no network, no C, no other runtime.
//
// Enter at [Load] and [Model.Embed]. The package knows files of weights, pieces of words and matrices; it imports how the weights
// are packed (memory/embed/pack) and how words are found in a list (memory/embed/wordlist), and must not import anything else of
// flowrun. What always holds:
//
//   - Nothing is unpacked or built before the first Load, vectors of pieces not before a text has such a piece, and the big
//     matrices are never copied.
//   - Products of matrices are sums of integers, so they are exact: AVX2, NEON and plain Go give equal bits, and so does a text
//     alone, among others, or on any number of cores. The few products of floats that are added to something are rounded by a
//     conversion first: without it, some processors would round once where others round twice.
//   - A text has no vector only when it is empty. Only its first 128 pieces (some 90 words) are read; who has longer ones
//     embeds their sentences.
//
// The weights are described in WEIGHTS.md beside this file.
package uselite

import (
	"math"
	"sync"

	"github.com/flowrun/flowrun/dsl/libm"
	"github.com/flowrun/flowrun/memory/embed/pack"
)

const (
	// Dim is the length of a vector.
	Dim = 512
	// Name is the name of the model. Vectors of models with different names must not be compared.
	Name = "use-lite-en-1"
	// MaxTokens is how many pieces of a text are read.
	MaxTokens = 128
	// width is the length of the vector of a piece, before the first layer.
	width = 256
)

// Model is safe for use by many goroutines.
type Model struct {
	vocabulary vocabulary
	pieces     table     // one row a piece
	position   []float32 // MaxTokens rows of width: what tells the same piece at two places apart
	layers     [2]layer  //
	head       linear    // from the mean over the pieces to the vector
	spaces     sync.Pool // of *workspace
	splits     sync.Pool // of *split
}

// table is a matrix of width columns whose rows are unpacked when they are first asked for.
type table struct {
	file  *pack.Packed
	at    int // where the first row begins
	scale []float32
}

func (t *table) row(i int) (q []int8, scale float32, err error) {
	b, err := t.file.Bytes(t.at+i*width, t.at+(i+1)*width)
	if err != nil {
		return nil, 0, damaged(err)
	}
	return integers(b), t.scale[i], nil
}

// Load reads the weights, once, at its first call (some 8 ms). An error means a damaged binary.
var Load = sync.OnceValues(func() (*Model, error) { return load(packed, room[:]) })

// Embed gives each text its unit vector, nil for an empty one. It works on the calling goroutine alone. An error means a damaged
// binary.
func (m *Model) Embed(texts ...string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	ws := m.workspace()
	defer m.spaces.Put(ws)
	var waiting []int // texts in the stack, by their place in texts
	var failed error
	flush := func() {
		if len(waiting) > 0 && failed == nil {
			var vectors [][]float32
			vectors, failed = m.run(ws)
			for i, v := range vectors {
				out[waiting[i]] = v
			}
		}
		waiting = waiting[:0]
		ws.ids, ws.ends = ws.ids[:0], ws.ends[:0]
	}
	flush()
	for i, t := range texts {
		ids := m.Tokens(t)
		ids = ids[:min(len(ids), MaxTokens)]
		if len(ids) == 0 {
			continue
		}
		if len(ws.ids)+len(ids) > stack {
			flush()
		}
		ws.ids = append(ws.ids, ids...)
		ws.ends = append(ws.ends, len(ws.ids))
		waiting = append(waiting, i)
	}
	flush()
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// run gives the vectors of the texts whose pieces lie in ws.
func (m *Model) run(ws *workspace) ([][]float32, error) {
	ws.fit()
	if err := m.lookup(ws); err != nil {
		return nil, err
	}
	for i := range m.layers {
		m.layers[i].forward(ws)
	}
	n := len(ws.ends)
	ws.spans(func(text, from, to int) {
		mean := ws.h[text*Dim : (text+1)*Dim]
		clear(mean)
		for i := from; i < to; i++ {
			add(mean, ws.x[i*Dim:(i+1)*Dim])
		}
		for j := range mean {
			mean[j] /= float32(to - from)
		}
	})
	flat := make([]float32, n*Dim)
	m.head.apply(flat, ws.h, n, ws)
	out := make([][]float32, n)
	for i := range out {
		out[i] = flat[i*Dim : (i+1)*Dim : (i+1)*Dim]
		squash(out[i])
	}
	return out, nil
}

// lookup fills ws.x with the vectors of the pieces at their positions, each position counted from its text's start.
func (m *Model) lookup(ws *workspace) (err error) {
	ws.spans(func(_, from, to int) {
		for i := from; i < to && err == nil; i++ {
			var row []int8
			var scale float32
			row, scale, err = m.pieces.row(int(ws.ids[i]))
			at := m.position[(i-from)*width : (i-from+1)*width]
			for j, q := range row {
				ws.x[i*width+j] = float32(2*scale*float32(q)) + at[j]
			}
		}
	})
	return err
}

// positions are the sines and cosines that are added to pieces, by frequency.
func positions(frequencies []float32) []float32 {
	out := make([]float32, MaxTokens*width)
	for i := range MaxTokens {
		for j, f := range frequencies {
			s, c := libm.Sincos(float64(float32(i) * f))
			out[i*width+j], out[i*width+width/2+j] = float32(s), float32(c)
		}
	}
	return out
}

// squash takes the hyperbolic tangent of each number and makes v a unit vector.
func squash(v []float32) {
	var sum float64
	for i, x := range v {
		t := libm.Tanh(float64(x))
		v[i] = float32(t)
		sum += float64(t * t)
	}
	f := float32(1 / math.Sqrt(max(sum, 1e-12)))
	for i := range v {
		v[i] = float32(v[i] * f)
	}
}

func add(to, v []float32) {
	for i, x := range v[:len(to)] {
		to[i] += x
	}
}
