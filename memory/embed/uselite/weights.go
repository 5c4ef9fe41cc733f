package uselite

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

//go:embed use-lite-en.int8.packed
var packed []byte // never written to

// room is where they are unpacked to.
var room [7_178_384]byte

var errFormat = errors.New("uselite: the weights are damaged")

// align is what the place of a matrix is a multiple of, so that no load of 16 integers lies in two lines of the processor's cache.
const align = 32

// tensor is what the file has under a name: floats, or integers with a float a row.
type tensor struct {
	floats     []float32
	rows, cols int // of the integers
	at         int // where the integers begin
}

func readTensor(r *pack.Reader) (name string, t tensor) {
	name = string(r.Bytes(r.U8()))
	rows, cols, kind := r.U32(), r.U32(), r.U8()
	if rows > 1<<16 || cols > 1<<16 || kind > 1 {
		r.Err = errFormat
		return name, t
	}
	if kind == 0 {
		return name, tensor{floats: r.Floats(rows * cols)}
	}
	scales := r.Floats(rows)
	r.Skip(-r.At & (align - 1))
	return name, tensor{floats: scales, rows: rows, cols: cols, at: r.Skip(rows * cols)}
}

// integers shows bytes as integers, which must not be written to.
func integers(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func load(packed, room []byte) (*Model, error) {
	file, err := pack.Open(packed, room)
	if err == nil {
		var m *Model
		if m, err = read(file); err == nil {
			return m, nil
		}
	}
	return nil, damaged(err)
}

func damaged(err error) error {
	if errors.Is(err, errFormat) {
		return err
	}
	return fmt.Errorf("%w: %w", errFormat, err)
}

// read makes a model of a file, which it keeps: the big matrices stay where they are.
//
// The file: "FRUSE2\n\0", the pieces (see readVocabulary), the number of tensors, each {u8 length, name, u32 rows, u32 cols, u8 kind,
// data}. Kind 0 is f32 values, kind 1 an f32 scale for each row, then, at a multiple of align, each row's int8 values. Numbers are
// little-endian.
func read(file *pack.Packed) (*Model, error) {
	r := &pack.Reader{From: file}
	if string(r.Bytes(8)) != "FRUSE2\n\x00" {
		return nil, errFormat
	}
	m := &Model{vocabulary: readVocabulary(r)}
	tensors := map[string]tensor{}
	for n := r.U32(); n > 0 && r.Err == nil; n-- {
		name, t := readTensor(r)
		tensors[name] = t
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, m.fill(file, tensors)
}

// fill takes the tensors to their places and checks that each has the size that its place needs.
func (m *Model) fill(file *pack.Packed, tensors map[string]tensor) (err error) {
	floats := func(name string, n int) []float32 {
		t := tensors[name]
		if len(t.floats) != n {
			err = fmt.Errorf("%w: %s has %d numbers, not %d", errFormat, name, len(t.floats), n)
		}
		return t.floats
	}
	ints := func(name string, rows, cols int) tensor {
		t := tensors[name]
		if t.rows != rows || t.cols != cols {
			err = fmt.Errorf("%w: %s is %d by %d, not %d by %d", errFormat, name, t.rows, t.cols, rows, cols)
		}
		return t
	}
	dense := func(name string, out, in int) linear {
		t := ints(name+".w", out, in)
		q, e := file.Bytes(t.at, t.at+t.rows*t.cols)
		if e != nil {
			err = e
		}
		return linear{w: matrix{rows: out, cols: in, q: integers(q), scale: t.floats}, bias: floats(name+".b", out)}
	}
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
	pieces := ints("emb", len(m.vocabulary.score)+2, width)
	m.pieces = table{file: file, at: pieces.at, scale: pieces.floats}
	if frequencies := floats("timing", width/2); err == nil {
		m.position = positions(frequencies)
	}
	return err
}
