package disk

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// packages is the folder of installed packages, which do not belong to the project's own programs.
const packages = "node_modules"

// NoPrograms is the error of a folder without programs below it.
type NoPrograms struct{ Dir string }

func (e *NoPrograms) Error() string { return "no file *.flow.hcl below " + e.Dir }

// Programs expands DIR/... to every folder below DIR with files *.flow.hcl; other files *.hcl may
// belong to other tools. It leaves out hidden folders and those of installed packages. Other paths stay as they are. The error is a
// *NoPrograms if there is nothing below a DIR.
func Programs(paths []string) (out []string, err error) {
	for _, path := range paths {
		dir, all := CutDots(path)
		if !all {
			out = append(out, path)
			continue
		}
		before := len(out)
		if err := eachFile(dir, true, folders(&out)); err != nil {
			return nil, fmt.Errorf("looking for programs: %w", err)
		}
		if len(out) == before {
			return nil, &NoPrograms{dir}
		}
	}
	return out, nil
}

// ProgramsIn lists the folders with files *.flow.hcl at and below a folder of a file system, as Programs does for DIR/... on the disk.
func ProgramsIn(fsys fs.FS, dir string) (out []string, err error) {
	err = fs.WalkDir(fsys, dir, visit(dir, true, folders(&out)))
	return out, err
}

// folders adds to a list the folder of each file *.flow.hcl of a walk.
func folders(out *[]string) func(file string) {
	last := ""
	return func(file string) {
		if strings.HasSuffix(file, ".flow.hcl") && filepath.Dir(file) != last {
			last = filepath.Dir(file)
			*out = append(*out, last)
		}
	}
}

// CutDots returns the folder DIR of DIR/..., and reports whether the path has this form.
func CutDots(path string) (dir string, all bool) {
	dir, all = strings.CutSuffix(path, "...")
	if !all || dir != "" && !strings.HasSuffix(dir, "/") {
		return path, false
	}
	return filepath.Clean(dir), true
}

// eachFile calls each with the files of a folder, in order, and if all is set with those of all folders below it. It leaves out hidden
// files and folders, and the folders of installed packages.
func eachFile(dir string, all bool, each func(file string)) error {
	root := filepath.Clean(dir) + "/" // with its slash, a link to a folder is that folder
	return filepath.WalkDir(root, visit(root, all, each))
}

// visit is eachFile for the entries of a walk from a root.
func visit(root string, all bool, each func(file string)) fs.WalkDirFunc {
	return func(p string, d fs.DirEntry, err error) error {
		if err != nil { // d may be nil
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".")
		switch {
		case p == root:
		case d.IsDir() && (!all || hidden || d.Name() == packages):
			return fs.SkipDir
		case !d.IsDir() && !hidden:
			each(filepath.Clean(p))
		}
		return nil
	}
}
