package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

// like are bytes as weights are: small ones more often.
func like(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(int8(max(-127, min(127, rnd.NormFloat64()*30))))
	}
	return out
}

func noise(n int) []byte {
	out, rnd := make([]byte, n), rand.New(rand.NewPCG(2, uint64(n)))
	for i := range out {
		out[i] = byte(rnd.Uint32())
	}
	return out
}

func packed(t testing.TB, b []byte) []byte {
	t.Helper()
	out, err := Pack(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t testing.TB, b []byte) *Packed {
	t.Helper()
	p, err := Open(packed(t, b), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// whole unpacks everything.
func whole(b []byte) ([]byte, error) {
	p, err := Open(b, nil)
	if err != nil {
		return nil, err
	}
	return p.Bytes(0, p.Len())
}

func TestPack(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, block - 1, block, block + 1, 3*block + 7} {
		for name, b := range map[string][]byte{"weights": like(n), "noise": noise(n), "zeros": make([]byte, n)} {
			got, err := whole(packed(t, b))
			if err != nil || string(got) != string(b) {
				t.Errorf("%d bytes of %s come back as %d: %v", n, name, len(got), err)
			}
		}
	}
	if n := len(packed(t, like(8*block))); n > 8*block*92/100 {
		t.Errorf("%d bytes are packed to %d", 8*block, n)
	}
	if n := len(packed(t, noise(block))); n != block+2*head {
		t.Errorf("%d bytes of noise are packed to %d", block, n)
	}
}

// TestBytes asks for what lies before, at and across the borders of blocks, and looks at what was unpacked for it.
func TestBytes(t *testing.T) {
	const size = 3*block + 7
	want := like(size)
	for _, c := range []struct{ from, to, first, last int }{
		{0, 0, 0, -1}, {0, 1, 0, 0}, {0, block, 0, 0}, {block - 1, block, 0, 0}, {block - 1, block + 1, 0, 1}, {block, block, 1, 0},
		{block, block + 1, 1, 1}, {block, 2 * block, 1, 1}, {block - 1, 2*block + 1, 0, 2}, {3*block - 1, size, 2, 3}, {3 * block, size, 3, 3},
		{size - 1, size, 3, 3}, {size, size, 3, 2}, {0, size, 0, 3},
	} {
		p := open(t, want)
		for range 2 { // the second time they are there
			got, err := p.Bytes(c.from, c.to)
			if err != nil || !bytes.Equal(got, want[c.from:c.to]) || cap(got) != len(got) {
				t.Errorf("from %d to %d: %d bytes of %d, %v", c.from, c.to, len(got), c.to-c.from, err)
			}
		}
		for i := range p.blocks {
			if done := p.blocks[i].packed == nil; done != (i >= c.first && i <= c.last) {
				t.Errorf("from %d to %d: block %d is unpacked: %v", c.from, c.to, i, done)
			}
		}
	}
	p := open(t, want)
	for _, c := range [][2]int{{-1, 1}, {2, 1}, {0, size + 1}, {size + 1, size + 1}, {-block, size}} {
		if _, err := p.Bytes(c[0], c[1]); !errors.Is(err, ErrDamaged) {
			t.Errorf("from %d to %d: %v", c[0], c[1], err)
		}
	}
}

func TestRoom(t *testing.T) {
	want := like(block + 7)
	for _, n := range []int{0, len(want) - 1, len(want) + 1} {
		if _, err := Open(packed(t, want), make([]byte, n)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes have room in %d: %v", len(want), n, err)
		}
	}
	room := make([]byte, len(want))
	p, err := Open(packed(t, want), room)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Bytes(3, 5)
	if err != nil || &got[0] != &room[3] || !bytes.Equal(got, want[3:5]) {
		t.Errorf("the bytes do not lie in their room: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	want := like(8*block + 1)
	p := open(t, want)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(5, uint64(n)))
			for range 200 {
				from := rnd.IntN(len(want))
				to := min(len(want), from+rnd.IntN(300))
				if got, err := p.Bytes(from, to); err != nil || !bytes.Equal(got, want[from:to]) {
					t.Errorf("from %d to %d: %v", from, to, err)
				}
			}
		})
	}
	all.Wait()
}

