package uselite

import "math"

const (
	// tile is how many rows of the input one panel takes at once.
	tile = 4
	// block is how many rows of weights one panel takes: at most 48 KB, which stay in the nearest cache meanwhile.
	block = 32
	// step is what the length of a row of a panel is a multiple of: 16 integers of 16 bits are one AVX2 register.
	step = 16
)

// matrix is a matrix of weights as the file has it: integers of 8 bits, row after row, and for each row what one of them stands for.
type matrix struct {
	rows, cols int
	q          []int8
	scale      []float32
}

// linear is a matrix and what is added to its products.
type linear struct {
	w    matrix
	bias []float32
}

// apply sets n rows of y to x·wᵀ + bias. The input is rounded to integers first, each row by its own largest number, so fine
// that the sum of a whole row still fits in 32 bits: 13 bits and more. Weights of 8 bits lose far more than that.
func (l *linear) apply(y, x []float32, n int, ws *workspace) {
	in, out := l.w.cols, l.w.rows
	most := highest(in)
	padded := (n + tile - 1) / tile * tile
	for i := range n {
		ws.scale[i] = quantize(ws.q[i*in:(i+1)*in], x[i*in:(i+1)*in], most)
	}
	clear(ws.q[n*in : padded*in])
	for from := 0; from < out; from += block {
		rows := min(block, out-from)
		for i := 0; i < padded; i += tile {
			panel8(l.w.q[from*in:], in, rows, ws.q[i*in:(i+tile)*in], in, ws.sums[:])
			for t := range min(tile, n-i) {
				l.put(y[(i+t)*out+from:(i+t)*out+from+rows], ws.sums[t:], ws.scale[i+t], from)
			}
		}
	}
}

// put turns the sums of one row of the input back into numbers; they are tile apart.
func (l *linear) put(y []float32, sums []int32, scale float32, from int) {
	ws, bias := l.w.scale[from:from+len(y)], l.bias[from:from+len(y)]
	for o := range y {
		y[o] = float32(float32(sums[o*tile])*(scale*ws[o])) + bias[o]
	}
}

// highest is the largest integer of an input row of n numbers whose product with n weights of up to 127 fits in 32 bits.
func highest(n int) int { return min(math.MaxInt16, math.MaxInt32/(math.MaxInt8*n)) }

// quantize rounds v to integers of up to most and gives what one of them stands for.
func quantize(q []int16, v []float32, most int) (scale float32) {
	var bits uint32 // of the largest absolute value: those of positive floats are in their order
	for _, x := range v {
		bits = max(bits, math.Float32bits(x)&^(1<<31))
	}
	top := math.Float32frombits(bits)
	if top == 0 {
		clear(q[:len(v)])
		return 0
	}
	const nearest = 3 << 22 // added to a small number, it leaves the number's nearest integer in the low bits
	f := float32(most) / top
	q = q[:len(v)]
	for i, x := range v {
		q[i] = int16(math.Float32bits(float32(x*f) + nearest))
	}
	return top / float32(most)
}
