package wordlist

import (
	"fmt"
	"strings"
	"testing"
)

func list(words ...string) *List {
	var lengths []byte
	for _, w := range words {
		lengths = append(lengths, byte(len(w)))
	}
	return New(lengths, strings.Join(words, ""))
}

func find(l *List, word string) int { return l.Find(HashOf(word), word) }

func TestFind(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 1023, 1024, most} {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		l := list(words...)
		if l == nil || l.Len() != n {
			t.Fatalf("no list of %d words", n)
		}
		for i, w := range words {
			if got := find(l, w); got != i || l.Word(i) != w {
				t.Fatalf("word %d of %d, %q, is found at %d, where %q is", i, n, w, got, l.Word(i))
			}
		}
		for _, w := range []string{"", "w", "w00", fmt.Sprint("w", n)} {
			if got := find(l, w); got != -1 {
				t.Errorf("%q is found at %d of %d", w, got, n)
			}
		}
	}
	if list(make([]string, most+1)...) != nil {
		t.Error("a list has a word too many")
	}
}

func TestTheLastOfEqualWordsIsFound(t *testing.T) {
	l := list("a", "b", "", "a", "längst", "a", "")
	for w, want := range map[string]int{"a": 5, "b": 1, "": 6, "längst": 4} {
		if got := find(l, w); got != want {
			t.Errorf("%q is found at %d, not %d", w, got, want)
		}
	}
	if n := l.Longest(); n != len("längst") {
		t.Errorf("the longest has %d bytes", n)
	}
}

func TestLengthsThatDoNotMakeUpTheText(t *testing.T) {
	for _, lengths := range [][]byte{nil, {2}, {1, 1}, {1, 3}, {4}, {255, 255}, {3, 1}} {
		if New(lengths, "abc") != nil {
			t.Errorf("lengths %v have a list of three letters", lengths)
		}
	}
	if New([]byte{1, 0, 2}, "abc") == nil {
		t.Error("three letters have no list")
	}
}
