package cache

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/flowrun/flowrun/memory/private"
)

// Notes are small facts that go with the vectors, each in a file of its own beside theirs: name is a word.

// maxNote is as much of a note as is read, in bytes.
const maxNote = 1 << 20

// Note reads a note. It is absent, too, where it was damaged, or belongs to another model.
func (c *Cache) Note(name string) (text []byte, found bool) {
	b, err := private.ReadFile(c.path+"."+name, maxNote)
	if err != nil || len(b) < sumSize {
		return nil, false
	}
	text, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	return text, c.noteSum(text) == binary.LittleEndian.Uint32(sum)
}

// SetNote writes a note, whole or not at all; none beside a file that cannot be written to.
func (c *Cache) SetNote(name string, text []byte) error {
	if c.sealed {
		return nil
	}
	path := c.path + "." + name
	b := binary.LittleEndian.AppendUint32(append([]byte(nil), text...), c.noteSum(text))
	f, err := private.Open(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return os.Rename(path+".new", path)
}

// noteSum has the model in it.
func (c *Cache) noteSum(text []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(c.model), castagnoli()), castagnoli(), text)
}
