package uselite

// A panel multiplies rows of weights with four rows of x. Rows of w are stride apart and those of x lie one after the other; each
// has k integers, a multiple of step. sums[r*tile+t] becomes the product of row r of w with row t of x. The number of rows is
// even. Sums must fit in 32 bits.
//
// This is the portable form, and the one that the others are compared with. Two rows of x share an integer of 64 bits, so that one
// multiplication does for both: the sum of their products is s0 + s1·2³², and each of the two fits in 32 bits.
func panelGo[T int8 | int16](w []T, stride, rows int, x []int16, k int, sums []int32) {
	var pairs [2 * 3 * Dim]int64 // no row is longer
	p, q := pairs[:k], pairs[3*Dim:3*Dim+k]
	for i := range p {
		p[i] = int64(x[i]) + int64(x[k+i])<<32
		q[i] = int64(x[2*k+i]) + int64(x[3*k+i])<<32
	}
	for r := 0; r < rows; r += 2 {
		v, w := w[r*stride:r*stride+k], w[(r+1)*stride:(r+1)*stride+k]
		p, q, w := p[:len(v)], q[:len(v)], w[:len(v)]
		var a, b, c, d int64
		for i := range v {
			a += int64(v[i]) * p[i]
			b += int64(v[i]) * q[i]
			c += int64(w[i]) * p[i]
			d += int64(w[i]) * q[i]
		}
		out := sums[r*tile : (r+2)*tile]
		out[0], out[1] = apart(a)
		out[2], out[3] = apart(b)
		out[4], out[5] = apart(c)
		out[6], out[7] = apart(d)
	}
}

// apart takes the two sums of a pair apart.
func apart(pair int64) (int32, int32) {
	low := int32(pair)
	return low, int32((pair - int64(low)) >> 32)
}

// check stops a panel that assembly would compute beyond the ends of its rows.
func check(w, stride, rows, x, k, sums int) {
	if rows < 2 || rows%2 != 0 || k < step || k%step != 0 || stride < k || w < (rows-1)*stride+k || x < tile*k || sums < rows*tile {
		panic("uselite: a panel is larger than its rows")
	}
}
