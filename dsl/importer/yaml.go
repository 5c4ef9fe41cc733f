package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Bounds of a file: how deep it may be nested, and how many values it may have when each alias stands for what it means.
const (
	maxDepth  = 64
	maxValues = 200_000
)

// node is a value of a file. A nil node is a value that is missing; all methods take it.
type node struct{ y *yaml.Node }

// parse reads all documents of a file. Each is an object.
func parse(src []byte) ([]*node, error) {
	d := yaml.NewDecoder(bytes.NewReader(src))
	var docs []*node
	for {
		var y yaml.Node
		if err := d.Decode(&y); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, notYAML(src, strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if y.Kind != yaml.DocumentNode || len(y.Content) != 1 {
			continue
		}
		if _, err := measure(y.Content[0], map[*yaml.Node]int{}, 0); err != nil {
			return nil, err
		}
		n := wrap(y.Content[0])
		if n == nil {
			continue
		}
		if !n.isMap() {
			return nil, fmt.Errorf("line %d: the file is not an object", y.Line)
		}
		docs = append(docs, n)
	}
}

// measure counts the values of a tree in which each alias stands for what it means. seen has the counts so far, and 0 for those around.
func measure(y *yaml.Node, seen map[*yaml.Node]int, depth int) (int, error) {
	if n, has := seen[y]; has {
		if n == 0 {
			return 0, fmt.Errorf("line %d: an alias leads into itself", y.Line)
		}
		return n, nil
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("line %d: the file is nested deeper than %d", y.Line, maxDepth)
	}
	seen[y] = 0
	inner := y.Content
	if y.Kind == yaml.AliasNode {
		inner = []*yaml.Node{y.Alias}
	}
	n := 1
	for _, c := range inner {
		more, err := measure(c, seen, depth+1)
		if err != nil {
			return 0, err
		}
		if n += more; n > maxValues {
			return 0, fmt.Errorf("line %d: the file has more than %d values with those of its aliases", y.Line, maxValues)
		}
	}
	seen[y] = n
	return n, nil
}

// wrap follows aliases. Null is a missing value.
func wrap(y *yaml.Node) *node {
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	if y.Kind == yaml.ScalarNode && y.Tag == "!!null" {
		return nil
	}
	return &node{y}
}

func (n *node) isMap() bool  { return n != nil && n.y.Kind == yaml.MappingNode }
func (n *node) isList() bool { return n != nil && n.y.Kind == yaml.SequenceNode }
func (n *node) isText() bool { return n != nil && n.y.Kind == yaml.ScalarNode }
func (n *node) isBool() bool { return n.isText() && n.y.Tag == "!!bool" }
func (n *node) isNumber() bool {
	return n.isText() && (n.y.Tag == "!!int" || n.y.Tag == "!!float")
}

// text is a scalar as it is written, and "" for anything else.
func (n *node) text() string {
	if !n.isText() {
		return ""
	}
	return n.y.Value
}

// yes tells whether the value is true.
func (n *node) yes() bool { return n.text() == "true" }

// line is the number of the line, from 1.
func (n *node) line() int { return n.y.Line }

// pair is a member of an object.
type pair struct {
	key   string
	value *node // nil for null
}

// pairs are the members in their order. Of those that << brings in, the ones with another name are there.
func (n *node) pairs() (all []pair) {
	if !n.isMap() {
		return nil
	}
	var merged []*node
	for i := 0; i+1 < len(n.y.Content); i += 2 {
		key, value := n.y.Content[i], wrap(n.y.Content[i+1])
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if !slices.ContainsFunc(all, func(p pair) bool { return p.key == key.Value }) { // of two with one name the first holds
			all = append(all, pair{key.Value, value})
		}
	}
	for _, m := range merged {
		for _, one := range append(m.list(), m) {
			if !one.isMap() {
				continue
			}
			for i := 0; i+1 < len(one.y.Content); i += 2 {
				if k := one.y.Content[i]; k.Tag != "!!merge" && n.own(k.Value) == nil {
					all = append(all, pair{k.Value, wrap(one.y.Content[i+1])})
				}
			}
		}
	}
	return all
}

// own is a member that is written in the object itself.
func (n *node) own(key string) *node {
	for i := 0; i+1 < len(n.y.Content); i += 2 {
		if n.y.Content[i].Value == key {
			return &node{n.y.Content[i+1]}
		}
	}
	return nil
}

// get is a member of an object, by its name.
func (n *node) get(keys ...string) *node {
	for _, p := range n.pairs() {
		for _, key := range keys {
			if p.key == key && p.value != nil {
				return p.value
			}
		}
	}
	return nil
}

// list are the members of a list.
func (n *node) list() (all []*node) {
	if !n.isList() {
		return nil
	}
	for _, c := range n.y.Content {
		all = append(all, wrap(c))
	}
	return all
}

// listOrOne are the members of a list, or the value alone.
func (n *node) listOrOne() []*node {
	if n == nil || n.isList() {
		return n.list()
	}
	return []*node{n}
}

// texts are the scalars of a list, or a scalar alone.
func (n *node) texts() (all []string) {
	for _, one := range n.listOrOne() {
		if one.isText() {
			all = append(all, one.text())
		}
	}
	return all
}

// short is the value in one line, for comments.
func (n *node) short() string {
	if n == nil {
		return "null"
	}
	if n.isText() {
		return oneLine(n.text())
	}
	text, err := yaml.Marshal(n.y)
	if err != nil {
		return "…"
	}
	var parts []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		parts = append(parts, strings.TrimSpace(line))
	}
	return oneLine(strings.Join(parts, ", "))
}

// oneLine is the first line of a text, cut to what a comment takes.
func oneLine(s string) string {
	s, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	r := []rune(strings.TrimSpace(s))
	if len(r) > 100 {
		r, more = r[:100], "…"
	}
	if more != "" {
		return string(r) + " …"
	}
	return string(r)
}

var yamlLine = lazyregexp.New(`^line (\d+):`)

// notYAML is the error of a text that the parser refuses. Within { } an expression needs quotes, and the parser does not say so.
func notYAML(src []byte, says string) error {
	hint := ""
	if m := yamlLine().FindStringSubmatch(says); m != nil {
		n, _ := strconv.Atoi(m[1])
		lines := bytes.Split(src, []byte("\n"))
		for _, line := range lines[min(max(n-1, 0), len(lines)):min(n+1, len(lines))] {
			if bytes.Contains(line, []byte("${{")) {
				hint = ". Within { } put ${{ … }} in quotes"
			}
		}
	}
	return fmt.Errorf("the file is not valid YAML: %s%s", says, hint)
}
