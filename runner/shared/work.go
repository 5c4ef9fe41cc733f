package shared

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds of the queues of work.
const (
	// MaxOpenWork is how many open items a queue holds.
	MaxOpenWork = 10_000
	// MaxEndedWork is how many items a queue keeps that are closed or cancelled. The one that ended first makes room.
	MaxEndedWork = 10_000
	// MaxItemID is the size of the id of an item, in bytes.
	MaxItemID = 128
	// MaxItemWords is how many labels, needs or capabilities an item has.
	MaxItemWords = 100
)

// Spaces of a queue: the items by id, the open ones in the order in which they are to be done, the keys, those that ended in the order in
// which they did, and how many there are. The last one is of all queues.
func workSpace(q event.Queue) string      { return "work " + string(q) }
func workOpenSpace(q event.Queue) string  { return "work-open " + string(q) }
func workKeySpace(q event.Queue) string   { return "work-keys " + string(q) }
func workEndedSpace(q event.Queue) string { return "work-ended " + string(q) }

const workCountSpace = "work-count"

// workIDs is how the ids begin that a queue gives.
var workIDs = map[event.Queue]string{event.QueueDispatch: "ds-", event.QueueTicket: "tk-"}

var workID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/#-]*$`)

// work is the row of an item of a queue.
type work struct {
	event.Item
	Key   string           `json:"key,omitempty"`
	By    string           `json:"by,omitempty"` // who added it
	State event.ClaimState `json:"state"`        // open or closed; what else there is says the claim
	// Cancelled tells of a closed item that nobody did it.
	Cancelled bool       `json:"cancelled,omitempty"`
	Ended     event.Time `json:"ended,omitempty"`
}

// workCount is how many items a queue has had, has open, and keeps that have ended.
type workCount struct {
	Last  uint64 `json:"last"`
	Open  int    `json:"open"`
	Ended int    `json:"ended"`
}

// order is the key of an open item: the highest priority first, then the oldest.
func (w *work) order() string {
	return fmt.Sprintf("%08d %016x %s", limits.MaxPriority-w.Priority, uint64(w.CreatedAt), w.ID)
}

func (w *work) endedKey() string { return fmt.Sprintf("%016x %s", uint64(w.Ended), w.ID) }

// ItemKey names an item of a queue over the store, for its claim.
func ItemKey(q event.Queue, id string) string { return string(q) + "/" + id }

// applyWork reads or changes a queue.
func applyWork(rows Rows, r *event.DispatchRequest, by Waiter, now event.Time) (a Answer, err error) {
	if !slices.Contains(event.Queues, r.Queue) {
		return a, refuse("the store has no queue %.40q", r.Queue)
	}
	switch r.Operation {
	case event.DispatchAdd:
		return addWork(rows, r, by, now)
	case event.DispatchHandOver:
		return handOverWork(rows, r, by, now)
	case event.DispatchList:
		a.Output, err = listWork(rows, r, now)
		return a, err
	case event.DispatchShow, event.DispatchCancel, event.DispatchClose, event.DispatchReopen:
	default:
		return a, refuse("a queue has no operation %.40q", r.Operation)
	}
	w, err := findWork(rows, r.Queue, r.ID)
	if err != nil {
		return a, err
	}
	if r.Operation == event.DispatchShow {
		a.Output, err = w.object(rows, r.Queue, now)
		return a, err
	}
	if r.Operation == event.DispatchReopen {
		return reopenWork(rows, r.Queue, w, by, now)
	}
	cancels := r.Operation == event.DispatchCancel
	did := w.State == event.ClaimOpen
	if did {
		if err := endWork(rows, r.Queue, w, cancels, now); err != nil {
			return a, err
		}
		if err := closeClaim(rows, ItemKey(r.Queue, w.ID), now); err != nil {
			return a, err
		}
		if a.Posts, err = wakeLoops(rows, by); err != nil {
			return a, err
		}
	}
	name := "closed"
	if cancels {
		name = "cancelled"
	}
	a.Output = map[string]value.Value{"id": w.ID, name: did, "state": w.state()}
	return a, nil
}

