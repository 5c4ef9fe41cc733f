package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is a file of an archive; its name is a path below the archive's one folder.
type file struct {
	name string
	data []byte
	mode int64
}

// writeArchive writes a .tar.gz whose bytes depend on its arguments alone: no owner, and one time for all files.
func writeArchive(to, folder string, files []file, at time.Time) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for _, x := range files {
		h := &tar.Header{Name: folder + "/" + x.name, Mode: x.mode, Size: int64(len(x.data)), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := w.Write(x.data); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Close(), z.Close(), f.Close())
}

// writeSums writes SHA256SUMS over all files of a folder, in the form that sha256sum -c and shasum -c read.
func writeSums(dir string) error {
	names, err := os.ReadDir(dir) // in the order of their names
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), n.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o666)
}
