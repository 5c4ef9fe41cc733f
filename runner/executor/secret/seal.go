package secret

import (
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
			return fmt.Sprintf("a part of it has fewer than %d bytes: that cannot be told from other text, and so not be masked",
				mask.MinSecret)
		}
		size += len(s)
	}
	if size > mask.MaxSecrets {
		return fmt.Sprintf("it has %d bytes, and %d can be masked", size, mask.MaxSecrets)
	}
	return ""
}

// Seal is what may be written down of a secret. salt is random, in hex.
func Seal(from, salt string, v value.Value) event.Secret {
	sum := sha256.Sum256(value.Append([]byte(salt), v))
	return event.Secret{From: from, Salt: salt, Hash: hex.EncodeToString(sum[:])}
}

// Same tells whether a value is the one that was sealed.
func Same(s event.Secret, v value.Value) bool {
	return subtle.ConstantTimeCompare([]byte(Seal(s.From, s.Salt, v).Hash), []byte(s.Hash)) == 1
}
