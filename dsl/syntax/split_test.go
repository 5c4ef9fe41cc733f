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

	"github.com/flowrun/flowrun/dsl/diag"
)

// whole is Parse without cutting.
func whole(name string, data []byte) (*File, diag.List) {
	src, _, expansions, list := scan(name, data, Limits{}.usual())
	f := &File{Name: name, Src: src}
	if found := f.shellText(expansions, Limits{}.usual()); len(found) > 0 {
		return f, found
	}
	if len(list) > 0 {
		return f, list
	}
	return f, f.parseWhole()
}

// same fails unless a text gives the same tree and findings in one and in segments. It tells whether they were joined.
func same(t interface{ Fatalf(string, ...any) }, src []byte) bool {
	want, found := whole("x", src)
	got, list := Parse("x", src)
	if fmt.Sprint(list) != fmt.Sprint(found) || !reflect.DeepEqual(list, found) && len(list)+len(found) > 0 {
		t.Fatalf("findings\n%v\nwant\n%v\nin\n%s", list, found, src)
	}
	if at := differ(&got.Body, &want.Body); at != "" {
		t.Fatalf("trees differ at %s in\n%s", at, src)
	}
	_, segments, _, list := scan("x", src, Limits{}.usual())
	if len(list) > 0 || segments == nil {
		return false
	}
	f := &File{Name: "x", Src: got.Src}
	b, end := f.join(segments)
	if end < 0 && (found.HasErrors() || differ(&b, &want.Body) != "") {
		t.Fatalf("joined, in spite of %v\n%s", found, src)
	}
	return end < 0
}

// differ says where two bodies differ. Files are not compared: each attribute points to its own.
func differ(a, b *Body) string {
	if len(a.Attrs) != len(b.Attrs) || len(a.Blocks) != len(b.Blocks) {
		return "the number of items"
	}
	for i, x := range a.Attrs {
		if y := b.Attrs[i]; x.Name != y.Name || x.Range != y.Range || x.Span() != y.Span() || !reflect.DeepEqual(x.Expr(), y.Expr()) {
			return x.Range.String()
		}
	}
	for i, x := range a.Blocks {
		y := b.Blocks[i]
		if x.Kind != y.Kind || x.Range != y.Range || x.Header != y.Header || x.End != y.End || !reflect.DeepEqual(x.Labels, y.Labels) {
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
				"1", `"x"`, `["x", y.z, [3,],]`, `"${x.y} z ${ w }"`, "null", `""`, "x-y.z_1 # é", "100000000000000000000 // 1", "[1,\n 2]", "{\n a = 1\n b = \"}\"\n}", "<<E\n  } {\n${x}\n%{ if true }\n y\n%{ endif }\nE", "<<-E\n  a {\n   \"\n  E",
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

// Files without errors are read in segments, whatever is in them, and never in one.
func TestJoined(t *testing.T) {
	for _, src := range []string{
		"", "\n", "# x", "a = 1", "a {\n}", "w \"x\" {\n" + strings.Repeat("  s \"a\" {\n    b = <<E\n{\nE\n  }\n", 1000) + "}\nv \"y\" {\n}\n",
		"a { b = 1 }\nc {\n d { e = [] }\n /* x */ f /* {\n */ \"g\" { # é\n }\n /* }\n */ } // {\n",
		strings.Repeat("a {\n", MaxDepth) + strings.Repeat("}\n", MaxDepth), "é = \"ü\" # ö\nß \"é\" { // é\n}\n",
	} {
		if !same(t, []byte(src)) {
			t.Errorf("not joined: %.200s", src)
		}
	}
}

// What is plain is read without HCL, and what is nearly plain is not.
func TestPlain(t *testing.T) {
	for src, plain := range map[string]bool{
		"a = 1": true, "a=1": true, " a-b_3 \t=\t[ 1,2 , [] ,]\t# é": true, "_a = true": true, "a = [false, null]": true, "a = \"\"": true,
		"a = \"x # } $\tx\"": false, "a = \"x # }\tx\" // \"": true, "a = b": true, "a = b.c.true.e-f": true, "a = \"${b.c}\"": true, "a = \"x ${ b.c } y${d}${e}\"": true,
		"b { a = 1 }": true, "b \"c\" d { a = [\"x\"] }": true, "b{}": true, "b\"c\"{a=1}": true, "b { }": true, "": true, " // x": true, "a = 007": true,
		"a = 1.5": false, "a = 1e3": false, "a = 1a": false, "a = 1.a": false, "a == 1": false, "a => 1": false, "a = -1": false, "a = b[0]": false, "a = b.0": false, "a = b.*.c": false,
		"a = b()": false, "a = b::c()": false, "a = true.x": false, "a = for": false, "a = [for x in y : x]": false, "a = \"x": false, "a = \"\\n\"": false, "a = \"%{x}\"": false,
		"a = \"$${x}\"": false, "a = \"${~b}\"": false, "a = é": false, "a = \"é\"": false, "a = bé": false, "a = b + c": false, "a = b ? c : d": false, "a = (b)": false, "a = {}": false,
		"a = 1 /* x */": false, "a = 1 b": false, "a = 1,": false, "a = [1 2]": false, "a = [,]": false, "b { a = 1 c = 2 }": false, "b { c {} }": false, "b {} c {}": false, "a = b. c": false,
		"a = b .c": false, "\"a\" = 1": false, "a": false, "a =": false, "b \"${c}\" {}": false, "b {": false, "}": false, "a = <<E": false, "a = 'x'": false, "a = [1": false, "a = 1 /": false,
	} {
		f := &File{Name: "x", Src: []byte(src + "\n")}
		j := &joiner{f: f, line: 1}
		if got := j.readable(len(f.Src)); got != plain {
			t.Errorf("%q: plain %v, want %v", src, got, plain)
		}
		same(t, f.Src)
		same(t, []byte(src))
		same(t, []byte("w {\n"+src+"\n\n"+src+"}\n"))
		same(t, []byte("w {\n  "+src+"\n  z = [\n"+src+"\n]\n}\n"))
	}
}

// A file of very many lines is not read in one for its errors: those up to the first are found, and no more.
func TestFirstErrors(t *testing.T) {
	for _, c := range []struct{ src, codes string }{
		{"w {\n" + strings.Repeat("  a {\n  }\n", MaxLinesWhole) + "  b = 'x'\n}\nc = 'y'\n", "F0036"},
		{"w {\n" + strings.Repeat("  a {\n  }\n", MaxLinesWhole), "F0022"},
		{"w {\n" + strings.Repeat("  a {\n  }\n", MaxLinesWhole) + "  b = 1\n  b = 2\n}\nc = 'y'\n", "F0020"},
		{"w {\n" + strings.Repeat("  a {\n  }\n", 10) + "  b = 'x'\n}\nc = 'y'\n", "F0036 F0036"},
	} {
		_, list := Parse("x", []byte(c.src))
		var codes []string
		for _, d := range list {
			codes = append(codes, d.Code)
		}
		if strings.Join(codes, " ") != c.codes {
			t.Errorf("%v, want %s", list, c.codes)
		}
	}
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
