package machine

import (
	"reflect"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// TestPlainTypes looks at the types that a snapshot has whole.
func TestPlainTypes(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[event.RunStarted](), reflect.TypeFor[event.Attempt](), reflect.TypeFor[event.StartChild](), reflect.TypeFor[event.Error](),
		reflect.TypeFor[event.Usage](), reflect.TypeFor[event.Bounds](), reflect.TypeFor[event.Need](), reflect.TypeFor[event.Ask](), reflect.TypeFor[event.Decision](),
		reflect.TypeFor[event.Recalled](), reflect.TypeFor[event.Reused](), reflect.TypeFor[event.NodeCancel](), reflect.TypeFor[event.WaitsFor]()} {
		if err := snapshot.Check(typ); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	for b.Loop() {
		format()
	}
}
