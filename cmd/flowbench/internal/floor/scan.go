package floor

import (
	"math/rand/v2"
	"time"
)

// kept is how many of the nearest a scan keeps for each query.
const kept = 10

// scan holds every vector of one flat list against each query and keeps the nearest ten: what a search by meaning costs at the
// least. The vectors are random; the time does not depend on them.
func scan(n, dim, queries int) Report {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = r.Float32() - 0.5
		}
		return v
	}
	all, asked := random(n*dim), random(queries*dim)
	began := time.Now()
	for q := range queries {
		nearest(all, asked[q*dim:(q+1)*dim])
	}
	return Report{Wall: time.Since(began)}
}

// nearest gives the places of the vectors of a flat list that have the greatest products with q, the greatest first.
func nearest(all, q []float32) (at [kept]int) {
	var best [kept]float32
	for i := 0; i*len(q) < len(all); i++ {
		p := product(all[i*len(q):(i+1)*len(q)], q)
		if i >= kept && p <= best[kept-1] {
			continue
		}
		place := min(i, kept-1)
		for ; place > 0 && p > best[place-1]; place-- {
			best[place], at[place] = best[place-1], at[place-1]
		}
		best[place], at[place] = p, i
	}
	return at
}

func product(a, b []float32) (sum float32) {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
