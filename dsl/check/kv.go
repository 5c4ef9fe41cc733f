package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// kvTakes are the attributes that belong to some operations of kv, in the order of the schema.
var kvTakes = []struct {
	attr string
	with []ir.KVOperation
	must bool // each of them needs it
}{
	{"value", []ir.KVOperation{ir.KVSet, ir.KVCAS}, true},
	{"by", []ir.KVOperation{ir.KVIncr}, false},
	{"old", []ir.KVOperation{ir.KVCAS}, false},
	{"ttl", []ir.KVOperation{ir.KVSet, ir.KVIncr, ir.KVCAS}, false},
	{"limit", []ir.KVOperation{ir.KVScan}, false},
}

// KVOperation returns the operation of a block kv and the attribute that holds its key; nil where there is none.
func (b *Block) KVOperation() (ir.KVOperation, *Attr) {
	for _, o := range ir.KVOperations {
		if a := b.attr(string(o)); a != nil {
			return o, a
		}
	}
	return "", nil
}

// kv checks that a step does one thing with one key, and that what stands beside it belongs to it.
func (c *checker) kv(b *Block) {
	say := func(at diag.Range, summary, detail string, notes ...diag.Note) {
		c.report(diag.Diagnostic{Code: "F0285", Subject: at, Context: b.Words(), Summary: summary, Detail: detail, Notes: notes})
	}
	operation, key := b.KVOperation()
	if key == nil {
		if !b.stray {
			say(b.Src.Header, "No operation in kv", "A kv has one of  "+strings.Join(kvExamples(), ",  ")+".")
		}
		return
	}
	for _, o := range ir.KVOperations {
		if a := b.attr(string(o)); a != nil && o != operation {
			say(a.Src.Range, fmt.Sprintf("Both %s and %s in one kv", operation, o), "A kv has one operation. Split it into two steps.",
				diag.Note{Text: "the first one", Range: key.Src.Range})
		}
	}
	for _, t := range kvTakes {
		a := b.attr(t.attr)
		switch fits := slices.Contains(t.with, operation); {
		case a != nil && !fits:
			say(a.Src.Range, fmt.Sprintf("%s has no effect with %s", t.attr, operation), fmt.Sprintf("It belongs to %s. Remove it, or change the operation.", schema.Either(ir.Texts(t.with))))
		case a == nil && fits && t.must && !b.stray:
			say(key.Src.Range, fmt.Sprintf("No %s for %s", t.attr, operation), fmt.Sprintf("Add the value to write:  %s = …", t.attr))
		}
	}
	c.kvKey(b, operation, key, say)
	if a := b.attr("namespace"); a != nil && a.Expr != nil {
		c.namespace(a, say)
	}
}

func kvExamples() (list []string) {
	for _, o := range ir.KVOperations {
		list = append(list, fmt.Sprintf(`%s = "KEY"`, o))
	}
	return list
}

type sayer func(at diag.Range, summary, detail string, notes ...diag.Note)

// kvKey checks what is known of the key and the value from the file.
func (c *checker) kvKey(b *Block, operation ir.KVOperation, key *Attr, say sayer) {
	if key.Expr != nil && key.Expr.Kind == ir.Const {
		text, _ := key.Expr.Const.(string)
		if summary, detail := wrongKey(text); summary != "" && (text != "" || operation != ir.KVScan) {
			say(key.span(), summary, detail)
		}
	}
	if a := b.attr("value"); a != nil && a.Expr != nil && a.Expr.Kind == ir.Const {
		if summary, detail := largeValue(a.Expr.Const); summary != "" {
			say(a.span(), summary, detail)
		}
	}
}

// wrongKey says what is wrong with a key; "" if nothing is.
func wrongKey(key string) (summary, detail string) {
	switch {
	case key == "":
		return "The key is empty", fmt.Sprintf("A key has 1 to %d bytes.", limits.MaxKVKey)
	case len(key) > limits.MaxKVKey:
		return fmt.Sprintf("A key of %d bytes", len(key)), fmt.Sprintf("The limit is %d bytes.", limits.MaxKVKey)
	case strings.ContainsRune(key, 0):
		return "A key with a null character", "A key is a text without null characters (\\u0000)."
	}
	return "", ""
}

// largeValue says that a value is too large; "" if it is not.
func largeValue(v value.Value) (summary, detail string) {
	if size := len(value.Append(nil, v)); size > limits.MaxKVValue {
		return fmt.Sprintf("A value of %d bytes", size), fmt.Sprintf("The limit is %d bytes as JSON.", limits.MaxKVValue)
	}
	return "", ""
}

// wrongNamespace says that a text cannot be a namespace; "" if it can.
func wrongNamespace(text string) (summary, detail string) {
	if namespaceName(text) {
		return "", ""
	}
	return fmt.Sprintf("%.80q is not a valid namespace", text), fmt.Sprintf("A namespace has 1 to %d letters, digits, dots, dashes and underscores.", limits.MaxNamespace)
}

// namespace checks that a namespace is known before the run starts.
func (c *checker) namespace(a *Attr, say sayer) {
	for _, r := range a.Expr.Reads {
		if r.Root != "var" {
			say(a.span(), fmt.Sprintf("namespace reads %s", r), "A namespace is a literal, or an expression over variables (var.NAME). Put computed parts into the key.")
			return
		}
	}
	if text, _ := a.Expr.Const.(string); a.Expr.Kind == ir.Const {
		if summary, detail := wrongNamespace(text); summary != "" {
			say(a.span(), summary, detail)
		}
	}
}

func namespaceName(text string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	return text != "" && len(text) <= limits.MaxNamespace && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) })
}

// kvOutput is what an operation of kv makes.
func kvOutput(_ *checker, _ *Workflow, n *Node) value.Type {
	operation, _ := n.Inner("kv").KVOperation()
	return operation.Output()
}

// OutputType is the declared type of a step's output; nil where none is declared. A key that is read may have no value.
func (n *Node) OutputType() *value.Type {
	a := n.attr("output")
	if a == nil || a.Type == nil {
		return nil
	}
	t := *a.Type
	if n.Does == ir.KVAction {
		if operation, _ := n.Inner("kv").KVOperation(); operation == ir.KVGet {
			t = t.OrNull()
		}
	}
	return &t
}
