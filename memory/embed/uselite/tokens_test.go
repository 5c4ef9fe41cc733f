package uselite

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzTokens(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(string(g.Text))
	}
	f.Add(strings.Repeat("\u0301", 100))
	f.Add("a <s> b</s>extra_token_id_1") // texts of reserved pieces
	f.Add("\ufdfa \u2581\u2581 \U0010ffff")
	m := model(f)
	f.Fuzz(func(t *testing.T, text string) {
		ids := m.Tokens(text)
		if (len(ids) == 0) != (text == "") || len(ids) > maxRunes+1 {
			t.Fatalf("%q has %d pieces", text, len(ids))
		}
		for i, id := range ids {
			if id != 0 && id < reserved || int(id) >= len(m.vocabulary.score) {
				t.Fatalf("%q has the piece %d", text, id)
			}
			if i > 0 && id == 0 && ids[i-1] == 0 {
				t.Fatalf("%q: a run of unknown characters is two pieces", text)
			}
		}
	})
}

// TestPiecesSpellTheText joins the pieces of plain text again.
func TestPiecesSpellTheText(t *testing.T) {
	names := pieceNames(t)
	const text = "The build failed twice, because the database migration timed out; retry it with --timeout=90s"
	var b strings.Builder
	for _, id := range model(t).Tokens(text) {
		b.WriteString(names[id])
	}
	if got := strings.ReplaceAll(b.String(), string(space), " "); got != " "+text {
		t.Errorf("the pieces spell %q", got)
	}
}

// TestTheLongestPiecesAreFound keeps the bound of the search.
func TestTheLongestPiecesAreFound(t *testing.T) {
	m := model(t)
	for i, name := range pieceNames(t)[reserved:] {
		if len(name) != m.vocabulary.Longest() {
			continue
		}
		if got := m.Tokens(strings.TrimPrefix(name, string(space))); len(got) != 1 || int(got[0]) != i+reserved {
			t.Errorf("%q has the pieces %v", name, got)
		}
	}
}

// TestWorkspacesGrow has more and more pieces in the room of those before.
func TestWorkspacesGrow(t *testing.T) {
	ws := &workspace{}
	for n := 1; n <= stack; n++ {
		ws.ids = append(ws.ids, int32(reserved+n))
		if ws.fit(); len(ws.scale) < n || len(ws.x) != len(ws.scale)*Dim || len(ws.q) != len(ws.scale)*3*Dim || len(ws.scale) >= n+few {
			t.Fatalf("%d pieces have room for %d", n, len(ws.scale))
		}
	}
}

// pieceNames reads the list of pieces by itself.
func pieceNames(t *testing.T) []string {
	t.Helper()
	const head = 8
	file := unpacked(t)
	names := make([]string, binary.LittleEndian.Uint32([]byte(file[head:])))
	lengths := file[head+4+4*len(names):]
	letters := lengths[len(names)+4:]
	for i := range names {
		names[i], letters = letters[:lengths[i]], letters[lengths[i]:]
		if !utf8.ValidString(names[i]) {
			t.Errorf("piece %d is not a UTF-8", i)
		}
	}
	return names
}

// TestLongTextsAreCut looks at each bound: what comes after it changes nothing, and what comes before it does.
func TestLongTextsAreCut(t *testing.T) {
	m := model(t)
	for _, n := range []int{maxRunes - 1, maxRunes, maxRunes + 1} {
		if got := len(m.Tokens(strings.Repeat("{", n))); got != min(n, maxRunes) {
			t.Errorf("%d characters have %d pieces", n, got)
		}
	}
	if got := len(m.Tokens(strings.Repeat("a", maxText) + "{}")); got != len(m.Tokens(strings.Repeat("a", maxText))) {
		t.Errorf("a text beyond the bound has %d pieces", got)
	}
	same := func(n int) bool {
		a, b := strings.Repeat("word ", n)+"yes", strings.Repeat("word ", n)+"no"
		v := embedded(t, m, a, b)
		return slices.Equal(v[0], v[1])
	}
	if same(MaxTokens-1) || !same(MaxTokens) {
		t.Errorf("the last of %d pieces: it counts %v; the one after it %v", MaxTokens, !same(MaxTokens-1), !same(MaxTokens))
	}
}
