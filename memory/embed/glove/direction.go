package glove

import "math"

const (
	// LeastFit is the number of texts under which a direction of their own would be their subject rather than their language.
	LeastFit = 50
	// rounds of power iteration; the first direction is far longer than the second, so that they converge well before.
	rounds = 30
	// nothing is the share of a mean's length under which what is left of it is rounding.
	nothing = 1e-5
)

// Fit gives the direction that the means of a store's texts share, a unit vector. For fewer than LeastFit means it is a fixed one,
// that of English text. Nil means are left out. The cost is about 6,000 multiplications a mean.
func (w *Words) Fit(means [][]float32) []float32 {
	var known [][]float32
	for _, m := range means {
		if m != nil {
			known = append(known, m)
		}
	}
	if len(known) < LeastFit {
		return append([]float32(nil), w.common...)
	}
	direction := make([]float32, Dim)
	for j := range direction {
		direction[j] = 1
	}
	for range rounds {
		next := make([]float32, Dim)
		for _, m := range known {
			addScaled(next, m, dot(m, direction))
		}
		unit(next)
		direction = next
	}
	return direction
}

// Without takes the direction out of a mean and gives what is left as a unit vector; nil where nothing is left, or for nil. It
// changes neither argument.
func Without(mean, direction []float32) []float32 {
	if mean == nil {
		return nil
	}
	v := append([]float32(nil), mean...)
	if direction != nil {
		addScaled(v, direction, -dot(v, direction))
	}
	if before := math.Sqrt(float64(dot(mean, mean))); !(unit(v) > nothing*before) {
		return nil
	}
	return v
}

// dot has four sums, as they do not wait for one another; Dim is a multiple of four.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for i := 0; i+4 <= len(a); i += 4 {
		s0 += float32(a[i] * b[i])
		s1 += float32(a[i+1] * b[i+1])
		s2 += float32(a[i+2] * b[i+2])
		s3 += float32(a[i+3] * b[i+3])
	}
	return s0 + s1 + (s2 + s3)
}

func addScaled(v, by []float32, f float32) {
	by = by[:len(v)]
	for i := range v {
		v[i] += float32(f * by[i])
	}
}

// unit makes v a unit vector where it is not zero, and gives the length that it had.
func unit(v []float32) (length float64) {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if length = math.Sqrt(sum); length > 0 {
		for i := range v {
			v[i] = float32(float64(v[i]) / length)
		}
	}
	return length
}
