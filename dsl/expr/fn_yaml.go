package expr

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"go.yaml.in/yaml/v3"
)

// yamlFunctions read and write YAML as Terraform does. The library reads a text into nodes; flowrun itself makes values of
// them, so that aliases are expanded within the bounds.
var yamlFunctions = []function{
	{name: "yamldecode", sig: "string", call: func(r *run, a []value.Value) (value.Value, error) { return r.yaml(a[0].(string)) }},
	{name: "yamlencode", sig: "any!", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		if _, err := r.jsonSize(a[0]); err != nil {
			return nil, err
		}
		w := &yamlWriter{}
		w.node(a[0], 0, 0)
		return w.b.String(), r.text(w.b.Len())
	}},
}

// yamlNodeBytes is what the library allocates at most for each byte of a text, about: two nodes for every "a," of an object. So a
// text has at most 256 KiB.
const yamlNodeBytes = 256

func (r *run) yaml(text string) (value.Value, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not valid UTF-8")
	}
	if err := r.text(len(text)); err != nil {
		return nil, err
	}
	if err := r.work(len(text)); err != nil {
		return nil, err
	}
	if err := r.memory(yamlNodeBytes * len(text)); err != nil {
		return nil, err
	}
	root, err := yamlNodes(text)
	if err != nil || root == nil {
		return nil, err
	}
	return (&yamlReader{r, map[*yaml.Node]bool{}}).value(root, 0)
}

// yamlNodes reads exactly one document; an empty text is null.
func yamlNodes(text string) (root *yaml.Node, err error) {
	defer func() { // the library panics where it finds a defect of its own
		if recover() != nil {
			root, err = nil, errors.New("YAML that cannot be read")
		}
	}()
	in := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	switch err := in.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, errors.New(strings.Replace(err.Error(), "yaml: ", "not YAML: ", 1))
	}
	switch err := in.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second document begins; yamldecode reads one", second.Line)
	case !errors.Is(err, io.EOF):
		return nil, errors.New(strings.Replace(err.Error(), "yaml: ", "not YAML: ", 1))
	}
	return first.Content[0], nil
}

// yamlReader makes values of nodes.
type yamlReader struct {
	*run
	open map[*yaml.Node]bool // the aliases that are being expanded
}

func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{n.Line}, args...)...)
}

func (y *yamlReader) value(n *yaml.Node, depth int) (value.Value, error) {
	if err := y.work(1); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.AliasNode:
		if y.open[n.Alias] {
			return nil, at(n, "the alias *%s is inside of its own anchor", shorten(n.Value))
		}
		return y.value(n.Alias, depth)
	case yaml.ScalarNode:
		return y.scalar(n)
	}
	if depth == value.MaxDepth {
		return nil, at(n, "more than %d levels of nesting", value.MaxDepth)
	}
	if err := y.list(len(n.Content)); err != nil {
		return nil, err
	}
	y.open[n] = true
	defer delete(y.open, n)
	switch {
	case n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		out := make([]any, 0, len(n.Content))
		for _, e := range n.Content {
			v, err := y.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case n.Kind == yaml.MappingNode && n.Tag == "!!map":
		return y.object(n, depth)
	}
	return nil, at(n, "the tag %s is not known", shorten(n.Tag))
}

// object reads the members in order. The members of a merge key take the place of earlier ones, as in Terraform.
func (y *yamlReader) object(n *yaml.Node, depth int) (value.Value, error) {
	if err := y.memory(32 * len(n.Content)); err != nil {
		return nil, err
	}
	out, written := make(map[string]any, len(n.Content)/2), make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := y.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		key := n.Content[i]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" && key.Style&yaml.TaggedStyle == 0 {
			if err := y.merge(out, v, n.Content[i+1]); err != nil {
				return nil, err
			}
			continue
		}
		k, err := y.key(key)
		if err != nil {
			return nil, err
		}
		if written[k] {
			return nil, at(key, "the key %q stands twice in one object", shorten(k))
		}
		out[k], written[k] = v, true
	}
	return out, nil
}

