//go:build amd64 || arm64

package uselite

func panel8(w []int8, stride, rows int, x []int16, k int, sums []int32) {
	if !fast {
		panelGo(w, stride, rows, x, k, sums)
		return
	}
	check(len(w), stride, rows, len(x), k, len(sums))
	panel8Asm(&w[0], stride, rows, &x[0], k, &sums[0])
}

func panel16(w []int16, stride, rows int, x []int16, k int, sums []int32) {
	if !fast {
		panelGo(w, stride, rows, x, k, sums)
		return
	}
	check(len(w), stride, rows, len(x), k, len(sums))
	panel16Asm(&w[0], stride, rows, &x[0], k, &sums[0])
}

// The assembly: w, x and sums are the first of as many numbers as check asks for.

//go:noescape
func panel8Asm(w *int8, stride, rows int, x *int16, k int, sums *int32)

//go:noescape
func panel16Asm(w *int16, stride, rows int, x *int16, k int, sums *int32)
