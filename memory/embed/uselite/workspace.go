package uselite

// stack is how many pieces go through the layers at once: those of several short texts, so that each weight is fetched once
// for all of them, or those of one long text.
const stack = 2 * MaxTokens

// few is what the rows of a workspace are a multiple of, so that one for a single short text is small.
const few = stack / 4

// workspace holds what one pass through the layers needs, up to 5 MB; it is used again for the next.
type workspace struct {
	ids  []int32 // the pieces of all texts, one text after the other
	ends []int   // where each text's pieces end

	x, h, y, att []float32 // a row of up to Dim numbers for each piece: the state, its normal form, an output, what attention gives
	wide         []float32 // a row of up to 3*Dim numbers: queries, keys and values, or the inner layer

	q     []int16   // rows of a matrix product, as integers
	scale []float32 // what one of these integers stands for, by row
	sums  [tile * block]int32

	attention attention
}

func (m *Model) workspace() *workspace {
	if ws, _ := m.spaces.Get().(*workspace); ws != nil {
		return ws
	}
	return &workspace{}
}

// fit makes room for all pieces.
func (ws *workspace) fit() {
	if len(ws.ids) <= len(ws.scale) {
		return
	}
	n := (len(ws.ids) + few - 1) / few * few
	rows := func(width int) []float32 { return make([]float32, n*width) }
	ws.x, ws.h, ws.y, ws.att, ws.wide = rows(Dim), rows(Dim), rows(Dim), rows(Dim), rows(3*Dim)
	ws.q, ws.scale = make([]int16, n*3*Dim), rows(1)
}

// spans calls f for each text with its number and the rows that its pieces have.
func (ws *workspace) spans(f func(text, from, to int)) {
	from := 0
	for i, to := range ws.ends {
		f(i, from, to)
		from = to
	}
}
