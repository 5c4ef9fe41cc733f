package shared

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// A key of kv has one row: its expiry in eight bytes, then the value as canonical JSON. A key that expires has a
// second row, in the order of the moments, so that writers find the expired keys without looking at the others. The
// numbers of keys of a namespace have a row.

// sweptPerWrite is how many expired keys each write removes. A write adds one key at most, so the expired keys do not
// accumulate while somebody writes.
const sweptPerWrite = 4

func kvSpace(namespace string) string {
	if namespace == DefaultNamespace {
		return "kv " + DefaultNamespace // takes no memory
	}
	return "kv " + namespace
}

func expirySpace(namespace string) string { return "kv-expiry " + namespace }

// countSpace holds the totals of each namespace, as two decimals.
const countSpace = "kv-count"

func expiryKey(at event.Time, key string) string { return fmt.Sprintf("%016x %s", int64(at), key) }

// CheckNamespace returns an error for a text that cannot be the name of a namespace.
func CheckNamespace(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if name == "" || len(name) > limits.MaxNamespace || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return refuse("%.80q cannot be a namespace: it has 1 to %d letters, digits, dots, dashes and underscores", name, limits.MaxNamespace)
	}
	return nil
}

func readsOnly(o ir.KVOperation) bool { return o == ir.KVGet || o == ir.KVScan }

// kv is one request at work.
type kv struct {
	*event.KVRequest
	rows Rows
	now  event.Time
}

// entry is the value of a key. The zero entry is a key without one.
type entry struct {
	found   bool
	expires event.Time // 0: never
	value   value.Value
}

func applyKV(rows Rows, r *event.KVRequest, now event.Time) (value.Value, error) {
	k := &kv{r, rows, now}
	if err := k.checkRequest(); err != nil {
		return nil, err
	}
	if k.Operation == ir.KVScan {
		return k.scan()
	}
	have, stale, err := k.read()
	if err != nil {
		return nil, err
	}
	switch k.Operation {
	case ir.KVGet:
		return have.value, nil
	case ir.KVSet:
		return k.Value, k.write(have, stale, k.Value, k.expiry())
	case ir.KVIncr:
		sum, err := k.add(have)
		if err != nil {
			return nil, err
		}
		expires := have.expires
		if k.TTL > 0 {
			expires = k.expiry()
		}
		return sum, k.write(have, stale, sum, expires)
	case ir.KVCAS:
		if !value.Equal(have.value, k.Old) {
			return map[string]value.Value{"swapped": false, "value": have.value}, nil
		}
		return map[string]value.Value{"swapped": true, "value": k.Value}, k.write(have, stale, k.Value, k.expiry())
	case ir.KVDelete:
		return have.found, k.remove(have, stale)
	case ir.KVScan:
	}
	return nil, refuse("kv has no operation %.40q", k.Operation)
}

func (k *kv) checkRequest() error {
	if err := CheckNamespace(k.Namespace); err != nil {
		return err
	}
	switch {
	case k.Key == "" && k.Operation != ir.KVScan:
		return refuse("a key is a text that is not empty")
	case len(k.Key) > limits.MaxKVKey:
		return refuse("the key %.40q… has %d bytes; the limit is %d", k.Key, len(k.Key), limits.MaxKVKey)
	case !utf8.ValidString(k.Key) || strings.ContainsRune(k.Key, 0):
		return refuse("the key %.80q is not a text of UTF-8 without null characters", k.Key)
	case k.TTL < 0 || k.TTL > MaxTTL:
		return refuse("a ttl of %s is not between 0 and %d days", k.TTL, MaxTTL/(24*time.Hour))
	case k.Limit < 0 || k.Limit > limits.MaxKVScanned:
		return refuse("limit is %d; a scan returns 1 to %d keys", k.Limit, limits.MaxKVScanned)
	}
	if size := len(value.Append(nil, k.Value)); size > limits.MaxKVValue {
		return refuse("the value of %q has %d bytes as JSON; the limit is %d", k.Key, size, limits.MaxKVValue)
	}
	return nil
}

func (k *kv) expiry() event.Time {
	if k.TTL == 0 {
		return 0
	}
	return k.now.Add(k.TTL)
}

// read returns the value of the key, and the expiry of a row that must go because it has expired; 0 if there is none.
func (k *kv) read() (have entry, stale event.Time, err error) {
	body, found, err := k.rows.Get(kvSpace(k.Namespace), k.Key)
	if err != nil || !found {
		return entry{}, 0, err
	}
	if have, err = decodeEntry(body); err != nil {
		return entry{}, 0, k.damaged(k.Key, err)
	}
	if have.isExpired(k.now) {
		return entry{}, have.expires, nil
	}
	return have, 0, nil
}

