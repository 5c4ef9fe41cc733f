package disk

import (
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dsl"
)

// NoTests is the error of a path that holds no tests. File tells that the path is a file.
type NoTests struct {
	Path string
	File bool
}

func (e *NoTests) Error() string {
	if e.File {
		return e.Path + " is not a test file"
	}
	return "there is no test file in " + e.Path
}

// Tests lists the test files that paths mean: a file, those of a folder, or with DIR/... those of DIR and of every folder below DIR, but for
// hidden folders and those of installed packages. The error is a *NoTests for a path without any.
func Tests(paths []string) (out []string, err error) {
	for _, path := range paths {
		dir, all := CutDots(path)
		info, err := os.Stat(dir)
		before := len(out)
		switch {
		case err != nil:
		case info.IsDir():
			err = eachFile(dir, all, func(file string) {
				if dsl.IsTest(file) {
					out = append(out, file)
				}
			})
		case dsl.IsTest(path):
			out = append(out, path)
		default:
			return nil, &NoTests{path, true}
		}
		if err != nil {
			return nil, fmt.Errorf("looking for tests: %w", err)
		}
		if len(out) == before {
			return nil, &NoTests{dir, false}
		}
	}
	return out, nil
}
