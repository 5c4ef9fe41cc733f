// Command site makes the documentation as a folder of plain HTML: the reference of the language, the page of every
// diagnostic, the topics, and the library, from the files that their own generators and tests keep true.
//
//	go run ./cmd/site -o site
//
// A page is at its file's place, README.md as index.html. Pages can be read without JavaScript and from the disk.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/flowrun/flowrun/dsl/reference"
)

// source is where the files of the repository that are not pages can be read.
const source = "https://github.com/flowrun/flowrun/"

// globs are the pages by section, in the order of the contents.
var globs = []struct{ section, glob string }{
	{"Start", "README.md"},
	{"How to", "dsl/reference/howto/README.md"},
	{"How to", "dsl/reference/howto/[a-z]*.md"},
	{"Commands", "dsl/reference/commands/README.md"},
	{"Commands", "dsl/reference/commands/[a-z]*.md"},
	{"Language", "dsl/reference/language.md"},
	{"Language", "dsl/reference/other-tools.md"},
	{"Topics", "dsl/reference/topics/*.md"},
	{"Library", "workflows/README.md"},
	{"Library", "workflows/*/README.md"},
	{"Diagnostics", "dsl/reference/codes/*.md"},
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed site.css
	css []byte
	//go:embed search.js
	script []byte

	layout   = template.Must(template.New("page").Parse(pageHTML))
	markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe())) // the files are ours
)

// page is a file of the site.
type page struct {
	file, Path, Section, Title string
	words                      []string // by which readers look for the page
	parts                      []part   // for the search: the page until its first heading, and the part below each heading
	images                     []string // files of the repository
	Body                       template.HTML
}

// part is what stands below a heading of the second or third level; the first part of a page has neither a heading nor an id.
type part struct{ id, heading, text string }

func main() {
	out := flag.String("o", "site", "the folder to write")
	flag.Parse()
	files, err := build(os.DirFS("."))
	if err == nil {
		err = write(*out, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the files below a folder.
func write(folder string, files map[string][]byte) error {
	for name, data := range files {
		target := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// build makes the files of the site from the files of the repository.
func build(repo fs.FS) (map[string][]byte, error) {
	var pages []*page
	words := reference.SearchWords()
	known := map[string]*page{}
	for _, g := range globs {
		names, err := fs.Glob(repo, g.glob)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			p := &page{file: name, Path: address(name), Section: g.section, words: words[strings.TrimPrefix(name, "dsl/reference/")]}
			pages, known[name] = append(pages, p), p
		}
	}
	for _, p := range pages {
		if err := p.render(repo, known); err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
	}
	files := map[string][]byte{"site.css": css, "search.js": script}
	for _, p := range pages {
		for _, image := range p.images {
			data, err := fs.ReadFile(repo, image)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.file, err)
			}
			files[image] = data
		}
	}
	return files, finish(files, pages, words)
}