func TestReader(t *testing.T) {
	r := &Reader{From: open(t, append([]byte{7, 1, 2, 0, 0, 0, 0, 128, 63, 0, 0, 0, 192}, like(block)...))}
	if n := r.U8(); n != 7 {
		t.Errorf("a byte is %d", n)
	}
	if n := r.U32(); n != 0x201 {
		t.Errorf("four bytes are %#x", n)
	}
	if f := r.Floats(2); len(f) != 2 || f[0] != 1 || f[1] != -2 {
		t.Errorf("eight bytes are %v", f)
	}
	if at := r.Skip(block - 1); at != 13 || r.Err != nil || r.From.blocks[1].packed == nil {
		t.Errorf("passing over a block stands at %d: %v", at, r.Err)
	}
	if b := r.Bytes(1); len(b) != 1 || r.Err != nil {
		t.Errorf("the last byte: %v, %v", b, r.Err)
	}
	for name, read := range map[string]func(r *Reader) bool{
		"a byte":              func(r *Reader) bool { return r.U8() == 0 },
		"a number":            func(r *Reader) bool { return r.U32() == 0 },
		"floats":              func(r *Reader) bool { return r.Floats(1<<40) == nil },
		"bytes":               func(r *Reader) bool { return r.Bytes(1) == nil },
		"less than no bytes":  func(r *Reader) bool { return r.Bytes(-1) == nil },
		"passing over a byte": func(r *Reader) bool { return r.Skip(1) == 0 },
	} {
		end := &Reader{From: r.From, At: r.At}
		if !read(end) || !errors.Is(end.Err, ErrDamaged) {
			t.Errorf("%s after the end: %v", name, end.Err)
		}
		if end.At = 0; end.U8() != 0 {
			t.Errorf("after %s that is not there, something is", name)
		}
	}
}

func TestDamage(t *testing.T) {
	const size, sizes = 2 * block, 3 * head
	all := string(packed(t, like(size)))
	for _, n := range []int{0, head - 1, head, head + 1, sizes - 1, sizes, len(all) / 2, len(all) - 1} {
		if _, err := whole([]byte(all[:n])); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes of %d: %v", n, len(all), err)
		}
	}
	number := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	for name, s := range map[string]string{
		"a byte too many":      all + "x",
		"a block too long":     all[:head] + "\xff\xff\xff\xff" + all[2*head:],
		"an empty block":       all[:head] + number(0) + number(len(all)-sizes) + all[sizes:],
		"all memory":           number(most+1) + all[head:],
		"one byte less":        number(size-1) + all[head:],
		"one byte more":        number(size+1) + all[head:],
		"one block more":       number(size+block) + all[head:],
		"a table of nonsense":  all[:sizes] + "\xff\xff\xff\xff" + all[sizes+4:],
		"nonsense at a border": all[:head] + number(len(all)-sizes) + number(0) + all[sizes:],
	} {
		if _, err := whole([]byte(s)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for range 200 {
		b := []byte(all)
		b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		got, err := whole(b)
		switch {
		case err != nil:
			seen++
		case len(got) != size:
			t.Fatalf("damage gives %d bytes", len(got))
		case bytes.Equal(got, like(size)):
			t.Fatal("damage changes nothing")
		}
	}
	if seen == 0 {
		t.Error("no damage was seen")
	}
	t.Logf("%d of 200 flipped bits were refused", seen)
}

// TestDamageStaysInItsBlock: what lies in others can be had, and what lies in it never.
func TestDamageStaysInItsBlock(t *testing.T) {
	want := like(3 * block)
	b := packed(t, want)
	second := head*4 + int(binary.LittleEndian.Uint32(b[head:]))
	copy(b[second:], "\xff\xff\xff\xff")
	p, err := Open(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i, good := range []bool{true, false, true} {
			got, err := p.Bytes(i*block, i*block+10)
			if good && !bytes.Equal(got, want[i*block:i*block+10]) || !good && !errors.Is(err, ErrDamaged) {
				t.Errorf("block %d: %v", i, err)
			}
		}
		if _, err := p.Bytes(block-1, block+1); !errors.Is(err, ErrDamaged) {
			t.Errorf("at the border: %v", err)
		}
	}
}
