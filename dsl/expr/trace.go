package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// traces knows which nodes of an expression are computed from what is secret. A nil *traces knows none.
type traces struct {
	to    ir.Listener
	slots map[int]bool // that hold something secret
	nodes map[node]trace
}

// trace is what is known of a node that is computed from what is secret.
type trace struct {
	tells bool // what it gives is told: it is a new text, and not a part or a list of others
}

// traced finds the nodes; nil if there are none. It also tells what the expression holds itself.
func traced(t *tree, to ir.Listener) *traces {
	x := &traces{to: to, slots: map[int]bool{}, nodes: map[node]trace{}}
	if x.walk(t.root, false); len(x.nodes) == 0 {
		return nil
	}
	return x
}

// made tells what a node gave.
func (x *traces) made(n node, v value.Value) {
	if x != nil && x.nodes[n].tells {
		x.to.Made(v)
	}
}

// quiet is the error of a node without what it quotes, where that is something that was decoded and nobody has heard of.
func (x *traces) quiet(n node, err error) error {
	if x == nil {
		return err
	}
	c, is := n.(*call)
	if _, secret := x.nodes[n]; !is || !secret || errors.As(err, new(*Error)) || isLimit(err) || c.f.name != "jsondecode" && c.f.name != "yamldecode" {
		return err
	}
	return fmt.Errorf("what it reads is sensitive, and not %s", strings.ToUpper(c.f.name[:4]))
}

// walk tells whether a node is computed from what is secret. picked tells that its parent takes a part of it, which is then what
// counts.
func (x *traces) walk(n node, picked bool) bool {
	if n == nil {
		return false
	}
	secret, tells := false, false
	switch n := n.(type) {
	case *lit:
		x.to.Written(n.v)
	case *ref:
		secret = x.to.Secret(n.ref)
	case *bound:
		secret = x.slots[n.slot]
	case *member:
		secret, tells = x.walk(n.x, true), !picked
	case *index:
		secret, tells = x.any(true, n.x), !picked
		secret = x.any(false, n.key) || secret
	case *slice:
		secret, tells = x.any(false, n.x, n.from, n.to), !picked
	case *unary:
		secret = x.walk(n.x, false)
	case *binary:
		secret, tells = x.any(false, n.l, n.r), n.op == "+~"
	case *cond:
		secret = x.walk(n.c, false)
		secret = x.any(picked, n.yes, n.no) || secret
	case *template:
		secret, tells = x.any(false, n.parts...), true
	case *tuple:
		secret = x.any(picked, n.items...)
	case *object:
		secret = x.any(false, n.keys...)
		secret = x.any(picked, n.vals...) || secret
	case *call:
		secret, tells = x.any(false, n.args...), !picked && n.f.name != "length"
	case *attempt:
		secret = x.any(picked, n.args...)
	default:
		secret = x.binds(n)
	}
	if secret {
		x.nodes[n] = trace{tells}
	}
	return secret
}

// binds walks the nodes that bind names.
func (x *traces) binds(n node) bool {
	switch n := n.(type) {
	case *let:
		x.slots[n.slot] = x.walk(n.x, false)
		return x.walk(n.body, false) || x.slots[n.slot]
	case *forEach:
		secret := x.walk(n.coll, false)
		x.slots[n.valSlot] = secret
		if n.keySlot >= 0 {
			x.slots[n.keySlot] = secret
		}
		return x.any(false, n.key, n.val, n.cond) || secret
	case *splat:
		secret := x.walk(n.x, false)
		x.slots[n.slot] = secret
		return x.walk(n.each, false) || secret
	case *predicate:
		secret := x.any(false, n.coll, n.extra)
		for _, slot := range []int{n.item, n.acc} {
			x.slots[slot] = secret
		}
		return x.walk(n.body, false) || secret
	}
	return false
}

// any walks nodes, all of them; nil is none.
func (x *traces) any(picked bool, nodes ...node) (secret bool) {
	for _, n := range nodes {
		if x.walk(n, picked) {
			secret = true
		}
	}
	return secret
}
