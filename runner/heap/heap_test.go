package heap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type number int

func (n number) Before(other number) bool { return n < other }

// TestIsASortedList compares a heap with a list that is sorted anew each time.
func TestIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[number]
		var list []number
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			if len(list) > 0 && rapid.Bool().Draw(t, "pop") {
				if have := h.Pop(); have != list[0] {
					t.Fatalf("it gives %d, and %d is first", have, list[0])
				}
				list = list[1:]
			} else {
				n := number(rapid.IntRange(0, 20).Draw(t, "number"))
				h.Push(n)
				list = append(list, n)
				slices.Sort(list)
			}
			if len(h) != len(list) || len(h) > 0 && h[0] != list[0] {
				t.Fatalf("%v for %v", h, list)
			}
		}
	})
}
