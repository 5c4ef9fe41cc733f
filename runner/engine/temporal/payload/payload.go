// Package payload turns payloads into what a server keeps, and back: encrypted with a key that the server does not have, and as references to
// files of a folder that workers and readers share where they are large.
//
// Both are the same each time: equal payloads give equal bytes, because a workflow that is replayed makes its payloads again. So the nonce of
// a payload is derived from its content (as in RFC 8452's idea of a synthetic nonce), and the name of a file is the hash of its content. Who
// reads the server sees which payloads are equal, and how long they are.
//
// Enter at [New].
package payload

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// KeyEnv and FolderEnv are the variables of the environment that commands read. Messages name them.
const (
	KeyEnv    = "FLOWRUN_PAYLOAD_KEY"
	FolderEnv = "FLOWRUN_ARTIFACTS"
)

// Bounds of payloads, in bytes.
const (
	// Inline is the size from which on a payload lies in the folder, if there is one. A history of 50 MiB holds 3,000 payloads of this size.
	Inline = 16 << 10
	// Most bounds a payload in the folder.
	Most = 256 << 20
	// Dir is the folder of payloads in the shared folder.
	Dir = "payloads"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// The encodings of what a server keeps, and the entry of a payload that names the key.
const (
	encrypted = "binary/flowrun-aes-gcm-siv.v1"
	referred  = "binary/flowrun-file.v1"
	keyEntry  = "flowrun-key"
)

// ErrKey says that a payload cannot be read with the key that is there.
var ErrKey = errors.New("the payloads of this server cannot be read")

// Options say how payloads are kept. The zero value leaves them as they are.
type Options struct {
	// Key encrypts payloads; nil means that nothing is encrypted. Payloads of before that are not encrypted are read.
	Key []byte
	// Files keep large payloads; nil means that all lie on the server. With ReadOnly nothing is written to them.
	Files    Files
	ReadOnly bool
	// Block makes a payload that cannot be read a panic: a decision of a run is then tried again, by this worker once it is put right or by another one, where
	// an error would end the run.
	Block bool
}

// Files are where workers and readers share large payloads: [Folder] or a bucket. The name of a file says what it has, so that it never changes.
type Files interface {
	// Put returns once the file is durable.
	Put(name string, content []byte) error
	// Get returns a file that has at most so many bytes. The error wraps fs.ErrNotExist if there is none.
	Get(name string, most int64) ([]byte, error)
	String() string // names it in a message
}

// ParseKey reads a key: 32 bytes in base64 or in hex.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if key, err := decode(text); err == nil && len(key) == KeySize {
			return key, nil
		}
	}
	return nil, fmt.Errorf("%s is not a key: it must be %d bytes in base64 or hex, as openssl rand -base64 %[2]d prints them", KeyEnv, KeySize)
}

// codec is a [converter.PayloadCodec].
type codec struct {
	Options
	aead cipher.AEAD
	mac  []byte
	id   string // names the key, and does not tell it
}

// New returns a codec.
func New(o Options) (converter.PayloadCodec, error) {
	c := &codec{Options: o}
	if o.Key == nil {
		return c, nil
	}
	if len(o.Key) != KeySize {
		return nil, fmt.Errorf("a key has %d bytes, not %d", KeySize, len(o.Key))
	}
	block, err := aes.NewCipher(derive(o.Key, "encrypt"))
	if err == nil {
		c.aead, err = cipher.NewGCM(block)
	}
	c.mac, c.id = derive(o.Key, "nonce"), hex.EncodeToString(derive(o.Key, "name")[:4])
	return c, err
}

// Converter makes and reads payloads: as the SDK does, and then as the options say.
func Converter(o Options) (converter.DataConverter, error) {
	c, err := New(o)
	if err != nil {
		return nil, err
	}
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c), nil
}

// derive makes a key for one purpose.
func derive(key []byte, purpose string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte("flowrun payload " + purpose))
	return h.Sum(nil)
}

