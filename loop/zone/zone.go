// Package zone has the rules of the time zones of the world.
//
// The rules are data of the program: the tz database, release 2025c, in the form in which Go carries it (zoneinfo.zip). So a
// program means the same on each machine, also on one that has no zones of its own, and a decision that was made once can be
// made a second time from the same words. Who needs a later release of the database takes a later release of flowrun.
//
// Enter at Load. The package reads no file, no environment and no clock, and imports nothing of flowrun but the list of near names.
package zone

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Release is the release of the tz database in this package.
const Release = "2025c"

// data is lib/time/zoneinfo.zip of Go 1.26: a ZIP archive in which each zone is stored as it is, without compression.
//
//go:embed zoneinfo.zip
var data string

// Load returns the zone of a name like "Europe/Berlin", in exactly this spelling. The empty name is UTC.
// It reports whether there is such a zone; "Local" is none, because it differs from machine to machine.
func Load(name string) (*time.Location, bool) {
	if name == "" || name == "UTC" {
		return time.UTC, true
	}
	var found *time.Location
	each(func(entry string, rules string) bool {
		if entry != name {
			return true
		}
		found, _ = time.LoadLocationFromTZData(name, []byte(rules))
		return false
	})
	return found, found != nil
}

// Names returns the names of all zones, sorted.
func Names() []string {
	var names []string
	each(func(entry, _ string) bool {
		names = append(names, entry)
		return true
	})
	slices.Sort(names)
	return names
}

// Nearest returns the name of the zone that somebody may have meant: another spelling of a whole name, the zone of a city, or the
// nearest name. It is empty when no zone is near.
func Nearest(name string) string {
	names := Names()
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	city := strings.ReplaceAll(name, " ", "_")
	for _, n := range names {
		if strings.EqualFold(n[strings.LastIndexByte(n, '/')+1:], city) {
			return n
		}
	}
	return diag.Nearest(name, names)
}

// The fixed parts of a ZIP archive (PKWARE, APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16): the record at the end says where the
// directory begins, and each entry of the directory says where its file begins.
const (
	endSize       = 22
	entrySize     = 46
	localSize     = 30
	entryMagic    = 0x02014b50
	directoryAt   = 16
	sizeAt        = 24
	nameLengthAt  = 28
	extraLengthAt = 30
	commentAt     = 32
	localAt       = 42
	localNameAt   = 26
	localExtraAt  = 28
)

// each calls f with each zone's name and rules until f returns false.
func each(f func(name, rules string) bool) {
	at := long(len(data) - endSize + directoryAt)
	for long(at) == entryMagic {
		name := data[at+entrySize : at+entrySize+short(at+nameLengthAt)]
		begin := long(at + localAt)
		begin += localSize + short(begin+localNameAt) + short(begin+localExtraAt)
		if !strings.HasSuffix(name, "/") && !f(name, data[begin:begin+long(at+sizeAt)]) {
			return
		}
		at += entrySize + len(name) + short(at+extraLengthAt) + short(at+commentAt)
	}
}

func long(at int) int  { return int(binary.LittleEndian.Uint32([]byte(data[at : at+4]))) }
func short(at int) int { return int(binary.LittleEndian.Uint16([]byte(data[at : at+2]))) }
