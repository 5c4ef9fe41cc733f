package uselite

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

//go:embed use-lite-en.int8.packed
var packed []byte // never written to

var errFormat = errors.New("uselite: the weights are damaged")

// reader reads a file of weights from its start. After the first thing that is not there it gives zeros, and err is set.
type reader struct {
	rest string
	err  error
}

func (r *reader) take(n int) string {
	if n < 0 || n > len(r.rest) {
		r.rest, r.err = "", errFormat
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) u8() int {
	if s := r.take(1); s != "" {
		return int(s[0])
	}
	return 0
}

func (r *reader) u32() uint32 {
	if s := r.take(4); s != "" {
		return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	}
	return 0
}

func (r *reader) f32() float32 { return math.Float32frombits(r.u32()) }

// tensor is what the file has under a name: floats, or a matrix of integers.
type tensor struct {
	floats []float32
	matrix matrix
}

func (r *reader) tensor() (name string, t tensor) {
	name = r.take(r.u8())
	rows, cols, kind := int(r.u32()), int(r.u32()), r.u8()
	if rows > 1<<16 || cols > 1<<16 || kind > 1 {
		r.err = errFormat
		return name, t
	}
	if kind == 0 {
		t.floats = make([]float32, 0, min(rows*cols, len(r.rest)/4))
		for len(t.floats) < rows*cols && r.err == nil {
			t.floats = append(t.floats, r.f32())
		}
		return name, t
	}
	t.matrix = matrix{rows: rows, cols: cols, scale: make([]float32, 0, rows)}
	if data := r.take(rows * (cols + 4)); data != "" {
		for scales := (reader{rest: data}); len(t.matrix.scale) < rows; scales.take(cols) {
			t.matrix.scale = append(t.matrix.scale, scales.f32())
		}
		t.matrix.q = integers(data[4:])
	}
	return name, t
}

// integers shows the bytes of a string as integers, which must not be written to.
func integers(s string) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.StringData(s))), len(s))
}

func unpack() (*Model, error) {
	file, err := pack.Unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return read(unsafe.String(unsafe.SliceData(file), len(file))) // nobody else has the bytes
}

// read makes a model of a file, which it keeps: the big matrices stay where they are.
//
// The file: "FRUSE1\n\0", the number of pieces, each {u8 length, bytes, f32 score}; the number of tensors, each {u8 length, name,
// u32 rows, u32 cols, u8 kind, data}. Kind 0 is f32 values, kind 1 for each row an f32 scale and int8 values. Numbers are
// little-endian.
func read(file string) (*Model, error) {
	r := &reader{rest: file}
	if r.take(8) != "FRUSE1\n\x00" {
		return nil, errFormat
	}
	m := &Model{vocabulary: newVocabulary(r)}
	tensors := map[string]tensor{}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		name, t := r.tensor()
		tensors[name] = t
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, m.fill(tensors)
}

// fill takes the tensors to their places and checks that each has the size that its place needs.
func (m *Model) fill(tensors map[string]tensor) (err error) {
	floats := func(name string, n int) []float32 {
		t := tensors[name]
		if len(t.floats) != n {
			err = fmt.Errorf("%w: %s has %d numbers, not %d", errFormat, name, len(t.floats), n)
		}
		return t.floats
	}
	ints := func(name string, rows, cols int) matrix {
		t := tensors[name].matrix
		if t.rows != rows || t.cols != cols {
			err = fmt.Errorf("%w: %s is %d by %d, not %d by %d", errFormat, name, t.rows, t.cols, rows, cols)
		}
		return t
	}
	dense := func(name string, out, in int) linear { return linear{ints(name+".w", out, in), floats(name+".b", out)} }
	for i, in := range [2]int{width, Dim} {
		at := fmt.Sprintf("l%d.", i)
		m.layers[i] = layer{
			in:  in,
			qkv: dense(at+"qkv", 3*in, in), out: dense(at+"out", Dim, in),
			ff1: dense(at+"ff1", 3*Dim, Dim), ff2: dense(at+"ff2", Dim, 3*Dim),
			before:  normal{floats(at+"ln1.s", in), floats(at+"ln1.b", in)},
			between: normal{floats(at+"ln2.s", Dim), floats(at+"ln2.b", Dim)},
		}
	}
	residual := dense("l0.res", Dim, width)
	m.layers[0].residual = &residual
	m.head = dense("head", Dim, Dim)
	m.pieces = ints("emb", len(m.vocabulary.score)+2, width)
	if frequencies := floats("timing", width/2); err == nil {
		m.position = positions(frequencies)
	}
	return err
}
