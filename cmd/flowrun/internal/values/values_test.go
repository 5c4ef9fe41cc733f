package values

import (
	"errors"
	"testing"
)

// A single problem stands by itself.
func TestProblemsOfValues(t *testing.T) {
	if Join(nil) != nil {
		t.Error("an error without a problem")
	}
	if err := Join([]error{nil, errors.New("one")}); err.Error() != "one" {
		t.Error(err)
	}
}
