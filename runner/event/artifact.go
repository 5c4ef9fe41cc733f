package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// Artifact is a reference to the long parts of an answer, which lie beside the journal. The content decides the hash, so a
// reference always gives the same parts.
type Artifact struct {
	Hash string `json:"hash"` // SHA-256 of the content, in hex
	Size int64  `json:"size"` // of the content, in bytes
	// From reads the content. The host sets From when it makes the reference, and whoever reads a journal sets it again.
	From Artifacts `json:"-" snapshot:"-"`
}

// Artifacts reads the artifacts of one run.
type Artifacts interface {
	// Load returns the parts that a reference stands for. The parts are shared: the caller must not change them.
	Load(a *Artifact) (*Parts, error)
}

// Parts are the parts of an answer that are too long for the journal. A part that is empty here stands in the answer itself.
type Parts struct {
	Stdout  string      `json:"stdout,omitempty"`
	Stderr  string      `json:"stderr,omitempty"`
	Output  value.Value `json:"output,omitempty"`
	Partial value.Value `json:"partial,omitempty"`
	// Reused are the parts of results of an earlier run, by the paths of their nodes.
	Reused map[string]*Parts `json:"reused,omitempty"`
}

// Encode returns the content of an artifact, and a reference to the content.
func (p *Parts) Encode() ([]byte, *Artifact, error) {
	var content bytes.Buffer
	e := json.NewEncoder(&content)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(content.Bytes())
	return content.Bytes(), &Artifact{Hash: hex.EncodeToString(sum[:]), Size: int64(content.Len())}, nil
}

// Check returns an error if a content is not the content that the reference stands for.
func (a *Artifact) Check(content []byte) error {
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != a.Hash {
		return fmt.Errorf("the artifact %.12s is damaged: it has %d bytes of another content", a.Hash, len(content))
	}
	return nil
}

// Decode returns the parts that a content holds. The content must be the one that the reference stands for.
func (a *Artifact) Decode(content []byte) (*Parts, error) {
	if err := a.Check(content); err != nil {
		return nil, err
	}
	p := &Parts{}
	if err := json.Unmarshal(content, p); err != nil {
		return nil, fmt.Errorf("the artifact %.12s: %w", a.Hash, err)
	}
	return p, nil
}

// TakeParts takes the parts that are longer than [limits.MaxInline] out of an answer. It returns nil if no part is.
func (f *AttemptFinished) TakeParts() *Parts {
	if !f.IsLong() {
		return nil
	}
	p := &Parts{}
	if len(f.Stdout) > limits.MaxInline {
		p.Stdout, f.Stdout = f.Stdout, ""
	}
	if len(f.Stderr) > limits.MaxInline {
		p.Stderr, f.Stderr = f.Stderr, ""
	}
	if isLong(f.Output) {
		p.Output, f.Output = f.Output, nil
	}
	if isLong(f.Partial) {
		p.Partial, f.Partial = f.Partial, nil
	}
	return p
}

// IsLong reports whether an answer has parts that TakeParts takes out.
func (f *AttemptFinished) IsLong() bool {
	return len(f.Stdout) > limits.MaxInline || len(f.Stderr) > limits.MaxInline || isLong(f.Output) || isLong(f.Partial)
}

// TakeParts takes the outputs out of the end of a called run if they are longer than [limits.MaxInline].
func (f *ChildFinished) TakeParts() (p *Parts) {
	if f.Outputs != nil && isLong(map[string]any(f.Outputs)) {
		p, f.Outputs = &Parts{Output: map[string]any(f.Outputs)}, nil
	}
	return p
}

// TakeParts takes the data out of a message that is an event if they are longer than [limits.MaxInline].
func (x *External) TakeParts() (p *Parts) {
	if x.Kind == ExternalEvent && isLong(x.Data) {
		p, x.Data = &Parts{Output: x.Data}, nil
	}
	return p
}

func (f *AttemptFinished) refer(a *Artifact) { f.Artifact = a }
func (f *ChildFinished) refer(a *Artifact)   { f.Artifact = a }
func (x *External) refer(a *Artifact)        { x.Artifact = a }