// state is how the item itself stands, without its claim.
func (w *work) state() string {
	if w.Cancelled {
		return "cancelled"
	}
	return string(w.State)
}

func checkItem(i *event.Item) error {
	switch {
	case max(len(i.Labels), len(i.Needs), len(i.Capabilities)) > MaxItemWords:
		return refuse("the item has more than %d labels, needs or capabilities", MaxItemWords)
	case strings.TrimSpace(i.Title) == "" || strings.ContainsAny(i.Title, "\n\r\x00"):
		return refuse("the title of an item is one line that is not empty")
	case len(i.Title) > limits.MaxWorkTitle:
		return refuse("the title %.40q… has %d bytes; the limit is %d", i.Title, len(i.Title), limits.MaxWorkTitle)
	case len(i.ID) > MaxItemID || i.ID != "" && !workID().MatchString(i.ID):
		return refuse("%.80q cannot be the id of an item: it has 1 to %d letters, digits, dots, dashes, slashes, hashes and underscores", i.ID, MaxItemID)
	case i.Priority > limits.MaxPriority || i.Priority < -limits.MaxPriority:
		return refuse("the priority %d is not between -%d and %d", i.Priority, limits.MaxPriority, limits.MaxPriority)
	}
	return nil
}

// addWork adds an item to a queue, once for each id and key.
func addWork(rows Rows, r *event.DispatchRequest, by Waiter, now event.Time) (a Answer, err error) {
	if r.Item == nil {
		return a, refuse("an item to add is missing")
	}
	if err := checkItem(r.Item); err != nil {
		return a, err
	}
	if len(r.Key) > 8*limits.MaxKVKey {
		return a, refuse("the key of an item has %d bytes; the limit is %d", len(r.Key), 8*limits.MaxKVKey)
	}
	w := work{Item: *r.Item, Key: r.Key, By: cut(r.By, limits.MaxSyncName), State: event.ClaimOpen}
	w.Source, w.Closed, w.Version = string(r.Queue), false, ""
	var n workCount
	if err := loadRow(rows, workCountSpace, string(r.Queue), &n); err != nil {
		return a, err
	}
	before, err := workBefore(rows, r.Queue, &w)
	if err != nil {
		return a, err
	}
	if before != "" {
		return Answer{Output: map[string]value.Value{"id": before, "duplicate": true}}, nil
	}
	if n.Open >= MaxOpenWork {
		return a, refuse("the queue is full: it holds %d open items", n.Open)
	}
	if prefix := workIDs[r.Queue]; w.ID == "" {
		n.Last++
		w.ID = fmt.Sprint(prefix, n.Last)
	} else if strings.HasPrefix(w.ID, prefix) {
		return a, refuse("the id %q cannot be chosen: the store gives the ids that begin with %s", w.ID, prefix)
	}
	if w.CreatedAt == 0 {
		w.CreatedAt = now
	}
	body, err := json.Marshal(&w)
	if err != nil {
		return a, refuse("the item cannot be kept: %v", err)
	}
	if len(body) > limits.MaxHandoff {
		return a, refuse("the item has %d bytes as JSON; the limit is %d", len(body), limits.MaxHandoff)
	}
	n.Open++
	if err := saveRow(rows, workCountSpace, string(r.Queue), &n); err != nil {
		return a, err
	}
	if err := rows.Put(workSpace(r.Queue), w.ID, body); err != nil {
		return a, err
	}
	if err := rows.Put(workOpenSpace(r.Queue), w.order(), nil); err != nil {
		return a, err
	}
	if w.Key != "" {
		if err := saveRow(rows, workKeySpace(r.Queue), w.Key, w.ID); err != nil {
			return a, err
		}
	}
	if a.Output = map[string]value.Value{"id": w.ID, "duplicate": false}; w.Handoff != nil { // a hand-over is never added a second time
		a.Output = map[string]value.Value{"id": w.ID}
	}
	if r.Notice != nil && w.Handoff != nil {
		if err := oweHandoff(rows, r.Notice, &w, now); err != nil {
			return a, err
		}
	}
	a.Posts, err = wakeLoops(rows, by)
	return a, err
}

