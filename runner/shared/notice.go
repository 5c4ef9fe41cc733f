package shared

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of messages.
const (
	// NoticeAge is how long a store remembers that it sent a message, where equal ones were counted.
	NoticeAge = 7 * 24 * time.Hour
	// sweptPerNotice is how many rows one sweep removes.
	sweptPerNotice = 4
)

// Spaces of messages: what was sent last of each sort and how many equal ones were not, and the order in which those rows grow too old.
const (
	noticeSpace    = "notices"
	noticeAgeSpace = "notice-ages"
)

// noticed is what a store knows of equal messages.
type noticed struct {
	At    event.Time `json:"at"`              // when the last one was sent; 0: it could not be
	Key   string     `json:"key"`             // of the last one
	Count int        `json:"count,omitempty"` // how many were not sent since then
	Aged  event.Time `json:"aged"`            // when the row was last put among the ages
}

// sorts is the key under which equal messages to a channel are counted. The parts are names, or words of flowrun.
func sortOf(channel string, r *event.NoticeRequest) string {
	m := &r.Message
	if m.Kind == event.MessageBreaker { // a breaker is that of all workflows
		return strings.Join([]string{channel, r.Place, string(m.Kind)}, "\n")
	}
	kind, reason := "", ""
	if m.Error != nil {
		kind, reason = string(m.Error.Kind), string(m.Error.Reason)
	}
	return strings.Join([]string{channel, m.Workflow, r.Place, string(m.Kind), kind, reason}, "\n")
}

// The words of the answer to the beginning of a message, for each channel.
const (
	// NoticeSend asks for the sending. Before is the number of equal messages that were not sent since the last one.
	NoticeSend = "send"
	// NoticeSuppress says that an equal message was sent a short while ago.
	NoticeSuppress = "suppress"
	// NoticeSent and NoticeFailed say what became of the message before, under the same key.
	NoticeSent   = "sent"
	NoticeFailed = "failed"
)

// noticeState is what is recorded of a message, by channel, while its run has not ended.
type noticeState map[string]noticeFate

type noticeFate struct {
	Do     string `json:"do"`
	Before int    `json:"before,omitempty"`
	Alone  bool   `json:"alone,omitempty"` // the message counts for itself, without equal ones
}

// oweNotice begins a message in the transaction of what it is about. If the run ends before the message has an end, the message becomes a
// dead letter.
func oweNotice(rows Rows, r *event.NoticeRequest, now event.Time) error {
	if _, err := applyNotice(rows, r, now); err != nil {
		return err
	}
	return saveRow(rows, runHas(r.Message.Run), hasNotice+r.Message.Key, &event.NoticeRequest{Message: r.Message, Place: r.Place})
}

// unsentNotice ends a message that a run owes and that nobody sends any more.
func unsentNotice(rows Rows, body []byte, now event.Time) error {
	var r event.NoticeRequest
	state := noticeState{}
	if err := json.Unmarshal(body, &r); err != nil {
		return refuse("a message that was not sent is damaged: %v", err)
	}
	if err := loadRow(rows, answers(r.Message.Run), noticeKey(r.Message.Key), &state); err != nil {
		return err
	}
	r.End = map[string]string{}
	for name, fate := range state { // any order: it fills a map
		if fate.Do == NoticeSend {
			r.End[name] = "the run ended before the message was sent"
		}
	}
	return endNotice(rows, &r, state, now)
}

func noticeKey(key string) string { return "notice " + key }

func applyNotice(rows Rows, r *event.NoticeRequest, now event.Time) (value.Value, error) {
	state := noticeState{}
	if err := loadRow(rows, answers(r.Message.Run), noticeKey(r.Message.Key), &state); err != nil {
		return nil, err
	}
	if r.Begin != nil {
		return beginNotice(rows, r, state, now)
	}
	return nil, endNotice(rows, r, state, now)
}

// beginNotice decides for each channel whether the message is sent.
func beginNotice(rows Rows, r *event.NoticeRequest, state noticeState, now event.Time) (value.Value, error) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.Begin)) {
		fate, known := state[name]
		if !known {
			var err error
			if fate, err = countNotice(rows, sortOf(name, r), r, r.Begin[name], now); err != nil {
				return nil, err
			}
			state[name] = fate
		}
		out[name] = map[string]any{"do": fate.Do, "before": float64(fate.Before)}
	}
	if err := saveRow(rows, answers(r.Message.Run), noticeKey(r.Message.Key), state); err != nil {
		return nil, err
	}
	return out, sweepNotices(rows, now)
}

