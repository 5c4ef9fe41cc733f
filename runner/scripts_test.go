package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/scripts"
)

// Files are hashed up to the bounds: their size, and their number. What is not a regular file is left out.
func TestScriptsHaveBounds(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("most", MaxScriptSize)
	write("more", MaxScriptSize+1)
	have := hashScripts(dir, []scripts.Use{{Node: "a", Path: "most"}, {Node: "a", Path: "more"}, {Node: "a", Path: "."}, {Node: "a", Path: "none"}})
	if len(have) != 1 || len(have["most"]) != 64 {
		t.Errorf("hashed were %v", have)
	}
	var many []scripts.Use
	for i := range MaxScripts + 10 {
		name := fmt.Sprint("s", i)
		write(name, 1)
		many = append(many, scripts.Use{Node: "a", Path: name})
	}
	if have := hashScripts(dir, many); len(have) != MaxScripts {
		t.Errorf("%d files were hashed", len(have))
	}
}