// handOverWork adds the work of a hand-over, and closes the item of who hands it over: both, or with an old token neither. A repetition gets the
// answer of the first.
func handOverWork(rows Rows, r *event.DispatchRequest, by Waiter, now event.Time) (a Answer, err error) {
	if r.Item == nil || r.Item.Handoff == nil {
		return a, refuse("the document of the hand-over is missing")
	}
	item := ItemKey(r.Queue, r.ID)
	add, document := *r, *r.Item.Handoff
	it := *r.Item
	if document.At == 0 {
		document.At = now
	}
	add.Item, it.Handoff = &it, &document
	add.Queue, add.Key = event.QueueDispatch, fmt.Sprintf("hand-over of %s with token %d", item, r.Token)
	var before string
	if err := loadRow(rows, workKeySpace(add.Queue), add.Key, &before); err != nil {
		return a, err
	}
	if before != "" {
		return Answer{Output: map[string]value.Value{"id": before, "duplicate": true}}, nil
	}
	var c claimRow
	if err := loadRow(rows, claimSpace, item, &c); err != nil {
		return a, err
	}
	if why := c.refusal(&event.ClaimRequest{Token: r.Token}); why != "" {
		return Answer{Output: map[string]value.Value{"id": nil, "why": why}}, nil
	}
	if a, err = addWork(rows, &add, by, now); err != nil {
		return a, err
	}
	c.State, c.Until, c.Parked = event.ClaimClosed, 0, 0
	if err := c.save(rows, now); err != nil {
		return a, err
	}
	return a, closeItem(rows, &c.Claim, now)
}

// oweHandoff begins the message about work that was handed over. The run owes it from now on.
func oweHandoff(rows Rows, r *event.NoticeRequest, w *work, now event.Time) error {
	n, from := *r, &r.Message
	n.Message = w.Handoff.Message(w.ID)
	n.Message.Workflow, n.Message.Run, n.Message.Node, n.Message.Key, n.Message.At = from.Workflow, from.Run, from.Node, from.Key, from.At
	return oweNotice(rows, &n, now)
}

// workBefore returns the id of the item that has the id or the key of w, or "".
func workBefore(rows Rows, q event.Queue, w *work) (id string, err error) {
	if w.ID != "" {
		if _, found, err := rows.Get(workSpace(q), w.ID); err != nil || found {
			return w.ID, err
		}
	}
	if w.Key != "" {
		err = loadRow(rows, workKeySpace(q), w.Key, &id)
	}
	return id, err
}

func findWork(rows Rows, q event.Queue, id string) (*work, error) {
	var w work
	if err := loadRow(rows, workSpace(q), id, &w); err != nil {
		return nil, err
	}
	if w.ID == "" {
		return nil, refuse("the queue has no item %.80q: it was never there, or it ended long ago", id)
	}
	return &w, nil
}

// endWork closes or cancels an open item.
func endWork(rows Rows, q event.Queue, w *work, cancels bool, now event.Time) error {
	var n workCount
	if err := loadRow(rows, workCountSpace, string(q), &n); err != nil {
		return err
	}
	if err := rows.Delete(workOpenSpace(q), w.order()); err != nil {
		return err
	}
	w.State, w.Cancelled, w.Ended = event.ClaimClosed, cancels, now
	n.Open, n.Ended = n.Open-1, n.Ended+1
	if n.Ended > MaxEndedWork {
		if err := dropEndedWork(rows, q); err != nil {
			return err
		}
		n.Ended--
	}
	if err := rows.Put(workEndedSpace(q), w.endedKey(), nil); err != nil {
		return err
	}
	if err := saveRow(rows, workSpace(q), w.ID, w); err != nil {
		return err
	}
	return saveRow(rows, workCountSpace, string(q), &n)
}

// reopenWork makes an item that was closed open again. One that was cancelled stays as it is.
func reopenWork(rows Rows, q event.Queue, w *work, by Waiter, now event.Time) (a Answer, err error) {
	did := w.State == event.ClaimClosed && !w.Cancelled
	if did {
		if err = openWork(rows, q, w); err != nil {
			return a, err
		}
		if err = openClaim(rows, ItemKey(q, w.ID), now); err != nil {
			return a, err
		}
		if a.Posts, err = wakeLoops(rows, by); err != nil {
			return a, err
		}
	}
	a.Output = map[string]value.Value{"id": w.ID, "reopened": did, "state": w.state()}
	return a, nil
}

