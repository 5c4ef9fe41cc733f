package store

import "path/filepath"

// Path is the database of a folder, whether it is there or not.
func Path(dir string) string { return filepath.Join(dir, databaseFile) }

// Exists tells whether a folder has, or ought to have, a memory. It opens nothing.
func Exists(dir string) bool { return (&Store{dir: dir}).exists() }
