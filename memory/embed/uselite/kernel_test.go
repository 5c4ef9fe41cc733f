package uselite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// portable runs f without the assembly.
func portable(f func()) {
	defer func(was bool) { fast = was }(fast)
	fast = false
	f()
}

// TestAssemblyIsThePortableForm compares panels of random and of extreme numbers, of all shapes that a layer has and some more.
func TestAssemblyIsThePortableForm(t *testing.T) {
	if !fast {
		t.Skip("this processor has only the portable form")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{16, 32, 48, 64, 112, 128, 256, 512, 1536} {
		for _, rows := range []int{2, 4, 32} {
			for _, extreme := range []bool{false, true} {
				pick := func(most int) int {
					if extreme {
						return most * (2*rnd.IntN(2) - 1)
					}
					return rnd.IntN(2*most+1) - most
				}
				narrow, wide := make([]int8, rows*(k+4)), make([]int16, rows*(k+4))
				x, y := make([]int16, tile*k), make([]int16, tile*k)
				for i := range narrow {
					narrow[i], wide[i] = int8(pick(math.MaxInt8)), int16(pick(limit))
				}
				for i := range x {
					x[i], y[i] = int16(pick(highest(k))), int16(pick(limit))
				}
				got, want := make([]int32, rows*tile+1), make([]int32, rows*tile+1)
				panel8(narrow[:len(narrow)-4], k+4, rows, x, k, got)
				panelGo(narrow, k+4, rows, x, k, want)
				if !slices.Equal(got, want) {
					t.Errorf("8 bits, k=%d rows=%d: %v, not %v", k, rows, got, want)
				}
				panel16(wide[:len(wide)-4], k+4, rows, y, k, got)
				panelGo(wide, k+4, rows, y, k, want)
				if !slices.Equal(got, want) {
					t.Errorf("16 bits, k=%d rows=%d: %v, not %v", k, rows, got, want)
				}
			}
		}
	}
}

// TestSumsFitAtTheBound multiplies rows of nothing but the largest numbers, the longest that there are.
func TestSumsFitAtTheBound(t *testing.T) {
	for _, k := range []int{width, Dim, 3 * Dim} {
		for _, sign := range []int{1, -1} {
			w, x := slices.Repeat([]int8{math.MaxInt8}, 2*k), slices.Repeat([]int16{int16(sign * highest(k))}, tile*k)
			sums := make([]int32, 2*tile)
			for _, panel := range []func([]int8, int, int, []int16, int, []int32){panel8, panelGo[int8]} {
				panel(w, k, 2, x, k, sums)
				if want := sign * k * math.MaxInt8 * highest(k); int(sums[0]) != want || int(sums[7]) != want {
					t.Errorf("k=%d: %v, not %d", k, sums, want)
				}
			}
		}
	}
	const k = MaxTokens
	row := slices.Repeat([]int16{limit}, tile*k)
	sums := make([]int32, 2*tile)
	panel16(row, k, 2, row, k, sums)
	if want := k * limit * limit; int(sums[0]) != want {
		t.Errorf("within attention: %v, not %d", sums, want)
	}
}

func TestPanelsLargerThanTheirRowsStop(t *testing.T) {
	if !fast {
		t.Skip("the portable form is checked by Go")
	}
	w, x, sums := make([]int8, 64), make([]int16, tile*32), make([]int32, 8)
	for name, f := range map[string]func(){
		"weights":    func() { panel8(w[:63], 32, 2, x, 32, sums) },
		"input":      func() { panel8(w, 32, 2, x[:tile*32-1], 32, sums) },
		"sums":       func() { panel8(w, 32, 2, x, 32, sums[:7]) },
		"odd rows":   func() { panel8(w, 16, 3, x, 16, make([]int32, 12)) },
		"odd length": func() { panel8(w, 24, 2, x, 24, sums) },
		"stride":     func() { panel8(w, 16, 2, x, 32, sums) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panel was computed", name)
				}
			}()
			f()
		}()
	}
}

// TestVectorsAreTheSameWithoutAssembly compares whole vectors, bit by bit.
func TestVectorsAreTheSameWithoutAssembly(t *testing.T) {
	if !fast {
		t.Skip("this processor has only the portable form")
	}
	m := model(t)
	for _, n := range []int{1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 40} {
		text := ""
		for i := range n {
			text += fmt.Sprintf("word %d ", i)
		}
		want := embedded(t, m, text)[0]
		portable(func() {
			if got := embedded(t, m, text)[0]; !slices.Equal(got, want) {
				t.Errorf("%d words have another vector", n)
			}
		})
	}
}

func TestQuantize(t *testing.T) {
	for _, most := range []int{1, limit, math.MaxInt16} {
		v := []float32{0, 1, -1, 0.5, -0.25, 1e-9, -1e-9, 0.9999, 2, -2}
		q := make([]int16, len(v))
		scale := quantize(q, v, most)
		for i, x := range v {
			if want := math.RoundToEven(float64(x) / 2 * float64(most)); math.Abs(float64(q[i])-want) > 1 || int(q[i]) > most || int(q[i]) < -most {
				t.Errorf("%v of ±%d is %d, not %v", x, most, q[i], want)
			}
		}
		if scale != 2/float32(most) {
			t.Errorf("one of ±%d stands for %v", most, scale)
		}
	}
	q := []int16{7, 7}
	if scale := quantize(q, []float32{0, 0}, limit); scale != 0 || q[0] != 0 || q[1] != 0 {
		t.Errorf("zeros are %v of %v", q, scale)
	}
}