// Shorten replaces the long parts of an answer, of the end of a called run, or of a message by the reference that keep returns. If keep
// fails, all parts stay where they are.
func Shorten[T any, P interface {
	*T
	TakeParts() *Parts
	refer(*Artifact)
}](of P, keep func(*Parts) (*Artifact, error)) error {
	whole := *of
	p := of.TakeParts()
	if p == nil {
		return nil
	}
	a, err := keep(p)
	if err != nil {
		*of = whole
		return err
	}
	of.refer(a)
	return nil
}

// isLong reports whether a value has more than [limits.MaxInline] bytes as JSON.
func isLong(v value.Value) bool {
	switch v := v.(type) {
	case nil, bool, float64:
		return false
	case string:
		return len(v) > limits.MaxInline
	}
	if atMost(v, limits.MaxInline) >= 0 {
		return false
	}
	text, err := json.Marshal(v)
	return err == nil && len(text) > limits.MaxInline
}

// atMost subtracts from left the bytes that a value can have at most as JSON; the result is negative if it can have more.
func atMost(v value.Value, left int) int {
	switch v := v.(type) {
	case string:
		return left - 6*len(v) - 2 // each byte can be escaped
	case []any:
		for i := 0; i < len(v) && left >= 0; i++ {
			left = atMost(v[i], left) - 1
		}
		return left - 2
	case map[string]any:
		for k, e := range v { // any order: it adds up, and where it stops early the sum is negative in any order
			if left = atMost(e, left-6*len(k)-4); left < 0 {
				break
			}
		}
		return left - 2
	}
	return left - 32 // null, a truth value or a number
}

// Whole returns the answer with all its parts. An answer without a reference is returned as it is.
func (f *AttemptFinished) Whole() (*AttemptFinished, error) {
	if f.Artifact == nil {
		return f, nil
	}
	p, err := f.Artifact.load()
	if err != nil {
		return nil, fmt.Errorf("attempt %d of %s: %w", f.Attempt, f.Node, err)
	}
	w := *f
	w.Short = f
	if p.Stdout != "" {
		w.Stdout = p.Stdout
	}
	if p.Stderr != "" {
		w.Stderr = p.Stderr
	}
	if p.Output != nil {
		w.Output = p.Output
	}
	if p.Partial != nil {
		w.Partial = p.Partial
	}
	return &w, nil
}

// Whole returns the end of a called run with its outputs.
func (f *ChildFinished) Whole() (*ChildFinished, error) {
	if f.Artifact == nil {
		return f, nil
	}
	p, err := f.Artifact.load()
	if err != nil {
		return nil, fmt.Errorf("outputs of run %s for %s: %w", f.Run, f.Node, err)
	}
	w := *f
	w.Artifact = nil
	w.Outputs, _ = p.Output.(map[string]any)
	return &w, nil
}

// Whole returns the message with its data.
func (x *External) Whole() (*External, error) {
	if x.Artifact == nil {
		return x, nil
	}
	p, err := x.Artifact.load()
	if err != nil {
		return nil, fmt.Errorf("message %d: %w", x.Inbox, err)
	}
	w := *x
	w.Artifact, w.Data = nil, p.Output
	return &w, nil
}

// Long is a value that lies beside the journal. A [Result] has one in place of an output that is too long.
type Long interface {
	// Read reads the value. The caller must not change it.
	Read() (value.Value, error)
}

// Members is a Long that is a list or an object of values, of which some can be Long again.
type Members interface {
	Long
	Members() value.Value
}

// Whole returns the result with all its parts. A result without a reference is returned as it is.
func (r *Result) Whole() (*Result, error) {
	long, is := r.Output.(Long)
	if !is && r.Long == nil {
		return r, nil
	}
	w := *r
	if is {
		v, err := long.Read()
		if err != nil {
			return nil, err
		}
		w.Output = v
	}
	if r.Long != nil {
		f, err := r.Long.Whole()
		if err != nil {
			return nil, err
		}
		w.Stdout, w.Stderr, w.Long = f.Stdout, f.Stderr, nil
	}
	return &w, nil
}

