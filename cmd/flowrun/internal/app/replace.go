package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// replaceFile gives a file another content, all of it or none: the text is written beside the file, which then takes its
// name. The file keeps its permissions, and a link to it stays one. Where it no longer holds what it held, or may not be
// written, it is left as it is.
func replaceFile(path string, old, text []byte) error {
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
		return errors.New("somebody else has written it meanwhile")
	}
	return os.Rename(beside.Name(), path)
}
