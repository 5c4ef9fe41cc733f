package doctor

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/engine"
)

// All that damage took is told: by id as far as ids are left, by number beyond that, and to the last one where one asks for it.
func TestAllThatDamageTookIsTold(t *testing.T) {
	loss := func(from, to uint64, ids ...string) entry.Loss {
		return entry.Loss{From: from, Record: entry.Record{Seq: to, Op: entry.Lost, IDs: ids}}
	}
	var ids []string
	for i := range mostLost {
		ids = append(ids, fmt.Sprintf("e%02d", i))
	}
	r := &memories.Report{Losses: []entry.Loss{loss(1, mostLost, ids...), loss(30, 99, "known"), loss(100, 163)}}
	said := describeMemory(r, " --store s", math.MaxInt)[1].Text
	for _, want := range append(ids, "known", "more of the records 30 to 99 than have names left", "what the records 100 to 163 said") {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not tell %q", said, want)
		}
	}
	if strings.Contains(said, "records 1 to") {
		t.Errorf("%q tells numbers where all ids are known", said)
	}
	few := describeMemory(r, " --store s", mostLost)[1]
	if !strings.HasSuffix(few.Text, "and 3 more") || !strings.HasSuffix(few.Fix, "flowrun memory doctor --store s") {
		t.Errorf("%+v", few)
	}
}

// Nobody is told to move away what they may merely not read.
func TestWhatMayNotBeReadIsNotThrownAway(t *testing.T) {
	if fix := adviseMemory(fmt.Errorf("memory in x: %w", &fs.PathError{Op: "open", Path: "memory.db", Err: fs.ErrPermission})); fix == beginAnewMemory {
		t.Error(fix)
	}
	if fix := adviseMemory(memories.ErrNotStore); fix != beginAnewMemory {
		t.Error(fix)
	}
	if fix := adviseStore(fmt.Errorf("store x: %w", &fs.PathError{Op: "open", Path: "store", Err: fs.ErrPermission})); fix != OtherStore {
		t.Error(fix)
	}
	if fix := adviseStore(engine.ErrForeign); fix != beginAnew {
		t.Error(fix)
	}
}
