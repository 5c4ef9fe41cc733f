package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// idLength is the length of a run's id: 12 characters of 5 random bits each.
const idLength = 12

// NewID returns a random id for a run.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))[:idLength]
}

// RunIDOf returns the id of the run that parts cause, such as an event and a subscription: the same parts give the same id, so starting the
// run twice is starting it once. It has the form of an id that [NewID] returns.
func RunIDOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:8]))[:idLength]
}

// validID is the form of a run's id. Ids are file names, and stand in commands and in paths of nodes.
var validID = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// CheckID returns an error if an id does not have the form of a run's id. An id from a store that somebody else made
// could otherwise name any file.
func CheckID(id string) error {
	if !validID().MatchString(id) {
		return fmt.Errorf("a run's id is up to 64 of a-z, 0-9 and dashes, %q is not", id)
	}
	return nil
}
