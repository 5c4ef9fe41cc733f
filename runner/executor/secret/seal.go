package secret

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// Flaw tells why a secret cannot be kept: it is too short to be found in a text, or too long; "" if it can. The message
// holds nothing of it.
func Flaw(v value.Value) string {
	size := 0
	for _, s := range mask.Strings(v) {
		if len(s) < mask.MinSecret {
			return fmt.Sprintf("a part of it has fewer than %d bytes: it cannot be distinguished from other text, so it cannot be masked",
				mask.MinSecret)
		}
		size += len(s)
	}
	if size > mask.MaxSecrets {
		return fmt.Sprintf("it has %d bytes, and %d can be masked", size, mask.MaxSecrets)
	}
	return ""
}

// rounds makes a guess at a sealed value cost about 25 ms, and so a start with one secret. A PIN of six digits is then found in hours
// and not in a second; a token is not found at all.
const rounds = 100_000

// Seal is what may be written down of a secret. salt is random, in hex.
func Seal(from, salt string, v value.Value) event.Secret {
	return event.Secret{From: from, Salt: salt, Rounds: rounds, Hash: hash(salt, rounds, v)}
}

func hash(salt string, rounds int, v value.Value) string {
	key, err := pbkdf2.Key(sha256.New, string(value.Append(nil, v)), []byte(salt), rounds, sha256.Size)
	if err != nil {
		panic("secret: " + err.Error()) // its arguments are ours
	}
	return hex.EncodeToString(key)
}

// Same tells whether a value is the one that was sealed.
func Same(s event.Secret, v value.Value) bool {
	if s.Rounds < 1 || s.Rounds > 100*rounds { // a journal may be damaged, or a stranger's
		return false
	}
	return subtle.ConstantTimeCompare([]byte(hash(s.Salt, s.Rounds, v)), []byte(s.Hash)) == 1
}
