package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// attr puts a value into a file of a line or more.
func attr(value string) []byte { return []byte("a = " + value + "\n") }

// blockOf is a block of so many bytes from brace to brace.
func blockOf(size int) []byte {
	const line = "  a = \"x\" # x\n"
	b := []byte("{\n")
	for i := 0; len(b)+len(line)+2 <= size; i++ {
		b = append(b, line...)
		copy(b[len(b)-len(line):], fmt.Sprintf("  # %d", i))
	}
	for len(b) < size-1 {
		b = append(b, '\n')
	}
	return append(append([]byte("b "), b...), "}\n"...)
}

// Each bound holds: what is just within it is parsed, what is just beyond it is refused with the code.
func TestBounds(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct {
		code           string
		within, beyond []byte
	}{
		{"F0005", attr(`"` + rep("x", MaxLineBytes-6) + `"`), attr(`"` + rep("x", MaxLineBytes-5) + `"`)},
		{"F0006", attr(rep("[", MaxDepth) + rep("]", MaxDepth)), attr(rep("[", MaxDepth+1) + rep("]", MaxDepth+1))},
		{"F0006", attr(rep(`"${`, MaxDepth) + "1" + rep(`}"`, MaxDepth)), attr(rep(`"${`, MaxDepth+1) + "1" + rep(`}"`, MaxDepth+1))},
		{"F0006", []byte(rep("a {\n", MaxDepth) + rep("}\n", MaxDepth)), []byte(rep("a {\n", MaxDepth+1) + rep("}\n", MaxDepth+1))},
		{"F0011", attr(rep("9", MaxDigits)), attr(rep("9", MaxDigits+1))},
		{"F0011", attr("1e400"), attr("1e401")},
		{"F0011", attr("1e-400"), attr(`"${1e-99999999999999999999}"`)},
		{"F0012", attr("1" + rep("+1", MaxOperators-1)), attr("1" + rep("+1", MaxOperators))},
		{"F0012", attr(rep("!", MaxOperators-1) + "true"), attr(rep("!", MaxOperators) + "true")},
		{"F0055", []byte("/*" + rep(rep("x", 1023)+"\n", MaxHeredocBytes>>10) + "*/ a = 1\n"), []byte("/*" + rep(rep("x", 1023)+"\n", MaxHeredocBytes>>10) + "x*/ a = 1\n")},
		{"F0056", blockOf(MaxBlockBytes), blockOf(MaxBlockBytes + 1)},
		{"F0056", append(append([]byte("b {\n"), blockOf(MaxBlockBytes)...), append(blockOf(MaxBlockBytes), "}\n"...)...), append(append([]byte("b {\n"), blockOf(MaxBlockBytes)...), append(blockOf(MaxBlockBytes+1), "}\n"...)...)},
		{"F0013", attr("<<E\n" + rep(rep("x", 1023)+"\n", MaxHeredocBytes>>10) + "E"), attr("<<E\n" + rep(rep("x", 1023)+"\n", MaxHeredocBytes>>10+1) + "E")},
		{"F0014", attr("<<E\n" + rep(rep("x", 159)+"\n", 4800) + "E"), attr("<<E\n" + rep(rep("x", 159)+"\n", 5100) + "E")},
		{"F0014", attr("[" + rep(`"`+rep("$ ", 10000)+"\",\n", 2) + "]"), attr("[" + rep(`"`+rep("$ ", 10000)+"\",\n", 3) + "]")},
		{"F0014", attr("[" + rep(`"`+rep("%%{", 10000)+"\",\n", 2) + "]"), attr("[" + rep(`"`+rep("%%{", 10000)+"\",\n", 3) + "]")},
		{"F0031", attr("1 /*" + rep("x\n", 1<<19) + "*/"), attr("1 /*" + rep("x\n", 1<<19))},
	} {
		if f, list := Parse("x", c.within); len(list) > 0 || len(f.Body.Attrs)+len(f.Body.Blocks) != 1 {
			t.Errorf("%s within the bound (%.30q): %v", c.code, c.within, list)
		}
		if _, list := Parse("x", c.beyond); len(list) != 1 || list[0].Code != c.code {
			t.Errorf("%s beyond the bound (%.30q): %v", c.code, c.beyond, list)
		}
	}
	if _, list := Parse("x", make([]byte, MaxFileBytes+1)); len(list) != 1 || list[0].Code != "F0001" {
		t.Errorf("a file too large: %v", list)
	}
}

