package shared

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// model is kv as the documentation says it: all keys in a map, and a look at all of them for each request.
type model map[string]entry

func (m model) apply(r *event.KVRequest, now event.Time) (value.Value, bool) {
	for key, e := range m { // any order: each for itself
		if e.isExpired(now) {
			delete(m, key)
		}
	}
	key := r.Namespace + "/" + r.Key
	have := m[key]
	expires := have.expires
	if r.TTL > 0 {
		expires = now.Add(r.TTL)
	} else if r.Operation != ir.KVIncr {
		expires = 0
	}
	switch r.Operation {
	case ir.KVGet:
		return have.value, true
	case ir.KVSet:
		m[key] = entry{true, expires, r.Value}
		return r.Value, true
	case ir.KVIncr:
		n, number := have.value.(float64)
		if have.found && !number {
			return nil, false
		}
		m[key] = entry{true, expires, n + r.By}
		return n + r.By, true
	case ir.KVCAS:
		if !value.Equal(have.value, r.Old) {
			return map[string]value.Value{"swapped": false, "value": have.value}, true
		}
		m[key] = entry{true, expires, r.Value}
		return map[string]value.Value{"swapped": true, "value": r.Value}, true
	case ir.KVDelete:
		delete(m, key)
		return have.found, true
	case ir.KVScan:
		found := map[string]value.Value{}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(k, key) && len(found) < r.Limit {
				found[strings.TrimPrefix(k, r.Namespace+"/")] = m[k].value
			}
		}
		return found, true
	}
	return nil, false
}

func randomRequest(rng *rand.Rand) *event.KVRequest {
	values := []value.Value{nil, 1.0, -2.0, "text", true, []any{1.0}, map[string]any{"a": nil}}
	r := &event.KVRequest{Operation: ir.KVOperations[rng.IntN(len(ir.KVOperations))], Namespace: []string{"default", "other"}[rng.IntN(2)],
		Key: []string{"a", "ab", "abc", "b", "é", " "}[rng.IntN(6)]}
	switch r.Operation {
	case ir.KVIncr:
		r.By = float64(rng.IntN(5) - 2)
	case ir.KVCAS:
		r.Old = values[rng.IntN(4)]
		fallthrough
	case ir.KVSet:
		r.Value = values[rng.IntN(len(values))]
	case ir.KVScan:
		r.Limit = 1 + rng.IntN(5)
		r.Key = r.Key[:rng.IntN(2)*len(r.Key)]
	case ir.KVGet, ir.KVDelete:
	}
	if rng.IntN(3) == 0 && !readsOnly(r.Operation) && r.Operation != ir.KVDelete {
		r.TTL = time.Duration(1 + rng.IntN(30))
	}
	return r
}

// rowsOf lists all rows, for comparing.
func rowsOf(m *Map) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(m.spaces)) {
		for _, key := range m.spaces[name].keys {
			list = append(list, fmt.Sprintf("%s\x00%s\x00%x", name, key, m.spaces[name].body[key]))
		}
	}
	return list
}

// TestKVAgainstModel carries out random requests at random moments, some of them again with the same idempotency key.
func TestKVAgainstModel(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows, naive, now := &Map{}, model{}, event.Time(1)
		last := map[string]event.AttemptFinished{}
		for i := range 300 {
			now = now.Add(time.Duration(rng.IntN(8)))
			r := randomRequest(rng)
			a := &event.Attempt{Run: "run", Key: fmt.Sprint(i), Kind: event.StoreAttempt, Store: &event.StoreRequest{KV: r}}
			f, _, err := AnswerAttempt(rows, a, now)
			if err != nil {
				t.Fatalf("seed %d, request %d: %v", seed, i, err)
			}
			want, possible := naive.apply(r, now)
			if (f.Outcome == event.OK) != possible || !value.Equal(f.Output, want) {
				t.Fatalf("seed %d, request %d at %d: %+v\ngives %s %v, want %v %v", seed, i, now, *r, f.Outcome, f.Output, possible, want)
			}
			if f.Outcome == event.OK && Changes(a.Store) {
				last[a.Key] = f
			}
			if rng.IntN(4) == 0 && len(last) > 0 { // a driver died before it journaled an answer
				keys := slices.Sorted(maps.Keys(last))
				a.Key = keys[rng.IntN(len(keys))]
				before := rowsOf(rows)
				again, _, err := AnswerAttempt(rows, &event.Attempt{Run: "run", Key: a.Key, Store: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr,
					Namespace: "default", Key: "a", By: 1}}}, now)
				if err != nil || !value.Equal(again.Output, last[a.Key].Output) || !slices.Equal(rowsOf(rows), before) {
					t.Fatalf("seed %d: the same key again gives %v (%v), want %v and no change", seed, again.Output, err, last[a.Key].Output)
				}
			}
		}
		if err := Forget(rows, "run", 1); err != nil {
			t.Fatal(err)
		}
		checkRows(t, seed, rows)
	}
}

