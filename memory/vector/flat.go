package vector

import (
	"runtime"
	"sync"
)

// flat is vectors in a row, compared one by one.
type flat struct {
	ids     []string
	vectors [][]float32
	rows    map[string]int
}

func newFlat() *flat { return &flat{rows: map[string]int{}} }

func (f *flat) add(id string, v []float32) {
	if row, ok := f.rows[id]; ok {
		f.vectors[row] = v
		return
	}
	f.rows[id] = len(f.ids)
	f.ids, f.vectors = append(f.ids, id), append(f.vectors, v)
}

// delete puts the last vector in the place of the one that goes.
func (f *flat) delete(id string) {
	row, ok := f.rows[id]
	if !ok {
		return
	}
	last := len(f.ids) - 1
	f.ids[row], f.vectors[row] = f.ids[last], f.vectors[last]
	f.rows[f.ids[row]] = row
	f.ids[last], f.vectors[last] = "", nil
	f.ids, f.vectors = f.ids[:last], f.vectors[:last]
	delete(f.rows, id)
}

// share is the least number of vectors that is worth a goroutine.
const share = 2048

func (f *flat) each(v []float32, visit func(id string, cosine float32)) {
	cosines := make([]float32, len(f.vectors))
	workers := min(runtime.GOMAXPROCS(0), 1+len(f.vectors)/share)
	var all sync.WaitGroup
	for w := range workers {
		from, to := w*len(cosines)/workers, (w+1)*len(cosines)/workers
		all.Go(func() { scan(v, f.vectors[from:to], cosines[from:to]) })
	}
	all.Wait()
	for row, c := range cosines {
		visit(f.ids[row], c)
	}
}

// scan compares four vectors at a time. Each sum is taken in the order of the numbers, as in [Cosine], so that they
// agree to the last bit; four of them side by side keep the processor from waiting for each addition, which makes
// the scan three times as fast.
func scan(v []float32, vectors [][]float32, cosines []float32) {
	n := len(v)
	row := 0
	for ; row+4 <= len(vectors); row += 4 {
		a, b, c, d := vectors[row][:n], vectors[row+1][:n], vectors[row+2][:n], vectors[row+3][:n]
		var s, t, u, w float32
		for i, x := range v {
			s += float32(x * a[i])
			t += float32(x * b[i])
			u += float32(x * c[i])
			w += float32(x * d[i])
		}
		cosines[row], cosines[row+1], cosines[row+2], cosines[row+3] = s, t, u, w
	}
	for ; row < len(vectors); row++ {
		cosines[row] = Cosine(v, vectors[row])
	}
}
