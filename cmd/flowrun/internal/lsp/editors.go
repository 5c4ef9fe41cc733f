package lsp

import (
	"embed"
	"maps"
	"slices"
)

//go:embed editors
var editors embed.FS

// editorFiles are the files of each editor, by the path below a project.
var editorFiles = map[string]map[string]string{
	"neovim": {".nvim.lua": "editors/neovim/nvim.lua"},
	"helix":  {".helix/languages.toml": "editors/helix/languages.toml"},
	"vscode": {".vscode/extensions/flowrun/package.json": "editors/vscode/package.json", ".vscode/extensions/flowrun/extension.js": "editors/vscode/extension.js",
		".vscode/extensions/flowrun/language-configuration.json": "editors/vscode/language-configuration.json"},
}

// EditorNames are the editors that [EditorFiles] knows.
func EditorNames() []string { return slices.Sorted(maps.Keys(editorFiles)) }

// EditorFiles returns the files that make an editor start the server, by their paths below a project; nil for an editor that is not known.
func EditorFiles(editor string) map[string][]byte {
	var out map[string][]byte
	for path, name := range editorFiles[editor] { // any order: it fills a map
		if out == nil {
			out = map[string][]byte{}
		}
		out[path], _ = editors.ReadFile(name) // embedded: there
	}
	return out
}
