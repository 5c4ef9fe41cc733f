package payload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder are files of a folder that all machines have.
type Folder string

func (f Folder) String() string {
	return fmt.Sprintf("the folder %s that workers and readers share", string(f))
}

// Put makes a file durable, unless it is there.
func (f Folder) Put(name string, content []byte) error {
	if err := f.put(name, content); err != nil {
		return fmt.Errorf("%s: %w", f, err)
	}
	return nil
}

func (f Folder) put(name string, content []byte) error {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if info, err := os.Lstat(path); err == nil && info.Size() == int64(len(content)) {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // which is not there any more once it has its name
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get reads a file. One that has more bytes than it says is read whole: it is damaged, and its hash says so.
func (f Folder) Get(name string, _ int64) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
}