func (y *yamlReader) merge(out map[string]any, v value.Value, n *yaml.Node) error {
	list, is := v.([]any)
	if !is {
		list = []any{v}
	}
	for _, v := range list {
		m, is := v.(map[string]any)
		if !is {
			return at(n, "<< needs an object, or a list of objects, but this is %s", describe(v))
		}
		if err := y.list(2 * len(m)); err != nil {
			return err
		}
		for k, v := range m { // any order: it fills a map
			out[k] = v
		}
	}
	return nil
}

// key is a key. Words such as on and y are texts here, as in YAML 1.2, so that they keep their names.
func (y *yamlReader) key(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", at(n, "a key is a list or an object; a key must be text")
	}
	if _, old := yamlOldBools[n.Value]; old && n.Style&yaml.TaggedStyle == 0 {
		return n.Value, nil
	}
	v, err := y.scalar(n)
	if err != nil {
		return "", err
	}
	k, is := v.(string)
	if !is {
		return "", at(n, "the key %s is %s, but a key must be text: write it in quotes", shorten(n.Value), describe(v))
	}
	return k, nil
}

var (
	yamlNulls = map[string]bool{"": true, "~": true, "null": true, "Null": true, "NULL": true}
	yamlBools = map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false}
	// yamlOldBools are bools in YAML 1.1 and in Terraform, and texts in YAML 1.2.
	yamlOldBools = map[string]bool{
		"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
		"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	}
	yamlInt      = lazyregexp.New(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	yamlFloat    = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	yamlInfinite = lazyregexp.New(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// scalar is the value of a scalar: by its tag, or by its text if that is plain. A moment remains text.
func (y *yamlReader) scalar(n *yaml.Node) (value.Value, error) {
	if err := y.work(len(n.Value)); err != nil { // the patterns look at each byte, for each alias
		return nil, err
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tag, s := "", n.Value
	if n.Style&yaml.TaggedStyle != 0 {
		tag = n.Tag
	} else if n.Style&quoted != 0 {
		tag = "!!str"
	}
	bad := func(what string) (value.Value, error) { return nil, at(n, "%q is not %s", shorten(s), what) }
	b, isBool := yamlBools[s]
	if old, is := yamlOldBools[s]; is {
		b, isBool = old, true
	}
	switch tag {
	case "!!str", "!!timestamp":
		return s, nil
	case "!!binary": // remains in base64, as in Terraform
		if _, err := base64.StdEncoding.DecodeString(s); err != nil {
			return bad("base64")
		}
		return s, nil
	case "!!null":
		if !yamlNulls[s] {
			return bad("null")
		}
		return nil, nil
	case "!!bool":
		if !isBool {
			return bad("a bool")
		}
		return b, nil
	case "!!int", "!!float":
		if !yamlInt().MatchString(s) && (tag == "!!int" || !yamlFloat().MatchString(s)) {
			return bad("a number")
		}
		return yamlNumber(n)
	case "":
		switch {
		case yamlNulls[s]:
			return nil, nil
		case isBool:
			return b, nil
		case yamlInt().MatchString(s), yamlFloat().MatchString(s), yamlInfinite().MatchString(s):
			return yamlNumber(n)
		}
		return s, nil
	}
	return nil, at(n, "the tag %s is not known", shorten(tag))
}

func yamlNumber(n *yaml.Node) (value.Value, error) {
	s := n.Value
	if yamlInt().MatchString(s) {
		digits, base := s, 10
		if strings.HasPrefix(s, "0o") {
			digits, base = s[2:], 8
		} else if strings.HasPrefix(s, "0x") {
			digits, base = s[2:], 16
		}
		i, err := strconv.ParseInt(digits, base, 64)
		if err != nil || i > value.MaxNumber || i < -value.MaxNumber {
			return nil, at(n, "the number %s is beyond 2^53 and would lose digits; write it in quotes", shorten(s))
		}
		return float64(i), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, at(n, "the number %s is out of range", shorten(s))
	}
	v, err := value.Number(f)
	if err != nil {
		return nil, at(n, "%w", err)
	}
	return v, nil
}

// yamlWriter writes in blocks, as Terraform does. Keys are sorted. Every text stands in quotes or is a literal block, so that no
// reader takes it for anything else.
type yamlWriter struct{ b strings.Builder }

// maxSimpleKey bounds a key that stands in one line with its value; YAML allows 1024 characters.
const maxSimpleKey = 1000

// node writes v behind a dash or a colon, in a block that is indented by so many blanks; behind 0 is the document.
func (w *yamlWriter) node(v value.Value, indent int, behind byte) {
	if w.b.Len() > MaxStringBytes { // refused soon
		return
	}
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			w.block(&indent, behind, behind == '-')
			for i, e := range v {
				w.pad(indent, i > 0 || behind == ':')
				w.b.WriteByte('-')
				w.node(e, indent, '-')
			}
			return
		}
	case map[string]any:
		if len(v) > 0 {
			w.block(&indent, behind, behind != 0)
			for i, k := range value.Keys(v) {
				w.pad(indent, i > 0 || behind == ':')
				key := yamlQuoted(k)
				if len(key) > maxSimpleKey {
					w.b.WriteString("? " + key + "\n")
					w.pad(indent, true)
				} else {
					w.b.WriteString(key)
				}
				w.b.WriteByte(':')
				w.node(v[k], indent, ':')
			}
			return
		}
	}
	if behind != 0 {
		w.b.WriteByte(' ')
	}
	switch v := v.(type) {
	case string:
		if !yamlLiteral(v) {
			w.b.WriteString(yamlQuoted(v))
			break
		}
		body, ends := strings.CutSuffix(v, "\n")
		w.b.WriteByte('|')
		if !ends {
			w.b.WriteByte('-')
		}
		for _, line := range strings.Split(body, "\n") {
			w.b.WriteByte('\n')
			w.pad(indent+2, line != "")
			w.b.WriteString(line)
		}
	case float64:
		w.b.WriteString(yamlDigits(v))
	default: // null, bools, and what is empty
		w.b.Write(value.Append(nil, v))
	}
	w.b.WriteByte('\n')
	if _, text := v.(string); behind == 0 && !text && !isCollection(v) {
		w.b.WriteString("...\n") // as Terraform ends a plain scalar
	}
}

// block begins a list or a map. A list in a map is not indented.
func (w *yamlWriter) block(indent *int, behind byte, deeper bool) {
	switch behind {
	case ':':
		w.b.WriteByte('\n')
	case '-':
		w.b.WriteByte(' ')
	}
	if deeper {
		*indent += 2
	}
}

func (w *yamlWriter) pad(n int, yes bool) {
	if yes {
		w.b.WriteString(strings.Repeat(" ", n))
	}
}

func isCollection(v value.Value) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// yamlDigits prints a number that YAML 1.1 and 1.2 read as a number: with a point before an exponent.
func yamlDigits(f float64) string {
	if math.Abs(f) >= 1e-6 || f == 0 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

// yamlLiteral tells whether a text of several lines can be written as it is.
func yamlLiteral(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.TrimLeft(s[:1], " \t\n") == "" {
		return false
	}
	for i, c := range s {
		if c != '\n' && yamlEscaped(c) || (c == ' ' || c == '\t') && (i+1 == len(s) || s[i+1] == '\n') {
			return false
		}
	}
	return utf8.ValidString(s)
}

// yamlEscaped tells whether a character cannot stand in a text as it is: it is not printable, or YAML 1.1 takes it for the end of
// a line.
func yamlEscaped(c rune) bool {
	return c < ' ' && c != '\t' || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff
}

// yamlQuoted is a text in double quotes.
func yamlQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s { // what is not UTF-8 becomes U+FFFD
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case yamlEscaped(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
