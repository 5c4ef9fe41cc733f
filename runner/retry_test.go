package runner

import (
	"reflect"
	"testing"
)

func TestRecordedEnv(t *testing.T) {
	have := RecordedEnv([]string{"PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "MY_TOKEN=x", "PATHS=no", "LC=no", "TERM=dumb\xff", "nothing"})
	want := map[string]string{"PATH": "/bin", "LC_ALL": "C", "XDG_RUNTIME_DIR": "/run", "TERM": "dumb\uFFFD"}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%v", have)
	}
}
