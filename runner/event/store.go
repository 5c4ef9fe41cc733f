package event

import (
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// StoreRequest asks the host for one operation on what the runs of its store share. Exactly one field is set. The host carries
// the operation out once for each idempotency key: asked again with the same key, it gives the answer that it recorded.
type StoreRequest struct {
	KV *KVRequest `json:"kv,omitempty"`
}

// KVRequest reads or changes state that runs share. Fields that an operation does not use are zero.
type KVRequest struct {
	Operation ir.KVOperation `json:"operation"`
	Namespace string         `json:"namespace"`
	Key       string         `json:"key"` // of scan: the prefix of the keys
	Value     value.Value    `json:"value,omitempty"`
	By        float64        `json:"by,omitempty"`
	Old       value.Value    `json:"old,omitempty"`   // null: the key has no value
	TTL       time.Duration  `json:"ttl,omitempty"`   // 0: set and cas write a value that does not expire; incr leaves the expiry as it is
	Limit     int            `json:"limit,omitempty"` // of scan
}

func (f *facts) store(s *StoreRequest) {
	*f = append(*f, 'W')
	if k := s.KV; k != nil {
		*f = append(*f, 'k')
		f.text('o', string(k.Operation))
		f.text('s', k.Namespace)
		f.text('k', k.Key)
		f.value('v', k.Value)
		f.number('b', math.Float64bits(k.By))
		f.value('w', k.Old)
		f.number('t', uint64(k.TTL))
		f.number('l', uint64(k.Limit))
		f.end()
	}
	f.end()
}
