package memory

// nearness is what [learn.Nearness] asks for. The mean of the cosines of all pairs of two groups is the product of the sums of
// their vectors over the number of pairs, so it costs no more than that of two entries.
type nearness struct {
	x      *index
	docs   []*doc
	groups []sums // by the first member
}

// sums are those of a group's vectors of both kinds.
type sums struct {
	vectors [2][]float32
	with    [2]int // members that have one
}

func newNearness(x *index, docs []*doc) *nearness {
	n := &nearness{x: x, docs: docs, groups: make([]sums, len(docs))}
	for i := range docs {
		n.groups[i] = n.sum([]int{i})
	}
	return n
}

// sum adds up in the order of the members, so that equal groups have equal sums, however they came about.
func (n *nearness) sum(members []int) sums {
	var s sums
	for _, i := range members {
		for lane, v := range n.x.joint(n.docs[i]) {
			switch {
			case v == nil || s.with[lane] > 0 && len(v) != len(s.vectors[lane]):
				continue
			case s.with[lane] == 0:
				s.vectors[lane] = v
			default:
				if s.with[lane] == 1 { // the first is the index's own
					s.vectors[lane] = append([]float32{}, s.vectors[lane]...)
				}
				for k, x := range v {
					s.vectors[lane][k] += x
				}
			}
			s.with[lane]++
		}
	}
	return s
}

// Join makes one group of its members.
func (n *nearness) Join(members []int) { n.groups[members[0]] = n.sum(members) }

// Mean is the mean likeness of two groups, as that of two entries is in [index.likeness]; ok is false where they have no vectors
// of one kind.
func (n *nearness) Mean(a, b int) (mean float64, ok bool) {
	s, t := &n.groups[a], &n.groups[b]
	weight := 0.0
	for lane, w := range laneWeights {
		if x, y := s.vectors[lane], t.vectors[lane]; x != nil && len(x) == len(y) {
			mean += w * float64(product(x, y)) / float64(s.with[lane]*t.with[lane])
			weight += w
		}
	}
	if weight == 0 {
		return 0, false
	}
	return mean / weight, true
}

// product is that of two vectors of equal length: in four sums, which a processor adds up side by side.
func product(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	n := len(a) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
	}
	for i := n; i < len(a); i++ {
		s0 += float32(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
