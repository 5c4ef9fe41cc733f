package shared

import (
	"maps"
	"slices"
)

// Map is Rows in memory, for hosts that keep their state there, and for tests. The zero value is empty. It is not safe
// for concurrent use.
type Map struct{ spaces map[string]*space }

type space struct {
	keys []string // in order
	body map[string][]byte
}

// Get implements Rows.
func (m *Map) Get(name, key string) ([]byte, bool, error) {
	s := m.spaces[name]
	if s == nil {
		return nil, false, nil
	}
	body, found := s.body[key]
	return body, found, nil
}

// Put implements Rows.
func (m *Map) Put(name, key string, body []byte) error {
	s := m.spaces[name]
	if s == nil {
		if m.spaces == nil {
			m.spaces = map[string]*space{}
		}
		s = &space{body: map[string][]byte{}}
		m.spaces[name] = s
	}
	if _, found := s.body[key]; !found {
		at, _ := slices.BinarySearch(s.keys, key)
		s.keys = slices.Insert(s.keys, at, key)
	}
	s.body[key] = body
	return nil
}

// Delete implements Rows.
func (m *Map) Delete(name, key string) error {
	s := m.spaces[name]
	if s == nil {
		return nil
	}
	if at, found := slices.BinarySearch(s.keys, key); found {
		s.keys = slices.Delete(s.keys, at, at+1)
		delete(s.body, key)
	}
	if len(s.keys) == 0 {
		delete(m.spaces, name)
	}
	return nil
}

// Clear implements Rows.
func (m *Map) Clear(name string) error {
	delete(m.spaces, name)
	return nil
}

// Scan implements Rows.
func (m *Map) Scan(name, from string, each func(key string, body []byte) bool) error {
	s := m.spaces[name]
	if s == nil {
		return nil
	}
	at, _ := slices.BinarySearch(s.keys, from)
	for _, key := range s.keys[at:] {
		if !each(key, s.body[key]) {
			break
		}
	}
	return nil
}

// Spaces lists the names of the spaces that have rows, in order.
func (m *Map) Spaces() []string { return slices.Sorted(maps.Keys(m.spaces)) }
