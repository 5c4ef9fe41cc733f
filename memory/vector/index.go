package vector

// Limit is the number of vectors from which an index scans flat instead of asking chromem-go. chromem-go sends every document
// through a channel, and sorts all of them where all are wanted. For the cosines of 10,000 vectors of 512 numbers it takes
// 12 to 30 ms on two cores, depending on what else they do, and the flat scan 3 to 5; at 35,000 it is 53 to 73 against 9 to 13
// (BenchmarkIndex prints it). A search of the memory asks two indexes, and is to take 60 ms at most.
const Limit = 5_000

// New makes an index for vectors of dim numbers. Where dim is 0, the first vector that is taken decides.
func New(dim int) Index { return newIndex(dim, Limit) }

func newIndex(dim, limit int) *index {
	return &index{dim: dim, limit: limit, flat: newFlat(), small: newChromem()}
}

type index struct {
	dim, limit int
	flat       *flat    // holds all vectors, as chromem-go can't list its own
	small      *chromem // the same vectors; nil from the moment on that there are more than limit
}

func (x *index) Len() int { return len(x.flat.ids) }

func (x *index) Add(id string, v []float32) error {
	if id == "" {
		return ErrNoID
	}
	dim := x.dim
	if dim == 0 {
		dim = len(v)
	}
	v, err := unit(v, dim)
	if err != nil {
		return err
	}
	x.dim = dim
	x.flat.add(id, v)
	if x.small != nil && x.Len() > x.limit {
		x.small = nil
	}
	if x.small != nil {
		return x.small.add(id, v)
	}
	return nil
}

func (x *index) Delete(id string) error {
	x.flat.delete(id)
	if x.small != nil {
		return x.small.delete(id)
	}
	return nil
}

func (x *index) Each(v []float32, f func(id string, cosine float32)) error {
	if x.Len() == 0 {
		return nil
	}
	v, err := unit(v, x.dim)
	if err != nil {
		return err
	}
	if x.small != nil {
		return x.small.each(v, f)
	}
	x.flat.each(v, f)
	return nil
}
