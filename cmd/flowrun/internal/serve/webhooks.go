package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/webhook"
)

const (
	// hooksEvery is how old the list of webhooks may be, and hooksAgain how old it must be for a new one.
	hooksEvery, hooksAgain = time.Second, 20 * time.Millisecond
	// maxDeliveries is how many deliveries are read and published at once.
	maxDeliveries = 256
	// Of the deliveries to a webhook that are refused, recordedBurst are recorded, and then one in a second. Others are counted.
	recordedBurst, recordedEvery = 20, time.Second
)

// Delivered is the answer to a delivery: the id of its event.
type Delivered struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// hooks are the webhooks of the store, as they were a moment ago.
type hooks struct {
	places chan struct{} // a token for each delivery

	mu      sync.Mutex
	known   runner.Webhooks
	at      time.Time
	refused map[string]*refusals // by event
	said    map[string]string    // likewise: why a webhook is not served
}

// refusals bound what is recorded of refused deliveries.
type refusals struct {
	room float64 // how many may be recorded now
	at   time.Time
	more int // how many have no record
}

func newHooks() *hooks {
	return &hooks{places: make(chan struct{}, maxDeliveries), refused: map[string]*refusals{}, said: map[string]string{}}
}

// find returns a webhook; nil if there is none. The list was made after a moment.
func (h *hooks) find(ctx context.Context, store *runner.Service, name string, after time.Time) (w *runner.Webhook, err error) {
	h.mu.Lock()
	w, at := h.known.All[name], h.at
	h.mu.Unlock()
	if !at.Before(after) {
		return w, nil
	}
	time.Sleep(time.Until(at.Add(hooksAgain))) // deliveries that nobody has signed share a new list
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); h.at.Before(after) {
		if h.known, err = store.Webhooks(ctx, h.known); err != nil {
			return nil, err
		}
		h.at = now
	}
	return h.known.All[name], nil
}

// isNews reports whether a text about a webhook is another one than the last.
func (h *hooks) isNews(name, text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.said[name]
	h.said[name] = text
	return before != text
}

// record reports whether the refusal of a delivery is recorded, and how many before it were not.
func (h *hooks) record(name string, now time.Time) (more int, records bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.refused[name]
	if r == nil {
		r = &refusals{room: recordedBurst, at: now}
		h.refused[name] = r
	}
	r.room = min(recordedBurst, r.room+float64(now.Sub(r.at))/float64(recordedEvery))
	r.at = now
	if r.room < 1 {
		r.more++
		return 0, false
	}
	r.room--
	more, r.more = r.more, 0
	return more, true
}

// deliver takes a delivery to a webhook. It answers when the event is durable.
func (s *Server) deliver(r *http.Request) (any, error) {
	select {
	case s.hooks.places <- struct{}{}:
		defer func() { <-s.hooks.places }()
	default:
		return nil, &refusal{http.StatusServiceUnavailable, "busy", fmt.Sprintf("%d deliveries are being taken in now; send this one again later", maxDeliveries)}
	}
	name := ir.WebhookEvents + r.PathValue("name")
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return nil, &refusal{http.StatusUnsupportedMediaType, "encoding", "the body must have no Content-Encoding"}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	d := webhook.Delivery{Header: r.Header.Get, Body: body}
	w, known, err := s.verify(r.Context(), name, d)
	var no *webhook.Refusal
	if errors.As(err, &no) {
		return nil, s.refuseDelivery(r, name, no)
	}
	if err != nil {
		return nil, err
	}
	data, err := webhook.Data(w.Hook, d, known)
	if errors.As(err, &no) {
		return nil, s.refuseDelivery(r, name, no)
	}
	a, err := s.daemon.store.Deliver(r.Context(), &event.DeliveryRequest{Name: name, From: address(r), ID: known.ID, Signed: known.Signed, Data: data})
	switch {
	case err != nil:
		return nil, err
	case a.Replayed:
		return nil, &refusal{http.StatusConflict, string(webhook.Replayed), "another delivery has had this signature"}
	case a.Full:
		return nil, &refusal{http.StatusServiceUnavailable, "busy", "too many events wait for their runs; send this one again later"}
	}
	return Delivered{a.ID, a.Duplicate}, nil
}

// verify checks the signature of a delivery. A webhook that is not known, and a signature that does not hold, are looked at again with a
// new list: the program may just have been registered.
func (s *Server) verify(ctx context.Context, name string, d webhook.Delivery) (w *runner.Webhook, known webhook.Known, err error) {
	came := time.Now()
	for _, after := range []time.Time{came.Add(-hooksEvery), came} {
		if w, err = s.hooks.find(ctx, s.daemon.store.Service, name, after); err != nil {
			return nil, known, err
		}
		if w != nil && w.Err == nil {
			if known, err = webhook.Verify(w.Hook, w.Secret, d, time.Now()); err == nil {
				return w, known, nil
			}
		}
	}
	switch {
	case w == nil:
		return nil, known, &refusal{http.StatusNotFound, "path", "there is no such webhook"}
	case w.Err != nil:
		if text := fmt.Sprintf("%s of %s is not served: %v", name, w.Program, w.Err); s.hooks.isNews(name, text) {
			s.daemon.options.Say(text)
		}
		return nil, known, &refusal{http.StatusServiceUnavailable, "secret", "this webhook has no key now"}
	}
	return w, known, err
}

// refuseDelivery records that a delivery is refused, and returns the answer.
func (s *Server) refuseDelivery(r *http.Request, name string, no *webhook.Refusal) error {
	if more, records := s.hooks.record(name, time.Now()); records {
		if _, err := s.daemon.store.Deliver(r.Context(), &event.DeliveryRequest{Name: name, From: address(r), Reason: string(no.Reason), Message: no.Message, More: more}); err != nil {
			return err
		}
	}
	status := http.StatusUnauthorized
	if no.Reason == webhook.Misshape {
		status = http.StatusBadRequest
	}
	return &refusal{status, string(no.Reason), no.Message}
}

// address is the address that a request came from, without the port.
func address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
