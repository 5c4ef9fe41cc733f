package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
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
	doc := markdown.Parser().Parse(text.NewReader(data))
	var words []string
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && p.Title == "" {
				p.Title = plain(n, data)
			}
		case *ast.Link:
			n.Destination = p.link(repo, known, string(n.Destination))
		case *ast.Image:
			p.images = append(p.images, path.Join(path.Dir(p.file), string(n.Destination)))
		case *ast.Text:
			words = append(words, string(n.Segment.Value(data)))
		case *ast.FencedCodeBlock:
			words = append(words, string(n.Lines().Value(data)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if p.Title == "" {
		p.Title = strings.TrimSuffix(path.Base(p.file), ".md")
		fmt.Fprintf(&body, "<h1>%s</h1>\n", template.HTMLEscapeString(p.Title))
	}
	if err := markdown.Renderer().Render(&body, data, doc); err != nil {
		return err
	}
	p.Body, p.text = template.HTML(scrolls.Replace(body.String())), strings.ToLower(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	return nil
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

// finish adds the pages, their contents and the index of the search to the files.
func finish(files map[string][]byte, pages []*page) error {
	type entry struct {
		Path    string `json:"path"`
		Title   string `json:"title"`
		Section string `json:"section"`
		Text    string `json:"text"`
	}
	var index []entry
	var list strings.Builder
	list.WriteString("<h1>Contents</h1>\n")
	section := ""
	for _, p := range pages {
		index = append(index, entry{p.Path, p.Title, p.Section, p.text})
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
