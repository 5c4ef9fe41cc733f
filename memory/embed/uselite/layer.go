package uselite

import "math"

// heads is how many parts of a row attend separately.
const heads = 4

// layer is one layer of the transformer: attention, then two products with a threshold between them, each added to its input.
type layer struct {
	in                 int // length of the rows of its input; its output has Dim
	qkv, out, ff1, ff2 linear
	residual           *linear // makes the first layer's input as long as its output; nil where they are
	before, between    normal
}

// normal is a normalization's scale and shift.
type normal struct{ scale, shift []float32 }

func (l *layer) forward(ws *workspace) {
	n := len(ws.ids)
	l.before.apply(ws.h, ws.x, n)
	l.qkv.apply(ws.wide, ws.h, n, ws)
	ws.spans(func(_, from, to int) {
		ws.attention.apply(ws.att[from*l.in:], ws.wide[from*3*l.in:], to-from, l.in)
	})
	l.out.apply(ws.y, ws.att, n, ws)
	if l.residual != nil {
		l.residual.apply(ws.h, ws.x, n, ws)
		copy(ws.x, ws.h[:n*Dim])
	}
	add(ws.x[:n*Dim], ws.y)
	l.between.apply(ws.h, ws.x, n)
	l.ff1.apply(ws.wide, ws.h, n, ws)
	for i, v := range ws.wide[:n*l.ff1.w.rows] {
		if v < 0 {
			ws.wide[i] = 0
		}
	}
	l.ff2.apply(ws.y, ws.wide, n, ws)
	add(ws.x[:n*Dim], ws.y)
}

// apply sets each of n rows of y to that of x with mean 0 and deviation 1, scaled and shifted.
func (l normal) apply(y, x []float32, n int) {
	d := len(l.scale)
	for i := range n {
		l.row(y[i*d:(i+1)*d], x[i*d:(i+1)*d])
	}
}

func (l normal) row(y, x []float32) {
	y, scale, shift := y[:len(x)], l.scale[:len(x)], l.shift[:len(x)]
	var mean, variance [4]float64 // four sums each, as they do not wait for one another; rows are a multiple of four
	for i := 0; i+4 <= len(x); i += 4 {
		for k := range mean {
			mean[k] += float64(x[i+k])
		}
	}
	mu := total(mean) / float64(len(x))
	for i := 0; i+4 <= len(x); i += 4 {
		for k := range variance {
			d := float64(x[i+k]) - mu
			variance[k] += float64(d * d)
		}
	}
	f := 1 / math.Sqrt(total(variance)/float64(len(x))+1e-6)
	for i, v := range x {
		y[i] = float32(float32((float64(v)-mu)*f)*scale[i]) + shift[i]
	}
}

func total(s [4]float64) float64 { return s[0] + s[1] + (s[2] + s[3]) }
