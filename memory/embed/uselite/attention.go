package uselite

import (
	"math"

	"github.com/flowrun/flowrun/dsl/libm"
)

// limit is the largest integer on both sides of a product within attention: rows have at most 128 numbers there, and
// 128·4095² is just below 2³¹.
const limit = 4095

// attention is room for one head of one text, all as integers: a query, a key and a value for each piece.
type attention struct {
	queries, keys [MaxTokens * MaxTokens]int16 // a row a piece; a head has at most 128 numbers
	values        [MaxTokens * MaxTokens]int16 // a row a number of the head, a column a piece
	shares        [tile * MaxTokens]int16      // how much of each piece's value goes into four pieces' results
	column        [MaxTokens]float32
	queryScale    [MaxTokens]float32
	keyScale      [MaxTokens]float32
	valueScale    [MaxTokens]float32
	weights       [MaxTokens]float64
	sums          [tile * MaxTokens]int32
}

// apply sets n rows of y to what n pieces of one text take from each other. Rows of qkv have the queries of all heads, then the
// keys, then the values, each in numbers long.
func (a *attention) apply(y, qkv []float32, n, in int) {
	size := in / heads
	for h := range heads {
		a.read(qkv[h*size:], n, in, size)
		for i := 0; i < n; i += tile {
			panel16(a.keys[:], size, even(n), a.queries[i*size:(i+tile)*size], size, a.sums[:])
			long := (n + step - 1) / step * step
			var sums [tile]int32
			for t := range min(tile, n-i) {
				sums[t] = a.share(t, i+t, n, size, long)
			}
			panel16(a.values[:], long, size, a.shares[:tile*long], long, a.sums[:])
			for t := range min(tile, n-i) {
				out := y[(i+t)*in+h*size : (i+t)*in+(h+1)*size]
				for d := range out {
					out[d] = float32(a.sums[d*tile+t]) * a.valueScale[d] / float32(sums[t])
				}
			}
		}
	}
}

// read turns one head's queries, keys and values into integers. Rows beyond n are what was there: nobody reads their sums.
// Columns beyond n of the values meet shares of zero.
func (a *attention) read(qkv []float32, n, in, size int) {
	long := (n + step - 1) / step * step
	for i := range n {
		row := qkv[i*3*in:]
		a.queryScale[i] = quantize(a.queries[i*size:(i+1)*size], row[:size], limit)
		a.keyScale[i] = quantize(a.keys[i*size:(i+1)*size], row[in:in+size], limit)
	}
	for d := range size {
		for i := range n {
			a.column[i] = qkv[i*3*in+2*in+d]
		}
		a.valueScale[d] = quantize(a.values[d*long:d*long+n], a.column[:n], limit)
	}
}

// share fills row t of the shares, for piece i: the softmax of its products with the keys, as integers, and gives their sum.
func (a *attention) share(t, i, n, size, long int) (sum int32) {
	f := float64(a.queryScale[i]) / math.Sqrt(float64(size))
	top := math.Inf(-1)
	for j := range n {
		a.weights[j] = float64(float64(a.sums[j*tile+t]) * float64(a.keyScale[j]) * f)
		top = max(top, a.weights[j])
	}
	row := a.shares[t*long : (t+1)*long]
	clear(row)
	for j := range n {
		s := int32(float64(libm.Exp(a.weights[j]-top)*limit) + 0.5)
		row[j] = int16(s)
		sum += s
	}
	return sum
}

func even(n int) int { return n + n&1 }