// Encode implements [converter.PayloadCodec].
func (c *codec) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		p, err := c.encrypt(p)
		if err == nil {
			p, err = c.refer(p)
		}
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec].
func (c *codec) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		p, err := c.fetch(p)
		if err == nil {
			p, err = c.decrypt(p)
		}
		if err != nil && c.Block {
			panic(err)
		}
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// bytesOf gives the bytes of a payload, the same each time.
func bytesOf(p *commonpb.Payload) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

func (c *codec) encrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	if c.aead == nil {
		return p, nil
	}
	b, err := bytesOf(p)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, c.mac)
	_, _ = h.Write(b)
	nonce := h.Sum(nil)[:c.aead.NonceSize()]
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encrypted), keyEntry: []byte(c.id)},
		Data: c.aead.Seal(nonce, nonce, b, []byte(c.id))}, nil
}

func (c *codec) decrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != encrypted {
		return p, nil
	}
	id := string(p.GetMetadata()[keyEntry])
	switch {
	case c.aead == nil:
		return nil, fmt.Errorf("%w: they are encrypted with the key %q, and this process has no key: set %s", ErrKey, id, KeyEnv)
	case id != c.id:
		return nil, fmt.Errorf("%w: they are encrypted with the key %q, and %s has the key %q", ErrKey, id, KeyEnv, c.id)
	case len(p.GetData()) < c.aead.NonceSize():
		return nil, fmt.Errorf("%w: a payload is too short", ErrKey)
	}
	n := c.aead.NonceSize()
	b, err := c.aead.Open(nil, p.GetData()[:n], p.GetData()[n:], []byte(id))
	if err != nil {
		return nil, fmt.Errorf("%w: a payload was changed since it was encrypted", ErrKey)
	}
	out := &commonpb.Payload{}
	return out, proto.Unmarshal(b, out)
}

// refer puts a large payload into a file.
func (c *codec) refer(p *commonpb.Payload) (*commonpb.Payload, error) {
	if c.Files == nil || len(p.GetData()) <= Inline {
		return p, nil
	}
	b, err := bytesOf(p)
	if err != nil {
		return nil, err
	}
	if len(b) > Most {
		return nil, fmt.Errorf("a payload has %d bytes; the limit is %d", len(b), Most)
	}
	sum := sha256.Sum256(b)
	if !c.ReadOnly {
		if err := c.Files.Put(nameOf(sum), b); err != nil {
			return nil, err
		}
	}
	return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(referred)}, Data: binary.BigEndian.AppendUint64(sum[:], uint64(len(b)))}, nil
}

// nameOf is the name of the file with a hash.
func nameOf(sum [sha256.Size]byte) string {
	name := hex.EncodeToString(sum[:])
	return Dir + "/" + name[:2] + "/" + name
}

// fetch reads a payload from its file.
func (c *codec) fetch(p *commonpb.Payload) (*commonpb.Payload, error) {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != referred {
		return p, nil
	}
	if len(p.GetData()) != sha256.Size+8 {
		return nil, errors.New("the reference to a payload is damaged")
	}
	sum := [sha256.Size]byte(p.GetData())
	size := binary.BigEndian.Uint64(p.GetData()[sha256.Size:])
	switch {
	case c.Files == nil:
		return nil, fmt.Errorf("a payload of %d bytes is in the folder or bucket that workers and readers share, and this process has none: set %s", size, FolderEnv)
	case size > Most:
		return nil, fmt.Errorf("a payload has %d bytes; the limit is %d", size, Most)
	}
	b, err := c.Files.Get(nameOf(sum), int64(size))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the payload %x is missing in %s", sum[:6], c.Files)
	}
	if err != nil {
		return nil, err
	}
	if have := sha256.Sum256(b); !bytes.Equal(have[:], sum[:]) {
		return nil, fmt.Errorf("the payload %x in %s is damaged", sum[:6], c.Files)
	}
	out := &commonpb.Payload{}
	return out, proto.Unmarshal(b, out)
}
