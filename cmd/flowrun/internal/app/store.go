package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
)

// storeName is the default folder of runs.
const storeName = ".flowrun"

// storeDir returns the folder of a program's store: --store, else FLOWRUN_STORE, else .flowrun at
// the root of the repository of path (the nearest folder upwards with a .git), else beside the
// file. An empty path means the current folder. A link is followed if the user named it, and
// refused if it was only found.
func (a *app) storeDir(path string) (string, error) {
	dir := a.global.Store
	var err error
	if dir == "" {
		dir, err = a.usualStore(path)
		if info, missing := os.Lstat(dir); err == nil && missing == nil && info.Mode()&fs.ModeSymlink != 0 && a.getenv("FLOWRUN_STORE") == "" {
			return "", fmt.Errorf("the store %s is a symbolic link, which may have come with the repository\nIf it is yours, name it with --store or FLOWRUN_STORE. If it is not, remove it: rm %s",
				dir, ui.Quote(disk.Short(dir)))
		}
	} else {
		dir, err = filepath.Abs(dir)
	}
	if info, missing := os.Stat(dir); err == nil && missing == nil && !info.IsDir() {
		return "", fmt.Errorf("the store %s is not a folder", dir)
	}
	return dir, err
}

// usualStore returns the folder of the store without the flag.
func (a *app) usualStore(path string) (string, error) {
	if given := a.getenv("FLOWRUN_STORE"); given != "" {
		return filepath.Abs(given)
	}
	dir, err := disk.Folder(path)
	if err != nil {
		return "", err
	}
	if root := disk.Repository(dir); root != "" {
		dir = root
	}
	return filepath.Join(dir, storeName), nil
}
