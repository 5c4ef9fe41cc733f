package check

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
)

// MaxJudged bounds the text of gates that is typed again for what they judge. A gate of 200 bytes can judge outputs of
// 80,000 different types.
const MaxJudged = 16 << 20

// MaxUsesShown bounds how many uses of a gate a message names.
const MaxUsesShown = 5

// usedGate is a gate at the top. It serves any step, and is typed once for each type of output that it is used with.
type usedGate struct {
	attrs []*judgingAttr
	open  diag.List              // their findings where nothing is known of the output
	types map[string]*usedOutput // by the type of the output
	order []*usedOutput
}

// judgingAttr is an attribute of a gate that an output of known type can give another meaning: it reads the result, or
// has none without that, as with a name in the output whose dash might be a minus.
type judgingAttr struct {
	*Attr
	failed bool // it has no meaning so far
}

// usedOutput is what is wrong with a gate that judges outputs of one type, and the steps that use it so.
type usedOutput struct {
	found diag.List
	uses  []diag.Note
}

// topGate checks a gate as one that is used nowhere: its result's output can be anything.
func (c *checker) topGate(g *Block) {
	u := &usedGate{types: map[string]*usedOutput{}}
	env := c.gateEnv()
	commands(g, "", nil)
	for _, a := range judging(g) {
		found := few(c.evaluate(a, env))
		c.in(g, c.secret(g, a))
		if failed := found.HasErrors(); failed || a.readsOutput() {
			u.attrs = append(u.attrs, &judgingAttr{a, failed})
			u.open = append(u.open, found...)
		} else {
			c.in(g, found)
		}
	}
	c.uses[g] = u
}

// judging are the attributes of a gate and of the blocks in it, in the order of the file.
func judging(g *Block) (out []*Attr) {
	for _, b := range append([]*Block{g}, g.Blocks...) {
		for _, src := range b.Src.Body.Attrs {
			if a := b.Attrs[src.Name]; a != nil {
				out = append(out, a)
			}
		}
	}
	return out
}

// judges checks a gate at the top as the gate of a step.
func (c *checker) judges(g *Block, n *Node, at diag.Range) {
	key, _ := json.Marshal(n.output)
	if n.stdout(true).Nullable {
		key = append(key, '?')
	}
	u := c.uses[g]
	o := u.types[string(key)]
	if o == nil {
		o = &usedOutput{found: c.typedGate(g, u, n)}
		u.types[string(key)] = o
		u.order = append(u.order, o)
	}
	if len(o.uses) < MaxUsesShown {
		o.uses = append(o.uses, diag.Note{Text: "used by " + n.Words() + " here", Range: at})
	}
}

// typedGate checks a gate for what a step makes.
func (c *checker) typedGate(g *Block, u *usedGate, n *Node) (found diag.List) {
	var env *expr.Env
	for _, a := range u.attrs {
		r := a.Src.Span()
		if c.judged += r.End.Byte - r.Start.Byte; c.judged > MaxJudged {
			return diag.List{{Code: "F0230", Subject: nameRange(g), Summary: "Gates judge outputs of too many types",
				Detail: fmt.Sprintf("flowrun checks a gate for each type of output that it judges, up to %d MiB of text in total. Make the gates shorter, or give the steps a common output type.", MaxJudged>>20)}}
		}
		if env == nil {
			env = c.gateEnvOf(n.judged())
		}
		typed := Attr{Schema: a.Schema, Src: a.Src, shell: a.shell, of: a.of}
		list := c.evaluate(&typed, env)
		if a.failed && !list.HasErrors() {
			*a.Attr, a.failed = typed, false
		}
		found = append(found, few(list)...)
	}
	return found
}

// readsOutput tells whether an attribute of a gate reads what differs between steps: the output, and stdout.
func (a *Attr) readsOutput() bool {
	reads := func(e *ir.Expr) bool {
		return slices.ContainsFunc(e.Reads, func(r ir.Ref) bool {
			return r.Root == "result" && (r.Name == "" || r.Name == "output" || r.Name == "stdout")
		})
	}
	if a.Expr != nil && reads(a.Expr) {
		return true
	}
	for _, e := range a.Env { // any order: it asks whether one of them does
		if e != nil && reads(e) {
			return true
		}
	}
	for i := range a.Values {
		if reads(&a.Values[i]) {
			return true
		}
	}
	return false
}

// topGates reports what was found in the gates at the top: for those that are used, what is wrong where they are, each
// fault once with the steps that show it, unless it is there whatever they judge.
func (c *checker) topGates() {
	for _, g := range c.program.Gates {
		u := c.uses[g]
		if len(u.order) == 0 {
			c.in(g, u.open)
			continue
		}
		var all diag.List
		for _, o := range u.order {
			for _, d := range o.found {
				at := find(all, d)
				if at < 0 && len(all) == MaxFindings {
					continue
				}
				if at < 0 {
					at, all = len(all), append(all, d)
				}
				if find(u.open, d) < 0 {
					all[at].Notes = append(all[at].Notes, o.uses[:max(0, min(len(o.uses), MaxUsesShown-len(all[at].Notes)))]...)
				}
			}
		}
		c.in(g, all)
	}
}

// find gives the place in a list of the same fault in the same place, or -1.
func find(list diag.List, d diag.Diagnostic) int {
	return slices.IndexFunc(list, func(e diag.Diagnostic) bool {
		return e.Code == d.Code && e.Subject == d.Subject && e.Summary == d.Summary
	})
}

// few bounds a list that is compared with others.
func few(list diag.List) diag.List { return list[:min(len(list), MaxFindings)] }
