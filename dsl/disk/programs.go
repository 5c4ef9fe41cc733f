package disk

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

import ()

// packages is the folder of installed packages, which do not belong to the project's own programs.
const packages = "node_modules"

// NoPrograms is the error of a folder without programs below it.
type NoPrograms struct{ Dir string }

func (e *NoPrograms) Error() string { return "there is no file *.flow.hcl below " + e.Dir }

// Programs expands DIR/... to every folder below DIR with files *.flow.hcl; other files *.hcl may
// belong to other tools. It leaves out hidden folders and those of installed packages. Other paths stay as they are. The error is a
// *NoPrograms if there is nothing below a DIR.
func Programs(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		dir, all := strings.CutSuffix(path, "...")
		if !all || dir != "" && !strings.HasSuffix(dir, "/") {
			out = append(out, path)
			continue
		}
		last, before := "", len(out)
		root := filepath.Clean(dir) + "/" // with its slash, a link to a folder is that folder
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			hidden := p != root && strings.HasPrefix(d.Name(), ".")
			switch {
			case d.IsDir() && (hidden || p != root && d.Name() == packages):
				return fs.SkipDir
			case d.IsDir() || hidden || !strings.HasSuffix(p, ".flow.hcl"):
			case filepath.Dir(p) != last:
				last = filepath.Dir(p)
				out = append(out, last)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for programs: %w", err)
		}
		if len(out) == before {
			return nil, &NoPrograms{filepath.Clean(dir)}
		}
	}
	return out, nil
}
