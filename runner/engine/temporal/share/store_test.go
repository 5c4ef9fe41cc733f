package share

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// noise is text that cannot be compressed much.
var noise = func() string {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, 0, 3<<20)
	for len(b)+8 <= cap(b) {
		b = binary.LittleEndian.AppendUint64(b, rng.Uint64())
	}
	return base64.StdEncoding.EncodeToString(b)
}()

// shop is a store, and what happens to it.
type shop struct {
	*testing.T
	*store
}

func openShop(t *testing.T) *shop {
	s, err := open(&wire.Shared{Store: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.now = event.At(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	return &shop{t, s}
}

// ask carries requests out, and returns the last reply.
func (s *shop) ask(requests ...wire.Request) wire.Reply {
	s.Helper()
	told := s.answer(&wire.Asking{Requests: requests})
	return told.Replies[len(told.Replies)-1]
}

func (s *shop) kv(operation ir.KVOperation, key string, v value.Value) wire.Request {
	return wire.Request{Ask: &event.StoreRequest{KV: &event.KVRequest{Operation: operation, Namespace: "default", Key: key, Value: v, By: 1}}}
}

// continued is the store as the next execution has it.
func (s *shop) continued() *shop {
	s.Helper()
	left, err := s.left("test")
	var arg []byte
	if err == nil {
		arg, err = wire.Encode(left)
	}
	var from wire.Shared
	if err == nil {
		err = wire.Decode(arg, &from)
	}
	var next *store
	if err == nil {
		next, err = open(&from)
	}
	if err != nil {
		s.Fatal(err)
	}
	next.now = s.now
	return &shop{s.T, next}
}

// sent are the signals that wait to be sent, as "RUN NAME".
func (s *shop) sent() (list []string) {
	for _, u := range s.unsent {
		list = append(list, u.Run+" "+u.Name)
	}
	s.unsent = nil
	return list
}

// TestOnce sends requests twice, also to the next execution: the second time changes nothing.
func TestOnce(t *testing.T) {
	s := openShop(t)
	add := s.kv(ir.KVIncr, "n", nil)
	add.ID = "x/1"
	for range 3 {
		if r := s.ask(add); !value.Equal(r.Value, 1.0) {
			t.Fatalf("the same request gives %+v", r)
		}
		s = s.continued()
	}
	add.ID = "x/2"
	if r := s.ask(add); !value.Equal(r.Value, 2.0) {
		t.Errorf("another request gives %+v", r)
	}
	attempt := event.Attempt{Ticket: 7, Node: "count", Key: "k", Run: "r", Kind: event.StoreAttempt, Store: add.Ask}
	for ticket := range uint64(3) {
		attempt.Ticket = ticket
		r := s.ask(wire.Request{Attempt: &attempt})
		if f := r.Finished; f == nil || f.Outcome != event.OK || !value.Equal(f.Output, 3.0) {
			t.Fatalf("the attempt with its key ends with %+v", f)
		}
		s = s.continued()
	}
	for i := range maxRecent + 5 {
		add.ID = fmt.Sprint("y/", i)
		s.ask(add)
	}
	if n := len(s.recent); n > maxRecent || n < maxRecent-1 {
		t.Errorf("%d replies are kept, want %d", n, maxRecent)
	}
}

// TestRows hands rows on, whatever stands in them.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r rows
	text := func(n int) string {
		b := make([]byte, rng.IntN(n))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		return string(b)
	}
	for range 2000 {
		space, key := fmt.Sprint(rng.IntN(20)), text(3)
		switch rng.IntN(10) {
		case 0:
			r.Delete(space, key)
		case 1:
			if rng.IntN(20) == 0 {
				r.Clear(space)
			}
		default:
			r.Put(space, key, []byte(text(50)))
		}
	}
	packed, err := r.pack()
	if err != nil {
		t.Fatal(err)
	}
	var next rows
	if err := next.unpack(packed); err != nil {
		t.Fatal(err)
	}
	again, err := next.pack()
	if err != nil || !bytes.Equal(packed, again) || next.size != r.size || r.size == 0 {
		t.Errorf("the rows are not those that were handed on: %d bytes, then %d (%v)", r.size, next.size, err)
	}
	whole, _ := wire.Expand(packed)
	for cut := 1; cut < len(whole); cut += len(whole)/10 + 1 { // some cuts fall between two rows
		b, _ := wire.Compress(nil, whole[:cut])
		var damaged rows
		_ = damaged.unpack(b) // it does not panic
	}
}

// TestFull fills the store: what makes it larger is refused, and what frees it is not.
func TestFull(t *testing.T) {
	s := openShop(t)
	const size = 60 << 10
	refused := ""
	n := 0
	for ; (n+1)*size < len(noise) && refused == ""; n++ {
		refused = s.ask(s.kv(ir.KVSet, fmt.Sprint("k", n), noise[n*size:(n+1)*size])).Refusal
	}
	if !strings.Contains(refused, "the store is full") {
		t.Fatalf("after %d values: %q", n, refused)
	}
	left, err := s.left("test")
	if err != nil {
		t.Fatal(err)
	}
	arg, err := wire.Encode(left)
	if err != nil || len(arg) > wire.MaxPayload {
		t.Errorf("the full store is handed on in %d bytes, the server takes %d (%v)", len(arg), wire.MaxPayload, err)
	}
	for i := range n {
		if r := s.ask(s.kv(ir.KVDelete, fmt.Sprint("k", i), nil)); r.Refusal != "" {
			t.Fatal(r.Refusal)
		}
	}
	if r := s.ask(s.kv(ir.KVSet, "k", "text")); r.Refusal != "" {
		t.Errorf("after everything was deleted: %s", r.Refusal)
	}
}

// TestLine has three runs want what one may have.
func TestLine(t *testing.T) {
	s := openShop(t)
	needs := []event.Need{{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: 1}}
	admit := func(run string, ticket uint64) wire.Request {
		return wire.Request{Admit: &admission.Request{Key: "key " + run, Run: run, Node: "n", Ticket: ticket, Needs: needs}}
	}
	if r := s.ask(admit("a", 1)); r.Verdict != admission.Granted {
		t.Fatalf("a is %s", r.Verdict)
	}
	for _, run := range []string{"b", "c"} {
		if r := s.ask(admit(run, 1)); r.Verdict != admission.Queued {
			t.Fatalf("%s is %s", run, r.Verdict)
		}
	}
	if r := s.ask(wire.Request{Refuse: &wire.Holder{Key: "key b", Ticket: 1}}); r.Verdict != admission.Refused || r.Obstacle.Reason != event.ReasonQuota {
		t.Fatalf("b is %+v", r)
	}
	s = s.continued()
	// An attempt that was given up says that it has ended: the request belongs to the next attempt of its key.
	again := admit("a", 2)
	again.Stands = true
	if r := s.ask(again); r.Verdict != admission.Granted {
		t.Fatalf("the next attempt of a is %s", r.Verdict)
	}
	s.ask(wire.Request{End: &wire.Finish{Holder: wire.Holder{Key: "key a", Ticket: 1}, End: admission.End{Key: "key a"}}})
	if got := s.sent(); got != nil {
		t.Errorf("an end of another attempt wakes %v", got)
	}
	s.ask(wire.Request{End: &wire.Finish{Holder: wire.Holder{Key: "key a", Ticket: 2}, End: admission.End{Key: "key a"}}})
	if got := fmt.Sprint(s.sent()); got != "[b flowrun.posted.v1]" { // it was refused: its machine hears of it
		t.Errorf("the end of a wakes %s", got)
	}
	if err := s.abandon("b"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.sent()); got != "[c flowrun.granted.v1]" {
		t.Errorf("the end of b on the server wakes %s", got)
	}
	if r := s.ask(wire.Request{Limits: true}); len(r.Limits) != 1 || r.Limits[0].Used != 1 {
		t.Errorf("the limits are %+v", r.Limits)
	}
	s.ask(wire.Request{Closed: &shared.RunEnd{Run: "c", Status: event.Succeeded}})
	if len(s.line.Requests()) != 0 {
		t.Errorf("after the end of all, %+v stands in the line", s.line.Requests())
	}
}

// TestTurns has runs of a group take turns, be skipped, and be refused for a circle.
func TestTurns(t *testing.T) {
	s := openShop(t)
	at := s.now
	enter := func(run, group string, busy engine.WhenBusy, callers ...string) wire.Reply {
		at++
		return s.ask(wire.Request{Enter: &wire.Enter{Run: run, Callers: callers, Group: engine.Group{Name: group, WhenBusy: busy}, Began: at}})
	}
	if r := enter("a", "g", engine.Queue); r.Behind != "" {
		t.Errorf("the first waits: %+v", r)
	}
	if r := enter("b", "g", engine.Queue); r.Behind != "a" {
		t.Errorf("the second: %+v", r)
	}
	if r := enter("x", "h", engine.Queue); r.Behind != "" {
		t.Errorf("the first of another group: %+v", r)
	}
	if r := enter("s", "g", engine.Skip); r.Skip == "" {
		t.Errorf("one that skips: %+v", r)
	}
	if r := enter("a/kid", "g", engine.Queue, "a"); r.Behind != "" {
		t.Errorf("a called run that shares the turn: %+v", r)
	}
	if r := enter("a/in h", "h", engine.Queue, "a"); r.Behind != "x" {
		t.Errorf("a called run of another group: %+v", r)
	}
	if r := enter("x/in g", "g", engine.Queue, "x"); r.Deadlock == nil || r.Deadlock.Group != "g" {
		t.Errorf("a called run that closes a circle: %+v", r)
	}
	// A place that was reserved is that of the run, and is given up if the run was there already.
	s.ask(wire.Request{Enter: &wire.Enter{Run: "r", Group: engine.Group{Name: "r"}, Reserves: true}})
	if r := enter("r", "r", engine.Queue); r.Behind != "" || s.turns.Find("r") == nil {
		t.Errorf("a run with a reservation: %+v", r)
	}
	s.ask(wire.Request{Enter: &wire.Enter{Run: "r", Gone: true}})
	if s.turns.Find("r") == nil {
		t.Error("a run that has entered has lost its place")
	}
	s.ask(wire.Request{Enter: &wire.Enter{Run: "q", Group: engine.Group{Name: "q"}, Reserves: true}}, wire.Request{Enter: &wire.Enter{Run: "q", Gone: true}})
	if s.turns.Find("q") != nil {
		t.Error("the reservation for a run that was there already stays")
	}
	s = s.continued()
	if r := s.ask(wire.Request{Turns: true}); len(r.Turns) != 2 || r.Turns[0].Run != "b" || r.Turns[0].Behind != "a" {
		t.Errorf("in line are %+v", r.Turns)
	}
	s.ask(wire.Request{Closed: &shared.RunEnd{Run: "a", Status: event.Succeeded}})
	if got := fmt.Sprint(s.sent()); got != "[b flowrun.granted.v1]" {
		t.Errorf("the end of a wakes %s", got)
	}
	if r := enter("c", "g", engine.CancelPrevious); r.Behind != "b" {
		t.Errorf("one that cancels: %+v", r)
	}
	enter("d", "g", engine.CancelPrevious)
	if got := fmt.Sprint(s.sent()); got != "[b flowrun.posted.v1 c flowrun.posted.v1]" { // each is cancelled once
		t.Errorf("those that are cancelled: %s", got)
	}
}

// TestLargeReplies asks for more than one update can answer.
func TestLargeReplies(t *testing.T) {
	s := openShop(t)
	const size = 60 << 10
	for i := range 12 {
		s.ask(s.kv(ir.KVSet, fmt.Sprint("k", i), noise[i*size:(i+1)*size]))
	}
	var requests []wire.Request
	for range 8 {
		requests = append(requests, wire.Request{Ask: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVScan, Namespace: "default", Key: "k", Limit: 100}}})
	}
	told := s.answer(&wire.Asking{Requests: requests})
	packed, err := wire.Encode(told)
	if err != nil || len(packed) > 1_900_000 || told.Replies[0].Again || !told.Replies[7].Again {
		t.Errorf("the replies have %d bytes (%v), and the last is answered: %v", len(packed), err, !told.Replies[7].Again)
	}
}
