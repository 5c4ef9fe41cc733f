package importer

import (
	"maps"
	"path"
	"slices"
	"strings"
)

func sorted(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// baseName is the name of a file without its folder and its end.
func baseName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return name
}

// lines is an object with a line for each member.
func lines(members []attr) string {
	if len(members) == 1 {
		return object(members)
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range members {
		key := m.name
		if ident(key) != key {
			key = quote(key)
		}
		b.WriteString(key + " = " + m.value + "\n")
	}
	return b.String() + "}"
}