// checkRows checks that the rows of kv agree with each other, and that nothing else is left.
func checkRows(t *testing.T, seed uint64, rows *Map) {
	t.Helper()
	for name, s := range rows.spaces {
		kind, namespace, _ := strings.Cut(name, " ")
		switch kind {
		case "kv":
			expiring := 0
			for _, key := range s.keys {
				e, err := decodeEntry(s.body[key])
				if err != nil {
					t.Fatal(err)
				}
				if e.expires != 0 {
					expiring++
					if _, found, _ := rows.Get(expirySpace(namespace), expiryKey(e.expires, key)); !found {
						t.Errorf("seed %d: key %q expires at %d and has no row that says so", seed, key, e.expires)
					}
				}
			}
			if x := rows.spaces[expirySpace(namespace)]; x != nil && len(x.keys) != expiring || x == nil && expiring > 0 {
				t.Errorf("seed %d: %d keys of %s expire, and the rows are %v", seed, expiring, namespace, x)
			}
			if count, _, _ := rows.Get(countSpace, namespace); string(count) != fmt.Sprintf("%d %d", len(s.keys), expiring) {
				t.Errorf("seed %d: %d keys of %s are counted as %s", seed, len(s.keys), namespace, count)
			}
		case "kv-expiry", "kv-count":
		default:
			t.Errorf("seed %d: rows of %q are left", seed, name)
		}
	}
}

// TestRowsAreDeterministic carries the same requests out twice.
func TestRowsAreDeterministic(t *testing.T) {
	var all [2][]string
	for i := range all {
		rng, rows := rand.New(rand.NewPCG(7, 7)), &Map{}
		for n := range 500 {
			if _, err := Apply(rows, &event.StoreRequest{KV: randomRequest(rng)}, Waiter{}, event.Time(1+n)); err != nil && !errors.As(err, new(*Refusal)) {
				t.Fatal(err)
			}
		}
		all[i] = rowsOf(rows)
	}
	if len(all[0]) == 0 || !slices.Equal(all[0], all[1]) {
		t.Errorf("the same requests make other rows:\n%q\n%q", all[0], all[1])
	}
}

// counted counts the rows that a reducer reads and writes.
type counted struct {
	*Map
	reads, writes int
}

func (c *counted) Get(name, key string) ([]byte, bool, error) {
	c.reads++
	return c.Map.Get(name, key)
}

func (c *counted) Put(name, key string, body []byte) error {
	c.writes++
	return c.Map.Put(name, key, body)
}

func (c *counted) Delete(name, key string) error {
	c.writes++
	return c.Map.Delete(name, key)
}

func (c *counted) Scan(name, from string, each func(string, []byte) bool) error {
	return c.Map.Scan(name, from, func(key string, body []byte) bool {
		c.reads++
		return each(key, body)
	})
}

