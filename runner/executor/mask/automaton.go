package mask

// automaton finds all of many texts in one pass: Aho, Corasick, "Efficient string matching" (1975). A state stands for a
// beginning of one of the texts. Texts share few beginnings, so almost every state has one child, which is the state after
// it; the rare others are in a map.
type automaton struct {
	label  []byte  // the last byte of the beginning that the state stands for
	parent []int32 // the beginning without it
	fail   []int32 // the longest other beginning that it ends with
	out    []int32 // the length of the longest text that it ends with; 0: none
	depth  []int32 // its length
	fork   []bool  // whether it has children in others
	others map[edge]int32
	root   [256]int32
}

type edge struct {
	state int32
	label byte
}

func (a *automaton) build(texts []string) {
	a.others = map[edge]int32{}
	a.state(0, 0)
	for _, t := range texts {
		s := int32(0)
		for i := range len(t) {
			next := a.child(s, t[i])
			if next == 0 {
				next = a.grow(s, t[i])
			}
			s = next
		}
		a.out[s] = int32(len(t))
	}
	for _, s := range a.byDepth() {
		if a.depth[s] > 1 {
			a.fail[s] = a.next(a.fail[a.parent[s]], a.label[s])
		}
		if a.out[s] == 0 {
			a.out[s] = a.out[a.fail[s]]
		}
	}
}

// state adds a state.
func (a *automaton) state(parent int32, label byte) int32 {
	a.label = append(a.label, label)
	a.parent = append(a.parent, parent)
	a.fail = append(a.fail, 0)
	a.out = append(a.out, 0)
	a.fork = append(a.fork, false)
	depth := int32(0)
	if len(a.depth) > 0 {
		depth = a.depth[parent] + 1
	}
	a.depth = append(a.depth, depth)
	return int32(len(a.label) - 1)
}

// grow adds a child.
func (a *automaton) grow(s int32, b byte) int32 {
	child := a.state(s, b)
	switch {
	case s == 0:
		a.root[b] = child
	case child != s+1:
		a.others[edge{s, b}] = child
		a.fork[s] = true
	}
	return child
}

// child is the state of a beginning with one byte more; 0 if no text goes on so.
func (a *automaton) child(s int32, b byte) int32 {
	if s == 0 {
		return a.root[b]
	}
	if c := s + 1; int(c) < len(a.label) && a.label[c] == b && a.parent[c] == s {
		return c
	}
	if a.fork[s] {
		return a.others[edge{s, b}]
	}
	return 0
}

// next is the state after a byte: the longest beginning that what was read ends with.
func (a *automaton) next(s int32, b byte) int32 {
	for {
		if c := a.child(s, b); c != 0 || s == 0 {
			return c
		}
		s = a.fail[s]
	}
}

// found is how long the longest text is that what was read ends with, in bytes; 0: there is none. strict counts beginnings, too.
func (a *automaton) found(s int32, strict bool) int {
	if strict && a.depth[s] >= MinSecret {
		return int(a.depth[s])
	}
	return int(a.out[s])
}

// byDepth lists the states but the root, the shortest beginnings first.
func (a *automaton) byDepth() []int32 {
	deepest := int32(0)
	for _, d := range a.depth {
		deepest = max(deepest, d)
	}
	from := make([]int32, deepest+2)
	for _, d := range a.depth {
		from[d+1]++
	}
	for d := range deepest + 1 {
		from[d+1] += from[d]
	}
	list := make([]int32, len(a.depth))
	for s, d := range a.depth {
		list[from[d]] = int32(s)
		from[d]++
	}
	return list[1:]
}
