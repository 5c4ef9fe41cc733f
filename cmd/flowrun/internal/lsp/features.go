package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/editor"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// cached is a file that is not open, as it was read last.
type cached struct {
	changed time.Time
	size    int64
	doc     *editor.Doc
}

// at is a request about a place in an open text.
type at struct {
	path    string
	doc     *editor.Doc
	offset  int
	program *editor.Program
}

// where reads the parameters of such a request.
func (s *server) where(params json.RawMessage) (*at, error) {
	var p struct {
		Document textDocument    `json:"textDocument"`
		Position editor.Position `json:"position"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	path, doc, err := s.document(params)
	if err != nil {
		return nil, err
	}
	return &at{path, doc, doc.Offset(p.Position), s.programOf(path)}, nil
}

// document returns the open text that parameters name.
func (s *server) document(params json.RawMessage) (string, *editor.Doc, error) {
	path, err := only(params)
	if err != nil {
		return "", nil, err
	}
	if doc := s.docOf(path); doc != nil {
		return path, doc, nil
	}
	return "", nil, fmt.Errorf("%s is not open", path)
}

// docOf is an open text as it was read; nil if it is not open.
func (s *server) docOf(path string) *editor.Doc {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.open[path]
	if d == nil {
		return nil
	}
	if d.doc == nil {
		d.doc = editor.Read(path, editor.NewText(d.data, s.inBytes))
	}
	return d.doc
}

// programOf reads the files of the program that a file belongs to, and their tests.
func (s *server) programOf(path string) *editor.Program {
	dir := filepath.Dir(path)
	s.mu.Lock()
	alone, open := s.alone[dir], make(map[string][]byte, len(s.open))
	for path := range s.open {
		open[path] = nil
	}
	s.mu.Unlock()
	base := func(path string) string {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		return name
	}
	p := &editor.Program{}
	for _, file := range programFiles(dir, open) {
		if alone && base(file) != base(path) {
			continue
		}
		if doc := s.docOf(file); doc != nil {
			p.Docs = append(p.Docs, doc)
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		c := s.read[file]
		if c == nil || !c.changed.Equal(info.ModTime()) || c.size != info.Size() {
			c = &cached{info.ModTime(), info.Size(), editor.Read(file, editor.NewText(readBounded(file), s.inBytes))}
			s.read[file] = c
		}
		p.Docs = append(p.Docs, c.doc)
	}
	return p
}

// location puts a place into the words of the protocol.
func (s *server) location(l editor.Location) object {
	return object{"uri": s.uri(l.Doc.Name), "range": l.Doc.Range(l.Span)}
}

// uri is that of an open text as its editor wrote it, or that of a file.
func (s *server) uri(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[path]; d != nil {
		return d.uri
	}
	return uriOf(path)
}

// formatting lays a text out as flowrun fmt does. A text with a syntax error stays as it is.
func (s *server) formatting(params json.RawMessage) (any, error) {
	path, doc, err := s.document(params)
	if err != nil || !strings.HasSuffix(path, ".hcl") {
		return []object{}, err
	}
	out, list := format.Format(path, doc.Src)
	if list.HasErrors() {
		return []object{}, nil
	}
	return s.replaceLines(path, doc, out), nil
}

// replaceLines returns the edit that makes a text of another one: it replaces the lines from the first to the last that differ.
func (s *server) replaceLines(path string, doc *editor.Doc, text []byte) []object {
	from, end := 0, 0
	for from < len(text) && from < len(doc.Src) && text[from] == doc.Src[from] {
		from++
	}
	from = bytes.LastIndexByte(doc.Src[:from], '\n') + 1
	for end < len(text)-from && end < len(doc.Src)-from && text[len(text)-1-end] == doc.Src[len(doc.Src)-1-end] {
		end++
	}
	if n := bytes.IndexByte(doc.Src[len(doc.Src)-end:], '\n'); n >= 0 { // to the next whole line
		end -= n + 1
	} else {
		end = 0
	}
	if bytes.Equal(text, doc.Src) {
		return []object{}
	}
	return []object{{"range": doc.Range(editor.Span{From: from, To: len(doc.Src) - end}), "newText": s.lineEnds(path, string(text[from:len(text)-end]))}}
}

// lineEnds gives a new piece the line ends of its text.
func (s *server) lineEnds(path, piece string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[path]; d != nil && bytes.Contains(d.data, []byte("\r\n")) {
		return strings.ReplaceAll(piece, "\n", "\r\n")
	}
	return piece
}

// Kinds of symbols of the protocol.
const (
	symbolClass, symbolProperty, symbolFunction, symbolVariable, symbolObject = 5, 7, 12, 13, 19
)

// maxSymbolDepth bounds how deep the outline of a file is; the checker refuses deeper ones.
const maxSymbolDepth = 64

func (s *server) symbols(params json.RawMessage) (any, error) {
	_, doc, err := s.document(params)
	if err != nil {
		return nil, err
	}
	return outline(doc, doc.Top, 0), nil
}

// outline lists the blocks with a label in a block, and locals.
func outline(doc *editor.Doc, in *editor.Block, depth int) []object {
	out := []object{}
	if depth > maxSymbolDepth {
		return out
	}
	for _, b := range in.Blocks {
		kind, at := symbolObject, b.Label
		switch {
		case b.Kind.Text == "locals":
			for _, a := range b.Attrs {
				out = append(out, object{"name": "local." + a.Text, "kind": symbolVariable, "range": doc.Range(editor.Span{From: a.From, To: a.Value.To}), "selectionRange": doc.Range(a.Span)})
			}
			continue
		case at.Text == "":
			at = b.Kind
		case b.Kind.Text == "workflow":
			kind = symbolClass
		case b.Kind.Text == "variable", b.Kind.Text == "input", b.Kind.Text == "output":
			kind = symbolVariable
		case b.Parent.Parent != nil:
			kind = symbolFunction
		}
		out = append(out, object{"name": at.Text, "detail": b.Kind.Text, "kind": kind, "range": doc.Range(b.Span), "selectionRange": doc.Range(at.Span),
			"children": outline(doc, b, depth+1)})
	}
	return out
}

func (s *server) completion(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	items, span := p.program.Complete(p.doc, p.offset)
	out := make([]object, 0, len(items))
	for _, i := range items {
		text := i.Insert
		if text == "" {
			text = i.Label
		}
		item := object{"label": i.Label, "kind": i.Kind, "textEdit": object{"range": p.doc.Range(span), "newText": text}}
		if i.Detail != "" {
			item["detail"] = i.Detail
		}
		if i.Doc != "" {
			item["documentation"] = i.Doc
		}
		out = append(out, item)
	}
	return object{"isIncomplete": false, "items": out}, nil
}

func (s *server) hover(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	text, span := p.program.Hover(p.doc, p.offset)
	if text == "" {
		return nil, nil
	}
	return object{"contents": object{"kind": "markdown", "value": text}, "range": p.doc.Range(span)}, nil
}

func (s *server) definition(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	found, _ := p.program.Find(p.doc, p.offset)
	if found == nil {
		return nil, nil
	}
	return s.location(editor.Location{Doc: found.Doc, Span: found.Span}), nil
}

func (s *server) references(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	var more struct {
		Context struct {
			IncludeDeclaration bool `json:"includeDeclaration"`
		} `json:"context"`
	}
	if err := json.Unmarshal(params, &more); err != nil {
		return nil, err
	}
	out := []object{}
	if found, _ := p.program.Find(p.doc, p.offset); found != nil {
		for _, l := range p.program.References(found, more.Context.IncludeDeclaration) {
			out = append(out, s.location(l))
		}
	}
	return out, nil
}

// renamed finds what a rename is about.
func (p *at) renamed() (*editor.Symbol, editor.Span, error) {
	found, span := p.program.Find(p.doc, p.offset)
	switch {
	case found == nil:
		return nil, span, &rpcError{errFailed, "Only names that the program declares can be renamed."}
	case !found.CanRename():
		return nil, span, &rpcError{errFailed, "Variables and inputs are also given from outside the program, so they are not renamed."}
	}
	return found, span, nil
}

func (s *server) prepareRename(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	found, span, err := p.renamed()
	if err != nil {
		return nil, err
	}
	return object{"range": p.doc.Range(span), "placeholder": found.Text}, nil
}

var nameForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]{0,199}$`)

// rename changes a name everywhere. It is refused where the checker would say other things of the program afterwards.
func (s *server) rename(params json.RawMessage) (any, error) {
	p, err := s.where(params)
	if err != nil {
		return nil, err
	}
	var more struct {
		NewName string `json:"newName"`
	}
	if err := json.Unmarshal(params, &more); err != nil {
		return nil, err
	}
	if !nameForm().MatchString(more.NewName) {
		return nil, &rpcError{errInvalidParams, "A name begins with a letter and has letters, digits, _ and -."}
	}
	found, _, err := p.renamed()
	if err != nil {
		return nil, err
	}
	edits := p.program.Rename(found, more.NewName)
	if err := s.tryRename(p, edits); err != nil {
		return nil, err
	}
	changes := map[string][]object{}
	for _, e := range edits {
		uri := s.uri(e.Doc.Name)
		changes[uri] = append(changes[uri], object{"range": e.Doc.Range(e.Span), "newText": e.Text})
	}
	return object{"changes": changes}, nil
}

// tryRename checks the program with the edits, and refuses them if it has other findings than before.
func (s *server) tryRename(p *at, edits []editor.Edit) error {
	before, after := map[string][]byte{}, map[string][]byte{}
	s.mu.Lock()
	for path, d := range s.open {
		before[path], after[path] = d.data, d.data
	}
	s.mu.Unlock()
	var files []string
	for _, doc := range p.program.Docs {
		files = append(files, doc.Name)
	}
	for _, e := range edits {
		after[e.Doc.Name] = editor.Apply(e.Doc, edits)
	}
	was, _ := s.findings(filepath.Dir(p.path), files, before)
	is, _ := s.findings(filepath.Dir(p.path), files, after)
	if len(is) <= len(was) {
		return nil
	}
	known := map[string]int{}
	for _, d := range was {
		known[d.Code+d.Summary]++
	}
	for _, d := range is {
		if known[d.Code+d.Summary]--; known[d.Code+d.Summary] < 0 {
			return &rpcError{errFailed, fmt.Sprintf("Not renamed: the checker would then find %q (%s) in %s.", d.Summary, d.Code, filepath.Base(d.Subject.File))}
		}
	}
	return nil
}

// codeAction offers the edits of findings. They count in the text that was checked, so nothing is offered while a newer text waits.
func (s *server) codeAction(params json.RawMessage) (any, error) {
	var p struct {
		Range editor.Range `json:"range"`
	}
	path, doc, err := s.document(params)
	if err == nil {
		err = json.Unmarshal(params, &p)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	list := s.found[path]
	s.mu.Unlock()
	asked := editor.Span{From: doc.Offset(p.Range.Start), To: doc.Offset(p.Range.End)}
	out := []object{}
	for i := range list {
		d := &list[i]
		if d.Edit == nil || d.Edit.Range.File != path || d.Subject.Start.Byte > asked.To || d.Subject.End.Byte < asked.From {
			continue
		}
		edit := object{"range": doc.Range(spanOf(d.Edit.Range)), "newText": s.lineEnds(path, d.Edit.Text)}
		out = append(out, object{"title": titleOf(d), "kind": "quickfix", "isPreferred": true, "diagnostics": []object{s.diagnostic(doc.Text, d)},
			"edit": object{"changes": object{s.uri(path): []object{edit}}}})
	}
	return out, nil
}

// titleOf says what an edit does.
func titleOf(d *diag.Diagnostic) string {
	text := strings.Join(strings.Fields(d.Edit.Text), " ")
	switch {
	case text == "":
		return "Remove it: " + d.Summary
	case len(text) > 60:
		return "Fix: " + d.Summary
	case d.Edit.Range.Start == d.Edit.Range.End:
		return "Insert " + text
	}
	return "Replace with " + text
}

// codeLens offers to run workflows and tests. The editor carries the commands out.
func (s *server) codeLens(params json.RawMessage) (any, error) {
	path, doc, err := s.document(params)
	if err != nil {
		return nil, err
	}
	out := []object{}
	lens := func(b *editor.Block, title, command string, words ...any) {
		out = append(out, object{"range": doc.Range(b.Kind.Span), "command": object{"title": title, "command": command, "arguments": words}})
	}
	s.mu.Lock()
	program := filepath.Dir(path)
	if s.alone[program] {
		program = path
	}
	s.mu.Unlock()
	for _, b := range doc.Top.Blocks {
		switch {
		case b.Label.Text == "":
		case dsl.IsTest(path) && b.Kind.Text == "test":
			lens(b, "Run test", "flowrun.test", path, b.Label.Text, "^"+regexp.QuoteMeta(b.Label.Text)+"$")
		case !dsl.IsTest(path) && b.Kind.Text == "workflow":
			lens(b, "Run", "flowrun.run", program, b.Label.Text)
			if s.Last != nil {
				if last := s.Last(path, b.Label.Text); last != "" {
					lens(b, "Last run: "+last, "flowrun.show", program, b.Label.Text)
				}
			}
		}
	}
	return out, nil
}