// openWork moves a closed item to the open ones.
func openWork(rows Rows, q event.Queue, w *work) error {
	var n workCount
	if err := loadRow(rows, workCountSpace, string(q), &n); err != nil {
		return err
	}
	if n.Open >= MaxOpenWork {
		return refuse("the queue is full: it holds %d open items", n.Open)
	}
	if err := rows.Delete(workEndedSpace(q), w.endedKey()); err != nil {
		return err
	}
	w.State, w.Ended, w.Closed = event.ClaimOpen, 0, false
	n.Open, n.Ended = n.Open+1, n.Ended-1
	if err := rows.Put(workOpenSpace(q), w.order(), nil); err != nil {
		return err
	}
	if err := saveRow(rows, workSpace(q), w.ID, w); err != nil {
		return err
	}
	return saveRow(rows, workCountSpace, string(q), &n)
}

// dropEndedWork removes the item that ended first. Its key goes with it.
func dropEndedWork(rows Rows, q event.Queue) error {
	var first string
	err := rows.Scan(workEndedSpace(q), "", func(key string, _ []byte) bool {
		first = key
		return false
	})
	if err != nil || first == "" {
		return err
	}
	if err := rows.Delete(workEndedSpace(q), first); err != nil {
		return err
	}
	_, id, _ := strings.Cut(first, " ")
	var w work
	if err := loadRow(rows, workSpace(q), id, &w); err != nil {
		return err
	}
	if w.Key != "" {
		if err := rows.Delete(workKeySpace(q), w.Key); err != nil {
			return err
		}
	}
	return rows.Delete(workSpace(q), id)
}

// object is an item as answers have it: what event.ItemOf reads, and how it stands.
func (w *work) object(rows Rows, q event.Queue, now event.Time) (map[string]any, error) {
	var c event.Claim
	if err := loadRow(rows, claimSpace, ItemKey(q, w.ID), &c); err != nil {
		return nil, err
	}
	w.Closed = w.State == event.ClaimClosed
	o := w.Item.Object()
	o["state"], o["by"], o["claim"] = w.state(), w.By, nil
	if w.Ended != 0 {
		o["ended"] = w.Ended.String()
	}
	if c.Token != 0 {
		o["claim"] = c.Object()
		if w.State == event.ClaimOpen {
			o["state"] = string(claimStateAt(&c, now))
		}
	}
	return o, nil
}

// listWork lists the open items, the first to do first, and those closed ones that they need, as many as an answer holds. all adds those that
// have ended.
func listWork(rows Rows, r *event.DispatchRequest, now event.Time) (value.Value, error) {
	var ids []string
	collect := func(space string, skip int) error {
		return rows.Scan(space, "", func(key string, _ []byte) bool {
			ids = append(ids, strings.SplitN(key, " ", skip+1)[skip])
			return true
		})
	}
	err := collect(workOpenSpace(r.Queue), 2)
	if err == nil && r.All {
		err = collect(workEndedSpace(r.Queue), 1)
	}
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	items, size, left := []any{}, 0, 0
	for at := 0; at < len(ids) && err == nil; at++ {
		var w work
		if err = loadRow(rows, workSpace(r.Queue), ids[at], &w); err != nil || w.ID == "" { // a needed item that is not there
			continue
		}
		var o map[string]any
		if o, err = w.object(rows, r.Queue, now); err != nil {
			continue
		}
		if size += len(value.Append(nil, o)) + 1; size > MaxAnswer-1000 {
			left = len(ids) - at
			break
		}
		items = append(items, o)
		if w.State != event.ClaimOpen {
			continue
		}
		for _, need := range w.Needs {
			if !seen[need] {
				seen[need] = true
				ids = append(ids, need)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return map[string]value.Value{"items": items, "left": float64(left)}, nil
}
