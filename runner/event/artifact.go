package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// Artifact is a reference to the long parts of an answer, which lie beside the journal. The content decides the hash, so a
// reference always gives the same parts.
type Artifact struct {
	Hash string `json:"hash"` // SHA-256 of the content, in hex
	Size int64  `json:"size"` // of the content, in bytes
	// From reads the content. The host sets From when it makes the reference, and whoever reads a journal sets it again.
	From Artifacts `json:"-"`
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
	p := Parts{}
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
	if p == (Parts{}) {
		return nil
	}
	return &p
}

// isLong reports whether a value has more than [limits.MaxInline] bytes as JSON.
func isLong(v value.Value) bool {
	switch v := v.(type) {
	case nil, bool, float64:
		return false
	case string:
		return len(v) > limits.MaxInline
	}
	text, err := json.Marshal(v)
	return err == nil && len(text) > limits.MaxInline
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
		return nil, fmt.Errorf("the artifact %.12s lies in another store", a.Hash)
	}
	return a.From.Load(a)
}

// Whole returns the event with all parts of an answer.
func (e Event) Whole() (Event, error) {
	if f := e.AttemptFinished; f != nil && f.Artifact != nil {
		w, err := f.Whole()
		e.AttemptFinished = w
		return e, err
	}
	return e, nil
}

// Bind says where the artifacts of an event lie.
func (e *Event) Bind(from Artifacts) {
	if f := e.AttemptFinished; f != nil && f.Artifact != nil {
		f.Artifact.From = from
	}
}
