//go:build !amd64 && !arm64

package uselite

func panel8(w []int8, stride, rows int, x []int16, k int, sums []int32) {
	panelGo(w, stride, rows, x, k, sums)
}

func panel16(w []int16, stride, rows int, x []int16, k int, sums []int32) {
	panelGo(w, stride, rows, x, k, sums)
}

// fast is false: there is no assembly.
var fast = false
