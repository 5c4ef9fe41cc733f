package payload

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

func key(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

func open(t *testing.T, o Options) converter.PayloadCodec {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func some(n int) []*commonpb.Payload {
	return []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("binary/plain"), "a": []byte("1"), "b": []byte("2")}, Data: bytes.Repeat([]byte("secret "), n/7+1)}}
}

// Payloads come back as they were, equal ones are equal on the server, and neither the server nor the folder has their text.
func TestRoundTrip(t *testing.T) {
	folder := t.TempDir()
	for name, o := range map[string]Options{"plain": {}, "key": {Key: key(1)}, "folder": {Files: Folder(folder)}, "both": {Key: key(2), Files: Folder(folder)}} {
		for _, size := range []int{1, Inline * 3} {
			c, was := open(t, o), some(size)
			kept, err := c.Encode(was)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := c.Encode(some(size))
			if !proto.Equal(kept[0], again[0]) {
				t.Errorf("%s: equal payloads of %d bytes are not equal on the server", name, size)
			}
			if o.Key != nil && bytes.Contains(kept[0].GetData(), []byte("secret")) {
				t.Errorf("%s: the server has the text", name)
			}
			if o.Files != nil && len(kept[0].GetData()) > Inline {
				t.Errorf("%s: the server has %d bytes", name, len(kept[0].GetData()))
			}
			back, err := open(t, o).Decode(kept)
			if err != nil || !proto.Equal(back[0], was[0]) {
				t.Errorf("%s: %d bytes come back otherwise: %v", name, size, err)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(folder, Dir, "*", "*"))
	texts := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("secret")) {
			texts++
		}
	}
	if len(files) != 2 || texts != 1 {
		t.Errorf("the folder has %d files, %d of them with the text", len(files), texts)
	}
}

// A key that is wrong or missing, a changed payload, a missing folder and a damaged file are errors that say so.
func TestRefusals(t *testing.T) {
	folder := t.TempDir()
	small, err := open(t, Options{Key: key(1)}).Encode(some(1))
	if err != nil {
		t.Fatal(err)
	}
	large, err := open(t, Options{Files: Folder(folder)}).Encode(some(Inline * 3))
	if err != nil {
		t.Fatal(err)
	}
	changed := proto.Clone(small[0]).(*commonpb.Payload)
	changed.Data[20] ^= 1
	for name, x := range map[string]struct {
		o    Options
		p    *commonpb.Payload
		want string
		key  bool
	}{
		"no key":    {Options{}, small[0], "this process has no key: set FLOWRUN_PAYLOAD_KEY", true},
		"wrong key": {Options{Key: key(2)}, small[0], "and FLOWRUN_PAYLOAD_KEY has the key", true},
		"changed":   {Options{Key: key(1)}, changed, "was changed since it was encrypted", true},
		"no folder": {Options{}, large[0], "set FLOWRUN_ARTIFACTS", false},
		"missing":   {Options{Files: Folder(t.TempDir())}, large[0], "is missing in the folder", false},
	} {
		_, err := open(t, x.o).Decode([]*commonpb.Payload{x.p})
		if err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, ErrKey) != x.key {
			t.Errorf("%s: %v", name, err)
		}
		blocks := x.o
		blocks.Block = true
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a worker is not blocked", name)
				}
			}()
			_, _ = open(t, blocks).Decode([]*commonpb.Payload{x.p})
		}()
	}
	files, _ := filepath.Glob(filepath.Join(folder, Dir, "*", "*"))
	if err := os.WriteFile(files[0], []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, Options{Files: Folder(folder)}).Decode(large); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := open(t, Options{Files: Folder(folder)}).Encode(some(Inline * 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, Options{Files: Folder(folder)}).Decode(large); err != nil {
		t.Errorf("a damaged file is not written again: %v", err)
	}
	if _, err := open(t, Options{Key: key(1)}).Decode(some(1)); err != nil {
		t.Errorf("a payload from before the key: %v", err)
	}
}

// A reader writes nothing.
func TestReadOnly(t *testing.T) {
	folder := t.TempDir()
	if _, err := open(t, Options{Files: Folder(folder), ReadOnly: true}).Encode(some(Inline * 3)); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(folder); len(list) != 0 {
		t.Errorf("a reader wrote %v", list)
	}
}

func TestParseKey(t *testing.T) {
	b := make([]byte, KeySize)
	_, _ = rand.Read(b)
	if k, err := ParseKey(base64.StdEncoding.EncodeToString(b) + "\n"); err != nil || !bytes.Equal(k, b) {
		t.Error(err)
	}
	if _, err := ParseKey(strings.Repeat("0a", KeySize)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "short", strings.Repeat("0a", KeySize-1)} {
		if _, err := ParseKey(bad); err == nil || !strings.Contains(err.Error(), "openssl rand -base64 32") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
