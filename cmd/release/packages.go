package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/template"
)

const homepage = "https://github.com/flowrun/flowrun"

// dockerfile is a part of the release as it is: it takes the archives beside it.
//
//go:embed Dockerfile
var dockerfile []byte

//go:embed formula.rb.tmpl
var formula string

// formulaSystem is a system of the formula, with the processors that Homebrew has for it.
type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

type formulaArchive struct{ Processor, File, Sum string }

// writeFormula writes the formula of Homebrew, with the sums of the archives of those targets that Homebrew has.
func (r *release) writeFormula(targets []target) error {
	var systems []formulaSystem
	for _, system := range [][2]string{{"darwin", "macos"}, {"linux", "linux"}} {
		s := formulaSystem{Name: system[1]}
		for _, processor := range [][2]string{{"arm64", "arm"}, {"amd64", "intel"}} {
			t := target{system[0], processor[0]}
			if !slices.Contains(targets, t) {
				continue
			}
			name := t.file() + ".tar.gz"
			data, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			s.Archives = append(s.Archives, formulaArchive{processor[1], name, fmt.Sprintf("%x", sha256.Sum256(data))})
		}
		if len(s.Archives) > 0 {
			systems = append(systems, s)
		}
	}
	if len(systems) == 0 {
		return nil
	}
	var b bytes.Buffer
	about := map[string]any{"Homepage": homepage, "Version": r.version, "Systems": systems}
	if err := template.Must(template.New("formula").Parse(formula)).Execute(&b, about); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "flowrun.rb"), b.Bytes(), 0o666)
}
