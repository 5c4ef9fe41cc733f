package runner

import (
	"crypto/sha256"
	"sync"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/secret"
)

// maxMarks is how many marks of secrets a service remembers.
const maxMarks = 10_000

// marks remembers which values are those of marks: the runs of a registered program have the same marks, and [secret.Same] takes 25 ms of
// CPU time for each. It is in memory alone, as the secrets are.
type marks struct {
	mu    sync.Mutex
	known map[event.Secret][sha256.Size]byte
}

// same is secret.Same.
func (m *marks) same(mark event.Secret, v value.Value) bool {
	digest := sha256.Sum256(value.Append([]byte(mark.Salt+" "), v))
	m.mu.Lock()
	before, has := m.known[mark]
	m.mu.Unlock()
	if has && before == digest {
		return true
	}
	if !secret.Same(mark, v) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxMarks {
		m.known = map[event.Secret][sha256.Size]byte{}
	}
	m.known[mark] = digest
	return true
}
