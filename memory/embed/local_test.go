package embed

import (
	"errors"
	"testing"
)

// TestDamageOnOneCoreIsTold gives no vectors at all where one core could not make its own.
func TestDamageOnOneCoreIsTold(t *testing.T) {
	damaged := errors.New("damaged")
	for more, want := range []error{nil, damaged} {
		n := 5*chunk + more
		vectors, err := together(t.Context(), make([]string, n), func(texts ...string) ([][]float32, error) {
			if len(texts) < chunk { // what is left for the last
				return nil, damaged
			}
			return make([][]float32, len(texts)), nil
		})
		if !errors.Is(err, want) || (want == nil) != (len(vectors) == n) {
			t.Errorf("of %d texts %d vectors, %v", n, len(vectors), err)
		}
	}
}
