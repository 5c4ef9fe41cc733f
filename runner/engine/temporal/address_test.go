package temporal_test

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/runner/engine/temporal"
)

// The checker of programs and the host agree about which text is an address.
func TestAddressesOfFiles(t *testing.T) {
	for _, at := range []string{
		"temporal://h:1/n", "temporal://127.0.0.1:7233/default", "temporal://h:1", "temporal://h:1/", "temporal://h:1/n/", "temporal://[::1]:7233/n", "temporal://h:1/n?queue=q",
		"temporal://h:1/n?queue=a.b-c", "temporal://h:65535/a-b_c.d",
		"", "local", "temporal://", "temporal://h", "temporal://h/n", "temporal://h:/n", "temporal://:1/n", "temporal://h:x/n", "temporal://u@h:1/n", "temporal://u:p@h:1/n",
		"temporal://h:1/n/m", "temporal://h:1/n#f", "temporal://h:1/n?queue=", "temporal://h:1/n?other=q", "temporal://h:1/n?queue=a&queue=b", "temporal://h:1/n?queue=a;b",
		"http://h:1/n", "temporal:h:1/n",
	} {
		_, err := temporal.Parse(at)
		if have := check.EngineAddress().MatchString(at); have != (err == nil) {
			t.Errorf("%q: the checker says %v, and the host %v", at, have, err)
		}
	}
}
