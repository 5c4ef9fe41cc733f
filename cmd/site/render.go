package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// scrolls lets the keyboard scroll what is wider than the page, and makes cells of headings without a text. Text in a page is escaped, so
// only tags match.
var scrolls = strings.NewReplacer("<th></th>", "<td></td>", "<pre>", `<pre tabindex="0">`, "</table>", "</table></div>",
	"<table>", `<div class="wide" tabindex="0"><table>`)

// address is where the page of a file is.
func address(file string) string {
	if path.Base(file) == "README.md" {
		return path.Join(path.Dir(file), "index.html")
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

// render reads a page's file. A page whose file has no title is titled by the file's name.
func (p *page) render(repo fs.FS, known map[string]*page) error {
	data, err := fs.ReadFile(repo, p.file)
	if err != nil {
		return err
	}
	doc := markdown.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	parts, words := []part{{}}, []string(nil)
	end := func() { parts[len(parts)-1].text, words = searchText(words), nil }
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && p.Title == "" {
				p.Title = plain(n, data)
			}
			if id, ok := n.AttributeString("id"); ok && (n.Level == 2 || n.Level == 3) {
				end()
				parts = append(parts, part{id: string(id.([]byte)), heading: plain(n, data)})
			}
		case *ast.Link:
			n.Destination = p.link(repo, known, string(n.Destination))
		case *ast.Image:
			p.images = append(p.images, path.Join(path.Dir(p.file), string(n.Destination)))
		case *ast.Text:
			words = append(words, string(n.Segment.Value(data)))
		case *ast.FencedCodeBlock:
			words = append(words, string(n.Lines().Value(data)))
		case *ast.HTMLBlock:
			p.tagged(string(n.Lines().Value(data)))
		case *ast.RawHTML:
			p.tagged(string(n.Segments.Value(data)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	end()
	var body bytes.Buffer
	if p.Title == "" {
		p.Title = strings.TrimSuffix(path.Base(p.file), ".md")
		fmt.Fprintf(&body, "<h1>%s</h1>\n", template.HTMLEscapeString(p.Title))
	}
	if err := markdown.Renderer().Render(&body, data, doc); err != nil {
		return err
	}
	if err := p.source(repo, &body, &parts); err != nil {
		return err
	}
	p.Body, p.parts = template.HTML(scrolls.Replace(body.String())), parts
	return nil
}

// source adds the workflow of a page of the library to it.
func (p *page) source(repo fs.FS, body *bytes.Buffer, parts *[]part) error {
	if p.Section != "Library" || p.file == "workflows/README.md" {
		return nil
	}
	files, err := fs.Glob(repo, path.Dir(p.file)+"/*.flow.hcl")
	for _, file := range files {
		data, e := fs.ReadFile(repo, file)
		if e != nil {
			return e
		}
		name := path.Base(file)
		fmt.Fprintf(body, "<h2 id=\"%s\">%s</h2>\n<pre><code>%s</code></pre>\n", name, name, template.HTMLEscapeString(string(data)))
		*parts = append(*parts, part{name, name, searchText([]string{string(data)})})
	}
	return err
}

// anchors are the ids of the headings of a page. They are those that GitHub gives, so that a link works there, too.
type anchors map[string]bool

// Generate makes the id of a heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	one := id
	for n := 1; a[one]; n++ {
		one = fmt.Sprintf("%s-%d", id, n)
	}
	a[one] = true
	return []byte(one)
}

// Put notes an id that the page has.
func (a anchors) Put(id []byte) { a[string(id)] = true }

// searchText is the text of a part as the search reads it.
func searchText(words []string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
}

// picture is an image that a tag names.
var picture = regexp.MustCompile(`<img src="([^":]+)"`)

// tagged notes the images of tags.
func (p *page) tagged(html string) {
	for _, m := range picture.FindAllStringSubmatch(html, -1) {
		p.images = append(p.images, path.Join(path.Dir(p.file), m[1]))
	}
}

// plain is the text of a node without its marks.
func plain(n ast.Node, data []byte) (s string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			s += string(t.Segment.Value(data))
		} else {
			s += plain(c, data)
		}
	}
	return s
}

// link is where a link of the page leads on the site: to a page, or to a file of the repository at its source.
func (p *page) link(repo fs.FS, known map[string]*page, to string) []byte {
	target, fragment, marked := strings.Cut(to, "#")
	if target == "" || strings.Contains(target, ":") {
		return []byte(to)
	}
	if marked {
		fragment = "#" + fragment
	}
	file := path.Join(path.Dir(p.file), target)
	if known[file] == nil && known[path.Join(file, "README.md")] != nil {
		file = path.Join(file, "README.md")
	}
	if q := known[file]; q != nil {
		return []byte(root(p.Path) + q.Path + fragment)
	}
	kind := "blob"
	if info, err := fs.Stat(repo, file); err != nil {
		return []byte(to) // the test of the links finds it
	} else if info.IsDir() {
		kind = "tree"
	}
	return []byte(source + kind + "/main/" + file + fragment)
}

// root leads from a page to the top of the site.
func root(p string) string { return strings.Repeat("../", strings.Count(p, "/")) }

// entry is a page of the search: a file, or a part of the language's page, which is too long to be one result. Parts are lists of an id, a
// heading and a text.
type entry struct {
	Path    string      `json:"path"`
	Title   string      `json:"title"`
	Section string      `json:"section"`
	Words   string      `json:"words,omitempty"`
	Parts   [][3]string `json:"parts"`
}

// entries are the entries of a page. Words are those of parts of pages of the reference.
func (p *page) entries(words map[string][]string) (out []entry) {
	if p.Section != "Language" {
		e := entry{Path: p.Path, Title: p.Title, Section: p.Section, Words: strings.Join(p.words, " ")}
		for _, part := range p.parts {
			e.Parts = append(e.Parts, [3]string{part.id, part.heading, part.text})
		}
		return []entry{e}
	}
	for _, part := range p.parts {
		e := entry{Path: p.Path, Title: p.Title, Section: p.Section, Parts: [][3]string{{"", "", part.text}}}
		if part.id != "" {
			e.Path, e.Title, e.Section = p.Path+"#"+part.id, part.heading, p.Title
			e.Words = strings.Join(words[path.Base(p.file)+"#"+part.id], " ")
		}
		out = append(out, e)
	}
	return out
}

// finish adds the pages, their contents and the index of the search to the files.
func finish(files map[string][]byte, pages []*page, words map[string][]string) error {
	var index []entry
	var list strings.Builder
	list.WriteString("<h1>Contents</h1>\n")
	section := ""
	for _, p := range pages {
		index = append(index, p.entries(words)...)
		if p.Section != section {
			if section != "" {
				list.WriteString("</ul>\n")
			}
			section = p.Section
			fmt.Fprintf(&list, "<h2>%s</h2>\n<ul>\n", section)
		}
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a></li>\n", p.Path, template.HTMLEscapeString(p.Title))
	}
	list.WriteString("</ul>\n")
	for _, p := range append(pages, &page{Path: "contents.html", Title: "Contents", Body: template.HTML(list.String())}) {
		var b bytes.Buffer
		if err := layout.Execute(&b, map[string]any{"Page": p, "Root": root(p.Path)}); err != nil {
			return err
		}
		files[p.Path] = b.Bytes()
	}
	data, err := json.Marshal(index)
	// A page that is opened from the disk may load a script, but may not fetch a file.
	files["index.js"] = []byte("const flowrunPages = " + string(data) + ";\n")
	return err
}
