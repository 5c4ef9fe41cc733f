package mask

// glance tells at a look at two bytes where no text can begin.
type glance struct {
	first pairs     // the two bytes that a text begins with
	early pairs     // the neighbours among the first MinSecret bytes of a text
	begin [256]bool // the byte that a text begins with
}

// pairs is a set of two bytes that follow each other, a bit for each.
type pairs [1 << 16 / 64]uint64

func (s *pairs) add(a, b byte)      { s[pair(a, b)/64] |= 1 << (pair(a, b) % 64) }
func (s *pairs) has(a, b byte) bool { return s[pair(a, b)/64]&(1<<(pair(a, b)%64)) != 0 }

func pair(a, b byte) uint { return uint(a) | uint(b)<<8 }

// add adds texts.
func (g *glance) add(texts []string) {
	for _, t := range texts {
		g.begin[t[0]] = true
		g.first.add(t[0], t[1])
		for i := range stride {
			g.early.add(t[i], t[i+1])
		}
	}
}

// merge adds what another one knows.
func (g *glance) merge(other *glance) {
	for i := range g.first {
		g.first[i] |= other.first[i]
		g.early[i] |= other.early[i]
	}
	for b := range g.begin {
		g.begin[b] = g.begin[b] || other.begin[b]
	}
}

// addWrapped adds texts that may be broken anywhere.
func (g *glance) addWrapped(texts []string) {
	g.add(texts)
	for _, t := range texts {
		for i := range MinSecret {
			for _, br := range []byte(opening) {
				if i == 0 {
					g.first.add(t[0], br)
				}
				g.early.add(t[i], br)
			}
			for _, br := range []byte(closing) {
				g.early.add(br, t[i])
			}
		}
	}
	if len(texts) > 0 {
		for _, br := range []byte(closing) {
			for _, next := range []byte(opening + closing) {
				g.early.add(br, next)
			}
		}
	}
}

// stride is how many places one look at two bytes can rule out: as many as MinSecret bytes have neighbours.
const stride = MinSecret - 1

// skip is the first place from i on where a text may begin, or the end. A text that begins in one of the next places has its early
// neighbours where it looks, the last of these places, whichever it begins in; mostly nothing has, and the next are looked at.
func (g *glance) skip(p []byte, i int) int {
	for i+stride < len(p) {
		last := i + stride - 1
		if !g.early.has(p[last], p[last+1]) {
			i += stride
			continue
		}
		for ; i <= last; i++ {
			if g.first.has(p[i], p[i+1]) {
				return i
			}
		}
	}
	for ; i+1 < len(p); i++ {
		if g.first.has(p[i], p[i+1]) {
			return i
		}
	}
	if i < len(p) && !g.begin[p[i]] {
		i++
	}
	return i
}
