package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of a run's inbox.
const (
	// MaxData is the size of an external's data as JSON, in bytes: that of a value that runs share, with what stands around it.
	MaxData = 66 << 10
	// MaxReason is the size of an external's reason, in bytes: a longer one is cut. The path of a node that a message from outside names may be as long.
	MaxReason = 4 << 10
	// MaxInbox is how many messages an inbox holds. A cancel is let in beyond it.
	MaxInbox = 1000
)

// PackExternal checks a message and returns its bytes in the inbox. The machines of the host know the kinds in known, and both cancels.
// The error wraps [ErrExternal].
func PackExternal(x event.External, known []event.ExternalKind) ([]byte, error) {
	refuse := func(format string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("%w: %s", ErrExternal, fmt.Sprintf(format, args...))
	}
	cancel := x.Kind == event.ExternalCancel
	switch {
	case x.Kind == event.ExternalCancelNode && x.Node == "":
		return refuse("a cancel of a node names the node")
	case !cancel && x.Kind != event.ExternalCancelNode && !slices.Contains(known, x.Kind):
		return refuse("no run takes messages of kind %q", x.Kind)
	case cancel && (x.Node != "" || x.Data != nil):
		return refuse("a cancel concerns the whole run and carries no data")
	case len(x.Node) > MaxReason && x.Kind != event.ExternalGranted && x.Kind != event.ExternalEvent: // the host's own name nodes that are there
		return refuse("the path of its node has %d bytes; the limit is %d", len(x.Node), MaxReason)
	}
	data, err := json.Marshal(x.Data)
	if err == nil {
		x.Data, err = value.Decode(data)
	}
	if err != nil {
		return refuse("its data: %v", err)
	}
	if size := len(value.Append(nil, x.Data)); size > MaxData {
		return refuse("its data has %d bytes as JSON; the limit is %d", size, MaxData)
	}
	if len(x.Reason) > MaxReason {
		x.Reason = strings.ToValidUTF8(x.Reason[:MaxReason], "")
	}
	x.Inbox = 0
	packed, err := json.Marshal(x)
	if err != nil {
		return refuse("%v", err)
	}
	return packed, nil
}

// Dropping returns the message with an event that takes the place of an older one in a full inbox.
func Dropping(x event.External) event.External {
	data := map[string]value.Value{"dropped": 1.0}
	for name, v := range x.Data.(map[string]any) { // any order: it fills an object
		data[name] = v
	}
	x.Data = data
	return x
}

// InPlaceOf says how the bytes of those messages begin in an inbox that a wake takes the place of, for it says all that they say; "" for
// other messages. So at most one wake of each kind waits.
func InPlaceOf(x event.External) string {
	if x.Kind != event.ExternalWake {
		return ""
	}
	switch w, _ := event.WakeOf(x.Data); w.Kind {
	case event.WakeControl:
		return `{"kind":"wake","data":{"control":`
	case event.WakeBegin:
		return `{"kind":"wake","data":{"begin":`
	case event.WakeEnd:
		return `{"kind":"wake","data":{"end":`
	case event.WakeWork:
	}
	return `{"kind":"wake","data":{"kind":`
}

// MakeRoom takes out of the messages that wait what gives way to a message of what runs share, and returns that message as it is put behind them.
func MakeRoom(waiting []event.External, x event.External) ([]event.External, event.External) {
	if x.Kind == event.ExternalEvent && len(waiting) >= MaxInbox {
		oldest := slices.IndexFunc(waiting, func(old event.External) bool { return old.Kind == event.ExternalEvent })
		if oldest >= 0 {
			waiting, x = slices.Delete(waiting, oldest, oldest+1), Dropping(x)
		}
	}
	if begins := InPlaceOf(x); begins != "" {
		waiting = slices.DeleteFunc(waiting, func(old event.External) bool { return InPlaceOf(old) == begins })
	}
	return waiting, x
}

// UnpackExternal returns the message with the number id, from its bytes in the inbox.
func UnpackExternal(id int64, packed []byte) (event.External, error) {
	var x event.External
	if err := json.Unmarshal(packed, &x); err != nil {
		return x, fmt.Errorf("message %d of the inbox: %w", id, err)
	}
	x.Inbox = id
	return x, nil
}

// Inbox is the inbox of a run that a host keeps in memory. The zero value is empty.
type Inbox struct {
	Waiting []event.External // in order, until they are durable in the journal
	Cancels int              // how many have come so far
	last    int64            // the number of the newest message
}

// Signal takes a message in that somebody sends to a run, or refuses it: see [Signaller]. ended says that the run has ended.
func (b *Inbox) Signal(x event.External, known []event.ExternalKind, ended bool) error {
	packed, err := PackExternal(x, known)
	cancel := x.Kind == event.ExternalCancel
	switch {
	case err != nil || ended && cancel:
		return err
	case ended:
		return ErrEnded
	case len(b.Waiting) >= MaxInbox && !cancel:
		return ErrInboxFull
	}
	return b.add(packed)
}

// Post takes a message of what runs share in, and makes room for it.
func (b *Inbox) Post(x event.External) error {
	b.Waiting, x = MakeRoom(b.Waiting, x)
	packed, err := PackExternal(x, []event.ExternalKind{x.Kind})
	if err != nil {
		return err
	}
	return b.add(packed)
}

func (b *Inbox) add(packed []byte) error {
	x, err := UnpackExternal(b.last+1, packed)
	if err != nil {
		return err
	}
	b.last, b.Waiting = x.Inbox, append(b.Waiting, x)
	if x.Kind == event.ExternalCancel {
		b.Cancels++
	}
	return nil
}

// CancelUpTo cancels a run until it was cancelled as often as is wished.
func (b *Inbox) CancelUpTo(w Wish) (err error) {
	for err == nil && b.Cancels < w.Cancels {
		err = b.Signal(event.External{Kind: event.ExternalCancel, Reason: w.Reason}, nil, false)
	}
	return err
}

// Forget drops the messages among events that are durable.
func (b *Inbox) Forget(events []event.Event) {
	for _, ev := range events {
		if ev.External != nil {
			b.Waiting = slices.DeleteFunc(b.Waiting, func(x event.External) bool { return x.Inbox == ev.External.Inbox })
		}
	}
}
