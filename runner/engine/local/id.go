package local

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"
)

// idLength is the length of a run's id: 12 characters of 5 random bits each.
const idLength = 12

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))[:idLength]
}

// goodID is what a caller may name a run: ids are file names, and stand in commands and paths of nodes.
var goodID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// CheckID refuses an id that no run has: one of a stranger's store could name any file.
func CheckID(id string) error { return checkID(id) }

func checkID(id string) error {
	if !goodID.MatchString(id) {
		return fmt.Errorf("a run's id is up to 64 of a-z, 0-9 and dashes, %q is not", id)
	}
	return nil
}
