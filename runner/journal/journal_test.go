package journal

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

var header = Header{Format: Format, Behaviour: 1, Run: "aaaaaaaaaaaa", Definition: "d", Workflow: "w", Created: 1}

// write makes batches of the sizes given.
func write(t testing.TB, sizes ...int) (batches []Batch, all []event.Event) {
	t.Helper()
	w := NewWriter(1, header.First())
	for i, n := range sizes {
		for range n {
			ev := event.Event{Seq: uint64(len(all) + 1), At: event.Time(len(all)), TimerFired: &event.TimerFired{Timer: 7, Node: "<a&b>\u2028"}}
			if err := w.Add(ev); err != nil {
				t.Fatal(err)
			}
			all = append(all, ev)
		}
		batches = append(batches, w.Cut(uint64(i)))
	}
	return batches, all
}

// readAll gives the events up to the first error.
func readAll(batches []Batch) (all []event.Event, err error) {
	r := NewReader(header)
	for _, b := range batches {
		list, err := r.Read(b)
		if err != nil {
			return all, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	batches, want := write(t, 1, 3, 2)
	have, err := readAll(batches)
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("got %v, %v", have, err)
	}
	r := NewReader(header)
	for _, b := range batches {
		r.Read(b)
	}
	if r.Next() != 7 || r.Link() != batches[2].Link {
		t.Errorf("the reader stands before event %d with link %s", r.Next(), r.Link())
	}
}

// TestBytesStayTheSame pins the form on disk: a change of it needs a new Format.
func TestBytesStayTheSame(t *testing.T) {
	batches, _ := write(t, 2)
	const body = `{"seq":1,"at":0,"timer_fired":{"timer":7,"node":"<a&b>\u2028"}}` + "\n" + `{"seq":2,"at":1,"timer_fired":{"timer":7,"node":"<a&b>\u2028"}}` + "\n"
	if string(batches[0].Body) != body {
		t.Errorf("the body is\n%s, want\n%s", batches[0].Body, body)
	}
	if have, want := header.First().String()+" "+batches[0].Link.String(), "c9c92de70c2548bd 59a88fa38b447e95"; have != want {
		t.Errorf("the links are %s, want %s", have, want)
	}
}

// TestEveryByteCounts changes each byte of each batch, and each of its other parts.
func TestEveryByteCounts(t *testing.T) {
	whole, _ := write(t, 1, 2, 1)
	try := func(what string, batch int, change func(*Batch)) {
		t.Helper()
		batches := append([]Batch(nil), whole...)
		batches[batch].Body = bytes.Clone(batches[batch].Body)
		change(&batches[batch])
		have, err := readAll(batches)
		first := whole[batch].First
		if !errors.Is(err, ErrBroken) || uint64(len(have)) != first-1 {
			t.Errorf("batch %d, %s: %d events were read, %v", batch, what, len(have), err)
		}
	}
	for i := range whole {
		for at := range whole[i].Body {
			for bit := range 8 {
				try(fmt.Sprintf("bit %d of byte %d", bit, at), i, func(b *Batch) { b.Body[at] ^= 1 << bit })
			}
			try(fmt.Sprintf("cut at byte %d", at), i, func(b *Batch) { b.Body = b.Body[:at] })
		}
		for at := range whole[i].Link {
			try("the link", i, func(b *Batch) { b.Link[at] ^= 1 })
		}
		for bit := range 64 {
			try("the digest", i, func(b *Batch) { b.Digest ^= 1 << bit })
		}
		try("one event fewer", i, func(b *Batch) { b.Count-- })
		try("one event more", i, func(b *Batch) { b.Count++ })
		try("a count beyond all", i, func(b *Batch) { b.Count = 1 << 40 })
		try("a negative count", i, func(b *Batch) { b.Count = -1 })
		try("the number", i, func(b *Batch) { b.First++ })
		try("an event twice", i, func(b *Batch) { b.Body = append(b.Body, b.Body...) })
	}
}

func TestForeignAndMissingBatches(t *testing.T) {
	ours, _ := write(t, 1, 1, 1)
	for name, batches := range map[string][]Batch{
		"one is missing":   {ours[0], ours[2]},
		"one stands twice": {ours[0], ours[0]},
		"they are swapped": {ours[1], ours[0]},
	} {
		if _, err := readAll(batches); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := header
	other.Run = "bbbbbbbbbbbb"
	_, err := NewReader(other).Read(ours[0])
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "run bbbbbbbbbbbb, batch of events 1 to 1") {
		t.Errorf("a batch of another run gives %v", err)
	}
}

func TestWriterKeepsCount(t *testing.T) {
	w := NewWriter(5, header.First())
	for _, seq := range []uint64{1, 4, 6} {
		if err := w.Add(event.Event{Seq: seq}); err == nil {
			t.Errorf("event %d was taken where 5 is next", seq)
		}
	}
	if b := w.Cut(0); b.Count != 0 || b.First != 5 {
		t.Errorf("refused events left %+v", b)
	}
}

func TestFullAtTheBounds(t *testing.T) {
	w := NewWriter(1, header.First())
	for seq := uint64(1); seq <= MaxBatchEvents; seq++ {
		if w.Full() {
			t.Fatalf("full before event %d", seq)
		}
		w.Add(event.Event{Seq: seq})
	}
	if !w.Full() {
		t.Errorf("not full with %d events", MaxBatchEvents)
	}
	next := w.Cut(0).Last() + 1
	half := strings.Repeat("x", MaxBatchBytes/2)
	for i := range uint64(2) {
		if w.Full() {
			t.Errorf("full with %d halves of the bytes", i)
		}
		w.Add(event.Event{Seq: next + i, AttemptFinished: &event.AttemptFinished{Stdout: half}})
	}
	if !w.Full() {
		t.Error("not full with all bytes")
	}
}

func TestHeader(t *testing.T) {
	have, err := DecodeHeader(header.Encode())
	if err != nil || have != header {
		t.Errorf("got %+v, %v", have, err)
	}
	for _, bad := range []string{``, `{}`, `{"format":0}`, `{"format":1}`, `{"format":3}`, `{"format":-1}`, `[]`} {
		if _, err := DecodeHeader([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a header", bad)
		}
	}
	for format, want := range map[int]string{Format - 1: "from before the first release", Format + 1: "use a newer flowrun"} {
		old := header
		old.Format = format
		if _, err := DecodeHeader(old.Encode()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), header.Run) {
			t.Errorf("format %d: %v", format, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	batches, _ := write(f, 3)
	f.Add(batches[0].Body, 3)
	f.Fuzz(func(t *testing.T, body []byte, count int) {
		b := batches[0]
		b.Body, b.Count = body, count
		_, err := NewReader(header).Read(b)
		if same := bytes.Equal(body, batches[0].Body) && count == 3; same != (err == nil) {
			t.Errorf("%q with count %d: %v", body, count, err)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	w := NewWriter(1, header.First())
	b.ReportAllocs()
	for i := range b.N {
		if w.Full() {
			w.Cut(0)
		}
		w.Add(event.Event{Seq: uint64(i + 1), AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "build", Attempt: 1, Outcome: event.OK}})
	}
}