// Shown is Whole for people: a part that cannot be read is replaced by the reason.
func (r *Result) Shown() *Result {
	w, err := r.Whole()
	if err != nil {
		short := *r
		short.Output, short.Long, short.Stderr = nil, nil, "[flowrun: "+err.Error()+"]\n"
		return &short
	}
	return w
}

// maxPack is the size of reused parts in bytes from which the next artifact begins.
const maxPack = 8 << 20

// TakeReused takes the parts that are longer than [limits.MaxInline] out of the results of the earlier run, into as many artifacts
// as needed. What a person has set stays.
func (s *RunStarted) TakeReused() (packs []*Parts) {
	size, short := maxPack, maps.Clone(s.Reused)
	for _, path := range slices.Sorted(maps.Keys(s.Reused)) {
		k := s.Reused[path]
		if k.Set {
			continue
		}
		f := AttemptFinished{Stdout: k.Stdout, Stderr: k.Stderr, Output: k.Output}
		p := f.TakeParts()
		if p == nil {
			continue
		}
		if size >= maxPack {
			packs, size = append(packs, &Parts{Reused: map[string]*Parts{}}), 0
		}
		size += len(p.Stdout) + len(p.Stderr)
		if p.Output != nil {
			text, _ := json.Marshal(p.Output) // it was marshalled before
			size += len(text)
		}
		packs[len(packs)-1].Reused[path] = p
		left := *k
		left.Stdout, left.Stderr, left.Output = f.Stdout, f.Stderr, f.Output
		short[path] = &left
	}
	if packs != nil {
		s.Reused = short
	}
	return packs
}

// Whole returns the event with all parts of what is reused, and without references. An event without references is returned as it is.
func (s *RunStarted) Whole() (*RunStarted, error) {
	if s.Results == nil {
		return s, nil
	}
	w := *s
	w.Reused, w.Results = maps.Clone(s.Reused), nil
	for _, a := range s.Results {
		pack, err := a.load()
		if err != nil {
			return nil, fmt.Errorf("reused results: %w", err)
		}
		for path, p := range pack.Reused { // any order: each fills its own
			if w.Reused[path] == nil {
				return nil, fmt.Errorf("reused results: the artifact %.12s has parts of %s, which is not reused", a.Hash, path)
			}
			k := *w.Reused[path]
			if p.Stdout != "" {
				k.Stdout = p.Stdout
			}
			if p.Stderr != "" {
				k.Stderr = p.Stderr
			}
			if p.Output != nil {
				k.Output = p.Output
			}
			w.Reused[path] = &k
		}
	}
	return &w, nil
}

// Shown is Whole for people: a part that cannot be read is replaced by the reason.
func (f *AttemptFinished) Shown() *AttemptFinished {
	w, err := f.Whole()
	if err != nil {
		w = new(AttemptFinished)
		*w = *f
		w.Stderr = "[flowrun: " + err.Error() + "]\n"
	}
	return w
}

func (a *Artifact) load() (*Parts, error) {
	if a.From == nil {
		return nil, fmt.Errorf("the artifact %.12s is in another store", a.Hash)
	}
	return a.From.Load(a)
}

// Whole returns the event with all parts.
func (e Event) Whole() (_ Event, err error) {
	switch {
	case e.AttemptFinished != nil:
		e.AttemptFinished, err = e.AttemptFinished.Whole()
	case e.RunStarted != nil:
		e.RunStarted, err = e.RunStarted.Whole()
	case e.ChildFinished != nil:
		e.ChildFinished, err = e.ChildFinished.Whole()
	case e.External != nil:
		e.External, err = e.External.Whole()
	}
	return e, err
}

// Artifacts lists the references of an event.
func (e *Event) Artifacts() []*Artifact {
	var one *Artifact
	switch {
	case e.AttemptFinished != nil:
		one = e.AttemptFinished.Artifact
	case e.ChildFinished != nil:
		one = e.ChildFinished.Artifact
	case e.External != nil:
		one = e.External.Artifact
	case e.RunStarted != nil:
		return e.RunStarted.Results
	}
	if one == nil {
		return nil
	}
	return []*Artifact{one}
}

// Bind says where the artifacts of an event lie.
func (e *Event) Bind(from Artifacts) {
	for _, a := range e.Artifacts() {
		a.From = from
	}
}