// TestCostIsIndependentOfKeys compares the rows that a request touches among ten keys and among many.
func TestCostIsIndependentOfKeys(t *testing.T) {
	requests := map[string]event.KVRequest{
		"get": {Operation: ir.KVGet, Key: "k0004"}, "set": {Operation: ir.KVSet, Key: "k0004", Value: "x", TTL: time.Hour}, "new": {Operation: ir.KVSet, Key: "other", Value: "x"},
		"incr": {Operation: ir.KVIncr, Key: "k0006", By: 1}, "cas": {Operation: ir.KVCAS, Key: "k0002", Old: 2.0, Value: 8.0}, "delete": {Operation: ir.KVDelete, Key: "k0008"},
		"scan": {Operation: ir.KVScan, Key: "k0000", Limit: 1},
	}
	touched := map[string][2]int{}
	for _, keys := range []int{10, 1000} {
		rows := &Map{}
		for i := range keys { // half of them have expired
			r := &event.KVRequest{Operation: ir.KVSet, Namespace: "n", Key: fmt.Sprintf("k%04d", i), Value: float64(i), TTL: time.Duration(i%2) * 1000}
			if _, err := Apply(rows, &event.StoreRequest{KV: r}, Waiter{}, 1); err != nil {
				t.Fatal(err)
			}
		}
		for name, r := range requests { // each on the same rows
			c := &counted{Map: &Map{}}
			for _, row := range rowsOf(rows) {
				part := strings.SplitN(row, "\x00", 3)
				var body []byte
				fmt.Sscanf(part[2], "%x", &body)
				c.Map.Put(part[0], part[1], body)
			}
			r.Namespace = "n"
			if _, err := Apply(c, &event.StoreRequest{KV: &r}, Waiter{}, 5000); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if before, second := touched[name]; second && before != [2]int{c.reads, c.writes} {
				t.Errorf("%s reads and writes %v rows among 10 keys, %d and %d among %d", name, before, c.reads, c.writes, keys)
			}
			touched[name] = [2]int{c.reads, c.writes}
		}
	}
}

