package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/flowrun/flowrun/runner/event"
)

// Bucket is where processes of several machines share artifacts without a shared folder: see package bucket.
type Bucket interface {
	Put(name string, content []byte) error
	Get(name string, most int64) ([]byte, error)
	String() string // names it in a message
}

// In is the artifacts of one run in a bucket.
type In struct {
	Bucket Bucket
	Run    string
}

var _ event.Artifacts = In{}

// Put keeps parts, and returns a reference once they are durable; see event.Shorten.
func (r In) Put(p *event.Parts) (*event.Artifact, error) {
	content, a, err := p.Encode()
	if err == nil && len(content) > MaxContent {
		err = fmt.Errorf("an artifact of %d bytes is too large", len(content))
	}
	if err != nil {
		return nil, err
	}
	a.From = r
	return a, r.Bucket.Put(r.name(a), content)
}

// Load implements event.Artifacts.
func (r In) Load(a *event.Artifact) (*event.Parts, error) {
	if !isHash(a.Hash) {
		return nil, fmt.Errorf("%.80q is not the hash of an artifact", a.Hash)
	}
	content, err := r.Bucket.Get(r.name(a), min(int64(a.Size), MaxContent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the artifact %.12s is missing in %s", a.Hash, r.Bucket)
	}
	if err != nil {
		return nil, err
	}
	return a.Decode(content)
}

func (r In) name(a *event.Artifact) string { return path.Join(Dir, r.Run, a.Hash) }
