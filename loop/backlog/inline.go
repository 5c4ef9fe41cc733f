package backlog

import (
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlineParser parses the text of one item: all of it is one paragraph.
var inlineParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(strikeParser{}, 500))...))
})

// strikeParser finds ~~struck~~ text. goldmark's own stands in a package that brings its writer of HTML along.
type strikeParser struct{}

func (strikeParser) Trigger() []byte         { return []byte{'~'} }
func (strikeParser) IsDelimiter(b byte) bool { return b == '~' }
func (strikeParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}
func (strikeParser) OnMatch(int) ast.Node { return extension.NewStrikethrough() }

func (p strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 1, p)
	if node == nil || node.OriginalLength > 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

// percentParser finds %%comments%% that fill whole lines.
type percentParser struct{}

func (percentParser) Trigger() []byte { return []byte{'%'} }

func (percentParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || at+1 >= len(line) || line[at] != '%' || line[at+1] != '%' {
		return nil, parser.NoChildren
	}
	n := ast.NewHTMLBlock(ast.HTMLBlockType2)
	n.Lines().Append(segment)
	if strings.Contains(string(line[at+2:]), "%%") {
		n.SetAttributeString("closed", true)
	}
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

func (percentParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	if _, closed := n.AttributeString("closed"); closed {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	n.Lines().Append(segment)
	if strings.Contains(string(line), "%%") {
		n.SetAttributeString("closed", true)
	}
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (percentParser) Close(ast.Node, text.Reader, parser.Context) {}
func (percentParser) CanInterruptParagraph() bool                 { return true }
func (percentParser) CanAcceptIndentedLine() bool                 { return false }

// references are the link references of the whole file beside the state of one small parse.
type references struct {
	parser.Context
	all parser.Context
}

func (r references) Reference(label string) (parser.Reference, bool) { return r.all.Reference(label) }

// flat is the text of an item without markup. In text, each span of code, address and escaped character is one rune from hidden on,
// so that no metadata is found in it.
type flat struct {
	text        string
	hidden      []string
	bold        bool // all of it is bold
	struckWhole bool
	links       int
}

const hidden = 0xF0000 // the first rune of a plane for private use

// plain is the text with its code and addresses.
func (f *flat) plain() string { return f.restore(f.text) }

func (f *flat) restore(text string) string {
	if len(f.hidden) == 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if i := int(r) - hidden; i >= 0 && i < len(f.hidden) {
			b.WriteString(f.hidden[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (f *flat) hide(text string) string {
	if len(f.hidden) >= 0xFFFD {
		return text
	}
	f.hidden = append(f.hidden, text)
	return string(rune(hidden + len(f.hidden) - 1))
}

// inline takes the markup from the source of a text.
func (m *markdown) inline(source string) *flat {
	source = strings.Map(func(r rune) rune {
		if r >= hidden {
			return '\ufffd'
		}
		return r
	}, source)
	if !strings.ContainsAny(source, "*_~<`[\\&!:w") {
		return &flat{text: source}
	}
	src := []byte(source)
	root := inlineParser().Parse(text.NewReader(src), parser.WithContext(references{parser.NewContext(), m.context}))
	f := &flat{}
	var kept, struck, all strings.Builder
	depth, html0 := 0, 0
	write := func(s string) {
		all.WriteString(s)
		if depth+html0 > 0 {
			struck.WriteString(s)
		} else {
			kept.WriteString(s)
		}
	}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				write(f.unescape(string(n.Segment.Value(src))))
				if n.SoftLineBreak() || n.HardLineBreak() {
					write("\n")
				}
			}
		case *ast.String:
			if entering {
				write(string(n.Value))
			}
		case *ast.CodeSpan:
			if entering {
				var code strings.Builder
				for c := n.FirstChild(); c != nil; c = c.NextSibling() {
					if t, ok := c.(*ast.Text); ok {
						code.Write(t.Segment.Value(src))
					}
				}
				fence, pad := "`", ""
				for strings.Contains(code.String(), fence) {
					fence, pad = fence+"`", " "
				}
				write(f.hide(fence + pad + strings.ReplaceAll(code.String(), "\n", " ") + pad + fence))
			}
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			if entering {
				write(f.hide(string(n.Label(src))))
			}
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			if entering {
				tag := ""
				for i := range n.Segments.Len() {
					s := n.Segments.At(i)
					tag += string(s.Value(src))
				}
				switch strings.ToLower(strings.Trim(tag, " /")) {
				case "<del>", "<s>", "<strike>":
					html0++
				case "</del>", "</s>", "</strike>":
					html0 = max(0, html0-1)
				case "<br>", "<br/>", "<br />":
					write("\n")
				}
			}
		case *ast.Link:
			if entering {
				f.links++
			}
		case *extension.Strikethrough:
			if entering {
				depth++
			} else {
				depth--
			}
		}
		return ast.WalkContinue, nil
	})
	f.text = all.String()
	if p := root.FirstChild(); p != nil && p.FirstChild() != nil && p.FirstChild() == p.LastChild() {
		e, ok := p.FirstChild().(*ast.Emphasis)
		f.bold = ok && e.Level == 2
	}
	if struck.Len() == 0 {
		return f
	}
	// An item whose first words are struck is cancelled, unless a new text stands behind them.
	rest := strings.TrimSpace(kept.String())
	_, emoji := splitEmoji(rest)
	begins := strings.HasPrefix(strings.TrimLeft(all.String(), " \n✅❌\ufe0f"), strings.TrimSpace(struck.String())) // one struck run, in front
	switch {
	case rest == "" || begins && (strings.ContainsRune("(#@^{-–—→:[", []rune(rest)[0]) || emoji != 0 || isDateEmoji([]rune(rest)[0])):
		f.struckWhole = true
	default:
		f.text = kept.String()
	}
	return f
}

// unescape resolves the escapes of a text. What an author escaped is not metadata.
func (f *flat) unescape(s string) string {
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			i++
			b.WriteString(f.hide(s[i : i+1]))
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