func (k *kv) damaged(key string, err error) error {
	return refuse("the value of %q in namespace %q is damaged: %v", key, k.Namespace, err)
}

func (e *entry) isExpired(now event.Time) bool { return e.expires != 0 && now >= e.expires }

func decodeEntry(body []byte) (e entry, err error) {
	if len(body) < 8 {
		return e, fmt.Errorf("a row of %d bytes", len(body))
	}
	e.found, e.expires = true, event.Time(binary.BigEndian.Uint64(body))
	e.value, err = value.Decode(body[8:])
	return e, err
}

func (k *kv) add(have entry) (value.Value, error) {
	before, ok := 0.0, true
	if have.found {
		before, ok = have.value.(float64)
	}
	if !ok {
		return nil, refuse("incr adds to a number, and the value of %q is %.60s", k.Key, value.Append(nil, have.value))
	}
	sum, err := value.Number(before + k.By)
	if err != nil {
		return nil, refuse("%q cannot become %s: %v", k.Key, strconv.FormatFloat(before+k.By, 'g', -1, 64), err)
	}
	return sum, nil
}

// totals is the row of a namespace: how many keys it has, expired ones included, and how many of them expire. While none
// does, writers need not look for expired keys.
type totals struct{ keys, expiring int }

func (k *kv) totals() (t totals, err error) {
	body, found, err := k.rows.Get(countSpace, k.Namespace)
	if err == nil && found {
		keys, expiring, _ := strings.Cut(string(body), " ")
		var wrong, alsoWrong error
		t.keys, wrong = strconv.Atoi(keys)
		t.expiring, alsoWrong = strconv.Atoi(expiring)
		if err := cmp.Or(wrong, alsoWrong); err != nil {
			return totals{}, refuse("the number of keys of namespace %q is damaged: %v", k.Namespace, err)
		}
	}
	return t, err
}

func (k *kv) saveTotals(before, after totals) error {
	if before == after {
		return nil
	}
	body := append(strconv.AppendInt(nil, int64(after.keys), 10), ' ')
	return k.rows.Put(countSpace, k.Namespace, strconv.AppendInt(body, int64(after.expiring), 10))
}

// write stores the value of the key, after have or an expired row.
func (k *kv) write(have entry, stale event.Time, v value.Value, expires event.Time) error {
	before, err := k.totals()
	if err != nil {
		return err
	}
	if full := before.keys >= limits.MaxKVKeys && !have.found && stale == 0; full { // an expired key makes room: sweep removes it
		if expired, err := k.listExpired(before, 1); err != nil || len(expired) == 0 {
			return cmp.Or(err, refuse("namespace %q is full: it holds %d keys", k.Namespace, limits.MaxKVKeys))
		}
	}
	after := before
	if err := k.moveExpiry(max(have.expires, stale), expires, &after); err != nil {
		return err
	}
	if !have.found && stale == 0 {
		after.keys++
	}
	body := value.Append(binary.BigEndian.AppendUint64(nil, uint64(expires)), v)
	if err := k.rows.Put(kvSpace(k.Namespace), k.Key, body); err != nil {
		return err
	}
	return k.sweep(before, after)
}

// moveExpiry changes when the key expires; 0 means never.
func (k *kv) moveExpiry(from, to event.Time, t *totals) (err error) {
	if from == to {
		return nil
	}
	if from != 0 {
		t.expiring--
		err = k.rows.Delete(expirySpace(k.Namespace), expiryKey(from, k.Key))
	}
	if to != 0 && err == nil {
		t.expiring++
		err = k.rows.Put(expirySpace(k.Namespace), expiryKey(to, k.Key), nil)
	}
	return err
}

// remove removes the row of the key.
func (k *kv) remove(have entry, stale event.Time) error {
	before, err := k.totals()
	if err != nil {
		return err
	}
	after := before
	if have.found || stale != 0 {
		if err := k.drop(k.Key, max(have.expires, stale), &after); err != nil {
			return err
		}
	}
	return k.sweep(before, after)
}

// drop removes the rows of a key.
func (k *kv) drop(key string, expires event.Time, t *totals) error {
	t.keys--
	err := k.rows.Delete(kvSpace(k.Namespace), key)
	if err == nil && expires != 0 {
		t.expiring--
		err = k.rows.Delete(expirySpace(k.Namespace), expiryKey(expires, key))
	}
	return err
}

