// Package reference is what flowrun knows about its own language, for people and programs: a page for every code of a
// diagnostic, and the tables of blocks, attributes, places, functions and limits.
//
// The tables are made from the ones that the checker reads (dsl/schema, dsl/check, dsl/expr), so they cannot say anything
// else; the pages are files, embedded, whose examples are run and whose output is printed by a test. The package never
// imports the runner or the command line, and reads nothing from the disk.
//
// After a change of the language, go generate ./dsl/reference writes anew what can be written by a program, and
// go test ./dsl/reference says what a person must add. What holds always: every code has a page, and every page a code.
// Enter at [Codes], [PageOf], [About] and [Language].
package reference

import (
	"embed"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
)

//go:generate go test ../../cmd/flowrun/internal/ui -run TestPages -rewrite
//go:generate go test . -rewrite
//go:generate go test ../../cmd/flowrun/internal/app -run TestCommandPages -rewrite

//go:embed codes examples howto topics words
var files embed.FS

// titles are the codes of all packages, each with its meaning in a line.
var titles = func() map[string]string {
	all := maps.Clone(schema.Codes)
	maps.Copy(all, expr.Codes)
	return all
}()

// Codes are the codes of all diagnostics, in order.
func Codes() []string { return slices.Sorted(maps.Keys(titles)) }

// Title is the meaning of a code in a sentence, or "" for a code that is not known.
func Title(code string) string { return titles[code] }

// URL is where the page of a code can be read.
func URL(code string) string {
	return "https://github.com/flowrun/flowrun/blob/main/dsl/reference/codes/" + code + ".md"
}
