package store

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
)

// TestWhatIsLostIsNamed takes both copies of records away, and for some their names, too.
func TestWhatIsLostIsNamed(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	appendAll(t, s, put("a"), put("b"), put("c"), put("d"), put("e"),
		entry.Record{Op: entry.Pin, IDs: []string{"a", "c"}},              // 6
		entry.Record{Op: entry.Supersede, IDs: []string{"d"}, Other: "e"}, // 7
		entry.Record{Op: entry.Use, IDs: []string{"b"}})                   // 8
	for _, statement := range []string{
		"UPDATE records SET body = x'00' WHERE seq IN (2, 3, 7)", "UPDATE copies SET sum = x'00' WHERE seq IN (2, 3, 7)",
		"DELETE FROM names WHERE seq = 3",
	} {
		if err := s.db.exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	told := ""
	s = open(t, s.dir, Options{Warn: func(text string) { told = text }})
	l := s.State().Damage()
	if len(l) != 2 || l[0].From != 2 || l[0].Seq != 3 || !slices.Equal(l[0].IDs, []string{"b", "c"}) || l[1].From != 7 || !slices.Equal(l[1].IDs, []string{"d"}) {
		t.Fatalf("%+v", l)
	}
	if !strings.Contains(l[0].Reason, "record 2 (put b), record 3") || !strings.Contains(l[1].Reason, "record 7 (supersede d)") {
		t.Errorf("%q, %q", l[0].Reason, l[1].Reason)
	}
	if !strings.Contains(told, "3 of 8 records are lost, about b, c, d") {
		t.Errorf("%q", told)
	}
	if !s.State().IsLost("b") || !s.State().IsLost("c") || s.State().IsLost("d") || s.State().Len() != 3 {
		t.Error(s.State().All())
	}
	appendAll(t, s, put("b"))
	goesOn(t, s)
}

func TestALargeLossIsToldInPieces(t *testing.T) {
	f := &salvage{id: newID(), last: 2*lossSpan + 5}
	h, err := f.history(ErrFull, start)
	if err != nil {
		t.Fatal(err)
	}
	l := h.state.Damage()
	if len(l) != 3 || l[0].From != 1 || l[0].Seq != lossSpan || l[2].From != 2*lossSpan+1 || h.state.Last() != f.last || h.losses != int(f.last) {
		t.Errorf("%+v, %d losses", l, h.losses)
	}
	if !strings.HasSuffix(l[0].Reason, "record 20, and 980 more up to record 1000") {
		t.Errorf("%q", l[0].Reason)
	}
}

// TestRowsAreReadAsSQLiteWroteThem has rows of all sizes around those at which SQLite lays them out differently.
func TestRowsAreReadAsSQLiteWroteThem(t *testing.T) {
	steady(t)
	s := open(t, t.TempDir(), Options{})
	var list []entry.Record
	for _, size := range []int{1, 10, 100, 120, 480, 500, 3800, 3900, 3950, 4000, 4060, 4100, 4500, 8000, 8180, 8200, 70000, MaxRecord - 500} {
		for more := range 3 {
			r := put(string(rune('a'+more)) + strings.Repeat("x", len(list)))
			r.Entry.Text = strings.Repeat("y", size+more*7)
			list = append(list, r)
		}
	}
	appendAll(t, s, list...)
	for _, closed := range []bool{false, true} {
		if closed {
			s.Close()
		}
		f, err := s.search()
		if err != nil {
			t.Fatal(err)
		}
		if len(f.bodies) != len(list) || len(f.names) != len(list) || f.last != uint64(len(list)) {
			t.Errorf("closed %v: %d records and %d names of %d", closed, len(f.bodies), len(f.names), len(list))
		}
		present, _ := images(readFiles(t, s.dir)[databaseFile], readFiles(t, s.dir)[logFile])
		n := 0
		for r := range present.rows() {
			if r.seq > 0 && (r.verify(ofRecord, s.id) || r.verify(ofName, s.id)) {
				n++
			}
		}
		if n < 3*len(list) {
			t.Errorf("closed %v: %d rows of %d", closed, n, 3*len(list))
		}
	}
}

// TestUncommittedRecordsStayOut leaves a transaction in the log that did not end, and one of an earlier round of the log.
func TestUncommittedRecordsStayOut(t *testing.T) {
	id := newID()
	page := func(seq uint64, text string) []byte { return leafWith(makeRow(ofRecord, id, seq, []byte(text))) }
	log := make([]byte, logHeader)
	copy(log[16:], "drawdraw")
	add := func(draw string, commit uint32, page []byte) {
		f := make([]byte, frameHeader)
		binary.BigEndian.PutUint32(f, 7)
		binary.BigEndian.PutUint32(f[4:], commit)
		copy(f[8:], draw)
		log = append(append(log, f...), page...)
	}
	add("drawdraw", 0, page(1, "the first that is stored"))
	add("drawdraw", 9, page(2, "the second that is stored"))
	add("drawdraw", 0, page(3, "never committed"))
	add("otherone", 9, page(2, "of an earlier round"))
	for name, c := range map[string]struct {
		seq  uint64
		want []uint64
	}{"as marked": {2, []uint64{1, 2}}, "marked beyond": {3, []uint64{1, 2, 3}}} {
		f := searchPages(nil, log, mark{seq: c.seq, store: id})
		for _, seq := range c.want {
			if _, found := f.bodies[seq]; !found {
				t.Errorf("%s: record %d is not found", name, seq)
			}
		}
		if len(f.bodies) != len(c.want) || !bytes.Contains(f.bodies[2].body, []byte("the second")) {
			t.Errorf("%s: %v", name, f.bodies)
		}
	}
	copy(log[16:], "damaged!")
	if f := searchPages(nil, log, mark{seq: 2, store: id}); len(f.bodies) != 2 {
		t.Errorf("with a damaged header: %v", f.bodies)
	}
}

// leafWith is a page with one row.
func leafWith(r row) []byte {
	payload := append([]byte{4, 0, byte(12 + 2*len(r.body)), sumType}, r.body...)
	payload = append(payload, r.sum...)
	cell := append([]byte{byte(len(payload)), byte(r.seq)}, payload...)
	page := make([]byte, pageSize)
	page[0], page[4] = tableLeaf, 1
	binary.BigEndian.PutUint16(page[leafHeader:], uint16(pageSize-len(cell)))
	copy(page[pageSize-len(cell):], cell)
	return page
}

// TestAnythingCanBeSearched searches noise that looks like pages, which must end and find nothing.
func TestAnythingCanBeSearched(t *testing.T) {
	random := rand.New(rand.NewSource(6))
	noise := make([]byte, 40*pageSize)
	for range 20 {
		random.Read(noise)
		for p := 0; p < len(noise); p += pageSize {
			noise[p] = tableLeaf
			if random.Intn(2) == 0 { // overflow pages that go round in circles
				binary.BigEndian.PutUint32(noise[p+random.Intn(4000):], uint32(1+random.Intn(40)))
			}
		}
		log := noise[random.Intn(4000):]
		if f := searchPages(noise, log, mark{}); len(f.bodies) != 0 || f.version != 0 {
			t.Fatalf("found %v in noise", f)
		}
	}
}

// TestDamagedPagesCanBeSearched spoils a page with a row in many ways: what is found is the row, or nothing.
func TestDamagedPagesCanBeSearched(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	id := newID()
	whole := leafWith(makeRow(ofRecord, id, 1, []byte("the row that was stored")))
	found := 0
	for range 5000 {
		page := bytes.Clone(whole)
		for range 1 + random.Intn(3) {
			at := random.Intn(leafHeader + 2)
			if random.Intn(2) == 0 {
				at = pageSize - 1 - random.Intn(60)
			}
			page[at] ^= byte(1 << random.Intn(8))
		}
		f := searchPages(append(make([]byte, pageSize), page...), page[random.Intn(pageSize):], mark{seq: 1, store: id})
		for seq, r := range f.bodies {
			if found++; seq != 1 || string(r.body) != "the row that was stored" {
				t.Fatalf("found %d: %q", seq, r.body)
			}
		}
	}
	if found == 0 || found == 5000 {
		t.Errorf("found %d of 5000", found)
	}
}