// countNotice counts a message among equal ones.
func countNotice(rows Rows, sort string, r *event.NoticeRequest, dedupe time.Duration, now event.Time) (noticeFate, error) {
	if dedupe <= 0 {
		return noticeFate{Do: NoticeSend, Alone: true}, nil
	}
	var n noticed
	if err := loadRow(rows, noticeSpace, sort, &n); err != nil {
		return noticeFate{}, err
	}
	fate := noticeFate{Do: NoticeSend, Before: n.Count}
	if since := now.Sub(n.At); n.At != 0 && since >= 0 && since < dedupe {
		n.Count++
		fate = noticeFate{Do: NoticeSuppress}
	} else {
		n.At, n.Key, n.Count = now, r.Message.Key, 0
	}
	if n.Aged == 0 {
		n.Aged = now
		if err := rows.Put(noticeAgeSpace, ageKey(now, sort), nil); err != nil {
			return noticeFate{}, err
		}
	}
	return fate, saveRow(rows, noticeSpace, sort, &n)
}

// endNotice records what became of a message. After a message that could not be sent, the next equal one is tried at once.
func endNotice(rows Rows, r *event.NoticeRequest, state noticeState, now event.Time) error {
	for _, name := range slices.Sorted(maps.Keys(r.End)) {
		fate := state[name]
		if fate.Do == NoticeSent || fate.Do == NoticeFailed { // another driver was faster
			continue
		}
		why := r.End[name]
		state[name] = noticeFate{Do: NoticeSent}
		if why == "" {
			continue
		}
		state[name] = noticeFate{Do: NoticeFailed}
		if err := buryNotice(rows, name, r, fate.Alone, why, now); err != nil {
			return err
		}
		var n noticed
		sort := sortOf(name, r)
		if err := loadRow(rows, noticeSpace, sort, &n); err != nil {
			return err
		}
		if n.Key == r.Message.Key && n.At != 0 {
			n.At, n.Count = 0, n.Count+fate.Before
			if err := saveRow(rows, noticeSpace, sort, &n); err != nil {
				return err
			}
		}
	}
	if r.Message.Kind == event.MessageHandoff {
		if err := rows.Delete(runHas(r.Message.Run), hasNotice+r.Message.Key); err != nil {
			return err
		}
	}
	return saveRow(rows, answers(r.Message.Run), noticeKey(r.Message.Key), state)
}

// buryNotice makes a dead letter of a message that could not be sent.
func buryNotice(rows Rows, channel string, r *event.NoticeRequest, alone bool, why string, now event.Time) error {
	m := r.Message
	d := DeadLetter{Kind: DeadNotification, Workflow: m.Workflow, Run: m.Run, Node: m.Node, Channel: channel, Message: &m, Error: why,
		About: "notice " + sortOf(channel, r)}
	if alone {
		d.About = "notice " + channel + "\n" + m.Key
	}
	return bury(rows, &d, now)
}

// sweepNotices removes what is known of messages that are too old. A row that was used meanwhile is looked at again later.
func sweepNotices(rows Rows, now event.Time) error {
	var old []string
	err := rows.Scan(noticeAgeSpace, "", func(at string, _ []byte) bool {
		if len(old) == sweptPerNotice || at >= ageKey(now.Add(-NoticeAge)+1, "") {
			return false
		}
		old = append(old, at)
		return true
	})
	for _, at := range old {
		sort := at[17:]
		var n noticed
		if err == nil {
			err = loadRow(rows, noticeSpace, sort, &n)
		}
		if err == nil {
			err = rows.Delete(noticeAgeSpace, at)
		}
		switch {
		case err != nil:
			return err
		case n.At != 0 && now.Sub(n.At) < NoticeAge:
			n.Aged = n.At
			if err = rows.Put(noticeAgeSpace, ageKey(n.At, sort), nil); err == nil {
				err = saveRow(rows, noticeSpace, sort, &n)
			}
		default:
			err = rows.Delete(noticeSpace, sort)
		}
		if err != nil {
			return err
		}
	}
	return err
}
