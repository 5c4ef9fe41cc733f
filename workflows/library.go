// Package workflows is the library: workflows to start from. Each has a folder with its program, its tests, and small scripts that
// stand in for its agents, so that it runs at once.
package workflows

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed */*.hcl */agents
var files embed.FS

// Standin is how the commands of the stand-ins begin in a program: what a user replaces.
const Standin = "./agents/"

// Template is a folder of the library.
type Template struct {
	Name  string `json:"name"`  // of the folder, and of its program without .flow.hcl
	About string `json:"about"` // the first sentence of the comment at the top of the program
}

// All are the templates, by name.
func All() []Template {
	folders, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	all := make([]Template, 0, len(folders))
	for _, f := range folders {
		all = append(all, Template{f.Name(), about(f.Name())})
	}
	return all
}

// about is the first sentence of a program's first comment.
func about(name string) string {
	text, err := files.ReadFile(path.Join(name, name+".flow.hcl"))
	if err != nil {
		panic(err) // a folder without its program does not pass the tests
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "# ") {
			break
		}
		words = append(words, strings.TrimSpace(line[2:]))
	}
	sentence, _, _ := strings.Cut(strings.Join(words, " "), ". ")
	return strings.TrimSuffix(sentence, ".") + "."
}

// File is a file of a template.
type File struct {
	Name string // with slashes, below the template's folder
	Text []byte
	Mode fs.FileMode // 0o777 for scripts, else 0o666
}

// Files are the files of a template, the program first. It returns nil for a name that no template has.
func Files(name string) []File {
	var list []File
	err := fs.WalkDir(files, name, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(p)
		f := File{strings.TrimPrefix(p, name+"/"), text, 0o666}
		if strings.HasPrefix(string(text), "#!") {
			f.Mode = 0o777
		}
		if f.Name == name+".flow.hcl" {
			list = append([]File{f}, list...)
		} else {
			list = append(list, f)
		}
		return err
	})
	if err != nil || name == "." {
		return nil
	}
	return list
}
