package event

import (
	"reflect"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

var aMoment = At(time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC))

// TestItemValueIsOfItsType converts an item and its hand-over to the types with which expressions are checked.
func TestItemValueIsOfItsType(t *testing.T) {
	for name, i := range map[string]*Item{"full": filled[Item](t), "empty": {ID: "a", Title: "A"}, "handed over": {Handoff: &Handoff{}}} {
		v := i.Value()
		if got, err := value.Convert(v, ir.ItemType); err != nil || !value.Equal(got, v) {
			t.Errorf("%s: the value is not of the type: %v", name, err)
		}
		if o := v.(map[string]any); len(o) != len(ir.ItemType.Attrs) {
			t.Errorf("%s: %d members, the type has %d", name, len(o), len(ir.ItemType.Attrs))
		}
	}
}

// TestAnswersAboutItemsAreRead writes the answers of the store with all fields, and reads them.
func TestAnswersAboutItemsAreRead(t *testing.T) {
	i := filled[Item](t)
	i.CreatedAt, i.Handoff.At = aMoment, aMoment+Time(time.Hour)
	if got, err := ItemOf(i.Object()); err != nil || !reflect.DeepEqual(&got, i) {
		t.Errorf("the item\n%+v is read as\n%+v, %v", i, got, err)
	}
	if got, err := ItemOf(map[string]any{"id": "a", "title": "A", "created_at": nil}); err != nil || got.ID != "a" || got.CreatedAt != 0 {
		t.Errorf("a small item is read as %+v, %v", got, err)
	}
	for _, bad := range []value.Value{nil, "x", map[string]any{"id": "a"}, map[string]any{"id": "a", "title": "A", "created_at": "yesterday"}} {
		if _, err := ItemOf(bad); err == nil {
			t.Errorf("%v is read as an item", bad)
		}
	}
	c := filled[Claim](t)
	c.Until, c.Since, c.Parked, c.At = aMoment, aMoment+1e6, aMoment+2e6, aMoment+3e6
	if got, err := ClaimOf(c.Object()); err != nil || !reflect.DeepEqual(&got, c) {
		t.Errorf("the claim\n%+v is read as\n%+v, %v", c, got, err)
	}
	if got, err := ClaimOf((&Claim{Item: "a"}).Object()); err != nil || got.Until != 0 {
		t.Errorf("a claim without moments is read as %+v, %v", got, err)
	}
	control := LoopControl{Loop: "l", Stopped: true, By: "b", Paused: map[string]Time{"": Forever, "sam": aMoment}, At: aMoment}
	w := Wake{Kind: WakeControl, Control: control}
	if got, err := WakeOf(w.Data()); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("the wake\n%+v is read as\n%+v, %v", w, got, err)
	}
	w = Wake{Kind: WakeBegin, Begin: LoopStart{UntilIdle: true}}
	if got, err := WakeOf(w.Data()); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("the wake\n%+v is read as\n%+v, %v", w, got, err)
	}
	if got, err := WakeOf((&Wake{Kind: WakeWork}).Data()); err != nil || got.Kind != WakeWork {
		t.Errorf("a wake for work is read as %+v, %v", got, err)
	}
}
