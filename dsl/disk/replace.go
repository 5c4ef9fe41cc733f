package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Replace replaces the content of a file, completely or not at all: the text is written to a
// new file beside it, which is then renamed. The file keeps its permissions, and a link to the file
// stays a link. If the file no longer holds old, or may not be written, it stays unchanged.
func Replace(path string, old, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	may, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return errors.Unwrap(err)
	}
	info, err := may.Stat()
	if err = errors.Join(err, may.Close()); err != nil {
		return err
	}
	beside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(beside.Name()) // once it has the file's name, there is nothing left to remove
	_, err = beside.Write(text)
	if err = errors.Join(err, beside.Chmod(info.Mode().Perm()), beside.Sync(), beside.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(now, old):
		return errors.New("another process has written it meanwhile")
	}
	return os.Rename(beside.Name(), path)
}
