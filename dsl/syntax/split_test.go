package syntax

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// same fails unless a text gives the same tree and findings in one piece and in pieces of several sizes.
func same(t interface{ Fatalf(string, ...any) }, src []byte) {
	want, found := parse("x", src, 0)
	for _, size := range []int{1, 40, 300} {
		got, list := parse("x", src, size)
		if !reflect.DeepEqual(list, found) {
			t.Fatalf("pieces of %d bytes: findings\n%v\nwant\n%v\nin\n%s", size, list, found, src)
		}
		if path := differ(&got.Body, &want.Body); path != "" {
			t.Fatalf("pieces of %d bytes: trees differ at %s in\n%s", size, path, src)
		}
	}
}

// differ says where two bodies differ. Files are not compared: each attribute points to its own.
func differ(a, b *Body) string {
	if len(a.Attrs) != len(b.Attrs) || len(a.Blocks) != len(b.Blocks) {
		return "the number of items"
	}
	for i, x := range a.Attrs {
		if y := b.Attrs[i]; x.Name != y.Name || x.Range != y.Range || !reflect.DeepEqual(x.Expr, y.Expr) {
			return x.Range.String()
		}
	}
	for i, x := range a.Blocks {
		y := b.Blocks[i]
		if x.Kind != y.Kind || x.Range != y.Range || x.Header != y.Header || !reflect.DeepEqual(x.Labels, y.Labels) {
			return x.Range.String()
		}
		if at := differ(&x.Body, &y.Body); at != "" {
			return at
		}
	}
	return ""
}

// Every file with something wrong with it, every right one, and every expression that has a picture, in a block.
func TestSplitFiles(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../testdata/*/*.hcl", "../../testdata/*/*.hcl", "../../examples/*/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			src, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			same(t, src)
			same(t, append([]byte("a {\n}\nw \"x\" {\n"), append(src, "\n}\nb {\n}\n"...)...))
			n++
		}
	}
	pictures, _ := filepath.Glob("../expr/testdata/pictures/*")
	for _, p := range pictures {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n\n") {
			_, rest, _ := strings.Cut(part, "\n")
			src, _, _ := strings.Cut(rest, "\n----")
			same(t, []byte("a {\n  b {\n    c = 1\n  }\n  x = "+src+"\n  d = 2\n}\n"))
			n++
		}
	}
	if n < 300 {
		t.Errorf("%d texts; several hundred are there", n)
	}
}

// text draws the items of a body, now and then with something that does not belong there.
func text(t *rapid.T, b *strings.Builder, depth int) {
	for i := range rapid.IntRange(0, 5).Draw(t, "items") {
		pad := strings.Repeat(rapid.SampledFrom([]string{" ", "  ", "\t", ""}).Draw(t, "pad"), depth)
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0, 1, 2:
			fmt.Fprintf(b, "%sa%d = %s\n", pad, i, rapid.SampledFrom([]string{
				"1", `"x"`, "[1,\n 2]", "{\n a = 1\n b = \"}\"\n}", "<<E\n  } {\n${x}\n%{ if true }\n y\n%{ endif }\nE", "<<-E\n  a {\n   \"\n  E",
				`"a ${"b ${c} }"} {"`, "x.y[0].z", "f(1,\n2)", "(1 +\n 2)", `"é̈ 𝒳" # note`, "[for x in y : {\n a = x\n}]", "a ? b : c", "/* { */ 1", "{}",
			}).Draw(t, "value"))
		case 3, 4, 5:
			if depth < 5 {
				fmt.Fprintf(b, "%sb \"l%d\" {%s\n", pad, i, rapid.SampledFrom([]string{"", "", " ", " # {", " /* } */", "// x"}).Draw(t, "behind"))
				text(t, b, depth+1)
				fmt.Fprintf(b, "%s}%s\n", pad, rapid.SampledFrom([]string{"", "", " ", " # }", " /* {\n */"}).Draw(t, "end"))
			}
		case 6:
			b.WriteString(pad + rapid.SampledFrom([]string{"", "# } {", "// \"", "/* \n { \n */", "c { d = 1 }", "c {}", "/* */ c \"x\" {\n}"}).Draw(t, "filler") + "\n")
		default:
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "}", "{", "a0 = 2\n", "\"", "${", "<<E\n", "/*", "*/", "b {\n} c {\n}", "x", "b {\na = 1 }", "b { /*\n*/ }", "b\n{\n}", "\u00a0", "b { a = 1\n}"}).Draw(t, "fault") + "\n")
		}
	}
}

// What a file means, and what is wrong with it, does not depend on how it is cut.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 { // of the hundred programs that a check draws
			var b strings.Builder
			text(t, &b, 0)
			same(t, []byte(b.String()))
		}
	})
}

// Cutting is what happens to large files: a block of many pieces is read without parsing the file in one.
func TestSplitHappens(t *testing.T) {
	src := []byte("w \"x\" {\n" + strings.Repeat("  s \"a\" {\n    b = <<E\n{\nE\n  }\n", 1000) + "}\nv \"y\" {\n}\n")
	_, pieces, list := scan("x", src, PieceBytes)
	if len(list) > 0 || len(pieces) != 2 || len(pieces[0].inner) < len(src)/PieceBytes/2 {
		t.Fatalf("%d pieces, %v", len(pieces), list)
	}
	f := &File{Name: "x", Src: src}
	b, ok := f.join(pieces)
	if !ok || len(b.Blocks) != 2 || len(b.Blocks[0].Body.Blocks) != 1000 || b.Blocks[1].Labels[0].Text != "y" {
		t.Fatalf("joined: %v, %d blocks", ok, len(b.Blocks))
	}
	same(t, src)
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a {\n b = 1\n}\nc {\n}\n", "b { /*\n*/ }\n", "a = <<E\n}\nE\nb {\n c {\n }\n}\n", "a = 1\nb = 2\na = 3\n", "a {\n} b {\n}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		same(t, src)
		same(t, bytes.Join([][]byte{[]byte("w {"), src, []byte("}")}, []byte("\n")))
	})
}
