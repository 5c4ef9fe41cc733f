package local

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// idLength is the length of a run's id: 12 characters of 5 random bits each.
const idLength = 12

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))[:idLength]
}