// expiredKey is a key that has expired and still has its rows.
type expiredKey struct {
	key     string
	expires event.Time
}

// listExpired returns the first expired keys of the namespace, up to most of them.
func (k *kv) listExpired(t totals, most int) (list []expiredKey, err error) {
	if t.expiring == 0 {
		return nil, nil
	}
	end := expiryKey(k.now+1, "")
	err = k.rows.Scan(expirySpace(k.Namespace), "", func(at string, _ []byte) bool {
		if at >= end || len(list) == most {
			return false
		}
		moment, key, _ := strings.Cut(at, " ")
		n, _ := strconv.ParseInt(moment, 16, 64) // expiryKey wrote it
		list = append(list, expiredKey{key, event.Time(n)})
		return true
	})
	return list, err
}

// Sweep removes the expired keys that expired first, [MaxExpired] at most.
func (c *Crowd) Sweep(rows Rows) error {
	k := &kv{KVRequest: &event.KVRequest{Namespace: c.Namespace}, rows: rows, now: c.At}
	t, err := k.totals()
	if err != nil {
		return err
	}
	return k.removeExpired(t, t, MaxExpired)
}

// sweep removes some expired keys after a write, and writes the new totals.
func (k *kv) sweep(before, after totals) error { return k.removeExpired(before, after, sweptPerWrite) }

// removeExpired removes expired keys, up to most of them, and writes the new totals.
func (k *kv) removeExpired(before, after totals, most int) error {
	expired, err := k.listExpired(after, most)
	for _, r := range expired {
		if err == nil {
			err = k.drop(r.key, r.expires, &after)
		}
	}
	if err != nil {
		return err
	}
	return k.saveTotals(before, after)
}

// scan returns the values of the keys with a prefix, in the order of the keys.
func (k *kv) scan() (value.Value, error) {
	limit := k.Limit
	if limit == 0 {
		limit = DefaultScanned
	}
	found, size, expired := map[string]value.Value{}, 0, 0
	var wrong error
	err := k.rows.Scan(kvSpace(k.Namespace), k.Key, func(key string, body []byte) bool {
		if !strings.HasPrefix(key, k.Key) || len(found) == limit {
			return false
		}
		e, err := decodeEntry(body)
		if err != nil {
			wrong = k.damaged(key, err)
			return false
		}
		if e.isExpired(k.now) {
			expired++
		} else {
			found[key] = e.value
			size += len(key) + len(body)
		}
		switch {
		case expired > MaxExpired:
			wrong = &Crowd{k.Namespace, k.now}
		case size > MaxAnswer:
			wrong = refuse("the keys with the prefix %q and their values are larger than %d bytes; a smaller limit, or a longer prefix, returns fewer", k.Key, MaxAnswer)
		}
		return wrong == nil
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// listNamespaces lists the namespaces that have keys, with the number of keys that have not expired.
func listNamespaces(rows Rows, now event.Time) (value.Value, error) {
	var names []string
	err := rows.Scan(countSpace, "", func(name string, _ []byte) bool {
		names = append(names, name)
		return true
	})
	list := map[string]value.Value{}
	for _, name := range names {
		k := &kv{KVRequest: &event.KVRequest{Namespace: name}, rows: rows, now: now}
		var t totals
		var expired []expiredKey
		if err == nil {
			t, err = k.totals()
		}
		if err == nil {
			expired, err = k.listExpired(t, t.expiring)
		}
		if keys := t.keys - len(expired); keys > 0 {
			list[name] = float64(keys)
		}
	}
	return list, err
}

// DefaultNamespace is the namespace of requests that name none.
const DefaultNamespace = "default"

// KeptKV returns the values of all namespaces that do not expire, by NAMESPACE/KEY.
func KeptKV(m *Map) (map[string]value.Value, error) {
	kept := map[string]value.Value{}
	for name, s := range m.spaces { // any order: it fills a map
		namespace, is := strings.CutPrefix(name, kvSpace(""))
		if !is {
			continue
		}
		for key, body := range s.body { // any order: it fills a map
			e, err := decodeEntry(body)
			if err != nil {
				return kept, fmt.Errorf("the value of %q in namespace %q is damaged: %w", key, namespace, err)
			}
			if e.expires == 0 {
				kept[namespace+"/"+key] = e.value
			}
		}
	}
	return kept, nil
}
