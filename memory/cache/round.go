package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A packed vector is a scale and one signed byte a number. The scale is such that the length of the vector is kept, so that one of
// length 1 is so again; a scale of 0 is that of no vector.
const scaleSize = 4

// Round gives what Get will give for a vector that is put. A vector of zeros comes back as nil: it points nowhere.
func Round(v []float32) []float32 { return unpack(pack(nil, v, len(v))) }

// pack appends a vector to b, in scaleSize + dim bytes.
func pack(b []byte, v []float32, dim int) []byte {
	var most, square float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
		square += float64(float64(x) * float64(x))
	}
	start := len(b)
	b = append(b, make([]byte, scaleSize+dim)...)
	if most == 0 {
		return b
	}
	steps := 0.0
	for i, x := range v {
		q := math.RoundToEven(float64(x) / most * math.MaxInt8)
		b[start+scaleSize+i] = byte(int8(q))
		steps += float64(q * q)
	}
	binary.LittleEndian.PutUint32(b[start:], math.Float32bits(float32(math.Sqrt(square/steps))))
	return b
}

func unpack(b []byte) []float32 {
	scale := math.Float32frombits(binary.LittleEndian.Uint32(b))
	if scale == 0 {
		return nil
	}
	v := make([]float32, len(b)-scaleSize)
	for i, q := range b[scaleSize:] {
		v[i] = float32(float32(int8(q)) * scale)
	}
	return v
}

// check refuses what would spoil the file, and learns the dimension from the first vector where it is not known.
func (c *Cache) check(keys []Key, vectors [][]float32) error {
	if len(keys) != len(vectors) {
		return fmt.Errorf("%d keys for %d vectors", len(keys), len(vectors))
	}
	dim := c.dim
	for _, v := range vectors {
		if v == nil {
			continue
		}
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim || dim > MaxDim {
			return fmt.Errorf("a vector of %d numbers in a cache of %d", len(v), dim)
		}
		for _, x := range v {
			if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
				return errors.New("a vector with a number that is none")
			}
		}
	}
	c.dim = dim
	return nil
}
