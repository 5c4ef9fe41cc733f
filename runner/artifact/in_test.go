package artifact_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/event"
)

// objects is a bucket.
type objects map[string][]byte

func (o objects) Put(name string, content []byte) error {
	o[name] = content
	return nil
}

func (o objects) Get(name string, most int64) ([]byte, error) {
	if b, there := o[name]; there {
		return b[:min(int64(len(b)), most)], nil
	}
	return nil, fs.ErrNotExist
}

func (o objects) String() string { return "the bucket s3://test" }

func TestArtifactsInABucket(t *testing.T) {
	o := objects{}
	r := artifact.In{Bucket: o, Run: "abc"}
	a, err := r.Put(&event.Parts{Stdout: strings.Repeat("long ", 2000)})
	if err != nil || len(o) != 1 || o["artifacts/abc/"+a.Hash] == nil {
		t.Fatalf("%d objects: %v", len(o), err)
	}
	if p, err := r.Load(a); err != nil || len(p.Stdout) != 10_000 {
		t.Errorf("the parts come back otherwise: %v", err)
	}
	o["artifacts/abc/"+a.Hash] = []byte("other")
	if _, err := r.Load(a); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("another content: %v", err)
	}
	delete(o, "artifacts/abc/"+a.Hash)
	if _, err := r.Load(a); err == nil || !strings.Contains(err.Error(), "is missing in the bucket s3://test") {
		t.Errorf("no content: %v", err)
	}
	if _, err := r.Load(&event.Artifact{Hash: "../../secret", Size: 1}); err == nil || !strings.Contains(err.Error(), "is not the hash") {
		t.Errorf("a journal names a file of its own: %v", err)
	}
}
