package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
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

func TestPack(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, block - 1, block, block + 1, 3*block + 7} {
		for name, b := range map[string][]byte{"weights": like(n), "noise": noise(n), "zeros": make([]byte, n)} {
			got, err := Unpack(packed(t, b))
			if err != nil || string(got) != string(b) {
				t.Errorf("%d bytes of %s come back as %d: %v", n, name, len(got), err)
			}
		}
	}
	if n := len(packed(t, like(8*block))); n > 8*block*91/100 {
		t.Errorf("%d bytes are packed to %d", 8*block, n)
	}
	if n := len(packed(t, noise(block))); n != block+2*head {
		t.Errorf("%d bytes of noise are packed to %d", block, n)
	}
}

func TestDamage(t *testing.T) {
	whole := string(packed(t, like(2*block)))
	for _, n := range []int{0, head - 1, head, head + 1, 2*head - 1, 2 * head, len(whole) / 2, len(whole) - 1} {
		if _, err := Unpack([]byte(whole[:n])); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	for name, s := range map[string]string{
		"a byte too many":     whole + "x",
		"a block too long":    whole[:head] + "\xff\xff\xff\xff" + whole[2*head:],
		"an empty block":      whole[:head] + "\x00\x00\x00\x00" + whole[2*head:],
		"all memory":          string(binary.LittleEndian.AppendUint32(nil, most+1)) + whole[head:],
		"one byte less":       string(binary.LittleEndian.AppendUint32(nil, 2*block-1)) + whole[head:],
		"one byte more":       string(binary.LittleEndian.AppendUint32(nil, 2*block+1)) + whole[head:],
		"a table of nonsense": whole[:2*head] + "\xff\xff\xff\xff" + whole[2*head+4:],
	} {
		if _, err := Unpack([]byte(s)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for range 200 {
		b := []byte(whole)
		b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		got, err := Unpack(b)
		switch {
		case err != nil:
			seen++
		case len(got) != 2*block:
			t.Fatalf("damage gives %d bytes", len(got))
		case bytes.Equal(got, like(2*block)):
			t.Fatal("damage changes nothing")
		}
	}
	if seen == 0 {
		t.Error("no damage was seen")
	}
	t.Logf("%d of 200 flipped bits were refused", seen)
}