// TestRefusals has each request that is not possible. It changes nothing and is not recorded.
func TestRefusals(t *testing.T) {
	rows := &Map{}
	do := func(r event.KVRequest) (event.AttemptFinished, error) {
		if r.Namespace == "" {
			r.Namespace = DefaultNamespace
		}
		f, _, err := AnswerAttempt(rows, &event.Attempt{Run: "r", Key: "k", Store: &event.StoreRequest{KV: &r}}, 1)
		return f, err
	}
	if f, err := do(event.KVRequest{Operation: ir.KVSet, Key: "text", Value: "x"}); err != nil || f.Outcome != event.OK {
		t.Fatal(f, err)
	}
	if err := Forget(rows, "r", 1); err != nil {
		t.Fatal(err)
	}
	before := rowsOf(rows)
	long := strings.Repeat("x", limits.MaxKVKey)
	for want, r := range map[string]event.KVRequest{
		"a text that is not empty":       {Operation: ir.KVGet},
		"the limit is 256":               {Operation: ir.KVSet, Key: long + "x"},
		"not a text of UTF-8":            {Operation: ir.KVGet, Key: "a\x00b"},
		"the limit is 65536":             {Operation: ir.KVSet, Key: "a", Value: strings.Repeat("x", limits.MaxKVValue-1)},
		"is not between 0 and 3650 days": {Operation: ir.KVSet, Key: "a", TTL: MaxTTL + 1},
		"returns 1 to 10000 keys":        {Operation: ir.KVScan, Limit: limits.MaxKVScanned + 1},
		"cannot be a namespace":          {Operation: ir.KVGet, Key: "a", Namespace: "a/b"},
		"the value of \"text\" is \"x\"": {Operation: ir.KVIncr, Key: "text", By: 1},
		"beyond 2^53":                    {Operation: ir.KVIncr, Key: "n", By: value.MaxNumber * 2},
		"no operation":                   {Operation: "other", Key: "a"},
	} {
		f, err := do(r)
		if err != nil || f.Outcome != event.Failed || f.Error.Kind != event.Blocking || f.Error.Reason != event.ReasonStore || !strings.Contains(f.Error.Message, want) {
			t.Errorf("%+v gives %+v %v (%v), want %q", r.Operation, f, f.Error, err, want)
		}
		if !slices.Equal(rowsOf(rows), before) {
			t.Errorf("%q changes rows", want)
		}
	}
	for name, r := range map[string]event.KVRequest{
		"a key of 256 bytes":  {Operation: ir.KVSet, Key: long, Value: 1.0},
		"a value of 65536":    {Operation: ir.KVSet, Key: "a", Value: strings.Repeat("x", limits.MaxKVValue-2)},
		"a namespace of 64":   {Operation: ir.KVSet, Key: "a", Namespace: long[:limits.MaxNamespace]},
		"the longest ttl":     {Operation: ir.KVSet, Key: "b", TTL: MaxTTL},
		"the largest number":  {Operation: ir.KVIncr, Key: "m", By: value.MaxNumber},
		"the widest scan":     {Operation: ir.KVScan, Limit: limits.MaxKVScanned},
		"a prefix of nothing": {Operation: ir.KVScan},
	} {
		if f, err := do(r); err != nil || f.Outcome != event.OK {
			t.Errorf("%s: %+v (%v)", name, f.Error, err)
		}
		if err := Forget(rows, "r", 1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScanIsBoundedBySize has values that are together larger than an answer may be.
func TestScanIsBoundedBySize(t *testing.T) {
	rows := &Map{}
	for i := range 20 {
		if _, err := Apply(rows, kvSet(fmt.Sprint("k", i), strings.Repeat("x", 60_000), 0), Waiter{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	scan := &event.KVRequest{Operation: ir.KVScan, Namespace: DefaultNamespace, Key: "k"}
	if _, err := Apply(rows, &event.StoreRequest{KV: scan}, Waiter{}, 1); err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("the error is %v", err)
	}
	scan.Limit = 10
	if v, err := Apply(rows, &event.StoreRequest{KV: scan}, Waiter{}, 1); err != nil || len(v.Output.(map[string]any)) != 10 {
		t.Errorf("%d keys (%v)", len(v.Output.(map[string]any)), err)
	}
}

func kvSet(key string, v value.Value, ttl time.Duration) *event.StoreRequest {
	return &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: DefaultNamespace, Key: key, Value: v, TTL: ttl}}
}

// TestNamespaceIsBounded says that a namespace is nearly full, and fills it.
func TestNamespaceIsBounded(t *testing.T) {
	rows := &Map{}
	for _, key := range []string{"old", "short"} {
		if _, err := Apply(rows, kvSet(key, 1.0, time.Duration(len(key)-3)*10), Waiter{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	rows.Put(countSpace, DefaultNamespace, fmt.Appendf(nil, "%d 1", limits.MaxKVKeys))
	before := rowsOf(rows)
	if _, err := Apply(rows, kvSet("new", 1.0, 0), Waiter{}, 2); err == nil || !strings.Contains(err.Error(), "is full") || !slices.Equal(rowsOf(rows), before) {
		t.Errorf("a key beyond the limit: %v", err)
	}
	if _, err := Apply(rows, kvSet("old", 2.0, 0), Waiter{}, 2); err != nil {
		t.Errorf("a key that is there: %v", err)
	}
	if _, err := Apply(rows, kvSet("new", 1.0, 0), Waiter{}, 100); err != nil {
		t.Errorf("a key in place of an expired one: %v", err)
	}
	if count, _, _ := rows.Get(countSpace, DefaultNamespace); !bytes.Equal(count, fmt.Appendf(nil, "%d 0", limits.MaxKVKeys)) {
		t.Errorf("the keys are counted as %s", count)
	}
}

// TestExpiredKeysAreRemoved writes one key again and again while the others expire.
func TestExpiredKeysAreRemoved(t *testing.T) {
	rows := &Map{}
	for i := range 100 {
		if _, err := Apply(rows, kvSet(fmt.Sprint("k", i), 1.0, 10), Waiter{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 / sweptPerWrite {
		if _, err := Apply(rows, kvSet("other", 1.0, 0), Waiter{}, 100); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(rows.spaces[kvSpace(DefaultNamespace)].keys); n != 1 {
		t.Errorf("%d keys are left, want 1", n)
	}
}

// broken fails at the n-th write.
type broken struct {
	*Map
	left int
}

var errBroken = errors.New("the disk is gone")

func (b *broken) Put(name, key string, body []byte) error {
	if b.left--; b.left < 0 {
		return errBroken
	}
	return b.Map.Put(name, key, body)
}

// TestErrorsOfRowsAreReturned breaks each write.
func TestErrorsOfRowsAreReturned(t *testing.T) {
	for n := range 4 { // the value, its expiry, the count, the answer
		_, _, err := AnswerAttempt(&broken{&Map{}, n}, &event.Attempt{Run: "r", Key: "k", Store: kvSet("a", 1.0, time.Hour)}, 1)
		if !errors.Is(err, errBroken) {
			t.Errorf("with %d writes the error is %v", n, err)
		}
	}
	if _, _, err := AnswerAttempt(&broken{&Map{}, 4}, &event.Attempt{Run: "r", Key: "k", Store: kvSet("a", 1.0, time.Hour)}, 1); err != nil {
		t.Errorf("with all writes the error is %v", err)
	}
}

// TestScanReadsFewExpiredKeys scans among many expired keys: one scan goes past a bounded number of them, and after some sweeps the
// scan finds what is left.
func TestScanReadsFewExpiredKeys(t *testing.T) {
	c := &counted{Map: &Map{}}
	for i := range 2*MaxExpired + 10 {
		if _, err := Apply(c, kvSet(fmt.Sprintf("k%06d", i), 1.0, 10), Waiter{}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Apply(c, kvSet("last", 2.0, 0), Waiter{}, 1); err != nil {
		t.Fatal(err)
	}
	scan := &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVScan, Namespace: DefaultNamespace}}
	sweeps := 0
	for {
		c.reads, c.writes = 0, 0
		got, err := Apply(c, scan, Waiter{}, 100)
		if c.reads > MaxExpired+DefaultScanned+1 || c.writes > 0 {
			t.Fatalf("a scan reads %d rows and writes %d", c.reads, c.writes)
		}
		crowd := (*Crowd)(nil)
		if !errors.As(err, &crowd) {
			if err != nil || !value.Equal(got.Output, map[string]value.Value{"last": 2.0}) {
				t.Errorf("the scan gives %v, %v", got.Output, err)
			}
			break
		}
		c.reads, c.writes = 0, 0
		if err := crowd.Sweep(c); err != nil {
			t.Fatal(err)
		}
		if sweeps++; c.reads > MaxExpired+2 || c.writes > 2*MaxExpired+1 || sweeps > 3 {
			t.Fatalf("sweep %d reads %d rows and writes %d", sweeps, c.reads, c.writes)
		}
	}
	if sweeps == 0 {
		t.Error("the scan went past all expired keys")
	}
	checkRows(t, 0, c.Map)
}

// The answers of the instances of a for_each lie in the order of the instances, although their idempotency keys have no order: so the
// answers of one transaction are in few pages of a database.
func TestAnswersLieInTheOrderOfPaths(t *testing.T) {
	rows := &Map{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		a := &event.Attempt{Run: "r", Key: fmt.Sprintf("%016x", r.Uint64()), Node: fmt.Sprintf("s[%03d]", i),
			Store: &event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "n", Key: "k", By: 1}}}
		for range 2 { // the same key again
			if f, _, err := AnswerAttempt(rows, a, 1); err != nil || f.Output != float64(i+1) {
				t.Fatal(f, err)
			}
		}
		for _, p := range AppendBegins([]Place{AnswerPlace(a)}, a) {
			if _, found, _ := rows.Get(p.Space, p.Key); !found {
				t.Fatalf("%+v is read first, and is not a row", p)
			}
		}
	}
	at := 0
	err := rows.Scan(answers("r"), "", func(_ string, body []byte) bool {
		at++
		if string(body) != fmt.Sprint(at) {
			t.Errorf("answer %d is %s", at, body)
		}
		return true
	})
	if at != 100 || err != nil {
		t.Error(at, err)
	}
}

// An expired key counts no more, and a namespace without keys is not listed.
func TestNamespacesAreCounted(t *testing.T) {
	rows := new(Map)
	for _, key := range []string{"a", "b"} {
		must(t, rows, kvSet(key, 1.0, 0), 1)
	}
	must(t, rows, kvSet("c", 1.0, time.Second), 1)
	gone := kvSet("c", 1.0, time.Second)
	gone.KV.Namespace = "gone"
	must(t, rows, gone, 1)
	list := func(now event.Time) string {
		return string(value.Append(nil, must(t, rows, &event.StoreRequest{Namespaces: true}, now)))
	}
	if got, want := list(2), `{"default":3,"gone":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := list(event.Time(1).Add(time.Second)), `{"default":2}`; got != want {
		t.Errorf("after the expiry: got %s, want %s", got, want)
	}
}
