package dsl

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl/format"
)

// disturb lays a program out badly, by the seed: blanks, tabs, CRLF, and with lines also empty lines and comments and lists
// over several lines. Only what stands between tokens changes, never a string or a heredoc.
func disturb(seed uint64, src []byte, lines bool) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	var b bytes.Buffer
	at, text := 0, 0 // text counts the strings and heredocs around
	var open []hclsyntax.TokenType
	for i, t := range tokens {
		gap := string(src[at:t.Range.Start.Byte])
		at = t.Range.End.Byte
		if text == 0 {
			switch {
			case i == 0 || tokens[i-1].Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenNewline:
				gap = pick("", " ", "\t", "     ")
			case gap != "":
				gap = pick(" ", "  ", "\t", " \t ")
			case r.IntN(3) == 0 && t.Type != hclsyntax.TokenDot && tokens[i-1].Type != hclsyntax.TokenNumberLit:
				gap = " "
			}
		}
		b.WriteString(gap)
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			open = append(open, t.Type)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			open = open[:len(open)-1]
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			text++
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			text--
		}
		if t.Type == hclsyntax.TokenNewline && text == 0 && lines && r.IntN(3) == 0 && i+1 < len(tokens) {
			if i > 0 && tokens[i-1].Type != hclsyntax.TokenCHeredoc { // a heredoc ends with a line of its own
				b.WriteString(pick(" # behind", "//behind  ", ""))
			}
			b.WriteString("\n" + pick("\n", "\n\n \n", "# before\n", "\t// before \n", "/* over\n  two */\n", "/* here */"))
			continue
		}
		if t.Type == hclsyntax.TokenCHeredoc {
			b.Write(bytes.TrimRight(t.Bytes, " \t"))
		} else {
			b.Write(t.Bytes)
		}
		if t.Type == hclsyntax.TokenComma && text == 0 && lines && len(open) > 0 && open[len(open)-1] != hclsyntax.TokenOBrace && r.IntN(4) == 0 {
			b.WriteString(pick("\n", "# behind\n", "\n\n\n"))
		}
	}
	if r.IntN(4) == 0 {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n"))
	}
	return b.Bytes()
}

// checkFormat holds one badly laid-out program against what formatting promises.
func checkFormat(t *testing.T, seed uint64, src []byte) {
	t.Helper()
	p, found := load(src)
	if p.IR == nil {
		t.Fatalf("seed %d:\n%s\n%s", seed, src, found)
	}
	first, list := format.Format("w.hcl", src)
	if list.HasErrors() {
		t.Fatalf("seed %d: %v", seed, list)
	}
	for name, bad := range map[string][]byte{"as it is": src, "other blanks": disturb(seed, src, false), "other lines": disturb(seed, src, true)} {
		out, list := format.Format("w.hcl", bad)
		if list.HasErrors() {
			t.Fatalf("seed %d, %s: %v\n%s", seed, name, list, bad)
		}
		if again, _ := format.Format("w.hcl", out); !bytes.Equal(again, out) {
			t.Errorf("seed %d, %s: formatting twice gives another text\n%s\n%s\n%s", seed, name, bad, out, again)
		}
		if name != "other lines" && !bytes.Equal(out, first) {
			t.Errorf("seed %d, %s: the layout depends on blanks\n%s\n%s\n%s", seed, name, bad, out, first)
		}
		q, found := load(out)
		if q.IR == nil {
			t.Fatalf("seed %d, %s:\n%s\n%s", seed, name, out, found)
		}
		if q.IR.Hash() != p.IR.Hash() {
			t.Fatalf("seed %d, %s: another hash\n%s\n%s\n%s", seed, name, bad, out, q.IR.Canonical())
		}
	}
}

// A thousand random programs, badly laid out: formatting twice changes nothing, blanks do not matter, the hash stays.
func TestFormatKeepsTheProgram(t *testing.T) {
	programs := rapid.Custom(program)
	count := 1000
	if testing.Short() {
		count = 100
	}
	for seed := range count {
		checkFormat(t, uint64(seed), programs.Example(seed))
	}
}

// So do the programs that people wrote.
func TestFormatKeepsFiles(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"testdata/*/*.hcl", "../examples/*/*.hcl", "../testdata/*/*.hcl", "../workflows/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if p, _ := load(src); p.IR == nil || strings.Contains(string(src), "\r") {
				continue
			}
			seen++
			for seed := range uint64(5) {
				checkFormat(t, seed, src)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d valid programs were found", seen)
	}
}

var hclBlock = regexp.MustCompile("(?ms)^```hcl[^\n]*\n(.*?)^```$")

// What the repository shows to people is formatted.
func TestOurFilesAreFormatted(t *testing.T) {
	check := func(name string, src []byte) {
		if out, list := format.Format(name, src); !bytes.Equal(out, src) {
			t.Errorf("%s is not formatted: %v\n%s", name, list, out)
		}
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, pattern := range []string{"../examples/*/*.hcl", "../workflows/*.hcl", "../testdata/patterns/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			check(path, read(path))
		}
	}
	blocks := hclBlock.FindAllSubmatch(read("../README.md"), -1)
	for _, b := range blocks {
		check("README.md", b[1])
	}
	if len(blocks) == 0 {
		t.Error("no workflow was found in the README")
	}
}
