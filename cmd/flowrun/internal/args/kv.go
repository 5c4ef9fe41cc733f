package args

import (
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// KV is what the commands of kv take.
type KV struct {
	Namespace string
	Key       string // or a prefix
	TTL       string // a duration; "" means that the value does not expire
	Limit     int
	JSON      bool
}

// Lifetime reads the duration of --ttl; 0 where there is none.
func (r *KV) Lifetime() (time.Duration, error) {
	if r.TTL == "" {
		return 0, nil
	}
	d, err := value.ParseDuration(r.TTL)
	if err != nil {
		return 0, Errorf("--ttl: %v", err)
	}
	return d, nil
}

// CheckLimit refuses a list of no keys.
func (r *KV) CheckLimit() error {
	if r.Limit < 1 {
		return Errorf("--limit %d is below 1", r.Limit)
	}
	return nil
}
