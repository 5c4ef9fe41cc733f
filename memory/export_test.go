package memory

import "time"

// FitSize is what the tests of the package ask.
var FitSize = fitSize

// Waits bounds how long a search waits for an embedder.
func (m *Memory) Waits(longest time.Duration) { m.longest = longest }
