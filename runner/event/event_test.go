package event

import (
	"reflect"
	"strings"
	"testing"
)

// A journal has six kinds of events, and each is named as its member of the JSON is. A seventh would be a new format of journals.
func TestListOfEventsIsClosed(t *testing.T) {
	var kinds []string
	for f := range reflect.TypeFor[Event]().Fields() {
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		var ev Event
		reflect.ValueOf(&ev).Elem().FieldByIndex(f.Index).Set(reflect.New(f.Type.Elem()))
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if kinds = append(kinds, name); ev.Kind() != name {
			t.Errorf("an event with %s is of the kind %q", name, ev.Kind())
		}
	}
	if have, want := strings.Join(kinds, " "), "run_started attempt_finished timer_fired external child_finished driver_changed"; have != want {
		t.Errorf("the kinds of events are %s, want %s", have, want)
	}
}
