package dsl

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// memory is a file system of one file, w.hcl.
func memory(src string) fstest.MapFS { return fstest.MapFS{"w.hcl": {Data: []byte(src)}} }

// load loads one file from memory.
func load(src []byte) (*Program, string) {
	p, list := Load(memory(string(src)), "w.hcl", Options{})
	return p, render(list, p.Sources)
}

// program draws a valid program. Layout is drawn as well: blanks, empty lines and comments in places where they mean nothing.
func program(t *rapid.T) []byte {
	var b strings.Builder
	blank := func() string { return rapid.SampledFrom([]string{" ", "  ", "\t", ""}).Draw(t, "blank") }
	line := func(depth int, format string, args ...any) {
		if rapid.IntRange(0, 5).Draw(t, "gap") == 0 {
			b.WriteString(rapid.SampledFrom([]string{"\n", "# a comment\n", "   // another\n", "/* and\n one */\n"}).Draw(t, "filler"))
		}
		b.WriteString(strings.Repeat(blank(), depth) + fmt.Sprintf(format, args...) + blank() + "\n")
	}
	line(0, "variable \"v\" {%s default%s=%s{ a = [1,2%s,3], b =\"x\" }%s}", blank(), blank(), blank(), blank(), blank())
	line(0, "workflow \"w\" {")
	line(1, "input \"xs\"{")
	line(2, "type=%slist(string)", blank())
	line(1, "}")
	var names []string
	value := func() string {
		s := blank()
		forms := []string{"1" + s + "+" + s + "2", "var.v.a[" + s + "0]", "[for x in input.xs :" + s + "upper(x) if" + s + " x != \"\"]",
			"{ a" + s + "=" + s + "1,b = \"${length(input.xs)" + s + "} x  y\" }", "length(input.xs)>0?" + s + "1:" + s + "2", "[\n" + s + "1," + s + "\n2,\n]", "<<-EOT\n  a ${run.id}\n    b\n  EOT\n"}
		if len(names) > 0 {
			forms = append(forms, "step."+rapid.SampledFrom(names).Draw(t, "step")+".status")
		}
		return strings.TrimSuffix(rapid.SampledFrom(forms).Draw(t, "value"), "\n")
	}
	var nodes func(depth, most int)
	nodes = func(depth, most int) {
		for range rapid.IntRange(1, most).Draw(t, "nodes") {
			name := fmt.Sprintf("n%d", len(names)+rapid.IntRange(0, 9).Draw(t, "skip")*100)
			kind := rapid.SampledFrom([]string{"value", "value", "run", "wait", "sequence", "parallel"}).Draw(t, "kind")
			if strings.Contains(b.String(), "\""+name+"\"") {
				continue
			}
			switch {
			case kind == "sequence" || kind == "parallel":
				if depth > 3 {
					continue
				}
				line(depth, "%s \"%s\"%s{", kind, name, blank())
				before := len(names)
				line(depth+1, "step \"%s_0\" { value = %d }", name, depth)
				nodes(depth+1, 2)
				names = names[:before] // what is inside a group is read inside it only, which keeps the program free of circles
			case kind == "wait":
				line(depth, "step \"%s\" {", name)
				line(depth+1, "wait {%s duration = \"1s\" }", blank())
			case kind == "run":
				line(depth, "step %s \"%s\" {", blank(), name)
				line(depth+1, "run=%s[\"echo\",%sjsonencode(var.v)%s]", blank(), blank(), blank())
				line(depth+1, "env = {A=\"1\",%sB%s= run.id}", blank(), blank())
				line(depth+1, "when%s= \"len(input.xs) >= 0 and true\"", blank())
			default:
				line(depth, "step \"%s\" {", name)
				line(depth+1, "value%s=%s%s", blank(), blank(), value())
			}
			line(depth, "}")
			names = append(names, name)
		}
	}
	nodes(1, 6)
	line(1, "step \"last\" { value = 1 }")
	line(0, "}")
	return []byte(b.String())
}

// scope answers for what the drawn programs read.
type scope struct{}

func (scope) Lookup(r ir.Ref) (value.Value, error) {
	switch r.String() {
	case "var.v":
		return map[string]any{"a": []any{1.0, 2.0, 3.0}, "b": "x"}, nil
	case "input.xs":
		return []any{"p", "q"}, nil
	}
	return "text", nil
}

// evaluate computes every value in a list of nodes from its stored text.
func evaluate(t *rapid.T, nodes []ir.Node) {
	for _, n := range nodes {
		if a, ok := n.Action.(*ir.Value); ok && a.Expr.Kind != ir.Const {
			if v, err := expr.NewEvaluator(ir.NewestRules()).Eval(&a.Expr, scope{}); err != nil || v == nil {
				t.Fatalf("%q gives %v, %v", a.Text, v, err)
			}
		}
		evaluate(t, n.Children)
	}
}

// Line ends and a byte order mark don't change what a program means: its hash stays. What is stored loads again.
func TestLayoutHasNoMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := program(t)
		p, found := load(src)
		if p.IR == nil {
			t.Fatalf("%s\n%s", src, found)
		}
		for name, other := range map[string][]byte{
			"CRLF": bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")),
			"BOM":  append([]byte("\ufeff"), src...),
		} {
			q, found := load(other)
			if q.IR == nil {
				t.Fatalf("%s: %s\n%s", name, other, found)
			}
			if q.IR.Hash() != p.IR.Hash() {
				t.Fatalf("%s: another hash\n%s\n%s\n\n%s\n%s", name, src, p.IR.Canonical(), other, q.IR.Canonical())
			}
		}
		evaluate(t, p.IR.Workflows[0].Nodes)
		back, err := ir.Load(p.IR.Canonical())
		if err != nil || back.Hash() != p.IR.Hash() {
			t.Fatalf("the stored program differs: %v", err)
		}
	})
}

// Nothing in a file makes Load panic, and it gives a program or says why not.
func FuzzLoad(f *testing.F) {
	paths, _ := os.ReadDir("testdata/diag")
	for _, e := range paths {
		if strings.HasSuffix(e.Name(), ".hcl") {
			b, err := os.ReadFile("testdata/diag/" + e.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte(wide(3)))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, list := Load(memory(string(src)), "w.hcl", Options{})
		if (p.IR == nil) != list.HasErrors() {
			t.Fatalf("program %v, findings %v", p.IR != nil, list)
		}
		for _, d := range list {
			if d.Subject.Start.Byte > len(p.Sources["w.hcl"]) || d.Subject.End.Byte < d.Subject.Start.Byte {
				t.Fatalf("%s at %+v of %d bytes", d.Code, d.Subject, len(p.Sources["w.hcl"]))
			}
		}
	})
}
