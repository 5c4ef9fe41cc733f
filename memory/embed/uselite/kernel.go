package uselite

// A panel multiplies rows of weights with four rows of x. Rows of w are stride apart and those of x lie one after the other; each
// has k integers, a multiple of step. sums[r*tile+t] becomes the product of row r of w with row t of x. The number of rows is
// even. Sums must fit in 32 bits.
//
// This is the portable form, and the one that the others are compared with.
func panelGo[T int8 | int16](w []T, stride, rows int, x []int16, k int, sums []int32) {
	x0, x1, x2, x3 := x[:k], x[k:2*k], x[2*k:3*k], x[3*k:4*k]
	for r := range rows {
		row := w[r*stride : r*stride+k]
		x0, x1, x2, x3 := x0[:len(row)], x1[:len(row)], x2[:len(row)], x3[:len(row)]
		var a, b, c, d int32
		for i, v := range row {
			v := int32(v)
			a += v * int32(x0[i])
			b += v * int32(x1[i])
			c += v * int32(x2[i])
			d += v * int32(x3[i])
		}
		out := sums[r*tile : r*tile+tile]
		out[0], out[1], out[2], out[3] = a, b, c, d
	}
}
