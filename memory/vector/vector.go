// Package vector tells how near vectors are to another, in memory. It knows vectors and their ids; what they stand for, where they
// are kept and who may see them is decided elsewhere, and so is what is wanted of the answer: nobody asks for the nearest few, as
// a score has more parts than the cosine.
//
// Enter at [New], or at [Texts] for texts whose sentences have vectors of their own. The index is chromem-go up to [Limit]
// vectors and a flat scan above; both give the same answers to the last bit (a test compares them), so that moving from one
// to the other can't be seen. What always holds:
//
//   - It is exact. Equal vectors, added in any order, give equal answers.
//   - A vector that can't be compared is refused when it is added, and says why: another length, not a number, all zero.
//   - No text is handed to chromem-go and nothing is stored by it: its embedding function, which would call out over the
//     network when left nil, is one that fails, and its files are not used, as they do not survive a kill.
//
// An Index is safe for many readers or one writer, as a map is.
package vector

import (
	"errors"
	"fmt"
	"math"
)

// Index holds vectors by id.
type Index interface {
	// Add puts in v, or puts it in the place of the vector with this id. The index keeps v; it is not to be changed.
	// Vectors that are not of unit length are stored as copies that are.
	Add(id string, v []float32) error
	// Delete of an id that is not there is no error.
	Delete(id string) error
	// Each calls f with every id and its cosine with v, in no certain order.
	Each(v []float32, f func(id string, cosine float32)) error
	Len() int
}

// Errors of Add and Each.
var (
	ErrLength = errors.New("the vector has another length than those of the index")
	ErrEmpty  = errors.New("the vector has no direction: its numbers are all 0, or not all finite")
	ErrNoID   = errors.New("a vector needs an id")
)

// unitTolerance is how far the length of a vector may be from 1 for it to be taken as it is. Rounding to single precision
// moves it by a tenth of that. chromem-go makes a copy of what is off by more than 1e-6, with less precision than [unit].
const unitTolerance = 5e-7

// unit checks that v can be compared with vectors of dim numbers, and gives it the length 1.
func unit(v []float32, dim int) ([]float32, error) {
	if len(v) != dim {
		return nil, fmt.Errorf("%w: %d, not %d", ErrLength, len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, ErrEmpty
	}
	length := math.Sqrt(sum)
	if math.Abs(length-1) < unitTolerance {
		return v, nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out, nil
}

// Cosine is the cosine of two unit vectors of equal length.
func Cosine(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += float32(x * b[i])
	}
	return sum
}