// Long lists and many lines are not a chain of operators, and what stands in text, comments and heredocs is not counted.
func TestNotCounted(t *testing.T) {
	rep := strings.Repeat
	for name, src := range map[string]string{
		"list":     "a = [" + rep("-1,\n", 3000) + "]\n",
		"lines":    rep("b {\n x = 1 + 2 + 3\n}\n", 2000),
		"string":   `a = "` + rep("[", 200) + rep("9", 50) + `"` + "\n",
		"escapes":  `a = "\"` + rep("[", 200) + ` $${` + rep("(", 100) + `"` + "\n",
		"comment":  "# " + rep("[", 200) + "\n/* " + rep("{", 200) + " */\n// \"\na = 1\n",
		"heredoc":  "a = <<-EOT\n  " + rep("[", 200) + ` "` + "\n  EOT\nb = 1\n",
		"word":     "a = sha" + rep("9", 60) + ".x\n",
		"template": "a = <<EOT\n${\"}\"} $${ %%{\nEOT\n",
	} {
		if _, list := Parse("x", []byte(src)); len(list) > 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// A byte order mark and CRLF mean what no mark and LF do, and offsets count in the text without them.
func TestLineEnds(t *testing.T) {
	f, list := Parse("x", []byte("\ufeffa = <<E\r\nline\r\nE\r\nbb = 2\r\n"))
	if len(list) > 0 || string(f.Src) != "a = <<E\nline\nE\nbb = 2\n" {
		t.Fatalf("%q, %v", f.Src, list)
	}
	b := f.Body.Attr("bb")
	if b == nil || string(f.Src[b.Range.Start.Byte:b.Range.End.Byte]) != "bb" || b.Range.Start.Line != 4 {
		t.Errorf("bb at %+v", b)
	}
}

// One lost quote gives one finding, not one for every line behind it.
func TestOneFindingALine(t *testing.T) {
	src := "a = [\"x]\n" + strings.Repeat("b = \"y\"\n", 100)
	if _, list := Parse("x", []byte(src)); len(list) != 1 {
		t.Errorf("%d findings: %v", len(list), list)
	}
	if _, list := Parse("x", []byte(strings.Repeat("? ?\n", 100))); len(list) > MaxSyntaxErrors {
		t.Errorf("%d findings", len(list))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a = 1\n", "b \"c\" {\n a = \"${x}\"\n}\n", "a = <<-E\n ${x}\n E\n", "a = \"%{ if x }y%{ endif }\"\n", "a = [1, {b = 2}]\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, list := Parse("x", src)
		if list.HasErrors() && len(p.Body.Attrs)+len(p.Body.Blocks) > 0 {
			t.Fatal("a tree beside errors")
		}
	})
}

// BenchmarkPieces parses the most expensive text that MaxCopies lets through in a file of a MiB.
func BenchmarkPieces(b *testing.B) {
	src := attr("<<E\n" + strings.Repeat(strings.Repeat("x", 159)+"\n", 4800) + "E")
	for b.Loop() {
		if _, list := Parse("x", src); len(list) > 0 {
			b.Fatal(list)
		}
	}
}

// However many blocks there are in a block, they don't count as its own bytes.
func TestManyBlocks(t *testing.T) {
	src := "w \"x\" {\n" + strings.Repeat("    step \"a name of some length\" {\n  }\n", 100000) + strings.Repeat("    step \"a name of some length\" { a = 1 } # x\n", 60000) + "}\n"
	if _, list := Parse("x", []byte(src)); len(list) > 0 {
		t.Error(list)
	}
}

// Limits are raised and lowered by whoever reads a file.
func TestLimits(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct{ set, code, src string }{
		{"file=10", "F0001", "a = 1234567\n"},
		{"line=1KiB", "F0005", string(attr(`"` + rep("x", 1024) + `"`))},
		{"token=16", "F0013", "a = <<E\n" + rep("x\n", 10) + "E\n"},
		{"token=16", "F0055", "/*" + rep("x", 20) + "*/\n"},
		{"block=100", "F0056", string(blockOf(101))},
		{"depth=2", "F0006", "a = [[[1]]]\n"},
	} {
		var low, high Limits
		if err := low.Set(c.set); err != nil {
			t.Fatal(err)
		}
		if err := high.Set(strings.NewReplacer("=1KiB", "=1MiB", "=100", "=1MiB", "=10", "=1MiB", "=2", "=100", "=16", "=1024").Replace(c.set)); err != nil {
			t.Fatal(err)
		}
		if _, list := low.Parse("x", []byte(c.src)); len(list) != 1 || list[0].Code != c.code || !strings.Contains(list[0].Detail, "--limit") {
			t.Errorf("%s: %v", c.set, list)
		}
		if _, list := high.Parse("x", []byte(c.src)); len(list) > 0 {
			t.Errorf("%s raised: %v", c.set, list)
		}
	}
	for _, bad := range []string{"", "file", "file=", "file=0", "file=-1", "lines=1", "file=2048MiB", "depth=513", "depth=1KiB", "line=1MB", "file=99999999999999999999"} {
		if err := new(Limits).Set(bad); err == nil {
			t.Errorf("%q is a limit", bad)
		}
	}
	most := Limits{}
	if err := most.Set(fmt.Sprintf("depth=%d", MaxRaisedDepth)); err != nil {
		t.Fatal(err)
	}
	if _, list := most.Parse("x", attr(rep("[", MaxRaisedDepth)+rep("]", MaxRaisedDepth))); len(list) > 0 {
		t.Error(list)
	}
}
